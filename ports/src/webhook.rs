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

impl WebhookRequest {
    /// Returns its headers by name, as they are sent and shown.
    pub fn headers(&self) -> [(&'static str, String); 4] {
        let Self { url: _, id, timestamp_s, signature, body: _ } = self;
        [
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id.clone()),
            ("webhook-timestamp", timestamp_s.to_string()),
            ("webhook-signature", signature.clone()),
        ]
    }
}

/// Exchange with a receiver: the attempt for the record, and details that the record does not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentWebhook {
    /// The attempt.
    pub attempt: DeliveryAttempt,
    /// Details about a missing answer. They are shown and logged, but not stored.
    pub detail: Option<FailureDetail>,
}

impl From<DeliveryAttempt> for SentWebhook {
    fn from(attempt: DeliveryAttempt) -> Self {
        Self { attempt, detail: None }
    }
}

/// Details about a missing answer, more precise than the attempt's `error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureDetail {
    /// Its kind, if `error` is ambiguous.
    pub kind: Option<DetailKind>,
    /// Exact reason in English, without path, header or body.
    pub text: String,
}

/// Kinds of failed exchanges that share an `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetailKind {
    /// The certificate is self-signed, or of an authority that is not public.
    UnknownIssuer,
    /// The certificate has expired.
    CertificateExpired,
    /// The certificate is not valid yet.
    CertificateNotYetValid,
    /// The certificate is for another name.
    CertificateOfOtherName,
    /// The port does not speak TLS.
    NoTls,
    /// The connection was closed during the handshake.
    ClosedInHandshake,
    /// The connection was closed without an answer.
    ClosedUnanswered,
    /// The answer is not HTTP.
    NoHttp,
    /// The answer was cut short.
    CutShort,
}

impl DetailKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::UnknownIssuer,
        Self::CertificateExpired,
        Self::CertificateNotYetValid,
        Self::CertificateOfOtherName,
        Self::NoTls,
        Self::ClosedInHandshake,
        Self::ClosedUnanswered,
        Self::NoHttp,
        Self::CutShort,
    ];
}

/// Sender of webhooks, which refuses addresses that merchants may not use.
///
/// Runs on the thread of its worker, so its futures need not be `Send`.
#[async_trait(?Send)]
pub trait WebhookSender {
    /// Sends one request and reads the answer, all within the time-out. Never fails: an error is an attempt too.
    async fn send(&self, request: WebhookRequest) -> SentWebhook;
}

/// Factory that builds a sender on the thread where it will live.
pub trait WebhookSenderFactory: Send + Sync + 'static {
    /// Builds the sender.
    fn build(&self) -> Rc<dyn WebhookSender>;
}
