use quita_banks::pagarme::Status;
use serde_json::json;

use crate::shop::{Shop, are, card, held, pix};

#[test]
fn the_dashboard_is_told_to_capture_and_cancel() {
    let mut shop = Shop::open();
    shop.ordered(&held("c1"));
    for command in [
        json!({ "do": "capture", "charge": "c1", "amountCents": 10_000 }),
        json!({ "do": "cancel", "charge": "c1", "amountCents": 4_000 }),
        json!({ "do": "notify", "charge": "c1" }),
        json!({ "do": "forge", "charge": "c1", "how": "wrong-password" }),
    ] {
        assert_eq!(shop.control(command.clone()), json!({ "ok": true }), "{command}");
    }
    let books = shop.control(json!({ "do": "books" }));
    assert_eq!((&books["c1"][0]["keptCents"], &books["c1"][0]["status"]), (&json!(6_000), &json!("paid")));
}

#[test]
fn the_next_order_follows_the_plan_that_was_told() {
    let mut shop = Shop::open();
    for outcome in [
        json!("analyze"),
        json!("err"),
        json!("reprove"),
        json!({ "reject": { "code": "500" } }),
        json!({ "decline": { "code": "57" } }),
    ] {
        assert_eq!(
            shop.control(json!({ "do": "plan", "plan": { "outcome": outcome } })),
            json!({ "ok": true })
        );
    }
    let statuses: Vec<_> =
        ["a", "b", "c", "d", "e", "f"].map(|code| shop.order(&card(code)).statuses()).to_vec();
    assert_eq!(
        statuses,
        [
            are("processing", "analyzing"),
            are("processing", "with_error"),
            are("failed", "not_authorized"),
            are("failed", "failed"),
            are("failed", "not_authorized"),
            are("paid", "captured"),
        ]
    );
    shop.control(json!({ "do": "finish", "charge": "a", "outcome": "approve" }));
    assert_eq!(shop.entry("a").status, Status::Paid);
}

#[test]
fn a_refused_card_is_tried_again_by_itself() {
    let mut shop = Shop::open();
    shop.control(json!({ "do": "plan", "plan": { "outcome": { "decline": { "code": "51" } } } }));
    shop.ordered(&card("c1"));
    assert_eq!(shop.control(json!({ "do": "recover", "charge": "c1" })), json!({ "ok": true }));
    assert_eq!((shop.entry("c1").status, shop.entry("c1").paid_cents), (Status::Paid, 15_700));
}

#[test]
fn a_failure_of_an_operation_is_done_or_not() {
    let mut shop = Shop::open();
    let left = shop.ordered(&card("c1"));
    let done = shop.ordered(&card("c2"));
    let failing =
        |was_done: bool| json!({ "cancel": { "status": 500, "wasDone": was_done, "isOnce": true } });
    shop.control(json!({ "do": "plan", "charge": "c1", "plan": failing(false) }));
    shop.control(json!({ "do": "plan", "charge": "c2", "plan": failing(true) }));
    let part = json!({ "amount": 100 });
    assert_eq!([shop.cancel(&left, &part).status, shop.cancel(&done, &part).status], [500, 500]);
    assert_eq!([shop.entry("c1").canceled_cents, shop.entry("c2").canceled_cents], [0, 100]);
    assert_eq!(shop.cancel(&left, &part).status, 200);
}

#[test]
fn another_order_of_the_same_code_is_made() {
    let mut shop = Shop::open();
    shop.ordered(&pix("p1"));
    shop.control(json!({ "do": "again", "charge": "p1" }));
    let charges = shop.pagarme.charges_of("p1");
    assert_eq!(charges.len(), 2);
    assert_ne!(charges[0].order_id, charges[1].order_id);
}

#[test]
fn what_is_not_understood_changes_nothing() {
    let mut shop = Shop::open();
    for command in [
        json!({ "do": "dance" }),
        json!({ "do": "set" }),
        json!({ "do": "set", "config": { "speed": 1 } }),
        json!({ "do": "plan", "plan": { "outcome": "maybe" } }),
        json!({ "do": "plan" }),
        json!({ "do": "forge", "charge": "c1", "how": "badly" }),
        json!({ "do": "pay", "charge": "c1" }),
    ] {
        assert!(shop.control(command.clone())["error"].is_string(), "{command}");
    }
    assert!(shop.pagarme.books().is_empty());
}
