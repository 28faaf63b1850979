//! Cache of what is read for almost every request, and may be some seconds old.

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

/// Maximum number of entries. Only what exists, or is asked for by an authenticated caller, is kept, so strangers can't
/// fill it.
pub(super) const MAX_KEPT: usize = 10_000;

/// Cache of values that were read from the store at most [`KEPT_FOR`] ago.
pub(super) struct ShortCache<K, V>(Mutex<HashMap<K, Entry<V>>>);

struct Entry<V> {
    value: V,
    /// Time of the request to the store: the value may be as old as that.
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
        // A slow answer from before must not bring back what a newer one showed as changed.
        if kept.get(&key).is_some_and(|entry| entry.asked_at > asked_at) {
            return;
        }
        if kept.len() >= MAX_KEPT && !kept.contains_key(&key) {
            kept.retain(|_, entry| entry.asked_at.elapsed() < KEPT_FOR);
            // So many within two seconds: to forget all costs each one lookup, and bounds the memory.
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
        }
        kept.insert(key, Entry { value, asked_at, claimed_at: asked_at });
    }

    /// Forgets what does not exist any more.
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
