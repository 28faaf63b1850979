//! Why a transaction may not leave the memory although it is idle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// Tells a front until when one of its transactions holds what no store has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hold(Arc<Mutex<Until>>);

#[derive(Debug, Default)]
struct Until {
    /// The card may still have to be charged.
    card: Option<Instant>,
    /// It knows of a creation that its charge never left.
    unsent: Option<Instant>,
    /// A receiver's confirmation waits to be stored.
    confirmed: Option<Instant>,
}

impl Hold {
    fn until(&self) -> MutexGuard<'_, Until> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything is held now.
    pub(crate) fn is_held(&self, now: Instant) -> bool {
        let until = self.until();
        [until.card, until.unsent, until.confirmed].into_iter().flatten().any(|until| now < until)
    }

    /// Whether the card is held now.
    pub(super) fn is_held_for_card(&self, now: Instant) -> bool {
        self.until().card.is_some_and(|until| now < until)
    }

    /// Holds the card until this time, or not any more.
    pub(super) fn for_card(&self, until: Option<Instant>) {
        self.until().card = until;
    }

    /// Holds a confirmation until this time, or not any more.
    pub(super) fn for_confirmed(&self, until: Option<Instant>) {
        self.until().confirmed = until;
    }

    /// Whether a confirmation waits to be stored.
    pub(super) fn has_confirmed(&self) -> bool {
        self.until().confirmed.is_some()
    }

    /// Holds what is known of a creation until this time, or not any more.
    pub(super) fn for_unsent(&self, until: Option<Instant>) {
        self.until().unsent = until;
    }
}
