//! Chargebacks, one or several, in whole or in part, and disputes that were won.

use quita_domain::payment::DisputeStatus;

use crate::*;

fn partial(id: &str, cents: u64) -> Fact {
    Fact::ChargedBack { id: id.into(), amount: Some(Money::from_cents(cents)) }
}

/// The paid payment after these notices, none of which may be odd.
fn told(facts: impl IntoIterator<Item = Fact>) -> Payment {
    facts.into_iter().fold(paid(), |payment, fact| {
        let decision = payment.decide(notice(fact.clone()), &at(3_000)).unwrap();
        assert_eq!(decision.discrepancies, [], "{fact:?}");
        decision.next.unwrap_or(payment)
    })
}

fn statuses(payment: &Payment) -> Vec<Status> {
    payment.history.iter().skip(2).map(|event| event.status).collect()
}

#[test]
fn a_payment_with_several_chargebacks_is_paid_again_when_none_is_open() {
    let disputed = [charged_back("c1"), charged_back("c2"), charged_back("c1")];
    let half = told(disputed.clone().into_iter().chain([dispute_won("w1"), dispute_won("w1")]));
    assert_eq!(statuses(&half), [Status::Chargeback], "the money of the second one is gone");
    let open: Vec<_> = half.open_chargebacks().map(|one| one.id.as_str()).collect();
    assert_eq!(open, ["c2"], "the oldest open one is closed");
    let all = told(disputed.into_iter().chain([dispute_won("w1"), dispute_won("w2")]));
    assert_eq!(statuses(&all), [Status::Chargeback, Status::Paid]);
    assert_eq!(all.history.last().unwrap().reason.as_deref(), Some("dispute_won"));
}

#[test]
fn a_won_dispute_closes_the_chargeback_that_it_names() {
    let payment = told([charged_back("c1"), charged_back("c2"), dispute_won_of("w1", "c2")]);
    let open: Vec<_> = payment.open_chargebacks().map(|one| one.id.as_str()).collect();
    assert_eq!((open, payment.status()), (vec!["c1"], Status::Chargeback));
    let again = told([charged_back("c1"), dispute_won_of("w1", "c1"), dispute_won_of("w2", "c1")]);
    assert_eq!(again.status(), Status::Paid, "one dispute is not won twice");
}

#[test]
fn a_won_dispute_waits_for_the_chargeback_that_it_names() {
    let disputed = told([charged_back("c1")]);
    assert_eq!(discrepancy(&disputed, notice(dispute_won_of("w2", "c2"))), DiscrepancyKind::TooEarly);
}

#[test]
fn a_won_dispute_that_names_no_chargeback_makes_way_for_one_that_does() {
    let guessed = told([charged_back("c1"), charged_back("c2"), dispute_won("w1")]);
    let named = after(&guessed, notice(dispute_won_of("w2", "c1")), 4_000);
    assert_eq!((named.status(), named.open_chargebacks().count()), (Status::Paid, 0));
    let alone = told([charged_back("c1"), dispute_won("w1")]);
    let early = discrepancy(&alone, notice(dispute_won_of("w2", "c1")));
    assert_eq!(early, DiscrepancyKind::TooEarly, "the chargeback of the other one is still to be told");
}

#[test]
fn chargebacks_and_won_disputes_keep_the_time_at_which_they_were_learnt_first() {
    let moments = |payment: &Payment| {
        let one = &payment.chargebacks[0];
        (one.learnt_at, one.won.as_ref().and_then(|won| won.learnt_at), one.status())
    };
    let [first, second] = [3_000, 4_000].map(|ms| Some(START.plus_ms(ms)));
    let open = after(&paid(), notice(charged_back("c1")), 3_000);
    assert_eq!(moments(&open), (first, None, DisputeStatus::Open));
    let won = after(&open, notice(dispute_won_of("w1", "c1")), 4_000);
    assert_eq!(moments(&won), (first, second, DisputeStatus::Won));
    for repeated in [charged_back("c1"), dispute_won_of("w1", "c1")] {
        let again = won.decide(notice(repeated), &at(5_000)).unwrap().next.unwrap_or(won.clone());
        assert_eq!(moments(&again), moments(&won));
    }
}

#[test]
fn a_chargeback_of_an_earlier_version_has_the_time_of_the_payments_first_one() {
    let mut payment = after(&paid(), notice(charged_back("c1")), 3_000);
    let stored = serde_json::to_value(&payment.chargebacks[0]).unwrap();
    let earlier = serde_json::json!({"id": stored["id"]});
    payment.chargebacks[0] = serde_json::from_value(earlier).unwrap();
    let one = &payment.chargebacks[0];
    assert_eq!((one.learnt_at, payment.time_of(one)), (None, payment.state.chargeback_at));
    assert_eq!(payment.amount_of(one), payment.order.amount, "everything that came in");
}

#[test]
fn a_chargeback_in_part_keeps_its_amount_and_counts_like_any_other() {
    let payment = told([partial("c1", 2_500), partial("c2", 7_500), dispute_won_of("w1", "c2")]);
    assert_eq!(payment.status(), Status::Chargeback);
    let amounts: Vec<_> = payment.open_chargebacks().map(|one| one.amount.unwrap().cents()).collect();
    assert_eq!(amounts, [2_500]);
}

#[test]
fn a_refund_that_was_done_beside_a_chargeback_is_an_exception_whichever_is_told_first() {
    let refunding = after(&paid(), requested(refund(4_000), None, 1), 3_000);
    let done = || operated(operation_id(1), OperationAnswer::Done);
    let one = notice(charged_back("c1"));
    let other = notice(charged_back("c1"));
    for (first, second) in [(done(), one), (other, done())] {
        let payment = after(&refunding, first, 4_000);
        let decision = payment.decide(second.clone(), &at(5_000)).unwrap();
        let [told] = decision.discrepancies.as_slice() else { panic!("{:?}", decision.discrepancies) };
        assert_eq!(told.kind, DiscrepancyKind::RefundedAndChargedBack);
        let both = decision.next.unwrap();
        assert_eq!((both.status(), both.state.refunded_amount().cents()), (Status::Chargeback, 4_000));
        let told_of_refunds: Vec<_> = both.history.iter().filter(|event| event.refund.is_some()).collect();
        assert_eq!(told_of_refunds.len(), 1, "exactly one event");
        let again = both.decide(notice(charged_back("c1")), &at(6_000)).unwrap();
        assert_eq!(
            (again.next, &again.discrepancies[0]),
            (None, told),
            "a report that was lost is made again"
        );
    }
}

#[test]
fn a_chargeback_of_what_was_refunded_leaves_it_refunded_and_is_an_exception() {
    let all = after(&paid(), notice(Fact::Refunded { refund_id: "desk".into(), amount: None }), 3_000);
    let decision = all.decide(notice(charged_back("c1")), &at(4_000)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::RefundedAndChargedBack);
    let both = decision.next.unwrap();
    assert_eq!(both.status(), Status::Refund);
    let won = both.decide(notice(dispute_won("w1")), &at(5_000)).unwrap();
    assert_eq!((won.discrepancies.len(), won.next.unwrap().status()), (0, Status::Refund));
}

#[test]
fn a_refund_before_a_chargeback_that_was_won_is_no_exception() {
    let won = told([charged_back("c1"), dispute_won("w1")]);
    let refunded = Fact::Refunded { refund_id: "desk".into(), amount: None };
    assert_eq!(won.decide(notice(refunded), &at(4_000)).unwrap().discrepancies, []);
}

#[test]
fn contradictions_about_one_payment_do_not_hide_each_other() {
    let causes = |fact: Fact| {
        let decision = paid().decide(notice(fact), &at(9_000)).unwrap();
        let one = decision.discrepancies.into_iter().next().unwrap();
        (one.kind, one.stated, one.about)
    };
    let declined = causes(Fact::Declined(Decline::of("x")));
    let cancelled = causes(Fact::Cancelled);
    assert_eq!((declined.0, cancelled.0), (DiscrepancyKind::Contradiction, DiscrepancyKind::Contradiction));
    assert_ne!(declined, cancelled);
    let early = |fact: Fact| {
        let one = pending().decide(notice(fact), &at(9_000)).unwrap().discrepancies.into_iter().next();
        one.map(|one| (one.stated, one.about))
    };
    assert_ne!(early(charged_back("c1")), early(charged_back("c2")));
    assert_ne!(early(charged_back("1")), early(dispute_won("1")));
}
