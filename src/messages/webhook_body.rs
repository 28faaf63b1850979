//! Body of a message by webhook.

use quita_domain::people::{Operator, User};
use quita_domain::time::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::digest::{Digest, MessageTexts, News, Reader};
use crate::console::Language;
use quita_services::people::Someone;

/// Body of a message. `text` contains everything in one text, for chat services that read `{"text": …}` and ignore the
/// rest.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WebhookBody<'a> {
    /// Value of the `webhook-id` header.
    id: &'a str,
    r#type: &'static str,
    created_at: String,
    to: Addressee<'a>,
    text: String,
    messages: Vec<Message<'a>>,
}

/// Reader of a message, never identified by name or address.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Addressee<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<&'a str>,
}

/// Piece of news.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Message<'a> {
    kind: &'static str,
    text: &'a str,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

/// Recipient of messages by webhook.
pub(super) trait WebhookReader {
    /// Returns the reader as the body identifies it.
    fn to(&self) -> Addressee<'_>;

    /// Returns the first line of `text`.
    fn heading(&self, language: Language) -> String;
}

impl WebhookReader for User {
    fn to(&self) -> Addressee<'_> {
        Addressee { role: "owner", merchant: Some(self.merchant.as_str()) }
    }

    fn heading(&self, language: Language) -> String {
        MessageTexts::of(language).subject_to_owner(self)
    }
}

impl WebhookReader for Operator {
    fn to(&self) -> Addressee<'_> {
        Addressee { role: "operator", merchant: None }
    }

    fn heading(&self, language: Language) -> String {
        MessageTexts::of(language).to_operator.into()
    }
}

/// Message by webhook to one person.
pub(super) struct WebhookMessage<'a, S> {
    pub(super) person: &'a S,
    pub(super) reader: Reader<'a>,
    pub(super) digest: &'a Digest,
    /// Public URL of the service.
    pub(super) public_url: &'a str,
}

impl<S: WebhookReader + Someone> WebhookMessage<'_, S> {
    /// Returns the `webhook-id`. The same news gets the same id when it is sent again, because only the answer may have
    /// been lost.
    pub(super) fn id(&self) -> String {
        let reported_until = self.reader.mailing.reported_until.unwrap_or_default();
        let mut hash = Sha256::new_with_prefix(b"quita message id 1 ");
        hash.update(reported_until.millis().to_be_bytes());
        for part in [self.person.login().as_str(), self.person.role(), &self.digest.list()] {
            // Each part is preceded by its length, so no part can be mistaken for the beginning of the next one.
            hash.update(part.len().to_be_bytes());
            hash.update(part.as_bytes());
        }
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
        format!("msg_{}", Uuid::new_v8(bytes).simple())
    }

    /// Writes the body.
    ///
    /// # Errors
    /// Never fails in practice: JSON can represent everything in it.
    pub(super) fn body(&self, id: &str, now: Timestamp) -> serde_json::Result<String> {
        let text = format!("{}\n{}", self.person.heading(self.reader.language()), self.digest.list());
        serde_json::to_string(&WebhookBody {
            id,
            r#type: "messages",
            created_at: now.to_string(),
            to: self.person.to(),
            text: text.trim_end().into(),
            messages: self.digest.news.iter().map(|news| self.message(news)).collect(),
        })
    }

    fn message<'n>(&self, news: &'n News) -> Message<'n> {
        let link = news.page.as_ref().map(|page| format!("{}{page}", self.public_url));
        Message { kind: news.kind.as_str(), text: &news.text, at: news.at.to_string(), link }
    }
}
