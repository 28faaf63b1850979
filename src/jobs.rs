//! Background jobs of this node: each has a name and a rhythm, runs once at a time, and is watched.
//!
//! A run that panics ends that run alone: the job goes on at its next time. One that fails is repeated soon. All jobs end
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

/// Time after a failed run to the next one, doubled for each that fails in a row, up to the job's rhythm.
const FIRST_RETRY: Duration = Duration::from_secs(60);
/// Doublings after which every rhythm is reached.
const MAX_DOUBLINGS: u32 = 16;

/// Result of one run; the reason if it failed.
pub(crate) type JobOutcome = Result<(), String>;

/// One run with its result, and the time to the next run if that is not the rhythm's.
#[derive(Debug)]
pub(crate) struct Pass {
    outcome: JobOutcome,
    again_in: Option<Duration>,
}

impl Pass {
    /// Makes a result after which the next run waits for so long, unless somebody asks for it.
    pub(crate) const fn again_in(outcome: JobOutcome, wait: Duration) -> Self {
        Self { outcome, again_in: Some(wait) }
    }
}

impl From<JobOutcome> for Pass {
    fn from(outcome: JobOutcome) -> Self {
        Self { outcome, again_in: None }
    }
}

/// The background jobs of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JobName {
    /// Asks the store whether it answers.
    StoreProbe,
    /// Stores when API keys were last used.
    LastUses,
    /// Compares acquirers' lists with the payments.
    NightlyComparison,
    /// Erases payers that were kept for long enough.
    Retention,
    /// Keeps finished payments apart from those that go on.
    Archive,
    /// Makes this process forget payers that were erased.
    Erasures,
    /// Sends messages to people who are not looking.
    Messages,
    /// Counts API keys that end soon.
    EndingKeys,
    /// Warns of certificates that end soon.
    Certificates,
    /// Tells banks where to call back.
    CallbackRegistration,
    /// Encrypts secrets that are readable in the store.
    Sealing,
    /// Follows the secret key that the store names.
    CurrentSecretKey,
    /// Disables accounts that nobody uses.
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

    /// Returns the duration after which a run that goes on is a trouble. Far more than any that is well takes.
    pub(crate) const fn may_take(self) -> Duration {
        match self {
            // A few calls of the store or of a server, each with a time limit of seconds.
            Self::StoreProbe
            | Self::LastUses
            | Self::Erasures
            | Self::Messages
            | Self::EndingKeys
            | Self::Certificates
            | Self::CurrentSecretKey => Duration::from_secs(3 * 60),
            Self::CallbackRegistration | Self::InactiveAccounts => Duration::from_secs(15 * 60),
            // The first run may go through everything that is stored.
            Self::NightlyComparison | Self::Retention | Self::Archive | Self::Sealing => {
                Duration::from_secs(12 * 3_600)
            }
        }
    }
}

/// Name and rhythm of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rhythm {
    pub(crate) name: JobName,
    /// Time between the beginnings of two runs. A run that takes longer is followed by the next at once.
    pub(crate) every: Duration,
    /// Time from the start of the node to the first run.
    pub(crate) first_after: Duration,
}

/// State of a job, as an operator sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct JobState {
    /// Begin of the newest run.
    pub(crate) began_at: Option<Timestamp>,
    /// Begin of the run that goes on, on the monotonic clock.
    running_since: Option<Instant>,
    /// End of the newest run that succeeded.
    pub(crate) succeeded_at: Option<Timestamp>,
    /// Duration of the newest run that has ended.
    pub(crate) took: Option<Duration>,
    /// Reason why the newest run that has ended failed.
    pub(crate) failure: Option<String>,
    /// Number of runs that have ended.
    pub(crate) runs: u64,
    /// Number of those that failed.
    pub(crate) failures: u64,
    /// Time of the next run; absent during a run.
    pub(crate) next_at: Option<Timestamp>,
}

impl JobState {
    /// Returns the duration so far of a run that takes longer than it may; `None` if there is no such run.
    pub(crate) fn overrun(&self, rhythm: Rhythm) -> Option<Duration> {
        let running_for = self.running_since?.elapsed();
        (running_for >= rhythm.name.may_take()).then_some(running_for)
    }
}

/// A job with its state.
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

/// The jobs of a node, to be looked at and to be run at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct JobBoard(Arc<Mutex<Vec<Arc<Job>>>>);

impl JobBoard {
    fn jobs(&self) -> Vec<Arc<Job>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns every job with its state, in the order of their start.
    pub(crate) fn states(&self) -> Vec<(Rhythm, JobState)> {
        self.jobs().iter().map(|job| (job.rhythm, job.state())).collect()
    }

    /// Makes the next run of a job begin now, or right after the present one.
    pub(crate) fn run_now(&self, name: JobName) {
        self.jobs().iter().filter(|job| job.rhythm.name == name).for_each(|job| job.wake.notify_one());
    }
}

/// Registry of jobs that run on this thread.
pub(crate) struct Jobs {
    clock: Arc<dyn Clock>,
    board: JobBoard,
    running: Vec<JoinHandle<()>>,
}

impl Jobs {
    /// Makes an empty registry.
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

    /// Ends all jobs, wherever they are: each may be killed at any moment anyway.
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
            // A request during a run is kept as one permit, so one more run follows and not one for each request.
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
        // The rhythm is from beginning to beginning, so a slow pass does not shift the following ones.
        let in_rhythm = job.rhythm.every.saturating_sub(took);
        // A failed pass is repeated before its rhythm, if that is long, and never later than its rhythm.
        wait = again_in.unwrap_or_else(|| in_rhythm.min(retry_after(failures_in_a_row)));
    }
}

/// Returns the longest wait after so many failures in a row.
fn retry_after(failures_in_a_row: u32) -> Duration {
    match failures_in_a_row.checked_sub(1) {
        None => Duration::MAX,
        Some(doublings) => FIRST_RETRY.saturating_mul(1 << doublings.min(MAX_DOUBLINGS)),
    }
}

/// Runs a job once, to its end or its panic. Logs a run that takes longer than it may, once.
async fn run_once<P: Into<Pass>>(name: JobName, run: &mut impl AsyncFnMut() -> P) -> Pass {
    let mut running = pin!(AssertUnwindSafe(run()).catch_unwind());
    let ended = match timeout(name.may_take(), &mut running).await {
        Ok(ended) => ended,
        Err(_) => {
            tracing::warn!(
                job = name.as_str(),
                running_for_s = name.may_take().as_secs(),
                "a background job takes much longer than it should; it runs on"
            );
            // Not aborted: a pass may be in the middle of writes, and an operator sees that it takes too long.
            running.await
        }
    };
    ended.map(Into::into).unwrap_or_else(|panic| {
        let why = text_of(&*panic);
        tracing::error!(job = name.as_str(), why, "a background job panicked; it goes on at its next time");
        Pass::from(Err(format!("panicked: {why}")))
    })
}

/// Returns the text of a panic, which is a string unless somebody took trouble.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text")
}
