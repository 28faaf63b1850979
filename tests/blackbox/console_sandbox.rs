//! The console in test mode: a payment by a click, moving it in its payer's place, deliveries that fail.

use serde_json::json;

use crate::support::{Account, Edit, PATIENCE, TestApp, Visitor, eventually, pix};

/// A developer of the shop, signed in.
fn developer(app: &TestApp) -> Visitor {
    Visitor::signed_in(app, &Account::create(app, "shop", "dora@shop.example", "developer"))
}

#[test]
fn the_console_opens_in_test_mode_while_no_acquirer_takes_live_payments() {
    let app = TestApp::new();
    let visitor = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    app.create_key(&["--merchant", "shop", "--mode", "live"]);
    let opened = visitor.get("/console/");
    assert_eq!((opened.status, opened.header("location")), (303, Some("/console/test")), "{opened}");
}

#[test]
fn a_test_payment_is_made_paid_and_charged_back_by_clicks() {
    let app = TestApp::new();
    let visitor = developer(&app);
    assert!(visitor.page("/console/test/payments").contains("action=\"/console/test/test-payment\""));
    let made = visitor.post("/console/test/test-payment", &[]);
    assert_eq!(made.status, 303, "{made}");
    let page = made.header("location").unwrap().to_owned();
    let id = page.rsplit('/').next().unwrap();
    assert_eq!(app.client().payment(id)["status"], "pending", "it waits for a click");
    for (action, status, next) in
        [("pay", "paid", "chargeback"), ("chargeback", "chargeback", "pay"), ("pay", "paid", "chargeback")]
    {
        let offered = visitor.page(&page);
        assert!(offered.contains(&format!("href=\"{page}/sandbox/{action}\"")), "{action}: {offered}");
        let asked = visitor.page(&format!("{page}/sandbox/{action}"));
        assert!(asked.contains("No money moves"), "{asked}");
        assert_eq!(visitor.post(&format!("{page}/sandbox/{action}"), &[]).status, 303, "{action}");
        assert_eq!(app.client().payment(id)["status"], status);
        let shown = visitor.page(&page);
        assert!(shown.contains(&format!("/sandbox/{next}")) && !shown.contains("/sandbox/expire"), "{shown}");
    }
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let told = owner.page("/console/test/audit");
    for part in ["created the test payment", "moved the sandbox payment", "dora@shop.example", id] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn nothing_is_moved_by_hand_that_its_status_mode_or_role_does_not_permit() {
    let app = TestApp::new();
    let visitor = developer(&app);
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let page = format!("/console/test/payments/{id}");
    for (path, status) in [
        ("sandbox/chargeback", 409),
        // It has a button of its own, in every mode.
        ("sandbox/refund", 404),
        ("sandbox/explode", 404),
    ] {
        assert_eq!(visitor.post(&format!("{page}/{path}"), &[]).status, status, "{path}");
        assert_eq!(visitor.get(&format!("{page}/{path}")).status, status, "{path}");
    }
    let live = format!("/console/live/payments/{id}/sandbox/pay");
    assert_eq!(visitor.post(&live, &[]).status, 404);
    assert_eq!(visitor.post("/console/live/test-payment", &[]).status, 404);
    assert!(!visitor.page("/console/live/payments").contains("test-payment"));
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    assert_eq!(viewer.post(&format!("{page}/sandbox/pay"), &[]).status, 403);
    assert_eq!(viewer.post("/console/test/test-payment", &[]).status, 403);
    let shown = viewer.page(&page);
    assert!(!shown.contains("/sandbox/") && !viewer.page("/console/test/payments").contains("test-payment"));
    assert_eq!(app.client().payment(&id)["status"], "pending", "nothing of it moved the payment");
}

#[test]
fn deliveries_that_fail_are_told_on_the_overview() {
    let app = TestApp::new();
    let visitor = developer(&app);
    assert!(!visitor.page("/console/test").contains("failing-deliveries"));
    app.client().create(&pix(10_027).with("postbackUrl", json!("http://127.0.0.1:1/")));
    let page = eventually(PATIENCE, "the first attempt failed", || {
        Some(visitor.page("/console/test")).filter(|page| page.contains("failing-deliveries"))
    });
    assert!(page.contains("Failing, to be retried: 1. Given up"), "{page}");
    assert!(page.contains("href=\"/console/test/deliveries?state=failing\""), "{page}");
    assert!(!visitor.page("/console/live").contains("failing-deliveries"), "it is of one mode");
}
