//! Due deliveries in the store, read once, in the order of their time. Keeps the position up to which they were read.

use std::time::Duration;

use quita_domain::time::Timestamp;
use quita_ports::OutboxPlace;
use tokio::time::Instant;

/// Minimum wait before the next review, as a multiple of the last one's duration. It keeps reviews of a long backlog
/// cheap.
const REVIEW_SHARE: u32 = 20;

/// Progress of reading the store.
pub(super) struct Backlog {
    /// Last position that was read; `None` at the beginning.
    read_to: Option<OutboxPlace>,
    is_reading: bool,
    review_began: Instant,
    is_reviewing: bool,
    next_review: Instant,
    review: Duration,
}

impl Backlog {
    /// Begins with a review: all due deliveries.
    pub(super) fn new(review: Duration) -> Self {
        let now = Instant::now();
        Self {
            read_to: None,
            is_reading: false,
            review_began: now,
            is_reviewing: true,
            next_review: now,
            review,
        }
    }

    /// Returns the position to read from; `None` while a read is under way.
    pub(super) fn begin(&mut self) -> Option<Option<OutboxPlace>> {
        if self.is_reading {
            return None;
        }
        let now = Instant::now();
        // Late writes and differing clocks leave due deliveries behind the position already read (decision 22).
        if !self.is_reviewing && now >= self.next_review {
            (self.read_to, self.is_reviewing, self.review_began) = (None, true, now);
        }
        self.is_reading = true;
        Some(self.read_to)
    }

    /// Records that a page was read up to this position, if there was anything. `is_last` if nothing more is due.
    pub(super) fn read(&mut self, to: Option<OutboxPlace>, is_last: bool) {
        self.is_reading = false;
        self.read_to = to.or(self.read_to);
        if is_last && self.is_reviewing {
            let now = Instant::now();
            let took = now.duration_since(self.review_began);
            self.is_reviewing = false;
            self.next_review = now + self.review.max(took.saturating_mul(REVIEW_SHARE));
        }
    }

    /// Records that the store could not be read.
    pub(super) const fn failed(&mut self) {
        self.is_reading = false;
    }

    /// Moves back so that the store is read again from this position, inclusive.
    pub(super) fn go_back(&mut self, to: OutboxPlace) {
        // The position itself must be read again, and `read_to` excludes it.
        let before = OutboxPlace { at: Timestamp::from_millis(to.at.millis().saturating_sub(1)), ..to };
        self.read_to = self.read_to.map(|read_to| read_to.min(before));
    }
}
