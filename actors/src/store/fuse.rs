//! Trust in the store, which ends with a failed commit.

use std::sync::OnceLock;

use quita_ports::StoreError;

/// Blows at a failure after which nothing may be accepted until the service is restarted.
#[derive(Debug, Default)]
pub(crate) struct Fuse(OnceLock<String>);

impl Fuse {
    /// Fails once the fuse has blown, with the error that blew it.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.0.get().map_or(Ok(()), |why| Err(StoreError::Broken(why.clone())))
    }

    /// Accepts nothing more after a failure that makes the store untrustworthy.
    pub(crate) fn note_store_error(&self, error: &StoreError) {
        if let StoreError::Broken(why) = error {
            self.0.get_or_init(|| {
                // `StoreState`, which saw the same error, logs it at ERROR.
                tracing::debug!(%why, "the store can no longer be trusted: nothing more is accepted");
                why.clone()
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_broke_first_is_what_everybody_is_told() {
        let fuse = Fuse::default();
        fuse.note_store_error(&StoreError::Full("no room".into()));
        assert_eq!(fuse.check(), Ok(()));
        for why in ["q.db was overwritten. Restore a backup", "a later one"] {
            fuse.note_store_error(&StoreError::Broken(why.into()));
        }
        let told = StoreError::Broken("q.db was overwritten. Restore a backup".into());
        assert_eq!(fuse.check(), Err(told));
    }
}
