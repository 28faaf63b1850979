//! Callbacks: whose charges may have news. Nothing else of a body is believed, because anybody with an account at the
//! same bank can have our address called for a key of his own (bacen/pix-api, issue 239): the bank is asked.
//!
//! The address's last part is what authenticates; the bank's client certificate, where it has one, ends in the proxy.

use std::sync::Arc;

use quita_domain::acquiring::{NoticeContent, Reference, Subject};
use quita_domain::time::Timestamp;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::cob::payment_of;
use super::factory::Current;
use super::lenient::{is_end_to_end_id, list, text};
use super::link::Credential;
use super::received::END_TO_END_ID;

/// The most charges that one callback may be about: banks put several Pix into one.
const MAX_HINTS: usize = 1_000;

/// Reads the callbacks of one bank.
pub(super) struct ApiPixNotices {
    current: Arc<Current>,
}

impl ApiPixNotices {
    pub(super) const fn new(current: Arc<Current>) -> Self {
        Self { current }
    }
}

impl NoticeReader for ApiPixNotices {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        let credential = self.current.credential();
        let webhook = &credential.settings.webhook;
        let mut tokens = std::iter::once(&webhook.token).chain(&webhook.other_tokens);
        let is_ours = tokens.any(|token| is_our_address(head.path_tail, token.expose()));
        if is_ours { Ok(()) } else { Err(NoticeRefused::NoSuchAddress) }
    }

    fn read(&self, notice: &RawNotice<'_>, _: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        let credential = self.current.credential();
        let body: Value = serde_json::from_slice(notice.body)
            .map_err(|_| NoticeRefused::Unreadable("it is no JSON".into()))?;
        Ok(hints(&body, &credential))
    }
}

/// Whether this is what follows our address: `/{token}`, with or without `/pix` behind it.
fn is_our_address(path_tail: &str, token: &str) -> bool {
    let path = path_tail.split('?').next().unwrap_or_default();
    let Some(given) = path.strip_prefix('/') else { return false };
    let given = given.strip_suffix("/pix").unwrap_or(given);
    let given = given.strip_suffix('/').unwrap_or(given);
    !token.is_empty() && bool::from(given.as_bytes().ct_eq(token.as_bytes()))
}

/// Whom a callback is about: each charge once.
fn hints(body: &Value, credential: &Credential) -> Vec<NoticeContent> {
    let mut subjects: Vec<Subject> = Vec::new();
    for subject in entries(body).filter_map(|entry| subject(entry, credential)) {
        if subjects.len() >= MAX_HINTS {
            break;
        }
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    subjects.into_iter().map(NoticeContent::Hint).collect()
}

/// What a body lists: under `pix` as the standard has it, as a bare array as Inter does, under `devolucoes`, or alone.
fn entries(body: &Value) -> impl Iterator<Item = &Value> {
    let bare = body.as_array().map(Vec::as_slice).unwrap_or_default();
    let alone = body.is_object().then_some(body);
    bare.iter().chain(list(body, "pix")).chain(list(body, "devolucoes")).chain(alone)
}

fn subject(entry: &Value, credential: &Credential) -> Option<Subject> {
    if text(entry, "chave").is_some_and(|key| !credential.is_our_key(key)) {
        return None;
    }
    if let Some(id) = text(entry, "txid").and_then(payment_of) {
        return Some(Subject::Payment(id));
    }
    let id = text(entry, END_TO_END_ID).filter(|id| is_end_to_end_id(id))?;
    Some(Subject::Reference(Reference::none().with(END_TO_END_ID, id)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_token_with_or_without_pix_behind_it() {
        for (path, is_ours) in [
            ("/t0ken", true),
            ("/t0ken/", true),
            ("/t0ken/pix", true),
            ("/t0ken?ignorar=/pix", true),
            ("", false),
            ("/", false),
            ("/pix", false),
            ("/t0ke", false),
            ("/t0kenx", false),
            ("/t0ken/cob", false),
            ("/t0ken/pix/pix", false),
            ("t0ken", false),
        ] {
            assert_eq!(is_our_address(path, "t0ken"), is_ours, "{path}");
        }
        assert!(!is_our_address("/", ""));
    }
}
