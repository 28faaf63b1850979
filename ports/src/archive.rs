//! The archive: payments that are stored separately, once no further activity is expected.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;

use crate::store::{Listed, PaymentStore, StoreError};

/// Store with an archive. All other queries cover archived payments too, and writes of them are guarded as before.
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

    /// Moves payments into the archive, and returns the number moved. A payment that was written since it was read is
    /// not moved. May be interrupted at any point, and repeated.
    async fn archive(&self, payments: &[Payment]) -> Result<u64, StoreError>;

    /// Completes interrupted moves.
    async fn complete_archiving(&self) -> Result<(), StoreError>;

    /// Returns the approximate number of archived payments, quickly.
    async fn count_archived(&self) -> Result<u64, StoreError>;
}
