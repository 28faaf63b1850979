//! For how long acquirers have been asked for unknown outcomes, by a clock that never jumps.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use tokio::time::Instant;

/// After so long without a question it was told, perhaps to another node: questions are an hour apart at most.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(2 * 3_600);

/// Remembers since when this process asks, in memory only and never of more than its capacity. What is forgotten is
/// measured anew, which delays a second charge and never hurries it.
pub(crate) struct Asking {
    known: Mutex<HashMap<TransactionId, Asked>>,
    capacity: usize,
}

struct Asked {
    /// Which charge, and whether its call was known to be over: what was measured before is worth nothing after it.
    about: (usize, bool),
    since: Instant,
    last: Instant,
}

impl Asking {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { known: Mutex::new(HashMap::new()), capacity }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TransactionId, Asked>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The acquirer is asked now: for how long it has been. `None` if what became of the charge is known.
    pub(crate) fn asks(&self, payment: &Payment) -> Option<Duration> {
        let now = Instant::now();
        let attempt = payment.state.attempts.last().filter(|attempt| attempt.outcome.is_open())?;
        let about = (payment.state.attempts.len(), attempt.call_is_over);
        let mut known = self.lock();
        if known.len() >= self.capacity && !known.contains_key(&payment.id) {
            known.retain(|_, asked| asked.last + FORGOTTEN_AFTER > now);
            if known.len() >= self.capacity {
                tracing::error!(count = known.len(), "too many outcomes are unknown to remember all of them");
                return Some(Duration::ZERO);
            }
        }
        let asked = known.entry(payment.id).or_insert(Asked { about, since: now, last: now });
        if asked.about != about {
            *asked = Asked { about, since: now, last: now };
        }
        asked.last = now;
        Some(now.duration_since(asked.since))
    }

    /// The outcome may be known now.
    pub(crate) fn answered(&self, payment: &Payment) {
        if payment.state.attempts.last().is_none_or(|attempt| !attempt.outcome.is_open()) {
            self.lock().remove(&payment.id);
        }
    }
}
