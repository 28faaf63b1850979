//! Limits on open streams, for this process, a merchant, and a person, so that nobody takes all of them.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quita_domain::identity::MerchantId;

/// Maximum number of streams in this process.
pub(super) const STREAMS: usize = 512;
/// Maximum number of streams for all people of one merchant.
const STREAMS_OF_MERCHANT: usize = 128;
/// Maximum number of streams of one person, across all sessions.
const STREAMS_OF_ONE: usize = 24;

/// Person who watches a stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Watcher {
    /// Merchant that the person belongs to; `None` for an operator.
    pub(crate) merchant: Option<MerchantId>,
    /// Login of the person.
    pub(crate) login: String,
}

/// Permits of this process.
#[derive(Default)]
pub(super) struct StreamPermits(Arc<Mutex<Open>>);

/// Counts of open streams.
#[derive(Default)]
struct Open {
    all: usize,
    by_merchant: HashMap<Option<MerchantId>, usize>,
    by_watcher: HashMap<Watcher, usize>,
}

impl StreamPermits {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Takes a permit, if one is left for this watcher.
    pub(super) fn take(&self, watcher: &Watcher) -> Option<StreamPermit> {
        let mut open = lock(&self.0);
        let of_merchant = open.by_merchant.get(&watcher.merchant).copied().unwrap_or_default();
        let own = open.by_watcher.get(watcher).copied().unwrap_or_default();
        if own >= STREAMS_OF_ONE || of_merchant >= STREAMS_OF_MERCHANT || open.all >= STREAMS {
            return None;
        }
        open.all = open.all.saturating_add(1);
        open.by_merchant.insert(watcher.merchant.clone(), of_merchant.saturating_add(1));
        open.by_watcher.insert(watcher.clone(), own.saturating_add(1));
        Some(StreamPermit { watcher: watcher.clone(), open: Arc::clone(&self.0) })
    }
}

/// Permit for one stream, released on drop.
pub(crate) struct StreamPermit {
    watcher: Watcher,
    open: Arc<Mutex<Open>>,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        open.all = open.all.saturating_sub(1);
        one_less(&mut open.by_merchant, &self.watcher.merchant);
        one_less(&mut open.by_watcher, &self.watcher);
    }
}

/// Decrements a count, and removes it when it reaches zero.
fn one_less<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key).filter(|count| **count > 1) {
        *count = count.saturating_sub(1);
    } else {
        counts.remove(key);
    }
}

fn lock(open: &Mutex<Open>) -> MutexGuard<'_, Open> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watcher(merchant: usize, person: usize) -> Watcher {
        let merchant = Some(MerchantId::new(format!("merchant-{merchant}")));
        Watcher { merchant, login: format!("{person}@example.com") }
    }

    #[test]
    fn one_person_cannot_take_all_permits_however_many_sessions_there_are() {
        let permits = StreamPermits::new();
        let own: Vec<_> = (0..STREAMS_OF_ONE).map(|_| permits.take(&watcher(1, 1)).unwrap()).collect();
        assert!(permits.take(&watcher(1, 1)).is_none() && permits.take(&watcher(1, 2)).is_some());
        drop(own);
        assert!(permits.take(&watcher(1, 1)).is_some());
        let open = lock(&permits.0);
        assert!(
            open.all == 0 && open.by_merchant.is_empty() && open.by_watcher.is_empty(),
            "nobody is left over"
        );
    }

    #[test]
    fn the_people_of_one_merchant_cannot_take_all_permits() {
        let permits = StreamPermits::new();
        let people = (0..STREAMS_OF_MERCHANT).map(|number| watcher(1, number / 2));
        let taken: Vec<_> = people.map(|person| permits.take(&person).unwrap()).collect();
        assert!(permits.take(&watcher(1, STREAMS)).is_none() && permits.take(&watcher(2, 1)).is_some());
        drop(taken);
        assert!(permits.take(&watcher(1, STREAMS)).is_some());
    }

    #[test]
    fn all_watchers_together_are_bounded() {
        let permits = StreamPermits::new();
        let taken: Vec<_> =
            (0..STREAMS).map(|number| permits.take(&watcher(number / 100, number)).unwrap()).collect();
        assert!(permits.take(&watcher(STREAMS, STREAMS)).is_none());
        drop(taken);
        assert!(permits.take(&watcher(STREAMS, STREAMS)).is_some());
    }
}
