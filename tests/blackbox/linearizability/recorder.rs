//! One client: what it does, and what it writes down of the answers.

use std::time::Instant;

use serde_json::{Value, json};

use super::history::Operation;
use super::model::{RequestedOperation, Step, View, cents};
use crate::support::{Answer, Client, Edit, PATIENCE, card, eventually, pix};

/// Method by which the payment of a history is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A PIX that is paid by hand only.
    Pix,
    /// A card that is captured by hand.
    Card,
}

/// Action of a client.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Act {
    See,
    Cancel,
    Capture(Option<u64>),
    Refund(Option<u64>, Option<u8>),
    Tell(RequestedOperation),
}

impl Way {
    /// Status and amount right after the creation. 27 is never paid by itself.
    pub(crate) const fn begins_as(self) -> (&'static str, u64) {
        match self {
            Self::Pix => ("pending", 10_027),
            Self::Card => ("approved", 10_000),
        }
    }

    fn request(self) -> Value {
        let (_, total) = self.begins_as();
        match self {
            Self::Pix => pix(total),
            Self::Card => card("4242424242424242", total).with("capture", json!(false)),
        }
    }

    /// Chooses the next action. The first client pays or captures early, so that there is something to refund.
    pub(crate) fn choose(self, turn: usize, client: usize, roll: u64) -> Act {
        let refund = match roll >> 8 & 7 {
            0 => Act::Refund(None, None),
            1 | 2 => Act::Refund(Some(3_000), Some(1)),
            3 | 4 => Act::Refund(Some(4_000), Some(2)),
            5 => Act::Refund(Some(6_000), None),
            _ => Act::Refund(Some(2_500), None),
        };
        let pays_first = turn == 0 && client == 0 && roll & 0x1_0000 == 0;
        match (self, roll % 16) {
            (Self::Pix, _) if pays_first => Act::Tell(RequestedOperation::Pay),
            (Self::Card, _) if pays_first => Act::Capture(None),
            (_, 0..=4) => Act::See,
            (_, 5..=9) => refund,
            (_, 10 | 11) => Act::Cancel,
            (Self::Pix, 12 | 13) => Act::Tell(RequestedOperation::Pay),
            (Self::Pix, 14) => Act::Tell(RequestedOperation::Expire),
            (Self::Pix, _) => Act::Tell(RequestedOperation::Chargeback),
            (Self::Card, 12 | 13) => Act::Capture(None),
            (Self::Card, _) => Act::Capture(Some(6_000)),
        }
    }
}

/// A client that writes down what it does.
pub(crate) struct Recorder {
    node: Client,
    client: usize,
    began: Instant,
    id: String,
    total: u64,
    operations: Vec<Operation>,
}

impl Recorder {
    pub(crate) const fn new(node: Client, client: usize, began: Instant) -> Self {
        Self { node, client, began, id: String::new(), total: 0, operations: Vec::new() }
    }

    pub(crate) fn into_operations(self) -> Vec<Operation> {
        self.operations
    }

    /// Creates the payment of this history, or finds that somebody did.
    pub(crate) fn create(&mut self, way: Way, number: u64) {
        let request = way.request();
        self.total = way.begins_as().1;
        let key = format!("history-{number}");
        // Until there is an answer the payment has no name; a lost one may have done it.
        loop {
            let lost = Step::Create { replayed: false };
            let send = |node: &Client, _: &str| {
                let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key.as_str())];
                node.try_send("POST", "/pay/payments", &headers, request.to_string().as_bytes())
            };
            let Some(answer) = self.record("create", Some(lost), send, |answer| {
                let replayed = answer.status == 200;
                assert!(replayed || answer.status == 201, "{answer}");
                vec![Step::Create { replayed }, Step::See(View::of(&answer.json()))]
            }) else {
                continue;
            };
            answer.json()["transactionId"].as_str().unwrap().clone_into(&mut self.id);
            return;
        }
    }

    pub(crate) fn act(&mut self, act: Act) {
        match act {
            Act::See => {
                let send =
                    |node: &Client, id: &str| node.try_send("GET", &format!("/pay/payments/{id}"), &[], b"");
                self.record("see", None, send, |answer| vec![Step::See(View::of(&answer.expect(200)))]);
            }
            Act::Cancel => {
                let send = |node: &Client, id: &str| {
                    post(node, &format!("/pay/payments/{id}/cancel"), None, &json!({}))
                };
                self.record("cancel", Some(Step::Cancel), send, |answer| {
                    done_or_refused(answer, Step::Cancel, RequestedOperation::Cancel)
                });
            }
            Act::Capture(amount) => self.capture(amount),
            Act::Refund(amount, key) => self.refund(amount, key),
            Act::Tell(requested) => self.tell(requested),
        }
    }

    /// Waits until no refund is on its way.
    pub(crate) fn see_at_rest(&self) {
        eventually(PATIENCE, "the refunds have ended", || {
            let record = self.node.payment(&self.id);
            let ended =
                record["refunds"].as_array().unwrap().iter().all(|refund| refund["status"] != "processing");
            ended.then_some(())
        });
    }

    fn capture(&mut self, amount: Option<u64>) {
        let step = Step::Capture(amount.unwrap_or(self.total));
        let body = amount.map_or(json!({}), |amount| json!({"amount": amount}));
        let send = |node: &Client, id: &str| post(node, &format!("/pay/payments/{id}/capture"), None, &body);
        let told = format!("capture {body}");
        self.record(&told, Some(step.clone()), send, |answer| {
            done_or_refused(answer, step.clone(), RequestedOperation::Capture)
        });
    }

    fn refund(&mut self, amount: Option<u64>, key: Option<u8>) {
        let body = amount.map_or(json!({}), |amount| json!({"amount": amount}));
        let send = |node: &Client, id: &str| post(node, &format!("/pay/payments/{id}/refunds"), key, &body);
        let told = format!("refund {body} key {key:?}");
        let lost = Step::Refund { id: None, amount, key };
        self.record(&told, Some(lost), send, |answer| {
            let record = answer.json();
            let id = || record["refundId"].as_str().unwrap().to_owned();
            match answer.status {
                201 => vec![Step::Refund { id: Some(id()), amount: Some(cents(&record["amount"])), key }],
                200 => vec![Step::RefundAgain { id: id(), key: key.unwrap() }],
                422 => {
                    answer.expect_error(422, "refund_exceeds_paid");
                    vec![Step::TooMuch(amount)]
                }
                _ => refused(answer, RequestedOperation::Refund),
            }
        });
    }

    /// A notice is worked after its answer: what it does may come any time later, or be refused by the table.
    fn tell(&mut self, requested: RequestedOperation) {
        let name = format!("{requested:?}").to_lowercase();
        let send =
            |node: &Client, id: &str| post(node, &format!("/sandbox/payments/{id}/{name}"), None, &json!({}));
        let called = self.nanoseconds();
        let answer = self.record(&format!("tell {name}"), None, send, |answer| match answer.status {
            200 => vec![Step::See(View::of(&answer.json()))],
            _ => refused(answer, requested),
        });
        if answer.is_none_or(|answer| answer.status == 200) {
            let steps = vec![Step::Notice(requested)];
            let told = format!("  the notice: {name}");
            let client = self.client;
            self.operations.push(Operation {
                client,
                called,
                answered: None,
                told,
                steps,
                is_optional: true,
            });
        }
    }

    fn nanoseconds(&self) -> u64 {
        self.began.elapsed().as_nanos().try_into().unwrap()
    }

    /// Sends, and writes down what the answer says; `lost` may have happened if there is none, or a 503.
    fn record(
        &mut self,
        what: &str,
        lost: Option<Step>,
        send: impl Fn(&Client, &str) -> Result<Answer, ureq::Error>,
        read: impl Fn(&Answer) -> Vec<Step>,
    ) -> Option<Answer> {
        let called = self.nanoseconds();
        let answer = send(&self.node, &self.id).ok().filter(|answer| answer.status != 503);
        let answered = self.nanoseconds();
        let client = self.client;
        let operation = match &answer {
            Some(answer) => {
                let steps = read(answer);
                let told = format!("{what} -> {} {steps:?}", answer.status);
                Operation { client, called, answered: Some(answered), told, steps, is_optional: false }
            }
            None => {
                let told = format!("{what} -> no answer that tells");
                let steps = lost.into_iter().collect();
                Operation { client, called, answered: None, told, steps, is_optional: true }
            }
        };
        self.operations.push(operation);
        answer
    }
}

fn post(node: &Client, path: &str, key: Option<u8>, body: &Value) -> Result<Answer, ureq::Error> {
    let key = key.map(|key| format!("key-{key}"));
    let mut headers = vec![("Content-Type", "application/json")];
    headers.extend(key.iter().map(|key| ("Idempotency-Key", key.as_str())));
    node.try_send("POST", path, &headers, body.to_string().as_bytes())
}

/// A cancellation or capture is answered when it is over, with the record as it is then or a little later.
fn done_or_refused(answer: &Answer, done: Step, requested: RequestedOperation) -> Vec<Step> {
    match answer.status {
        200 => vec![done, Step::See(View::of(&answer.json()))],
        _ => refused(answer, requested),
    }
}

fn refused(answer: &Answer, requested: RequestedOperation) -> Vec<Step> {
    let error = answer.expect(409);
    // Another one was on its way, or the acquirer refused: nothing was done, and no status is answered.
    if error["code"] != "status_conflict" {
        assert!(
            ["operation_in_progress", "refused_by_acquirer"].contains(&error["code"].as_str().unwrap()),
            "{answer}"
        );
        return Vec::new();
    }
    // "a payment that is paid cannot be cancelled", "the payment became paid while it was being cancelled", "the payment is
    // already paid"
    let message = error["message"].as_str().unwrap();
    let words = message.split(' ').skip_while(|word| !["is", "became"].contains(word));
    let status = words.filter(|word| *word != "already").nth(1).unwrap().to_owned();
    vec![Step::Refused { requested, status }]
}
