//! One call to Cielo: address, headers, and the meaning of its HTTP status.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::CallFailure;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, call_time};
use tokio::time::Instant;
use url::form_urlencoded;
use uuid::Uuid;
use zeroize::Zeroizing;

use super::reason::Refusal;
use super::sale::PaymentId;
use super::settings::CieloSettings;
use super::spacing::Spacing;
use crate::exchange::{Exchange, Failure, Request, Response, Verb};

/// Milliseconds that a 429 without `Retry-After` holds back calls.
const DEFAULT_HOLD_MS: u64 = 5_000;

/// A line to Cielo with the current configuration. Calls under way keep theirs when the configuration changes.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) settings: Arc<CieloSettings>,
    pub(super) exchange: Rc<dyn Exchange>,
    /// Time-out of one request.
    pub(super) time_out: Duration,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) spacing: Arc<Spacing>,
}

/// Outcomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reply {
    /// A 2xx with this body.
    Body(Vec<u8>),
    /// 404.
    NotFound(Refusal),
    /// Any other explicit 4xx.
    Refused(Refusal),
    /// No usable answer.
    Failed(CallFailure),
}

impl Line {
    /// Creates a sale.
    pub(super) async fn create(&self, body: Zeroizing<Vec<u8>>) -> Reply {
        let url = format!("{}/1/sales/", self.settings.base_url);
        self.send(Verb::Post, url, body).await
    }

    /// Captures this amount.
    pub(super) async fn capture(&self, sale: &PaymentId, cents: u64) -> Reply {
        let url = format!("{}/1/sales/{sale}/capture?amount={cents}", self.settings.base_url);
        self.send(Verb::Put, url, Zeroizing::default()).await
    }

    /// Voids or refunds this amount.
    pub(super) async fn void(&self, sale: &PaymentId, cents: u64) -> Reply {
        let url = format!("{}/1/sales/{sale}/void?amount={cents}", self.settings.base_url);
        self.send(Verb::Put, url, Zeroizing::default()).await
    }

    /// Reads a sale.
    pub(super) async fn sale(&self, sale: &PaymentId) -> Reply {
        let url = format!("{}/1/sales/{sale}", self.settings.query_base_url);
        self.send(Verb::Get, url, Zeroizing::default()).await
    }

    /// Lists the sales of an order.
    pub(super) async fn sales_of(&self, order_id: &str) -> Reply {
        let order_id: String = form_urlencoded::byte_serialize(order_id.as_bytes()).collect();
        let url = format!("{}/1/sales?merchantOrderId={order_id}", self.settings.query_base_url);
        self.send(Verb::Get, url, Zeroizing::default()).await
    }

    async fn send(&self, verb: Verb, url: String, body: Zeroizing<Vec<u8>>) -> Reply {
        let settings = &self.settings;
        let mut headers = vec![
            ("MerchantId".to_owned(), settings.merchant_id.clone()),
            ("MerchantKey".to_owned(), settings.merchant_key.expose().clone()),
            ("RequestId".to_owned(), Uuid::now_v7().to_string()),
        ];
        if !body.is_empty() {
            headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
        }
        // Each repetition of Cielo's `PUT` voids this amount again.
        let is_repeatable = verb == Verb::Get;
        let sent = self.exchange.send(Request { verb, url, headers, body, is_repeatable });
        let waits_until = call_time::waits_until().unwrap_or_else(|| Instant::now() + self.time_out);
        let time_is_over = |_| Err(Failure::Unknown("time-out".to_owned()));
        match call_time::within(self.time_out, waits_until, sent).await.unwrap_or_else(time_is_over) {
            Ok(response) => {
                let reply = read(response, self.clock.now());
                if let Reply::Failed(CallFailure::Throttled { after_ms }) = reply {
                    self.spacing.hold(after_ms);
                }
                reply
            }
            Err(Failure::NotSent(why)) => Reply::Failed(CallFailure::NotDelivered(why)),
            Err(Failure::Unknown(why)) => Reply::Failed(CallFailure::Unknown(why)),
        }
    }
}

/// Reads the call's effect from the status. A 401 or 403 had none; without a real answer it is unknown.
fn read(response: Response, now: Timestamp) -> Reply {
    let not_delivered = |why: &str| Reply::Failed(CallFailure::NotDelivered(why.to_owned()));
    match response.status {
        200..=299 => Reply::Body(response.body),
        401 => not_delivered("Cielo does not take the merchant's key (401)"),
        403 => not_delivered("Cielo refuses this address or merchant (403)"),
        404 => Reply::NotFound(Refusal::read(404, &response.body)),
        429 => Reply::Failed(CallFailure::Throttled {
            after_ms: response.retry_after_ms(now).unwrap_or(DEFAULT_HOLD_MS),
        }),
        // A 4xx by number, but not a refusal: Cielo may still be processing the request.
        408 => Reply::Failed(CallFailure::Unknown("HTTP 408".to_owned())),
        status @ 400..=499 => Reply::Refused(Refusal::read(status, &response.body)),
        503 if let Some(after_ms) = response.retry_after_ms(now) => {
            Reply::Failed(CallFailure::Throttled { after_ms })
        }
        status => Reply::Failed(CallFailure::Unknown(format!("HTTP {status}"))),
    }
}
