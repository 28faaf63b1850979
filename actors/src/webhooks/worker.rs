//! A webhook worker: one delivery at a time.
//!
//! Owns its sender. Signs, sends, and reports the attempt to the pool. Never decides when to try again. Recreated by
//! the pool when it dies; its delivery is due again when its lease ends.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::delivery::{DeliveryAttempt, webhook_id};
use quita_domain::event::Event;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_domain::webhook::{body, signature};
use quita_ports::trace::{self, Span, SpanKind, within};
use quita_ports::{Clock, WebhookRequest, WebhookSender};
use url::Url;

use crate::actor::mailbox::{Ask, Question};
use crate::actor::meter::Alive;
use crate::watch::meter::Meter;
use crate::webhooks::deliver::Deliver;
use crate::webhooks::secrets::Secrets;

/// Number of messages that may wait for one worker. The pool gives it one at a time.
pub(crate) const MAILBOX: usize = 2;

/// Sends this delivery. The answer is the attempt; `None` if it could not be made.
pub(crate) struct SendWebhook(pub(crate) Deliver);

impl Question for SendWebhook {
    type Answer = Option<DeliveryAttempt>;
    const NAME: &'static str = "send";

    fn record(&self, span: &mut Span) {
        self.0.record(span);
    }
}

/// Dependencies of a worker, except its sender.
pub(crate) struct WorkerParts {
    pub(crate) secrets: Secrets,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) public_url: String,
}

/// Sends webhooks.
pub(crate) struct WebhookWorkerActor {
    parts: Arc<WorkerParts>,
    sender: Rc<dyn WebhookSender>,
    _alive: Alive,
}

impl WebhookWorkerActor {
    pub(crate) const fn new(parts: Arc<WorkerParts>, sender: Rc<dyn WebhookSender>, alive: Alive) -> Self {
        Self { parts, sender, _alive: alive }
    }
}

impl Actor for WebhookWorkerActor {
    type Context = Context<Self>;
}

impl Handler<Ask<SendWebhook>> for WebhookWorkerActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, ask: Ask<SendWebhook>, _: &mut Self::Context) -> Self::Result {
        let (SendWebhook(delivery), reply, handling) = ask.open();
        let parts = Arc::clone(&self.parts);
        let sender = Rc::clone(&self.sender);
        Box::pin(within(handling.context(), async move {
            let attempt = deliver(&parts, sender.as_ref(), delivery).await;
            drop(handling);
            reply.send(attempt);
        }))
    }
}

async fn deliver(
    parts: &WorkerParts,
    sender: &dyn WebhookSender,
    Deliver { payment, index, .. }: Deliver,
) -> Option<DeliveryAttempt> {
    let claimed = payment.delivery(index)?;
    let event = payment.event(claimed.sequence)?;
    let id = payment.id;
    let sequence = event.sequence.get();
    let occurred_at = event.occurred_at;
    let request = match request(parts, &payment, event).await {
        Ok(request) => request,
        // This does not count as an attempt. The delivery is due again when its lease ends.
        Err(why) => {
            tracing::warn!(transaction.id = %id, why, "a webhook could not be built");
            return None;
        }
    };
    let mut span = sending_span(&request, event, claimed.attempts.len());
    // The request is as large as the payment, and a receiver may take fifteen seconds, so only one of the two stays in
    // memory.
    drop(payment);
    let attempt = sender.send(request).await.attempt;
    span.record_with(|span| record_attempt(span, &attempt));
    count(parts, occurred_at, &attempt);
    if attempt.is_confirmed() {
        tracing::debug!(transaction.id = %id, event.sequence = sequence, "a webhook was confirmed");
    } else {
        tracing::debug!(
            transaction.id = %id, event.sequence = sequence, status = attempt.status, error = attempt.error,
            "a webhook was not confirmed"
        );
    }
    Some(attempt)
}

/// Opens the span of one exchange with a receiver. Records only the host of the address.
fn sending_span(request: &WebhookRequest, event: &Event, attempts_before: usize) -> Span {
    let here = trace::here();
    let mut span = Span::child(here.as_ref(), || "webhook".into()).of_kind(SpanKind::Client);
    span.record_with(|span| {
        let host = Url::parse(&request.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        span.record("server.address", host.unwrap_or_default());
        span.record("http.request.method", "POST");
        span.record("event", event.name());
        span.record("attempt", attempts_before.saturating_add(1));
    });
    span
}

fn record_attempt(span: &mut Span, attempt: &DeliveryAttempt) {
    if let Some(status) = attempt.status {
        span.record("http.response.status_code", status);
    }
    if let Some(error) = &attempt.error {
        span.record("error.type", error.clone());
    }
    if !attempt.is_confirmed() {
        span.fail("not confirmed");
    }
}

async fn request(parts: &WorkerParts, payment: &Payment, event: &Event) -> Result<WebhookRequest, String> {
    let url = payment.order.postback_url.clone().ok_or("the payment has no postback address")?;
    let secrets = parts.secrets.of(&payment.owner).await.map_err(|error| error.to_string())?;
    if secrets.is_empty() {
        return Err("the application has no webhook secret".into());
    }
    let body = body::body(payment, event, &parts.public_url).map_err(|error| error.to_string())?;
    let id = webhook_id(payment.id, event.sequence);
    // The time of this attempt, not of the event: receivers refuse a signature that is five minutes old.
    let timestamp_s = parts.clock.now().millis().div_euclid(1_000);
    let signature = signature::sign(&secrets, &id, timestamp_s, body.as_bytes());
    Ok(WebhookRequest { url, id, timestamp_s, signature, body })
}

fn count(parts: &WorkerParts, occurred_at: Timestamp, attempt: &DeliveryAttempt) {
    let outcome = if attempt.is_confirmed() {
        "delivered"
    } else if attempt.status.is_some() {
        "refused"
    } else {
        "failed"
    };
    parts.meter.webhook_deliveries.with_label_values(&[outcome]).inc();
    if attempt.is_confirmed() {
        let ended = attempt.ended_at();
        let lag = Duration::from_millis(ended.ms_since(occurred_at));
        parts.meter.webhook_lag.observe(lag.as_secs_f64());
    }
}
