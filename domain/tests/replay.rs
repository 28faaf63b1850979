//! A replay: the plan of a payment that exists, made again with other routes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

#[path = "samples/payment.rs"]
mod samples;

use std::sync::Arc;

use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::money::Money;
use quita_domain::payment::{Context, NewPayment, Payment};
use quita_domain::routing::{
    Approvals, Candidate, Condition, CostLine, Criteria, DueDates, PastPayment, Preference, Rate, Replayed,
    RouteInputs, Routed, RoutingTable, Rule, Standing, Then, Use, plan, replay, seen,
};
use samples::{START, at, owner, pix_order};
use uuid::Uuid;

const NAMES: [&str; 3] = ["a", "b", "c"];

const WELL: (Condition, Approvals) = (Condition::Healthy, Approvals { approved: 0, tries: 0 });

fn names() -> [AcquirerName; 3] {
    NAMES.map(AcquirerName::new)
}

fn candidates(names: &[AcquirerName], how: impl Fn(usize) -> (Condition, Approvals)) -> Vec<Candidate<'_>> {
    let candidates = names.iter().enumerate().map(|(place, acquirer)| {
        let (condition, approvals) = how(place);
        let min_amount = Money::from_cents(1);
        let max_amount = Money::MAX;
        Candidate {
            acquirer,
            min_amount,
            max_amount,
            max_expiry_s: None,
            due_dates: DueDates::ALL,
            objection: None,
            condition,
            approvals,
        }
    });
    candidates.collect()
}

/// A payment that was routed by this table, with these dice, while the acquirers were so.
fn routed(table: &RoutingTable, dice: u64, how: impl Fn(usize) -> (Condition, Approvals)) -> Payment {
    let order = pix_order();
    let owner = owner();
    let names = names();
    let candidates = candidates(&names, how);
    let planned = plan(&RouteInputs::of(&order, &owner.merchant, START), &candidates, table, dice);
    let considered = planned.considered();
    let kept = planned.routed(table.version());
    let new = NewPayment {
        id: TransactionId::new(Uuid::from_u128(7)),
        owner,
        order: Arc::new(order),
        card_fingerprint: None,
        fingerprint: None,
        used_token: None,
        page_token: "token".into(),
        link: None,
        considered,
        routed: kept,
    };
    Payment::open(new, &Context { dice, ..at(0) }).next.unwrap()
}

/// Replays the payment with another table; the acquirers are as the payment says that they were.
fn replayed(payment: &Payment, before: &RoutingTable, after: &RoutingTable) -> Replayed {
    let payment = PastPayment::of(payment);
    let names = names();
    let candidates = candidates(&names, |place| seen(&payment, &names[place]));
    replay(&payment, &candidates, before, after)
}

fn weights(weights: [u32; 3]) -> RoutingTable {
    let standings = names().into_iter().zip(weights);
    let standings = standings.map(|(name, weight)| (name, Standing { priority: 1, weight }));
    RoutingTable { standings: standings.collect(), ..RoutingTable::default() }
}

fn first_to(acquirer: &str) -> RoutingTable {
    let rule = Rule {
        name: "r".into(),
        when: Criteria::default(),
        uses: vec![Use { acquirer: AcquirerName::new(acquirer), weight: 1 }],
        then: Then::Next,
        retry_declines: false,
    };
    RoutingTable { rules: vec![rule], ..weights([1, 1, 1]) }
}

fn costs(cents: [u64; 3]) -> Vec<CostLine> {
    let lines = names().into_iter().zip(cents).map(|(acquirer, cents)| CostLine {
        acquirer,
        when: Criteria::default(),
        rate: Rate::default(),
        fixed: Money::from_cents(cents),
    });
    lines.collect()
}

#[test]
fn the_same_table_moves_no_payment_however_the_acquirers_were() {
    let conditions =
        [Condition::Healthy, Condition::Failing, Condition::Throttled, Condition::Busy, Condition::Paused];
    for prefer in Preference::ALL {
        let table = RoutingTable { prefer, costs: costs([50, 40, 30]), ..weights([7, 2, 1]) };
        for dice in 0..500_u64 {
            let how = |place: usize| {
                let turn = usize::try_from(dice).unwrap() / 5_usize.pow(u32::try_from(place).unwrap());
                let approved = u8::try_from(turn % 200).unwrap();
                (conditions[turn % 5], Approvals { approved, tries: 200 })
            };
            let payment = routed(&table, dice.wrapping_mul(0x9e37_79b9_7f4a_7c15), how);
            let replayed = replayed(&payment, &table, &table);
            assert!(!replayed.has_moved(), "{dice}: {replayed:?}");
            assert_eq!(replayed.cost_before, replayed.cost_after);
        }
    }
}

#[test]
fn another_rule_moves_a_payment_and_each_way_costs_what_its_own_table_says() {
    let before = RoutingTable { costs: costs([100, 1, 2]), ..first_to("a") };
    let after = RoutingTable { costs: costs([1, 30, 2]), ..first_to("b") };
    let replayed = replayed(&routed(&before, 1, |_| WELL), &before, &after);
    let [a, b, _] = names();
    let expected = Replayed {
        from: Some(a),
        cost_before: Money::from_cents(100),
        to: Some(b),
        cost_after: Money::from_cents(30),
    };
    assert_eq!(replayed, expected);
}

#[test]
fn who_was_ill_then_is_ill_in_the_replay() {
    let ill = |place| if place == 1 { (Condition::Failing, Approvals::default()) } else { WELL };
    let payment = routed(&first_to("a"), 1, ill);
    let replayed = replayed(&payment, &first_to("a"), &first_to("b"));
    assert_ne!(replayed.to, Some(AcquirerName::new("b")), "it was tried last then");
}

/// Approvals as they were decide what `net` would have done, not those of today.
#[test]
fn approvals_are_those_that_the_plan_saw() {
    let approving = |place| {
        let approved = if place == 2 { 200 } else { 0 };
        (Condition::Healthy, Approvals { approved, tries: 200 })
    };
    let net = RoutingTable { prefer: Preference::Net, ..weights([1, 1, 1]) };
    let payment = routed(&first_to("a"), 1, approving);
    assert_eq!(replayed(&payment, &first_to("a"), &net).to, Some(AcquirerName::new("c")));
}

#[test]
fn a_payment_from_before_anything_was_kept_is_taken_at_its_word() {
    let ill = |place| if place == 1 { (Condition::Failing, Approvals::default()) } else { WELL };
    let mut payment = routed(&first_to("a"), 1, ill);
    payment.routed = Routed::default().into();
    let payment = PastPayment::of(&payment);
    let failing = (Condition::Failing, Approvals::default());
    assert_eq!(seen(&payment, &AcquirerName::new("b")), failing);
    assert_eq!(seen(&payment, &AcquirerName::new("a")), WELL);
    assert_eq!(seen(&payment, &AcquirerName::new("unheard of")), WELL);
}

/// The stores read no more than this of a payment.
#[test]
fn of_a_stored_payment_all_that_a_replay_needs_is_read_and_the_rest_passed_over() {
    let approving =
        |place| (Condition::Throttled, Approvals { approved: u8::try_from(place).unwrap(), tries: 9 });
    for dice in [0, 1, 1 << 63, u64::MAX] {
        let payment = routed(&first_to("a"), dice, approving);
        let stored = serde_json::to_string(&payment).unwrap();
        let past: PastPayment = serde_json::from_str(&stored).unwrap();
        assert_eq!(past, PastPayment::of(&payment));
        assert_eq!(
            past.inputs(),
            RouteInputs::of(&payment.order, &payment.owner.merchant, payment.created_at)
        );
    }
}
