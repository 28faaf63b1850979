use quita_banks::cielo::{Config, Plan, Status, Unable};
use serde_json::json;

use crate::shop::{DAY_MS, Shop, boleto, pix, with};

#[test]
fn a_pix_waits_for_its_payer_and_is_paid() {
    let mut shop = Shop::open();
    let got = shop.sell(&pix("A1"));
    let payment = &got.body["Payment"];
    assert_eq!((&payment["Status"], &payment["ReturnCode"]), (&json!(12), &json!("0")));
    assert_eq!(payment["SentOrderId"], payment["AcquirerOrderId"]);
    shop.now_ms += 60_000;
    shop.cielo.pay("A1", shop.now_ms).unwrap();
    let paid = shop.read(&got.payment_id());
    assert_eq!((&paid["Status"], &paid["CapturedAmount"]), (&json!(2), &json!(10_000)));
    assert_eq!(paid["EndToEndId"].as_str().unwrap().len(), 32);
    assert_eq!(shop.cielo.pay("A1", shop.now_ms), Err(Unable::NotNow));
}

#[test]
fn a_pix_of_the_old_form_lasts_two_hours_and_names_its_transaction() {
    let mut shop = Shop::open();
    let mut sale = pix("A1");
    sale["Payment"] = json!({ "Type": "Pix", "Amount": 10_000 });
    let payment = shop.sell(&sale).body["Payment"].clone();
    assert!(payment["AcquirerTransactionId"].is_string() && payment["ProofOfSale"].is_string());
    assert!(payment.get("SentOrderId").is_none());
    assert_eq!(shop.cielo.pay("A1", shop.now_ms + 7_200_000), Err(Unable::NotNow));
}

#[test]
fn money_may_come_in_after_the_time_of_a_pix() {
    let mut shop = Shop::open();
    shop.sold(&pix("A1"));
    shop.now_ms += 3_600_000;
    assert_eq!(shop.cielo.pay("A1", shop.now_ms), Err(Unable::NotNow));
    shop.cielo.pay_other_amount("A1", 10_000, shop.now_ms).unwrap();
    assert_eq!(shop.status("A1"), Status::PaymentConfirmed);
}

#[test]
fn an_unpaid_pix_or_boleto_can_not_be_withdrawn() {
    let mut shop = Shop::open();
    for sale in [pix("A1"), boleto("A2")] {
        let id = shop.sold(&sale);
        assert_eq!(shop.put(&format!("/1/sales/{id}/void")).codes(), [309]);
        assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).codes(), [310]);
    }
}

#[test]
fn a_pix_is_given_back_at_once_in_parts() {
    let mut shop = Shop::open();
    let id = shop.sold(&pix("A1"));
    shop.cielo.pay("A1", shop.now_ms).unwrap();
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=4000")).body["Status"], 2);
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=6001")).body["ReturnCode"], "102");
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).body["Status"], 11);
    assert_eq!(shop.entry("A1").voided_cents, 10_000);
}

#[test]
fn a_pix_may_take_its_time_to_be_given_back() {
    let mut shop = Shop::at(Config { pix_refund_takes_ms: 60_000, ..Config::default() });
    let id = shop.sold(&pix("A1"));
    shop.cielo.pay("A1", shop.now_ms).unwrap();
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=10000")).body["Status"], 12);
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=1")).body["ReturnCode"], "102");
    assert_eq!(shop.read(&id)["Status"], 2);
    shop.now_ms += 60_000;
    let payment = shop.read(&id);
    assert_eq!((&payment["Status"], &payment["VoidedAmount"]), (&json!(11), &json!(10_000)));
}

#[test]
fn a_pix_may_not_be_given_back_in_the_end() {
    let mut shop = Shop::at(Config { pix_refund_takes_ms: 60_000, ..Config::default() });
    shop.cielo.plan("A1", Plan { refund_fails_later: true, ..Plan::default() });
    let id = shop.sold(&pix("A1"));
    shop.cielo.pay("A1", shop.now_ms).unwrap();
    shop.told();
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).body["ReturnCode"], "0");
    assert_eq!(shop.entry("A1").refunding_cents, 10_000);
    shop.now_ms += 60_000;
    assert_eq!(shop.told(), [(id, 5)]);
    assert_eq!((shop.entry("A1").refunding_cents, shop.entry("A1").voided_cents), (0, 0));
}

#[test]
fn a_pix_is_not_given_back_after_90_days() {
    let mut shop = Shop::open();
    let id = shop.sold(&pix("A1"));
    shop.cielo.pay("A1", shop.now_ms).unwrap();
    shop.now_ms += 91 * DAY_MS;
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).body["ReturnCode"], "101");
}

#[test]
fn a_boleto_is_issued_and_paid_in_whole() {
    let mut shop = Shop::open();
    let got = shop.sell(&boleto("A1"));
    assert_eq!((&got.body["Payment"]["Status"], &got.body["Payment"]["Number"]), (&json!(1), &json!("123")));
    shop.cielo.pay("A1", shop.now_ms).unwrap();
    assert_eq!(shop.read(&got.payment_id())["Status"], 2);
    assert_eq!(shop.put(&format!("/1/sales/{}/void", got.payment_id())).codes(), [312]);
}

#[test]
fn a_boleto_may_be_paid_in_part_or_late_with_interest() {
    for (late_ms, amount, change) in [(0, 9_000, 6), (20 * DAY_MS, 10_250, 1)] {
        let mut shop = Shop::open();
        let id = shop.sold(&boleto("A1"));
        shop.told();
        shop.now_ms += late_ms;
        shop.cielo.pay_other_amount("A1", amount, shop.now_ms).unwrap();
        let payment = shop.read(&id);
        assert_eq!((&payment["Amount"], &payment["CapturedAmount"]), (&json!(10_000), &json!(amount)));
        assert_eq!(shop.told(), [(id, change)]);
    }
}

#[test]
fn a_boleto_is_not_paid_in_time_after_its_day() {
    let mut shop = Shop::open();
    shop.sold(&boleto("A1"));
    shop.now_ms += 10 * DAY_MS;
    assert_eq!(shop.cielo.pay("A1", shop.now_ms), Err(Unable::NotNow));
}

#[test]
fn what_has_expired_stays_as_it_was_but_is_not_paid_in_time() {
    let mut shop = Shop::open();
    for sale in [pix("A1"), boleto("A2")] {
        let order = sale["MerchantOrderId"].as_str().unwrap().to_owned();
        shop.sold(&sale);
        let before = shop.status(&order);
        shop.cielo.expire(&order, shop.now_ms).unwrap();
        assert_eq!((shop.status(&order), shop.cielo.pay(&order, shop.now_ms)), (before, Err(Unable::NotNow)));
    }
}

#[test]
fn only_banco_do_brasil_gives_no_line() {
    let mut shop = Shop::open();
    let bradesco = shop.sell(&boleto("A1")).body["Payment"].clone();
    let banco_do_brasil =
        shop.sell(&with(boleto("A2"), "Provider", json!("BancoDoBrasil3"))).body["Payment"].clone();
    assert!(bradesco["DigitableLine"].is_string() && banco_do_brasil.get("DigitableLine").is_none());
    assert_eq!(&banco_do_brasil["BarCodeNumber"].as_str().unwrap()[..3], "001");
}
