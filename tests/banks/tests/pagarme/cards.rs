use quita_banks::pagarme::{Config, Status};
use serde_json::{Value, json};

use crate::shop::{A, DAY_MS, OWN, Shop, are, card, flat, held, with};

#[test]
fn a_card_is_captured_at_once_or_held() {
    let mut shop = Shop::open();
    let got = shop.order(&card("c1"));
    assert_eq!((got.status, got.statuses()), (200, are("paid", "captured")));
    assert_eq!(got.charge()["paid_amount"], 15_700);
    assert_eq!(got.body["code"], "c1");
    let got = shop.order(&held("c2"));
    assert_eq!(got.statuses(), are("pending", "authorized_pending_capture"));
    assert!(shop.entry("c2").holds_limit() && shop.entry("c2").kept_cents() == 0);
}

#[test]
fn test_cards_and_values_decide_the_outcome() {
    let mut shop = Shop::open();
    let number = |number: &str| with(card(number), "credit_card/card/number", json!(number));
    for (order, statuses) in [
        (number("4000000000000010"), are("paid", "captured")),
        (number("4000000000000028"), are("failed", "not_authorized")),
        (number("4000000000000036"), are("processing", "pending_review")),
        (number("4000000000000044"), are("processing", "pending_review")),
        (with(card("cvv"), "credit_card/card/cvv", json!("612")), are("failed", "not_authorized")),
    ] {
        let got = shop.order(&order);
        assert_eq!((got.status, got.statuses()), (200, statuses), "{order}");
    }
    shop.now_ms += 10_000;
    assert_eq!(shop.get("/orders?code=4000000000000036").body["data"][0]["charges"][0]["status"], "paid");
    assert_eq!(shop.entry("4000000000000044").status, Status::Failed);
}

#[test]
fn a_decline_tells_its_code_and_only_some_tell_the_brands() {
    let mut shop = Shop::open();
    let decline = |code: &str, brand: Option<&str>| json!({ "do": "plan", "plan": { "outcome": { "decline": { "code": code, "brandCode": brand } } } });
    shop.control(decline("51", None));
    shop.control(decline("1016", Some("51")));
    let plain = shop.order(&card("c1")).charge()["last_transaction"].clone();
    assert_eq!((&plain["acquirer_return_code"], &plain["retry_info"]), (&json!("51"), &Value::Null));
    let told = shop.order(&card("c2")).charge()["last_transaction"].clone();
    assert_eq!(told["acquirer_return_code"], "1016");
    assert_eq!(told["retry_info"]["brand_failure_return_code"], "51");
}

#[test]
fn a_capture_is_for_once_in_whole_or_in_part() {
    let mut shop = Shop::open();
    let id = shop.ordered(&held("c1"));
    let too_much = shop.capture(&id, &json!({ "amount": 15_701 }));
    assert_eq!(too_much.status, 412);
    let got = shop.capture(&id, &json!({ "amount": 10_000 }));
    assert_eq!((got.status, got.statuses()), (200, are("paid", "partial_capture")));
    assert_eq!(shop.capture(&id, &Value::Null).status, 412);
    assert_eq!((shop.entry("c1").paid_cents, shop.entry("c1").kept_cents()), (10_000, 10_000));
}

#[test]
fn an_authorisation_is_voided_in_whole_only() {
    let mut shop = Shop::open();
    let id = shop.ordered(&held("c1"));
    assert_eq!(shop.cancel(&id, &json!({ "amount": 100 })).status, 412);
    let got = shop.cancel(&id, &Value::Null);
    assert_eq!((got.status, got.statuses()), (200, are("canceled", "voided")));
    assert_eq!(shop.cancel(&id, &Value::Null).status, 412);
    assert_eq!(shop.entry("c1").kept_cents(), 0);
}

#[test]
fn what_was_captured_goes_back_in_parts_until_nothing_is_left() {
    let mut shop = Shop::open();
    let id = shop.ordered(&card("c1"));
    assert_eq!(shop.cancel(&id, &json!({ "amount": 5_000 })).statuses(), are("paid", "partial_void"));
    shop.now_ms += DAY_MS;
    assert_eq!(shop.cancel(&id, &json!({ "amount": 700 })).statuses(), are("paid", "partial_refunded"));
    assert_eq!(shop.cancel(&id, &json!({ "amount": 10_001 })).status, 412);
    let got = shop.cancel(&id, &Value::Null);
    assert_eq!((got.statuses(), &got.body["canceled_amount"]), (are("canceled", "refunded"), &json!(15_700)));
    assert_eq!(shop.entry("c1").kept_cents(), 0);
}

#[test]
fn a_refund_may_be_pending_and_fail_in_the_end() {
    let mut shop = Shop::at(Config { refund_takes_ms: 60_000, ..Config::default() });
    let done = shop.ordered(&card("c1"));
    let failing = shop.ordered(&card("c2"));
    shop.control(json!({ "do": "plan", "charge": "c2", "plan": { "refundFailsLater": true } }));
    for id in [&done, &failing] {
        assert_eq!(shop.cancel(id, &json!({ "amount": 700 })).statuses(), are("paid", "pending_refund"));
    }
    assert_eq!((shop.entry("c1").canceled_cents, shop.entry("c1").refunding_cents), (0, 700));
    shop.now_ms += 60_000;
    assert_eq!(shop.get(&format!("/charges/{done}")).statuses(), are("paid", "partial_void"));
    assert_eq!(shop.get(&format!("/charges/{failing}")).statuses(), are("paid", "error_on_refunding"));
    assert_eq!([shop.entry("c1").canceled_cents, shop.entry("c2").canceled_cents], [700, 0]);
}

#[test]
fn an_authorisation_lapses() {
    let mut shop = Shop::open();
    shop.ordered(&held("c1"));
    shop.now_ms += 5 * DAY_MS;
    shop.get("/orders");
    assert_eq!(shop.entry("c1").status, Status::Canceled);
}

#[test]
fn splits_must_make_up_the_whole_and_name_recipients() {
    let mut shop = Shop::open();
    let split = |rules: Vec<Value>| with(card("c1"), "split", Value::Array(rules));
    let got = shop.order(&split(vec![flat(A, 5_700, false), flat(OWN, 10_000, true)]));
    assert_eq!(got.statuses(), are("paid", "captured"));
    let shares: Vec<u64> = shop.entry("c1").shares.iter().map(|share| share.amount_cents).collect();
    assert_eq!(shares, [5_700, 10_000]);
    for rules in [
        vec![flat(A, 5_700, false), flat(OWN, 9_999, true)],
        vec![flat("re_unknown", 5_700, false), flat(OWN, 10_000, true)],
        vec![flat(A, 5_700, false), flat(OWN, 10_000, false)],
    ] {
        let got = shop.order(&split(rules));
        assert_eq!((got.status, got.statuses()), (200, are("failed", "failed")));
        assert_eq!(got.charge()["last_transaction"]["gateway_response"]["code"], "400");
    }
    let held = with(held("c9"), "split", json!([flat(A, 5_700, false), flat(OWN, 10_000, true)]));
    let id = shop.ordered(&held);
    assert_eq!(shop.capture(&id, &json!({ "amount": 10_000 })).status, 412);
    let rules = json!([flat(A, 3_630, false), flat(OWN, 6_370, true)]);
    assert_eq!(shop.capture(&id, &json!({ "amount": 10_000, "split": rules })).status, 200);
}
