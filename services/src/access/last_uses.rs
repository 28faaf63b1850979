//! Times of the last use of keys: recorded in memory for every call, and stored periodically.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::time::Timestamp;
use quita_ports::{KeyringStore, StoreError};

/// Last uses that were not stored yet.
#[derive(Default)]
pub(super) struct LastUses(Mutex<HashMap<String, Timestamp>>);

impl LastUses {
    /// Records the use of an existing key.
    pub(super) fn note(&self, id: &str, at: Timestamp) {
        let mut uses = self.lock();
        match uses.get_mut(id) {
            Some(last) => *last = at.max(*last),
            None => {
                uses.insert(id.to_owned(), at);
            }
        }
    }

    /// Stores the recorded uses. If that fails or is aborted, they are stored the next time.
    pub(super) async fn store(&self, store: &dyn KeyringStore) -> Result<(), StoreError> {
        let uses: Vec<_> = self.lock().iter().map(|(id, at)| (id.clone(), *at)).collect();
        if uses.is_empty() {
            return Ok(());
        }
        store.note_key_uses(&uses).await?;
        let mut noted = self.lock();
        for (id, at) in &uses {
            // A use that was recorded during the write is newer, and waits for the next one.
            if noted.get(id) == Some(at) {
                noted.remove(id);
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Timestamp>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
