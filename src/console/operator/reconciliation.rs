//! Reconciliation results by day and source, down to the line and its payment; also available as a CSV file.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_DISPOSITION;
use actix_web::web::{Bytes, Data, Query};
use askama::Template;
use chrono::{Days, NaiveDate};
use futures_util::{StreamExt, stream};
use quita_actors::Denied;
use quita_domain::audit::AuditAction;
use quita_domain::reconciliation::{
    Difference, LineCursor, LineFilter, LineSum, LineVerdict, Source, StoredLine,
};
use quita_ports::StoreError;
use serde::Deserialize;
use thiserror::Error;
use url::form_urlencoded;

use super::OperatorConsole;
use super::frame::{OperatorFrame, OperatorSection};
use super::texts::OperatorTexts;
use super::visitor::{Confirmed, Operator, Settled, WatchingOperator};
use crate::console::kit::answer::html;
use crate::console::kit::csv::Csv;
use crate::console::kit::page_error::PageError;
use crate::console::kit::shown::Shown;
use quita_services::audit::AuditDraft;

/// Number of days on one page and in one file.
const DAYS: u64 = 14;
/// Number of lines on one page, and per read for a file.
const LINES: usize = 200;

const HEAD: [&str; 17] = [
    "day",
    "source",
    "verdict",
    "transactionId",
    "kind",
    "reference",
    "gross",
    "fee",
    "net",
    "on",
    "field",
    "here",
    "there",
    "place",
    "instalment",
    "paidOutOn",
    "expectedOn",
];

#[derive(Template)]
#[template(path = "console/operator/reconciliation.html")]
struct ReconciliationPage {
    frame: OperatorFrame,
    rows: Vec<SourceRow>,
    /// Addresses of the earlier days, and of the later days if there are any.
    earlier: String,
    later: Option<String>,
    file: String,
}

/// Results of one source on one day.
struct SourceRow {
    day: NaiveDate,
    source: Source,
    /// Cell of each verdict, in the verdicts' order: address, count and sum of its lines.
    cells: [Cell; 4],
}

struct Cell {
    verdict: LineVerdict,
    address: String,
    count: u64,
    gross_cents: u64,
}

impl ReconciliationPage {
    fn verdicts(&self) -> [&'static str; 4] {
        LineVerdict::ALL.map(|verdict| name(verdict, self.frame.texts))
    }

    fn name(&self, verdict: impl Shown<LineVerdict>) -> &'static str {
        name(verdict.value(), self.frame.texts)
    }
}

#[derive(Template)]
#[template(path = "console/operator/reconciliation_lines.html")]
struct LinesPage {
    frame: OperatorFrame,
    day: NaiveDate,
    source: Source,
    /// Tabs: address, label, and true for the selected one.
    tabs: Vec<(String, &'static str, bool)>,
    lines: Vec<StoredLine>,
    next: Option<String>,
}

impl LinesPage {
    fn verdict(&self, line: &StoredLine) -> &'static str {
        line.verdict().map_or("–", |verdict| name(verdict, self.frame.texts))
    }

    fn difference(&self, line: &StoredLine) -> Option<String> {
        let Difference { field, here, there } = line.judged.as_ref()?.finding.difference()?;
        let words = self.frame.texts.operators.here_there.replace("{field}", field.as_str());
        Some(words.replace("{here}", here).replace("{there}", there))
    }

    /// Returns the instalment of a receivable, and the day on which the line's money is or was paid out.
    fn of_charge(&self, line: &StoredLine) -> Vec<String> {
        let words = &self.frame.texts.operators;
        let language = self.frame.language();
        let charge = line.line.charge();
        let instalment = charge.and_then(|charge| charge.instalment);
        let instalment = instalment.map(|number| words.instalment.replace("{number}", &number.to_string()));
        let on =
            |day: Option<NaiveDate>, words: &str| day.map(|day| words.replace("{day}", &language.day(day)));
        let paid_out = on(charge.and_then(|charge| charge.paid_out_on), words.paid_out_on);
        let expected = on(line.line.expected_on(), words.expected_on);
        [instalment, paid_out, expected].into_iter().flatten().collect()
    }

    fn is_open(&self, line: &StoredLine) -> bool {
        line.judged.as_ref().is_some_and(|judged| !judged.is_final)
    }

    fn payment(&self, line: &StoredLine) -> Option<String> {
        line.judged.as_ref()?.transaction_id.map(|id| id.to_string())
    }
}

fn name(verdict: LineVerdict, texts: &OperatorTexts) -> &'static str {
    match verdict {
        LineVerdict::Matched => texts.operators.matched,
        LineVerdict::Different => texts.operators.different,
        LineVerdict::MissingThere => texts.operators.missing_there,
        LineVerdict::UnknownHere => texts.operators.unknown_here,
    }
}

/// Query parameter of the days shown: the last day.
#[derive(Deserialize)]
pub(super) struct DaysQuery {
    #[serde(default)]
    until: String,
}

/// Returns the first and the last requested day, and true if the last one is today.
fn days(console: &OperatorConsole, wanted: &DaysQuery) -> (NaiveDate, NaiveDate, bool) {
    let today = console.clock.now().sao_paulo_date();
    let until = wanted.until.parse().ok().filter(|until| *until < today).unwrap_or(today);
    (until.checked_sub_days(Days::new(DAYS - 1)).unwrap_or(NaiveDate::MIN), until, until == today)
}

/// Handles `GET /reconciliation`.
pub(super) async fn show(
    operator: Operator,
    console: Data<OperatorConsole>,
    wanted: Query<DaysQuery>,
) -> Result<HttpResponse, PageError> {
    let (from, until, is_last) = days(&console, &wanted);
    let sums = console.store.line_sums(from, until).await.map_err(Denied::from)?;
    let page_until = |day: Option<NaiveDate>| {
        day.map(|day| format!("{}?until={day}", OperatorSection::Reconciliation.path()))
    };
    let earlier =
        page_until(from.pred_opt()).unwrap_or_else(|| OperatorSection::Reconciliation.path().into());
    let later = page_until(until.checked_add_days(Days::new(DAYS))).filter(|_| !is_last);
    let file = format!("/reconciliation.csv?until={until}");
    let frame = operator.frame(OperatorSection::Reconciliation);
    html(&ReconciliationPage { frame, rows: rows(&sums), earlier, later, file })
}

/// Returns the rows, newest day first.
fn rows(sums: &[LineSum]) -> Vec<SourceRow> {
    let mut found: BTreeMap<_, BTreeMap<LineVerdict, &LineSum>> = BTreeMap::new();
    for sum in sums {
        let key = (std::cmp::Reverse(sum.day), &sum.source);
        found.entry(key).or_default().insert(sum.verdict, sum);
    }
    let row = |((std::cmp::Reverse(day), source), sums): (_, BTreeMap<LineVerdict, &LineSum>)| SourceRow {
        day,
        source: Source::clone(source),
        cells: LineVerdict::ALL.map(|verdict| Cell {
            verdict,
            address: lines_address(source, day, Some(verdict), None),
            count: sums.get(&verdict).map_or(0, |sum| sum.count),
            gross_cents: sums.get(&verdict).map_or(0, |sum| sum.gross_cents),
        }),
    };
    found.into_iter().map(row).collect()
}

fn lines_address(
    source: &Source,
    day: NaiveDate,
    verdict: Option<LineVerdict>,
    after: Option<&str>,
) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("source", source.as_str()).append_pair("day", &day.to_string());
    if let Some(verdict) = verdict {
        query.append_pair("verdict", verdict.as_str());
    }
    if let Some(after) = after {
        query.append_pair("after", after);
    }
    format!("/reconciliation/lines?{}", query.finish())
}

/// Query parameters of the lines: source, day, optional verdict, and the id after which they start.
#[derive(Deserialize)]
pub(super) struct LinesQuery {
    #[serde(default)]
    source: String,
    #[serde(default)]
    day: String,
    #[serde(default)]
    verdict: String,
    #[serde(default)]
    after: String,
}

/// Handles `GET /reconciliation/lines`.
pub(super) async fn lines(
    operator: Operator,
    console: Data<OperatorConsole>,
    which: Query<LinesQuery>,
) -> Result<HttpResponse, PageError> {
    let day: NaiveDate = which.day.parse().map_err(|_| PageError::NotFound)?;
    let source = Source::stored(&which.source);
    let verdict = LineVerdict::parse(&which.verdict);
    let filter = LineFilter { source: source.clone(), from: day, until: day, verdict };
    let after = (!which.after.is_empty()).then(|| LineCursor { day, id: which.after.clone() });
    let found = console.store.lines(&filter, after.as_ref(), LINES + 1).await;
    let mut lines = found.map_err(Denied::from)?;
    let has_more = lines.len() > LINES;
    lines.truncate(LINES);
    let last = lines.last().filter(|_| has_more);
    let next = last.map(|last| lines_address(&source, day, verdict, Some(&last.line.id)));
    // Lines without a verdict yet are not shown.
    lines.retain(|line| line.judged.is_some());
    let frame = operator.frame(OperatorSection::Reconciliation);
    let tab = |each: Option<LineVerdict>| {
        let says = each.map_or(frame.texts.operators.all_verdicts, |each| name(each, frame.texts));
        (lines_address(&source, day, each, None), says, each == verdict)
    };
    let tabs = std::iter::once(None).chain(LineVerdict::ALL.map(Some)).map(tab).collect();
    html(&LinesPage { frame, day, source, tabs, lines, next })
}

/// Handles `GET /reconciliation.csv`: streams every line of these days, page by page. Nothing is exported unless the
/// audit log entry was written.
pub(super) async fn download(
    Settled(Confirmed { operator, .. }): Settled,
    console: Data<OperatorConsole>,
    wanted: Query<DaysQuery>,
) -> Result<HttpResponse, PageError> {
    let (from, until, _) = days(&console, &wanted);
    let sums = console.store.line_sums(from, until).await.map_err(Denied::from)?;
    let mut sources: Vec<_> = sums.into_iter().map(|sum| sum.source).collect();
    sources.sort();
    sources.dedup();
    let draft = AuditDraft::of_operators(AuditAction::ReconciliationExported, format!("{from} to {until}"));
    console.audit.append(&operator.initiator(), draft).await.map_err(|(_, error)| error)?;
    let csv = Csv::for_reader();
    let console = console.into_inner();
    let watching = WatchingOperator::of(operator);
    let export = LineExport { console, watching, csv, days: (from, until), sources, after: None };
    let file = format!("attachment; filename=\"quita-reconciliation-{until}.csv\"");
    let head = stream::iter([Ok(Bytes::from(csv.head(HEAD)))]);
    Ok(HttpResponse::Ok()
        .content_type("text/csv; charset=utf-8")
        .insert_header((CONTENT_DISPOSITION, file))
        .streaming(head.chain(stream::unfold(export, LineExport::next))))
}

/// Reason why an export is aborted.
#[derive(Debug, Error)]
enum LineExportError {
    /// A page could not be read.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The reader has signed out.
    #[error("its reader is not signed in any more")]
    SignedOut,
}

/// Export in progress.
struct LineExport {
    console: Arc<OperatorConsole>,
    watching: WatchingOperator,
    csv: Csv,
    days: (NaiveDate, NaiveDate),
    /// Remaining sources, the next one last.
    sources: Vec<Source>,
    after: Option<LineCursor>,
}

impl LineExport {
    /// Returns the next page as lines. A failure aborts the download, so that nobody mistakes it for complete.
    async fn next(mut self) -> Option<(Result<Bytes, LineExportError>, Self)> {
        let source = self.sources.last()?.clone();
        let lines = self.page(source).await;
        if let Err(why) = &lines {
            self.sources.clear();
            tracing::warn!(%why, "an export of compared lines was cut short");
        }
        Some((lines, self))
    }

    async fn page(&mut self, source: Source) -> Result<Bytes, LineExportError> {
        // An unavailable store ends no session; the next read fails anyway.
        if !self.watching.goes_on(&self.console).await {
            return Err(LineExportError::SignedOut);
        }
        let filter = LineFilter { source, from: self.days.0, until: self.days.1, verdict: None };
        let lines = self.console.store.lines(&filter, self.after.as_ref(), LINES).await?;
        self.after = lines.last().filter(|_| lines.len() == LINES).map(|last| LineCursor::of(&last.line));
        if self.after.is_none() {
            self.sources.pop();
        }
        let told = lines.iter().filter(|line| line.judged.is_some());
        Ok(Bytes::from(told.map(|line| self.csv.line(cells(line, self.csv))).collect::<String>()))
    }
}

fn cells(stored: &StoredLine, csv: Csv) -> [String; 17] {
    let line = &stored.line;
    let judged = stored.judged.as_ref();
    let charge = line.charge();
    let difference = judged.and_then(|judged| judged.finding.difference());
    let text = |text: Option<String>| text.unwrap_or_default();
    [
        line.day.to_string(),
        line.source.to_string(),
        stored.verdict().map_or("", LineVerdict::as_str).to_owned(),
        text(judged.and_then(|judged| judged.transaction_id).map(|id| id.to_string())),
        stored.kind().as_str().to_owned(),
        text(line.reference.clone()),
        csv.signed_amount(line.signed_gross()),
        text(line.fee.map(|fee| csv.signed_amount(fee))),
        text(line.net.map(|net| csv.signed_amount(net))),
        line.on.to_string(),
        text(difference.map(|difference| difference.field.as_str().to_owned())),
        text(difference.map(|difference| difference.here.clone())),
        text(difference.map(|difference| difference.there.clone())),
        line.place.clone(),
        text(charge.and_then(|charge| charge.instalment).map(|number| number.to_string())),
        text(charge.and_then(|charge| charge.paid_out_on).map(|day| day.to_string())),
        text(line.expected_on().map(|day| day.to_string())),
    ]
}
