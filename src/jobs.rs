//! Background jobs of this node: each has a name and a rhythm, runs once at a time, and is watched.
//!
//! A run that panics ends that run alone: the job goes on at its next time. All jobs end together, the newest first.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::rt::task::JoinHandle;
use futures_util::FutureExt;
use quita_domain::time::{Timestamp, millis_in};
use quita_ports::Clock;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

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
    loop {
        job.change(|state| state.next_at = Some(clock.now().plus_ms(millis_in(wait))));
        tokio::select! {
            () = sleep(wait) => {}
            () = job.wake.notified() => {}
        }
        job.change(|state| (state.began_at, state.next_at) = (Some(clock.now()), None));
        let began = Instant::now();
        let ended = AssertUnwindSafe(run()).catch_unwind().await;
        let Pass { outcome, again_in } = ended.map(Into::into).unwrap_or_else(|panic| {
            let why = text_of(&*panic);
            tracing::error!(
                job = job.rhythm.name.as_str(),
                why,
                "a background job panicked; it goes on at its next time"
            );
            Pass::from(Err(format!("panicked: {why}")))
        });
        let took = began.elapsed();
        job.change(|state| {
            state.took = Some(took);
            state.runs = state.runs.saturating_add(1);
            state.failures = state.failures.saturating_add(u64::from(outcome.is_err()));
            state.failure = outcome.err();
        });
        wait = again_in.unwrap_or_else(|| job.rhythm.every.saturating_sub(took));
    }
}

/// Returns the text of a panic, which is a string unless somebody took trouble.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a text")
}
