//! The merchant's receiver of webhooks: the received events, their order, and their confirmations.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::time::Duration;

use quita_domain::webhook::signature::{WebhookSecret, verify};
use serde_json::Value;
use tokio::time::sleep;

use crate::dice::Dice;
use crate::server::{Incoming, Reply};

/// One event of one payment, as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) webhook_id: String,
    pub(crate) event: String,
    pub(crate) status: String,
    pub(crate) previous: String,
    pub(crate) version: u64,
    pub(crate) amount: String,
    /// The refund that ended, in an event about a refund.
    pub(crate) refund: Value,
    /// Digest of the body, which must be the same every time.
    digest: u64,
    pub(crate) times: u32,
    pub(crate) is_confirmed: bool,
}

/// The receiver and its ledger.
pub(crate) struct Receiver {
    pub(crate) ledger: RefCell<BTreeMap<String, BTreeMap<u64, Received>>>,
    pub(crate) violations: RefCell<Vec<String>>,
    pub(crate) secret: RefCell<Option<WebhookSecret>>,
    pub(crate) is_calm: Cell<bool>,
    pub(crate) requests: Cell<u64>,
    pub(crate) faults: Cell<u64>,
    dice: Dice,
}

impl Receiver {
    pub(crate) fn new(seed: u64) -> Rc<Self> {
        Rc::new(Self {
            ledger: RefCell::default(),
            violations: RefCell::default(),
            secret: RefCell::default(),
            is_calm: Cell::new(false),
            requests: Cell::new(0),
            faults: Cell::new(0),
            dice: Dice::new(seed, "receiver"),
        })
    }

    pub(crate) async fn answer(self: Rc<Self>, request: Incoming) -> Reply {
        self.requests.set(self.requests.get() + 1);
        let fault = if self.is_calm.get() { 100 } else { self.dice.between(0, 100) };
        if fault < 10 {
            self.faults.set(self.faults.get() + 1);
        }
        // From the merchant's point of view, nothing was received.
        if fault < 2 {
            return Reply::Cut;
        }
        let place = self.write_down(&request);
        match fault {
            2..=4 => return Reply::Json(500, String::new()),
            5 => return Reply::Cut,
            6..=8 => sleep(self.dice.millis(100, 2_000)).await,
            9 => sleep(Duration::from_secs(if self.dice.percent(20) { 17 } else { 3 })).await,
            _ => {}
        }
        let Some((id, sequence)) = place else { return Reply::Json(400, String::new()) };
        // From here on the event counts as confirmed, although the answer may be lost.
        if let Some(received) =
            self.ledger.borrow_mut().get_mut(&id).and_then(|events| events.get_mut(&sequence))
        {
            received.is_confirmed = true;
        }
        Reply::Json(200, String::new())
    }

    fn violation(&self, text: String) {
        self.violations.borrow_mut().push(text);
    }

    /// Records a request in the ledger. An impossible request is a violation at once.
    fn write_down(&self, request: &Incoming) -> Option<(String, u64)> {
        let webhook_id = request.header("webhook-id").unwrap_or_default();
        if !self.is_signed(request, webhook_id) {
            self.violation(format!("a webhook with a wrong signature: {}", request.head));
            return None;
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = text(&body["transactionId"]);
        let sequence = body["sequence"].as_u64().unwrap_or(0);
        let mut ledger = self.ledger.borrow_mut();
        let events = ledger.entry(id.clone()).or_default();
        let was_confirmed = |sequence| events.get(&sequence).is_some_and(|before| before.is_confirmed);
        if !events.contains_key(&sequence) && sequence > 1 && !was_confirmed(sequence - 1) {
            self.violation(format!(
                "{id}: event {sequence} came before event {} was confirmed",
                sequence - 1
            ));
        }
        let received = Received {
            webhook_id: webhook_id.to_owned(),
            event: text(&body["event"]),
            status: text(&body["status"]),
            previous: text(&body["previousStatus"]),
            version: body["data"]["version"].as_u64().unwrap_or(0),
            amount: text(&body["data"]["amount"]),
            refund: body["refund"].clone(),
            digest: digest(&request.body),
            times: 0,
            is_confirmed: false,
        };
        let known = events.entry(sequence).or_insert_with(|| received.clone());
        known.times += 1;
        if (&known.webhook_id, known.digest) != (&received.webhook_id, received.digest) {
            self.violation(format!(
                "{id}: event {sequence} was repeated as another: {known:?}, {received:?}"
            ));
        }
        Some((id, sequence))
    }

    fn is_signed(&self, request: &Incoming, id: &str) -> bool {
        let secret = self.secret.borrow();
        let timestamp = request.header("webhook-timestamp").and_then(|text| text.parse().ok());
        let signature = request.header("webhook-signature").unwrap_or_default();
        secret
            .as_ref()
            .zip(timestamp)
            .is_some_and(|(secret, timestamp_s)| verify(secret, id, timestamp_s, &request.body, signature))
    }
}

fn digest(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}
