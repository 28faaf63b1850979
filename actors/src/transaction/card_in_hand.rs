//! The card that may still have to be charged, and how long it may stay in memory.

use std::sync::{Arc, Mutex, PoisonError};

use quita_domain::card::CardData;
use tokio::time::Instant;

/// Tells a front until when one of its transactions needs its card, and may not leave the memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct CardHold(Arc<Mutex<Option<Instant>>>);

impl CardHold {
    /// Whether the card is needed now.
    pub(crate) fn is_held(&self, now: Instant) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| now < until)
    }

    fn set(&self, until: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }
}

/// Holds a card while its charge is under way, and never for longer than the limit.
#[derive(Default)]
pub(super) struct CardInHand {
    card: Option<CardData>,
    hold: CardHold,
}

impl CardInHand {
    pub(super) const fn new(hold: CardHold) -> Self {
        Self { card: None, hold }
    }

    /// Takes a card, until this time at most.
    pub(super) fn take(&mut self, card: Option<CardData>, until: Instant) {
        self.hold.set(card.is_some().then_some(until));
        self.card = card;
    }

    /// The card, if it is still there; one that was held for too long is gone.
    pub(super) fn get(&mut self) -> Option<&CardData> {
        if self.card.is_some() && !self.hold.is_held(Instant::now()) {
            self.release();
        }
        self.card.as_ref()
    }

    /// It is not needed any more.
    pub(super) fn release(&mut self) {
        self.card = None;
        self.hold.set(None);
    }
}

impl Drop for CardInHand {
    fn drop(&mut self) {
        self.release();
    }
}
