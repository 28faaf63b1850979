use quita_banks::cielo::{Config, Trap};
use serde_json::json;

use crate::shop::{Shop, card, pix, with};

fn shop(trap: Trap) -> Shop {
    Shop::at(Config { traps: [trap].into(), traps_permille: 1_000, ..Config::default() })
}

#[test]
fn spellings_differ_where_they_were_seen_to() {
    let payment = shop(Trap::PaymentIdSpelling).sell(&pix("A1")).body["Payment"].clone();
    assert!(payment["Paymentid"].is_string() && payment.get("PaymentId").is_none());
    let payment = shop(Trap::ImageSpelling).sell(&pix("A1")).body["Payment"].clone();
    assert!(payment["QrcodeBase64Image"].is_string() && payment.get("QrCodeBase64Image").is_none());
}

#[test]
fn numbers_and_booleans_come_as_text() {
    let payment = shop(Trap::NumbersAsText).sell(&card("A1", 1)).body["Payment"].clone();
    assert_eq!((&payment["Amount"], &payment["Status"]), (&json!("15700"), &json!("1")));
    let payment = shop(Trap::BooleansAsText).sell(&card("A1", 1)).body["Payment"].clone();
    assert_eq!(payment["Capture"], "false");
    let payment = shop(Trap::InterestAsText).sell(&card("A1", 1)).body["Payment"].clone();
    assert_eq!(payment["Interest"], "ByMerchant");
    let refused = shop(Trap::NumbersAsText).sell(&with(card("A1", 1), "Amount", json!(0)));
    assert_eq!(refused.codes(), ["108"]);
}

#[test]
fn dates_come_with_a_t_and_days_stay_days() {
    let payment = shop(Trap::DatesWithT).sell(&crate::shop::boleto("A1")).body["Payment"].clone();
    assert_eq!(payment["ReceivedDate"], "2026-11-22T12:00:00.42");
    assert_eq!(payment["ExpirationDate"], "2026-12-01");
}

#[test]
fn the_list_of_an_order_has_another_name_or_other_fields() {
    let list = |trap| {
        let mut shop = shop(trap);
        shop.sell(&card("A1", 1));
        shop.get("/1/sales?merchantOrderId=A1").body
    };
    assert!(list(Trap::DatesWithT)["Payments"][0]["ReceveidDate"].is_string());
    assert!(list(Trap::ListName)["Payment"][0]["PaymentId"].is_string());
    assert!(list(Trap::ReceivedDateSpelling)["Payments"][0]["ReceivedDate"].is_string());
}

#[test]
fn an_unknown_order_is_an_empty_list_or_a_bare_404() {
    let got = shop(Trap::EmptyListForUnknown).get("/1/sales?merchantOrderId=A1");
    assert_eq!((got.status, &got.body["Payments"]), (200, &json!([])));
    let got = shop(Trap::NotFoundWithoutBody).get("/1/sales?merchantOrderId=A1");
    assert_eq!((got.status, got.body), (404, json!(null)));
}

#[test]
fn traps_are_drawn_for_each_answer() {
    let mut shop = Shop::at(Config { traps: Trap::all(), ..Config::default() });
    let is_text = |shop: &mut Shop| shop.sell(&card("A1", 1)).body["Payment"]["Amount"].is_string();
    let count = (0..100).filter(|_| is_text(&mut shop)).count();
    assert!((30..70).contains(&count), "{count}");
}
