//! Webhooks over HTTP.
//!
//! One POST, no redirects followed, no answer trusted: the whole exchange has one time-out, little of the answer
//! is read, and under [`AddressPolicy::PublicOnly`] the address that is dialled is the one that was checked.

mod address_policy;
mod answer;
mod connections;
mod failure;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::webhook::schedule::TIME_OUT_MS;
use quita_ports::{Clock, WebhookRequest, WebhookSender, WebhookSenderFactory};
use tokio::time::{Instant, timeout};
use url::Url;

pub use address_policy::AddressPolicy;

use answer::Answer;
use connections::Connections;
use failure::Failure;

/// The `User-Agent` of every webhook.
const USER_AGENT: &str = concat!("quita/", env!("CARGO_PKG_VERSION"));

/// Makes senders of webhooks; each has connections of its own.
pub struct WebhookHttpFactory {
    policy: AddressPolicy,
    clock: Arc<dyn Clock>,
    time_out: Duration,
}

impl WebhookHttpFactory {
    /// Senders that keep to this policy and to the time-out of the schedule.
    pub fn new(policy: AddressPolicy, clock: Arc<dyn Clock>) -> Self {
        Self { policy, clock, time_out: Duration::from_millis(TIME_OUT_MS) }
    }

    /// With another time-out of the whole exchange.
    #[must_use]
    pub fn with_time_out_ms(self, time_out_ms: u64) -> Self {
        Self { time_out: Duration::from_millis(time_out_ms), ..self }
    }
}

impl WebhookSenderFactory for WebhookHttpFactory {
    fn build(&self) -> Rc<dyn WebhookSender> {
        Rc::new(WebhookHttp {
            policy: self.policy,
            clock: Arc::clone(&self.clock),
            time_out: self.time_out,
            connections: Connections::new(self.policy, self.time_out),
        })
    }
}

/// Sends webhooks from one thread.
struct WebhookHttp {
    policy: AddressPolicy,
    clock: Arc<dyn Clock>,
    time_out: Duration,
    connections: Connections,
}

#[async_trait(?Send)]
impl WebhookSender for WebhookHttp {
    async fn send(&self, request: WebhookRequest) -> DeliveryAttempt {
        let (at, begun) = (self.clock.now(), Instant::now());
        // What did not end in time did not end: not even a 200 at its beginning counts.
        let outcome = timeout(self.time_out, self.exchange(request)).await.unwrap_or(Err(Failure::Timeout));
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (answer, failure) = match outcome {
            Ok(answer) => (Some(answer), None),
            Err(failure) => (None, Some(failure)),
        };
        let failure = failure.or_else(|| answer.as_ref().and_then(|answer| answer.failure));
        DeliveryAttempt {
            at,
            duration_ms,
            status: answer.as_ref().map(|answer| answer.status),
            error: failure.map(|failure| failure.as_str().to_owned()),
            retry_after_ms: answer.as_ref().and_then(|answer| answer.retry_after_ms),
            answer: answer.and_then(|answer| answer.beginning),
        }
    }
}

impl WebhookHttp {
    async fn exchange(&self, request: WebhookRequest) -> Result<Answer, Failure> {
        let url = destination(&request.url)?;
        self.policy.check_literal(&url)?;
        let client = self.connections.client_for(&url);
        let sending = client
            .post(url.as_str())
            .insert_header(("content-type", "application/json"))
            .insert_header(("user-agent", USER_AGENT))
            .insert_header(("webhook-id", request.id))
            .insert_header(("webhook-timestamp", request.timestamp_s.to_string()))
            .insert_header(("webhook-signature", request.signature))
            .send_body(request.body);
        let response = sending.await.map_err(|error| Failure::of(&error))?;
        Ok(Answer::read(response, self.clock.now()).await)
    }
}

/// Reads a URL; numbers in disguise (`http://2130706433/`) come out as the addresses they are.
fn destination(url: &str) -> Result<Url, Failure> {
    let mut url = Url::parse(url).map_err(|_| Failure::InvalidUrl)?;
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || has_credentials {
        return Err(Failure::InvalidUrl);
    }
    url.set_fragment(None);
    Ok(url)
}
