//! Endpoints of applications: where the events of payments go that name no receiver.

use serde_json::{Value, json};

use crate::support::{Account, Edit, PATIENCE, TestApp, TestReceiver, Visitor, pix};

fn set_endpoint(app: &TestApp, url: &str) {
    let set = app.quita(&["applications", "set-webhook", "--merchant", "shop", "--url", url]);
    assert_eq!((set.code, set.stdout.as_str()), (Some(0), ""), "{set:?}");
}

fn id_of(record: &Value) -> &str {
    record["transactionId"].as_str().unwrap()
}

#[test]
fn a_payment_that_names_no_receiver_takes_the_endpoint_of_its_application_and_keeps_it() {
    let app = TestApp::new();
    let first = TestReceiver::start();
    let second = TestReceiver::start();
    let client = app.client();
    assert_eq!(client.create(&pix(10_027))["postbackUrl"], Value::Null);
    set_endpoint(&app, &first.url());
    let taken = client.create(&pix(10_027).with("postbackUrl", Value::Null));
    assert_eq!(taken["postbackUrl"], first.url());
    first.wait_for_events(id_of(&taken), 1, PATIENCE);
    set_endpoint(&app, &second.url());
    let own = client.create(&pix(10_027).with("postbackUrl", json!(first.url())));
    let later = client.create(&pix(10_027));
    assert_eq!((&own["postbackUrl"], &later["postbackUrl"]), (&json!(first.url()), &json!(second.url())));
    client.post_empty(&format!("/sandbox/payments/{}/pay", id_of(&taken))).expect(200);
    let told = first.wait_for_events(id_of(&taken), 2, PATIENCE);
    assert_eq!(told[1].json()["data"]["postbackUrl"], first.url(), "a change concerns later payments only");
    second.wait_for_events(id_of(&later), 1, PATIENCE);
    assert!(second.events_of(id_of(&taken)).is_empty());
    set_endpoint(&app, "none");
    assert_eq!(client.create(&pix(10_027))["postbackUrl"], Value::Null);
    assert_eq!(client.payment(id_of(&taken))["postbackUrl"], first.url());
}

#[test]
fn an_endpoint_is_no_part_of_a_request() {
    let app = TestApp::new();
    let client = app.client();
    let first = client.post_once("/pay/payments", "order-1", &pix(10_027)).expect(201);
    set_endpoint(&app, "http://127.0.0.1:9/later");
    let again = client.post_once("/pay/payments", "order-1", &pix(10_027));
    assert_eq!(again.expect(200)["transactionId"], first["transactionId"]);
    assert_eq!(again.json()["postbackUrl"], Value::Null, "the payment is as it was");
}

#[test]
fn a_mode_has_nothing_of_the_endpoint_of_the_other() {
    let app = TestApp::new();
    let arguments = ["applications", "set-webhook", "--merchant", "shop", "--mode", "live", "--url"];
    app.quita(&[&arguments[..], &["https://live.example/hook?key=1"]].concat()).output();
    assert_eq!(app.client().create(&pix(10_027))["postbackUrl"], Value::Null);
    let listed = app.quita(&["applications", "list", "--merchant", "shop", "--json"]).output();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["application"], "default");
    assert_eq!(listed[0]["webhooks"], json!({"test": null, "live": "https://live.example/hook?key=1"}));
    let columns = app.quita(&["applications", "list", "--merchant", "shop"]).output();
    assert!(columns.contains("https://live.example/hook?key=1"), "{columns}");
}

#[test]
fn a_url_that_no_webhook_may_go_to_is_no_endpoint() {
    let app = TestApp::new();
    let set = |application: &str, url: &str| {
        let names = ["applications", "set-webhook", "--merchant", "shop", "--application", application];
        app.quita(&[&names[..], &["--url", url]].concat())
    };
    for url in ["", "shop.example.com", "ftp://a.example/", "https://u:p@a.example/", "https://a.example/#b"]
    {
        let refused = set("default", url);
        assert_eq!(refused.code, Some(2), "{url}: {refused:?}");
    }
    assert_eq!(set("default", "https://a.example/4242424242424242").code, Some(2));
    let outside =
        app.program(&["applications", "set-webhook", "--merchant", "shop", "--url", "http://10.0.0.1/"]);
    let outside = outside.env("QUITA_ENVIRONMENT", "production").run();
    assert_eq!(outside.code, Some(2), "{outside:?}");
    let missing = set("nobody", "https://a.example/");
    assert_eq!(missing.code, Some(1), "{missing:?}");
    assert!(missing.stderr.contains("nobody"), "{missing:?}");
    assert_eq!(app.client().create(&pix(10_027))["postbackUrl"], Value::Null);
}

#[test]
fn the_console_sets_an_endpoint_and_origins_and_the_audit_log_has_both() {
    let app = TestApp::new();
    let account = Account::create(&app, "shop", "ana@shop.example", "owner");
    let owner = Visitor::signed_in(&app, &account);
    let page = "/console/test/applications/default";
    let url = "http://127.0.0.1:9/hook?token=s3cr3t-part";
    assert_eq!(owner.post(&format!("{page}/endpoint"), &[("url", url)]).status, 303);
    let origins = "https://shop.example.com\r\nhttp://localhost:3000\r\n";
    assert_eq!(owner.post(&format!("{page}/origins"), &[("origins", origins)]).status, 303);
    let shown = owner.page(page);
    assert!(shown.contains(url) && shown.contains("http://localhost:3000"), "{shown}");
    assert_eq!(app.client().create(&pix(10_027))["postbackUrl"], url);
    let printed = app.quita(&["applications", "origins", "--merchant", "shop"]).output();
    assert_eq!(printed.lines().collect::<Vec<_>>(), ["https://shop.example.com", "http://localhost:3000"]);
    let refused = owner.post(&format!("{page}/origins"), &[("origins", "https://shop.example.com/pay")]);
    assert_eq!(refused.status, 422, "{refused}");
    assert!(refused.text().contains("https://shop.example.com?"), "it says what was meant: {refused}");
    set_endpoint(&app, "none");
    let log = owner.page("/console/test/audit");
    for part in ["changed the webhook endpoint of", "changed the origins of", "http://127.0.0.1:9/hook?…"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(!log.contains("s3cr3t-part"), "{log}");
}

#[test]
fn origins_are_set_as_browsers_write_them() {
    let app = TestApp::new();
    let origins = |set: Option<&str>, environment: &str| {
        let mut arguments = vec!["applications", "origins", "--merchant", "shop"];
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        app.program(&arguments).env("QUITA_ENVIRONMENT", environment).run()
    };
    let set = origins(Some("https://a.example,http://localhost:3000"), "development");
    assert_eq!((set.code, set.stdout.lines().count()), (Some(0), 2), "{set:?}");
    let twenty_one: Vec<_> = (0..21).map(|number| format!("https://a{number}.example")).collect();
    for (text, environment) in [
        ("null", "development"),
        ("*", "development"),
        ("https://*.example", "development"),
        ("https://a.example/", "development"),
        ("https://a.example/pay", "development"),
        ("https://A.example", "development"),
        ("https://a.example,https://a.example", "development"),
        (&twenty_one.join(","), "development"),
        ("http://a.example", "production"),
    ] {
        let refused = origins(Some(text), environment);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{text}: {refused:?}");
    }
    assert_eq!(origins(None, "development").stdout.lines().count(), 2, "nothing was changed");
    assert_eq!(origins(Some(&twenty_one[..20].join(",")), "production").code, Some(0));
    assert_eq!(origins(Some(""), "development").code, Some(0));
    assert_eq!(origins(None, "development").stdout, "");
}

#[test]
fn a_publishable_key_is_listed_as_such_and_has_no_scopes() {
    let app = TestApp::new();
    for (mode, beginning) in [("test", "qk_pub_test_"), ("live", "qk_pub_live_")] {
        let key = app.create_key(&["--merchant", "shop", "--publishable", "--mode", mode]);
        assert!(key.starts_with(beginning), "{key}");
        let id = key.trim_start_matches(beginning).split_once('_').unwrap().0;
        let listed: Value = serde_json::from_str(&app.quita(&["keys", "list", "--json"]).output()).unwrap();
        let listed = listed.as_array().unwrap().iter().find(|listed| listed["id"] == id).unwrap();
        let shown = (&listed["kind"], &listed["scopes"], &listed["expiresAt"]);
        assert_eq!(shown, (&json!("publishable"), &json!([]), &Value::Null), "it never ends");
        let row = app.quita(&["keys", "list"]).output();
        let row = row.lines().find(|line| line.contains(id)).unwrap();
        assert!(row.contains("publishable"), "{row}");
    }
    let ending = app.create_key(&["--merchant", "shop", "--publishable", "--expires-in", "90d"]);
    assert!(ending.starts_with("qk_pub_test_"), "{ending}");
    let scoped = ["keys", "create", "--merchant", "shop", "--publishable", "--scopes", "payments:read"];
    let refused = app.quita(&scoped);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
}
