//! The card that may still have to be charged, and the limit on its time in memory.

use quita_domain::card::CardData;
use tokio::time::Instant;

use super::hold::Hold;

/// Holds a card while its charge is under way, and never for longer than the limit.
#[derive(Default)]
pub(super) struct CardInHand {
    card: Option<CardData>,
    hold: Hold,
}

impl CardInHand {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { card: None, hold }
    }

    /// Takes a card, and holds it no longer than until this time.
    pub(super) fn take(&mut self, card: Option<CardData>, until: Instant) {
        self.hold.for_card(card.is_some().then_some(until));
        self.card = card;
    }

    /// Returns the card if it is still there. Drops a card that was held for too long.
    pub(super) fn get(&mut self) -> Option<&CardData> {
        if self.card.is_some() && !self.hold.is_held_for_card(Instant::now()) {
            self.release();
        }
        self.card.as_ref()
    }

    /// Drops the card: it is no longer needed.
    pub(super) fn release(&mut self) {
        self.card = None;
        self.hold.for_card(None);
    }
}

impl Drop for CardInHand {
    fn drop(&mut self) {
        self.release();
    }
}
