//! Background jobs of this node: each has a name and a schedule, has at most one run at a time, and is monitored.
//!
//! A panic ends only the current run: the job continues with its next run. A failed run is repeated soon. All jobs end
//! together, the newest first.

mod metrics;
#[cfg(test)]
mod tests;

pub(crate) use metrics::JobMetrics;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::rt::task::JoinHandle;
use futures_util::FutureExt;
use quita_domain::time::{Timestamp, millis_in};
use quita_ports::Clock;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

/// Time from a failed run to the next one, doubled for each consecutive failure, up to the job's interval.
const FIRST_RETRY: Duration = Duration::from_secs(60);
/// Number of doublings after which every interval is reached.
const MAX_DOUBLINGS: u32 = 16;

/// Result of one run, with the reason if it failed.
pub(crate) type JobOutcome = Result<(), String>;

/// Result of one run, and the time to the next one if it differs from the schedule.
#[derive(Debug)]
pub(crate) struct Pass {
    outcome: JobOutcome,
    again_in: Option<Duration>,
}

impl Pass {
    /// Creates a result after which the next run waits this long, unless it is requested earlier.
    pub(crate) const fn again_in(outcome: JobOutcome, wait: Duration) -> Self {
        Self { outcome, again_in: Some(wait) }
    }
}

impl From<JobOutcome> for Pass {
    fn from(outcome: JobOutcome) -> Self {
        Self { outcome, again_in: None }
    }
}

/// Background job of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobName {
    /// Probes whether the store answers.
    StoreProbe,
    /// Stores the times at which API keys were last used.
    LastUses,
    /// Compares acquirers' lists with the payments.
    NightlyComparison,
    /// Erases payers that were kept long enough.
    Retention,
    /// Stores finished payments separately from active ones.
    Archive,
    /// Removes erased payers from this process's memory.
    Erasures,
    /// Sends messages to people who are not watching.
    Messages,
    /// Counts API keys that expire soon.
    EndingKeys,
    /// Warns of certificates that expire soon.
    Certificates,
    /// Registers the callback address at banks.
    CallbackRegistration,
    /// Encrypts secrets that are readable in the store.
    Sealing,
    /// Follows the secret key that the store names.
    CurrentSecretKey,
    /// Disables accounts that are not used.
    InactiveAccounts,
}

impl JobName {
    /// Returns the name in addresses and logs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::StoreProbe => "store-probe",
            Self::LastUses => "last-uses",
            Self::NightlyComparison => "nightly-comparison",
            Self::Retention => "retention",
            Self::Archive => "archive",
            Self::Erasures => "erasures",
            Self::Messages => "messages",
            Self::EndingKeys => "ending-keys",
            Self::Certificates => "certificates",
            Self::CallbackRegistration => "callback-registration",
            Self::Sealing => "sealing",
            Self::CurrentSecretKey => "current-secret-key",
            Self::InactiveAccounts => "inactive-accounts",
        }
    }

    /// Returns the duration after which an unfinished run counts as a problem. It far exceeds that of any healthy run.
    pub(crate) const fn may_take(self) -> Duration {
        match self {
            // A few calls to the store or a server, each with a time limit of seconds.
            Self::StoreProbe
            | Self::LastUses
            | Self::Erasures
            | Self::Messages
            | Self::EndingKeys
            | Self::Certificates
            | Self::CurrentSecretKey => Duration::from_secs(3 * 60),
            Self::CallbackRegistration | Self::InactiveAccounts => Duration::from_secs(15 * 60),
            // The first run may process everything that is stored.
            Self::NightlyComparison | Self::Retention | Self::Archive | Self::Sealing => {
                Duration::from_secs(12 * 3_600)
            }
        }
    }
}

/// Name and schedule of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rhythm {
    pub(crate) name: JobName,
    /// Time from the start of a run to the start of the next. If a run takes longer, the next one follows immediately.
    pub(crate) every: Duration,
    /// Time from the start of the node to the first run.
    pub(crate) first_after: Duration,
}

/// State of a job, as shown to operators.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JobState {
    /// Start of the newest run.
    pub(crate) began_at: Option<Timestamp>,
    /// Start of the current run, on the monotonic clock.
    running_since: Option<Instant>,
    /// End of the newest run that succeeded.
    pub(crate) succeeded_at: Option<Timestamp>,
    /// Duration of the newest finished run.
    pub(crate) took: Option<Duration>,
    /// Reason why the newest finished run failed.
    pub(crate) failure: Option<String>,
    /// Number of finished runs.
    pub(crate) runs: u64,
    /// Number of failed runs.
    pub(crate) failures: u64,
    /// Time of the next run; absent during a run.
    pub(crate) next_at: Option<Timestamp>,
}

impl JobState {
    /// Returns the duration so far of a run that exceeds its maximum; `None` if there is no such run.
    pub(crate) fn overrun(&self, rhythm: Rhythm) -> Option<Duration> {
        let running_for = self.running_since?.elapsed();
        (running_for >= rhythm.name.may_take()).then_some(running_for)
    }
}

/// Job and its state.
#[derive(Debug)]
struct Job {
    rhythm: Rhythm,
    state: Mutex<JobState>,
    /// Wakes the job before its time.
    wake: Notify,
}

impl Job {
    fn change(&self, change: impl FnOnce(&mut JobState)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn state(&self) -> JobState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Jobs of a node, for viewing their states and triggering runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobBoard(Arc<Mutex<Vec<Arc<Job>>>>);

impl JobBoard {
    fn jobs(&self) -> Vec<Arc<Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns every job with its state, in the order in which they were started.
    pub(crate) fn states(&self) -> Vec<(Rhythm, JobState)> {
        self.jobs().iter().map(|job| (job.rhythm, job.state())).collect()
    }

    /// Starts the next run of a job now, or right after the current one.
    pub(crate) fn run_now(&self, name: JobName) {
        self.jobs().iter().filter(|job| job.rhythm.name == name).for_each(|job| job.wake.notify_one());
    }
}

/// Registry of the jobs that run on this thread.
pub(crate) struct Jobs {
    clock: Arc<dyn Clock>,
    board: JobBoard,
    running: Vec<JoinHandle<()>>,
}

impl Jobs {
    /// Creates an empty registry.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, board: JobBoard::default(), running: Vec::new() }
    }

    /// Returns a handle to the jobs' states.
    pub(crate) fn board(&self) -> JobBoard {
        self.board.clone()
    }

    /// Starts a job.
    pub(crate) fn start<P: Into<Pass> + 'static>(
        &mut self,
        rhythm: Rhythm,
        run: impl AsyncFnMut() -> P + 'static,
    ) {
        let job = Arc::new(Job { rhythm, state: Mutex::default(), wake: Notify::new() });
        self.board.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&job));
        self.running.push(actix_web::rt::spawn(keep_running(job, Arc::clone(&self.clock), run)));
    }

    /// Ends all jobs at any point: they must tolerate being killed at any moment anyway.
    pub(crate) fn stop(self) {
        self.running.into_iter().rev().for_each(|job| job.abort());
    }
}

async fn keep_running<P: Into<Pass>>(job: Arc<Job>, clock: Arc<dyn Clock>, mut run: impl AsyncFnMut() -> P) {
    let mut wait = job.rhythm.first_after;
    let mut failures_in_a_row = 0_u32;
    loop {
        job.change(|state| state.next_at = Some(clock.now().plus_ms(millis_in(wait))));
        tokio::select! {
            () = sleep(wait) => {}
            // A request during a run is kept as a single permit, so only one more run follows, rather than one for each
            // request.
            () = job.wake.notified() => {}
        }
        let began = Instant::now();
        job.change(|state| {
            (state.began_at, state.next_at) = (Some(clock.now()), None);
            state.running_since = Some(began);
        });
        let Pass { outcome, again_in } = run_once(job.rhythm.name, &mut run).await;
        let took = began.elapsed();
        failures_in_a_row = if outcome.is_ok() { 0 } else { failures_in_a_row.saturating_add(1) };
        job.change(|state| {
            state.running_since = None;
            state.took = Some(took);
            state.runs = state.runs.saturating_add(1);
            state.failures = state.failures.saturating_add(u64::from(outcome.is_err()));
            state.succeeded_at = outcome.is_ok().then(|| clock.now()).or(state.succeeded_at);
            state.failure = outcome.err();
        });
        // The interval is measured from start to start, so a slow run does not delay the following ones.
        let in_rhythm = job.rhythm.every.saturating_sub(took);
        // After a failure, the next run is brought forward if the interval is long, and is never later than the
        // interval.
        wait = again_in.unwrap_or_else(|| in_rhythm.min(retry_after(failures_in_a_row)));
    }
}

/// Returns the maximum wait after this many consecutive failures.
fn retry_after(failures_in_a_row: u32) -> Duration {
    match failures_in_a_row.checked_sub(1) {
        None => Duration::MAX,
        Some(doublings) => FIRST_RETRY.saturating_mul(1 << doublings.min(MAX_DOUBLINGS)),
    }
}

/// Runs a job once, until it ends or panics. Logs a run that exceeds its maximum duration, once.
async fn run_once<P: Into<Pass>>(name: JobName, run: &mut impl AsyncFnMut() -> P) -> Pass {
    let mut running = pin!(AssertUnwindSafe(run()).catch_unwind());
    let ended = match timeout(name.may_take(), &mut running).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!(
                job = name.as_str(),
                running_for_s = name.may_take().as_secs(),
                "a background job is taking much longer than it should; it keeps running"
            );
            // Not aborted: the run may be in the middle of writes, and operators see that it takes too long.
            running.await
        }
    };
    ended.map(Into::into).unwrap_or_else(|panic| {
        let why = text_of(&*panic);
        tracing::error!(job = name.as_str(), why, "a background job panicked; it will run again");
        Pass::from(Err(format!("panicked: {why}")))
    })
}

/// Returns the message of a panic. Its payload is a string, unless it was raised with another type.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text")
}
