//! Cache of data that almost every request reads, and that may be a few seconds old.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Age of an entry from which one caller reads it again, while the others use the cache.
pub(super) const FRESH_FOR: Duration = Duration::from_secs(1);

/// Age from which an entry is not used.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(2);

/// Maximum number of entries. Only existing items, or those requested by authenticated callers, are kept, so strangers
/// can't fill it.
pub(super) const MAX_KEPT: usize = 10_000;

/// Cache of values that were read from the store at most [`KEPT_FOR`] ago.
pub(super) struct ShortCache<K, V>(Mutex<HashMap<K, Entry<V>>>);

struct Entry<V> {
    value: V,
    /// Time of the request to the store. The value may be this old.
    asked_at: Instant,
    /// Time at which a caller last began to read it again.
    claimed_at: Instant,
}

impl<K, V> Default for ShortCache<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> ShortCache<K, V> {
    /// Returns the value, unless it is this caller's turn to read it again.
    pub(super) fn recall<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let mut kept = self.lock();
        let entry = kept.get_mut(key).filter(|entry| entry.asked_at.elapsed() < KEPT_FOR)?;
        if entry.claimed_at.elapsed() >= FRESH_FOR {
            entry.claimed_at = Instant::now();
            return None;
        }
        Some(entry.value.clone())
    }

    /// Returns the value while the store does not answer, so that a short outage goes unnoticed.
    pub(super) fn kept<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let kept = self.lock();
        let entry = kept.get(key).filter(|entry| entry.asked_at.elapsed() < KEPT_FOR)?;
        Some(entry.value.clone())
    }

    /// Keeps a value that the store was asked for at this time.
    pub(super) fn keep(&self, key: K, value: V, asked_at: Instant) {
        let mut kept = self.lock();
        // An older, slow answer must not overwrite a newer one.
        if kept.get(&key).is_some_and(|entry| entry.asked_at > asked_at) {
            return;
        }
        if kept.len() >= MAX_KEPT && !kept.contains_key(&key) {
            kept.retain(|_, entry| entry.asked_at.elapsed() < KEPT_FOR);
            // With this many entries within two seconds, all are dropped: that bounds the memory, and costs one lookup
            // for each.
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
        }
        kept.insert(key, Entry { value, asked_at, claimed_at: asked_at });
    }

    /// Forgets an item that no longer exists.
    pub(super) fn forget<Q: Eq + Hash + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.lock().remove(key);
    }

    /// Returns true if there is an entry, however old.
    pub(super) fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.lock().contains_key(key)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Entry<V>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
