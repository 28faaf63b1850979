//! The archive: payments that are kept apart, once nothing more is expected of them.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;

use crate::store::{Listed, PaymentStore, StoreError};

/// Moves payments into the archive. Every other query answers for archived payments as for all others, and every write
/// of one is guarded as before.
#[async_trait]
pub trait ArchiveStore: PaymentStore {
    /// Returns payments of one merchant in one mode that are not archived, the oldest first by creation and id. They
    /// were created at this time or earlier. Begins after the cursor, at most `limit`.
    async fn unarchived(
        &self,
        payee: &(MerchantId, Mode),
        until: Timestamp,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError>;

    /// Moves payments into the archive, and returns the number moved. One that was written since it was read stays
    /// where it is. May be interrupted anywhere, and repeated.
    async fn archive(&self, payments: &[Payment]) -> Result<u64, StoreError>;

    /// Ends what interrupted moves have left.
    async fn complete_archiving(&self) -> Result<(), StoreError>;

    /// Returns about how many payments are archived, quickly.
    async fn count_archived(&self) -> Result<u64, StoreError>;
}
