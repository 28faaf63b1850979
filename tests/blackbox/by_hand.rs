//! Moving sandbox payments by hand: the endpoints, and `quita sandbox`.

use serde_json::{Value, json};

use crate::support::{Client, Edit, PATIENCE, TestApp, TestReceiver, boleto, card, pix};

fn waiting(client: &Client) -> String {
    client.create(&pix(10_027))["transactionId"].as_str().unwrap().to_owned()
}

fn act(client: &Client, id: &str, action: &str) -> Value {
    let record = client.post_empty(&format!("/sandbox/payments/{id}/{action}")).expect(200);
    assert_eq!(record["transactionId"], id);
    record
}

#[test]
fn a_payment_is_moved_by_hand_through_every_state() {
    let app = TestApp::new();
    let receiver = TestReceiver::start();
    let client = app.client();
    let request = boleto(10_027).with("postbackUrl", json!(receiver.url()));
    let id = client.create(&request)["transactionId"].as_str().unwrap().to_owned();
    let moves = [
        ("expire", "expired"),
        ("pay", "paid"),
        ("chargeback", "chargeback"),
        ("pay", "paid"),
        ("refund", "refund"),
    ];
    for (action, status) in moves {
        assert_eq!(act(&client, &id, action)["status"], status, "{action}");
    }
    assert_eq!(client.history(&id), ["pending", "expired", "paid", "chargeback", "paid", "refund"]);
    let events = receiver.wait_for_events(&id, 6, PATIENCE);
    let told: Vec<_> = events.iter().map(|event| event.text("status")).collect();
    assert_eq!(told, client.history(&id));
    assert_eq!(app.ops().get("/ops/exceptions").expect(200)["data"], json!([]));
}

#[test]
fn a_payment_paid_by_hand_is_not_paid_again_by_itself() {
    let app = TestApp::builder().arg("--sandbox-settle-after", "1s").start();
    let client = app.client();
    let id = client.create(&pix(10_000))["transactionId"].as_str().unwrap().to_owned();
    assert_eq!(act(&client, &id, "pay")["status"], "paid");
    crate::support::pause(std::time::Duration::from_millis(1_500));
    assert_eq!(client.history(&id), ["pending", "paid"]);
    assert_eq!(app.ops().get("/ops/exceptions").expect(200)["data"], json!([]));
}

#[test]
fn what_the_status_does_not_allow_is_409() {
    let app = TestApp::new();
    let client = app.client();
    let id = waiting(&client);
    for action in ["refund", "chargeback"] {
        client.post_empty(&format!("/sandbox/payments/{id}/{action}")).expect_error(409, "status_conflict");
    }
    let declined = client.create(&card("4000000000000002", 1))["transactionId"].as_str().unwrap().to_owned();
    client.post_empty(&format!("/sandbox/payments/{declined}/pay")).expect_error(409, "status_conflict");
    let unknown = client.post_empty(&format!("/sandbox/payments/{id}/steal"));
    assert_eq!(unknown.status, 404, "{unknown}");
    unknown.expect_error_shape();
}

#[test]
fn what_no_sandbox_took_is_not_moved_by_hand() {
    let sandbox = |name: &str| format!("[{{ name = \"{name}\", adapter = \"sandbox\" }}]");
    let mut app = TestApp::builder().env("QUITA_ACQUIRER", &sandbox("one")).start();
    let id = waiting(&app.client());
    // Cents 99: the sandbox could not be reached.
    let declined = app.client().create(&pix(10_099))["transactionId"].as_str().unwrap().to_owned();
    app.client().wait_for_status(&declined, "declined");
    // Nothing says that an acquirer that is no longer configured was a sandbox.
    app.restart_with("QUITA_ACQUIRER", &sandbox("other"));
    let client = app.client();
    for action in ["pay", "expire", "refund", "chargeback"] {
        let refused = client.post_empty(&format!("/sandbox/payments/{id}/{action}"));
        refused.expect_error(409, "not_a_sandbox_payment");
    }
    assert_eq!(client.history(&id), ["pending"]);
    let refused = client.post_empty(&format!("/sandbox/payments/{declined}/pay"));
    refused.expect_error(409, "not_a_sandbox_payment");
    let message = refused.json()["message"].to_string();
    assert!(message.contains("already declined (no_acquirer_available)"), "{message}");
    app.restart_with("QUITA_ACQUIRER", &sandbox("one"));
    assert_eq!(act(&app.client(), &id, "pay")["status"], "paid");
}

#[test]
fn the_program_moves_a_payment() {
    let app = TestApp::new();
    let client = app.client();
    let id = waiting(&client);
    for (action, status) in [("pay", "paid"), ("refund", "refund")] {
        let printed = app
            .program(&["sandbox", action, &id, "--url", &app.url()])
            .env("QUITA_KEY", app.key())
            .run()
            .output();
        assert!(printed.contains(status), "{printed}");
        assert_eq!(client.payment(&id)["status"], status);
    }
    let id = waiting(&client);
    app.quita(&["sandbox", "expire", &id, "--url", &app.url(), "--key", app.key()]).output();
    assert_eq!(client.payment(&id)["status"], "expired");
}

#[test]
fn the_program_says_why_it_could_not_move_a_payment() {
    let app = TestApp::new();
    let id = waiting(&app.client());
    let run = |arguments: &[&str]| app.program(arguments).env("QUITA_KEY", app.key()).run();
    let refused = run(&["sandbox", "refund", &id, "--url", &app.url()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("pending"), "{refused:?}");
    let unreachable = run(&["sandbox", "pay", &id, "--url", "http://127.0.0.1:1"]);
    assert_eq!(unreachable.code, Some(1), "{unreachable:?}");
    assert!(unreachable.stderr.contains("127.0.0.1:1"), "{unreachable:?}");
    assert!(!unreachable.said().contains(app.key()), "the key is a secret: {unreachable:?}");
    assert_eq!(run(&["sandbox", "pay", "not-an-id", "--url", &app.url()]).code, Some(2));
    assert_eq!(app.quita(&["sandbox", "pay", &id, "--url", &app.url()]).code, Some(2), "without a key");
}
