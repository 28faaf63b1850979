//! Reading a list page by page, with retries, and no faster than its acquirer allows.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::acquiring::CallFailure;
use quita_domain::control::RouteDirective;
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::reconciliation::{LineKind, MARGIN_MS, StatementLine};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{ListPage, ListPart, ListReader, PageCursor, Period};
use tokio::time::{sleep, timeout};

use super::charges::ChargedPayments;
use super::{NotReconciled, Reconciler};

/// Pages that a list of one day may have. More would be a mistake.
const MAX_PAGES: u32 = 100_000;

/// Waits before a failed page is requested again. After the last one the list is unavailable.
const TRIES_MS: [u64; 3] = [500, 2_000, 5_000];

/// Time-out of one page, whatever the reader does.
const PAGE_TIME_OUT: Duration = Duration::from_secs(60);

/// List of an acquirer.
pub struct List {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// Reader of its pages.
    pub reader: Rc<dyn ListReader>,
    /// Calls per second that the acquirer allows.
    pub rate: Option<NonZeroU32>,
    /// The mode of its payments.
    pub mode: Mode,
}

/// Lines of an import that belong to other days.
#[derive(Debug)]
pub(super) struct Imported {
    /// Days that were requested.
    days: RangeInclusive<NaiveDate>,
    /// Lines of other days that were never judged, or whose verdict may change.
    pub(super) astray: Vec<String>,
    /// Number of lines that were judged for good with the list of another day.
    pub(super) elsewhere: u64,
}

impl Imported {
    /// Creates an empty import of these days.
    pub(super) fn of(from: NaiveDate, until: NaiveDate) -> Self {
        Self { days: from..=until, astray: Vec::new(), elsewhere: 0 }
    }
}

impl Reconciler {
    /// Reads the list of a day, with a margin on either side, and imports its lines. They count once all are there.
    pub(super) async fn import(
        &self,
        list: &List,
        day: NaiveDate,
        imported: &mut Imported,
    ) -> Result<(), NotReconciled> {
        self.check_open(list).await?;
        let mut pages = Pages::of(ListPart::All, period(day, self.clock.now()));
        let mut payments = ChargedPayments::of(day);
        while let Some(page) = self.next_page(list, &mut pages).await? {
            let lines = self.of_their_days(page.lines, |line| day_of(line, day)).await?;
            let lines = self.with_payments(list, lines, &mut payments).await?;
            let stored = self.as_stored(lines).await?;
            for beside in stored.iter().filter(|stored| !imported.days.contains(&stored.line.day)) {
                if beside.is_settled() {
                    imported.elsewhere = imported.elsewhere.saturating_add(1);
                } else {
                    imported.astray.push(beside.line.id.clone());
                }
            }
            // Lines with a verdict are left alone: storing them again would remove it.
            let new: Vec<_> = stored.into_iter().filter(|stored| stored.judged.is_none()).collect();
            if !new.is_empty() {
                self.store.put_lines(&new).await?;
            }
        }
        Ok(())
    }

    /// Sets the day of each line: the day of the list in which it was judged first, or else this one. A refund has the
    /// day of its Pix.
    pub(super) async fn of_their_days(
        &self,
        mut lines: Vec<StatementLine>,
        day_of: impl Fn(&StatementLine) -> NaiveDate,
    ) -> Result<Vec<StatementLine>, NotReconciled> {
        let ids: Vec<_> = lines.iter().map(|line| line.id.clone()).collect();
        let known = self.store.lines_with_ids(&ids).await?;
        let judged = known.iter().filter(|known| known.judged.is_some() && !known.line.is_expected());
        let days: BTreeMap<_, _> = judged.map(|known| (known.line.id.as_str(), known.line.day)).collect();
        let mut day_of_pix: Option<(String, NaiveDate)> = None;
        for line in &mut lines {
            let known = days.get(line.id.as_str()).copied();
            let of_pix = day_of_pix.as_ref().filter(|(name, _)| Some(name.as_str()) == line.end_to_end_id());
            let with_pix = of_pix.filter(|_| line.kind == LineKind::Refund).map(|(_, day)| *day);
            line.day = known.or(with_pix).unwrap_or_else(|| day_of(line));
            if line.kind != LineKind::Refund {
                day_of_pix = line.end_to_end_id().map(|name| (name.to_owned(), line.day));
            }
        }
        Ok(lines)
    }

    /// Returns the next page; `None` after the last one.
    ///
    /// # Errors
    /// If it is unavailable, or if the list turns out to be incomplete.
    pub(super) async fn next_page(
        &self,
        list: &List,
        pages: &mut Pages,
    ) -> Result<Option<ListPage>, NotReconciled> {
        let Some(cursor) = pages.next.clone() else { return Ok(None) };
        if cursor.number >= MAX_PAGES {
            return Err(NotReconciled::NoList(format!("it has more than {MAX_PAGES} pages")));
        }
        if let Some(rate) = list.rate.filter(|_| cursor.number > 0) {
            sleep(Duration::from_millis(1_000_u64.div_ceil(u64::from(rate.get())))).await;
        }
        let page = self.page(list, pages, &cursor).await?;
        pages.entries = pages.entries.saturating_add(page.entries);
        pages.next = pages.following(&cursor, &page)?;
        if pages.next.is_none() {
            whole(pages.entries, page.total)?;
        }
        Ok(Some(page))
    }

    async fn page(&self, list: &List, pages: &Pages, cursor: &PageCursor) -> Result<ListPage, NotReconciled> {
        let mut waits = TRIES_MS.into_iter();
        loop {
            let too_slow = |_| Err(CallFailure::Unknown("it takes too long".into()));
            let asked = timeout(PAGE_TIME_OUT, list.reader.page(pages.part, pages.period, cursor)).await;
            let failure = match asked.unwrap_or_else(too_slow) {
                Ok(page) => return Ok(page),
                Err(failure) => failure,
            };
            let Some(wait) = waits.next() else { return Err(NotReconciled::NoList(told(&failure))) };
            let wait = match failure {
                CallFailure::Throttled { after_ms } => wait.max(after_ms),
                CallFailure::NotDelivered(_) | CallFailure::Unknown(_) | CallFailure::Withheld => wait,
            };
            sleep(Duration::from_millis(wait)).await;
        }
    }

    /// Checks that requests may be sent to the acquirer.
    ///
    /// # Errors
    /// If an operator drained it, or if the store does not answer.
    pub(super) async fn check_open(&self, list: &List) -> Result<(), NotReconciled> {
        if self.is_drained(&list.acquirer).await? {
            return Err(NotReconciled::NoList("an operator directed that nothing is sent there".into()));
        }
        Ok(())
    }

    async fn is_drained(&self, acquirer: &AcquirerName) -> Result<bool, NotReconciled> {
        let controls = self.store.route_controls().await?;
        let is_drained = |directive| match directive {
            RouteDirective::Drained => true,
            RouteDirective::Open | RouteDirective::Paused => false,
        };
        Ok(controls.iter().any(|control| control.acquirer == *acquirer && is_drained(control.directive)))
    }
}

/// Progress of reading a list.
pub(super) struct Pages {
    part: ListPart,
    period: Period,
    /// Position of the next page; none after the last one.
    next: Option<PageCursor>,
    entries: u64,
    /// Names of pages that were followed, and ids of their lines. Empty for a list whose pages have numbers.
    names: BTreeSet<String>,
    lines: BTreeSet<String>,
}

impl Pages {
    /// Starts with the first page.
    pub(super) fn of(part: ListPart, period: Period) -> Self {
        let next = Some(PageCursor::default());
        Self { part, period, next, entries: 0, names: BTreeSet::new(), lines: BTreeSet::new() }
    }

    /// Returns the position of the page after this one. A list whose pages have names ends where a name repeats.
    ///
    /// # Errors
    /// If a named page has nothing that earlier ones lack: the list is circular, and its end is unknown.
    fn following(
        &mut self,
        cursor: &PageCursor,
        page: &ListPage,
    ) -> Result<Option<PageCursor>, NotReconciled> {
        let name = page.next.as_ref().and_then(|next| next.name.clone());
        if cursor.name.is_none() && name.is_none() {
            // A list with numbered pages ends with an empty page, even if that page names a next one.
            return Ok(page.next.clone().filter(|_| page.entries > 0));
        }
        let known = self.lines.len();
        self.lines.extend(page.lines.iter().map(|line| line.id.clone()));
        let is_empty_end = page.next.is_none() && page.entries == 0;
        if self.lines.len() == known && !is_empty_end {
            let number = cursor.number;
            return Err(NotReconciled::NoList(format!(
                "page {number} has nothing that is not on earlier pages"
            )));
        }
        Ok(page.next.clone().filter(|_| name.is_none_or(|name| self.names.insert(name))))
    }
}

/// Returns the day to which a line in the list of `day` belongs. A line dated earlier came late or has a wrong date,
/// and the day before is not read again: it counts for `day`. A line made on the next day will be in that day's list.
fn day_of(line: &StatementLine, day: NaiveDate) -> NaiveDate {
    let is_of_next_day = |date: NaiveDate| date.pred_opt() == Some(day);
    let is_later = is_of_next_day(line.day) && line.transferred_on().is_none_or(is_of_next_day);
    if is_later { line.day } else { day }
}

/// Returns the time of a day in Brasília with a margin on either side, but not beyond now.
fn period(day: NaiveDate, now: Timestamp) -> Period {
    let end = Timestamp::end_of_sao_paulo_day(day);
    let before = i64::try_from(DAY_MS.saturating_add(MARGIN_MS)).unwrap_or(i64::MAX);
    let from = Timestamp::from_millis(end.millis().saturating_sub(before).saturating_add(1));
    Period { from, until: end.plus_ms(MARGIN_MS).min(now).max(from) }
}

/// Refuses a list with fewer entries than its total says: it was cut off.
fn whole(entries: u64, total: Option<u64>) -> Result<(), NotReconciled> {
    match total {
        Some(total) if entries < total => {
            Err(NotReconciled::NoList(format!("it has {entries} entries, and says that it has {total}")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns a failure in words.
pub(super) fn told(failure: &CallFailure) -> String {
    match failure {
        CallFailure::NotDelivered(why) | CallFailure::Unknown(why) => why.clone(),
        CallFailure::Throttled { after_ms } => {
            format!("it wants no calls for {} s", after_ms.div_ceil(1_000))
        }
        CallFailure::Withheld => "nothing is sent to it".into(),
    }
}
