//! Notices in any order and any number: what comes of them in the end is the same.

use std::collections::VecDeque;

use proptest::prelude::*;

use crate::*;

fn desk_refund(id: &str, cents: u64) -> Fact {
    Fact::Refunded { refund_id: id.into(), amount: Some(Money::from_cents(cents)) }
}

/// What may become of a payment at its acquirer, in the order in which it happens there.
fn histories() -> Vec<Vec<Fact>> {
    let paid = || settled("s1", 10_000);
    vec![
        vec![paid()],
        vec![paid(), desk_refund("r1", 3_000), desk_refund("r2", 2_000)],
        vec![paid(), desk_refund("r1", 3_000), desk_refund("r2", 7_000)],
        vec![paid(), charged_back("c1")],
        vec![paid(), charged_back("c1"), dispute_won("w1")],
        vec![paid(), charged_back("c1"), dispute_won("w1"), desk_refund("r1", 500)],
    ]
}

/// Brings notices to a payment as the inbox does: one that is too early is brought again after the others.
fn bring(payment: Payment, notices: Vec<Fact>) -> Payment {
    let (mut payment, mut waiting) = (payment, VecDeque::from(notices));
    let mut patience = 10 * waiting.len();
    while let Some(fact) = waiting.pop_front() {
        let decision = payment.decide(notice(fact.clone()), &at(5_000)).unwrap();
        match decision.discrepancies.first().map(|discrepancy| discrepancy.kind) {
            Some(DiscrepancyKind::TooEarly) => waiting.push_back(fact),
            Some(kind) => panic!("{fact:?} is an exception: {kind:?}"),
            None => {}
        }
        payment = decision.next.unwrap_or(payment);
        assert!(patience > 0, "a notice stays too early: {waiting:?}");
        patience -= 1;
    }
    payment
}

/// What the merchant was told, and what is left of the money. A refund may be reported before or after a dispute.
fn outcome(payment: &Payment) -> (Vec<Status>, usize, Option<Money>, Money) {
    let (refunds, changes): (Vec<_>, Vec<_>) =
        payment.history.iter().partition(|event| event.refund.is_some());
    let changes = changes.into_iter().map(|event| event.status).collect();
    (changes, refunds.len(), payment.state.captured_amount, payment.state.refunded_amount())
}

fn shuffled() -> impl Strategy<Value = (Vec<Fact>, Vec<Fact>)> {
    let some = proptest::sample::select(histories());
    some.prop_flat_map(|history| {
        let repeats = proptest::collection::vec(1_usize..=3, history.len());
        (Just(history), repeats).prop_flat_map(|(history, repeats)| {
            let copies = history.iter().zip(repeats).flat_map(|(fact, times)| vec![fact.clone(); times]);
            let copies: Vec<_> = copies.collect();
            (Just(history), Just(copies).prop_shuffle())
        })
    })
}

proptest! {
    #[test]
    fn notices_in_any_order_and_number_lead_to_the_same_events((history, notices) in shuffled()) {
        let expected = bring(pending(), history);
        let found = bring(pending(), notices);
        prop_assert_eq!(outcome(&found), outcome(&expected));
    }
}
