use quita_banks::cielo::Status;
use serde_json::json;

use crate::shop::{Shop, card, pix};

#[test]
fn a_payer_is_told_to_pay_by_order_or_by_sale() {
    let mut shop = Shop::open();
    let id = shop.sold(&pix("A1"));
    shop.sold(&pix("A2"));
    assert_eq!(shop.control(json!({ "do": "pay", "sale": id })), json!({ "ok": true }));
    assert_eq!(
        shop.control(json!({ "do": "pay", "sale": "A2", "amountCents": 9_999 })),
        json!({ "ok": true })
    );
    assert_eq!((shop.entry("A1").captured_cents, shop.entry("A2").captured_cents), (10_000, 9_999));
    let unknown = shop.control(json!({ "do": "pay", "sale": "A3" }));
    assert_eq!(unknown, json!({ "error": "no such sale" }));
}

#[test]
fn the_desk_is_told_to_capture_void_and_take_disputes() {
    let mut shop = Shop::open();
    shop.sold(&card("A1", 1));
    let commands = [
        json!({ "do": "capture", "sale": "A1", "amountCents": 10_000 }),
        json!({ "do": "void", "sale": "A1", "amountCents": 4_000 }),
        json!({ "do": "chargeback", "sale": "A1", "case": "7", "amountCents": 500, "status": "Received" }),
        json!({ "do": "notify", "sale": "A1" }),
        json!({ "do": "forge", "sale": "A1", "how": "wrong-header" }),
    ];
    for command in commands {
        assert_eq!(shop.control(command.clone()), json!({ "ok": true }), "{command}");
    }
    let books = shop.control(json!({ "do": "books" }));
    assert_eq!((&books["A1"][0]["keptCents"], &books["A1"][0]["status"]), (&json!(6_000), &json!(2)));
    assert_eq!(
        books["A1"][0]["chargebacks"],
        json!([{ "case": "7", "amountCents": 500, "status": "Received" }])
    );
}

#[test]
fn the_next_sale_follows_the_plan_that_was_told() {
    let mut shop = Shop::open();
    let declined = json!({ "outcome": { "decline": { "code": "51", "advice": "02" } } });
    let open = json!({ "outcome": "not-finish", "void": { "code": "98", "wasDone": true } });
    for plan in [declined, open] {
        assert_eq!(shop.control(json!({ "do": "plan", "plan": plan })), json!({ "ok": true }));
    }
    shop.sold(&card("A1", 1));
    shop.sold(&card("A2", 1));
    shop.sold(&card("A3", 2));
    let statuses = ["A1", "A2", "A3"].map(|order| shop.status(order));
    assert_eq!(statuses, [Status::Denied, Status::NotFinished, Status::Denied]);
    shop.control(json!({ "do": "finish", "sale": "A2", "outcome": "approve" }));
    let got = shop.put("/1/sales/OrderId/A2/void");
    assert_eq!((&got.body["ReturnCode"], shop.status("A2")), (&json!("98"), Status::Voided));
}

#[test]
fn knobs_are_turned_while_it_runs() {
    let mut shop = Shop::open();
    let config = json!({
        "queryLagMs": 1_000, "hostsApart": true, "traps": ["numbers-as-text"],
        "notices": { "url": "http://127.0.0.1:1/", "headers": { "x-secret": "s" }, "delayMs": [5, 5] },
    });
    let turned = shop.control(json!({ "do": "set", "config": config }));
    assert_eq!(turned, json!({ "ok": true }));
    let id = shop.sold(&pix("A1"));
    assert_eq!(shop.get(&format!("/query/1/sales/{id}")).status, 404);
    shop.now_ms += 1_000;
    assert_eq!(shop.get(&format!("/query/1/sales/{id}")).status, 200);
    assert_eq!(shop.told(), [(id, 1)]);
}

#[test]
fn what_is_not_understood_changes_nothing() {
    let mut shop = Shop::open();
    let commands = [
        json!({ "do": "dance" }),
        json!({ "do": "set" }),
        json!({ "do": "set", "config": { "queryLagMs": 1_000, "speed": 1 } }),
        json!({ "do": "set", "config": { "queryLagMs": 1_000, "traps": ["unheard-of"] } }),
        json!({ "do": "plan", "plan": { "outcome": "maybe" } }),
        json!({ "do": "plan", "plan": { "wrongCode": "maybe" } }),
        json!({ "do": "plan" }),
        json!({ "do": "forge", "sale": "A1", "how": "badly" }),
        json!({ "do": "expire", "sale": "A1" }),
    ];
    for command in commands {
        assert!(shop.control(command.clone())["error"].is_string(), "{command}");
    }
    let id = shop.sold(&pix("A1"));
    assert_eq!(shop.get(&format!("/1/sales/{id}")).status, 200);
}
