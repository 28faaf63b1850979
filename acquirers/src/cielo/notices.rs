//! Notifications ("post de notificação"): a sale's name and the kind of change, with a header that Cielo was given.
//!
//! A notification has no signature and no status, so it is only a hint, and the sale is read.

use std::sync::{Arc, PoisonError, RwLock};

use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::PAYMENT_ID;
use super::sale::PaymentId;
use super::settings::CieloSettings;
use crate::field::Object;

/// `ChangeType` of recurrences, which this service never creates: 2 created, 4 changed.
const RECURRENCE: [&str; 2] = ["2", "4"];

/// Reads the notifications of one merchant.
pub(super) struct CieloNotices(RwLock<Arc<Key>>);

/// Header and secret that prove that Cielo sent a notification.
struct Key {
    header: String,
    secret: Secret<String>,
}

impl Key {
    fn of(settings: &CieloSettings) -> Arc<Self> {
        let header = settings.notification_header.to_ascii_lowercase();
        Arc::new(Self { header, secret: settings.notification_secret.clone() })
    }

    fn is(&self, given: &str) -> bool {
        let secret = self.secret.expose();
        // Compared in constant time, so that the response time does not reveal the secret byte by byte.
        !secret.is_empty() && bool::from(given.as_bytes().ct_eq(secret.as_bytes()))
    }
}

impl CieloNotices {
    pub(super) fn new(settings: &CieloSettings) -> Self {
        Self(RwLock::new(Key::of(settings)))
    }

    /// Uses this header and secret from now on.
    pub(super) fn reconfigure(&self, settings: &CieloSettings) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Key::of(settings);
    }

    fn key(&self) -> Arc<Key> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl NoticeReader for CieloNotices {
    /// Refuses a request without the header as an unknown address, so that the acquirer is not revealed. With another
    /// secret, the refusal states the cause.
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        let key = self.key();
        match head.header(&key.header) {
            Some(given) if head.path_tail.is_empty() && key.is(given) => Ok(()),
            Some(_) if head.path_tail.is_empty() => Err(NoticeRefused::NotAuthentic),
            Some(_) | None => Err(NoticeRefused::NoSuchAddress),
        }
    }

    fn read(&self, notice: &RawNotice<'_>, _: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        let unreadable = |why: &str| NoticeRefused::Unreadable(why.to_owned());
        let value: Value = serde_json::from_slice(notice.body).map_err(|_| unreadable("it is no JSON"))?;
        let body = Object::of(&value).ok_or_else(|| unreadable("it is no object"))?;
        let Some(given) = body.text("PaymentId") else {
            let change = body.text("ChangeType").unwrap_or_default();
            let is_none_of_ours = RECURRENCE.contains(&change.as_str());
            return if is_none_of_ours { Ok(Vec::new()) } else { Err(unreadable("it names no PaymentId")) };
        };
        let payment_id = PaymentId::parse(&given).ok_or_else(|| unreadable("its PaymentId is no GUID"))?;
        // Whatever has changed, the sale will show it.
        let reference = Reference::none().with(PAYMENT_ID, payment_id.as_str());
        Ok(vec![NoticeContent::Hint(HintSubject::Reference(reference))])
    }
}
