//! Queries for the erasure of personal data.

use async_trait::async_trait;
use quita_domain::audit::AuditErasure;
use quita_domain::identity::TransactionId;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;

use crate::store::{PaymentStore, StoreError};

/// A payment that has not changed for a while, with the time of its last change, as a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RestingPlace {
    /// Its [`rests_since`](quita_domain::payment::Payment::rests_since).
    pub since: Timestamp,
    /// The payment.
    pub id: TransactionId,
}

/// Payments whose payers may be erased, and those whose payers were erased.
#[async_trait]
pub trait ErasureStore: PaymentStore {
    /// Returns payments of this status that have not changed since this time, the longest first and then by id. Begins
    /// after the cursor, at most `limit`.
    async fn resting(
        &self,
        status: Status,
        until: Timestamp,
        after: Option<RestingPlace>,
        limit: usize,
    ) -> Result<Vec<RestingPlace>, StoreError>;

    /// Returns payments whose payer was erased by any process, with their numbers, in this order. Begins after this
    /// number, at most `limit`. Empty unless one process is the only writer and keeps payments in memory.
    async fn erased_after(&self, number: u64, limit: usize) -> Result<Vec<(u64, TransactionId)>, StoreError>;

    /// Returns the last of those numbers; 0 if there is none.
    async fn last_erasure(&self) -> Result<u64, StoreError>;
}

/// Eraser of a person's data in the audit log, with the person or process named in the entries about the erasure.
#[async_trait]
pub trait AuditEraser: Send + Sync + 'static {
    /// Erases all of it, and returns the number of parts.
    ///
    /// # Errors
    /// [`StoreError`]; some parts may be erased already, and a repetition continues.
    async fn erase(&self, what: &AuditErasure) -> Result<u64, StoreError>;
}
