use quita_banks::cielo::Config;
use serde_json::{Value, json};

use crate::shop::{DAY_MS, Shop, boleto, card, pix, with, with_card};

#[test]
fn nobody_calls_without_the_merchants_id_and_key() {
    let id = Config::default().merchant_id;
    let other = "6e1bf77a-b28b-4660-b14f-455e2a1c95e9".to_owned();
    let strangers: [(&[(&str, &str)], u64); 5] = [
        (&[], 101),
        (&[("merchantid", "loja")], 114),
        (&[("merchantid", &other)], 115),
        (&[("merchantid", &id)], 131),
        (&[("merchantid", &id), ("merchantkey", "wrong")], 132),
    ];
    for (headers, code) in strangers {
        let mut shop = Shop::open();
        shop.headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let got = shop.sell(&card("A1", 1));
        assert_eq!((got.status, got.codes()), (401, vec![json!(code)]));
        assert!(shop.cielo.books().is_empty());
    }
}

#[test]
fn what_is_wrong_with_a_card_sale_is_told_by_code() {
    let right = card("A1", 1);
    let wrong = [
        (with(right.clone(), "Amount", json!(0)), 108),
        (with(right.clone(), "Amount", json!("157.00")), 108),
        (with(right.clone(), "Type", json!(null)), 102),
        (with(right.clone(), "Installments", json!(0)), 123),
        (with_card(right.clone(), "Holder", json!("")), 117),
        (with_card(right.clone(), "CardNumber", json!("41111111x1111111")), 118),
        (with_card(right.clone(), "CardNumber", json!("41111111111111111111")), 128),
        (with_card(right.clone(), "ExpirationDate", json!("13/2030")), 126),
        (with_card(right.clone(), "ExpirationDate", json!("12/30")), 126),
        (with_card(right.clone(), "SecurityCode", json!("12345")), 146),
        (with_card(right.clone(), "Brand", json!(null)), 182),
        (with_card(right.clone(), "Brand", json!("Mastercard")), 185),
        (card("", 1), 122),
        (card("A-1", 1), 107),
        (card(&"A".repeat(51), 1), 107),
        (json!({ "MerchantOrderId": "A1" }), 119),
    ];
    for (sale, code) in wrong {
        let mut shop = Shop::open();
        let got = shop.sell(&sale);
        assert_eq!((got.status, got.codes()), (400, vec![json!(code)]), "{sale}");
        assert!(shop.cielo.books().is_empty());
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let sale = with(with_card(card("A1", 1), "Holder", json!("")), "Amount", json!(-1));
    assert_eq!(Shop::open().sell(&sale).codes(), [108, 117]);
}

#[test]
fn what_is_wrong_with_a_pix_or_boleto_is_told_by_code() {
    let nobody = |mut sale: Value| {
        sale["Customer"] = json!(null);
        sale
    };
    let wrong = [
        (nobody(pix("A1")), vec![json!(105), json!(104)]),
        (with(pix("A1"), "QrCode", json!({ "Expiration": 86_401 })), vec![json!(422)]),
        (with(pix("A1"), "Provider", json!("Other")), vec![json!(133)]),
        (nobody(boleto("A1")), vec![json!(105), json!(104), json!("BP901")]),
        (with(boleto("A1"), "Provider", json!(null)), vec![json!(133), json!(126)]),
        (with(boleto("A1"), "ExpirationDate", json!("2026-11-21")), vec![json!(126)]),
        (with(boleto("A1"), "BoletoNumber", json!("123456789012")), vec![json!("BP901")]),
        (boleto(&"A".repeat(28)), vec![json!(107)]),
    ];
    for (sale, codes) in wrong {
        let got = Shop::open().sell(&sale);
        assert_eq!((got.status, got.codes()), (400, codes), "{sale}");
    }
}

#[test]
fn a_pix_may_want_a_shorter_order_than_other_sales() {
    let mut shop = Shop::at(Config { longest_pix_order: 25, ..Config::default() });
    assert_eq!(shop.sell(&pix(&"A".repeat(26))).codes(), [107]);
    assert_eq!(shop.sell(&pix(&"A".repeat(25))).status, 201);
    assert_eq!(shop.sell(&card(&"A".repeat(26), 1)).status, 201);
}

#[test]
fn names_are_read_without_case() {
    let sale = json!({
        "merchantOrderId": "A1", "customer": { "name": "Fulano" },
        "payment": {
            "type": "creditcard", "amount": 100, "installments": 1,
            "creditCard": { "cardNumber": "4111111111111111", "holder": "F", "expirationDate": "12/2030", "brand": "VISA" },
        },
    });
    let got = Shop::open().sell(&sale);
    assert_eq!((got.status, &got.body["Customer"]["Name"]), (201, &json!("Fulano")));
    assert_eq!(got.body["Payment"]["CreditCard"]["Brand"], "Visa");
}

#[test]
fn what_is_no_json_is_refused() {
    let mut shop = Shop::open();
    assert_eq!(shop.call("POST", "/1/sales", &Value::Null).status, 400);
    assert_eq!(shop.call("DELETE", "/1/sales", &Value::Null).status, 404);
}

#[test]
fn what_nobody_knows_is_not_found() {
    let mut shop = Shop::open();
    let id = "6e1bf77a-b28b-4660-b14f-455e2a1c95e9";
    for target in [format!("/1/sales/{id}"), "/1/sales?merchantOrderId=A1".to_owned()] {
        assert_eq!(shop.get(&target).status, 404);
    }
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).status, 404);
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).status, 404);
}

#[test]
fn the_query_host_knows_a_sale_only_after_a_while_but_the_other_host_acts_on_it() {
    let mut shop = Shop::at(Config { query_lag_ms: 2_000, ..Config::default() });
    let id = shop.sold(&card("A1", 1));
    shop.now_ms += 1_999;
    assert_eq!(shop.get(&format!("/1/sales/{id}")).status, 404);
    assert_eq!(shop.get("/1/sales?merchantOrderId=A1").status, 404);
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).status, 200);
    shop.now_ms += 1;
    assert_eq!(shop.read(&id)["Status"], 2);
    assert_eq!(shop.get("/1/sales?merchantOrderId=A1").status, 200);
}

#[test]
fn queries_reach_back_three_months() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    shop.now_ms += 93 * DAY_MS;
    assert_eq!(shop.get(&format!("/1/sales/{id}")).status, 404);
}

#[test]
fn the_two_hosts_are_told_apart_by_path_or_host() {
    let mut shop = Shop::at(Config { hosts_apart: true, ..Config::default() });
    let id = shop.sold(&card("A1", 1));
    assert_eq!(shop.get(&format!("/1/sales/{id}")).status, 404);
    assert_eq!(shop.get(&format!("/query/1/sales/{id}")).status, 200);
    assert_eq!(shop.call("POST", "/query/1/sales", &card("A2", 1)).status, 404);
    shop.headers.push(("host".to_owned(), "apiquery.cielo.example".to_owned()));
    assert_eq!(shop.get(&format!("/1/sales/{id}")).status, 200);
}

#[test]
fn the_first_digits_of_a_card_can_be_asked_for() {
    let mut shop = Shop::open();
    assert_eq!(shop.get("/1/cardBin/411111").body["Provider"], "VISA");
    assert_eq!(shop.get("/1/cardBin/4111x1").status, 400);
}
