//! Nightly runs: each day of an acquirer's list is compared once, by one of the nodes. Missed days are caught up.
//!
//! Owns no thread and no timer: [`Nights::pass`] must be called often. The store records which runs are begun and done.
//! So a night that failed, or on which no node was up, is found by the next pass of any node (decision 35).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{Days, NaiveDate, NaiveTime};
use quita_domain::identity::AcquirerName;
use quita_domain::reconciliation::{LineVerdict, ReconciliationKind, Source, StoredLine, list_not_compared};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{Clock, RunClaim, StoreError, WholeStore};
use tokio::time::interval;
use uuid::Uuid;

use super::{List, NotReconciled, Reconciler};

/// Days back within which a missed day is still compared.
const MADE_UP_WITHIN_DAYS: u64 = 90;

/// Time for which a claim to a day is valid. After it, a run that a dead node began, or that could not be finished,
/// starts again.
const LEASE_MS: u64 = 15 * 60_000;

/// Age of a missed day up to which it is tried as often as the last one, so that the oldest comes first. Also the
/// interval at which an older one is tried.
const STALE_AFTER_MS: u64 = 7 * DAY_MS;
const STALE_EVERY_MS: u64 = 6 * 3_600_000;

/// Pause after a failure of the store before a claim is tried again.
const AFTER_FAILURE_MS: u64 = 60_000;

/// Interval at which the claim is renewed during a comparison.
const RENEW_EVERY: Duration = Duration::from_secs(5 * 60);

/// Number of failed days of one list after which the others wait for the next pass: the acquirer is unavailable.
const FAILURES_OF_A_PASS: u32 = 3;

/// Receives each exception that was reported and is open.
pub type Count = Arc<dyn Fn(ReconciliationKind) + Send + Sync>;

/// Compares the lists of acquirers night by night.
pub struct Nights {
    reconciler: Reconciler,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    /// Time of day, in Brasília, at which the previous day is compared.
    at: NaiveTime,
    /// Id of this process among those on the store.
    node: Uuid,
    count: Count,
    /// Time of the next look at a task, so that the store is not asked all day long.
    put_off: BTreeMap<(AcquirerName, Task), Timestamp>,
    /// Time of the next look at an acquirer with nothing left to do.
    idle_until: BTreeMap<AcquirerName, Timestamp>,
    /// Exceptions that this process stored.
    reported: BTreeSet<String>,
    /// Time since which this process decides about nights.
    created_at: Timestamp,
    /// Reasons why tasks failed that have not succeeded since, or are not done although their turn is over.
    failed: BTreeMap<(AcquirerName, Task), String>,
}

/// A task that is done once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// Comparison of the list of a day.
    Day(NaiveDate),
    /// Comparison of refunds and chargebacks of the Pix of the last 90 days, until this one.
    Returned(NaiveDate),
}

impl Task {
    const fn day(self) -> NaiveDate {
        match self {
            Self::Day(day) | Self::Returned(day) => day,
        }
    }

    fn source(self, acquirer: &AcquirerName) -> Source {
        match self {
            Self::Day(_) => Source::list_of(acquirer),
            Self::Returned(_) => Source::refunds_of(acquirer),
        }
    }
}

/// A task, and the first day for which it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Due {
    task: Task,
    /// First day that has not been compared.
    since: NaiveDate,
}

/// Outcome of a comparison.
#[derive(Debug, Default)]
struct Outcome {
    lines: u64,
    differing: u64,
    /// Lines whose acquirers have not answered yet.
    open: u64,
    /// Lines that were judged with the list of another day.
    elsewhere: u64,
}

/// Outcome of a due task.
#[derive(Debug, Clone, PartialEq, Eq)]
enum TaskOutcome {
    Done,
    /// Another process claimed it.
    Claimed,
    /// Not all lines were answered, or the store did not answer. The next look comes after so many milliseconds.
    Later(u64),
    /// It can't be compared, for this reason.
    Failed(String),
}

impl Nights {
    /// Compares with the payments in this store, at this time of day in Brasília.
    pub fn new(
        reconciler: Reconciler,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        at: NaiveTime,
        node: Uuid,
        count: Count,
    ) -> Self {
        let put_off = BTreeMap::new();
        let idle_until = BTreeMap::new();
        let reported = BTreeSet::new();
        let failed = BTreeMap::new();
        let reconciler = reconciler.with_count(Arc::clone(&count));
        let created_at = clock.now();
        Self { reconciler, store, clock, at, node, count, put_off, idle_until, reported, created_at, failed }
    }

    /// Returns the comparisons that failed on this node and have not succeeded since, in words.
    pub fn failures(&self) -> Vec<String> {
        let in_words = |((acquirer, task), why): (&(AcquirerName, Task), &String)| {
            format!("{acquirer}, {}: {why}", task.day())
        };
        self.failed.iter().map(in_words).collect()
    }

    /// Does the due tasks of an acquirer's list, oldest first, unless another node does them. Returns true if nothing
    /// is left to do for now.
    pub async fn pass(&mut self, list: &List) -> bool {
        let now = self.clock.now();
        if self.idle_until.get(&list.acquirer).is_some_and(|until| now < *until) {
            return true;
        }
        let due = match self.due(list, now).await {
            Ok(due) => due,
            Err(error) => {
                tracing::debug!(acquirer = %list.acquirer, %error, "the due nightly comparisons could not be read; this will be retried");
                return false;
            }
        };
        let days: Vec<_> = due.iter().map(|due| (list.acquirer.clone(), due.task)).collect();
        self.put_off.retain(|known, _| known.0 != list.acquirer || days.contains(known));
        // The others were done, perhaps by another node.
        self.failed.retain(|known, _| known.0 != list.acquirer || days.contains(known));
        if due.is_empty() {
            let until = now.plus_ms(LEASE_MS).min(self.next_turn(now));
            self.idle_until.insert(list.acquirer.clone(), until);
            return true;
        }
        let mut is_done = true;
        let mut failures = 0;
        for due in due {
            let place = (list.acquirer.clone(), due.task);
            if self.put_off.get(&place).is_some_and(|until| self.clock.now() < *until) {
                is_done = false;
                continue;
            }
            let wait_ms = match self.compare(list, due).await {
                TaskOutcome::Done => {
                    self.failed.remove(&place);
                    continue;
                }
                TaskOutcome::Later(wait_ms) => wait_ms,
                // If the other process dies, its claim is over by then.
                TaskOutcome::Claimed => {
                    // A process that began at its turn is at work. One before this process may have failed or ended.
                    if turn_of(due.task.day(), self.at) < self.created_at {
                        let next = self.clock.now().plus_ms(LEASE_MS);
                        self.failed.entry(place.clone()).or_insert_with(|| not_compared_yet(next));
                    }
                    LEASE_MS
                }
                TaskOutcome::Failed(why) => {
                    failures += 1;
                    self.failed.insert(place.clone(), why.clone());
                    let undone_ms = self.clock.now().ms_since(turn_of(due.since, self.at));
                    // It is tried before it is reported: most missed days are caught up at once (decision 35).
                    if undone_ms >= DAY_MS {
                        self.report(&list.acquirer, due, &why).await;
                    }
                    if undone_ms >= STALE_AFTER_MS { STALE_EVERY_MS } else { LEASE_MS }
                }
            };
            is_done = false;
            self.put_off.insert(place, self.clock.now().plus_ms(wait_ms));
            if failures >= FAILURES_OF_A_PASS {
                break;
            }
        }
        is_done
    }

    /// Tasks that are due by now, oldest first. A list that was never compared begins with the last day.
    async fn due(&self, list: &List, now: Timestamp) -> Result<Vec<Due>, StoreError> {
        let acquirer = &list.acquirer;
        let last = last_day(now, self.at);
        let from = last.checked_sub_days(Days::new(MADE_UP_WITHIN_DAYS)).unwrap_or(NaiveDate::MIN);
        let source = Source::list_of(acquirer);
        let days = self.store.runs(&source, from, last).await?;
        let first = if let Some(run) = days.first() {
            run.day
        } else if self.store.runs(&source, NaiveDate::default(), from).await?.is_empty() {
            last
        } else {
            // It was compared before, within the period that is caught up.
            from
        };
        let is_done = |day: &NaiveDate| days.iter().any(|run| run.day == *day && run.is_finished);
        let open = first.iter_days().take_while(|day| *day <= last).filter(|day| !is_done(day));
        let mut due: Vec<_> = open.map(|day| Due { task: Task::Day(day), since: day }).collect();
        if !list.reader.has_returned() {
            return Ok(due);
        }
        // One comparison of refunds covers the missed ones before it.
        let returned = self.store.runs(&Source::refunds_of(acquirer), from, last).await?;
        let finished = returned.iter().rev().find(|run| run.is_finished);
        let begun = returned.first().map(|run| run.day);
        let since = finished.and_then(|run| run.day.succ_opt()).or(begun).unwrap_or(last);
        if since <= last {
            due.push(Due { task: Task::Returned(last), since });
        }
        Ok(due)
    }

    /// Does a task, if no other node does.
    async fn compare(&self, list: &List, due: Due) -> TaskOutcome {
        let acquirer = &list.acquirer;
        let day = due.task.day();
        match self.store.claim_run(&self.claim(acquirer, due.task)).await {
            Ok(true) => {}
            Ok(false) => return TaskOutcome::Claimed,
            Err(error) => {
                tracing::debug!(%acquirer, %day, %error, "a comparison could not be claimed");
                return TaskOutcome::Later(AFTER_FAILURE_MS);
            }
        }
        match self.compare_claimed(list, due.task).await {
            // Only a run that leaves no line open is finished; any other one is made again.
            Ok(Outcome { lines, differing, open: 0, elsewhere }) => {
                tracing::info!(%acquirer, %day, lines, differing, elsewhere, "an acquirer's list was compared");
                if let Err(error) = self.store.finish_run(&self.claim(acquirer, due.task)).await {
                    tracing::warn!(%acquirer, %day, %error, "a comparison could not be marked as finished; it will be repeated");
                    return TaskOutcome::Later(AFTER_FAILURE_MS);
                }
                TaskOutcome::Done
            }
            Ok(Outcome { lines, differing, open, .. }) => {
                tracing::info!(
                    %acquirer, %day, lines, differing, open,
                    "an acquirer's list was compared; it did not answer about some lines, and will be asked again"
                );
                TaskOutcome::Later(LEASE_MS)
            }
            Err(error) => {
                // Refunds have a list of their own, so an acquirer that is away fails twice.
                let source = due.task.source(acquirer);
                let source = source.as_str();
                tracing::warn!(%acquirer, source, %day, %error, "an acquirer's list could not be compared; this will be retried");
                TaskOutcome::Failed(error.to_string())
            }
        }
    }

    async fn compare_claimed(&self, list: &List, task: Task) -> Result<Outcome, NotReconciled> {
        let mut outcome = Outcome::default();
        let mut tell = |stored: &StoredLine| {
            count_line(stored, &mut outcome);
            Ok(())
        };
        let reconciler = self.reconciler.clone().of_mode(list.mode);
        let run = async {
            match task {
                Task::Day(day) => reconciler.reconcile_list(list, day, day, &mut tell).await,
                Task::Returned(until) => {
                    reconciler.reconcile_returned(list, until, &mut tell).await.map(|()| 0)
                }
            }
        };
        let result = tokio::select! {
            biased;
            done = run => done,
            () = self.renew(&list.acquirer, task) => Ok(0),
        };
        result.map(|elsewhere| Outcome { elsewhere, ..outcome })
    }

    /// Renews the claim at intervals, forever.
    async fn renew(&self, acquirer: &AcquirerName, task: Task) {
        let mut ticks = interval(RENEW_EVERY);
        loop {
            ticks.tick().await;
            if let Err(error) = self.store.claim_run(&self.claim(acquirer, task)).await {
                tracing::debug!(%error, "a claim could not be renewed; this will be retried");
            }
        }
    }

    fn claim(&self, acquirer: &AcquirerName, task: Task) -> RunClaim {
        let now = self.clock.now();
        let source = task.source(acquirer);
        RunClaim { source, day: task.day(), node: self.node, now, until: now.plus_ms(LEASE_MS) }
    }

    /// Reports to operators a task that was not done within a day after its turn. Each is reported once.
    async fn report(&mut self, acquirer: &AcquirerName, due: Due, why: &str) {
        let source = due.task.source(acquirer);
        let exception = list_not_compared(&source, acquirer, due.since, why, self.clock.now());
        if self.reported.contains(&exception.id) {
            return;
        }
        match self.store.put_exception(&exception).await {
            Ok(is_open) => {
                if is_open {
                    (self.count)(ReconciliationKind::ListNotCompared);
                }
                self.reported.insert(exception.id);
            }
            // The next failure reports it.
            Err(error) => tracing::warn!(%acquirer, %error, "an exception could not be stored"),
        }
    }

    /// Returns the time at which the next day has its turn.
    fn next_turn(&self, now: Timestamp) -> Timestamp {
        let next = last_day(now, self.at).succ_opt().unwrap_or(NaiveDate::MAX);
        turn_of(next, self.at)
    }
}

/// Returns the state of a task that another process claimed before this one started.
fn not_compared_yet(next: Timestamp) -> String {
    format!(
        "not compared yet: an earlier try failed, was interrupted or is under way; the next one is at {next}"
    )
}

fn count_line(stored: &StoredLine, outcome: &mut Outcome) {
    let Some(judged) = &stored.judged else { return };
    let is_matched = judged.finding.verdict() == LineVerdict::Matched;
    outcome.lines = outcome.lines.saturating_add(1);
    outcome.differing = outcome.differing.saturating_add(u64::from(!is_matched));
    outcome.open = outcome.open.saturating_add(u64::from(!judged.is_final));
}

/// Returns the time at which a day has its turn: on the next day, at this time of day in Brasília.
fn turn_of(day: NaiveDate, at: NaiveTime) -> Timestamp {
    let turn = day.succ_opt().and_then(|next| Timestamp::from_sao_paulo(next.and_time(at)));
    turn.unwrap_or(Timestamp::from_millis(i64::MAX))
}

/// Returns the last day in Brasília whose turn has come: yesterday, or the day before that until the time of day is
/// reached.
pub fn last_day(now: Timestamp, at: NaiveTime) -> NaiveDate {
    let local = now.in_sao_paulo();
    let back = Days::new(if local.time() >= at { 1 } else { 2 });
    local.date().checked_sub_days(back).unwrap_or(NaiveDate::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_turn_on_the_next_one_at_the_time_of_brasilia() {
        let at = NaiveTime::from_hms_opt(5, 0, 0).unwrap();
        for (now, day) in [
            ("2026-11-23T07:59:59Z", "2026-11-21"),
            ("2026-11-23T08:00:00Z", "2026-11-22"),
            ("2026-11-24T02:59:59Z", "2026-11-22"),
            ("2026-11-24T03:00:00Z", "2026-11-22"),
            ("2026-11-24T08:00:00Z", "2026-11-23"),
        ] {
            let now = Timestamp::parse(now).unwrap();
            assert_eq!(last_day(now, at).to_string(), day, "{now}");
            let turn = turn_of(last_day(now, at), at);
            assert!(turn <= now && now < turn.plus_ms(DAY_MS), "{now}");
        }
    }
}
