//! Reasons for which an idle transaction may not leave memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// Times until which a transaction holds data that no store has, shared with its front.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hold(Arc<Mutex<HoldTimes>>);

#[derive(Debug, Default)]
struct HoldTimes {
    /// The card may still have to be charged.
    card: Option<Instant>,
    /// It remembers a creation whose charge never left.
    unsent: Option<Instant>,
    /// A receiver's confirmation waits to be stored.
    confirmed: Option<Instant>,
}

impl Hold {
    fn until(&self) -> MutexGuard<'_, HoldTimes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if anything is held now.
    pub(crate) fn is_held(&self, now: Instant) -> bool {
        let until = self.until();
        [until.card, until.unsent, until.confirmed].into_iter().flatten().any(|until| now < until)
    }

    /// Returns true if the card is held now.
    pub(super) fn is_held_for_card(&self, now: Instant) -> bool {
        self.until().card.is_some_and(|until| now < until)
    }

    /// Holds the card until this time; `None` ends the hold.
    pub(super) fn for_card(&self, until: Option<Instant>) {
        self.until().card = until;
    }

    /// Holds a confirmation until this time; `None` ends the hold.
    pub(super) fn for_confirmed(&self, until: Option<Instant>) {
        self.until().confirmed = until;
    }

    /// Returns true if a confirmation waits to be stored.
    pub(super) fn has_confirmed(&self) -> bool {
        self.until().confirmed.is_some()
    }

    /// Holds the memory of a creation until this time; `None` ends the hold.
    pub(super) fn for_unsent(&self, until: Option<Instant>) {
        self.until().unsent = until;
    }
}
