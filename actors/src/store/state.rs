//! State of the store: up, or away since a known time.
//!
//! Every call of the store reports its result here. Nothing else decides that the store is away, logs that, or exports
//! it as a metric.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus::{IntCounterVec, IntGauge, Opts, Registry};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, StoreError, WriteError};
use serde::Serialize;
use tokio::time::Instant;

use crate::store::failing_reads::{self, FailedReads, FailingReads};
use crate::watch::actor_view::ago;
use crate::watch::metric::enter;

/// Time of failures without a success after which the store is away. In an idle service, one slow query alone must not
/// count as an outage.
const GRACE: Duration = Duration::from_secs(2);

/// A call of the store, by what it does there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreCall {
    /// Changes something.
    Write,
    /// Changes nothing.
    Read,
    /// Checks only that the store answers.
    Probe,
}

impl StoreCall {
    /// Label of its failures.
    const fn label(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::Probe => "probe",
        }
    }
}

/// Label of calls that were refused or given up before the store answered.
const REFUSED: &str = "refused";

/// Trouble of a store that is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StoreTrouble {
    /// It answers nothing.
    Silent,
    /// It answers reads and takes no writes.
    ReadOnly,
    /// It answers reads, and its disk has no room for writes.
    Full,
    /// Its files are gone or damaged, or a commit failed permanently: nothing is accepted until the service is
    /// restarted.
    Broken,
}

/// Reason of a call that its caller gave up.
const NO_ANSWER: &str = "it did not answer in time";

impl StoreTrouble {
    /// Every trouble.
    pub const ALL: [Self; 4] = [Self::Silent, Self::ReadOnly, Self::Full, Self::Broken];

    /// Returns its name in logs, samples and pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::ReadOnly => "read_only",
            Self::Full => "full",
            Self::Broken => "broken",
        }
    }
}

/// Absence of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreAway {
    /// Beginning of the first call that failed.
    pub since: Timestamp,
    /// Kind of the trouble.
    pub trouble: StoreTrouble,
    /// Error of the call that showed it.
    pub why: Arc<str>,
}

/// Calls of one kind, which can fail while those of the other kind succeed.
#[derive(Debug, Default)]
struct Lane {
    answered_at: Option<Instant>,
    /// Beginning of the failures since the last success.
    failing_since: Option<Instant>,
    /// End of the last of them.
    failed_at: Option<Instant>,
    is_away: bool,
}

impl Lane {
    fn answered(&mut self, now: Instant) {
        *self = Self { answered_at: Some(now), ..Self::default() };
    }

    fn failed(&mut self, began: Instant, now: Instant) {
        // A slow call that failed may have begun before the last success. Failures count only from that success on.
        let earliest = self.answered_at.map_or(began, |answered_at| answered_at.max(began));
        let since = *self.failing_since.get_or_insert(earliest);
        self.failed_at = Some(now);
        // Only a success ends it: a pause between two failures is no recovery.
        self.is_away |= now.saturating_duration_since(since) >= GRACE;
    }

    fn failed_lately(&self, now: Instant) -> bool {
        self.failed_at.is_some_and(|failed_at| now.saturating_duration_since(failed_at) < GRACE)
    }
}

#[derive(Debug, Default)]
struct StoreCondition {
    reads: Lane,
    failed_reads: FailedReads,
    writes: Lane,
    is_broken: bool,
    /// True if a write failed because the disk is full, and none was made since.
    is_full: bool,
    away: Option<(Instant, StoreAway)>,
}

impl StoreCondition {
    fn trouble(&self) -> Option<StoreTrouble> {
        if self.is_broken {
            Some(StoreTrouble::Broken)
        } else if self.reads.is_away {
            Some(StoreTrouble::Silent)
        } else {
            let trouble = if self.is_full { StoreTrouble::Full } else { StoreTrouble::ReadOnly };
            self.writes.is_away.then_some(trouble)
        }
    }

    fn failing_since(&self) -> Option<Instant> {
        [self.reads.failing_since, self.writes.failing_since].into_iter().flatten().min()
    }
}

/// State of the store. One for each process.
pub struct StoreState {
    inner: Mutex<StoreCondition>,
    clock: Arc<dyn Clock>,
    up: IntGauge,
    failures: IntCounterVec,
}

impl StoreState {
    /// Registers its metrics. The store was just opened, so it is up.
    pub(crate) fn register(
        registry: &Registry,
        clock: Arc<dyn Clock>,
    ) -> Result<Arc<Self>, prometheus::Error> {
        let up = "1 while the store answers and accepts writes, 0 while it is unavailable";
        let up = enter(registry, IntGauge::new("quita_store_up", up)?)?;
        let failures =
            "Failed store calls: reads, writes and probes, and calls refused before the store answered";
        let failures = Opts::new("quita_store_failures_total", failures);
        let failures = enter(registry, IntCounterVec::new(failures, &["kind"])?)?;
        up.set(1);
        // Created with zero, because an alert does not see an increase in a series that did not exist.
        for kind in [StoreCall::Write, StoreCall::Read, StoreCall::Probe].map(StoreCall::label) {
            failures.with_label_values(&[kind]);
        }
        failures.with_label_values(&[REFUSED]);
        Ok(Arc::new(Self { inner: Mutex::default(), clock, up, failures }))
    }

    fn lock(&self) -> MutexGuard<'_, StoreCondition> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the absence of the store; `None` while it is up.
    pub fn away(&self) -> Option<StoreAway> {
        self.lock().away.as_ref().map(|(_, away)| away.clone())
    }

    /// Returns reads that fail while the store answers: for a minute without a success, or because data is damaged.
    pub fn failing_reads(&self) -> Option<FailingReads> {
        let inner = self.lock();
        inner.failed_reads.trouble().filter(|_| inner.away.is_none())
    }

    /// Returns true if the store answers and takes writes.
    pub fn is_up(&self) -> bool {
        self.lock().away.is_none()
    }

    /// Makes a call and records its result.
    ///
    /// # Errors
    /// The errors of the call.
    pub async fn watch<T>(
        &self,
        kind: StoreCall,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let mut watched = Watched { state: self, kind, began: Instant::now(), is_over: false };
        let result = call.await;
        watched.ended(1, result.as_ref().err());
        result
    }

    /// Makes a batch of writes and records its results.
    pub async fn watch_batch(
        &self,
        call: impl Future<Output = Vec<Result<(), WriteError>>>,
    ) -> Vec<Result<(), WriteError>> {
        let mut watched =
            Watched { state: self, kind: StoreCall::Write, began: Instant::now(), is_over: false };
        let results = call.await;
        let failed = results.iter().filter_map(|result| match result {
            Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => Some(error),
            Ok(()) | Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => None,
        });
        let count = failed.clone().count();
        // One successful write shows that the store takes writes.
        let error = failed.clone().next().filter(|error| count == results.len() || is_broken(error));
        match error {
            Some(error) => watched.ended(count, Some(error)),
            None => {
                self.count(StoreCall::Write.label(), count);
                watched.ended(count, None);
            }
        }
        results
    }

    /// Counts a call that was refused or given up before the store answered.
    pub(crate) fn refused(&self) {
        self.count(REFUSED, 1);
    }

    fn count(&self, kind: &str, count: usize) {
        self.failures.with_label_values(&[kind]).inc_by(u64::try_from(count).unwrap_or(u64::MAX));
    }

    fn answered(&self, kind: StoreCall) {
        let mut inner = self.lock();
        let now = Instant::now();
        match kind {
            StoreCall::Write => {
                // A full disk may have room for a small write while it refuses larger ones.
                if !inner.is_full || !inner.writes.failed_lately(now) {
                    inner.is_full = false;
                    inner.writes.answered(now);
                }
                inner.reads.answered(now);
            }
            StoreCall::Read | StoreCall::Probe => {
                if kind == StoreCall::Read {
                    inner.failed_reads.end();
                }
                // The store is back from a complete outage. If it still takes no writes, the next write shows that.
                if inner.reads.is_away {
                    inner.is_full = false;
                    inner.writes.answered(now);
                }
                inner.reads.answered(now);
            }
        }
        self.follow(&mut inner, now, "");
    }

    fn failed(&self, kind: StoreCall, count: usize, began: Instant, error: &StoreError) {
        self.count(kind.label(), count);
        let mut inner = self.lock();
        let now = Instant::now();
        // A read may meet one damaged page. Writes and probes check the files as a whole.
        inner.is_broken |= kind != StoreCall::Read && is_broken(error);
        match kind {
            StoreCall::Write => {
                let is_full = matches!(error, StoreError::Full(_));
                inner.is_full |= is_full;
                inner.writes.failed(began, now);
                // One failure is proof enough. Small writes in between may still succeed.
                inner.writes.is_away |= is_full;
            }
            StoreCall::Read | StoreCall::Probe => inner.reads.failed(began, now),
        }
        tracing::debug!(%error, kind = kind.label(), count, "a store call failed");
        self.follow(&mut inner, now, &error.to_string());
        let is_read = kind == StoreCall::Read;
        if is_read && inner.failed_reads.add(now, self.clock.now(), error) && inner.away.is_none() {
            failing_reads::log(error);
        }
    }

    /// Logs once when the store goes away, and once when it is back.
    fn follow(&self, inner: &mut StoreCondition, now: Instant, why: &str) {
        match (inner.trouble(), inner.away.take()) {
            (None, None) => {}
            (Some(trouble), Some((gone_at, away))) if trouble != away.trouble && !why.is_empty() => {
                let away = StoreAway { trouble, why: why.into(), ..away };
                // Any other trouble ends by itself, like the one that was logged.
                if trouble == StoreTrouble::Broken {
                    log(&away);
                }
                inner.away = Some((gone_at, away));
            }
            (Some(trouble), Some((gone_at, away))) if is_vague(&away.why) && !is_vague(why) => {
                let away = StoreAway { trouble, why: why.into(), ..away };
                tracing::info!(error = why, "the reason why the store is unavailable is known now");
                inner.away = Some((gone_at, away));
            }
            (Some(trouble), Some((gone_at, away))) => {
                inner.away = Some((gone_at, StoreAway { trouble, ..away }));
            }
            (Some(trouble), None) => {
                let gone_at = inner.failing_since().unwrap_or(now);
                let since = ago(self.clock.now(), now.saturating_duration_since(gone_at));
                self.up.set(0);
                let away = StoreAway { since, trouble, why: why.into() };
                log(&away);
                inner.away = Some((gone_at, away));
            }
            (None, Some((gone_at, away))) => {
                self.up.set(1);
                let away_ms = u64::try_from(now.saturating_duration_since(gone_at).as_millis());
                let away_ms = away_ms.unwrap_or(u64::MAX);
                let since = away.since;
                tracing::info!(away_ms, %since, "the store is back");
            }
        }
    }
}

/// Logs the absence of the store.
fn log(StoreAway { since, trouble, why }: &StoreAway) {
    let trouble = *trouble;
    if trouble == StoreTrouble::Broken {
        // The remedy depends on the cause, which states it.
        tracing::error!(
            %since, trouble = trouble.as_str(),
            "the store is unavailable: it can't be trusted, and requests are answered 503. {why}"
        );
    } else {
        tracing::error!(
            %since, trouble = trouble.as_str(), error = &**why,
            "the store is unavailable: requests are answered 503, and no acknowledged request is lost"
        );
    }
}

/// Returns true for a reason that says only that no answer came. A driver that looks for a server learns the cause, such
/// as a refused connection, after the callers have given up.
fn is_vague(why: &str) -> bool {
    why.is_empty() || why.ends_with(NO_ANSWER)
}

pub(super) const fn is_broken(error: &StoreError) -> bool {
    matches!(error, StoreError::Broken(_))
}

/// A call under way.
struct Watched<'a> {
    state: &'a StoreState,
    kind: StoreCall,
    began: Instant,
    is_over: bool,
}

impl Watched<'_> {
    fn ended(&mut self, count: usize, error: Option<&StoreError>) {
        self.is_over = true;
        match error {
            // Unreadable data is still an answer, so the store is up.
            None | Some(StoreError::Unreadable(_)) => self.state.answered(self.kind),
            Some(error @ (StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::Broken(_))) => {
                self.state.failed(self.kind, count, self.began, error);
            }
        }
    }
}

impl Drop for Watched<'_> {
    /// Records a call that its caller gave up. It counts as a failure only if it had its full time.
    fn drop(&mut self) {
        if !self.is_over && self.began.elapsed() >= GRACE {
            let error = StoreError::Unavailable(NO_ANSWER.into());
            self.state.failed(self.kind, 1, self.began, &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::time::{advance, timeout};

    use super::*;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1_000_000)
        }
    }

    fn state() -> Arc<StoreState> {
        StoreState::register(&Registry::new(), Arc::new(Noon)).unwrap()
    }

    fn away() -> StoreError {
        StoreError::Unavailable("nobody is there".into())
    }

    async fn fails(state: &StoreState, kind: StoreCall) {
        state.watch::<()>(kind, async { Err(away()) }).await.unwrap_err();
    }

    async fn answers(state: &StoreState, kind: StoreCall) {
        state.watch(kind, async { Ok(()) }).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_better_reason_replaces_that_no_answer_came_and_is_kept() {
        let state = state();
        let give_up = async || {
            let call = state.watch::<()>(StoreCall::Probe, pending());
            timeout(GRACE, call).await.unwrap_err();
        };
        let why = || state.away().unwrap().why.to_string();
        give_up().await;
        assert!(why().ends_with(NO_ANSWER), "{}", why());
        let since = state.away().unwrap().since;
        let refused = async { Err(StoreError::Unavailable("127.0.0.1:1: Connection refused".into())) };
        state.watch::<()>(StoreCall::Read, refused).await.unwrap_err();
        assert!(why().ends_with("Connection refused"), "{}", why());
        give_up().await;
        assert!(why().ends_with("Connection refused"), "{}", why());
        assert_eq!(state.away().unwrap().since, since);
    }

    fn trouble(state: &StoreState) -> Option<StoreTrouble> {
        state.away().map(|away| away.trouble)
    }

    #[tokio::test(start_paused = true)]
    async fn reads_that_fail_beside_probes_that_succeed_are_a_trouble_until_one_succeeds() {
        let state = state();
        for _ in 0..61 {
            fails(&state, StoreCall::Read).await;
            answers(&state, StoreCall::Probe).await;
            answers(&state, StoreCall::Write).await;
            advance(Duration::from_secs(1)).await;
        }
        assert!(state.is_up(), "writes are taken");
        let failing = state.failing_reads().unwrap();
        assert!(failing.why.contains("nobody is there") && !failing.is_damage, "{failing:?}");
        answers(&state, StoreCall::Read).await;
        assert_eq!(state.failing_reads(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn damage_that_one_read_met_stays_known_whatever_others_find() {
        let state = state();
        let damaged = async { Err(StoreError::Broken("malformed".into())) };
        state.watch::<()>(StoreCall::Read, damaged).await.unwrap_err();
        answers(&state, StoreCall::Read).await;
        fails(&state, StoreCall::Read).await;
        answers(&state, StoreCall::Read).await;
        let failing = state.failing_reads().unwrap();
        assert!(state.is_up() && failing.is_damage && failing.why.contains("malformed"), "{failing:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_failure_is_no_outage_and_failures_without_a_success_are_one() {
        let state = state();
        fails(&state, StoreCall::Read).await;
        advance(GRACE / 2).await;
        answers(&state, StoreCall::Read).await;
        advance(GRACE / 2).await;
        fails(&state, StoreCall::Read).await;
        assert!(state.is_up());
        advance(GRACE).await;
        fails(&state, StoreCall::Read).await;
        let told = state.away().unwrap();
        assert_eq!((told.trouble, told.since.millis()), (StoreTrouble::Silent, 1_000_000 - 2_000));
        assert!(told.why.contains("nobody is there"), "{}", told.why);
        assert_eq!((state.up.get(), state.failures.with_label_values(&["read"]).get()), (0, 3));
        answers(&state, StoreCall::Probe).await;
        assert!(state.is_up() && state.up.get() == 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_list_that_fails_says_nothing_of_the_time_in_which_others_were_answered() {
        let state = state();
        let list = state.watch::<()>(StoreCall::Read, async {
            advance(GRACE * 5).await;
            answers(&state, StoreCall::Probe).await;
            advance(GRACE / 2).await;
            Err(away())
        });
        list.await.unwrap_err();
        assert!(state.is_up());
    }

    #[tokio::test(start_paused = true)]
    async fn a_probe_that_is_given_up_after_its_time_shows_a_store_that_hangs() {
        let state = state();
        let probe = |within| timeout(within, state.watch::<()>(StoreCall::Probe, pending()));
        probe(GRACE / 2).await.unwrap_err();
        assert_eq!((state.is_up(), state.failures.with_label_values(&["probe"]).get()), (true, 0));
        probe(GRACE).await.unwrap_err();
        assert_eq!((state.is_up(), state.failures.with_label_values(&["probe"]).get()), (false, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_takes_no_writes_is_away_although_it_answers_reads() {
        let state = state();
        for _ in 0..2 {
            fails(&state, StoreCall::Write).await;
            advance(GRACE).await;
            answers(&state, StoreCall::Read).await;
        }
        fails(&state, StoreCall::Write).await;
        answers(&state, StoreCall::Probe).await;
        assert_eq!(trouble(&state), Some(StoreTrouble::ReadOnly));
        answers(&state, StoreCall::Write).await;
        assert_eq!(trouble(&state), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_disk_is_named_until_there_is_room() {
        let state = state();
        let full = || async { Err::<(), _>(StoreError::Full("database or disk is full".into())) };
        state.watch(StoreCall::Write, full()).await.unwrap_err();
        assert_eq!(trouble(&state), Some(StoreTrouble::Full), "by the first write");
        answers(&state, StoreCall::Probe).await;
        advance(GRACE).await;
        state.watch(StoreCall::Write, full()).await.unwrap_err();
        assert_eq!(trouble(&state), Some(StoreTrouble::Full));
        assert!(state.away().unwrap().why.contains("disk is full"));
        // A heartbeat finds room while payments do not.
        state.watch(StoreCall::Write, full()).await.unwrap_err();
        answers(&state, StoreCall::Write).await;
        assert_eq!(trouble(&state), Some(StoreTrouble::Full));
        advance(GRACE).await;
        answers(&state, StoreCall::Write).await;
        assert_eq!(trouble(&state), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_gone_is_known_by_the_first_probe_and_is_for_good() {
        let state = state();
        let gone = async { Err::<(), _>(StoreError::Broken("quita.db was deleted".into())) };
        state.watch(StoreCall::Probe, gone).await.unwrap_err();
        answers(&state, StoreCall::Read).await;
        assert_eq!(trouble(&state), Some(StoreTrouble::Broken));
        assert_eq!(state.up.get(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_after_an_outage_of_everything_ends_it_for_writes_too() {
        let state = state();
        for kind in [StoreCall::Read, StoreCall::Write, StoreCall::Read, StoreCall::Write] {
            fails(&state, kind).await;
            advance(GRACE).await;
        }
        assert_eq!(trouble(&state), Some(StoreTrouble::Silent));
        answers(&state, StoreCall::Read).await;
        assert_eq!(trouble(&state), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_broken_commit_is_for_good() {
        let state = state();
        let broken = || Err(WriteError::Unknown(StoreError::Broken("no sync".into())));
        state.watch_batch(async { vec![Ok(()), broken()] }).await;
        answers(&state, StoreCall::Write).await;
        assert_eq!(trouble(&state), Some(StoreTrouble::Broken));
    }

    #[tokio::test(start_paused = true)]
    async fn every_failed_write_of_a_batch_counts_and_one_that_was_made_shows_a_store_that_is_there() {
        let state = state();
        let not_written = || Err(WriteError::NotWritten(away()));
        for _ in 0..3 {
            state.watch_batch(async { vec![Ok(()), not_written(), Err(WriteError::Conflict)] }).await;
            advance(GRACE).await;
        }
        assert_eq!((state.is_up(), state.failures.with_label_values(&["write"]).get()), (true, 3));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_unreadable_was_answered() {
        let state = state();
        for _ in 0..3 {
            let found = async { Err::<(), _>(StoreError::Unreadable("of tomorrow".into())) };
            state.watch(StoreCall::Read, found).await.unwrap_err();
            advance(GRACE).await;
        }
        assert_eq!((state.is_up(), state.failures.with_label_values(&["read"]).get()), (true, 0));
    }
}
