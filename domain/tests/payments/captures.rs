//! Captures that are refused, and authorisations that come when nobody wants them any more.

use quita_domain::acquiring::RemovedBy;

use crate::payments::unknown_outcomes::{charge_answered, found};
use crate::*;

/// The answer to the first operation of a payment.
fn answered(payment: &Payment, answer: OperationAnswer) -> Command {
    operated(payment.operations[0].id, answer)
}

fn refused() -> OperationAnswer {
    OperationAnswer::Refused("over the limit".into())
}

fn approved(capture: bool) -> Payment {
    after(&opened_card(capture), charge_answered(ChargeAnswer::known(authorised())), 10)
}

/// A card that is held, and whose capture the acquirer refused.
fn not_captured() -> Payment {
    let capturing = after(&approved(false), requested(RequestedOperation::Capture(None), None, 1), 1_000);
    after(&capturing, answered(&capturing, refused()), 1_100)
}

#[test]
fn a_refused_capture_leaves_the_payment_approved_and_says_why() {
    let held = not_captured();
    assert_eq!(held.status(), Status::Approved, "the card's limit is still held");
    assert_eq!(held.state.status_reason.as_deref(), Some("capture_refused"));
    assert_eq!(held.history.len(), 1, "its status has not changed");
    assert_eq!(held.state.version, approved(false).state.version + 1, "but the record has");
}

#[test]
fn after_a_refused_capture_another_amount_can_be_captured_or_the_card_be_set_free() {
    let part = RequestedOperation::Capture(Some(Money::from_cents(6_000)));
    let again = after(&not_captured(), requested(part, None, 2), 2_000);
    let paid = after(&again, operated(operation_id(2), OperationAnswer::Done), 2_100);
    assert_eq!((paid.status(), paid.state.captured_amount), (Status::Paid, Some(Money::from_cents(6_000))));
    assert_eq!(paid.state.status_reason, None);
    let freed = after(&not_captured(), requested(RequestedOperation::Cancel, None, 2), 2_000);
    let freed = after(&freed, operated(operation_id(2), OperationAnswer::Done), 2_100);
    assert_eq!(freed.status(), Status::Cancelled);
}

#[test]
fn a_card_whose_capture_at_once_was_refused_is_approved_and_can_be_captured_by_the_merchant() {
    let capturing = approved(true);
    let by_merchant = |payment: &Payment, id| {
        payment.decide(requested(RequestedOperation::Capture(None), None, id), &at(2_000))
    };
    assert!(by_merchant(&capturing, 2).is_err(), "ours is on its way");
    let held = after(&capturing, answered(&capturing, refused()), 100);
    assert_eq!((held.status(), held.due_at().is_some()), (Status::Approved, true), "the books are compared");
    let again = by_merchant(&held, 2).unwrap().next.unwrap();
    let paid = after(&again, operated(operation_id(2), OperationAnswer::Done), 2_100);
    assert_eq!(paid.status(), Status::Paid);
    assert!(by_merchant(&paid, 3).unwrap_err().to_string().contains("paid"));
}

/// A card payment that was given up in this way.
fn given_up(fact: Fact) -> Payment {
    after(&opened_card(false), charge_answered(ChargeAnswer::known(fact)), 10)
}

#[test]
fn an_authorisation_of_a_payment_that_was_given_up_is_reported_and_set_free() {
    let declined = given_up(Fact::Declined(Decline::of("interrupted")));
    let cancelled = given_up(Fact::Expired);
    let answer = found(ChargeAnswer::known(authorised()));
    let late = DiscrepancyKind::LateAuthorization;
    let undone = DiscrepancyKind::PaidAfterDecline;
    for (payment, command, kind) in [
        (&declined, notice(authorised()), undone),
        (&cancelled, notice(authorised()), late),
        (&declined, answer, undone),
    ] {
        let decision = payment.decide(command, &at(60_000)).unwrap();
        assert_eq!(decision.discrepancies[0].kind, kind);
        let voiding = decision.next.unwrap();
        let void = voiding.operations[0].clone();
        assert!(decision.effects.contains(&Effect::Operate(AcquirerName::new("first"), void.id)));
        assert_eq!(
            (voiding.status(), &voiding.history),
            (payment.status(), &payment.history),
            "it stays over"
        );
        let again = voiding.decide(notice(authorised()), &at(61_000)).unwrap();
        assert!(again.next.is_none(), "it is set free once");
        assert_eq!(again.discrepancies[0].about, decision.discrepancies[0].about, "and reported once");
        let told = after(&voiding, notice(Fact::Cancelled), 61_000);
        for voided in [&voiding, &told] {
            let done = voided.decide(operated(void.id, OperationAnswer::Done), &at(62_000)).unwrap();
            assert_eq!(done.discrepancies, []);
            assert_eq!(done.next.unwrap().operations[0].state(), OperationState::Done);
        }
    }
}

#[test]
fn a_late_charge_that_is_voided_at_the_acquirer_before_it_is_seen_is_nothing_to_report() {
    let payment = given_up(Fact::Declined(Decline::of("interrupted")));
    for by in [RemovedBy::Receiver, RemovedBy::Acquirer] {
        let decision = payment.decide(notice(Fact::Removed { by }), &at(60_000)).unwrap();
        assert_eq!(decision.discrepancies, [], "nothing is held, here and there");
        let status = decision.next.as_ref().unwrap_or(&payment).status();
        assert_eq!(status, Status::Declined);
    }
}

#[test]
fn an_operator_is_told_if_what_came_too_late_is_not_voided() {
    for payment in [given_up(Fact::Declined(Decline::of("interrupted"))), given_up(Fact::Expired)] {
        let voiding = after(&payment, notice(authorised()), 60_000);
        let void = voiding.operations[0].id;
        let answer = OperationAnswer::Refused("101: Transaction not completed".into());
        let decision = voiding.decide(operated(void, answer), &at(61_000)).unwrap();
        let [told] = &decision.discrepancies[..] else { panic!("{:?}", decision.discrepancies) };
        assert_eq!((told.kind, told.stated), (DiscrepancyKind::LateAuthorization, "not voided"));
        assert!(told.detail.contains("101: Transaction not completed"), "{}", told.detail);
        let left = decision.next.unwrap();
        assert_eq!((left.status(), &left.history), (payment.status(), &payment.history));
    }
    // A person who ends such a void knows.
    let voiding = after(&given_up(Fact::Expired), notice(authorised()), 60_000);
    let operation = voiding.operations[0].id;
    let odd = OperationAnswer::Contradicted("half of it is voided".into());
    let stuck = reported(after(&voiding, operated(operation, odd), 61_000), 61_100);
    let ended = Command::OperationResolved { operation, verdict: quita_domain::operation::Verdict::Refused };
    assert_eq!(stuck.decide(ended, &at(48 * 3_600_000)).unwrap().discrepancies, []);
    // A void that its merchant asked for is refused to its merchant.
    let asked = after(&approved(false), requested(RequestedOperation::Cancel, None, 1), 1_000);
    let refused = OperationAnswer::Refused("101".into());
    let decision = asked.decide(operated(asked.operations[0].id, refused), &at(2_000)).unwrap();
    assert_eq!(decision.discrepancies, []);
}

#[test]
fn an_authorisation_that_is_reported_again_after_the_payment_went_on_changes_nothing() {
    let voided = after(&approved(false), notice(Fact::Cancelled), 1_000);
    let withdrawn = after(&approved(false), notice(Fact::Declined(Decline::of("withdrawn"))), 1_000);
    let paid = after(&approved(true), notice(settled("s1", 10_000)), 1_000);
    for payment in [voided, withdrawn, paid, not_captured()] {
        let decision = payment.decide(notice(authorised()), &at(2_000)).unwrap();
        assert!(decision.next.is_none() && decision.discrepancies.is_empty(), "{}", payment.status());
    }
}

#[test]
fn nothing_is_voided_where_another_amount_came_in() {
    let odd = given_up(settled("s1", 9_999));
    assert_eq!(odd.status(), Status::Cancelled);
    let decision = odd.decide(notice(authorised()), &at(2_000)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::LateAuthorization);
    assert!(decision.next.is_none(), "an operator settles that money");
}
