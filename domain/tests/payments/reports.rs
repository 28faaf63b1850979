//! Reports to operators: each is stored with what it is about, and stays until it is passed on.

use quita_domain::payment::{MAX_REPORTS, REPORT_LEASE_MS};

use crate::payments::unknown_outcomes::found;
use crate::*;

/// A payment of which a part was given back at the acquirer's desk.
fn refunded_at_the_desk() -> Payment {
    let desk = Fact::Refunded { refund_id: "desk".into(), amount: Some(Money::from_cents(500)) };
    after(&paid(), notice(desk), 3_000)
}

/// The payer gets the money twice.
fn taken_back(payment: &Payment, ms: u64) -> Decision {
    payment.decide(notice(charged_back("c1")), &at(ms)).unwrap()
}

#[test]
fn what_an_operator_has_to_see_is_stored_with_the_change_that_it_is_about() {
    let decision = taken_back(&refunded_at_the_desk(), 4_000);
    let next = decision.next.unwrap();
    assert_eq!(next.status(), Status::Chargeback);
    assert_eq!(next.reports.len(), 1);
    assert!(decision.effects.contains(&Effect::Report) && decision.unstored.is_empty());
    let exception = next.reports[0].exception(next.id);
    assert_eq!(exception.id, format!("{}:refunded_and_charged_back:desk c1", next.id));
    assert_eq!(exception.detail, decision.discrepancies[0].detail);
    assert_eq!((exception.reported_at, exception.acquirer.as_ref()), (START.plus_ms(4_000), next.acquirer()));
}

#[test]
fn it_is_the_same_exception_whoever_brings_it_on_and_whenever() {
    let next = taken_back(&refunded_at_the_desk(), 4_000).next.unwrap();
    let first = next.reports[0].exception(next.id);
    let stored: Payment = serde_json::from_str(&serde_json::to_string(&next).unwrap()).unwrap();
    assert_eq!(stored, next);
    let woken = stored.decide(Command::Wake, &at(4_000 + REPORT_LEASE_MS)).unwrap().next.unwrap();
    assert_eq!(woken.reports[0].exception(woken.id), first);
    // The reply to the write was lost, and the command comes again.
    let again = taken_back(&next, 5_000);
    assert!(again.next.is_none(), "it waits already");
    let again =
        reported(next, 5_000).decide(found(ChargeAnswer::known(charged_back("c1"))), &at(6_000)).unwrap();
    for report in again.next.iter().flat_map(|next| &next.reports) {
        assert_eq!(report.exception(woken.id).id, first.id);
    }
}

#[test]
fn what_is_not_brought_on_is_due_again_when_its_lease_is_over() {
    let next = taken_back(&refunded_at_the_desk(), 4_000).next.unwrap();
    assert_eq!(next.due_at(), Some(START.plus_ms(4_000 + REPORT_LEASE_MS)));
    let early = next.decide(Command::Wake, &at(4_000 + REPORT_LEASE_MS - 1)).unwrap();
    assert!(!early.effects.contains(&Effect::Report), "it is on its way");
    let woken = next.decide(Command::Wake, &at(4_000 + REPORT_LEASE_MS)).unwrap();
    assert!(woken.effects.contains(&Effect::Report));
    let woken = woken.next.unwrap();
    assert_eq!(woken.due_at(), Some(START.plus_ms(4_000 + 2 * REPORT_LEASE_MS)), "a lease of its own");
    assert_eq!(woken.state, next.state, "nothing that a merchant sees");
}

#[test]
fn a_clock_that_went_ahead_and_back_delays_no_report() {
    let ahead = 365 * 24 * 3_600_000;
    let next = taken_back(&refunded_at_the_desk(), ahead).next.unwrap();
    let back = next.decide(Command::Wake, &at(5_000)).unwrap().next.unwrap();
    assert!(back.due_at() <= Some(START.plus_ms(5_000 + REPORT_LEASE_MS)));
}

#[test]
fn what_is_stored_as_an_exception_leaves_the_payment_and_nothing_else_does() {
    let next = taken_back(&refunded_at_the_desk(), 4_000).next.unwrap();
    let keys = vec![next.reports[0].key()];
    let other = next.decide(Command::Reported(vec!["paid_twice:s2".into()]), &at(4_100)).unwrap();
    assert!(other.next.is_none() && other.effects.is_empty());
    let told = next.decide(Command::Reported(keys.clone()), &at(4_100)).unwrap().next.unwrap();
    assert!(told.reports.is_empty());
    assert_eq!((&told.state, told.due_at()), (&next.state, None));
    assert!(told.decide(Command::Reported(keys), &at(4_200)).unwrap().next.is_none());
    assert!(!serde_json::to_string(&told).unwrap().contains("reports"), "the document has not grown");
}

#[test]
fn an_answer_that_changes_nothing_is_stored_for_an_operator_once_while_it_waits() {
    let contradicts = || found(ChargeAnswer::known(Fact::Cancelled));
    let decision = paid().decide(contradicts(), &at(9_000)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::Contradiction);
    let next = decision.next.unwrap();
    assert_eq!((&next.state, next.reports.len()), (&paid().state, 1));
    let again = next.decide(contradicts(), &at(9_100)).unwrap();
    assert!(again.next.is_none() && again.unstored.is_empty(), "it waits already");
}

#[test]
fn a_notice_that_changes_nothing_is_left_to_its_inbox() {
    for (payment, fact) in [
        (pending(), charged_back("c1")),
        (paid(), Fact::Cancelled),
        (paid(), settled("s2", 10_000)),
        (pending(), settled("s1", 9_999)),
    ] {
        let decision = payment.decide(notice(fact.clone()), &at(9_000)).unwrap();
        assert_eq!(decision.unstored, decision.discrepancies, "{fact:?}");
        assert!(!decision.effects.contains(&Effect::Report), "{fact:?}");
        assert!(decision.next.is_none_or(|next| next.reports.is_empty()), "{fact:?}");
    }
}

#[test]
fn a_payment_holds_a_bounded_number_of_reports_and_says_what_it_has_no_room_for() {
    let mut payment = paid();
    for number in 0..MAX_REPORTS {
        let answer = found(ChargeAnswer::known(settled(&format!("s-{number}"), 10_000)));
        payment = payment.decide(answer, &at(9_000)).unwrap().next.unwrap();
    }
    assert_eq!(payment.reports.len(), MAX_REPORTS);
    let one_more = payment.decide(found(ChargeAnswer::known(settled("more", 10_000))), &at(9_000)).unwrap();
    assert_eq!((one_more.next, one_more.unstored.len()), (None, 1));
}

#[test]
fn kinds_are_stored_as_operators_read_them() {
    for kind in DiscrepancyKind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
}
