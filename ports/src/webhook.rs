//! Sending webhooks.

use std::rc::Rc;

use async_trait::async_trait;
use quita_domain::delivery::DeliveryAttempt;

/// One signed request to a merchant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookRequest {
    /// Its URL.
    pub url: String,
    /// The `webhook-id`.
    pub id: String,
    /// The `webhook-timestamp`, in seconds since the Unix epoch.
    pub timestamp_s: i64,
    /// The `webhook-signature`.
    pub signature: String,
    /// The body, JSON.
    pub body: String,
}

/// Sends webhooks, and refuses addresses that merchants may not use.
///
/// Runs on the thread of its worker, so its futures need not be `Send`.
#[async_trait(?Send)]
pub trait WebhookSender {
    /// Sends one request and reads the answer, all within the time-out. Never fails: an error is an attempt too.
    async fn send(&self, request: WebhookRequest) -> DeliveryAttempt;
}

/// Makes a sender on the thread where it will live.
pub trait WebhookSenderFactory: Send + Sync + 'static {
    /// Builds the sender.
    fn build(&self) -> Rc<dyn WebhookSender>;
}
