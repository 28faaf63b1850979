//! Callbacks: the charge or order that changed, with Basic authentication.
//!
//! The body has statuses and amounts, but they are ignored: elsewhere, a forged callback was believed (CVE-2026-0939).
//! A callback is a hint, and the charge is read.

use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};
use serde_json::Value;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::code;
use super::order::{ChargeId, OrderId};
use super::settings::PagarmeSettings;
use super::{CHARGE_ID, ORDER_ID};
use crate::field::Object;

/// Reads the callbacks of one account.
pub(super) struct PagarmeNotices(RwLock<Arc<Credentials>>);

/// User and password that prove that Pagar.me sent a callback.
struct Credentials {
    user: String,
    password: Secret<String>,
}

impl Credentials {
    fn of(settings: &PagarmeSettings) -> Arc<Self> {
        let user = settings.notification_user.clone();
        let password = settings.notification_password.clone();
        Arc::new(Self { user, password })
    }

    /// Compares both in constant time.
    fn are(&self, header: &str) -> bool {
        let Some(("Basic" | "basic" | "BASIC", encoded)) = header.split_once(' ') else { return false };
        let Ok(given) = STANDARD.decode(encoded.trim()).map(Zeroizing::new) else { return false };
        let expected = Zeroizing::new(format!("{}:{}", self.user, self.password.expose()));
        // If no password is configured, an empty one must not be accepted.
        !self.password.expose().is_empty() && bool::from(given.as_slice().ct_eq(expected.as_bytes()))
    }
}

impl PagarmeNotices {
    pub(super) fn new(settings: &PagarmeSettings) -> Self {
        Self(RwLock::new(Credentials::of(settings)))
    }

    /// Uses these credentials from now on.
    pub(super) fn reconfigure(&self, settings: &PagarmeSettings) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Credentials::of(settings);
    }

    fn credentials(&self) -> Arc<Credentials> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl NoticeReader for PagarmeNotices {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        if !head.path_tail.is_empty() {
            return Err(NoticeRefused::NoSuchAddress);
        }
        match head.header("authorization") {
            Some(given) if self.credentials().are(given) => Ok(()),
            Some(_) | None => Err(NoticeRefused::NotAuthentic),
        }
    }

    fn read(&self, notice: &RawNotice<'_>, _: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        let unreadable = |why: &str| NoticeRefused::Unreadable(why.to_owned());
        let value: Value = serde_json::from_slice(notice.body).map_err(|_| unreadable("it is no JSON"))?;
        let data = Object::of(&value).and_then(|body| body.object("data"));
        let data = data.ok_or_else(|| unreadable("it has no data"))?;
        let code = data.object("order").and_then(|order| order.text("code")).or_else(|| data.text("code"));
        if let Some(code) = code {
            let charge =
                // In an order's event this is the order's own id. Only a charge's id tells which charge changed.
                data.text("id").filter(|id| !id.starts_with("or_")).and_then(|id| ChargeId::parse(&id));
            let ours = code::read(&code).map(|id| match charge {
                Some(charge) => HintSubject::Charge(id, Reference::none().with(CHARGE_ID, charge.as_str())),
                None => HintSubject::Payment(id),
            });
            return Ok(vec![ours.map_or(NoticeContent::Unrelated, NoticeContent::Hint)]);
        }
        let id = data.text("id").ok_or_else(|| unreadable("it names no order"))?;
        let reference = if id.starts_with("or_") {
            OrderId::parse(&id).map(|id| Reference::none().with(ORDER_ID, id.as_str()))
        } else {
            ChargeId::parse(&id).map(|id| Reference::none().with(CHARGE_ID, id.as_str()))
        };
        let reference = reference.ok_or_else(|| unreadable("its id is none"))?;
        Ok(vec![NoticeContent::Hint(HintSubject::Reference(reference))])
    }
}
