//! Notices over HTTP in the sandbox's format: signed according to Standard Webhooks, with one fact each.

use std::sync::{PoisonError, RwLock};

use quita_domain::acquiring::{Fact, Notice, NoticeContent};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::{WebhookSecret, verify};
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};
use serde::Deserialize;

/// Longest event id, in bytes: it becomes the key under which the notice is stored.
const MAX_EVENT_ID: usize = 255;

/// Seconds by which the time of a signature may differ from ours.
const TOLERANCE_S: u64 = 300;

/// Headers that sign a notice.
const SIGNATURE: [&str; 3] = ["webhook-id", "webhook-timestamp", "webhook-signature"];

/// A notice as the sandbox sends it: its own event id, our payment, and the stated fact.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SandboxNotice {
    event_id: String,
    transaction_id: TransactionId,
    #[serde(flatten)]
    fact: Fact,
}

/// Reads the notices of one sandbox.
pub struct SandboxNotices {
    acquirer: AcquirerName,
    secrets: RwLock<Vec<WebhookSecret>>,
}

impl SandboxNotices {
    /// Creates the reader for this acquirer's notices, which are signed with any of these secrets.
    pub const fn new(acquirer: AcquirerName, secrets: Vec<WebhookSecret>) -> Self {
        Self { acquirer, secrets: RwLock::new(secrets) }
    }

    /// Accepts notices signed with any of these secrets from now on.
    pub fn reconfigure(&self, secrets: Vec<WebhookSecret>) {
        *self.secrets.write().unwrap_or_else(PoisonError::into_inner) = secrets;
    }

    fn is_authentic(&self, notice: &RawNotice<'_>, now: Timestamp) -> bool {
        let [id, timestamp, signature] = SIGNATURE.map(|name| notice.header(name));
        let (Some(id), Some(timestamp), Some(signature)) = (id, timestamp, signature) else { return false };
        let Ok(timestamp_s) = timestamp.parse::<i64>() else { return false };
        let is_fresh = timestamp_s.abs_diff(now.millis().div_euclid(1_000)) <= TOLERANCE_S;
        let secrets = self.secrets.read().unwrap_or_else(PoisonError::into_inner);
        is_fresh && secrets.iter().any(|secret| verify(secret, id, timestamp_s, notice.body, signature))
    }
}

impl NoticeReader for SandboxNotices {
    /// Only checks that a signature is present: it covers the body, which has not been read yet.
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        if !head.path_tail.is_empty() {
            return Err(NoticeRefused::NoSuchAddress);
        }
        let is_signed = SIGNATURE.iter().all(|name| head.header(name).is_some());
        if is_signed { Ok(()) } else { Err(NoticeRefused::NotAuthentic) }
    }

    fn read(&self, notice: &RawNotice<'_>, now: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        if !self.is_authentic(notice, now) {
            return Err(NoticeRefused::NotAuthentic);
        }
        let read: SandboxNotice = serde_json::from_slice(notice.body)
            .map_err(|error| NoticeRefused::Unreadable(format!("it is no notice of a sandbox: {error}")))?;
        if !(1..=MAX_EVENT_ID).contains(&read.event_id.len()) {
            let why = format!("its eventId must have 1 to {MAX_EVENT_ID} bytes");
            return Err(NoticeRefused::Unreadable(why));
        }
        let notice = Notice {
            id: format!("{}:{}", self.acquirer, read.event_id),
            acquirer: self.acquirer.clone(),
            transaction_id: read.transaction_id,
            fact: read.fact,
            received_at: now,
        };
        Ok(vec![NoticeContent::Fact(Box::new(notice))])
    }
}
