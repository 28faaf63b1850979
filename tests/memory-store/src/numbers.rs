//! Numbers of slips.

use async_trait::async_trait;
use quita_ports::{NumberBlock, NumberRange, NumberStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;

#[async_trait]
impl<C: Connection> NumberStore for MemoryStore<C> {
    async fn take_numbers(&self, range: &NumberRange, count: u32) -> Result<Option<NumberBlock>, StoreError> {
        self.0
            .change("take_numbers", |records| {
                let counter = records.counters.get(&range.key).copied();
                let taken = range.block_at(counter, count);
                if let Some((_, next)) = taken {
                    records.counters.insert(range.key.clone(), next);
                }
                Ok(taken.map(|(block, _)| block))
            })
            .await
    }
}
