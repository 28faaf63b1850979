//! A developer: keys, secrets and test events, but nobody's account.

use crate::support::{Account, Browser, PATIENCE, Reply, TestApp, TestReceiver, signature_of};

#[test]
fn a_developer_rotates_a_key_and_a_secret_and_tries_a_webhook() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let receiver = TestReceiver::start();
    receiver.answer_with(|_| Reply::status(202).body("thank you"));
    Account::create(&app, "shop", "dora@shop.example", "developer").sign_in(&app, &browser);
    assert_eq!(browser.count(".nav a[href$=\"/people\"], .nav a[href$=\"/audit\"]"), 0);
    browser.click(".nav a[href$=\"/applications\"]");
    browser.click("a.row-link");
    browser.wait_for_text("h1", "default");
    // Rotated: both keys work for now.
    browser.click("a[href$=\"/rotate\"][href*=\"/keys/\"]");
    browser.wait_for_text("h1", "Rotate the key");
    browser.submit();
    browser.wait_for_text("h1", "Your new key");
    let successor = browser.text("#secret");
    for key in [app.key(), &successor] {
        assert_eq!(app.client_with(key).get("/pay/payments").status, 200);
    }
    browser.click("main p a.button");
    browser.wait_for_address("/applications/default");
    assert_eq!(browser.count(".badge-live"), 2);
    // The secret is shown once, when it is rotated.
    assert!(!browser.text("main").contains(&app.secret()));
    browser.click("a[href$=\"/secret/rotate\"]");
    browser.wait_for_text("h1", "Rotate the secret of default?");
    browser.submit();
    browser.wait_for_text("h1", "Webhook secret of default");
    let secret = browser.text("#secret");
    browser.look("secret");
    assert_eq!(app.secret().lines().next(), Some(&*secret));
    // A test event, signed with the new secret.
    browser.click("main p a.button");
    browser.wait_for_address("/applications/default");
    assert_eq!(browser.count("a[href$=\"/secret/rotate\"]"), 1, "five may sign at once");
    browser.enter("#url", &receiver.url());
    browser.click("form[action$=\"/test-event\"] .button-primary");
    browser.wait_for_text(".exchange", "thank you");
    let received = receiver.wait_for(1, PATIENCE);
    assert_eq!((received.len(), received[0].text("event")), (1, "payment.paid".into()));
    let body = received[0].json();
    assert_eq!((&body["mode"], &body["test"]), (&"test".into(), &true.into()), "it says that it is none");
    let signatures: Vec<_> = received[0].header("webhook-signature").unwrap().split(' ').collect();
    let of_both: Vec<_> = app.secret().lines().map(|secret| signature_of(&received[0], secret)).collect();
    assert_eq!(signatures, of_both, "the old secret signs too for a while");
    browser.look("application");
    let told = browser.text(".exchange");
    assert!(told.contains("202") && told.contains(&received[0].webhook_id()), "{told}");
    browser.go_to(&format!("{}/console/test/audit", app.url()));
    browser.wait_for_text("h1", "Your role does not permit this");
}
