//! What erasing personal data needs to find.

use async_trait::async_trait;
use quita_domain::audit::AuditErasure;
use quita_domain::identity::TransactionId;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use crate::store::{PaymentStore, StoreError};

/// A payment of which nothing changed for a while, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RestingPlace {
    /// Its [`rests_since`](quita_domain::payment::Payment::rests_since).
    pub since: Timestamp,
    /// The payment.
    pub id: TransactionId,
}

/// Payments whose payers may be erased, and those that were.
#[async_trait]
pub trait ErasureStore: PaymentStore {
    /// Payments of this status that rest since this time or longer, the longest first and by their ids, after this place,
    /// at most `limit`.
    async fn resting(
        &self,
        status: Status,
        until: Timestamp,
        after: Option<RestingPlace>,
        limit: usize,
    ) -> Result<Vec<RestingPlace>, StoreError>;

    /// Payments whose payer was erased by whichever process, with their numbers, in this order, after this number, at most
    /// `limit`. Kept where one process holds payments in its memory for true, and empty elsewhere.
    async fn erased_after(&self, number: u64, limit: usize) -> Result<Vec<(u64, TransactionId)>, StoreError>;

    /// The last of those numbers; 0 if there is none.
    async fn last_erasure(&self) -> Result<u64, StoreError>;
}

/// Erasure of what the audit log says of somebody, by whoever is named in the entries that account for it.
#[async_trait]
pub trait AuditEraser: Send + Sync + 'static {
    /// Erases all of it, and returns how many parts that were.
    ///
    /// # Errors
    /// [`StoreError`]; some parts may be erased, and done again it goes on.
    async fn erase(&self, what: &AuditErasure) -> Result<u64, StoreError>;
}
