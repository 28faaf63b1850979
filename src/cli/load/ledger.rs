//! Ledger of the events that each payment's merchant received, and of those still missing.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use quita_domain::status::Status;
use uuid::Uuid;

use super::plan::Method;
use super::verdict::{ReportedDeliveries, ReportedStatus};

/// Time beyond twice the longest settlement of its method after which a payment should have been settled.
const OVERDUE_AFTER: Duration = Duration::from_secs(5);

/// Time after an absence in which the service resumes a payment whose process died: its lease of 30 s, and the inquiries
/// until "not found" is believed. See `docs/reference/schedules.md`.
const RESUMED_WITHIN: Duration = Duration::from_secs(75);

/// Accounts of all payments of this run, about 250 bytes each.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    accounts: HashMap<Uuid, Account>,
    refused_percent: u64,
    unsettled: usize,
    longest_settlements: BTreeMap<Method, Duration>,
    allowed: Duration,
    trouble_end: Option<Instant>,
}

/// Account of one payment.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// Events received, in the order of their first arrival.
    pub(super) heard: Vec<ReceivedEvent>,
    /// Flaws found on arrival.
    pub(super) flaws: Flaws,
    /// Final state of the payment, as reported by the service.
    pub(super) found: Option<ReportedStatus>,
    /// Status that the merchant had received before the service was queried.
    pub(super) status_before: Option<Status>,
    /// True if the service was queried long after other payments had been settled.
    pub(super) is_overdue: bool,
    /// True if the payment existed while the service was away, or its store was unavailable.
    pub(super) was_in_trouble: bool,
    /// Reason for that state, as reported by the service.
    pub(super) status_reason: Option<Box<str>>,
    method: Option<Method>,
    /// Start of the creation, before any repeat.
    began: Option<Instant>,
    created: Option<Instant>,
    first_heard: Option<Instant>,
    /// State of the deliveries according to the service, if an event was missing in the end.
    pub(super) deliveries: Option<ReportedDeliveries>,
}

/// Event that was received.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceivedEvent {
    /// Sequence number among the payment's events, from 1.
    pub(super) sequence: u32,
    /// New status of the payment.
    pub(super) status: Status,
    /// True if the receiver has confirmed the event.
    pub(super) is_confirmed: bool,
    was_refused: bool,
    id: u64,
}

/// Flaws found on arrival, and repetitions, which are allowed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flaws {
    /// A signature was missing, or was not created with the secret.
    pub(super) bad_signature: bool,
    /// One event arrived under two ids.
    pub(super) new_id: bool,
    /// An event arrived before one with a lower sequence was confirmed.
    pub(super) out_of_order: bool,
    /// A confirmed event arrived again with the same id.
    pub(super) repeated: bool,
}

/// Event as it arrives.
#[derive(Debug)]
pub(super) struct Notice<'a> {
    /// Id of the payment.
    pub(super) transaction: Uuid,
    /// Sequence number among the payment's events.
    pub(super) sequence: u32,
    /// New status of the payment.
    pub(super) status: Status,
    /// Webhook id, equal in every attempt.
    pub(super) webhook_id: &'a str,
    /// True unless the signature was checked and is wrong or missing.
    pub(super) is_signed_well: bool,
}

/// Decision of the receiver about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reception {
    /// True if the event is confirmed, false if it is refused on purpose.
    pub(super) is_confirmed: bool,
    /// True if the event arrived for the first time, and was not delayed by a refused one.
    pub(super) is_prompt: bool,
}

impl Ledger {
    /// Creates a ledger whose receiver refuses this share of the events on their first arrival.
    pub(super) fn new(refused_percent: u8) -> Self {
        Self { refused_percent: refused_percent.into(), ..Self::default() }
    }

    /// Records a created payment, whose creation began at this time. Its events may have arrived before the answer.
    pub(super) fn created(&mut self, transaction: Uuid, method: Method, began: Instant) {
        let now = Instant::now();
        self.change(transaction, |account| {
            account.began = Some(began);
            account.created = Some(now);
            account.method = Some(method);
        });
    }

    /// Records an event, and decides whether to confirm it.
    pub(super) fn hear(&mut self, notice: &Notice<'_>) -> Reception {
        let refused_percent = self.refused_percent;
        self.change(notice.transaction, |account| account.hear(notice, refused_percent))
    }

    /// Returns the number of payments.
    pub(super) fn payments(&self) -> usize {
        self.accounts.len()
    }

    /// Returns the number of payments that are not final, or have events still to come.
    pub(super) fn unsettled(&self) -> usize {
        self.unsettled
    }

    /// Returns every account.
    pub(super) fn accounts(&self) -> impl Iterator<Item = (Uuid, &Account)> {
        self.accounts.iter().map(|(transaction, account)| (*transaction, account))
    }

    /// Returns the status in the payment's last event.
    pub(super) fn last_status(&self, transaction: Uuid) -> Option<Status> {
        self.accounts.get(&transaction)?.last().map(|last| last.status)
    }

    /// Extends every payment's allowed time by a time in which the service did not answer. The time of a payment that
    /// existed before `trouble_end` counts only from then on.
    pub(super) fn allow(&mut self, silent: Duration, trouble_end: Option<Instant>) {
        self.allowed = silent;
        self.trouble_end = trouble_end;
    }

    /// Records the final state that the service reported, and the status that the merchant had received before.
    pub(super) fn find(&mut self, transaction: Uuid, status_before: Option<Status>, found: ReportedStatus) {
        // Compared with the payments of this run: a slow machine settles all of them later, and none is missing.
        let allowed = OVERDUE_AFTER + self.allowed;
        // A card is settled by the acquirer's answer, a code only when its payer pays.
        let method = self.accounts.get(&transaction).and_then(|account| account.method);
        let longest = method.and_then(|method| self.longest_settlements.get(&method));
        let due = longest.map(|longest| longest.saturating_mul(2) + allowed);
        let trouble_end = self.trouble_end;
        self.change(transaction, |account| {
            let trouble_end = trouble_end.filter(|end| account.began.is_none_or(|began| began < *end));
            let waited = account.counts_from(trouble_end).map(|from| from.elapsed());
            account.was_in_trouble = trouble_end.is_some();
            account.is_overdue = due.zip(waited).is_some_and(|(due, waited)| waited > due);
            account.found = Some(found);
            account.status_before = status_before;
        });
    }

    /// Records the reason that the service reported for the payment's state.
    pub(super) fn explain(&mut self, transaction: Uuid, status_reason: &str) {
        self.change(transaction, |account| account.status_reason = Some(status_reason.into()));
    }

    /// Records the state of the payment's deliveries, as reported by the service.
    pub(super) fn find_deliveries(&mut self, transaction: Uuid, deliveries: ReportedDeliveries) {
        self.change(transaction, |account| account.deliveries = Some(deliveries));
    }

    fn change<T>(&mut self, transaction: Uuid, change: impl FnOnce(&mut Account) -> T) -> T {
        let mut is_new = false;
        let account = self.accounts.entry(transaction).or_insert_with(|| {
            is_new = true;
            Account::default()
        });
        let was_unsettled = !is_new && !account.is_settled();
        let result = change(account);
        if was_unsettled && account.is_settled() {
            let took = account.created.map(|created| created.elapsed());
            if let Some((method, took)) = account.method.zip(took) {
                let longest = self.longest_settlements.entry(method).or_default();
                *longest = took.max(*longest);
            }
        }
        self.unsettled = self.unsettled + usize::from(!account.is_settled()) - usize::from(was_unsettled);
        result
    }
}

impl Account {
    /// Returns the event with the highest sequence.
    pub(super) fn last(&self) -> Option<&ReceivedEvent> {
        self.heard.iter().max_by_key(|heard| heard.sequence)
    }

    /// Returns the status of the event with the highest sequence.
    pub(super) fn told(&self) -> Status {
        self.last().map_or(Status::Initial, |last| last.status)
    }

    /// Returns true if there is an event for each sequence up to the highest.
    pub(super) fn is_whole(&self) -> bool {
        let highest = self.last().map_or(0, |last| last.sequence);
        usize::try_from(highest).is_ok_and(|highest| highest == self.heard.len())
    }

    /// Returns true if an event was refused on purpose, and has not arrived again.
    pub(super) fn lacks_confirmation(&self) -> bool {
        self.heard.iter().any(|heard| !heard.is_confirmed)
    }

    /// Returns the time from which the service has to settle the payment, which existed before `trouble_end`.
    fn counts_from(&self, trouble_end: Option<Instant>) -> Option<Instant> {
        let created = self.created?;
        let Some(end) = trouble_end else { return Some(created) };
        // Without an event by then it was `initial`, and its process may have died with the charge under way.
        let was_initial = self.first_heard.is_none_or(|heard| heard > end);
        let resumed_within = if was_initial { RESUMED_WITHIN } else { Duration::ZERO };
        Some(created.max(end + resumed_within))
    }

    fn is_settled(&self) -> bool {
        let is_final = self.last().is_some_and(|last| is_final(last.status));
        is_final && self.is_whole() && !self.lacks_confirmation()
    }

    fn hear(&mut self, notice: &Notice<'_>, refused_percent: u64) -> Reception {
        let &Notice { sequence, status, .. } = notice;
        let id = hash_of(notice.webhook_id);
        self.flaws.bad_signature |= !notice.is_signed_well;
        self.first_heard.get_or_insert_with(Instant::now);
        if let Some(known) = self.heard.iter_mut().find(|known| known.sequence == sequence) {
            self.flaws.new_id |= known.id != id;
            self.flaws.repeated |= known.is_confirmed;
            known.is_confirmed = true;
            return Reception { is_confirmed: true, is_prompt: false };
        }
        let is_beside =
            |known: &ReceivedEvent| known.sequence.abs_diff(sequence) == 1 && known.status == status;
        self.flaws.new_id |= self.heard.iter().any(is_beside);
        let overtakes = |known: &ReceivedEvent| known.sequence > sequence || !known.is_confirmed;
        self.flaws.out_of_order |= self.heard.iter().any(overtakes);
        // Events queued behind a refused event are late on purpose, and would distort the measured latency.
        let is_prompt = self.heard.iter().all(|known| !known.was_refused);
        let was_refused = id % 100 < refused_percent;
        self.heard.push(ReceivedEvent { sequence, status, is_confirmed: !was_refused, was_refused, id });
        Reception { is_confirmed: !was_refused, is_prompt }
    }
}

/// Returns true if a load test's payment stays in this status.
pub(super) const fn is_final(status: Status) -> bool {
    match status {
        Status::Initial | Status::Pending | Status::Approved => false,
        Status::Declined
        | Status::Refund
        | Status::Chargeback
        | Status::Expired
        | Status::Paid
        | Status::Cancelled => true,
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::verdict::Verdict;
    use super::*;

    const PAYMENT: Uuid = Uuid::from_u128(1);

    fn hear(ledger: &mut Ledger, sequence: u32, status: Status, webhook_id: &str) -> Reception {
        let transaction = PAYMENT;
        ledger.hear(&Notice { transaction, sequence, status, webhook_id, is_signed_well: true })
    }

    #[test]
    fn a_payment_is_settled_when_its_last_event_is_final_and_none_lacks() {
        let mut ledger = Ledger::new(0);
        ledger.created(PAYMENT, Method::Pix, Instant::now());
        assert_eq!((ledger.payments(), ledger.unsettled()), (1, 1));
        hear(&mut ledger, 2, Status::Paid, "b");
        assert_eq!(ledger.unsettled(), 1);
        hear(&mut ledger, 1, Status::Pending, "a");
        assert_eq!(ledger.unsettled(), 0);
    }

    #[test]
    fn a_payment_is_overdue_only_if_others_were_settled_in_far_less_time() {
        let other = Uuid::from_u128(2);
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        for (is_one_settled, seconds, silent, expected) in
            [(true, 8, 0, true), (true, 4, 0, false), (false, 8, 0, false), (true, 8, 6, false)]
        {
            let mut ledger = Ledger::new(0);
            ledger.allow(Duration::from_secs(silent), None);
            ledger.created(PAYMENT, Method::Pix, Instant::now());
            if is_one_settled {
                hear(&mut ledger, 1, Status::Paid, "a");
            }
            ledger.created(other, Method::Pix, Instant::now());
            ledger.change(other, |account| account.created = ago(seconds));
            ledger.find(other, None, ReportedStatus::Is(Status::Pending));
            let is_overdue = ledger.accounts.get(&other).is_some_and(|account| account.is_overdue);
            assert_eq!(is_overdue, expected, "{is_one_settled} {seconds} {silent}");
        }
    }

    #[test]
    fn a_payment_that_outlived_a_trouble_has_its_time_from_then_on_and_a_charge_its_lease_before() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let initial = ReportedStatus::Is(Status::Initial);
        let pending = ReportedStatus::Is(Status::Pending);
        // Seconds since the creation, the first event and the end of the trouble.
        for (found, began, heard, trouble, expected) in [
            (initial, 40, None, None, Verdict::Unsettled),
            (initial, 40, None, Some(34), Verdict::StillOpen),
            (initial, 79, None, Some(70), Verdict::StillOpen),
            (initial, 100, None, Some(90), Verdict::Unsettled),
            (initial, 30, None, Some(34), Verdict::Unsettled),
            (pending, 40, Some(39), Some(3), Verdict::StillOpen),
            (pending, 40, Some(39), Some(9), Verdict::Unsettled),
            (pending, 60, Some(10), Some(50), Verdict::StillOpen),
        ] {
            let mut ledger = Ledger::new(0);
            ledger.created(PAYMENT, Method::Pix, Instant::now());
            hear(&mut ledger, 1, Status::Paid, "a");
            let transaction = Uuid::from_u128(2);
            ledger.created(transaction, Method::Pix, ago(began).unwrap());
            if heard.is_some() {
                let status = Status::Pending;
                ledger.hear(&Notice {
                    transaction,
                    sequence: 1,
                    status,
                    webhook_id: "b",
                    is_signed_well: true,
                });
            }
            ledger.change(transaction, |account| {
                account.created = ago(began);
                account.first_heard = heard.and_then(ago);
            });
            ledger.allow(Duration::ZERO, trouble.and_then(ago));
            ledger.find(transaction, heard.map(|_| Status::Pending), found);
            let verdict = ledger.accounts.get(&transaction).map(Verdict::of);
            assert_eq!(verdict, Some(expected), "{found:?} {began} {heard:?} {trouble:?}");
        }
    }

    #[test]
    fn cards_that_settle_at_once_make_no_code_overdue() {
        let other = Uuid::from_u128(2);
        for (method, expected) in [(Method::Pix, false), (Method::Card, true)] {
            let mut ledger = Ledger::new(0);
            ledger.created(PAYMENT, Method::Card, Instant::now());
            hear(&mut ledger, 1, Status::Paid, "a");
            ledger.created(other, method, Instant::now());
            let ago = Instant::now().checked_sub(Duration::from_secs(8));
            ledger.change(other, |account| account.created = ago);
            ledger.find(other, None, ReportedStatus::Is(Status::Pending));
            let is_overdue = ledger.accounts.get(&other).is_some_and(|account| account.is_overdue);
            assert_eq!(is_overdue, expected, "{method:?}");
        }
    }

    #[test]
    fn an_event_after_a_late_answer_leaves_nothing_to_accuse() {
        let mut ledger = Ledger::new(0);
        ledger.created(PAYMENT, Method::Pix, Instant::now());
        hear(&mut ledger, 1, Status::Paid, "a");
        let late = Uuid::from_u128(2);
        let notice = |sequence, status, webhook_id| Notice {
            transaction: late,
            sequence,
            status,
            webhook_id,
            is_signed_well: true,
        };
        ledger.created(late, Method::Pix, Instant::now());
        ledger.hear(&notice(1, Status::Pending, "b"));
        ledger.change(late, |account| account.created = Instant::now().checked_sub(Duration::from_secs(60)));
        ledger.find(late, Some(Status::Pending), ReportedStatus::Is(Status::Pending));
        let verdict = |ledger: &Ledger| ledger.accounts.get(&late).map(Verdict::of);
        assert_eq!(verdict(&ledger), Some(Verdict::Unsettled));
        ledger.hear(&notice(2, Status::Paid, "c"));
        assert_eq!(verdict(&ledger), Some(Verdict::Unjudged), "the answer is older than the event");
        ledger.find(late, Some(Status::Paid), ReportedStatus::Is(Status::Paid));
        assert_eq!(verdict(&ledger), Some(Verdict::Complete));
    }

    #[test]
    fn what_was_refused_is_confirmed_when_it_comes_again() {
        let mut ledger = Ledger::new(100);
        let refused = Reception { is_confirmed: false, is_prompt: true };
        assert_eq!(hear(&mut ledger, 1, Status::Paid, "a"), refused);
        assert_eq!(ledger.unsettled(), 1);
        assert!(hear(&mut ledger, 1, Status::Paid, "a").is_confirmed);
        assert_eq!(ledger.unsettled(), 0);
        assert!(!hear(&mut ledger, 2, Status::Refund, "b").is_prompt, "it was held back");
    }
}
