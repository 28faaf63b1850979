//! Callbacks, which are only hints. They are not signed, and "baixa operacional" means that a payer's bank accepted a
//! payment, which it may take back. The address's last part authenticates the sender.
//!
//! The bank validates an address before there is any payment, and then requires a 200.

use std::sync::Arc;

use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_domain::time::Timestamp;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};

use super::OUR_NUMBER;
use super::factory::Current;
use crate::api_pix::lenient::{present, whole};
use crate::api_pix::notices::is_our_address;
use crate::text;

/// Reads the callbacks of one customer.
pub(super) struct SicoobNotices {
    current: Arc<Current>,
}

impl SicoobNotices {
    pub(super) const fn new(current: Arc<Current>) -> Self {
        Self { current }
    }
}

impl NoticeReader for SicoobNotices {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        let credential = self.current.credential();
        let webhook = &credential.settings.webhook;
        let mut tokens = std::iter::once(&webhook.token).chain(&webhook.other_tokens);
        let is_ours = tokens.any(|token| is_our_address(head.path_tail, token.expose()));
        if is_ours { Ok(()) } else { Err(NoticeRefused::NoSuchAddress) }
    }

    fn read(&self, notice: &RawNotice<'_>, _: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        let unreadable = |why: &str| NoticeRefused::Unreadable(why.to_owned());
        let body = text::json(notice.body).ok_or_else(|| unreadable("it is no JSON"))?;
        // The bank validates a new address before there is any payment, and accepts only 200, 201 or 204.
        if present(&body, "validacaoWebhook").is_some() {
            return Ok(Vec::new());
        }
        let data = present(&body, "dados").ok_or_else(|| unreadable("it has no data"))?;
        let number = whole(data, "nossoNumero").ok_or_else(|| unreadable("it names no title"))?;
        let reference = Reference::none().with(OUR_NUMBER, &number.to_string());
        Ok(vec![NoticeContent::Hint(HintSubject::Reference(reference))])
    }
}
