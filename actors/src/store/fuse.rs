//! Trust in the store, which ends with a failed commit.

use std::sync::atomic::{AtomicBool, Ordering};

use quita_ports::StoreError;

/// Blows at a failure after which nothing may be accepted until the service is restarted.
#[derive(Debug, Default)]
pub(crate) struct Fuse(AtomicBool);

impl Fuse {
    /// Returns true if the store failed in a way after which nothing may be accepted.
    pub(crate) fn is_blown(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Fails once the fuse has blown.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.is_blown() {
            return Err(StoreError::Broken("a commit failed; restart the service".into()));
        }
        Ok(())
    }

    /// Accepts nothing more after a failure that makes the store untrustworthy.
    pub(crate) fn note_store_error(&self, error: &StoreError) {
        if let StoreError::Broken(why) = error
            && !self.0.swap(true, Ordering::Relaxed)
        {
            tracing::error!(%why, "the store can no longer be trusted: nothing more is accepted, restart the service");
        }
    }
}
