//! A merchant's clients, who ask until they are answered, and payers.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::dice::Dice;
use crate::support::{Acquirers, Answer, Client, Edit, TestReceiver, boleto, card, pause, pix};

/// A client that has no answer by then is a defect: longer than a kill, its lease, and the belief in "not found". One call
/// in five fails; what failed at each question of the first minutes is asked about up to six minutes later.
const LONGEST: Duration = Duration::from_secs(7 * 60);
/// Longest wait of a client for what nobody owes him an answer about. The next kill may come before it.
const SHORT: Duration = Duration::from_secs(10);
const CARD: &str = "4024007197692931";

/// Course of a payment.
#[derive(Debug, Clone, Copy)]
pub(super) enum Story {
    /// Paid, perhaps while it is cancelled, and given back in so many parts.
    Pix { is_cancelled: bool, parts: u64 },
    /// Never paid.
    CancelledPix,
    /// Captured, at first in part if it is held first, and given back in so many parts.
    Card { holds_first: bool, parts: u64 },
    /// Held, and let go.
    CancelledCard,
    /// Registered, and paid, perhaps while it is cancelled.
    Boleto { is_cancelled: bool },
    /// Registered, and never paid.
    CancelledBoleto,
}

/// A merchant with payers, at the process that runs now.
pub(super) struct Shop<'a> {
    pub(super) acquirers: &'a Acquirers,
    pub(super) receiver: &'a TestReceiver,
    client: Mutex<Client>,
    /// Answers to clients, by the payment's id.
    pub(super) answered: Mutex<BTreeMap<String, Answered>>,
}

/// Answers to clients about one payment.
#[derive(Debug, Clone, Default)]
pub(super) struct Answered {
    /// The ids of refunds, each answered to a key of its own.
    pub(super) refunds: Vec<String>,
    /// The amount whose capture was answered with 200.
    pub(super) captured_cents: Option<u64>,
    pub(super) is_cancelled: bool,
}

impl Story {
    pub(super) fn drawn(dice: &mut Dice) -> Self {
        let parts = dice.below(3);
        match dice.below(14) {
            0 => Self::CancelledPix,
            1 => Self::Pix { is_cancelled: true, parts },
            2..=4 => Self::Pix { is_cancelled: false, parts },
            5 => Self::CancelledCard,
            10 => Self::CancelledBoleto,
            11 => Self::Boleto { is_cancelled: true },
            12 | 13 => Self::Boleto { is_cancelled: false },
            6..=8 => Self::Card { holds_first: true, parts },
            _ => Self::Card { holds_first: false, parts },
        }
    }
}

impl<'a> Shop<'a> {
    pub(super) fn new(acquirers: &'a Acquirers, receiver: &'a TestReceiver, client: Client) -> Self {
        Self { acquirers, receiver, client: Mutex::new(client), answered: Mutex::default() }
    }

    /// The service is at another address now.
    pub(super) fn go_to(&self, client: Client) {
        *self.client.lock().unwrap() = client;
    }

    /// Lives a payment's life as far as it comes. `name` is no other payment's.
    pub(super) fn live(&self, story: Story, name: &str, cents: u64) {
        let request = match story {
            Story::Pix { .. } | Story::CancelledPix => pix(cents),
            Story::Boleto { .. } | Story::CancelledBoleto => boleto(cents),
            Story::Card { holds_first: false, .. } => card(CARD, cents),
            Story::Card { holds_first: true, .. } | Story::CancelledCard => {
                card(CARD, cents).with("capture", json!(false))
            }
        };
        let request = request.with("postbackUrl", json!(self.receiver.url()));
        let answer = self.post("/pay/payments", name, &request);
        assert!([200, 201].contains(&answer.status), "{answer}");
        let id = answer.json()["transactionId"].as_str().unwrap().to_owned();
        self.note(&id, |_| ());
        let Some(status) = self.wait_while(&id, &["initial"]) else { return };
        match story {
            Story::CancelledPix | Story::CancelledCard | Story::CancelledBoleto => self.cancel(&id, name),
            Story::Boleto { is_cancelled } => {
                let number = &self.payment(&id)["acquirerReference"]["ourNumber"];
                // It may be declined, for want of an acquirer, and so not be there.
                if let Some(number) = number.as_str() {
                    drop(self.acquirers.tell_sicoob(&json!({"do": "pay", "txid": number})));
                }
                if is_cancelled {
                    self.cancel(&id, name);
                }
            }
            Story::Pix { is_cancelled, .. } => {
                let txid = id.replace('-', "");
                // It may be declined, for want of an acquirer, and so not be there.
                drop(self.acquirers.tell_bank(&json!({"do": "pay", "txid": txid})));
                if is_cancelled {
                    self.cancel(&id, name);
                }
            }
            Story::Card { holds_first: true, .. } if status == "approved" => {
                self.capture(&id, name, cents / 2)
            }
            Story::Card { .. } => {}
        }
        let (Story::Pix { parts, .. } | Story::Card { parts, .. }) = story else { return };
        let is_paid =
            self.wait_while(&id, &["initial", "pending", "approved"]).is_some_and(|now| now == "paid");
        // One part is all there is, if all was taken.
        let is_all = parts == 1 && !matches!(story, Story::Card { holds_first: true, .. });
        let share = if is_all { cents } else { cents / 5 };
        for part in (0..parts).filter(|_| is_paid) {
            self.refund(&id, &format!("{name}-{part}"), share);
        }
    }

    fn cancel(&self, id: &str, key: &str) {
        let answer = self.post(&format!("/pay/payments/{id}/cancel"), key, &json!({}));
        assert!([200, 409].contains(&answer.status), "{answer}");
        self.note(id, |known| known.is_cancelled = answer.status == 200);
    }

    fn capture(&self, id: &str, key: &str, cents: u64) {
        let answer = self.post(&format!("/pay/payments/{id}/capture"), key, &json!({ "amount": cents }));
        assert!([200, 409].contains(&answer.status), "{answer}");
        self.note(id, |known| known.captured_cents = (answer.status == 200).then_some(cents));
    }

    fn refund(&self, id: &str, key: &str, cents: u64) {
        let answer = self.post(&format!("/pay/payments/{id}/refunds"), key, &json!({ "amount": cents }));
        assert!([200, 201].contains(&answer.status), "{answer}");
        let refund = answer.json()["refundId"].as_str().unwrap().to_owned();
        self.note(id, |known| known.refunds.push(refund));
    }

    fn note(&self, id: &str, what: impl FnOnce(&mut Answered)) {
        what(self.answered.lock().unwrap().entry(id.to_owned()).or_default());
    }

    /// Asks under this key until the answer is no "later".
    fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key)];
        self.ask("POST", path, &headers, body.to_string().as_bytes())
    }

    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let end = Instant::now() + LONGEST;
        let mut last = String::new();
        while Instant::now() < end {
            let client = self.client.lock().unwrap().clone();
            match client.try_send(method, path, headers, body) {
                Ok(answer) if answer.status != 503 => return answer,
                Ok(answer) => last = answer.to_string(),
                Err(error) => last = error.to_string(),
            }
            pause(Duration::from_millis(200));
        }
        panic!("{method} {path} had no answer: {last}");
    }

    pub(super) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, &[], b"").expect(200)
    }

    pub(super) fn payment(&self, id: &str) -> Value {
        self.get(&format!("/pay/payments/{id}"))
    }

    /// Waits while the status is one of these, but not for ever; gives the one after them.
    fn wait_while(&self, id: &str, statuses: &[&str]) -> Option<String> {
        let end = Instant::now() + SHORT;
        while Instant::now() < end {
            let status = self.payment(id)["status"].as_str().unwrap().to_owned();
            if !statuses.contains(&&*status) {
                return Some(status);
            }
            pause(Duration::from_millis(150));
        }
        None
    }
}
