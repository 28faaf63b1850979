//! A webhook worker: one delivery at a time.
//!
//! Owns its sender. Signs, sends, and tells the pool what came of it. Never decides when to try again. Made anew by
//! the pool when it dies; its delivery is due again when its lease ends.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::delivery::{DeliveryAttempt, webhook_id};
use quita_domain::event::Event;
use quita_domain::payment::Payment;
use quita_domain::webhook::{body, signature};
use quita_ports::trace::{self, Span, SpanKind, within};
use quita_ports::{WebhookRequest, WebhookSender};
use url::Url;

use crate::actor_meter::Alive;
use crate::mailbox::{Ask, Question};
use crate::shared::Shared;
use crate::webhook_pool::Deliver;

/// Messages that may wait for one worker: the pool gives it one at a time.
pub(crate) const MAILBOX: usize = 2;

/// Send this delivery. Answered with how the attempt went; `None` if it could not be made.
pub(crate) struct Send(pub(crate) Deliver);

impl Question for Send {
    type Answer = Option<DeliveryAttempt>;
    const NAME: &'static str = "send";

    fn tell(&self, span: &mut Span) {
        self.0.tell(span);
    }
}

/// Sends webhooks.
pub(crate) struct WebhookWorkerActor {
    shared: Arc<Shared>,
    sender: Rc<dyn WebhookSender>,
    _alive: Alive,
}

impl WebhookWorkerActor {
    pub(crate) const fn new(shared: Arc<Shared>, sender: Rc<dyn WebhookSender>, alive: Alive) -> Self {
        Self { shared, sender, _alive: alive }
    }
}

impl Actor for WebhookWorkerActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Send>> for WebhookWorkerActor {
    type Result = ResponseFuture<()>;

    fn handle(&mut self, ask: Ask<Send>, _: &mut Self::Context) -> Self::Result {
        let (Send(delivery), reply, handling) = ask.open();
        let (shared, sender) = (Arc::clone(&self.shared), Rc::clone(&self.sender));
        Box::pin(within(handling.place(), async move {
            let attempt = deliver(&shared, sender.as_ref(), &delivery).await;
            drop(handling);
            reply.send(attempt);
        }))
    }
}

async fn deliver(shared: &Shared, sender: &dyn WebhookSender, delivery: &Deliver) -> Option<DeliveryAttempt> {
    let Deliver { payment, index } = delivery;
    let place = usize::try_from(*index).unwrap_or(usize::MAX);
    let (claimed, event) =
        payment.outbox.get(place).and_then(|delivery| Some((delivery, payment.event(delivery.sequence)?)))?;
    let attempt = match request(shared, payment, event).await {
        Ok(request) => {
            let mut span = sending_span(&request, event, claimed.attempts.len());
            let attempt = sender.send(request).await;
            span.tell_with(|span| tell_attempt(span, &attempt));
            attempt
        }
        // Not an attempt: the lease ends, and it is tried again.
        Err(why) => {
            tracing::warn!(transaction.id = %payment.id, why, "a webhook could not be made");
            return None;
        }
    };
    count(shared, event, &attempt);
    tracing::debug!(
        transaction.id = %payment.id, event.sequence = event.sequence, status = attempt.status,
        error = attempt.error, "a webhook was sent"
    );
    Some(attempt)
}

/// The span of one exchange with a receiver, of which it tells the host and nothing else.
fn sending_span(request: &WebhookRequest, event: &Event, attempts_before: usize) -> Span {
    let here = trace::here();
    let mut span = Span::child(here.as_ref(), || "webhook".into()).of_kind(SpanKind::Client);
    span.tell_with(|span| {
        let host = Url::parse(&request.url).ok().and_then(|url| url.host_str().map(str::to_owned));
        span.tell("server.address", host.unwrap_or_default());
        span.tell("http.request.method", "POST");
        span.tell("event", event.name());
        span.tell("attempt", attempts_before.saturating_add(1));
    });
    span
}

fn tell_attempt(span: &mut Span, attempt: &DeliveryAttempt) {
    if let Some(status) = attempt.status {
        span.tell("http.response.status_code", status);
    }
    if let Some(error) = &attempt.error {
        span.tell("error.type", error.clone());
    }
    if !attempt.is_confirmed() {
        span.fail("not confirmed");
    }
}

async fn request(shared: &Shared, payment: &Payment, event: &Event) -> Result<WebhookRequest, String> {
    let url = payment.order.postback_url.clone().ok_or("the payment has no postback address")?;
    let secrets = shared.secrets.of(&payment.owner).await.map_err(|error| error.to_string())?;
    if secrets.is_empty() {
        return Err("the application has no webhook secret".into());
    }
    let body = body::body(payment, event, &shared.public_url).map_err(|error| error.to_string())?;
    let id = webhook_id(payment.id, event.sequence);
    let timestamp_s = shared.clock.now().millis().div_euclid(1_000);
    let signature = signature::sign(&secrets, &id, timestamp_s, body.as_bytes());
    Ok(WebhookRequest { url, id, timestamp_s, signature, body })
}

fn count(shared: &Shared, event: &Event, attempt: &DeliveryAttempt) {
    let outcome = if attempt.is_confirmed() {
        "delivered"
    } else if attempt.status.is_some() {
        "refused"
    } else {
        "failed"
    };
    shared.meter.webhook_deliveries.with_label_values(&[outcome]).inc();
    if attempt.is_confirmed() {
        let ended = attempt.at.plus_ms(attempt.duration_ms);
        let lag = Duration::from_millis(ended.ms_since(event.occurred_at));
        shared.meter.webhook_lag.observe(lag.as_secs_f64());
    }
}
