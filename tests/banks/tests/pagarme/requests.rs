use serde_json::{Value, json};

use crate::shop::{Shop, are, boleto, card, pix, with};

#[test]
fn who_has_not_the_key_is_a_stranger() {
    let mut shop = Shop::open();
    shop.key = "sk_test_other".to_owned();
    let got = shop.order(&card("c1"));
    assert_eq!(
        (got.status, &got.body["message"]),
        (401, &json!("Authorization has been denied for this request."))
    );
    assert!(shop.pagarme.books().is_empty());
}

#[test]
fn all_that_is_wrong_is_told_at_once_by_field() {
    let mut shop = Shop::open();
    let mut order = card("c1");
    order["customer"]["name"] = Value::Null;
    order["customer"]["phones"] = json!({});
    order["payments"][0]["credit_card"]["card"]["number"] = json!("4000");
    let got = shop.order(&order);
    assert_eq!((got.status, &got.body["message"]), (422, &json!("The request is invalid.")));
    let fields: Vec<&String> = got.body["errors"].as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        ["order.customer.name", "order.customer.phones", "order.payments[0].credit_card.card.number"]
    );
    assert!(shop.pagarme.books().is_empty());
}

#[test]
fn each_obligatory_part_is_wanted() {
    for (order, path, value) in [
        (card("c1"), "credit_card/card/holder_name", json!("FULANO 2")),
        (card("c1"), "credit_card/card/billing_address", Value::Null),
        (card("c1"), "credit_card/operation_type", json!("later")),
        (card("c1"), "amount", json!(0)),
        (pix("p1"), "pix/expires_in", Value::Null),
        (boleto("b1"), "boleto/due_at", json!("2026-11-20T23:59:59-03:00")),
        (boleto("b1"), "boleto/bank", json!("999")),
        (boleto("b1"), "boleto/fine", json!({ "days": 0, "type": "flat", "amount": 1 })),
        (pix("p1"), "payment_method", json!("cash")),
    ] {
        let got = Shop::open().order(&with(order, path, value.clone()));
        assert_eq!(got.status, 422, "{path} {value}: {got:?}");
    }
    let got = Shop::open().order(&Value::String("no order".into()));
    assert_eq!(got.status, 400);
}

#[test]
fn an_item_without_code_is_a_charge_that_failed() {
    let mut shop = Shop::open();
    let mut order = card("c1");
    order["items"][0]["code"] = Value::Null;
    let got = shop.order(&order);
    assert_eq!((got.status, got.statuses()), (200, are("failed", "failed")));
    let told = &got.charge()["last_transaction"]["gateway_response"];
    assert_eq!(told["errors"][0]["message"], "The item Code is required.");
    assert_eq!(shop.entry("c1").authorised_cents, 0);
}

#[test]
fn orders_are_listed_by_code_and_the_list_may_lag() {
    let mut shop = Shop::open();
    shop.control(json!({ "do": "set", "config": { "listLagMs": 1_000 } }));
    let order = shop.order(&card("c1"));
    let id = order.body["id"].as_str().unwrap().to_owned();
    let listed = |shop: &mut Shop| shop.get("/orders?code=c1").body["data"].as_array().unwrap().len();
    assert_eq!(listed(&mut shop), 0);
    assert_eq!(shop.get(&format!("/orders/{id}")).body["charges"], order.body["charges"]);
    shop.now_ms += 1_000;
    assert_eq!(listed(&mut shop), 1);
    assert_eq!(shop.get("/orders?code=c2").body["data"], json!([]));
    assert_eq!(shop.get("/orders/or_none").status, 404);
    assert_eq!(shop.get("/charges/ch_none").status, 404);
}
