//! The bytes of receivers' answers: what counts is the final answer to the event itself.

use std::time::Duration;

use quita_wire::{Asked, Server, Step, frame};
use serde_json::{Value, json};

use crate::support::{Edit, PATIENCE, TestApp, eventually, pause, pix};

/// A receiver whose connections live as long as this does.
struct Receiver {
    server: Server,
    _runtime: tokio::runtime::Runtime,
}

impl Receiver {
    fn start(script: impl Fn(&Asked) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let server = runtime.block_on(Server::start(script));
        Self { server, _runtime: runtime }
    }
}

fn event(asked: &Asked) -> Value {
    let (_, body) = asked.text.split_once("\r\n\r\n").unwrap();
    serde_json::from_str::<Value>(body).unwrap()["event"].clone()
}

#[test]
fn an_event_that_is_refused_after_early_hints_is_not_delivered_and_nor_is_another_one_refused() {
    let app = TestApp::new();
    let receiver = Receiver::start(|asked: &Asked| {
        let hints = Step::send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n");
        let status = if event(asked) == "payment.pending" { 500 } else { 200 };
        [vec![hints, Step::Pause(Duration::from_millis(150))], frame(status, "final")].concat()
    });
    let client = app.client();
    let request = pix(10_031).with("postbackUrl", json!(receiver.server.url("/hook")));
    let id = client.create(&request)["transactionId"].as_str().unwrap().to_owned();
    let tried = eventually(PATIENCE, "the first event was tried twice", || {
        let deliveries = client.deliveries(&id);
        let first = deliveries.into_iter().find(|delivery| delivery["event"] == "payment.pending")?;
        (first["attempts"].as_array()?.len() >= 2).then_some(first)
    });
    assert_ne!(tried["state"], "delivered", "{tried}");
    for attempt in tried["attempts"].as_array().unwrap() {
        let heard = (&attempt["status"], &attempt["answer"], &attempt["error"]);
        assert_eq!(heard, (&json!(500), &json!("final"), &Value::Null), "{tried}");
    }
}

#[test]
fn an_event_on_a_connection_that_was_closed_meanwhile_comes_at_once() {
    let app = TestApp::new();
    // Each connection takes one event, and is cut with the next one in hand.
    let taken = std::sync::Mutex::new(std::collections::BTreeSet::new());
    let receiver = Receiver::start(move |asked: &Asked| {
        let is_first = taken.lock().unwrap().insert(asked.connection);
        if is_first { frame(200, "taken") } else { vec![Step::Close] }
    });
    let client = app.client();
    let request = pix(10_031).with("postbackUrl", json!(receiver.server.url("/hook")));
    let id = client.create(&request)["transactionId"].as_str().unwrap().to_owned();
    let deliveries = eventually(PATIENCE, "three events are delivered", || {
        let deliveries = client.deliveries(&id);
        let is_done = deliveries.len() == 3 && deliveries.iter().all(|one| one["state"] == "delivered");
        is_done.then_some(deliveries)
    });
    pause(Duration::from_millis(50));
    for delivery in deliveries {
        assert_eq!(delivery["attempts"].as_array().unwrap().len(), 1, "none failed: {delivery}");
    }
}
