//! People who are removed, and the keys that they made and could still use.

use std::time::Duration;

use crate::support::{Account, TestApp, Visitor, eventually};

/// Longest time that a revoked key may go on working, and some more for the test.
const STOPS_WITHIN: Duration = Duration::from_millis(5_500);
const DORA: &str = "/console/test/people/dora%40shop.example/remove";

struct Shop {
    app: TestApp,
    owner: Visitor,
    dora: Visitor,
}

impl Shop {
    fn open() -> Self {
        let app = TestApp::new();
        let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
        let dora = Visitor::signed_in(&app, &Account::create(&app, "shop", "dora@shop.example", "developer"));
        Self { app, owner, dora }
    }

    fn is_taken(&self, key: &str) -> bool {
        self.app.client_with(key).get("/pay/payments").status == 200
    }

    fn wait_until_refused(&self, key: &str) {
        eventually(STOPS_WITHIN, "the key stops", || (!self.is_taken(key)).then_some(()));
    }
}

/// Makes a key, which the answer shows.
fn make_key(who: &Visitor) -> String {
    shown_key(&who.post("/console/test/applications/default/keys", &[("scope", "payments:read")]).text())
}

fn rotate_key(who: &Visitor, key: &str) -> String {
    let path = format!("/console/test/applications/default/keys/{}/rotate", id_of(key));
    shown_key(&who.post(&path, &[]).text())
}

fn shown_key(page: &str) -> String {
    let (_, after) = page.split_once("id=\"secret\">").unwrap_or_else(|| panic!("{page}"));
    after.split('<').next().unwrap().to_owned()
}

fn id_of(key: &str) -> &str {
    key.split('_').nth(2).unwrap()
}

#[test]
fn who_is_removed_takes_no_key_along() {
    let shop = Shop::open();
    let [made, by_owner] = [&shop.dora, &shop.owner].map(make_key);
    let taken_over = make_key(&shop.owner);
    let successor = rotate_key(&shop.dora, &taken_over);
    let page = shop.owner.page(DORA);
    for key in [&made, &successor] {
        let ticked = format!("name=\"revoke\" value=\"{}\" checked", id_of(key));
        assert!(page.contains(&ticked) && !page.contains(key.as_str()), "{page}");
    }
    for key in [&by_owner, &taken_over] {
        assert!(!page.contains(id_of(key)), "Dora was not shown it: {page}");
    }
    // The page was open when she made one more.
    let late = make_key(&shop.dora);
    let boxes = [
        ("shown", id_of(&made)),
        ("revoke", id_of(&made)),
        ("shown", id_of(&successor)),
        ("revoke", id_of(&successor)),
    ];
    assert_eq!(shop.owner.post(DORA, &boxes).status, 303);
    for key in [&made, &successor, &late] {
        shop.wait_until_refused(key);
    }
    assert!(shop.is_taken(&by_owner));
    let log = shop.owner.page("/console/test/audit");
    let noted = |key: &str| {
        log.split("<tr>").any(|entry| entry.contains("revoked the key") && entry.contains(id_of(key)))
    };
    assert!([&made, &successor, &late].into_iter().all(|key| noted(key)), "{log}");
}

#[test]
fn a_key_that_is_to_stay_does_and_nobody_elses_is_touched() {
    let shop = Shop::open();
    let [stays, by_owner] = [&shop.dora, &shop.owner].map(make_key);
    let rivals = shop.app.create_key(&["--merchant", "rival"]);
    let boxes = [("shown", id_of(&stays)), ("revoke", id_of(&by_owner)), ("revoke", id_of(&rivals))];
    assert_eq!(shop.owner.post(DORA, &boxes).status, 303);
    crate::support::pause(Duration::from_secs(3));
    for key in [&stays, &by_owner, &rivals] {
        assert!(shop.is_taken(key), "{key}");
    }
    assert_eq!(shop.dora.get("/console/test").status, 303);
}

#[test]
fn the_webhook_secrets_that_somebody_was_shown_are_named_and_lead_to_their_rotation() {
    let shop = Shop::open();
    let rotated = shop.dora.post("/console/live/applications/default/secret/rotate", &[]).text();
    let secret = shown_key(&rotated);
    assert_eq!(shop.dora.post("/console/test/applications", &[("name", "site")]).status, 200);
    let page = shop.owner.page(DORA);
    for (mode, application) in [("live", "default"), ("test", "site"), ("live", "site")] {
        let path = format!("/console/{mode}/applications/{application}/secret/rotate");
        assert!(page.contains(&format!("href=\"{path}\"")), "{path}: {page}");
        assert_eq!(shop.owner.get(&path).status, 200);
    }
    assert!(!page.contains("/console/test/applications/default/secret") && !page.contains(&secret), "{page}");
}
