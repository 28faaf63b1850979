//! Output of a run: line by line, then the totals.

use std::collections::BTreeMap;
use std::io::{self, Write};

use chrono::NaiveDate;
use quita_domain::money::SignedMoney;
use quita_domain::reconciliation::{Difference, LineVerdict, StoredLine};
use quita_services::reconciliation::NotReconciled;
use serde::Serialize;

use super::super::output;

/// Data of the whole run.
pub(super) struct RunHeader {
    pub(super) source: String,
    pub(super) days: Option<(NaiveDate, NaiveDate)>,
}

/// Printer that also counts the lines.
pub(super) struct LinePrinter {
    head: RunHeader,
    json: bool,
    has_begun: bool,
    has_lines: bool,
    counts: BTreeMap<LineVerdict, (u64, SignedMoney)>,
    /// Number of lines whose acquirers have not answered yet.
    open: u64,
}

/// Line as printed in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PrintedLine<'a> {
    verdict: &'static str,
    transaction_id: Option<String>,
    kind: &'static str,
    reference: Option<&'a str>,
    gross: String,
    fee: Option<String>,
    net: Option<String>,
    on: NaiveDate,
    instalment: Option<u32>,
    paid_out_on: Option<NaiveDate>,
    expected_on: Option<NaiveDate>,
    difference: Option<PrintedDifference<'a>>,
}

#[derive(Serialize)]
struct PrintedDifference<'a> {
    field: &'static str,
    here: &'a str,
    there: &'a str,
}

impl<'a> PrintedDifference<'a> {
    fn of(difference: &'a Difference) -> Self {
        Self { field: difference.field.as_str(), here: &difference.here, there: &difference.there }
    }
}

impl LinePrinter {
    pub(super) const fn new(head: RunHeader, json: bool) -> Self {
        Self { head, json, has_begun: false, has_lines: false, counts: BTreeMap::new(), open: 0 }
    }

    /// Returns the number of lines that differ.
    pub(super) fn differing(&self) -> u64 {
        let differing = self.counts.iter().filter(|(verdict, _)| **verdict != LineVerdict::Matched);
        differing.fold(0, |sum, (_, (count, _))| sum.saturating_add(*count))
    }

    /// Returns the number of lines whose acquirers could not be queried yet.
    pub(super) const fn open(&self) -> u64 {
        self.open
    }

    /// Prints a line that was judged.
    pub(super) fn line(&mut self, stored: &StoredLine) -> Result<(), NotReconciled> {
        let Some(judged) = &stored.judged else { return Ok(()) };
        let (count, gross) = self.counts.entry(judged.finding.verdict()).or_default();
        (*count, *gross) = (count.saturating_add(1), gross.plus(stored.line.signed_gross()));
        self.open = self.open.saturating_add(u64::from(!judged.is_final));
        self.begin()?;
        let written = if self.json { self.object(stored) } else { row(stored) };
        self.has_lines = true;
        written.map_err(unwritten)
    }

    /// Prints the totals.
    pub(super) fn end(&mut self) -> Result<(), NotReconciled> {
        self.begin()?;
        let mut stdout = io::stdout().lock();
        let count = |verdict: &LineVerdict| self.counts.get(verdict).copied().unwrap_or_default();
        let ended = if self.json {
            let counts =
                LineVerdict::ALL.map(|verdict| format!("\"{}\":{}", verdict.as_str(), count(&verdict).0));
            writeln!(stdout, "],\"summary\":{{{}}}}}", counts.join(","))
        } else {
            let lines =
                LineVerdict::ALL.iter().fold(0_u64, |sum, verdict| sum.saturating_add(count(verdict).0));
            let counted = LineVerdict::ALL.iter().filter(|verdict| count(verdict).0 > 0);
            let told = counted.map(|verdict| {
                let (count, gross) = count(verdict);
                format!("{count} {} ({gross})", verdict.as_str())
            });
            let told = told.collect::<Vec<_>>().join(", ");
            let (noun, colon) =
                (if lines == 1 { "line" } else { "lines" }, if lines == 0 { "" } else { ": " });
            writeln!(stdout, "{lines} {noun}{colon}{told}")
        };
        ended.and_then(|()| stdout.flush()).map_err(unwritten)
    }

    fn begin(&mut self) -> Result<(), NotReconciled> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let RunHeader { source, days } = &self.head;
        let day = |day: Option<NaiveDate>| day.map_or_else(|| "null".into(), |day| format!("\"{day}\""));
        let mut stdout = io::stdout().lock();
        let written = match (self.json, days) {
            (true, days) => {
                let from = day(days.map(|days| days.0));
                let until = day(days.map(|days| days.1));
                let source = serde_json::Value::from(source.as_str());
                write!(stdout, "{{\"source\":{source},\"from\":{from},\"until\":{until},\"lines\":[")
            }
            (false, Some((from, until))) => writeln!(stdout, "{source}, {from} until {until}"),
            (false, None) => writeln!(stdout, "{source}"),
        };
        written.map_err(unwritten)
    }

    fn object(&self, stored: &StoredLine) -> io::Result<()> {
        let mut stdout = io::stdout().lock();
        let Some(judged) = &stored.judged else { return Ok(()) };
        let line = &stored.line;
        let charge = line.charge();
        let told = PrintedLine {
            verdict: judged.finding.verdict().as_str(),
            transaction_id: judged.transaction_id.map(|id| id.to_string()),
            kind: stored.kind().as_str(),
            reference: line.reference.as_deref(),
            gross: line.signed_gross().to_string(),
            fee: line.fee.map(|fee| fee.to_string()),
            net: line.net.map(|net| net.to_string()),
            on: line.on,
            instalment: charge.and_then(|charge| charge.instalment),
            paid_out_on: charge.and_then(|charge| charge.paid_out_on),
            expected_on: line.expected_on(),
            difference: judged.finding.difference().map(PrintedDifference::of),
        };
        if self.has_lines {
            stdout.write_all(b",")?;
        }
        serde_json::to_writer(stdout, &told).map_err(io::Error::from)
    }
}

/// Prints one line for people: the verdict, the subject, and the difference.
fn row(stored: &StoredLine) -> io::Result<()> {
    let Some(judged) = &stored.judged else { return Ok(()) };
    let line = &stored.line;
    let verdict = judged.finding.verdict().as_str();
    let kind = stored.kind().as_str();
    let gross = line.signed_gross().to_string();
    let on = line.on;
    let reference = output::printable(stored.reference());
    let payment = judged.transaction_id.map_or_else(|| "-".into(), |id| id.to_string());
    let difference = judged.finding.difference().map(|Difference { field, here, there }| {
        format!("  {}: {} here, {} there", field.as_str(), output::printable(here), output::printable(there))
    });
    let difference = difference.unwrap_or_default();
    let told =
        format!("{verdict:<13}  {kind:<11}  {on}  {gross:>11}  {reference:<32}  {payment}{difference}");
    writeln!(io::stdout().lock(), "{told}")
}

fn unwritten(error: io::Error) -> NotReconciled {
    NotReconciled::Unwritten(error.kind())
}
