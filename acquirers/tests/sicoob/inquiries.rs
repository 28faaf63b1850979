//! Meaning of a title as the bank has it, and the limits of what it proves.

use quita_domain::acquiring::{ChargeAnswer, ChargeQuery, Fact, Identified, Reference};
use quita_domain::money::Money;
use quita_domain::secret::Secret;
use quita_domain::time::DAY_MS;
use serde_json::json;

use crate::world::{NUMBER, World, charge, statement, told};

#[tokio::test]
async fn only_a_settled_title_is_paid_and_by_its_settlement_alone() {
    let world = World::with(json!({ "settlesAfterMs": 1_000 }));
    let query = world.registered().await;
    world.tell(json!({ "do": "fee", "number": NUMBER, "cents": 10_010 }));
    assert_eq!(told(world.inquire(&query).await), ["pending"], "a fee is no payment");
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    assert_eq!(told(world.inquire(&query).await), ["pending"], "a payer's bank may take it back");
    world.pass_ms(1_000);
    assert_eq!(told(world.inquire(&query).await), ["pending", "settled 10010 on 2026-11-23", "concluded"]);
}

#[tokio::test]
async fn history_is_read_as_text_and_as_numbers_and_the_id_of_a_settlement_stays() {
    let mut ids = Vec::new();
    for as_number in [true, false] {
        let world = World::with(json!({ "historyAsNumber": as_number }));
        let query = world.registered().await;
        world.tell(json!({ "do": "pay", "number": NUMBER, "by": "pix" }));
        for _ in 0..2 {
            let facts = statement(world.inquire(&query).await).facts;
            let [_, Fact::Settled(settlement), Fact::Concluded] = &facts[..] else { panic!("{facts:?}") };
            assert_eq!((settlement.amount, &settlement.end_to_end_id), (Money::from_cents(10_010), &None));
            ids.push(settlement.id.clone());
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
}

#[tokio::test]
async fn money_without_an_amount_is_not_guessed() {
    let world = World::with(json!({ "historyWithoutAmount": true }));
    let query = world.registered().await;
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    assert_eq!(told(world.inquire(&query).await), ["amount unknown"]);
}

#[tokio::test]
async fn a_line_without_an_amount_hides_no_other_line_of_a_paid_title() {
    let world = World::open();
    let query = world.registered().await;
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    assert_eq!(told(world.inquire(&query).await).len(), 3);
    world.pass_ms(60_000);
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER, "cents": 10_011 }));
    world.inquire(&query).await;
    world.pass_ms(60_000);
    world.tell(json!({ "do": "set", "config": { "historyWithoutAmount": true } }));
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER }));
    assert_eq!(told(world.inquire(&query).await), ["amount unknown"], "nothing is known to be paid yet");
    let paid = ChargeQuery { paid_amount: Some(Money::from_cents(10_010)), ..query };
    let facts = statement(world.inquire(&paid).await).facts;
    let [Fact::Pending { .. }, Fact::Unclear { id, .. }, Fact::Settled(second), Fact::Settled(first)] =
        &facts[..]
    else {
        panic!("{facts:?}")
    };
    assert!(id.starts_with("4242-2026-11-23"), "{id}");
    assert_eq!((second.amount.cents(), first.amount.cents()), (10_011, 10_010));
}

#[tokio::test]
async fn two_settlements_of_one_moment_and_amount_are_two() {
    let world = World::open();
    let query = world.registered().await;
    let ids = async || -> Vec<String> {
        let facts = statement(world.inquire(&query).await).facts.into_iter();
        let id = |fact| if let Fact::Settled(settlement) = fact { Some(settlement.id) } else { None };
        facts.filter_map(id).collect()
    };
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    let first = ids().await;
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER }));
    let both = ids().await;
    assert_eq!(both, [format!("{}-2", first[0]), first[0].clone()], "the first keeps its name");
}

#[tokio::test]
async fn the_newest_of_several_settlements_comes_first() {
    let world = World::open();
    let query = world.registered().await;
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    world.pass_ms(60_000);
    world.tell(json!({ "do": "pay_anyway", "number": NUMBER, "cents": 10_011 }));
    let expected = ["pending", "settled 10011 on 2026-11-23", "settled 10010 on 2026-11-23", "concluded"];
    assert_eq!(told(world.inquire(&query).await), expected);
}

#[tokio::test]
async fn a_title_that_the_bank_withdrew_is_removed_before_its_last_day_is_over_and_expired_after() {
    let world = World::open();
    let query = world.registered().await;
    world.tell(json!({ "do": "write_off", "number": NUMBER }));
    assert_eq!(told(world.inquire(&query).await), ["removed"]);
    world.pass_ms(9 * DAY_MS);
    assert_eq!(told(world.inquire(&query).await), ["expired"]);
    let cancelled = ChargeQuery { cancelled_at: Some(crate::world::created_at()), ..query };
    assert_eq!(told(world.inquire(&cancelled).await), ["removed"], "we did");
}

#[tokio::test]
async fn an_open_title_waits_for_money_after_its_last_day_too() {
    let world = World::with(json!({ "settlesAfterMs": 2 * DAY_MS }));
    let query = world.registered().await;
    world.pass_ms(8 * DAY_MS);
    world.tell(json!({ "do": "pay", "number": NUMBER }));
    world.pass_ms(DAY_MS);
    assert_eq!(told(world.inquire(&query).await), ["pending"]);
    world.pass_ms(DAY_MS);
    assert_eq!(told(world.inquire(&query).await), ["pending", "settled 10010 on 2026-12-03", "concluded"]);
}

#[tokio::test]
async fn a_title_that_is_not_shown_yet_is_not_found() {
    let world = World::with(json!({ "readLagMs": 5_000 }));
    let query = world.registered().await;
    assert_eq!(told(world.inquire(&query).await), ["not found"]);
    world.pass_ms(5_000);
    assert_eq!(told(world.inquire(&query).await), ["pending"]);
    for fault in
        [json!({ "fault": "error-before", "status": 404 }), json!({ "fault": "error-before", "status": 400 })]
    {
        let adapter = world.adapter();
        adapter.inquire(&query).await;
        world.strike(json!([fault]));
        assert_eq!(told(adapter.inquire(&query).await), ["unknown"], "only an empty answer says so");
    }
}

#[tokio::test]
async fn another_amount_is_no_title_of_ours_and_neither_is_another_name() {
    let world = World::open();
    let query = world.registered().await;
    let other = ChargeQuery { amount: Money::from_cents(10_000), ..query.clone() };
    assert!(matches!(world.inquire(&other).await, ChargeAnswer::Mismatched(_)));
    let stranger = ChargeQuery {
        id: quita_domain::identity::TransactionId::new(uuid::Uuid::from_u128(1)),
        reference: Reference::none(),
        ..query
    };
    assert!(matches!(world.inquire(&stranger).await, ChargeAnswer::NumberTaken(_)));
}

#[tokio::test]
async fn a_title_keeps_being_ours_under_another_secret_key() {
    let world = World::open();
    let query = world.registered().await;
    let unheard = ChargeQuery { reference: Reference::none(), issued: None, ..query.clone() };
    let with_keys = |keys: &[&str]| {
        let keys: Vec<_> = keys.iter().map(|key| Secret::new((*key).to_owned())).collect();
        quita_ports::AcquirerFactory::build(&world.factory_with(|settings| settings.name_keys = keys))
    };
    assert_eq!(told(with_keys(&["newer", "name-key"]).inquire(&unheard).await), ["pending"]);
    assert_eq!(told(with_keys(&["newer"]).inquire(&query).await), ["pending"], "its name is kept");
    assert_eq!(told(with_keys(&["newer"]).inquire(&unheard).await), ["pending"], "our id is in the title");
}

#[tokio::test]
async fn a_title_is_identified_by_its_number() {
    let world = World::open();
    let query = world.registered().await;
    world.tell(json!({ "do": "take_number", "number": 7 }));
    let adapter = world.adapter();
    for (number, expected) in [
        ("4242", Identified::Payment(query.id)),
        ("7", Identified::Unknown),
        ("8", Identified::NotFound),
        ("x", Identified::Unknown),
    ] {
        let reference = Reference::none().with("ourNumber", number);
        assert_eq!(adapter.identify(&reference).await, expected, "{number}");
    }
}

#[tokio::test]
async fn a_bank_that_wants_fewer_calls_is_left_alone() {
    let world = World::open();
    let adapter = world.adapter();
    adapter.inquire(&charge().query).await;
    world.strike(json!([{ "fault": "throttled", "retryAfter": 7 }]));
    assert_eq!(told(adapter.inquire(&charge().query).await), ["throttled 7000"]);
    let before = world.sent().len();
    assert!(told(adapter.inquire(&charge().query).await)[0].starts_with("throttled"));
    assert_eq!(world.sent().len(), before, "nothing left");
}
