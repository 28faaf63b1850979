//! Callbacks, which name the charges that may have news. Nothing else in a body is trusted, and the bank is asked.
//! Anyone with an account at the same bank can make it call our address for their own key (bacen/pix-api, issue 239).
//!
//! The last part of the address authenticates the bank. Its client certificate, if it has one, is terminated in the
//! proxy.

use std::sync::Arc;

use quita_domain::acquiring::{HintSubject, NoticeContent, Reference};
use quita_domain::time::Timestamp;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};
use serde_json::Value;
use subtle::ConstantTimeEq;

use super::cob::payment_of;
use super::factory::Current;
use super::lenient::{is_end_to_end_id, list, text};
use super::received::END_TO_END_ID;
use crate::text as encoded;

/// Maximum number of charges in one callback: banks put several Pix into one.
const MAX_HINTS: usize = 1_000;

/// Names under which a body may have its entries.
const LISTS: [&str; 2] = ["pix", "devolucoes"];

/// Names that an entry has if it stands alone.
const NAMES: [&str; 2] = [END_TO_END_ID, "txid"];

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
        let body = encoded::json(notice.body);
        body.as_ref().and_then(contents).ok_or_else(|| {
            let why = if body.is_some() { "it names no Pix" } else { "it is no JSON" };
            NoticeRefused::Unreadable(why.into())
        })
    }
}

/// Returns true if this is the rest of our address: `/{token}`, with or without `/pix` after it.
pub(crate) fn is_our_address(path_tail: &str, token: &str) -> bool {
    let path = path_tail.split('?').next().unwrap_or_default();
    let Some(given) = path.strip_prefix('/') else { return false };
    let given = given.strip_suffix("/pix").unwrap_or(given);
    let given = given.strip_suffix('/').unwrap_or(given);
    !token.is_empty() && bool::from(given.as_bytes().ct_eq(token.as_bytes()))
}

/// Subjects of a callback, each charge once; none if nothing of it can be read.
fn contents(body: &Value) -> Option<Vec<NoticeContent>> {
    let entries = entries(body)?;
    if entries.is_empty() {
        return Some(vec![NoticeContent::Unrelated]);
    }
    let mut hints = Vec::new();
    let mut unrelated = 0;
    for content in entries.into_iter().filter_map(content) {
        if content == NoticeContent::Unrelated {
            unrelated += 1;
        // One callback may name a charge several times, but one inquiry suffices.
        } else if hints.len() < MAX_HINTS && !hints.contains(&content) {
            hints.push(content);
        }
    }
    hints.extend(std::iter::repeat_n(NoticeContent::Unrelated, unrelated));
    (!hints.is_empty()).then_some(hints)
}

/// Entries of a body: under `pix` as the standard has it, as a bare array as Inter does, under `devolucoes`, or alone;
/// none if it is nothing of that.
fn entries(body: &Value) -> Option<Vec<&Value>> {
    let fields = match body {
        Value::Array(entries) => return Some(entries.iter().collect()),
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
    };
    if NAMES.iter().any(|name| fields.contains_key(*name)) {
        return Some(vec![body]);
    }
    let is_list =
        |name: &&&str| fields.get(**name).is_some_and(|value| value.is_array() || value.is_object());
    let lists: Vec<_> = LISTS.iter().filter(is_list).collect();
    (!lists.is_empty()).then(|| lists.into_iter().flat_map(|name| list(body, name)).collect())
}

/// Subject of an entry; none if it is not a Pix. The key that received it is not taken from the entry, but inquired
/// about.
fn content(entry: &Value) -> Option<NoticeContent> {
    let txid = text(entry, "txid");
    if let Some(id) = txid.and_then(payment_of) {
        return Some(NoticeContent::Hint(HintSubject::Payment(id)));
    }
    let id = text(entry, END_TO_END_ID).filter(|id| is_end_to_end_id(id));
    // A refund may be reported without the charge's name: the bank knows to which charge the Pix belongs.
    let went_back = entry.get("devolucoes").is_some() || text(entry, "rtrId").is_some();
    match (txid, id) {
        (None, Some(id)) if went_back => {
            Some(NoticeContent::Hint(HintSubject::Reference(Reference::none().with(END_TO_END_ID, id))))
        }
        // A transfer to the key, or for somebody else's charge.
        (Some(_), _) | (None, Some(_)) => Some(NoticeContent::Unrelated),
        (None, None) => None,
    }
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
