//! Somebody who only looks: sees what there is, and finds nothing to change it with.

use serde_json::json;

use crate::support::{Account, Browser, Edit, PATIENCE, TestApp, TestReceiver, Visitor, eventually, pix};

/// Selector of all that would change something of the shop. Exempt are the own account, the language, signing out, and
/// looking at a payer.
const BUTTONS: &str = "main form[method=\"post\"]:not([action*=\"/account/\"]):not([action$=\"/language\"]):not([action$=\"/payer\"]), \
     a[href*=\"/payments/\"][href*=\"/refund\"], a[href*=\"/cancel\"], a[href*=\"/capture\"], a[href*=\"/redeliver\"], \
     a[href*=\"/rotate\"], a[href*=\"/revoke\"], a[href*=\"/secret/\"], a[href$=\"/people\"], a[href$=\"/audit\"], \
     a[href$=\"/links/new\"], a[href$=\"/close\"]";

#[test]
fn a_viewer_sees_everything_and_has_no_button() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let receiver = TestReceiver::start();
    let request = pix(10_000).with("postbackUrl", json!(receiver.url()));
    let id = app.client().create(&request)["transactionId"].as_str().unwrap().to_owned();
    receiver.wait_for_events(&id, 2, PATIENCE);
    eventually(PATIENCE, "what was confirmed is stored", || {
        let deliveries = app.client().deliveries(&id);
        deliveries.iter().all(|delivery| delivery["state"] == "delivered").then_some(())
    });
    let viewer = Account::create(&app, "shop", "vera@shop.example", "viewer");
    viewer.sign_in(&app, &browser);
    for (page, told) in [
        ("", "Volume"),
        ("/payments", "Maria da Silva"),
        (&*format!("/payments/{id}"), "Timeline"),
        ("/refunds", "Nothing here"),
        ("/disputes", "Nothing here"),
        ("/links", "No links"),
        ("/deliveries?state=delivered", "payment.paid"),
        ("/applications", "default"),
        ("/applications/default", "payments:write"),
        ("/account", "vera@shop.example"),
    ] {
        browser.go_to(&format!("{}/console/test{page}", app.url()));
        browser.wait_for_text("main", told);
        assert_eq!(browser.count(BUTTONS), 0, "{page}: {:?}", browser.texts(BUTTONS));
    }
    browser.go_to(&format!("{}/console/test/people", app.url()));
    browser.wait_for_text("h1", "Your role does not permit this");
    browser.look("viewer");
    // And what the buttons would send is refused.
    let visitor = Visitor::signed_in(&app, &viewer);
    let key = "01980000-0000-7000-8000-000000000001";
    let refused =
        visitor.post(&format!("/console/test/payments/{id}/refund"), &[("amount", "1.00"), ("key", key)]);
    assert_eq!(refused.status, 403, "{refused}");
    assert_eq!(app.client().payment(&id)["refundedAmount"], "0.00");
}

#[test]
fn a_viewer_has_one_payer_shown_by_a_click_that_is_noted() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let id = app.client().create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned();
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    Account::create(&app, "shop", "vera@shop.example", "viewer").sign_in(&app, &browser);
    let payment = format!("{}/console/test/payments/{id}", app.url());
    browser.go_to(&payment);
    browser.wait_for_text("main", "***.982.247-**");
    assert!(!browser.text("main").contains("maria.silva@example.com"), "{}", browser.text("main"));
    browser.look("payer-masked");
    browser.click("main form[action$=\"/payer\"] button");
    browser.wait_for_text("main", "529.982.247-25");
    for shown in ["maria.silva@example.com", "+5511987654321", "recorded in the audit log"] {
        browser.wait_for_text("main", shown);
    }
    browser.look("payer-shown");
    browser.become_a_phone();
    browser.check_fits("payer-shown-phone");
    browser.click("main p a.button");
    browser.wait_for_text("main", "***.982.247-**");
    browser.check_fits("payer-masked-phone");
    let log = Visitor::signed_in(&app, &owner).page("/console/test/audit");
    assert_eq!(log.matches("viewed the payer of").count(), 1, "{log}");
}

#[test]
fn after_signing_in_again_one_comes_back_to_the_page_that_was_asked_for() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let viewer = Account::create(&app, "shop", "vera@shop.example", "viewer");
    viewer.sign_in(&app, &browser);
    assert!(browser.cookie("quita_console").is_some());
    assert_eq!(browser.script("return document.cookie"), json!(""), "no script sees a cookie");
    browser.delete_cookies();
    let wanted = format!("{}/console/test/payments?status=paid&q=a+b", app.url());
    browser.go_to(&wanted);
    browser.wait_for_address("/console/sign-in");
    browser.enter("#email", "vera@shop.example");
    browser.enter("#password", "not the password");
    browser.click("form button.button-primary");
    browser.wait_for_text("[role=alert]", "Sign-in failed.");
    browser.look("sign-in-failed");
    viewer.fill_in(&browser);
    assert_eq!(browser.url(), wanted);
    assert_eq!(browser.value("#q"), "a b");
}
