//! Banks' return files: all of them are checked completely before the first line is used.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Seek;
use std::path::PathBuf;

use chrono::NaiveDate;
use quita_cnab::{Kind, Line};
use quita_domain::reconciliation::{LineKind, LineSubject, Source, StatementLine};
use quita_domain::time::Timestamp;
use quita_services::reconciliation::{RECONCILED_AT_ONCE, Reconciler};
use sha2::{Digest, Sha256};

use super::super::failure::Failure;
use super::super::{cnab, output};
use super::failed;
use super::line_printer::{LinePrinter, RunHeader};

/// Files that were found to be complete.
pub(super) struct CheckedFiles {
    files: Vec<(String, File)>,
    banks: BTreeSet<String>,
    days: Option<(NaiveDate, NaiveDate)>,
}

impl CheckedFiles {
    /// Reads every file to its end.
    ///
    /// # Errors
    /// Fails if a file can't be read, and states the line. Then none of the files is used.
    pub(super) fn all(paths: &[PathBuf]) -> Result<Self, Failure> {
        let mut checked = Self { files: Vec::new(), banks: BTreeSet::new(), days: None };
        for path in paths {
            let name = output::printable(&path.to_string_lossy());
            let named = |why: String| Failure::failed(format!("{name}: {why}"));
            let file = cnab::open(path).map_err(named)?;
            checked.check(&file).map_err(named)?;
            let short = path
                .file_name()
                .map_or_else(|| name.clone(), |name| output::printable(&name.to_string_lossy()));
            checked.files.push((short, file));
        }
        Ok(checked)
    }

    fn check(&mut self, file: &File) -> Result<(), String> {
        let read = cnab::read(file)?;
        self.banks.insert(read.bank().to_string());
        for line in read {
            let line = line.map_err(|error| format!("{error} (nothing was compared)"))?;
            if let Some(on) = happened_on(&line) {
                let (from, until) = self.days.unwrap_or((on, on));
                self.days = Some((from.min(on), until.max(on)));
            }
        }
        Ok(())
    }

    /// Compares the lines of the files with the payments.
    pub(super) async fn reconcile(
        self,
        reconciler: &Reconciler,
        now: Timestamp,
        json: bool,
    ) -> Result<LinePrinter, Failure> {
        let sources: Vec<_> = self.banks.iter().map(|bank| Source::files_of(bank).to_string()).collect();
        let mut printer = LinePrinter::new(RunHeader { source: sources.join(", "), days: self.days }, json);
        for (name, mut file) in self.files {
            let named = |why: String| Failure::failed(format!("{name}: {why}"));
            file.rewind().map_err(|error| named(error.to_string()))?;
            let read = cnab::read(&file).map_err(named)?;
            let mut neutral = Neutral::of(read.bank().to_string(), &name, now.sao_paulo_date());
            let mut waiting = Vec::new();
            for line in read {
                // The file was complete when it was checked, so it has been changed since.
                waiting.push(neutral.line(&line.map_err(|error| named(error.to_string()))?));
                if waiting.len() >= RECONCILED_AT_ONCE {
                    judge(reconciler, std::mem::take(&mut waiting), &mut printer).await?;
                }
            }
            judge(reconciler, waiting, &mut printer).await?;
        }
        printer.end().map_err(failed)?;
        Ok(printer)
    }
}

async fn judge(
    reconciler: &Reconciler,
    lines: Vec<StatementLine>,
    printer: &mut LinePrinter,
) -> Result<(), Failure> {
    let judged = reconciler.judge(lines).await.map_err(|error| failed(error.into()))?;
    judged.iter().try_for_each(|line| printer.line(line)).map_err(failed)
}

/// Converter of a file's lines to neutral lines.
struct Neutral<'a> {
    bank: String,
    source: Source,
    name: &'a str,
    today: NaiveDate,
    /// Number of identical lines so far: a boleto may be paid twice for the same amount on one day. The map takes about
    /// a twentieth of the file's size.
    seen: HashMap<[u8; 16], u32>,
}

impl<'a> Neutral<'a> {
    fn of(bank: String, name: &'a str, today: NaiveDate) -> Self {
        Self { source: Source::files_of(&bank), bank, name, today, seen: HashMap::new() }
    }

    fn line(&mut self, line: &Line) -> StatementLine {
        let kind = kind(line.kind);
        let gross = if line.kind == Kind::Settled { line.received } else { line.amount };
        let on = happened_on(line).unwrap_or(self.today);
        StatementLine {
            id: self.id(line),
            source: self.source.clone(),
            day: on,
            kind,
            reference: line.our_number.clone(),
            subject: LineSubject::Boleto {
                bank: self.bank.clone(),
                our_number: line.our_number.clone(),
                document_number: line.document_number.clone(),
                interest: line.interest,
                credited_on: None,
            },
            gross,
            fee: Some(line.fee.into()),
            net: (line.kind == Kind::Settled).then(|| gross.minus(line.fee).into()),
            on,
            place: format!("{}:{}", self.name, line.number),
            other_key: None,
        }
    }

    /// Returns an id that is equal for equal lines, in any file and at any position. It begins with the boleto's
    /// number, and ends with the number of identical lines so far in the file.
    fn id(&mut self, line: &Line) -> String {
        let mut hash = Sha256::new_with_prefix("quita return file 1");
        let texts =
            [line.our_number.as_deref(), line.document_number.as_deref(), Some(line.occurrence.as_str())];
        let dates = [line.occurred_on, line.due_on, line.credited_on];
        let amounts = [line.amount, line.received, line.fee, line.interest, line.discount];
        for text in texts {
            hash.update(text.unwrap_or_default());
            hash.update([0, u8::from(text.is_some())]);
        }
        for date in dates {
            hash.update(date.map_or_else(String::new, |date| date.to_string()));
            hash.update([0]);
        }
        for amount in amounts {
            hash.update(amount.cents().to_be_bytes());
        }
        let mut key = [0; 16];
        key.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
        let seen = self.seen.entry(key).or_default();
        *seen = seen.saturating_add(1);
        let ours = line.our_number.as_deref();
        let document = line.document_number.as_deref();
        let beginning = StatementLine::beginning_of_slip(&self.source, ours, document);
        let beginning = beginning.unwrap_or_else(|| format!("{}:", self.source));
        format!("{beginning}{:032x}:{seen}", u128::from_be_bytes(key))
    }
}

fn happened_on(line: &Line) -> Option<NaiveDate> {
    line.occurred_on.or(line.credited_on).or(line.due_on)
}

const fn kind(kind: Kind) -> LineKind {
    match kind {
        Kind::Registered => LineKind::Registered,
        Kind::Settled => LineKind::Settled,
        Kind::WrittenOff => LineKind::WrittenOff,
        Kind::Rejected => LineKind::Rejected,
        Kind::Fee => LineKind::Fee,
        Kind::Other => LineKind::Other,
    }
}
