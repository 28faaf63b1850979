//! `quita listen`, the receiver for development.

use serde_json::json;

use crate::support::{Edit, PATIENCE, Running, TestApp, TestReceiver, eventually, pix};

/// Starts `quita listen` and gives its address.
fn listen(app: &TestApp, secret: &str, arguments: &[&str]) -> (Running, String) {
    let all = [&["listen", "--listen", "127.0.0.1:0"], arguments].concat();
    let mut running =
        app.program(&all).env("QUITA_SECRET", secret).start(&format!("listen-{}", uuid::Uuid::now_v7()));
    let url = eventually(PATIENCE, "the receiver listens", || {
        assert!(running.ended().is_none(), "{}", running.stderr());
        let said = format!("{}{}", running.stdout(), running.stderr());
        let (_, after) = said.split_once("http://")?;
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':')?;
        Some(format!("http://{}", &after[..end]))
    });
    (running, url)
}

#[test]
fn each_event_is_printed_with_its_signature_checked() {
    let app = TestApp::new();
    let (receiver, url) = listen(&app, &app.secret(), &[]);
    let client = app.client();
    let id = client.create(&pix(10_000).with("postbackUrl", json!(url)))["transactionId"]
        .as_str()
        .unwrap()
        .to_owned();
    let printed = eventually(PATIENCE, "both events are printed", || {
        Some(receiver.stdout()).filter(|printed| printed.contains("payment.paid"))
    });
    let lines: Vec<_> = printed.lines().filter(|line| line.contains(&id)).collect();
    assert_eq!(lines.len(), 2, "{printed}");
    assert!(lines[0].contains("payment.pending") && lines[1].contains("payment.paid"), "{printed}");
    assert!(
        lines.iter().all(|line| line.contains("signature good") && line.contains("  test  ")),
        "{printed}"
    );
    eventually(PATIENCE, "both deliveries are confirmed", || {
        client.deliveries(&id).iter().all(|delivery| delivery["state"] == "delivered").then_some(())
    });
}

#[test]
fn a_wrong_secret_and_none_are_told() {
    let app = TestApp::new();
    app.create_key(&["--merchant", "other"]);
    let other_secret = app.quita(&["secrets", "show", "--merchant", "other"]).output();
    for (secret, expected) in [
        (other_secret.as_str(), "signature bad (not created with this secret; set QUITA_SECRET"),
        ("", "not checked"),
    ] {
        let (receiver, url) = listen(&app, secret, &[]);
        app.client().create(&pix(10_027).with("postbackUrl", json!(url)));
        eventually(PATIENCE, expected, || receiver.stdout().contains(expected).then_some(()));
    }
}

#[test]
fn it_answers_what_it_is_told_to() {
    let app = TestApp::new();
    let (receiver, url) = listen(&app, "", &["--answer", "410"]);
    let client = app.client();
    let id = client.create(&pix(10_027).with("postbackUrl", json!(url)))["transactionId"]
        .as_str()
        .unwrap()
        .to_owned();
    let delivery = eventually(PATIENCE, "the delivery has ended", || {
        client.deliveries(&id).into_iter().find(|delivery| delivery["state"] == "exhausted")
    });
    assert_eq!(delivery["attempts"][0]["status"], 410);
    assert!(receiver.stdout().contains("answered: 410"), "{}", receiver.stdout());
}

#[test]
fn it_forwards_what_it_receives() {
    let app = TestApp::new();
    let behind = TestReceiver::start();
    let secret = app.secret();
    let (_receiver, url) = listen(&app, &secret, &["--forward-to", &behind.url()]);
    app.client().create(&pix(10_027).with("postbackUrl", json!(url)));
    let forwarded = behind.wait_for(1, PATIENCE).remove(0);
    assert_eq!((forwarded.method.as_str(), forwarded.path.as_str()), ("POST", "/webhooks"));
    let expected = crate::support::signature_of(&forwarded, &secret);
    assert_eq!(forwarded.header("webhook-signature"), Some(&*expected), "the signature goes along, and fits");
    assert_eq!(forwarded.header("content-type"), Some("application/json"));
}

#[test]
fn the_bodies_of_chosen_events_are_printed_as_lines_of_json() {
    let app = TestApp::new();
    let secret = app.secret();
    let (receiver, url) = listen(&app, &secret, &["--print-json", "--events", "payment.paid,payment.refund"]);
    let client = app.client();
    let id = client.create(&pix(10_000).with("postbackUrl", json!(url)))["transactionId"]
        .as_str()
        .unwrap()
        .to_owned();
    eventually(PATIENCE, "both events are confirmed", || {
        let deliveries = client.deliveries(&id);
        let are_confirmed = deliveries.iter().all(|delivery| delivery["state"] == "delivered");
        (deliveries.len() == 2 && are_confirmed).then_some(())
    });
    let printed = receiver.stdout();
    let lines: Vec<serde_json::Value> =
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [body] = &lines[..] else { panic!("one event was chosen: {printed}") };
    assert_eq!((&body["event"], &body["data"]["transactionId"]), (&json!("payment.paid"), &json!(id)));
    let said = receiver.stderr();
    assert!(said.contains("payment.paid") && said.contains("signature good"), "{said}");
    assert!(!said.contains("payment.pending"), "{said}");
}
