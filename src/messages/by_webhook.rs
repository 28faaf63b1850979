//! Messages by webhook, to a URL that the person entered: signed like events, and sent by the same client.

use std::rc::Rc;
use std::sync::Arc;

use quita_domain::delivery::DeliveryAttempt;
use quita_domain::webhook::signature::sign;
use quita_ports::{Clock, WebhookRequest, WebhookSender};

use super::metrics::MessageMetrics;
use super::webhook_body::{WebhookMessage, WebhookReader};
use quita_services::people::{MessageWebhooks, Someone};

/// Channel of messages by webhook.
pub(super) struct ByWebhook {
    sender: Rc<dyn WebhookSender>,
    webhooks: MessageWebhooks,
    clock: Arc<dyn Clock>,
    metrics: MessageMetrics,
}

/// Outcome of a message by webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WebhookOutcome {
    /// The receiver accepted the message.
    Taken,
    /// The receiver did not accept the message; it will be retried.
    Failed,
    /// The receiver wants no more messages.
    Gone,
}

impl ByWebhook {
    /// Creates the channel that sends with this sender, and signs with the secrets of these people.
    pub(super) fn new(
        sender: Rc<dyn WebhookSender>,
        webhooks: MessageWebhooks,
        clock: Arc<dyn Clock>,
        metrics: MessageMetrics,
    ) -> Self {
        Self { sender, webhooks, clock, metrics }
    }

    /// Sends a message to the URL that its reader entered.
    pub(super) async fn send<S: Someone + WebhookReader>(
        &self,
        message: &WebhookMessage<'_, S>,
    ) -> WebhookOutcome {
        let Some(request) = self.request(message) else {
            self.metrics.failed.inc();
            return WebhookOutcome::Failed;
        };
        let attempt = self.sender.send(request).await.attempt;
        if attempt.is_confirmed() {
            self.metrics.sent.inc();
            return WebhookOutcome::Taken;
        }
        self.metrics.failed.inc();
        self.log_failure(message.person, &attempt);
        if attempt.is_gone() { WebhookOutcome::Gone } else { WebhookOutcome::Failed }
    }

    /// Signs the message; `None` if its secret can't be opened.
    fn request<S: Someone + WebhookReader>(&self, message: &WebhookMessage<'_, S>) -> Option<WebhookRequest> {
        let url = message.person.message_webhook()?.url.clone();
        let secret = match self.webhooks.secret(message.person) {
            Ok(secret) => secret?,
            Err(error) => {
                tracing::error!(%error, "a message by webhook could not be signed; it will be retried");
                return None;
            }
        };
        let id = message.id();
        let now = self.clock.now();
        let body = message.body(&id, now).ok()?;
        let timestamp_s = now.millis().div_euclid(1_000);
        let signature = sign(&[secret], &id, timestamp_s, body.as_bytes());
        Some(WebhookRequest { url, id, timestamp_s, signature, body })
    }

    fn log_failure<S: Someone>(&self, person: &S, attempt: &DeliveryAttempt) {
        // The rest of the URL may be a secret, and the person's address must not appear in a log.
        let receiver = person.message_webhook().map(|webhook| webhook.receiver()).unwrap_or_default();
        tracing::warn!(
            server.address = receiver,
            status = attempt.status,
            error = attempt.error,
            "a message by webhook was not accepted"
        );
    }
}
