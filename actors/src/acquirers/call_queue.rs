//! Order of the calls that wait for one acquirer, kept in two queues.
//!
//! After an outage everything is inquired about at once. A merchant who creates a payment at that time must not wait,
//! but an inquiry can. So charges and operations go first, inquiries get a quarter of the concurrent calls, and each
//! class has its own queue.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Number of calls that may wait for each call that may be under way.
const QUEUED_PER_CALL: usize = 8;

/// Share of inquiries: one in this many concurrent calls, and one in this many calls begun while charges and operations
/// wait too.
pub(super) const INQUIRY_SHARE: u32 = 4;

/// Longest time for which an inquiry is put off when its queue is full.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// Class of a call, which determines its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A caller waits for it: a charge, or an operation.
    Urgent,
    /// It can wait: an inquiry.
    Inquiry,
}

/// Calls of one class.
#[derive(Debug)]
struct ClassQueue<T> {
    waiting: VecDeque<T>,
    under_way: usize,
    places: usize,
}

impl<T> ClassQueue<T> {
    const fn new(places: usize) -> Self {
        Self { waiting: VecDeque::new(), under_way: 0, places }
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < self.places.saturating_mul(QUEUED_PER_CALL)
    }

    fn may_begin(&self) -> bool {
        !self.waiting.is_empty() && self.under_way < self.places
    }
}

/// Calls of one acquirer that wait, and the number under way.
#[derive(Debug)]
pub(super) struct CallQueue<T> {
    urgent: ClassQueue<T>,
    inquiries: ClassQueue<T>,
    places: usize,
    /// Charges and operations begun since the last inquiry.
    urgent_in_a_row: u32,
    /// Recent average duration of an inquiry.
    inquiry_takes: Duration,
    /// Time at which the next inquiry that finds no room may be repeated.
    next_place: Option<Instant>,
}

impl<T> CallQueue<T> {
    /// Creates queues for at most this many concurrent calls.
    pub(super) fn new(places: usize) -> Self {
        let share = usize::try_from(INQUIRY_SHARE).unwrap_or(1).max(1);
        Self {
            urgent: ClassQueue::new(places),
            // A route with fewer than four places still asks about outcomes.
            inquiries: ClassQueue::new((places / share).max(1)),
            places,
            urgent_in_a_row: 0,
            inquiry_takes: Duration::from_secs(1),
            next_place: None,
        }
    }

    const fn queue(&mut self, class: Class) -> &mut ClassQueue<T> {
        match class {
            Class::Urgent => &mut self.urgent,
            Class::Inquiry => &mut self.inquiries,
        }
    }

    /// Returns true if one more call of this class may wait.
    pub(super) fn has_room(&mut self, class: Class) -> bool {
        self.queue(class).has_room()
    }

    /// Adds a call to its queue.
    pub(super) fn push(&mut self, class: Class, call: T) {
        self.queue(class).waiting.push_back(call);
    }

    /// Takes the next call that may begin, if any.
    pub(super) fn begin_next(&mut self) -> Option<(Class, T)> {
        if self.under_way() >= self.places {
            return None;
        }
        let inquiry_is_due = self.urgent_in_a_row.saturating_add(1) >= INQUIRY_SHARE;
        let class = match (self.urgent.may_begin(), self.inquiries.may_begin()) {
            (false, false) => return None,
            (true, true) if inquiry_is_due => Class::Inquiry,
            (true, _) => Class::Urgent,
            (false, true) => Class::Inquiry,
        };
        self.urgent_in_a_row = match class {
            Class::Urgent => self.urgent_in_a_row.saturating_add(1),
            Class::Inquiry => 0,
        };
        let queue = self.queue(class);
        let call = queue.waiting.pop_front()?;
        queue.under_way = queue.under_way.saturating_add(1);
        Some((class, call))
    }

    /// Records that a call ended after this time.
    pub(super) fn ended(&mut self, class: Class, took: Duration) {
        let queue = self.queue(class);
        queue.under_way = queue.under_way.saturating_sub(1);
        if class == Class::Inquiry {
            self.inquiry_takes = self.inquiry_takes.saturating_mul(7).saturating_add(took) / 8;
        }
    }

    /// Returns the number of calls waiting.
    pub(super) fn waiting(&self) -> usize {
        self.urgent.waiting.len().saturating_add(self.inquiries.waiting.len())
    }

    /// Returns the number of calls under way.
    pub(super) const fn under_way(&self) -> usize {
        self.urgent.under_way.saturating_add(self.inquiries.under_way)
    }

    /// Returns true if charges and operations fill more than half of their queue.
    pub(super) fn is_busy(&self) -> bool {
        self.urgent.waiting.len() > self.places.saturating_mul(QUEUED_PER_CALL / 2)
    }

    /// Returns the time after which an inquiry that finds no room should be repeated. Each gets its own time, spaced
    /// like the starts of inquiries, so that they return when there is room and not all at once.
    pub(super) fn next_place(&mut self, now: Instant) -> Duration {
        let apart = self.inquiry_takes / u32::try_from(self.inquiries.places).unwrap_or(u32::MAX).max(1);
        let room = u32::try_from(QUEUED_PER_CALL).unwrap_or(u32::MAX);
        let soonest = now + self.inquiry_takes.saturating_mul(room);
        let latest = now + LONGEST_WAIT;
        let at = self.next_place.map_or(soonest, |next| next.max(soonest)).min(latest);
        self.next_place = Some(at + apart);
        at.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn begun(queue: &mut CallQueue<usize>) -> (Vec<usize>, usize) {
        let mut urgent = Vec::new();
        let mut inquiries = 0;
        while let Some((class, number)) = queue.begin_next() {
            match class {
                Class::Urgent => urgent.push(number),
                Class::Inquiry => inquiries += 1,
            }
        }
        (urgent, inquiries)
    }

    #[test]
    fn inquiries_take_a_quarter_of_the_places_and_leave_the_room_of_others_alone() {
        for (places, of_inquiries) in [(1, 1), (3, 1), (16, 4), (100, 25)] {
            let mut queue = CallQueue::new(places);
            while queue.has_room(Class::Inquiry) {
                queue.push(Class::Inquiry, 0);
            }
            assert_eq!((queue.waiting(), queue.is_busy()), (of_inquiries * QUEUED_PER_CALL, false));
            assert_eq!(begun(&mut queue), (Vec::new(), of_inquiries));
            assert!(queue.has_room(Class::Urgent));
        }
    }

    #[test]
    fn charges_go_first_and_inquiries_get_every_fourth_beginning_while_both_wait() {
        let mut queue = CallQueue::new(4);
        for number in 0..12 {
            queue.push(Class::Urgent, number);
            queue.push(Class::Inquiry, number);
        }
        assert_eq!(begun(&mut queue), (vec![0, 1, 2], 1));
        for expected in [3, 4, 5] {
            queue.ended(Class::Urgent, SECOND);
            assert_eq!(begun(&mut queue), (vec![expected], 0), "the share of inquiries is under way");
        }
        queue.ended(Class::Inquiry, SECOND);
        assert_eq!(begun(&mut queue), (Vec::new(), 1), "whose turn it is now");
        queue.ended(Class::Inquiry, SECOND);
        assert_eq!(begun(&mut queue), (vec![6], 0));
    }

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_room_comes_back_when_there_is_some_and_not_with_the_others() {
        let mut queue = CallQueue::<usize>::new(40);
        let now = Instant::now();
        let waits: Vec<_> = (0..5).map(|_| queue.next_place(now).as_millis()).collect();
        assert_eq!(waits, [8_000, 8_100, 8_200, 8_300, 8_400], "ten at once, of a second each");
        for _ in 0..100 {
            queue.ended(Class::Inquiry, 5 * SECOND);
        }
        assert!(queue.next_place(now) > 35 * SECOND, "slower ones come back later");
        for _ in 0..10_000 {
            assert!(queue.next_place(now) <= LONGEST_WAIT);
        }
    }
}
