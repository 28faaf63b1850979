use quita_banks::pagarme::{Config, Status};
use serde_json::{Value, json};

use crate::shop::{DAY_MS, Shop, are, boleto, pix};

#[test]
fn a_pix_has_a_code_and_is_paid_and_given_back() {
    let mut shop = Shop::open();
    let got = shop.order(&pix("p1"));
    assert_eq!(got.statuses(), are("pending", "waiting_payment"));
    let code = got.charge()["last_transaction"]["qr_code"].as_str().unwrap().to_owned();
    assert!(code.starts_with("000201") && code.contains("5406100.00"), "{code}");
    shop.control(json!({ "do": "pay", "charge": "p1" }));
    let read = shop.get(&format!("/charges/{}", got.charge_id()));
    assert_eq!(read.statuses(), are("paid", "paid"));
    assert_eq!(read.body["last_transaction"]["end_to_end_id"].as_str().unwrap().len(), 32);
    let back = shop.cancel(&got.charge_id(), &json!({ "amount": 4_000 }));
    assert_eq!(back.statuses(), are("paid", "partial_refunded"));
    assert_eq!(shop.entry("p1").kept_cents(), 6_000);
}

#[test]
fn a_pix_fails_when_its_time_is_over_and_late_money_still_comes() {
    let mut shop = Shop::open();
    shop.ordered(&pix("p1"));
    shop.now_ms += 3_600_000;
    assert_eq!(
        shop.control(json!({ "do": "pay", "charge": "p1" }))["error"],
        "not possible with this charge now"
    );
    assert_eq!(shop.entry("p1").status, Status::Failed);
    shop.control(json!({ "do": "pay", "charge": "p1", "amountCents": 10_000 }));
    assert_eq!(shop.entry("p1").status, Status::Paid);
}

#[test]
fn an_unpaid_pix_is_withdrawn_and_ten_tries_are_enough() {
    let mut shop = Shop::open();
    let id = shop.ordered(&pix("p1"));
    assert_eq!(shop.cancel(&id, &Value::Null).statuses(), are("canceled", "voided"));
    let tries: Vec<u16> = (0..11).map(|_| shop.cancel(&id, &Value::Null).status).collect();
    assert_eq!((tries[8], tries[9]), (412, 429));
    shop.now_ms += 15 * 60_000;
    assert_eq!(shop.cancel(&id, &Value::Null).status, 412);
}

#[test]
fn other_amounts_are_paid_all_the_same() {
    let mut shop = Shop::open();
    for (code, cents, status) in [("b1", 9_999, Status::Underpaid), ("b2", 10_250, Status::Overpaid)] {
        shop.ordered(&boleto(code));
        shop.control(json!({ "do": "pay", "charge": code, "amountCents": cents }));
        assert_eq!((shop.entry(code).status, shop.entry(code).paid_cents), (status, cents));
    }
}

#[test]
fn a_boleto_has_a_line_and_addresses_in_place_of_its_bar_code() {
    let mut shop = Shop::open();
    let step = shop.order(&boleto("b1")).charge()["last_transaction"].clone();
    assert_eq!(step["status"], "generated");
    let line = step["line"].as_str().unwrap();
    assert_eq!((line.len(), &line[..3]), (47, "197"));
    assert!(step["barcode"].as_str().unwrap().starts_with("https://"));
}

#[test]
fn a_boleto_is_paid_in_time_and_not_given_back_without_an_account() {
    let mut shop = Shop::open();
    let id = shop.ordered(&boleto("b1"));
    shop.now_ms += 9 * DAY_MS;
    assert_eq!(shop.control(json!({ "do": "pay", "charge": "b1" })), json!({ "ok": true }));
    assert_eq!(shop.cancel(&id, &Value::Null).status, 412);
    let late =
        shop.ordered(&crate::shop::with(boleto("b2"), "boleto/due_at", json!("2026-12-02T23:59:59-03:00")));
    shop.now_ms += 2 * DAY_MS;
    assert!(shop.control(json!({ "do": "pay", "charge": late }))["error"].is_string());
}

#[test]
fn a_wrong_code_is_what_was_planned() {
    let mut shop = Shop::open();
    let wrong = |how: &str| json!({ "do": "plan", "plan": { "wrongCode": how } });
    for how in ["other-amount", "wrong-check", "garbage", "missing"] {
        shop.control(wrong(how));
        let step = shop.order(&pix(how)).charge()["last_transaction"].clone();
        let code = step["qr_code"].as_str().unwrap_or_default().to_owned();
        assert_eq!(code.contains("5406100.00"), how == "wrong-check", "{how}: {code}");
    }
}

#[test]
fn statuses_are_spelt_in_camel_case_where_that_is_wanted() {
    let mut shop = Shop::at(Config { camel_case_permille: 1_000, ..Config::default() });
    assert_eq!(shop.order(&pix("p1")).statuses(), are("pending", "waitingPayment"));
}
