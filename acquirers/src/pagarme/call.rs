//! One call to Pagar.me: address, headers, and the meaning of its HTTP status.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quita_domain::acquiring::CallFailure;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, call_time};
use serde_json::{Value, json};
use tokio::time::Instant;
use url::form_urlencoded::Serializer;
use zeroize::Zeroizing;

use super::order::{ChargeId, OrderId};
use super::pace::{Pace, Resource};
use super::refusal;
use super::settings::PagarmeSettings;
use crate::exchange::{Exchange, Failure, Request, Response, Verb};

/// Time for which a 429 holds back calls if it states no wait.
const DEFAULT_HOLD_MS: u64 = 10_000;

/// Maximum number of orders of one code that are listed.
pub(super) const MAX_ORDERS: usize = 30;

/// A line to Pagar.me with the current configuration. Calls under way keep theirs when the configuration changes.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) settings: Arc<PagarmeSettings>,
    pub(super) exchange: Rc<dyn Exchange>,
    /// Time-out of one request.
    pub(super) time_out: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) pace: Arc<Pace>,
}

/// Result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// A 2xx with this body.
    Body(Vec<u8>),
    /// 404.
    NotFound(String),
    /// Any other explicit 4xx.
    Refused(String),
    /// No usable answer.
    Failed(CallFailure),
}

/// Names and values of a query.
type Query<'a> = &'a [(&'a str, &'a str)];

impl Line {
    /// Creates an order.
    pub(super) async fn create(&self, body: Zeroizing<Vec<u8>>, key: &str) -> Reply {
        self.act(Verb::Post, "/orders", body, key).await
    }

    /// Reads an order.
    pub(super) async fn order(&self, id: &OrderId) -> Reply {
        self.read(Resource::Orders, &format!("/orders/{id}"), &[]).await
    }

    /// Lists the orders of a code.
    pub(super) async fn orders_of(&self, code: &str) -> Reply {
        let size = MAX_ORDERS.to_string();
        self.read(Resource::Orders, "/orders", &[("code", code), ("size", &size)]).await
    }

    /// Reads a charge.
    pub(super) async fn charge(&self, id: &ChargeId) -> Reply {
        self.read(Resource::Orders, &format!("/charges/{id}"), &[]).await
    }

    /// Captures a charge.
    pub(super) async fn capture(&self, id: &ChargeId, asked: &Value, key: &str) -> Reply {
        self.act(Verb::Post, &format!("/charges/{id}/capture"), bytes_of(asked), key).await
    }

    /// Voids, withdraws, or refunds this amount of a charge.
    pub(super) async fn cancel(&self, id: &ChargeId, cents: Option<u64>, key: &str) -> Reply {
        let asked = match cents {
            Some(cents) => json!({ "amount": cents, "operation_reference": key }),
            None => json!({ "operation_reference": key }),
        };
        self.act(Verb::Delete, &format!("/charges/{id}"), bytes_of(&asked), key).await
    }

    /// Lists payables.
    pub(super) async fn payables(&self, query: Query<'_>) -> Reply {
        self.read(Resource::Payables, "/payables", query).await
    }

    async fn read(&self, resource: Resource, path: &str, query: Query<'_>) -> Reply {
        if let Err(failure) = self.pace.hold.check() {
            return Reply::Failed(failure);
        }
        if let Err(failure) = self.pace.turn(resource).await {
            return Reply::Failed(failure);
        }
        let mut url = format!("{}{path}", self.settings.base_url);
        if !query.is_empty() {
            url.push('?');
            url.push_str(&Serializer::new(String::new()).extend_pairs(query).finish());
        }
        self.send(Request {
            verb: Verb::Get,
            url,
            headers: vec![],
            body: Zeroizing::default(),
            is_repeatable: true,
        })
        .await
    }

    /// Sends a request with an effect, which its key prevents from happening twice.
    async fn act(&self, verb: Verb, path: &str, body: Zeroizing<Vec<u8>>, key: &str) -> Reply {
        if let Err(failure) = self.pace.hold.check() {
            return Reply::Failed(failure);
        }
        let headers = vec![
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Idempotency-Key".to_owned(), key.to_owned()),
        ];
        let url = format!("{}{path}", self.settings.base_url);
        // Repeatable although it acts: the key makes the second request return the answer of the first.
        self.send(Request { verb, url, headers, body, is_repeatable: true }).await
    }

    async fn send(&self, mut request: Request) -> Reply {
        let credentials = Zeroizing::new(format!("{}:", self.settings.secret_key.expose()));
        request
            .headers
            .push(("Authorization".to_owned(), format!("Basic {}", STANDARD.encode(&*credentials))));
        request.headers.push(("Accept".to_owned(), "application/json".to_owned()));
        let sent = self.exchange.send(request);
        let waits_until = call_time::waits_until().unwrap_or_else(|| Instant::now() + self.time_out);
        let time_is_over = |_| Err(Failure::Unknown("time-out".to_owned()));
        match call_time::within(self.time_out, waits_until, sent).await.unwrap_or_else(time_is_over) {
            Ok(response) => {
                let reply = read(&response, self.clock.now());
                if let Reply::Failed(CallFailure::Throttled { after_ms }) = reply {
                    self.pace.hold.put(after_ms);
                }
                reply
            }
            Err(Failure::NotSent(why)) => Reply::Failed(CallFailure::NotDelivered(why)),
            Err(Failure::Unknown(why)) => Reply::Failed(CallFailure::Unknown(why)),
        }
    }
}

fn bytes_of(asked: &Value) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(asked.to_string().into_bytes())
}

/// Reads the call's effect from the status. A 401 or 403 had none. A 409 comes from another call with the same key, and
/// proves nothing, like anything else that is not a real answer.
fn read(response: &Response, now: Timestamp) -> Reply {
    let not_delivered = |why: &str| Reply::Failed(CallFailure::NotDelivered(why.to_owned()));
    let unknown = |status: u16| Reply::Failed(CallFailure::Unknown(format!("HTTP {status}")));
    match response.status {
        200..=299 => Reply::Body(response.body.clone()),
        401 => not_delivered("Pagar.me does not take the secret key (401)"),
        403 => not_delivered("Pagar.me refuses this address or account (403)"),
        404 => Reply::NotFound(refusal::read(404, &response.body)),
        429 => Reply::Failed(CallFailure::Throttled {
            after_ms: response.retry_after_ms(now).unwrap_or(DEFAULT_HOLD_MS),
        }),
        status @ (408 | 409) => unknown(status),
        status @ 400..=499 => Reply::Refused(refusal::read(status, &response.body)),
        status => unknown(status),
    }
}
