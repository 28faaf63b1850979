//! A list, read whole: page by page, patiently, and not faster than its acquirer wants.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::acquiring::CallFailure;
use quita_domain::control::RouteDirective;
use quita_domain::identity::AcquirerName;
use quita_domain::reconciliation::MARGIN_MS;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{ListPage, ListReader};
use tokio::time::{sleep, timeout};

use super::{NotReconciled, Reconciler};

/// Pages that a list of one day may have: beyond that it is somebody's mistake.
const MAX_PAGES: u32 = 100_000;

/// Waits before a page that can't be had is asked for again; after the last one the list can't be had.
const TRIES_MS: [u64; 3] = [500, 2_000, 5_000];

/// How long one page may take, whatever the reader makes of it.
const PAGE_TIME_OUT: Duration = Duration::from_secs(60);

/// What an acquirer lists.
pub struct List {
    /// Whose it is.
    pub acquirer: AcquirerName,
    /// Who reads it.
    pub reader: Rc<dyn ListReader>,
    /// How many calls a second the acquirer wants at most.
    pub rate: Option<NonZeroU32>,
}

impl Reconciler {
    /// Reads the list of a day, with a little of the days beside it, and imports its lines. They count once all are there.
    pub(super) async fn import(&self, list: &List, day: NaiveDate) -> Result<(), NotReconciled> {
        if self.is_drained(&list.acquirer).await? {
            return Err(NotReconciled::NoList("an operator directed that nothing is sent there".into()));
        }
        let period = period(day, self.clock.now());
        let (mut entries, mut number) = (0_u64, 0);
        loop {
            let page = self.page(list, period, number).await?;
            entries = entries.saturating_add(page.entries);
            let stored = self.as_stored(page.lines).await?;
            let new: Vec<_> = stored.into_iter().filter(|stored| stored.judged.is_none()).collect();
            if !new.is_empty() {
                self.store.put_lines(&new).await?;
            }
            if page.is_last || page.entries == 0 {
                return whole(entries, page.total);
            }
            number = number.saturating_add(1);
            if number >= MAX_PAGES {
                return Err(NotReconciled::NoList(format!("it has more than {MAX_PAGES} pages")));
            }
            if let Some(rate) = list.rate {
                sleep(Duration::from_millis(1_000_u64.div_ceil(u64::from(rate.get())))).await;
            }
        }
    }

    async fn page(
        &self,
        list: &List,
        period: (Timestamp, Timestamp),
        number: u32,
    ) -> Result<ListPage, NotReconciled> {
        let mut waits = TRIES_MS.into_iter();
        loop {
            let too_slow = |_| Err(CallFailure::Unknown("it takes too long".into()));
            let asked = timeout(PAGE_TIME_OUT, list.reader.page(period, number)).await;
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

    async fn is_drained(&self, acquirer: &AcquirerName) -> Result<bool, NotReconciled> {
        let controls = self.store.route_controls().await?;
        let is_drained = |directive| match directive {
            RouteDirective::Drained => true,
            RouteDirective::Open | RouteDirective::Paused => false,
        };
        Ok(controls.iter().any(|control| control.acquirer == *acquirer && is_drained(control.directive)))
    }
}

/// A day in Brasília, and a little more on either side, as far as it has come.
fn period(day: NaiveDate, now: Timestamp) -> (Timestamp, Timestamp) {
    let end = Timestamp::end_of_sao_paulo_day(day);
    let before = i64::try_from(DAY_MS.saturating_add(MARGIN_MS)).unwrap_or(i64::MAX);
    let from = Timestamp::from_millis(end.millis().saturating_sub(before).saturating_add(1));
    (from, end.plus_ms(MARGIN_MS).min(now).max(from))
}

/// A list that is cut says so by its total.
fn whole(entries: u64, total: Option<u64>) -> Result<(), NotReconciled> {
    match total {
        Some(total) if entries < total => {
            Err(NotReconciled::NoList(format!("it has {entries} entries, and says that it has {total}")))
        }
        Some(_) | None => Ok(()),
    }
}

fn told(failure: &CallFailure) -> String {
    match failure {
        CallFailure::NotDelivered(why) | CallFailure::Unknown(why) => why.clone(),
        CallFailure::Throttled { after_ms } => {
            format!("it wants no calls for {} s", after_ms.div_ceil(1_000))
        }
        CallFailure::Withheld => "nothing is sent to it".into(),
    }
}
