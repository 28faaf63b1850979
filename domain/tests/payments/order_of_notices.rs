//! Notices in any order and any number: what comes of them in the end is the same.

use std::collections::VecDeque;

use proptest::prelude::*;

use crate::*;

fn desk_refund(id: &str, cents: u64) -> Fact {
    Fact::Refunded { refund_id: id.into(), amount: Some(Money::from_cents(cents)) }
}

/// Returns possible histories of a payment at its acquirer, in the order in which they happen there.
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

/// Returns histories with several chargebacks. The order in which they are reported decides how often the payment is
/// `paid` in between, and not what it becomes.
fn long_histories() -> Vec<Vec<Fact>> {
    let paid = || settled("s1", 10_000);
    let part = |id: &str| Fact::ChargedBack { id: id.into(), amount: Some(Money::from_cents(2_000)) };
    vec![
        vec![paid(), charged_back("c1"), charged_back("c2")],
        vec![paid(), charged_back("c1"), charged_back("c2"), dispute_won("w1")],
        vec![paid(), charged_back("c1"), dispute_won("w1"), charged_back("c2")],
        vec![paid(), charged_back("c1"), dispute_won("w1"), charged_back("c2"), dispute_won("w2")],
        vec![
            paid(),
            part("c1"),
            part("c2"),
            part("c3"),
            dispute_won_of("w3", "c3"),
            dispute_won_of("w1", "c1"),
        ],
        vec![paid(), part("c1"), part("c2"), dispute_won("w1"), dispute_won_of("w2", "c1"), part("c3")],
        vec![
            paid(),
            part("c1"),
            part("c2"),
            dispute_won("w1"),
            dispute_won("w2"),
            part("c3"),
            dispute_won_of("w3", "c3"),
            desk_refund("r1", 3_000),
            desk_refund("r2", 2_000),
        ],
        vec![
            paid(),
            desk_refund("r1", 4_000),
            desk_refund("r2", 6_000),
            part("c1"),
            part("c2"),
            dispute_won("w1"),
        ],
    ]
}

/// Brings notices to a payment as the inbox does: one that is too early is brought again after the others. A refund that
/// is told while a chargeback is open is worth a look, and is learnt.
fn bring(payment: Payment, notices: Vec<Fact>) -> Payment {
    let mut payment = payment;
    let mut waiting = VecDeque::from(notices);
    let mut patience = 10 * waiting.len();
    while let Some(fact) = waiting.pop_front() {
        let decision = payment.decide(notice(fact.clone()), &at(5_000)).unwrap();
        match decision.discrepancies.first().map(|discrepancy| discrepancy.kind) {
            Some(DiscrepancyKind::TooEarly) => waiting.push_back(fact),
            Some(DiscrepancyKind::RefundedAndChargedBack) => {}
            Some(kind) => panic!("{fact:?} is an exception: {kind:?}"),
            None => {}
        }
        payment = decision.next.unwrap_or(payment);
        assert!(patience > 0, "a notice stays too early: {waiting:?}");
        patience -= 1;
    }
    payment
}

/// Returns what the merchant was told, and what is left of the money.
/// A refund may be reported before or after a dispute, so refunds are only counted.
fn outcome(payment: &Payment) -> (Vec<Status>, usize, Option<Money>, Money) {
    let (refunds, changes): (Vec<_>, Vec<_>) =
        payment.history.iter().partition(|event| event.refund.is_some());
    let changes = changes.into_iter().map(|event| event.status).collect();
    (changes, refunds.len(), payment.state.captured_amount, payment.state.refunded_amount())
}

/// Returns what became of the payment in the end.
/// Open chargebacks are only counted: a won dispute that names none may close another one in another order.
/// So are the events that told how the refunds ended.
fn end(payment: &Payment) -> (Status, usize, Vec<Option<Money>>, usize, Money) {
    let mut amounts: Vec<_> = payment.chargebacks.iter().map(|one| one.amount).collect();
    amounts.sort_unstable();
    let told = |id: &str| {
        let of_refunds = payment.history.iter().filter_map(|event| event.refund.as_ref());
        of_refunds.filter(|ended| ended.refund_id == id).count()
    };
    assert!(payment.state.refunds.iter().all(|refund| told(&refund.id) <= 1));
    let ends = |event: &&Event| event.refund.is_some() || event.status == Status::Refund;
    let ends = payment.history.iter().filter(ends).count();
    let open = payment.open_chargebacks().count();
    (payment.status(), open, amounts, ends, payment.state.refunded_amount())
}

fn shuffled(histories: Vec<Vec<Fact>>) -> impl Strategy<Value = (Vec<Fact>, Vec<Fact>)> {
    let some = proptest::sample::select(histories);
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
    fn notices_in_any_order_and_number_lead_to_the_same_events((history, notices) in shuffled(histories())) {
        let expected = bring(pending(), history);
        let found = bring(pending(), notices);
        prop_assert_eq!(outcome(&found), outcome(&expected));
    }

    #[test]
    fn several_chargebacks_in_any_order_and_number_leave_the_same_payment(
        (history, notices) in shuffled(long_histories())
    ) {
        let expected = bring(pending(), history);
        let found = bring(pending(), notices);
        prop_assert_eq!(end(&found), end(&expected));
        let is_open = found.open_chargebacks().count() > 0 && found.status() != Status::Refund;
        prop_assert_eq!(found.status() == Status::Chargeback, is_open);
    }
}
