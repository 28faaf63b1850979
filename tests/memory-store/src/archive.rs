//! Archived payments, which are only marked as such.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_ports::{ArchiveStore, Listed, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, first_by};

#[async_trait]
impl<C: Connection> ArchiveStore for MemoryStore<C> {
    async fn unarchived(
        &self,
        payee: &(MerchantId, Mode),
        until: Timestamp,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Listed>, StoreError> {
        let (merchant, mode) = payee;
        let place = |payment: &Payment| (payment.created_at, payment.id);
        let is_wanted = |records: &Records, payment: &Payment| {
            (&payment.owner.merchant, payment.owner.mode) == (merchant, *mode)
                && payment.created_at <= until
                && after.is_none_or(|after| place(payment) > (after.created_at, after.id))
                && !records.archived.contains(&payment.id)
        };
        self.0
            .read("unarchived", |records| {
                let found = records.payments.values().map(AsRef::as_ref);
                let found = first_by(found.filter(|payment| is_wanted(records, payment)), place, limit);
                Ok(found.into_iter().map(Ok).collect())
            })
            .await
    }

    async fn archive(&self, payments: &[Payment]) -> Result<u64, StoreError> {
        self.0
            .change("archive", |records| {
                let mut moved = 0_u64;
                for payment in payments {
                    let is_as_given = records
                        .payments
                        .get(&payment.id)
                        .is_some_and(|known| known.revision == payment.revision);
                    moved += u64::from(is_as_given && records.archived.insert(payment.id));
                }
                Ok(moved)
            })
            .await
    }

    async fn complete_archiving(&self) -> Result<(), StoreError> {
        self.0.change("complete_archiving", |_| Ok(())).await
    }

    async fn count_archived(&self) -> Result<u64, StoreError> {
        let count = |records: &Records| u64::try_from(records.archived.len()).unwrap_or(u64::MAX);
        self.0.read("count_archived", |records| Ok(count(records))).await
    }
}
