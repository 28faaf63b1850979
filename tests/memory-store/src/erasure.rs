//! Erasure of payers.

use async_trait::async_trait;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{ErasureStore, RestingPlace, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;

#[async_trait]
impl<C: Connection> ErasureStore for MemoryStore<C> {
    async fn resting(
        &self,
        status: Status,
        until: Timestamp,
        after: Option<RestingPlace>,
        limit: usize,
    ) -> Result<Vec<RestingPlace>, StoreError> {
        let place = |payment: &Payment| {
            let since = payment.rests_since().filter(|_| payment.status() == status)?;
            Some(RestingPlace { since, id: payment.id })
        };
        self.0
            .read("resting", |records| {
                let resting = records.payments.values().filter_map(|payment| place(payment));
                let is_wanted =
                    |place: &RestingPlace| place.since <= until && after.is_none_or(|after| *place > after);
                let mut found: Vec<_> = resting.filter(is_wanted).collect();
                found.sort_unstable();
                found.truncate(limit);
                Ok(found)
            })
            .await
    }

    async fn erased_after(&self, number: u64, limit: usize) -> Result<Vec<(u64, TransactionId)>, StoreError> {
        self.0
            .read("erased_after", |records| {
                let numbered = (1_u64..).zip(records.erased.iter().copied());
                Ok(numbered.filter(|(one, _)| *one > number).take(limit).collect())
            })
            .await
    }

    async fn last_erasure(&self) -> Result<u64, StoreError> {
        self.0
            .read("last_erasure", |records| Ok(u64::try_from(records.erased.len()).unwrap_or(u64::MAX)))
            .await
    }
}
