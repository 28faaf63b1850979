//! Removal of erased payers from the memory of this process, whichever process erased them.

use std::sync::Arc;
use std::time::Duration;

use quita_ports::{StoreError, WholeStore};
use tokio::time::timeout;

use crate::denied::Denied;
use crate::payments::Payments;

/// Time-out of one call. A call that never returned would stop the follower until the next start.
const CALL_WITHIN: Duration = Duration::from_secs(60);

/// Erased payments that are followed at once.
const FOLLOWED_AT_ONCE: usize = 500;

/// Follows erasures in a store, by this process or another, and drops the affected payments from memory. Needed only if
/// the copy in memory is trusted.
pub struct ErasureFollower {
    store: Arc<dyn WholeStore>,
    payments: Payments,
    /// Number of the last erasure that was followed.
    number: u64,
}

impl ErasureFollower {
    /// Follows the erasures after this number.
    pub fn new(store: Arc<dyn WholeStore>, payments: Payments, number: u64) -> Self {
        Self { store, payments, number }
    }

    /// Returns true if there is anything to follow: with several writers, the copy in memory is never used without the
    /// store.
    pub fn is_needed(&self) -> bool {
        self.store.is_sole_writer()
    }

    /// Drops from memory all payments whose payers were erased since the last call.
    ///
    /// # Errors
    /// If the store or a payment's actor does not answer; the next call continues.
    pub async fn follow(&mut self) -> Result<(), Denied> {
        loop {
            let erased = in_time(self.store.erased_after(self.number, FOLLOWED_AT_ONCE)).await?;
            for (number, id) in &erased {
                // One after the other: the number advances only past forgotten payments, so a failure skips none.
                self.payments.forget(*id).await?;
                self.number = *number;
            }
            if erased.len() < FOLLOWED_AT_ONCE {
                return Ok(());
            }
        }
    }
}

/// Returns the result of a call, or an error if it takes too long.
async fn in_time<T>(call: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let late = |_| Err(StoreError::Unavailable("it takes too long".into()));
    timeout(CALL_WITHIN, call).await.unwrap_or_else(late)
}
