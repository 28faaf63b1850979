//! Access of payments to the store: guarded writes and reads through the journal and the reader, with time-outs.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use quita_domain::card::CardFingerprint;
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::routing::CardTries;
use quita_domain::time::Timestamp;
use quita_ports::{Store, StoreError, Write, WriteError};
use tokio::time::timeout;

use crate::actor::mailbox::NoAnswer;
use crate::actor::slot::Slot;
use crate::limits::Limits;
use crate::store::fuse::Fuse;
use crate::store::journal::{Commit, JournalActor};
use crate::store::reader::{Load, ReaderActor};
use crate::store::state::StoreState;
use crate::store::uncertain_writes::UncertainWrites;

/// Writes and reads payments, and keeps track of payments whose copy in memory may be stale.
pub(crate) struct Books {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) state: Arc<StoreState>,
    uncertain: UncertainWrites,
    time_out: Duration,
    count_time_out: Duration,
    /// Filled once, at the start.
    pub(crate) journal: OnceLock<Arc<Slot<JournalActor>>>,
    pub(crate) reader: OnceLock<Arc<Slot<ReaderActor>>>,
}

impl Books {
    pub(crate) fn new(store: Arc<dyn Store>, state: Arc<StoreState>, limits: &Limits) -> Self {
        Self {
            store,
            fuse: Arc::default(),
            state,
            uncertain: UncertainWrites::default(),
            time_out: limits.write_time_out,
            count_time_out: limits.count_time_out,
            journal: OnceLock::new(),
            reader: OnceLock::new(),
        }
    }

    /// Returns true if the store may have a later state of a payment than the copy in memory.
    pub(crate) fn may_be_stale(&self, id: TransactionId) -> bool {
        !self.store.is_sole_writer() || self.uncertain.has(id)
    }

    /// Marks a payment whose last write may still land. With several writers the copy in memory is never trusted
    /// anyway.
    pub(crate) fn doubt(&self, id: TransactionId) {
        if self.store.is_sole_writer() {
            self.uncertain.begin(id);
        }
    }

    /// Returns how often a card was tried; `None` if the store does not count it in time.
    pub(crate) async fn card_tries(&self, card: &CardFingerprint, now: Timestamp) -> Option<CardTries> {
        let counted = timeout(self.count_time_out, self.store.card_tries(card, now)).await;
        let why = match counted {
            Ok(Ok(tries)) => return Some(tries),
            Ok(Err(error)) => error.to_string(),
            Err(_) => String::from("the store does not answer"),
        };
        tracing::debug!(
            why,
            "the tries of a card could not be counted; if it is declined, no other acquirer is tried"
        );
        None
    }

    /// Returns the payment of this mode that a Pix belongs to.
    pub(crate) async fn payment_of_pix(
        &self,
        mode: Mode,
        pix: &str,
    ) -> Result<Option<TransactionId>, StoreError> {
        self.store.payment_of_pix(mode, pix).await
    }

    /// Makes one guarded write durable.
    pub(crate) async fn commit(
        &self,
        payment: Arc<Payment>,
        expected_revision: u64,
    ) -> Result<(), WriteError> {
        let id = payment.id;
        let result = self.write(Write { payment, expected_revision }).await;
        match &result {
            Ok(()) => self.uncertain.end(id),
            Err(WriteError::Unknown(error)) => {
                self.doubt(id);
                self.fuse.note_store_error(error);
            }
            Err(WriteError::NotWritten(error)) => self.fuse.note_store_error(error),
            Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => {}
        }
        result
    }

    async fn write(&self, write: Write) -> Result<(), WriteError> {
        let refused = match self.fuse.check() {
            Err(broken) => WriteError::NotWritten(broken),
            Ok(()) => match self.ask_journal(write).await {
                Ok(result) => return result,
                Err(refused) => refused,
            },
        };
        // Counted separately from failures: the store did not answer, and usually was not asked.
        self.state.refused();
        Err(refused)
    }

    /// Returns the store's answer, or the failure to get one.
    async fn ask_journal(&self, write: Write) -> Result<Result<(), WriteError>, WriteError> {
        let Some(journal) = self.journal.get() else { return Err(lost("the journal has not started")) };
        match timeout(self.time_out, journal.mailbox().ask(Commit(write))).await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(NoAnswer::Full)) => Err(WriteError::NotWritten(StoreError::Unavailable("busy".into()))),
            Ok(Err(NoAnswer::Died)) => Err(lost("the journal died")),
            // The batch may be under way, so the outcome of this write is unknown.
            Err(_) => Err(lost("the store takes too long")),
        }
    }

    /// Returns true if the journal takes writes.
    pub(crate) fn takes_writes(&self) -> bool {
        self.journal.get().is_some_and(|journal| journal.mailbox().is_alive())
    }

    /// Reads a payment from the store.
    pub(crate) async fn load(&self, id: TransactionId) -> Result<Option<Arc<Payment>>, StoreError> {
        let unavailable = |why: &str| {
            self.state.refused();
            Err(StoreError::Unavailable(why.into()))
        };
        let Some(reader) = self.reader.get() else { return unavailable("the reader has not started") };
        match timeout(self.time_out, reader.mailbox().ask(Load(id))).await {
            Ok(Ok(found)) => found,
            Ok(Err(NoAnswer::Full)) => unavailable("too many reads are waiting"),
            Ok(Err(NoAnswer::Died)) => unavailable("the reader died"),
            Err(_) => unavailable("the store takes too long"),
        }
    }
}

fn lost(why: &str) -> WriteError {
    WriteError::Unknown(StoreError::Unavailable(why.into()))
}
