//! How many streams may be open: in this process, and of one session, so that nobody takes all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use quita_domain::people::Session;
use quita_domain::secret::Secret;

/// Streams open at once in this process.
pub(super) const STREAMS: usize = 512;
/// Streams of one session.
const STREAMS_OF_ONE: usize = 24;

/// Streams of each session, by a hash of its token.
type Open = Arc<Mutex<HashMap<String, usize>>>;

/// The permits that there are.
#[derive(Default)]
pub(super) struct StreamPermits(Open);

impl StreamPermits {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A permit, if there is one left for this session.
    pub(super) fn take(&self, token: &Secret<String>) -> Option<StreamPermit> {
        let session = Session::id_of(token.expose());
        let mut open = lock(&self.0);
        let own = open.get(&session).copied().unwrap_or_default();
        if own >= STREAMS_OF_ONE || open.values().sum::<usize>() >= STREAMS {
            return None;
        }
        open.insert(session.clone(), own.saturating_add(1));
        Some(StreamPermit { session, open: Arc::clone(&self.0) })
    }
}

/// A permit for one stream, given back when it is dropped.
pub(crate) struct StreamPermit {
    session: String,
    open: Open,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        let left = open.get(&self.session).map_or(0, |count| count.saturating_sub(1));
        if left == 0 {
            open.remove(&self.session);
        } else if let Some(count) = open.get_mut(&self.session) {
            *count = left;
        }
    }
}

fn lock(open: &Open) -> MutexGuard<'_, HashMap<String, usize>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(number: usize) -> Secret<String> {
        Secret::new(format!("token {number}"))
    }

    #[test]
    fn one_session_cannot_take_all_permits_and_returns_its_own() {
        let permits = StreamPermits::new();
        let own: Vec<_> = (0..STREAMS_OF_ONE).map(|_| permits.take(&token(1)).unwrap()).collect();
        assert!(permits.take(&token(1)).is_none() && permits.take(&token(2)).is_some());
        drop(own);
        assert!(permits.take(&token(1)).is_some());
        assert!(lock(&permits.0).is_empty(), "nobody is left over");
    }

    #[test]
    fn all_sessions_together_are_bounded() {
        let permits = StreamPermits::new();
        let taken: Vec<_> = (0..STREAMS).map(|number| permits.take(&token(number)).unwrap()).collect();
        assert!(permits.take(&token(STREAMS)).is_none());
        drop(taken);
        assert!(permits.take(&token(STREAMS)).is_some());
    }
}
