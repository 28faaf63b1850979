//! `quita cnab`: prints a bank's return file.
//!
//! A file is read twice: once to check all of it, once to print it. So no part of a truncated or modified file is
//! printed, and memory use stays at one line for files of any size.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use clap::{Args, Subcommand};
use quita_cnab::{Kind, Line, ReturnFile};
use quita_domain::money::Money;
use serde::Serialize;

use super::failure::Failure;
use super::output;

/// Subcommands of `quita cnab`.
#[derive(Debug, Subcommand)]
pub(super) enum CnabCommand {
    /// Print what a bank's return file says, line by line
    Read(ReadReturnFile),
}

/// Arguments of `quita cnab read`.
#[derive(Debug, Args)]
#[command(
    after_help = "CNAB 400 of the banks 001, 033, 041, 104, 237, 341 and 756, and CNAB 240 of any. A file that is \
                  truncated, or whose totals do not match, is rejected with the line number, and nothing is printed."
)]
pub(super) struct ReadReturnFile {
    /// The return file (arquivo retorno)
    file: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

pub(super) fn run(command: CnabCommand) -> Result<(), Failure> {
    let CnabCommand::Read(ReadReturnFile { file: path, json }) = command;
    let named =
        |why: String| Failure::failed(format!("{}: {why}", output::printable(&path.to_string_lossy())));
    let mut file = open(&path).map_err(named)?;
    let checked = check(&file).map_err(named)?;
    file.rewind().map_err(|error| named(error.to_string()))?;
    let printed = print(&file, &checked, json, named)?;
    if printed == checked {
        return Ok(());
    }
    Err(named("it was changed while it was read: discard what was printed".into()))
}

pub(super) fn open(path: &Path) -> Result<File, String> {
    let about = fs::metadata(path).map_err(|error| format!("it can't be opened: {error}"))?;
    if !about.is_file() {
        return Err("it is not a regular file, and a return file is read twice: save it as one".into());
    }
    File::open(path).map_err(|error| format!("it can't be opened: {error}"))
}

pub(super) fn read(file: &File) -> Result<ReturnFile<BufReader<&File>>, String> {
    ReturnFile::open(BufReader::with_capacity(1 << 16, file)).map_err(|error| error.to_string())
}

/// Totals of a whole file: number of lines and received sum by kind, and the widths of the table columns.
#[derive(Debug, Default, PartialEq, Eq)]
struct FileTotals {
    kinds: BTreeMap<Kind, (u64, Money)>,
    widths: [usize; COLUMNS.len()],
}

impl FileTotals {
    fn add(&mut self, line: &Line) {
        let (count, received) = self.kinds.entry(line.kind).or_default();
        *count = count.saturating_add(1);
        *received = received.plus(line.received);
        for (width, cell) in self.widths.iter_mut().zip(cells(line)) {
            *width = (*width).max(cell.chars().count());
        }
    }
}

fn check(file: &File) -> Result<FileTotals, String> {
    let mut checked = FileTotals::default();
    for line in read(file)? {
        checked.add(&line.map_err(|error| format!("{error} (nothing was read)"))?);
    }
    Ok(checked)
}

fn print(
    file: &File,
    checked: &FileTotals,
    json: bool,
    named: impl Fn(String) -> Failure,
) -> Result<FileTotals, Failure> {
    let mut to = BufWriter::new(io::stdout().lock());
    let mut printed = FileTotals::default();
    let opened = read(file).map_err(&named)?;
    let head = FileHeader { bank: opened.bank().to_string(), layout: opened.layout().as_str() };
    begin(&mut to, &head, checked, json).map_err(unwritten)?;
    for line in opened {
        let line = line.map_err(|error| named(error.to_string()))?;
        let is_first = printed.kinds.is_empty();
        printed.add(&line);
        let written =
            if json { object(&mut to, &line, is_first) } else { row(&mut to, cells(&line), checked) };
        written.map_err(unwritten)?;
    }
    let ended = if json { writeln!(to, "]}}") } else { sums(&mut to, checked) };
    ended.and_then(|()| to.flush()).map_err(unwritten)?;
    Ok(printed)
}

fn unwritten(error: io::Error) -> Failure {
    output::unwritten(error.kind())
}

/// Data of the whole file.
struct FileHeader {
    bank: String,
    layout: &'static str,
}

fn begin(to: &mut impl Write, head: &FileHeader, checked: &FileTotals, json: bool) -> io::Result<()> {
    let FileHeader { bank, layout } = head;
    if json {
        return write!(to, "{{\"bank\":\"{bank}\",\"layout\":\"{layout}\",\"lines\":[");
    }
    writeln!(to, "bank {bank}, {layout}")?;
    if checked.kinds.is_empty() { Ok(()) } else { row(to, COLUMNS.map(str::to_owned), checked) }
}

// --- JSON ---------------------------------------------------------------------------------------------------

/// Line as it is printed in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileLine<'a> {
    line: u64,
    our_number: Option<&'a str>,
    document_number: Option<&'a str>,
    occurrence: &'a str,
    kind: &'static str,
    occurred_on: Option<NaiveDate>,
    due_date: Option<NaiveDate>,
    credited_on: Option<NaiveDate>,
    amount: String,
    received: String,
    fee: String,
    interest: String,
    discount: String,
}

fn object(to: &mut impl Write, line: &Line, is_first: bool) -> io::Result<()> {
    let told = FileLine {
        line: line.number,
        our_number: line.our_number.as_deref(),
        document_number: line.document_number.as_deref(),
        occurrence: &line.occurrence,
        kind: line.kind.as_str(),
        occurred_on: line.occurred_on,
        due_date: line.due_on,
        credited_on: line.credited_on,
        amount: line.amount.to_string(),
        received: line.received.to_string(),
        fee: line.fee.to_string(),
        interest: line.interest.to_string(),
        discount: line.discount.to_string(),
    };
    if !is_first {
        to.write_all(b",")?;
    }
    serde_json::to_writer(to, &told).map_err(io::Error::from)
}

// --- table --------------------------------------------------------------------------------------------------

const COLUMNS: [&str; 13] = [
    "line",
    "our number",
    "document",
    "code",
    "kind",
    "on",
    "due",
    "credited",
    "amount",
    "received",
    "fee",
    "interest",
    "discount",
];

fn cells(line: &Line) -> [String; COLUMNS.len()] {
    let text = |text: &Option<String>| text.as_deref().map_or_else(|| "-".into(), output::printable);
    let date = |date: Option<NaiveDate>| date.map_or_else(|| "-".into(), |date| date.to_string());
    [
        line.number.to_string(),
        text(&line.our_number),
        text(&line.document_number),
        line.occurrence.clone(),
        line.kind.as_str().into(),
        date(line.occurred_on),
        date(line.due_on),
        date(line.credited_on),
        line.amount.to_string(),
        line.received.to_string(),
        line.fee.to_string(),
        line.interest.to_string(),
        line.discount.to_string(),
    ]
}

/// Writes a row, with numbers right-aligned and texts left-aligned.
fn row(to: &mut impl Write, cells: [String; COLUMNS.len()], checked: &FileTotals) -> io::Result<()> {
    let padded = cells.iter().zip(checked.widths).zip(COLUMNS).enumerate();
    let padded = padded.map(|(column, ((cell, width), title))| {
        let width = width.max(title.len());
        if (1..=7).contains(&column) { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    writeln!(to, "{}", padded.collect::<Vec<_>>().join("  "))
}

fn sums(to: &mut impl Write, checked: &FileTotals) -> io::Result<()> {
    let lines = checked.kinds.values().fold(0_u64, |sum, (count, _)| sum.saturating_add(*count));
    let kinds = Kind::ALL.iter().filter_map(|kind| Some((kind, checked.kinds.get(kind)?)));
    let told =
        kinds.map(|(kind, (count, received))| format!("{count} {} ({received} received)", kind.as_str()));
    let told = told.collect::<Vec<_>>().join(", ");
    writeln!(
        to,
        "{lines} {}{}{told}",
        if lines == 1 { "line" } else { "lines" },
        if lines == 0 { "" } else { ": " }
    )
}
