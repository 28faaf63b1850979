//! The store: the source of truth about every payment.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::acquiring::Notice;
use quita_domain::card::CardFingerprint;
use quita_domain::delivery::Receiver;
use quita_domain::exception::Exception;
use quita_domain::identity::{ApplicationName, MerchantId, Mode, TransactionId};
use quita_domain::listing::{Cursor, DeliveryFilter, MovementFilter, PaymentFilter};
use quita_domain::payment::Payment;
use quita_domain::routing::CardTries;
use quita_domain::time::Timestamp;
use thiserror::Error;

use crate::numbers::NumberStore;
use crate::operator::OperatorStore;

/// Reason why the store did not execute a request.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// It is out of reach, read-only or overloaded; it may recover by itself.
    #[error("the store is unavailable: {0}")]
    Unavailable(String),
    /// Its disk is full: reads are answered, and writes are refused until there is room again.
    #[error("the store's disk is full: {0}")]
    Full(String),
    /// It can no longer be trusted (a failed `fsync`): the process must stop accepting.
    #[error("the store is broken: {0}")]
    Broken(String),
    /// It holds something that this version can't read.
    #[error("the store holds something unreadable: {0}")]
    Unreadable(String),
}

/// Position in a list of a payment that can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub Cursor);

/// One entry of a list. An unreadable payment keeps its position and does not hide the entries after it.
pub type Listed = Result<Payment, Unreadable>;

/// Returns the position of an entry in its list.
pub fn place_of(listed: &Listed) -> Cursor {
    match listed {
        Ok(payment) => Cursor { created_at: payment.created_at, id: payment.id },
        Err(Unreadable(place)) => *place,
    }
}

/// One guarded write of a whole payment.
#[derive(Debug, Clone)]
pub struct Write {
    /// The payment to store.
    pub payment: Arc<Payment>,
    /// Revision that must currently be stored; 0 means that the id must be free.
    pub expected_revision: u64,
}

/// Reason why one write of a batch was not made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteError {
    /// Another writer was faster, or the id is taken.
    #[error("another writer was faster")]
    Conflict,
    /// Another payment has used the token of its card. Only inserts can fail with this.
    #[error("another payment has used the token of its card")]
    TokenUsed,
    /// A Pix that this write binds to its payment belongs to another payment of the mode:
    /// [`PaymentStore::payment_of_pix`] returns it.
    #[error("the Pix belongs to another payment")]
    PixTaken,
    /// Certainly not written.
    #[error("not written: {0}")]
    NotWritten(StoreError),
    /// The reply was lost: it may be written. Reading `last_op` back gives the answer.
    #[error("perhaps written: {0}")]
    Unknown(StoreError),
}

/// A payment with a delivery that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueDelivery {
    /// Its position in the order of all waiting deliveries.
    pub place: OutboxPlace,
    /// Its receiver.
    pub receiver: Receiver,
}

/// Cursor in the order of waiting deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboxPlace {
    /// The payment's `outbox_at`.
    pub at: Timestamp,
    /// The payment.
    pub id: TransactionId,
}

/// Store of payments: two kinds of writes (insert, guarded replace), and the required queries.
#[async_trait]
pub trait PaymentStore: Send + Sync + 'static {
    /// Makes a batch of writes durable, and returns one result for each, in order. Each write is atomic, the batch is
    /// not.
    ///
    /// No two writes of one batch are for the same payment.
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>>;

    /// Returns the payments with these ids, in any order; absent ones are left out. Shortly after an election a replica set
    /// may leave out one that was acknowledged before.
    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError>;

    /// Returns those of these payments that exist although [`Self::load`] left them out. May take as long as a write.
    async fn load_missing(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError>;

    /// Returns every one of these payments that exists, in any order.
    async fn load_all(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        let mut found = self.load(ids).await?;
        let seen: BTreeSet<_> = found.iter().map(|payment| payment.id).collect();
        let missing: Vec<_> = ids.iter().copied().filter(|id| !seen.contains(id)).collect();
        if !missing.is_empty() {
            found.extend(self.load_missing(&missing).await?);
        }
        Ok(found)
    }

    /// Returns payments that match, newest first by creation and id, after the cursor, at most `limit`.
    async fn list(
        &self,
        filter: &PaymentFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError>;

    /// Returns payments with a delivery that matches, newest first, after the cursor, at most `limit`.
    async fn list_with_deliveries(
        &self,
        filter: &DeliveryFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError>;

    /// Returns payments with a refund or a dispute that matches, newest first, after the cursor, at most `limit`.
    async fn list_with_movements(
        &self,
        filter: &MovementFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError>;

    /// Returns payments whose `due_at` is at or before `now`, the longest waiting first, at most `limit`.
    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError>;

    /// Returns payments whose `outbox_at` is at or before `now`, the longest waiting first and then by id. Begins after
    /// the cursor, at most `limit`.
    async fn outbox_due(
        &self,
        after: Option<OutboxPlace>,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<DueDelivery>, StoreError>;

    /// Counts the tries of this card until now, by payments of all merchants: see [`CardTries::of`]. Above the limit of
    /// every brand the count may be too low, but never below that limit.
    async fn card_tries(&self, card: &CardFingerprint, now: Timestamp) -> Result<CardTries, StoreError>;

    /// Returns the payment of this mode that a Pix belongs to ([`Payment::bound_pix`]), by its end-to-end id.
    async fn payment_of_pix(&self, mode: Mode, pix: &str) -> Result<Option<TransactionId>, StoreError>;
}

/// Acquirers' notices that wait to be processed.
#[async_trait]
pub trait InboxStore: Send + Sync + 'static {
    /// Stores notices durably, due at once; `true` for each that is new, `false` for a repetition.
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError>;

    /// Returns notices that are due, the longest waiting first, each with its number of tries.
    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError>;

    /// Returns the ids of those notices that are stored and not processed yet, in any order.
    async fn waiting_notices(&self, ids: &[String]) -> Result<Vec<String>, StoreError>;

    /// Marks notices as processed. They are kept for a while, so that a repetition is recognised.
    async fn finish_notices(&self, ids: &[String], now: Timestamp) -> Result<(), StoreError>;

    /// Postpones a notice to this time, if `tried` is still its number of tries. If several nodes tried it at once,
    /// only one counts.
    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError>;
}

/// Exceptions: discrepancies that need a person.
#[async_trait]
pub trait ExceptionStore: Send + Sync + 'static {
    /// Stores an exception; one with the same id stays as it was. Returns `false` if that one is resolved: nothing is open.
    async fn put_exception(&self, exception: &Exception) -> Result<bool, StoreError>;

    /// Returns open exceptions, newest first, at most `limit`.
    async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError>;
}

/// Applications and API keys.
#[async_trait]
pub trait AccessStore: Send + Sync + 'static {
    /// Returns the application, if there is one.
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError>;

    /// Stores a new application; `false` if it already exists, and then stays unchanged.
    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError>;

    /// Replaces an application if it is still equal to `before`; `false` if another writer was faster.
    async fn replace_application(
        &self,
        before: &Application,
        after: &Application,
    ) -> Result<bool, StoreError>;

    /// Stores a new key.
    async fn insert_key(&self, key: &ApiKey) -> Result<(), StoreError>;

    /// Returns the key with this id.
    async fn key(&self, id: &str) -> Result<Option<ApiKey>, StoreError>;

    /// Returns all keys, oldest first.
    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError>;

    /// Revokes a key; `false` if there is none with this id. A revoked key keeps its first date.
    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError>;
}

/// Size of the backlog in the store, for metrics. Each count stops at a limit, so that the cost of counting does not
/// grow with the backlog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Payments with a delivery that is due or waits for its next attempt.
    pub webhooks: u64,
    /// Payments whose `due_at` has passed.
    pub due: u64,
    /// Notices that wait.
    pub inbox: u64,
}

/// The whole store.
#[async_trait]
pub trait Store:
    PaymentStore + InboxStore + ExceptionStore + AccessStore + OperatorStore + NumberStore
{
    /// Checks that the store answers.
    async fn ping(&self) -> Result<(), StoreError>;

    /// Counts the backlog, each kind up to `limit`.
    async fn backlog(&self, now: Timestamp, limit: u32) -> Result<Backlog, StoreError>;

    /// Returns true if this process is the only writer, so that a live actor may answer from memory.
    fn is_sole_writer(&self) -> bool;
}
