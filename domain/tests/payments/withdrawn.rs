//! Charges that somebody withdrew at the acquirer: the receiver at its desk, the acquirer itself, or we.

use quita_domain::acquiring::RemovedBy;

use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

const ID: OperationId = operation_id(1);

const fn removed(by: RemovedBy) -> Fact {
    Fact::Removed { by }
}

fn reason(payment: &Payment) -> (Status, Option<&str>, &Cause) {
    let event = payment.history.last().unwrap();
    (payment.status(), payment.state.status_reason.as_deref(), &event.actor)
}

#[test]
fn a_charge_that_others_withdrew_is_cancelled_and_says_who_did() {
    let told = [(RemovedBy::Receiver, "removed_at_bank"), (RemovedBy::Acquirer, "removed_by_psp")];
    for (by, why) in told {
        let opened = open(pix_order()).next.unwrap();
        for (payment, command) in [
            (pending(), notice(removed(by))),
            (pending(), found(ChargeAnswer::known(removed(by)))),
            (opened.clone(), charge_answered(ChargeAnswer::known(removed(by)))),
            (after(&opened, charge_answered(unknown()), 100), found(ChargeAnswer::known(removed(by)))),
        ] {
            let decision = payment.decide(command, &at(5_000)).unwrap();
            assert_eq!(decision.discrepancies, []);
            let cancelled = decision.next.unwrap();
            assert_eq!(reason(&cancelled), (Status::Cancelled, Some(why), &Cause::Acquirer));
            assert!(!cancelled.state.attempts[0].call.is_open());
            let again = cancelled.decide(notice(removed(by)), &at(6_000)).unwrap();
            assert!(again.next.is_none() && again.discrepancies.is_empty(), "{again:?}");
        }
    }
}

#[test]
fn a_charge_that_we_had_withdrawn_is_cancelled_as_we_asked() {
    let asked = after(&pending(), requested(RequestedOperation::Cancel, None, 1), 3_000);
    let unclear =
        after(&asked, operated(ID, OperationAnswer::Failed(CallFailure::Unknown("?".into()))), 3_100);
    for payment in [asked, unclear] {
        let cancelled = after(&payment, notice(removed(RemovedBy::Receiver)), 4_000);
        assert_eq!(reason(&cancelled), (Status::Cancelled, None, &Cause::Merchant));
        let done = cancelled.decide(operated(ID, OperationAnswer::Done), &at(5_000)).unwrap();
        assert_eq!(done.discrepancies, []);
        assert_eq!(done.next.unwrap().history.len(), 2);
    }
}

#[test]
fn a_cancellation_that_never_left_withdrew_nothing() {
    let asked = after(&pending(), requested(RequestedOperation::Cancel, None, 1), 3_000);
    let withheld = after(&asked, operated(ID, OperationAnswer::Failed(CallFailure::Withheld)), 3_100);
    let cancelled = after(&withheld, notice(removed(RemovedBy::Receiver)), 4_000);
    assert_eq!(reason(&cancelled), (Status::Cancelled, Some("removed_at_bank"), &Cause::Acquirer));
}

#[test]
fn an_approved_card_that_was_voided_at_the_desk_is_cancelled() {
    let approved = after(&opened_card(false), charge_answered(ChargeAnswer::known(authorised())), 1_000);
    let voided = after(&approved, notice(removed(RemovedBy::Receiver)), 4_000);
    assert_eq!(reason(&voided), (Status::Cancelled, Some("removed_at_bank"), &Cause::Acquirer));
    assert_eq!(voided.due_at(), None, "no money can come of it");
}

#[test]
fn that_it_was_authorised_may_be_told_after_it_was_voided_at_the_desk() {
    let unclear = after(&opened_card(false), charge_answered(unknown()), 100);
    let voided = after(&unclear, found(ChargeAnswer::known(removed(RemovedBy::Receiver))), 4_000);
    assert_eq!(voided.status(), Status::Cancelled);
    let late = voided.decide(notice(authorised()), &at(5_000)).unwrap();
    assert!(late.next.is_none() && late.discrepancies.is_empty(), "{late:?}");
}

#[test]
fn what_was_paid_can_not_have_been_withdrawn() {
    assert_eq!(discrepancy(&paid(), notice(removed(RemovedBy::Receiver))), DiscrepancyKind::Contradiction);
}
