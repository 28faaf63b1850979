//! Charges that an acquirer examines for fraud, which may take people and days.

use crate::payments::unknown_outcomes::{charge_answered, found};
use crate::*;

const HOUR_MS: u64 = 3_600_000;

fn under_review() -> ChargeAnswer {
    ChargeAnswer::UnderReview(Reference::none().with("id", "7"))
}

/// Asks as scheduled, with this answer each time, until this many milliseconds after the charge. Returns the time after
/// which operators first heard of it, and the payment.
fn asked_until(until_ms: u64, answer: &ChargeAnswer) -> (Option<u64>, Payment) {
    let opened = Payment { order: Arc::new(card_order(true)), ..open(pix_order()).next.unwrap() };
    let mut payment = after(&opened, charge_answered(answer.clone()), 500);
    let mut heard = None;
    loop {
        let due = payment.due_at().unwrap();
        let now_ms = due.ms_since(START);
        if now_ms > until_ms {
            return (heard, payment);
        }
        let woken = payment.decide(Command::Wake, &at(now_ms)).unwrap();
        let kinds: Vec<_> = woken.discrepancies.iter().map(|found| found.kind).collect();
        if kinds.contains(&DiscrepancyKind::UnknownOutcome) {
            heard = heard.or(Some(now_ms));
        }
        payment = after(&woken.next.unwrap(), found(answer.clone()), now_ms + 100);
    }
}

#[test]
fn operators_hear_of_a_review_after_two_days_and_of_any_other_delay_within_hours() {
    let (heard, payment) = asked_until(72 * HOUR_MS, &under_review());
    assert_eq!(payment.status(), Status::Initial);
    let heard = heard.expect("a review of three days");
    assert!((48 * HOUR_MS..60 * HOUR_MS).contains(&heard), "{heard}");
    let (heard, _) = asked_until(72 * HOUR_MS, &ChargeAnswer::Accepted(Reference::none()));
    assert!(heard.is_some_and(|heard| heard < 3 * HOUR_MS), "{heard:?}");
}

#[test]
fn a_review_ends_with_what_the_acquirer_decides() {
    let (_, reviewed) = asked_until(30 * HOUR_MS, &under_review());
    let now = 31 * HOUR_MS;
    let approved = after(&reviewed, found(ChargeAnswer::known(authorised())), now);
    assert_eq!(approved.status(), Status::Approved);
}
