use quita_banks::pagarme::Status;
use serde_json::{Value, json};

use crate::shop::{DAY_MS, Shop, card, held, with};

#[test]
fn the_same_key_brings_the_same_answer_and_does_nothing() {
    let mut shop = Shop::open();
    let first = shop.keyed("POST", "/orders", &card("c1"), Some("k"));
    shop.control(json!({ "do": "cancel", "charge": "c1" }));
    let second = shop.keyed("POST", "/orders", &card("c1"), Some("k"));
    assert_eq!(first, second);
    assert_eq!(
        (shop.entry("c1").status, first.charge()["status"].as_str()),
        (Status::Canceled, Some("paid"))
    );
}

#[test]
fn a_refusal_is_kept_too() {
    let mut shop = Shop::open();
    let wrong = with(card("c1"), "amount", json!(0));
    assert_eq!(shop.keyed("POST", "/orders", &wrong, Some("k")).status, 422);
    assert_eq!(shop.keyed("POST", "/orders", &card("c1"), Some("k")).status, 422);
    assert_eq!(shop.keyed("POST", "/orders", &card("c1"), Some("K")).status, 200);
}

#[test]
fn without_a_key_or_after_a_day_one_code_is_two_orders() {
    let mut shop = Shop::open();
    shop.keyed("POST", "/orders", &card("c1"), Some("k"));
    shop.order(&card("c1"));
    shop.now_ms += DAY_MS;
    shop.keyed("POST", "/orders", &card("c1"), Some("k"));
    assert_eq!(shop.pagarme.charges_of("c1").len(), 3);
    assert_eq!(shop.get("/orders?code=c1").body["data"].as_array().unwrap().len(), 3);
}

#[test]
fn operations_have_keys_of_their_own() {
    let mut shop = Shop::open();
    let id = shop.ordered(&held("c1"));
    let capture =
        |shop: &mut Shop| shop.keyed("POST", &format!("/charges/{id}/capture"), &Value::Null, Some("o1"));
    assert_eq!([capture(&mut shop).status, capture(&mut shop).status], [200, 200]);
    let part = json!({ "amount": 700 });
    let refund = |shop: &mut Shop, key| shop.keyed("DELETE", &format!("/charges/{id}"), &part, Some(key));
    refund(&mut shop, "o2");
    refund(&mut shop, "o2");
    refund(&mut shop, "o3");
    assert_eq!(shop.entry("c1").canceled_cents, 1_400);
}
