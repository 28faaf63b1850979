use quita_banks::pagarme::Config;
use quita_domain::acquiring::{ChargeAnswer, ChargeQuery, Fact, Holding};
use quita_domain::method::Method;
use quita_domain::money::Money;
use serde_json::json;

use crate::payment::*;
use crate::there::There;

#[tokio::test(start_paused = true)]
async fn what_pagarme_does_not_have_is_not_found() {
    let there = There::open();
    assert_eq!(there.adapter().inquire(&query(Method::Pix, 10_000)).await, ChargeAnswer::NotFound);
}

#[tokio::test(start_paused = true)]
async fn an_order_is_found_by_its_code_once_the_list_shows_it() {
    let there = There::at(Config { list_lag_ms: 5_000, ..Config::default() });
    there.strike(json!([{ "fault": "reset-after" }]));
    let charge = charge(Method::CreditCard, 15_700);
    assert!(matches!(there.adapter().charge(&charge).await, ChargeAnswer::Failed(_)));
    assert_eq!(there.adapter().inquire(&charge.query).await, ChargeAnswer::NotFound);
    tokio::time::advance(std::time::Duration::from_secs(5)).await;
    assert_eq!(sums(&facts(there.adapter().inquire(&charge.query).await)), (15_700, 0));
    assert_eq!(there.left(), ["POST /orders", "GET /orders", "GET /orders"]);
}

#[tokio::test(start_paused = true)]
async fn a_known_order_is_read_by_its_id() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    there.adapter().inquire(&query).await;
    assert!(there.left()[1].starts_with("GET /orders/or_"), "{:?}", there.left());
}

#[tokio::test(start_paused = true)]
async fn of_several_orders_the_oldest_counts_and_the_others_are_given_back() {
    for (method, expected) in [
        (Method::CreditCard, Holding::Money { taken: Money::from_cents(10_000), given_back: Money::ZERO }),
        (Method::Pix, Holding::Code),
        (Method::Boleto, Holding::Code),
    ] {
        let there = There::open();
        let query = there.made(&charge(method, 10_000)).await;
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        there.control(json!({ "do": "again", "charge": CODE }));
        let unknown = ChargeQuery { reference: Default::default(), ..query.clone() };
        let several = ChargeQuery { may_have_others: true, ..query.clone() };
        for query in [unknown, several] {
            let stated = statement(there.adapter().inquire(&query).await);
            let [oldest, other] = &there.charges()[..] else { panic!() };
            assert_eq!(stated.reference.get("chargeId"), Some(oldest.charge_id.as_str()));
            let second = stated.facts.iter().find_map(|fact| match fact {
                Fact::SecondCharge(second) => Some(second.clone()),
                _ => None,
            });
            let second = second.unwrap();
            assert_eq!((second.id, second.holds), (other.charge_id.clone(), expected));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_code_that_was_paid_takes_the_place_of_the_first() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    there.control(json!({ "do": "again", "charge": CODE }));
    let other = there.charges()[1].charge_id.clone();
    there.control(json!({ "do": "pay", "charge": other }));
    let several = ChargeQuery { may_have_others: true, ..query };
    let stated = statement(there.adapter().inquire(&several).await);
    assert_eq!(stated.reference.get("chargeId"), Some(other.as_str()));
    assert_eq!(sums(&stated.facts), (10_000, 0));
}

#[tokio::test(start_paused = true)]
async fn a_charge_of_another_method_does_not_hide_the_payments_own() {
    let there = There::open();
    there.made(&charge(Method::CreditCard, 10_000)).await;
    // Past the day for which Pagar.me keeps an idempotency key.
    tokio::time::advance(std::time::Duration::from_secs(2 * 86_400)).await;
    let later = charge(Method::Pix, 10_000);
    let named = there.made(&later).await;
    let [card, pix] = &there.charges()[..] else { panic!("{:?}", there.charges()) };
    for query in [later.query.clone(), ChargeQuery { may_have_others: true, ..named }] {
        let stated = statement(there.adapter().inquire(&query).await);
        assert_eq!(stated.reference.get("chargeId"), Some(pix.charge_id.as_str()));
        let told = format!("the charge is no pix, and charge {} holds 100.00", card.charge_id);
        let unclear = Fact::Unclear { id: card.charge_id.clone(), text: told };
        assert!(stated.facts.contains(&unclear), "{:?}", stated.facts);
    }
}

#[tokio::test(start_paused = true)]
async fn statuses_in_camel_case_are_read_too() {
    let there = There::at(Config { camel_case_permille: 1_000, ..Config::default() });
    let facts = facts(there.adapter().charge(&uncaptured(15_700)).await);
    assert!(matches!(&facts[..], [Fact::Authorized(_)]), "{facts:?}");
}
