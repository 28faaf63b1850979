//! Delivery of notices when they are due.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use quita_domain::acquiring::Notice;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_ports::{Clock, NoticeSink, trace};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, sleep_until};

use super::script::ScriptStep;

/// Time for the caller to store an answer before its first notice comes.
const HEAD_START_MS: u64 = 100;

/// Wait before a notice that was not accepted is submitted again; doubled each time.
const FIRST_RETRY_MS: u64 = 50;
const LONGEST_RETRY_MS: u64 = 5_000;

/// Maximum number of submissions, over more than two minutes. Then the notice is given up, and the service has to ask.
const MAX_SUBMISSIONS: u32 = 32;

/// The payments whose notices are under way in this process. They are lost in a crash, and nothing depends on them.
#[derive(Clone, Default)]
struct Rounds(Arc<Mutex<HashMap<TransactionId, AbortHandle>>>);

impl Rounds {
    fn lock(&self) -> MutexGuard<'_, HashMap<TransactionId, AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Submits the notices of one acquirer.
#[derive(Clone)]
pub(super) struct Courier {
    name: AcquirerName,
    sink: Arc<OnceLock<Arc<dyn NoticeSink>>>,
    clock: Arc<dyn Clock>,
    rounds: Rounds,
}

impl Courier {
    pub(super) fn new(name: AcquirerName, clock: Arc<dyn Clock>) -> Self {
        Self { name, sink: Arc::default(), clock, rounds: Rounds::default() }
    }

    /// Sets the sink to which notices go from now on.
    pub(super) fn connect(&self, sink: Arc<dyn NoticeSink>) {
        if self.sink.set(sink).is_err() {
            tracing::error!(acquirer = %self.name, "a sandbox can be connected only once");
        }
    }

    /// Submits these steps, each at its time, unless steps of this payment are already under way.
    pub(super) fn begin(&self, id: TransactionId, steps: Vec<ScriptStep>) {
        let mut rounds = self.rounds.lock();
        if steps.is_empty() || rounds.contains_key(&id) {
            return;
        }
        let courier = self.clone();
        // The lock is held, so the entry is made before the task can end.
        let task = tokio::spawn(trace::carry(async move {
            courier.walk(id, steps).await;
            courier.rounds.lock().remove(&id);
        }));
        rounds.insert(id, task.abort_handle());
    }

    /// Stops the notices of a payment that are under way in this process.
    pub(super) fn recall(&self, id: TransactionId) {
        if let Some(task) = self.rounds.lock().remove(&id) {
            task.abort();
        }
    }

    /// Submits one notice until it is accepted. Its id follows from the step, so that a repetition is recognised.
    pub(super) async fn submit(&self, id: TransactionId, step: &ScriptStep) {
        let mut wait_ms = FIRST_RETRY_MS;
        for _ in 0..MAX_SUBMISSIONS {
            let notice = Notice {
                id: format!("{}:{id}:{}", self.name, step.event),
                acquirer: self.name.clone(),
                transaction_id: id,
                fact: step.fact.clone(),
                received_at: self.clock.now(),
            };
            let Some(sink) = self.sink.get() else { return };
            if sink.submit(notice).await.is_ok() {
                return;
            }
            sleep(Duration::from_millis(wait_ms)).await;
            wait_ms = wait_ms.saturating_mul(2).min(LONGEST_RETRY_MS);
        }
        tracing::warn!(acquirer = %self.name, transaction.id = %id, step.event, "gave up on a notice");
    }

    async fn walk(&self, id: TransactionId, steps: Vec<ScriptStep>) {
        // Step times are wall-clock times; from here on the runtime's clock is used to wait for them.
        let (now, begun) = (self.clock.now(), Instant::now());
        for step in steps {
            let wait_ms = step.at.ms_since(now).max(HEAD_START_MS);
            sleep_until(begun + Duration::from_millis(wait_ms)).await;
            self.submit(id, &step).await;
        }
    }
}
