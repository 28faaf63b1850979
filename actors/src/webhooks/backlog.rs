//! What is due in the store, read in order of its time and only once: the place up to which it was read is kept here.

use std::time::Duration;

use quita_domain::time::Timestamp;
use quita_ports::OutboxPlace;
use tokio::time::Instant;

/// How much longer than a review took the next one waits, at least: reviews of a long backlog cost little of the whole.
const REVIEW_SHARE: u32 = 20;

/// How far the store was read.
pub(super) struct Backlog {
    /// The last place that was read; none at the beginning.
    read_to: Option<OutboxPlace>,
    is_reading: bool,
    review_began: Instant,
    is_reviewing: bool,
    next_review: Instant,
    review: Duration,
}

impl Backlog {
    /// Begins with a review: all that is due.
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

    /// From where to read on; none while somebody reads.
    pub(super) fn begin(&mut self) -> Option<Option<OutboxPlace>> {
        if self.is_reading {
            return None;
        }
        let now = Instant::now();
        if !self.is_reviewing && now >= self.next_review {
            (self.read_to, self.is_reviewing, self.review_began) = (None, true, now);
        }
        self.is_reading = true;
        Some(self.read_to)
    }

    /// A page was read up to this place, if there was anything; `is_last` if nothing more is due.
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

    /// The store could not be read.
    pub(super) const fn failed(&mut self) {
        self.is_reading = false;
    }

    /// Reads again from this place on, inclusive.
    pub(super) fn go_back(&mut self, to: OutboxPlace) {
        let before = OutboxPlace { at: Timestamp::from_millis(to.at.millis().saturating_sub(1)), ..to };
        self.read_to = self.read_to.map(|read_to| read_to.min(before));
    }
}
