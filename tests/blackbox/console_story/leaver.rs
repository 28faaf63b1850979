//! The owner lets somebody go: with the keys that they made, but for the one that a shop still runs on.

use crate::support::{Account, Browser, PATIENCE, TestApp, Visitor, eventually};

/// Makes a key, which the answer shows.
fn make_key(who: &Visitor) -> String {
    let fields = [("scope", "payments:read"), ("expiry", "30")];
    let page = who.post("/console/test/applications/default/keys", &fields).text();
    let (_, after) = page.split_once("id=\"secret\">").unwrap();
    after.split('<').next().unwrap().to_owned()
}

fn id_of(key: &str) -> &str {
    key.split('_').nth(2).unwrap()
}

#[test]
fn an_owner_removes_somebody_with_their_keys_but_for_one() {
    let app = TestApp::new();
    let Some(browser) = Browser::open(&app) else { return };
    let owner = Account::create(&app, "shop", "ana@shop.example", "owner");
    let dora = Visitor::signed_in(&app, &Account::create(&app, "shop", "dora@shop.example", "developer"));
    let [goes, stays] = [(); 2].map(|()| make_key(&dora));
    assert_eq!(dora.post("/console/live/applications/default/secret/rotate", &[]).status, 200);
    owner.sign_in(&app, &browser);
    browser.wait_for_text("#ending-keys", "2 API keys expire within 30 days.");
    browser.look("ending-keys");
    browser.go_to(&format!("{}/console/test/applications/default", app.url()));
    browser.wait_for_text("main", "Expires soon");
    browser.look("keys-that-end");
    browser.click(".nav a[href$=\"/people\"]");
    browser.click("a[href$=\"dora%40shop.example/remove\"]");
    browser.wait_for_text("h1", "Remove dora@shop.example?");
    assert_eq!(browser.count("#known-keys input[type=\"checkbox\"]:checked"), 2);
    assert_eq!(browser.count("#known-secrets a"), 1);
    browser.look("removal");
    browser.in_the_dark();
    browser.check_fits("removal-dark");
    browser.click(&format!("#known-keys input[value=\"{}\"][type=\"checkbox\"]", id_of(&stays)));
    browser.submit();
    browser.wait_for_text("main", "Person removed.");
    eventually(PATIENCE, "the key stops", || {
        (app.client_with(&goes).get("/pay/payments").status == 401).then_some(())
    });
    assert_eq!(app.client_with(&stays).get("/pay/payments").status, 200);
    assert_eq!(dora.get("/console/test").status, 303);
    browser.click(".nav a[href$=\"/audit\"]");
    browser.wait_for_text("main", "revoked the key");
}
