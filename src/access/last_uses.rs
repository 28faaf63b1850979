//! When keys were last used: noted in memory for every call, and stored now and then.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use quita_domain::time::Timestamp;
use quita_ports::{KeyringStore, StoreError};

/// What was not stored yet.
#[derive(Default)]
pub(super) struct LastUses(Mutex<HashMap<String, Timestamp>>);

impl LastUses {
    /// A key that exists was used.
    pub(super) fn note(&self, id: &str, at: Timestamp) {
        let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match uses.get_mut(id) {
            Some(last) => *last = at.max(*last),
            None => {
                uses.insert(id.to_owned(), at);
            }
        }
    }

    /// Stores what was noted. If that fails it is stored the next time.
    pub(super) async fn store(&self, store: &dyn KeyringStore) -> Result<(), StoreError> {
        let uses: Vec<_> = {
            let mut uses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *uses).into_iter().collect()
        };
        if uses.is_empty() {
            return Ok(());
        }
        let stored = store.note_key_uses(&uses).await;
        if stored.is_err() {
            uses.iter().for_each(|(id, at)| self.note(id, *at));
        }
        stored
    }
}
