use quita_banks::cielo::{Config, Failure, Outcome, Plan, Status};
use serde_json::json;

use crate::shop::{DAY_MS, Shop, card, with, with_card};

#[test]
fn the_last_digit_of_a_card_decides() {
    let expected = [
        (0, 1, "4"),
        (1, 1, "4"),
        (4, 1, "4"),
        (2, 3, "05"),
        (3, 3, "57"),
        (5, 3, "78"),
        (6, 3, "99"),
        (7, 3, "77"),
        (8, 3, "70"),
    ];
    for (digit, status, code) in expected {
        let payment = Shop::open().sell(&card("A1", digit)).body["Payment"].clone();
        assert_eq!((&payment["Status"], &payment["ReturnCode"]), (&json!(status), &json!(code)), "{digit}");
    }
}

#[test]
fn a_nine_is_drawn_and_goes_both_ways() {
    let mut shop = Shop::open();
    let statuses: std::collections::BTreeSet<u64> =
        (0..50).map(|_| shop.sell(&card("A1", 9)).body["Payment"]["Status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [1, 3].into());
}

#[test]
fn an_answer_shows_six_and_four_digits_of_the_card_and_never_its_code() {
    let got = Shop::open().sell(&card("A1", 1));
    assert_eq!(got.body["Payment"]["CreditCard"]["CardNumber"], "411111******1111");
    assert!(!got.body.to_string().contains("SecurityCode"));
}

#[test]
fn an_authorisation_is_captured_once_in_part_and_the_rest_is_let_go() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    let got = shop.put(&format!("/1/sales/{id}/capture?amount=5000"));
    assert_eq!((got.status, &got.body["Status"], &got.body["ReturnCode"]), (200, &json!(2), &json!("6")));
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture?amount=100")).codes(), [308]);
    let payment = shop.read(&id);
    assert_eq!((&payment["Amount"], &payment["CapturedAmount"]), (&json!(15_700), &json!(5_000)));
    assert_eq!(payment["CapturedDate"], "2026-11-22 12:00:00");
}

#[test]
fn more_than_was_authorised_is_not_captured() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture?amount=15701")).codes(), [308]);
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture?amount=0")).codes(), [108]);
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture?amount=1.5")).codes(), [108]);
    assert_eq!(shop.status("A1"), Status::Authorized);
}

#[test]
fn a_sale_can_be_captured_with_its_authorisation() {
    let mut shop = Shop::open();
    let payment = shop.sell(&with(card("A1", 1), "Capture", json!(true))).body["Payment"].clone();
    assert_eq!((&payment["Status"], &payment["ReturnCode"]), (&json!(2), &json!("6")));
    assert_eq!(shop.entry("A1").captured_cents, 15_700);
}

#[test]
fn an_authorisation_is_voided_in_whole_only() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=100")).codes(), [309]);
    let got = shop.put(&format!("/1/sales/{id}/void"));
    assert_eq!((&got.body["Status"], &got.body["ReturnCode"]), (&json!(10), &json!("9")));
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).codes(), [309]);
    assert_eq!(shop.entry("A1").kept_cents(), 0);
    assert_eq!(shop.read(&id)["VoidedAmount"], 15_700);
}

#[test]
fn what_was_captured_is_given_back_in_parts_until_nothing_is_left() {
    let mut shop = Shop::open();
    let id = shop.sold(&with(card("A1", 1), "Capture", json!(true)));
    shop.now_ms += DAY_MS;
    for (amount, status, voided) in [(5_000, 2, 5_000), (700, 2, 5_700), (10_000, 11, 15_700)] {
        let got = shop.put(&format!("/1/sales/{id}/void?amount={amount}"));
        assert_eq!((&got.body["Status"], &got.body["ReturnCode"]), (&json!(status), &json!("0")));
        assert_eq!(shop.read(&id)["VoidedAmount"], voided);
    }
}

#[test]
fn a_whole_void_on_the_day_of_the_sale_ends_it_as_voided() {
    let mut shop = Shop::open();
    let id = shop.sold(&with(card("A1", 1), "Capture", json!(true)));
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).body["Status"], 10);
}

#[test]
fn more_than_is_left_is_not_given_back() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    shop.put(&format!("/1/sales/{id}/capture?amount=5000"));
    let got = shop.put(&format!("/1/sales/{id}/void?amount=5001"));
    assert_eq!((got.status, &got.body["Status"], &got.body["ReturnCode"]), (200, &json!(2), &json!("102")));
    assert_eq!(shop.entry("A1").voided_cents, 0);
}

#[test]
fn nothing_is_given_back_after_360_days() {
    let mut shop = Shop::open();
    let id = shop.sold(&with(card("A1", 1), "Capture", json!(true)));
    shop.now_ms += 361 * DAY_MS;
    assert_eq!(shop.put(&format!("/1/sales/{id}/void")).body["ReturnCode"], "101");
}

#[test]
fn a_void_by_order_acts_on_the_newest_sale() {
    let mut shop = Shop::open();
    let older = shop.sold(&card("A1", 1));
    let newer = shop.sold(&card("A1", 1));
    assert_eq!(shop.put("/1/sales/OrderId/A1/void").status, 200);
    assert_eq!(shop.read(&older)["Status"], 1);
    assert_eq!(shop.read(&newer)["Status"], 10);
    assert_eq!(shop.put("/1/sales/OrderId/A2/void").status, 404);
}

#[test]
fn the_same_order_twice_is_two_sales() {
    let mut shop = Shop::open();
    let ids = [shop.sold(&card("A1", 1)), shop.sold(&card("A1", 1))];
    let list = shop.get("/1/sales?merchantOrderId=A1").body;
    let listed: Vec<_> =
        list["Payments"].as_array().unwrap().iter().map(|line| line["PaymentId"].clone()).collect();
    assert_eq!(listed, ids);
    assert_eq!(shop.cielo.books()["A1"].len(), 2);
}

#[test]
fn the_same_order_twice_is_refused_where_the_merchant_wants_it_so() {
    let mut shop = Shop::at(Config { refuses_same_order: true, ..Config::default() });
    shop.sold(&card("A1", 1));
    assert_eq!(shop.sell(&card("A1", 1)).codes(), [302]);
    assert_eq!(shop.cielo.books()["A1"].len(), 1);
}

#[test]
fn operations_on_one_sale_must_lie_apart_where_that_is_wanted() {
    let mut shop = Shop::at(Config { pause_ms: 5_000, ..Config::default() });
    let id = shop.sold(&card("A1", 1));
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).status, 200);
    shop.now_ms += 4_999;
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=1")).codes(), [309]);
    shop.now_ms += 1;
    assert_eq!(shop.put(&format!("/1/sales/{id}/void?amount=1")).status, 200);
}

#[test]
fn a_plan_decides_instead_of_the_card() {
    let outcomes = [
        (Outcome::Approve, 1, json!("4")),
        (Outcome::Decline { code: "51".into(), advice: Some("02".into()) }, 3, json!("51")),
        (Outcome::Abort, 13, json!("BP171")),
        (Outcome::NotFinish, 0, json!(null)),
    ];
    for (outcome, status, code) in outcomes {
        let mut shop = Shop::open();
        shop.cielo.plan("A1", Plan { outcome: Some(outcome.clone()), ..Plan::default() });
        let payment = shop.sell(&card("A1", 2)).body["Payment"].clone();
        assert_eq!((&payment["Status"], &payment["ReturnCode"]), (&json!(status), &code), "{outcome:?}");
        let has_advice = matches!(outcome, Outcome::Decline { .. });
        assert_eq!(payment["MerchantAdviceCode"].as_str(), has_advice.then_some("02"));
    }
}

#[test]
fn an_authorisation_that_was_not_finished_may_come_later() {
    let mut shop = Shop::open();
    shop.cielo.plan_next(Plan { outcome: Some(Outcome::NotFinish), ..Plan::default() });
    let id = shop.sold(&card("A1", 1));
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).codes(), [308]);
    shop.cielo.finish("A1", &Outcome::Approve, shop.now_ms).unwrap();
    assert_eq!(shop.read(&id)["Status"], 1);
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).status, 200);
}

#[test]
fn a_void_may_fail_once_or_leave_open_whether_it_was_done() {
    let failure = |code: &str, was_done| Failure { code: code.to_owned(), was_done, is_once: true };
    for (code, was_done, voided) in [("72", false, 0), ("98", true, 1_000)] {
        let mut shop = Shop::open();
        shop.cielo.plan("A1", Plan { void: Some(failure(code, was_done)), ..Plan::default() });
        let id = shop.sold(&with(card("A1", 1), "Capture", json!(true)));
        let got = shop.put(&format!("/1/sales/{id}/void?amount=1000"));
        assert_eq!(
            (got.status, &got.body["Status"], &got.body["ReturnCode"]),
            (200, &json!(2), &json!(code))
        );
        assert_eq!(shop.entry("A1").voided_cents, voided);
        shop.put(&format!("/1/sales/{id}/void?amount=500"));
        assert_eq!(shop.entry("A1").voided_cents, voided + 500);
    }
}

#[test]
fn a_capture_may_be_refused_and_the_limit_stays_held() {
    let mut shop = Shop::open();
    let refused = Failure { code: "05".to_owned(), was_done: false, is_once: false };
    shop.cielo.plan("A1", Plan { capture: Some(refused), ..Plan::default() });
    let id = shop.sold(&card("A1", 1));
    let got = shop.put(&format!("/1/sales/{id}/capture"));
    assert_eq!((&got.body["Status"], &got.body["ReturnCode"]), (&json!(1), &json!("05")));
    assert_eq!(shop.status("A1"), Status::Authorized);
}

#[test]
fn an_authorisation_lapses_after_15_days() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    shop.now_ms += 15 * DAY_MS - 1;
    assert_eq!(shop.read(&id)["Status"], 1);
    shop.now_ms += 1;
    assert_eq!(shop.read(&id)["Status"], 10);
    assert_eq!(shop.put(&format!("/1/sales/{id}/capture")).codes(), [308]);
}

#[test]
fn a_captured_sale_does_not_lapse() {
    let mut shop = Shop::open();
    let id = shop.sold(&card("A1", 1));
    shop.put(&format!("/1/sales/{id}/capture"));
    shop.now_ms += 16 * DAY_MS;
    assert_eq!(shop.read(&id)["Status"], 2);
}

#[test]
fn instalments_under_the_least_amount_are_declined() {
    let sale = with(with(card("A1", 1), "Amount", json!(999)), "Installments", json!(2));
    assert_eq!(Shop::open().sell(&sale).body["Payment"]["ReturnCode"], "EE");
}

#[test]
fn a_kept_card_is_charged_by_its_token() {
    let mut shop = Shop::open();
    let kept = json!({ "CustomerName": "F", "CardNumber": "4111111111111112", "Holder": "F", "ExpirationDate": "12/2030", "Brand": "Visa" });
    let token = shop.call("POST", "/1/card", &kept).body["CardToken"].clone();
    let mut sale = card("A1", 1);
    sale["Payment"]["CreditCard"] = json!({ "CardToken": token, "SecurityCode": "123", "Brand": "Visa" });
    let payment = shop.sell(&sale).body["Payment"].clone();
    assert_eq!((&payment["Status"], &payment["ReturnCode"]), (&json!(3), &json!("05")));
    let shown = shop.get(&format!("/1/card/{}", token.as_str().unwrap())).body;
    assert_eq!(shown["CardNumber"], "411111******1112");
    let unknown = with_card(sale, "CardToken", json!("6e1bf77a-b28b-4660-b14f-455e2a1c95e9"));
    assert_eq!(shop.sell(&unknown).status, 400);
}

#[test]
fn a_card_is_checked_without_charging_where_that_is_enabled() {
    let mut shop = Shop::open();
    let mut check = |number: &str| {
        shop.call("POST", "/1/zeroauth", &json!({ "CardNumber": number })).body["Valid"].clone()
    };
    assert_eq!((check("5555555555554444"), check("4111111111111111")), (json!(true), json!(false)));
    let mut shop = Shop::at(Config { has_zero_auth: false, ..Config::default() });
    assert_eq!(shop.call("POST", "/1/zeroauth", &json!({ "CardNumber": "5" })).codes(), [322]);
}

#[test]
fn the_holder_disputes_in_cases_that_go_on() {
    let mut shop = Shop::open();
    let id = shop.sold(&with(card("A1", 1), "Capture", json!(true)));
    shop.cielo.chargeback("A1", "7", 5_000, "Received", shop.now_ms).unwrap();
    shop.cielo.chargeback("A1", "8", 700, "Received", shop.now_ms).unwrap();
    shop.cielo.chargeback("A1", "7", 5_000, "AcceptedByMerchant", shop.now_ms).unwrap();
    let cases = shop.read(&id)["Chargebacks"].clone();
    assert_eq!((&cases[0]["CaseNumber"], &cases[0]["Amount"]), (&json!("7"), &json!(5_000)));
    assert_eq!(
        (&cases[0]["Status"], &cases[1]["Status"]),
        (&json!("AcceptedByMerchant"), &json!("Received"))
    );
    assert!(shop.cielo.chargeback("A1", "9", 15_701, "Received", shop.now_ms).is_err());
}

#[test]
fn the_desk_captures_and_voids_too() {
    let mut shop = Shop::open();
    shop.sold(&card("A1", 1));
    assert!(shop.cielo.capture_at_desk("A1", Some(15_701), shop.now_ms).is_err());
    shop.cielo.capture_at_desk("A1", Some(10_000), shop.now_ms).unwrap();
    shop.cielo.void_at_desk("A1", Some(4_000), shop.now_ms).unwrap();
    assert!(shop.cielo.void_at_desk("A1", Some(6_001), shop.now_ms).is_err());
    assert_eq!(shop.entry("A1").kept_cents(), 6_000);
}
