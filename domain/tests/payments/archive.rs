//! Payments of which nothing more is expected.

use quita_domain::payment::{Chargeback, Check};

use super::deliveries::answered;
use crate::*;

const YEAR_MS: u64 = 365 * 24 * 3_600_000;

/// A paid payment whose events are all delivered.
fn rested() -> Payment {
    let mut payment = paid();
    while let Some(place) = payment.outbox.iter().position(|one| one.state == DeliveryState::Pending) {
        let delivery = DeliveryIndex::at(place);
        let attempt = answered(200, 2_500);
        payment = after(&payment, Command::DeliveryAnswered { delivery, attempt }, 2_500);
    }
    payment
}

/// The end of a year in which nothing happened.
fn in_a_year() -> Timestamp {
    START.plus_ms(YEAR_MS)
}

#[test]
fn a_payment_is_archivable_once_it_has_rested() {
    let payment = rested();
    assert!(payment.is_archivable(in_a_year()));
    assert!(!payment.is_archivable(payment.created_at), "it was paid later");
    assert!(!payment.is_archivable(payment.state.updated_at.minus_ms(1)));
    let mut late = payment.clone();
    Arc::make_mut(&mut late.state).updated_at = in_a_year().plus_ms(1);
    assert!(!late.is_archivable(in_a_year()), "it changed since");
    let mut told_again = payment.clone();
    told_again.outbox[0].attempts.last_mut().unwrap().at = in_a_year().plus_ms(1);
    assert!(!told_again.is_archivable(in_a_year()), "an event was told since");
    let erased = Payment { erased_at: Some(in_a_year()), ..payment };
    assert!(erased.is_archivable(in_a_year()), "whoever paid it");
}

#[test]
fn whatever_is_still_expected_keeps_a_payment_where_it_is() {
    let check = Check { at: in_a_year(), made: 0, withheld: false, planned: None, asked: 0 };
    let open = Chargeback { id: "c".into(), amount: None, learnt_at: None, won: None };
    let looked_at = Payment { check: Some(check), ..rested() };
    let hinted = Payment { hinted: true, ..rested() };
    let disputed = Payment { chargebacks: vec![open], ..rested() };
    let told = paid();
    assert!(told.outbox_at().is_some());
    let refund = after(&rested(), requested(refund(1_000), None, 9), 2_600);
    assert!(refund.due_at().is_some());
    for (what, payment) in [
        ("a look at it", looked_at),
        ("a hint", hinted),
        ("a dispute", disputed),
        ("an event that is not delivered", told),
        ("a refund", refund),
    ] {
        assert!(!payment.is_archivable(in_a_year().plus_ms(YEAR_MS)), "{what}");
    }
}

#[test]
fn only_what_is_over_is_archivable() {
    for status in Status::ALL {
        let mut payment = rested();
        Arc::make_mut(&mut payment.state).status = status;
        let is_over = match status {
            Status::Declined | Status::Refund | Status::Cancelled | Status::Expired | Status::Paid => true,
            Status::Initial | Status::Pending | Status::Approved | Status::Chargeback => false,
        };
        assert_eq!(payment.is_archivable(in_a_year()), is_over, "{status}");
    }
}
