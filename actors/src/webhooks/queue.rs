//! Queue of waiting deliveries, and the choice of the next one to send.
//!
//! Places are shared first between test and live, then between merchants, then between receivers. A receiver has one of
//! three standings. Each standing has its own places, so that receivers that don't answer take none from those that do.
//! Receivers that can't be sent to are in no line, so the choice costs the same with one receiver as with a hundred
//! thousand.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use quita_domain::delivery::{Lease, Receiver};
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::payment::Payment;
use quita_ports::OutboxPlace;
use quita_ports::trace::Span;

use crate::limits::{LINES, WebhookLimits};
use crate::webhooks::deliver::weight_of;

/// Recent behaviour of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nothing is known about it yet.
    New,
    /// It answers promptly.
    Prompt,
    /// It is slow to answer, or does not answer at all.
    Slow,
}

const fn line_of(mode: Mode, standing: Standing) -> usize {
    match (mode, standing) {
        (Mode::Live, Standing::Prompt) => 0,
        (Mode::Test, Standing::Prompt) => 1,
        (Mode::Live, Standing::New) => 2,
        (Mode::Test, Standing::New) => 3,
        (Mode::Live, Standing::Slow) => 4,
        (Mode::Test, Standing::Slow) => 5,
    }
}

/// End of an exchange with a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It answered, with any status.
    Answered,
    /// There was no answer in time.
    Silent,
    /// It could not be reached, which did not take long.
    Unreachable,
    /// Nothing was sent.
    Unused,
}

/// A place in use: one exchange with a receiver, and the bytes that it holds.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) receiver: Arc<Receiver>,
    line: usize,
    bytes: usize,
    is_slow: bool,
}

/// A waiting payment, with the claims and data held for it.
#[derive(Default)]
pub(super) struct Waiting {
    /// Claims on its deliveries that this process holds.
    pub(super) leases: VecDeque<Lease>,
    /// The payment as it was last claimed. Not kept if it would take too much memory.
    pub(super) payment: Option<Arc<Payment>>,
    /// Span of the claimed delivery, kept as long as the payment.
    pub(super) span: Option<Span>,
}

/// The next delivery to send.
pub(super) struct Turn {
    pub(super) id: TransactionId,
    pub(super) waiting: Waiting,
    pub(super) place: Place,
}

/// Exchanges under way in one line, and the merchants in turn.
#[derive(Default)]
struct Line {
    under_way: usize,
    bytes: usize,
    shares: HashMap<MerchantId, Share>,
    turns: VecDeque<MerchantId>,
}

/// A merchant's share of a line.
#[derive(Default)]
struct Share {
    under_way: usize,
    bytes: usize,
    /// Receivers, each with the ticket of its turn. A turn whose ticket has been replaced is void.
    turns: VecDeque<(Arc<Receiver>, u64)>,
    is_in_line: bool,
}

/// State of a receiver.
struct Record {
    standing: Standing,
    /// Exchanges that it may have at once; doubled with each answer.
    allowed: usize,
    under_way: usize,
    waiting: VecDeque<TransactionId>,
    /// Ticket of its turn; `None` if it waits for none.
    ticket: Option<u64>,
    /// Position in the store of the first delivery that found no room here.
    more_from: Option<OutboxPlace>,
    /// Its key among the idle receivers.
    idle_since: Option<u64>,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            standing: Standing::New,
            allowed: 1,
            under_way: 0,
            waiting: VecDeque::new(),
            ticket: None,
            more_from: None,
            idle_since: None,
        }
    }
}

/// Waiting deliveries, and the places in use.
pub(super) struct Queue {
    limits: WebhookLimits,
    lines: [Line; LINES],
    next_line: usize,
    receivers: HashMap<Arc<Receiver>, Record>,
    waiting: HashMap<TransactionId, Waiting>,
    /// Number of waiting payments of each merchant.
    merchants: HashMap<(Mode, MerchantId), usize>,
    /// Idle receivers, in the order in which they became idle.
    idle: BTreeMap<u64, Arc<Receiver>>,
    held_bytes: usize,
    tickets: u64,
    refill: Option<OutboxPlace>,
}

impl Queue {
    pub(super) fn new(limits: WebhookLimits) -> Self {
        Self {
            limits,
            lines: Default::default(),
            next_line: 0,
            receivers: HashMap::new(),
            waiting: HashMap::new(),
            merchants: HashMap::new(),
            idle: BTreeMap::new(),
            held_bytes: 0,
            tickets: 0,
            refill: None,
        }
    }

    /// Returns the number of waiting payments.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn holds(&self, id: &TransactionId) -> bool {
        self.waiting.contains_key(id)
    }

    /// Adds a delivery that this process claimed. Returns false if there was no room; then the store reports it as due
    /// when its lease ends.
    pub(super) fn put_claimed(
        &mut self,
        receiver: Receiver,
        payment: &Arc<Payment>,
        lease: Lease,
        span: Span,
    ) -> bool {
        let has_room = self.holds(&payment.id) || self.put(receiver, payment.id, None);
        if let Some(waiting) = self.waiting.get_mut(&payment.id) {
            // A new claim on a delivery follows only an old one that has ended.
            waiting.leases.retain(|held| held.delivery != lease.delivery);
            waiting.leases.push_back(lease);
            waiting.span = Some(span);
            let before = waiting.payment.replace(Arc::clone(payment));
            self.held_bytes = self.held_bytes.saturating_sub(before.as_deref().map_or(0, weight_of));
            self.held_bytes = self.held_bytes.saturating_add(weight_of(payment));
        }
        has_room
    }

    /// Adds a payment with a delivery that the store reports as due. Returns false if there was no room; then the store
    /// is asked again once there is.
    pub(super) fn put_due(&mut self, receiver: Receiver, place: OutboxPlace) -> bool {
        self.holds(&place.id) || self.put(receiver, place.id, Some(place))
    }

    /// Puts back a payment whose turn could not be used.
    pub(super) fn put_back(&mut self, receiver: &Receiver, id: TransactionId, waiting: Waiting) {
        // An entry that was made meanwhile has a newer claim and payment.
        if !self.holds(&id) && self.put(receiver.clone(), id, None) {
            self.held_bytes = self.held_bytes.saturating_add(waiting.payment.as_deref().map_or(0, weight_of));
            self.waiting.insert(id, waiting);
        }
    }

    /// Drops the content of a delivery that has to wait, unless its receiver will soon be ready for it.
    pub(super) fn lighten(&mut self, id: &TransactionId) {
        let Some(waiting) = self.waiting.get_mut(id) else { return };
        let Some(payment) = &waiting.payment else { return };
        let receiver = payment.receiver();
        let record = receiver.and_then(|receiver| self.receivers.get(&receiver));
        let is_prompt = record.is_some_and(|record| record.standing == Standing::Prompt);
        if !is_prompt || self.held_bytes > self.limits.bytes_held {
            self.held_bytes = self.held_bytes.saturating_sub(weight_of(payment));
            (waiting.payment, waiting.span) = (None, None);
        }
    }

    /// Takes the next delivery that may be sent.
    pub(super) fn next(&mut self) -> Option<Turn> {
        // Each line comes first once in a round, so that neither a mode nor a standing starves another.
        for _ in 0..LINES {
            let line = self.next_line;
            self.next_line = line.saturating_add(1) % LINES;
            if let Some(turn) = self.next_in(line) {
                return Some(turn);
            }
        }
        None
    }

    /// Counts the bytes that an exchange holds.
    pub(super) fn weigh(&mut self, place: &mut Place, bytes: usize) {
        place.bytes = place.bytes.saturating_add(bytes);
        if let Some(line) = self.lines.get_mut(place.line) {
            line.bytes = line.bytes.saturating_add(bytes);
            let share = line.shares.entry(place.receiver.merchant.clone()).or_default();
            share.bytes = share.bytes.saturating_add(bytes);
        }
    }

    /// Marks the receiver of a long exchange as slow. The exchange moves to a place for slow receivers if there is
    /// room.
    pub(super) fn slow(&mut self, place: &mut Place) {
        place.is_slow = true;
        self.change_standing(&place.receiver, Standing::Slow);
        let line = line_of(place.receiver.mode, Standing::Slow);
        if line == place.line || !self.has_room(line) {
            return;
        }
        self.leave_line(place);
        place.line = line;
        if let Some(line) = self.lines.get_mut(line) {
            line.under_way = line.under_way.saturating_add(1);
            line.bytes = line.bytes.saturating_add(place.bytes);
            let share = line.shares.entry(place.receiver.merchant.clone()).or_default();
            share.under_way = share.under_way.saturating_add(1);
            share.bytes = share.bytes.saturating_add(place.bytes);
        }
    }

    /// Frees the place of an exchange that has ended.
    pub(super) fn free(&mut self, place: Place, ended: Ended) {
        self.leave_line(&place);
        let most = self.limits.places_per_receiver;
        let Some(record) = self.receivers.get_mut(&place.receiver) else { return };
        record.under_way = record.under_way.saturating_sub(1);
        let mut standing = record.standing;
        match ended {
            Ended::Answered => {
                record.allowed = record.allowed.saturating_mul(2).min(most);
                standing = if place.is_slow { Standing::Slow } else { Standing::Prompt };
            }
            // A silent receiver is tried with one exchange at a time until it answers (decision 22).
            Ended::Silent => {
                record.allowed = 1;
                standing = Standing::Slow;
            }
            // It took hardly any time, so the receiver keeps its standing and takes no place from others.
            Ended::Unreachable => record.allowed = 1,
            Ended::Unused => {}
        }
        self.change_standing(&place.receiver, standing);
        self.line_up(&place.receiver);
        self.rest_if_idle(&place.receiver);
    }

    /// Takes the position from which the store must be read again, because there is now room for deliveries that found
    /// none.
    pub(super) const fn take_refill(&mut self) -> Option<OutboxPlace> {
        self.refill.take()
    }

    fn put(&mut self, receiver: Receiver, id: TransactionId, due: Option<OutboxPlace>) -> bool {
        let WebhookLimits { waiting_per_receiver, waiting_per_merchant, .. } = self.limits;
        let of_merchant = self.merchants.entry((receiver.mode, receiver.merchant.clone())).or_default();
        let receiver = Arc::new(receiver);
        let is_first = self.receivers.get(&receiver).is_none_or(|record| record.waiting.is_empty());
        // A receiver with nothing waiting is refused only if its merchant has thousands of receivers.
        let most = if is_first { waiting_per_merchant.saturating_mul(2) } else { waiting_per_merchant };
        let fits = *of_merchant < most;
        if is_first && !fits {
            return false;
        }
        let record = self.receivers.entry(Arc::clone(&receiver)).or_default();
        if !fits || record.waiting.len() >= waiting_per_receiver {
            // The earliest delivery without room determines where the store is read from again.
            record.more_from = record.more_from.into_iter().chain(due).min();
            return false;
        }
        *of_merchant = of_merchant.saturating_add(1);
        record.waiting.push_back(id);
        if let Some(idle_since) = record.idle_since.take() {
            self.idle.remove(&idle_since);
        }
        self.waiting.insert(id, Waiting::default());
        self.line_up(&receiver);
        true
    }

    fn has_room(&self, line: usize) -> bool {
        let WebhookLimits { places, bytes, .. } = self.limits;
        self.lines.get(line).is_some_and(|line| line.under_way < places && line.bytes < bytes)
    }

    fn next_in(&mut self, number: usize) -> Option<Turn> {
        while self.has_room(number) {
            let line = self.lines.get_mut(number)?;
            let merchant = line.turns.pop_front()?;
            let Some(share) = line.shares.get_mut(&merchant) else { continue };
            share.is_in_line = false;
            if !share.has_room(&self.limits) {
                continue;
            }
            let Some((receiver, ticket)) = share.turns.pop_front() else { continue };
            let record = self.receivers.get_mut(&receiver).filter(|record| record.ticket == Some(ticket));
            let next = record.and_then(|record| {
                record.ticket = None;
                // Its allowance may have been reduced since it got its turn.
                let id = record.waiting.pop_front_if(|_| record.under_way < record.allowed)?;
                record.under_way = record.under_way.saturating_add(1);
                Some(id)
            });
            if next.is_some() {
                share.under_way = share.under_way.saturating_add(1);
                line.under_way = line.under_way.saturating_add(1);
            }
            self.line_up(&receiver);
            self.line_up_merchant(number, &merchant);
            if let Some(id) = next {
                return Some(self.turn_of(id, receiver, number));
            }
        }
        None
    }

    fn turn_of(&mut self, id: TransactionId, receiver: Arc<Receiver>, line: usize) -> Turn {
        let waiting = self.waiting.remove(&id).unwrap_or_default();
        self.held_bytes = self.held_bytes.saturating_sub(waiting.payment.as_deref().map_or(0, weight_of));
        let merchant = (receiver.mode, receiver.merchant.clone());
        let of_merchant = self.merchants.get_mut(&merchant).map_or(0, |count| {
            *count = count.saturating_sub(1);
            *count
        });
        if of_merchant == 0 {
            self.merchants.remove(&merchant);
        }
        self.ask_for_more(&receiver, of_merchant);
        Turn { id, waiting, place: Place { receiver, line, bytes: 0, is_slow: false } }
    }

    /// Requests another read of the store from the first delivery without room, once half of the room is free.
    fn ask_for_more(&mut self, receiver: &Arc<Receiver>, of_merchant: usize) {
        let WebhookLimits { waiting_per_receiver, waiting_per_merchant, .. } = self.limits;
        let Some(record) = self.receivers.get_mut(receiver) else { return };
        if record.waiting.len() <= waiting_per_receiver / 2 && of_merchant <= waiting_per_merchant / 2 {
            self.refill = self.refill.into_iter().chain(record.more_from.take()).min();
        }
    }

    /// Gives a receiver a turn if it may be sent to and has none.
    fn line_up(&mut self, receiver: &Arc<Receiver>) {
        let Some(record) = self.receivers.get_mut(receiver) else { return };
        let may_send = record.under_way < record.allowed && !record.waiting.is_empty();
        if !may_send || record.ticket.is_some() {
            return;
        }
        self.tickets = self.tickets.wrapping_add(1);
        record.ticket = Some(self.tickets);
        let line = line_of(receiver.mode, record.standing);
        if let Some(in_line) = self.lines.get_mut(line) {
            let share = in_line.shares.entry(receiver.merchant.clone()).or_default();
            share.turns.push_back((Arc::clone(receiver), self.tickets));
        }
        self.line_up_merchant(line, &receiver.merchant);
    }

    /// Gives a merchant a turn in a line if it may send and has none; removes it if it has nothing in the line.
    fn line_up_merchant(&mut self, line: usize, merchant: &MerchantId) {
        let Some(line) = self.lines.get_mut(line) else { return };
        let Some(share) = line.shares.get_mut(merchant) else { return };
        if share.turns.is_empty() {
            if share.under_way == 0 && !share.is_in_line {
                line.shares.remove(merchant);
            }
        } else if !share.is_in_line && share.has_room(&self.limits) {
            share.is_in_line = true;
            line.turns.push_back(merchant.clone());
        }
    }

    fn leave_line(&mut self, place: &Place) {
        let Some(line) = self.lines.get_mut(place.line) else { return };
        line.under_way = line.under_way.saturating_sub(1);
        line.bytes = line.bytes.saturating_sub(place.bytes);
        if let Some(share) = line.shares.get_mut(&place.receiver.merchant) {
            share.under_way = share.under_way.saturating_sub(1);
            share.bytes = share.bytes.saturating_sub(place.bytes);
        }
        self.line_up_merchant(place.line, &place.receiver.merchant);
    }

    /// Changes a receiver's standing, which moves it to another line and voids its turn in the old one.
    fn change_standing(&mut self, receiver: &Arc<Receiver>, standing: Standing) {
        let Some(record) = self.receivers.get_mut(receiver) else { return };
        if record.standing != standing {
            record.standing = standing;
            record.ticket = None;
            self.line_up(receiver);
        }
    }

    /// Marks a receiver as idle if nothing is waiting or under way. Above the limit, forgets the receivers that were
    /// idle longest.
    fn rest_if_idle(&mut self, receiver: &Arc<Receiver>) {
        let Some(record) = self.receivers.get_mut(receiver) else { return };
        if record.under_way > 0 || !record.waiting.is_empty() {
            return;
        }
        self.tickets = self.tickets.wrapping_add(1);
        if let Some(before) = record.idle_since.replace(self.tickets) {
            self.idle.remove(&before);
        }
        self.idle.insert(self.tickets, Arc::clone(receiver));
        while self.idle.len() > self.limits.receivers_remembered {
            let Some((_, longest)) = self.idle.pop_first() else { break };
            self.receivers.remove(&longest);
        }
    }
}

impl Share {
    /// Returns true if the merchant uses less than half of the line.
    const fn has_room(&self, limits: &WebhookLimits) -> bool {
        self.under_way < limits.places.div_ceil(2) && self.bytes < limits.bytes.div_ceil(2)
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn receiver(mode: Mode, merchant: usize, address: usize) -> Receiver {
        let merchant = MerchantId::new(format!("merchant-{merchant}"));
        Receiver { mode, merchant, address: format!("receiver-{address}:443") }
    }

    fn place(number: usize) -> OutboxPlace {
        let number = u32::try_from(number).unwrap();
        OutboxPlace {
            at: Timestamp::from_millis(i64::from(number)),
            id: TransactionId::new(Uuid::from_u128(number.into())),
        }
    }

    fn queue(change: impl FnOnce(&mut WebhookLimits)) -> Queue {
        let mut limits = WebhookLimits::default();
        change(&mut limits);
        Queue::new(limits)
    }

    fn turns(queue: &mut Queue) -> Vec<Turn> {
        std::iter::from_fn(|| queue.next()).collect()
    }

    /// Receivers that have answered promptly before.
    fn make_prompt(queue: &mut Queue, receivers: impl Iterator<Item = Receiver>) {
        for (number, receiver) in receivers.enumerate() {
            assert!(queue.put_due(receiver, place(1_000_000 + number)));
            for turn in turns(queue) {
                queue.free(turn.place, Ended::Answered);
            }
        }
    }

    #[test]
    fn a_merchant_has_half_of_a_line_and_others_the_rest() {
        let mut queue = queue(|limits| limits.places = 10);
        for number in 0..100 {
            assert!(queue.put_due(receiver(Mode::Test, 0, number), place(number)));
        }
        let first = turns(&mut queue);
        assert_eq!(first.len(), 5);
        assert!(queue.put_due(receiver(Mode::Test, 1, 0), place(100)));
        assert!(queue.put_due(receiver(Mode::Live, 0, 0), place(101)));
        let others: Vec<_> = turns(&mut queue).iter().map(|turn| turn.id).collect();
        assert_eq!(others.len(), 2, "of another merchant, and of another mode");
        assert!(others.contains(&place(100).id) && others.contains(&place(101).id));
    }

    #[test]
    fn a_receiver_gets_twice_as_many_places_with_each_answer_and_one_after_a_time_out() {
        let mut queue = queue(|limits| limits.places_per_receiver = 6);
        for number in 0..40 {
            assert!(queue.put_due(receiver(Mode::Test, 0, 0), place(number)));
        }
        let mut held = turns(&mut queue);
        for allowed in [1, 2, 4, 6] {
            assert_eq!(held.len(), allowed);
            for turn in held.drain(..1).collect::<Vec<_>>() {
                queue.free(turn.place, Ended::Answered);
            }
            for turn in held.drain(..) {
                queue.free(turn.place, Ended::Unused);
            }
            held = turns(&mut queue);
        }
        for turn in held.drain(..) {
            queue.free(turn.place, Ended::Silent);
        }
        assert_eq!(turns(&mut queue).len(), 1);
    }

    #[test]
    fn exchanges_that_last_long_make_room_for_those_of_prompt_receivers() {
        let mut queue = queue(|limits| (limits.places, limits.places_per_receiver) = (8, 4));
        let hanging = |number| receiver(Mode::Live, number, 0);
        make_prompt(&mut queue, (0..8).map(hanging).chain([receiver(Mode::Live, 9, 9)]));
        (0..8).for_each(|number| assert!(queue.put_due(hanging(number), place(number))));
        let mut held = turns(&mut queue);
        assert_eq!(held.len(), 8);
        assert!(queue.put_due(receiver(Mode::Live, 9, 9), place(50)));
        assert!(queue.next().is_none(), "the line is full");
        held.iter_mut().for_each(|turn| queue.slow(&mut turn.place));
        assert_eq!(queue.next().map(|turn| turn.id), Some(place(50).id));
        (0..8).for_each(|number| assert!(queue.put_due(hanging(number), place(10 + number))));
        assert!(queue.next().is_none(), "slow ones wait for places of slow ones");
    }

    #[test]
    fn bytes_are_bounded_as_places_are() {
        let mut queue = queue(|limits| limits.bytes = 100);
        (0..3).for_each(|number| assert!(queue.put_due(receiver(Mode::Test, 0, number), place(number))));
        let mut heavy = queue.next().unwrap();
        queue.weigh(&mut heavy.place, 60);
        assert!(queue.next().is_none(), "the merchant has more than half of them");
        queue.free(heavy.place, Ended::Silent);
        assert_eq!(turns(&mut queue).len(), 2);
    }

    #[test]
    fn nobody_who_has_nothing_waiting_is_refused_and_the_store_is_read_again_for_the_others() {
        let mut queue = queue(|limits| {
            (limits.waiting_per_receiver, limits.waiting_per_merchant) = (4, 100);
        });
        let taken: Vec<_> =
            (0..6).map(|number| queue.put_due(receiver(Mode::Test, 0, 0), place(number))).collect();
        assert_eq!(taken, [true, true, true, true, false, false]);
        assert!(queue.put_due(receiver(Mode::Test, 0, 1), place(10)));
        assert_eq!(queue.take_refill(), None);
        let mut asked = Vec::new();
        while let Some(turn) = queue.next() {
            queue.free(turn.place, Ended::Silent);
            asked.extend(queue.take_refill());
        }
        assert_eq!(asked, [place(4)], "from the first that found no room, and once");
    }

    #[test]
    fn a_busy_receiver_makes_nobody_else_forgotten() {
        let mut queue = queue(|limits| limits.receivers_remembered = 3);
        let [dead, busy, third] = [0, 1, 2].map(|address| receiver(Mode::Live, 0, address));
        assert!(queue.put_due(dead.clone(), place(0)));
        let turn = queue.next().unwrap();
        queue.free(turn.place, Ended::Silent);
        assert!(queue.put_due(third, place(1)));
        let turn = queue.next().unwrap();
        queue.free(turn.place, Ended::Answered);
        for number in 10..1_000 {
            assert!(queue.put_due(busy.clone(), place(number)));
            let turn = queue.next().unwrap();
            queue.free(turn.place, Ended::Answered);
        }
        let standing = queue.receivers.get(&dead).map(|record| record.standing);
        assert_eq!(standing, Some(Standing::Slow), "what it is like is still known");
        assert_eq!((queue.receivers.len(), queue.idle.len()), (3, 3));
        for address in 3..6 {
            assert!(queue.put_due(receiver(Mode::Live, 0, address), place(2_000 + address)));
            let turn = queue.next().unwrap();
            queue.free(turn.place, Ended::Answered);
        }
        assert!(!queue.receivers.contains_key(&dead), "the longest idle one is forgotten first");
        assert_eq!((queue.receivers.len(), queue.idle.len()), (3, 3));
    }

    #[test]
    fn whatever_happens_nothing_is_lost_and_every_place_is_given_back() {
        let mut queue = queue(|limits| {
            (limits.places, limits.places_per_receiver, limits.receivers_remembered) = (6, 3, 4);
        });
        let mut dice = 7_u64;
        let mut held = Vec::new();
        let mut waiting = 0;
        let mut sent = 0;
        for number in 0..20_000 {
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pick = |of: u64| usize::try_from((dice >> 33) % of).unwrap();
            match pick(4) {
                0 => {
                    let mode = if pick(14) < 7 { Mode::Test } else { Mode::Live };
                    waiting += usize::from(queue.put_due(receiver(mode, pick(3), pick(11)), place(number)));
                }
                1 => held.extend(queue.next()),
                2 if !held.is_empty() => {
                    let place = pick(1_000) % held.len();
                    let turn: &mut Turn = &mut held[place];
                    queue.slow(&mut turn.place);
                }
                _ if !held.is_empty() => {
                    let turn: Turn = held.swap_remove(pick(500) % held.len());
                    let ended = [Ended::Answered, Ended::Silent, Ended::Unreachable, Ended::Unused];
                    queue.free(turn.place, ended[pick(4)]);
                    sent += 1;
                }
                _ => {}
            }
            assert_eq!(queue.len() + held.len() + sent, waiting);
        }
        loop {
            for turn in held.drain(..) {
                queue.free(turn.place, Ended::Answered);
                sent += 1;
            }
            held = turns(&mut queue);
            if held.is_empty() {
                break;
            }
        }
        assert_eq!((sent, queue.len()), (waiting, 0));
        assert!(queue.lines.iter().all(|line| line.under_way == 0 && line.bytes == 0));
        assert!(queue.merchants.is_empty());
        assert_eq!((queue.receivers.len(), queue.idle.len()), (4, 4), "only as many are remembered");
    }

    #[test]
    fn a_hundred_thousand_receivers_take_turns() {
        let mut queue = queue(|_| {});
        for number in 0..100_000 {
            assert!(queue.put_due(receiver(Mode::Live, number % 100, number), place(number)));
        }
        let mut sent = 0;
        loop {
            let turns = turns(&mut queue);
            if turns.is_empty() {
                break;
            }
            sent += turns.len();
            turns.into_iter().for_each(|turn| queue.free(turn.place, Ended::Answered));
        }
        assert_eq!((sent, queue.len()), (100_000, 0));
    }
}
