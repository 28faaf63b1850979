//! Verdict on one payment, once all events were received.

use std::fmt;

use quita_domain::status::Status;
use serde::Serialize;

use super::ledger::{Account, is_final};
use super::reply::Reply;

/// Final state of a payment, as reported by the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedStatus {
    /// The payment has this status.
    Is(Status),
    /// The payment does not exist.
    Nothing,
    /// The service did not answer, or refused: the state is unknown.
    Unanswered(Reply),
    /// The service was known to be away, and was not queried.
    NotAsked,
    /// The service no longer accepts the key, with this status.
    KeyRefused(u16),
    /// The service's answer is not part of the contract.
    Unusable(Reply),
}

/// State of the deliveries of a payment that is missing an event, as reported by the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReportedDeliveries {
    /// An event still has to be delivered: it is late.
    Pending,
    /// No further delivery is planned.
    Ended,
    /// The key may not query deliveries.
    Forbidden,
    /// The service did not answer, or refused: the state is unknown.
    Unanswered(Reply),
    /// The service was known to be away, and was not queried.
    NotAsked,
    /// The service no longer accepts the key.
    KeyRefused,
    /// The service's answer is not part of the contract.
    Unusable(Reply),
}

/// Verdict on one payment. The worst finding is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Verdict {
    /// Every event arrived once and in order, and the last one agrees with the service.
    Complete,
    /// Complete, but a confirmed event arrived again with the same id, which is allowed.
    RepeatedSameId,
    /// An event was not confirmed before the receiver was closed, but the service still has to deliver it.
    Late,
    /// The payment had not been paid yet, and the load tester waited no longer than its payer may take.
    StillOpen,
    /// An event did not arrive, or not again after the receiver had refused it.
    MissingEvent,
    /// One event arrived under two ids.
    RepeatedNewId,
    /// An event arrived out of order.
    OutOfOrder,
    /// The last event and the service contradict each other.
    WrongFinalStatus,
    /// A signature was missing or wrong.
    BadSignature,
    /// The payment was not paid in the time that others took, and no event contradicts that.
    Unsettled,
    /// The service confirmed the creation, but has no such payment.
    Lost,
    /// The service's answer about the final status is not part of the contract.
    Unread,
    /// The state is unknown: the service was not queried, or did not answer.
    Unjudged,
}

impl Verdict {
    /// Every verdict, in the order of the report.
    pub(super) const ALL: [Self; 13] = [
        Self::Complete,
        Self::RepeatedSameId,
        Self::Late,
        Self::StillOpen,
        Self::MissingEvent,
        Self::RepeatedNewId,
        Self::OutOfOrder,
        Self::WrongFinalStatus,
        Self::BadSignature,
        Self::Unsettled,
        Self::Lost,
        Self::Unread,
        Self::Unjudged,
    ];

    /// Judges one payment.
    pub(super) fn of(account: &Account) -> Self {
        let flaws = account.flaws;
        // The receiver itself observed these faults, so neither an answer of the service nor its absence excuses them.
        if flaws.bad_signature {
            return Self::BadSignature;
        }
        if flaws.new_id {
            return Self::RepeatedNewId;
        }
        if flaws.out_of_order {
            return Self::OutOfOrder;
        }
        let found = match account.found {
            Some(ReportedStatus::Is(status)) => status,
            Some(ReportedStatus::Nothing) => return Self::Lost,
            Some(ReportedStatus::Unusable(_)) => return Self::Unread,
            Some(
                ReportedStatus::Unanswered(_) | ReportedStatus::NotAsked | ReportedStatus::KeyRefused(_),
            )
            | None => return Self::Unjudged,
        };
        let told = account.told();
        // A status beyond the last one received means that an event did not arrive, even if no number is missing.
        if !account.is_whole() || (told != found && leads_to(told, found)) {
            Self::of_missing(account.deliveries)
        } else if is_overtaken(account) {
            Self::Unjudged
        } else if told != found {
            Self::WrongFinalStatus
        } else if account.lacks_confirmation() {
            // Without a confirmation, the merchant does not have the event.
            Self::of_missing(account.deliveries)
        } else if !is_final(found) {
            if account.is_overdue { Self::Unsettled } else { Self::StillOpen }
        } else if flaws.repeated {
            Self::RepeatedSameId
        } else {
            Self::Complete
        }
    }

    /// Judges a payment that is missing an event by its deliveries.
    const fn of_missing(deliveries: Option<ReportedDeliveries>) -> Self {
        match deliveries {
            Some(ReportedDeliveries::Pending) => Self::Late,
            Some(ReportedDeliveries::Unusable(_)) => Self::Unread,
            Some(
                ReportedDeliveries::Unanswered(_)
                | ReportedDeliveries::NotAsked
                | ReportedDeliveries::Forbidden
                | ReportedDeliveries::KeyRefused,
            ) => Self::Unjudged,
            Some(ReportedDeliveries::Ended) | None => Self::MissingEvent,
        }
    }

    /// Returns true if the service broke a promise.
    pub(super) const fn is_violation(self) -> bool {
        !matches!(self, Self::Complete | Self::RepeatedSameId | Self::Late | Self::StillOpen | Self::Unjudged)
    }

    /// Returns true if more time may change the verdict.
    pub(super) const fn may_change(self) -> bool {
        matches!(
            self,
            Self::StillOpen
                | Self::MissingEvent
                | Self::WrongFinalStatus
                | Self::Unsettled
                | Self::Lost
                | Self::Unread
                | Self::Unjudged
        )
    }

    /// Returns the name in the report.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::RepeatedSameId => "repeated with the same id",
            Self::Late => "late event",
            Self::StillOpen => "still open",
            Self::MissingEvent => "missing event",
            Self::RepeatedNewId => "repeated under a new id",
            Self::OutOfOrder => "out of order",
            Self::WrongFinalStatus => "wrong final status",
            Self::BadSignature => "bad signature",
            Self::Unsettled => "not settled in time",
            Self::Lost => "lost",
            Self::Unread => "could not be read",
            Self::Unjudged => "not judged",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ReportedStatus {
    /// Returns the result of a query that had this reply and no usable body.
    pub(super) const fn without_record(reply: Reply) -> Self {
        match reply {
            Reply::Status(404) => Self::Nothing,
            Reply::Status(status @ (401 | 403)) => Self::KeyRefused(status),
            reply if reply.says_nothing() => Self::Unanswered(reply),
            Reply::Status(_) | Reply::Missing(_) => Self::Unusable(reply),
        }
    }
}

impl fmt::Display for ReportedStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(status) => f.write_str(status.as_str()),
            Self::Nothing => f.write_str("no such payment"),
            Self::Unanswered(reply) => write!(f, "nothing ({reply})"),
            Self::NotAsked => f.write_str("nothing (not asked)"),
            Self::KeyRefused(status) => write!(f, "that the key is no longer accepted ({status})"),
            Self::Unusable(reply) => write!(f, "an answer outside the contract ({reply})"),
        }
    }
}

impl ReportedDeliveries {
    /// Returns the result of a query that had this reply and no usable body.
    pub(super) const fn without_page(reply: Reply) -> Self {
        match reply {
            Reply::Status(401) => Self::KeyRefused,
            Reply::Status(403) => Self::Forbidden,
            reply if reply.says_nothing() => Self::Unanswered(reply),
            Reply::Status(_) | Reply::Missing(_) => Self::Unusable(reply),
        }
    }
}

/// Returns true if the last event arrived after the answer about the status, so that the answer proves nothing.
pub(super) fn is_overtaken(account: &Account) -> bool {
    let Some(ReportedStatus::Is(found)) = account.found else { return false };
    let before = account.status_before.unwrap_or(Status::Initial);
    let told = account.told();
    (before == found || leads_to(before, found)) && leads_to(found, told) && before != told
}

/// Returns true if a payment ended as declined, according to the service's answer or its last event.
pub(super) fn is_declined(account: &Account) -> bool {
    account.found == Some(ReportedStatus::Is(Status::Declined)) || account.told() == Status::Declined
}

/// Returns true if a payment can get from one status to the other, directly or through others.
fn leads_to(from: Status, to: Status) -> bool {
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(status) = reached.get(next).copied() {
        for further in status.may_become() {
            if !reached.contains(further) {
                reached.push(*further);
            }
        }
        next += 1;
    }
    from != to && reached.contains(&to)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use uuid::Uuid;

    use super::super::ledger::{Ledger, Notice};
    use super::super::plan::Method;
    use super::super::reply::NoAnswer;
    use super::*;

    const PENDING: (u32, Status, &str) = (1, Status::Pending, "a");
    const PAID: (u32, Status, &str) = (2, Status::Paid, "b");

    const NOBODY: ReportedStatus = ReportedStatus::Unanswered(Reply::Missing(NoAnswer::ConnectionRefused));

    fn verdict(events: &[(u32, Status, &str)], found: ReportedStatus) -> Verdict {
        let mut ledger = Ledger::new(0);
        let transaction = Uuid::nil();
        ledger.created(transaction, Method::Pix, Instant::now());
        for &(sequence, status, webhook_id) in events {
            ledger.hear(&Notice { transaction, sequence, status, webhook_id, is_signed_well: true });
        }
        let status_before = ledger.last_status(transaction);
        ledger.find(transaction, status_before, found);
        let verdict = ledger.accounts().map(|(_, account)| Verdict::of(account)).next();
        verdict.unwrap()
    }

    #[test]
    fn each_fault_has_its_verdict() {
        let paid = ReportedStatus::Is(Status::Paid);
        let pending = ReportedStatus::Is(Status::Pending);
        for (events, found, expected) in [
            (&[PENDING, PAID][..], paid, Verdict::Complete),
            (&[PENDING, PENDING, PAID, PAID], paid, Verdict::RepeatedSameId),
            (&[PENDING], paid, Verdict::MissingEvent),
            (&[PAID], paid, Verdict::MissingEvent),
            (&[], paid, Verdict::MissingEvent),
            (&[], pending, Verdict::MissingEvent),
            (&[PENDING, PAID, (2, Status::Paid, "c")], paid, Verdict::RepeatedNewId),
            (&[PENDING, PAID, (3, Status::Paid, "c")], paid, Verdict::RepeatedNewId),
            (&[PAID, PENDING], paid, Verdict::OutOfOrder),
            (&[PENDING, PAID], pending, Verdict::WrongFinalStatus),
            (&[PENDING, PAID], ReportedStatus::Is(Status::Declined), Verdict::WrongFinalStatus),
            (&[PENDING], pending, Verdict::StillOpen),
            (&[PENDING, PAID], ReportedStatus::Nothing, Verdict::Lost),
            (&[PENDING, PAID], ReportedStatus::Unusable(Reply::Status(500)), Verdict::Unread),
            (&[PENDING, PAID], NOBODY, Verdict::Unjudged),
            (&[PENDING], NOBODY, Verdict::Unjudged),
            (&[PENDING, PAID], ReportedStatus::NotAsked, Verdict::Unjudged),
            (&[PAID, PENDING], NOBODY, Verdict::OutOfOrder),
            (&[PENDING, PAID, (2, Status::Paid, "c")], NOBODY, Verdict::RepeatedNewId),
        ] {
            assert_eq!(verdict(events, found), expected, "{events:?} {found:?}");
        }
    }

    #[test]
    fn a_missing_event_is_late_while_it_is_to_be_delivered() {
        for (deliveries, expected) in [
            (ReportedDeliveries::Pending, Verdict::Late),
            (ReportedDeliveries::Ended, Verdict::MissingEvent),
            (ReportedDeliveries::Forbidden, Verdict::Unjudged),
            (ReportedDeliveries::Unusable(Reply::Status(500)), Verdict::Unread),
            (ReportedDeliveries::Unanswered(Reply::Status(503)), Verdict::Unjudged),
            (ReportedDeliveries::NotAsked, Verdict::Unjudged),
        ] {
            let mut ledger = Ledger::new(0);
            let transaction = Uuid::nil();
            let (sequence, status, webhook_id) = PENDING;
            let notice = Notice { transaction, sequence, status, webhook_id, is_signed_well: true };
            ledger.hear(&notice);
            ledger.find(transaction, Some(Status::Pending), ReportedStatus::Is(Status::Paid));
            ledger.find_deliveries(transaction, deliveries);
            assert!(ledger.accounts().all(|(_, account)| Verdict::of(account) == expected), "{deliveries:?}");
            let (sequence, status, webhook_id) = PAID;
            ledger.hear(&Notice { transaction, sequence, status, webhook_id, is_signed_well: true });
            let is_complete = |account| Verdict::of(account) == Verdict::Complete;
            assert!(ledger.accounts().all(|(_, account)| is_complete(account)), "it came at last");
        }
    }

    #[test]
    fn an_event_that_was_only_refused_is_missing_unless_it_is_to_be_delivered_again() {
        let hear = |ledger: &mut Ledger, (sequence, status, webhook_id): (u32, Status, &str)| {
            let transaction = Uuid::nil();
            ledger.hear(&Notice { transaction, sequence, status, webhook_id, is_signed_well: true });
        };
        let judge = |ledger: &Ledger| ledger.accounts().map(|(_, account)| Verdict::of(account)).next();
        for (deliveries, expected) in [
            (None, Verdict::MissingEvent),
            (Some(ReportedDeliveries::Pending), Verdict::Late),
            (Some(ReportedDeliveries::Ended), Verdict::MissingEvent),
            (Some(ReportedDeliveries::Forbidden), Verdict::Unjudged),
            (Some(ReportedDeliveries::Unusable(Reply::Status(500))), Verdict::Unread),
        ] {
            let mut ledger = Ledger::new(100);
            [PENDING, PENDING, PAID].into_iter().for_each(|event| hear(&mut ledger, event));
            ledger.find(Uuid::nil(), Some(Status::Paid), ReportedStatus::Is(Status::Paid));
            deliveries.into_iter().for_each(|found| ledger.find_deliveries(Uuid::nil(), found));
            assert_eq!(judge(&ledger), Some(expected), "{deliveries:?}");
            ledger.find(Uuid::nil(), Some(Status::Paid), ReportedStatus::Is(Status::Declined));
            assert_eq!(judge(&ledger), Some(Verdict::WrongFinalStatus), "the worst finding");
            ledger.find(Uuid::nil(), Some(Status::Paid), ReportedStatus::Is(Status::Paid));
            hear(&mut ledger, PAID);
            assert_eq!(judge(&ledger), Some(Verdict::Complete), "it came at last");
        }
    }

    #[test]
    fn only_an_answer_can_accuse() {
        let missing = [
            NoAnswer::ConnectionRefused,
            NoAnswer::ConnectionClosed,
            NoAnswer::TimeOut,
            NoAnswer::ConnectionTimeOut,
            NoAnswer::NoSocket,
            NoAnswer::BadGateway,
            NoAnswer::ProxyUnavailable,
            NoAnswer::GatewayTimeOut,
            NoAnswer::ProxyNotFound,
            NoAnswer::ProxyLimit,
            NoAnswer::Other,
        ];
        let refused = [Reply::Status(429), Reply::Status(503)];
        for reply in missing.map(Reply::Missing).into_iter().chain(refused) {
            assert_eq!(ReportedStatus::without_record(reply), ReportedStatus::Unanswered(reply));
            assert_eq!(ReportedDeliveries::without_page(reply), ReportedDeliveries::Unanswered(reply));
        }
        assert_eq!(ReportedStatus::without_record(Reply::Status(404)), ReportedStatus::Nothing);
        assert_eq!(ReportedDeliveries::without_page(Reply::Status(403)), ReportedDeliveries::Forbidden);
        assert_eq!(ReportedDeliveries::without_page(Reply::Status(401)), ReportedDeliveries::KeyRefused);
        for status in [401, 403] {
            let refused = ReportedStatus::without_record(Reply::Status(status));
            assert_eq!(refused, ReportedStatus::KeyRefused(status));
            assert_eq!(verdict(&[PENDING, PAID], refused), Verdict::Unjudged);
        }
        for reply in [Reply::Status(500), Reply::Missing(NoAnswer::Unreadable)] {
            assert_eq!(ReportedStatus::without_record(reply), ReportedStatus::Unusable(reply));
            assert_eq!(ReportedDeliveries::without_page(reply), ReportedDeliveries::Unusable(reply));
        }
    }

    #[test]
    fn a_payment_that_nobody_asked_about_is_not_judged() {
        let mut ledger = Ledger::new(0);
        ledger.created(Uuid::nil(), Method::Pix, Instant::now());
        assert!(ledger.accounts().all(|(_, account)| Verdict::of(account) == Verdict::Unjudged));
    }

    #[test]
    fn an_answer_from_before_the_last_event_accuses_nobody() {
        let mut ledger = Ledger::new(0);
        let transaction = Uuid::nil();
        for (sequence, status, webhook_id) in [PENDING, PAID] {
            ledger.hear(&Notice { transaction, sequence, status, webhook_id, is_signed_well: true });
        }
        ledger.find(transaction, Some(Status::Pending), ReportedStatus::Is(Status::Pending));
        let verdicts: Vec<_> = ledger.accounts().map(|(_, account)| Verdict::of(account)).collect();
        assert_eq!(verdicts, [Verdict::Unjudged]);
        assert!(Verdict::Unjudged.may_change(), "so it is asked again");
        assert!(!Verdict::Unjudged.is_violation() && Verdict::Unsettled.is_violation());
    }

    #[test]
    fn a_bad_signature_is_status_before_anything_else() {
        let mut ledger = Ledger::new(0);
        let transaction = Uuid::nil();
        let status = Status::Paid;
        let notice = Notice { transaction, sequence: 1, status, webhook_id: "a", is_signed_well: false };
        ledger.hear(&notice);
        assert!(ledger.accounts().all(|(_, account)| Verdict::of(account) == Verdict::BadSignature));
    }
}
