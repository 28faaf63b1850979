//! Messages by webhook to owners and operators, by way of a real HTTP receiver.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Account, Edit, PATIENCE, TestApp, TestReceiver, Visitor, check_with_standard_webhooks, eventually, pix,
    signature_of,
};

/// The first look for news is 30 s after the start, the second one a minute later.
const CALLED_WITHIN: Duration = Duration::from_secs(120);

const ANA: &str = "ana@shop.example";

#[test]
fn an_owner_is_called_once_and_signed_of_an_event_that_was_given_up_without_any_mail_server() {
    let app = TestApp::new();
    Account::create(&app, "shop", ANA, "owner");
    let hook = TestReceiver::start();
    let set = app.quita(&["users", "webhook", ANA, &hook.url(), "--language", "en"]);
    assert_eq!(set.code, Some(0), "{set:?}");
    let secret = set.stdout.trim();
    let receiver = TestReceiver::start();
    receiver.answer(410);
    let client = app.client();
    let gone = client.create(&pix(10_000).with("postbackUrl", json!(receiver.url())));
    client.wait_for_status(gone["transactionId"].as_str().unwrap(), "paid");
    let calls = hook.wait_for(1, CALLED_WITHIN);
    let call = &calls[0];
    assert_eq!(call.header("webhook-signature"), Some(&*signature_of(call, secret)));
    check_with_standard_webhooks(call, secret);
    let body = call.json();
    assert_eq!((&body["id"], &body["type"]), (&json!(call.webhook_id()), &json!("messages")));
    assert_eq!(body["to"], json!({"role": "owner", "merchant": "shop"}));
    assert_eq!(body["messages"][0]["kind"], "events_exhausted", "{body}");
    assert_eq!(body["messages"][0]["link"], format!("{}/console/test/deliveries", app.url()));
    assert!(call.text("text").starts_with("Quita: shop needs attention"), "{body}");
    eventually(PATIENCE, "it is counted", || {
        let metrics = app.ops().get("/metrics").text();
        metrics.contains("quita_message_webhooks_total{outcome=\"sent\"} 1\n").then_some(())
    });
    assert_eq!(hook.received().len(), 1);
}

#[test]
fn each_person_names_a_url_on_the_account_page_and_sees_its_secret_once() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", ANA, "owner"));
    let url = "https://hooks.example/T0/B0?token=x";
    let set = owner.post("/console/test/account/webhook", &[("url", url), ("language", "en")]);
    assert!(set.status == 200 && set.text().contains("whsec_"), "{set}");
    let account = owner.page("/console/test/account");
    assert!(account.contains("hooks.example/T0/B0") && !account.contains("whsec_"), "{account}");
    let again = owner.post("/console/test/account/webhook", &[("url", url), ("language", "pt-BR")]);
    assert_eq!(again.header("location"), Some("/console/test/account?done=webhook"), "{again}");
    let listed = app.quita(&["users", "list", "--merchant", "shop", "--json"]).output();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["webhook"], "hooks.example, pt-BR");
    let off = owner.post("/console/test/account/webhook", &[("url", "")]);
    assert_eq!(off.header("location"), Some("/console/test/account?done=webhook"), "{off}");
    let log = owner.page("/console/test/audit");
    assert!(log.contains("changed the messages by webhook to") && log.contains("hooks.example, en"), "{log}");
    assert!(!log.contains("token=x"), "{log}");
    let viewer = Visitor::signed_in(&app, &Account::create(&app, "shop", "vera@shop.example", "viewer"));
    assert!(!viewer.page("/console/test/account").contains("Messages by webhook"), "viewers get none");
    let operator = Visitor::operator(&app);
    let set = operator.post("/account/webhook", &[("url", url), ("language", "en")]);
    assert!(set.status == 200 && set.text().contains("whsec_"), "{set}");
}

#[test]
fn a_wrong_url_is_refused_with_its_reason() {
    let app = TestApp::new();
    let owner = Visitor::signed_in(&app, &Account::create(&app, "shop", ANA, "owner"));
    for url in ["hooks.example", "ftp://hooks.example/", "https://a:b@hooks.example/", "https://a.example/#b"]
    {
        let refused = owner.post("/console/test/account/webhook", &[("url", url), ("language", "en")]);
        assert!(refused.status == 422 && refused.text().contains("The address must be"), "{url}: {refused}");
        let refused = app.quita(&["users", "webhook", ANA, url]);
        assert!(refused.code == Some(1) && refused.stderr.contains("http or https URL"), "{refused:?}");
    }
    let private = app.program(&["users", "webhook", ANA, "https://10.0.0.1/"]);
    let refused = private.env("QUITA_ENVIRONMENT", "production").run();
    assert!(refused.code == Some(1) && refused.stderr.contains("public address"), "{refused:?}");
}
