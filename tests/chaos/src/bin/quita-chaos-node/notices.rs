//! Notices of the banks: one sends facts as the sandbox does, the other one sends only hints.

use quita_acquirers::sandbox::SandboxNotices;
use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::{WebhookSecret, verify};
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};
use serde_json::Value;

use crate::bank_kind::BankKind;

/// Name under which the bank's own number of a charge is stored.
pub(crate) const NUMBER: &str = "number";

/// Returns the reader of a bank's notices.
pub(crate) fn reader(kind: BankKind, name: &AcquirerName, secret: WebhookSecret) -> Box<dyn NoticeReader> {
    match kind {
        BankKind::WithIds => Box::new(SandboxNotices::new(name.clone(), vec![secret])),
        BankKind::SumsOnly => Box::new(HintReader { secret }),
    }
}

/// Reads notices that are signed like the sandbox's, and only identify a charge that may have changed.
struct HintReader {
    secret: WebhookSecret,
}

impl HintReader {
    fn is_authentic(&self, notice: &RawNotice<'_>) -> Option<bool> {
        let timestamp_s = notice.header("webhook-timestamp")?.parse().ok()?;
        let id = notice.header("webhook-id")?;
        let signature = notice.header("webhook-signature")?;
        Some(verify(&self.secret, id, timestamp_s, notice.body, signature))
    }
}

impl NoticeReader for HintReader {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        let is_signed = head.header("webhook-signature").is_some();
        if is_signed { Ok(()) } else { Err(NoticeRefused::NotAuthentic) }
    }

    fn read(&self, notice: &RawNotice<'_>, _now: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        if self.is_authentic(notice) != Some(true) {
            return Err(NoticeRefused::NotAuthentic);
        }
        let body: Value = serde_json::from_slice(notice.body)
            .map_err(|error| NoticeRefused::Unreadable(error.to_string()))?;
        let by_our_id =
            body["transactionId"].as_str().and_then(TransactionId::parse).map(HintSubject::Payment);
        let by_number = body["number"]
            .as_str()
            .map(|number| HintSubject::Reference(Reference::none().with(NUMBER, number)));
        by_our_id
            .or(by_number)
            .map(|subject| vec![NoticeContent::Hint(subject)])
            .ok_or_else(|| NoticeRefused::Unreadable("it names no charge".into()))
    }
}
