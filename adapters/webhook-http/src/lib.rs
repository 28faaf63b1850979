//! Webhooks over HTTP.
//!
//! A webhook is one POST. Redirects are not followed, and the answer is not trusted. The whole exchange has one
//! time-out, and little of the answer is read. Under [`AddressPolicy::PublicOnly`] the dialled address is the one that
//! was checked. If a kept connection turns out to be closed, the event is sent again at once: its receiver recognises
//! it by its id.

mod address_policy;
mod answer;
mod failure;

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::webhook::schedule::TIME_OUT_MS;
use quita_http_client::header::{HeaderValue, USER_AGENT};
use quita_http_client::{Client, ClientSettings, HeaderMap, Method, Request, Uri, public_roots, tls};
use quita_ports::{Clock, SentWebhook, WebhookRequest, WebhookSender, WebhookSenderFactory};
use rustls::ClientConfig;
use tokio::time::Instant;
use url::Url;

pub use address_policy::AddressPolicy;

use answer::{Answer, MAX_READ_BYTES};
use failure::{Failure, Unanswered};

/// Maximum number of concurrent exchanges of one sender; further ones wait for their turn within their time-out.
const MAX_EXCHANGES: usize = 64;

/// Maximum number of idle connections of one sender, over all receivers.
const MAX_KEPT: usize = 64;

/// The `User-Agent` of every webhook.
const OUR_NAME: &str = concat!("quita/", env!("CARGO_PKG_VERSION"));

/// Factory of senders of webhooks. Each has its own connections, and all share the TLS session cache.
pub struct WebhookHttpFactory {
    policy: AddressPolicy,
    clock: Arc<dyn Clock>,
    time_out: Duration,
    tls: Arc<ClientConfig>,
}

impl WebhookHttpFactory {
    /// Creates a factory of senders that apply this policy and the time-out of the schedule.
    ///
    /// # Errors
    /// Fails if TLS is not available.
    pub fn new(policy: AddressPolicy, clock: Arc<dyn Clock>) -> Result<Self, rustls::Error> {
        let tls = Arc::new(tls(public_roots(), None)?);
        Ok(Self { policy, clock, time_out: Duration::from_millis(TIME_OUT_MS), tls })
    }

    /// Sets another time-out of the whole exchange.
    #[must_use]
    pub fn with_time_out_ms(self, time_out_ms: u64) -> Self {
        Self { time_out: Duration::from_millis(time_out_ms), ..self }
    }
}

impl WebhookSenderFactory for WebhookHttpFactory {
    fn build(&self) -> Rc<dyn WebhookSender> {
        let policy = self.policy;
        let client = Client::new(ClientSettings {
            tls: Arc::clone(&self.tls),
            may_dial: Box::new(move |address| policy.allows(address)),
            at_once: MAX_EXCHANGES,
            kept: MAX_KEPT,
            // Each step may take the whole time, which the deadline limits.
            step: self.time_out,
        });
        Rc::new(WebhookHttp { clock: Arc::clone(&self.clock), time_out: self.time_out, client })
    }
}

/// Sends webhooks from one thread.
struct WebhookHttp {
    clock: Arc<dyn Clock>,
    time_out: Duration,
    client: Client,
}

#[async_trait(?Send)]
impl WebhookSender for WebhookHttp {
    async fn send(&self, request: WebhookRequest) -> SentWebhook {
        let at = self.clock.now();
        // The time-out is measured by the monotonic clock; the attempt's recorded time comes from the wall clock.
        let begun = Instant::now();
        let outcome = self.exchange(request, begun + self.time_out).await;
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (answer, failure, detail) = match outcome {
            Ok(answer) => (Some(answer), None, None),
            Err(Unanswered { failure, detail }) => (None, Some(failure), detail),
        };
        let failure = failure.or_else(|| answer.as_ref().and_then(|answer| answer.failure));
        let attempt = DeliveryAttempt {
            at,
            duration_ms,
            status: answer.as_ref().map(|answer| answer.status),
            error: failure.map(|failure| failure.as_str().to_owned()),
            retry_after_ms: answer.as_ref().and_then(|answer| answer.retry_after_ms),
            answer: answer.and_then(|answer| answer.beginning),
        };
        SentWebhook { attempt, detail }
    }
}

impl WebhookHttp {
    /// Sends the event. An exchange that did not end by the deadline is a failure, even if it began with a 200.
    async fn exchange(&self, webhook: WebhookRequest, deadline: Instant) -> Result<Answer, Unanswered> {
        let request = written(webhook)?;
        let answer = self.client.send(&request, deadline, MAX_READ_BYTES).await;
        let answer = answer.map_err(|failure| Unanswered::of(&failure.why))?;
        Ok(Answer::of(&answer, self.clock.now()))
    }
}

fn written(webhook: WebhookRequest) -> Result<Request, Failure> {
    let url = destination(&webhook.url)?;
    let uri: Uri = url.as_str().parse().map_err(|_| Failure::InvalidUrl)?;
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(OUR_NAME));
    for (name, value) in webhook.headers() {
        headers.insert(name, HeaderValue::try_from(value).map_err(|_| Failure::Protocol)?);
    }
    // The receiver recognises an event by its id.
    let is_repeatable = true;
    Ok(Request { method: Method::POST, uri, headers, body: webhook.body.into(), is_repeatable })
}

/// Reads a URL. Numeric addresses in other notations (`http://2130706433/`) are converted to the usual one.
fn destination(url: &str) -> Result<Url, Failure> {
    let mut url = Url::parse(url).map_err(|_| Failure::InvalidUrl)?;
    let has_credentials = !url.username().is_empty() || url.password().is_some();
    // Credentials in an address would be stored and shown with the payment's other data.
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || has_credentials {
        return Err(Failure::InvalidUrl);
    }
    url.set_fragment(None);
    Ok(url)
}
