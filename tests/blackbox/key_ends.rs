//! Ends of API keys, and who is told before.

use crate::support::{Account, Answer, PATIENCE, TestApp, Visitor, eventually};

const HEADER: &str = "quita-key-expires-at";

fn id_of(key: &str) -> &str {
    key.split('_').nth(2).unwrap()
}

/// Returns the state of a key in the output of `quita keys list`.
fn state(app: &TestApp, key: &str) -> String {
    let listed = app.quita(&["keys", "list"]).output();
    let line = listed.lines().find(|line| line.contains(id_of(key))).unwrap();
    line.rsplit('\t').next().unwrap().to_owned()
}

fn ends(answer: &Answer) -> Option<&str> {
    answer.header(HEADER)
}

/// Whole days from now to the end of a key.
fn days_left(state: &str) -> i64 {
    let end = state.strip_prefix("in use until ").unwrap_or_else(|| panic!("{state}"));
    (millis_of(end) - now_millis()) / 86_400_000
}

fn now_millis() -> i64 {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn millis_of(text: &str) -> i64 {
    quita_domain::time::Timestamp::parse(text).unwrap().millis()
}

#[test]
fn a_key_ends_after_a_year_unless_something_else_is_said() {
    let app = TestApp::new();
    let default = app.create_key(&["--merchant", "shop"]);
    assert!((364..=365).contains(&days_left(&state(&app, &default))));
    let short = app.create_key(&["--merchant", "shop", "--expires-in", "36h"]);
    assert_eq!(days_left(&state(&app, &short)), 1);
    let endless = app.create_key(&["--merchant", "shop", "--expires-in", "never"]);
    assert_eq!(state(&app, &endless), "in use");
    let refused = app.quita(&["keys", "create", "--merchant", "shop", "--expires-in", "soon"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("never"), "{refused:?}");
}

#[test]
fn the_key_of_the_first_start_ends_too() {
    let app = TestApp::new();
    assert!((364..=365).contains(&days_left(&state(&app, app.key()))));
}

#[test]
fn a_caller_is_told_in_the_last_thirty_days_of_its_key_whatever_the_answer() {
    let app = TestApp::new();
    let soon = app.create_key(&["--merchant", "shop", "--expires-in", "29d", "--scopes", "payments:read"]);
    let client = app.client_with(&soon);
    let told = client.get("/pay/payments");
    let end = ends(&told).unwrap_or_else(|| panic!("{told}"));
    assert_eq!(state(&app, &soon), format!("in use until {end}"));
    assert_eq!(ends(&client.get("/pay/webhooks/deliveries")), Some(end), "a refusal tells too");
    assert_eq!(ends(&client.get("/pay/payments/nonsense")), Some(end));
    for life in ["31d", "never"] {
        let key = app.create_key(&["--merchant", "shop", "--expires-in", life]);
        assert_eq!(ends(&app.client_with(&key).get("/pay/payments")), None, "{life}");
    }
    assert_eq!(ends(&app.client_without_key().get("/pay/payments")), None);
}

#[test]
fn operators_and_merchants_see_how_many_keys_end_soon() {
    let mut app = TestApp::new();
    let soon = app.create_key(&["--merchant", "shop", "--expires-in", "10d"]);
    app.create_key(&["--merchant", "rival", "--expires-in", "20d"]);
    let revoked = app.create_key(&["--merchant", "shop", "--expires-in", "10d"]);
    app.quita(&["keys", "revoke", id_of(&revoked)]).output();
    app.restart();
    eventually(PATIENCE, "the keys are counted", || {
        let metrics = app.ops().get("/metrics").text();
        let counted = |mode: &str, count| {
            metrics.contains(&format!("quita_api_keys_ending_soon{{mode=\"{mode}\"}} {count}\n"))
        };
        (counted("test", 2) && counted("live", 0)).then_some(())
    });
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    assert!(viewer.page("/console/test").contains("One API key expires within 30 days"));
    assert!(!viewer.page("/console/live").contains("expires within 30 days"));
    let page = viewer.page("/console/test/applications/default");
    assert_eq!(page.matches("Expires soon").count(), 1, "{page}");
    assert!(page.contains(id_of(&soon)) && page.contains("id=\"ending-keys\""), "{page}");
}

#[test]
fn a_key_made_in_the_console_ends_as_it_was_chosen_and_a_year_if_nothing_was() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", "ana@shop.example", "owner"));
    let make = |expiry: &[(&str, &str)]| {
        let fields = [&[("scope", "webhooks")], expiry].concat();
        let shown = owner.post("/console/test/applications/default/keys", &fields).text();
        let (_, after) = shown.split_once("qk_test_").unwrap();
        state(&app, &format!("qk_test_{}", after.split('<').next().unwrap()))
    };
    assert!((364..=365).contains(&days_left(&make(&[]))));
    assert!((29..=30).contains(&days_left(&make(&[("expiry", "30")]))));
    assert_eq!(make(&[("expiry", "never")]), "in use");
}
