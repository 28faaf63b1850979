//! Commands and questions to payments, on whichever front they live.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix::Handler;
use futures_util::future::join_all;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Command;
use tokio::time::{Instant, sleep};

use crate::actor::mailbox::{Ask, NoAnswer, Question};
use crate::actor::slot::Slot;
use crate::denied::Denied;
use crate::transaction::front::FrontActor;
use crate::transaction::messages::{Asker, Execute, Executed, StoreConfirmed};

/// Maximum number of times a required step is resent to a payment whose mailbox is full.
const INSISTENCE: u32 = 6;

/// Time for storing pending confirmations when the service stops.
const STORED_AT_STOP: Duration = Duration::from_secs(3);

/// Sends commands to payments.
#[derive(Default)]
pub(crate) struct Commands {
    /// Filled once, at the start.
    pub(crate) fronts: OnceLock<Vec<Arc<Slot<FrontActor>>>>,
    /// Set when nothing may wait for a later write any more.
    is_stopping: AtomicBool,
}

impl Commands {
    /// Returns the front of a payment's shard: always the same one, so that its actor is on one thread.
    pub(crate) fn front(&self, id: TransactionId) -> Option<&Arc<Slot<FrontActor>>> {
        let fronts = self.fronts.get()?;
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let count = u64::try_from(fronts.len().max(1)).unwrap_or(1);
        fronts.get(usize::try_from(hasher.finish() % count).unwrap_or(0))
    }

    /// Returns true if the service is stopping.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Makes every payment store the confirmations that wait for another write, as far as the store accepts them in
    /// time. From now on no confirmation waits.
    pub(crate) async fn store_confirmed(&self) {
        // Set before the actors are asked, so that no confirmation starts to wait after its actor was asked.
        self.is_stopping.store(true, Ordering::Relaxed);
        let fronts = self.fronts.get().into_iter().flatten();
        let until = Instant::now() + STORED_AT_STOP;
        let asked = fronts.map(|front| {
            let mailbox = front.mailbox();
            async move { mailbox.ask(StoreConfirmed { until }).await }
        });
        let answers = join_all(asked).await;
        if answers.iter().any(Result::is_err) {
            tracing::warn!(
                "not every payment was asked for its confirmed events; events not stored as delivered will be sent again"
            );
        }
        let count: u64 = answers.into_iter().flatten().sum();
        if count > 0 {
            tracing::warn!(
                count,
                "confirmed events could not be stored as delivered; they will be sent again"
            );
        }
    }

    /// Asks a payment's actor.
    pub(crate) async fn ask<Q, T>(&self, id: TransactionId, question: Q) -> Result<T, Denied>
    where
        Q: Question<Answer = Result<T, Denied>>,
        T: Send + 'static,
        FrontActor: Handler<Ask<Q>>,
    {
        let front = self.front(id).ok_or(Denied::Stopping)?;
        match front.mailbox().ask(question).await {
            Ok(result) => result,
            Err(NoAnswer::Full) => Err(Denied::Overloaded),
            Err(NoAnswer::Died) => Err(Denied::Interrupted),
        }
    }

    /// Makes the payment's actor execute a command of the service itself.
    pub(crate) async fn execute(&self, id: TransactionId, command: Command) -> Result<Executed, Denied> {
        self.execute_for(Asker::Service, id, command).await
    }

    /// Makes the payment's actor execute a command for an asker.
    pub(crate) async fn execute_for(
        &self,
        asker: Asker,
        id: TransactionId,
        command: Command,
    ) -> Result<Executed, Denied> {
        self.ask(id, Execute { id, asker, command }).await
    }

    /// Executes a command that must not be lost to a full mailbox. If it still fails, the store reports the step as due
    /// again.
    pub(crate) async fn insist(&self, id: TransactionId, command: Command) -> Result<Executed, Denied> {
        let mut wait = Duration::from_millis(20);
        for _ in 0..INSISTENCE {
            let result = self.execute(id, command.clone()).await;
            if !result.as_ref().is_err_and(Denied::is_transient) {
                return result;
            }
            sleep(wait).await;
            wait = wait.saturating_mul(3);
        }
        self.execute(id, command).await
    }
}
