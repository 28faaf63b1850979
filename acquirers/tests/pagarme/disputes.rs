use std::time::Duration;

use quita_banks::pagarme::Config;
use quita_domain::acquiring::{CallFailure, ChargeAnswer, Fact};
use quita_domain::method::Method;
use quita_domain::money::Money;
use serde_json::json;

use crate::payment::*;
use crate::there::{There, known};

fn disputes(facts: &[Fact]) -> Vec<Fact> {
    let is_one = |fact: &&Fact| matches!(fact, Fact::ChargedBack { .. } | Fact::DisputeWon { .. });
    facts.iter().filter(is_one).cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn a_chargeback_has_the_amount_of_the_payables_and_may_be_won() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.control(json!({ "do": "chargeback", "charge": CODE, "amountCents": 9_000 }));
    let stated = there.adapter().inquire(&query).await;
    let disputed = known(&query, stated.clone());
    let id = there.only().charge_id;
    let opened = Fact::ChargedBack { id: id.clone(), amount: Some(Money::from_cents(9_000)) };
    assert_eq!(disputes(&facts(stated)), [opened]);
    there.control(json!({ "do": "win", "charge": CODE }));
    let won = Fact::DisputeWon { id: format!("{id}-won"), chargeback_id: Some(id) };
    assert_eq!(disputes(&facts(there.adapter().inquire(&disputed).await)), [won]);
    assert!(disputes(&facts(there.adapter().inquire(&query).await)).is_empty(), "it was never heard of");
}

#[tokio::test(start_paused = true)]
async fn the_payables_are_waited_for_and_then_what_is_left_is_the_amount() {
    let there = There::at(Config { payables_lag_ms: 3_600_000, ..Config::default() });
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.control(json!({ "do": "cancel", "charge": CODE, "amountCents": 700 }));
    there.control(json!({ "do": "chargeback", "charge": CODE }));
    let factory = factory(settings(), there.factory());
    let adapter = quita_ports::AcquirerFactory::build(&factory);
    let early = adapter.inquire(&query).await;
    assert!(matches!(early, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{early:?}");
    tokio::time::advance(Duration::from_secs(120)).await;
    let facts = facts(adapter.inquire(&query).await);
    let [Fact::ChargedBack { amount, .. }] = &disputes(&facts)[..] else { panic!("{facts:?}") };
    assert_eq!(*amount, Some(Money::from_cents(15_000)));
}

#[tokio::test(start_paused = true)]
async fn a_dispute_whose_money_came_back_is_won_though_the_charges_status_stays() {
    let there = There::open();
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    there.control(json!({ "do": "chargeback", "charge": CODE, "amountCents": 9_000 }));
    let disputed = known(&query, there.adapter().inquire(&query).await);
    there.control(json!({ "do": "win", "charge": CODE, "keepsStatus": true }));
    let id = there.only().charge_id;
    let expected = [
        Fact::ChargedBack { id: id.clone(), amount: Some(Money::from_cents(9_000)) },
        Fact::DisputeWon { id: format!("{id}-won"), chargeback_id: Some(id) },
    ];
    assert_eq!(disputes(&facts(there.adapter().inquire(&disputed).await)), expected);
}

#[tokio::test(start_paused = true)]
async fn a_paid_charge_states_what_it_cost_once_its_payables_are_there() {
    let there = There::at(Config { payables_lag_ms: 16_000, ..Config::default() });
    let query = there.made(&charge(Method::CreditCard, 15_700)).await;
    let factory = factory(settings(), there.factory());
    let adapter = quita_ports::AcquirerFactory::build(&factory);
    let cost = |facts: &[Fact]| {
        facts.iter().find_map(|fact| match fact {
            Fact::Cost { amount } => Some(amount.cents()),
            _ => None,
        })
    };
    assert_eq!(cost(&facts(adapter.inquire(&query).await)), None);
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(cost(&facts(adapter.inquire(&query).await)), Some(626));
    there.control(json!({ "do": "anticipate", "charge": CODE, "feeCents": 50 }));
    assert_eq!(cost(&facts(adapter.inquire(&query).await)), Some(776));
    there.strike(json!([null, { "fault": "error-before", "status": 500 }]));
    let without = facts(adapter.inquire(&query).await);
    assert_eq!((cost(&without), sums(&without)), (None, (15_700, 0)), "what was paid is stated all the same");
}
