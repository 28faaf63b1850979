//! Confirmations of receivers that wait for their payment's next write.

use std::time::Duration;

use quita_domain::delivery::Confirmation;
use tokio::time::Instant;

use super::hold::Hold;

/// How long a confirmation waits for another write, at most: then it makes one.
pub(super) const STORED_WITHIN: Duration = Duration::from_secs(4);

/// How long it is held while the store is away. Its lease is over then, and the event is sent again.
const HELD_FOR: Duration = Duration::from_secs(30);

/// What receivers confirmed and no store has. It is lost with the process: then the events are sent once more.
pub(super) struct Confirmed {
    waiting: Vec<Confirmation>,
    until: Option<Instant>,
    hold: Hold,
}

impl Confirmed {
    pub(super) const fn new(hold: Hold) -> Self {
        Self { waiting: Vec::new(), until: None, hold }
    }

    pub(super) fn waiting(&self) -> &[Confirmation] {
        &self.waiting
    }

    /// Keeps one more.
    pub(super) fn keep(&mut self, confirmation: Confirmation) {
        let until = *self.until.get_or_insert_with(|| Instant::now() + HELD_FOR);
        self.hold.for_confirmed(Some(until));
        self.waiting.push(confirmation);
    }

    /// Takes one of them out: all others are stored with it.
    pub(super) fn take_one(&mut self) -> Option<Confirmation> {
        self.waiting.pop()
    }

    /// Whether they were held for so long that their events are sent again.
    pub(super) fn are_too_old(&self) -> bool {
        self.until.is_some_and(|until| until <= Instant::now())
    }

    /// They are stored, or are not worth it any more.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
        self.until = None;
        self.hold.for_confirmed(None);
    }
}

impl Drop for Confirmed {
    fn drop(&mut self) {
        self.hold.for_confirmed(None);
    }
}
