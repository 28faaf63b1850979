//! Entries of the audit log, and its head, as documents.

use bson::RawDocument;
use quita_domain::audit::AuditAction;
use quita_domain::audit::chain::{ChainHead, ChainedEntry, Content, Initiator, Links, Person};
use quita_domain::identity::MerchantId;
use quita_domain::time::Timestamp;
use quita_ports::StoreError;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use super::HEAD;
use crate::reading::binary;
use quita_stored_form::{from_document, signed, unsigned};

/// The end of the log.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredHead {
    #[serde(rename = "_id")]
    id: String,
    pub(super) sequence: i64,
    pub(super) hash: String,
    seal: String,
}

impl StoredHead {
    pub(super) fn of(head: &ChainHead) -> Self {
        let ChainHead { sequence, hash, seal } = head.clone();
        Self { id: HEAD.into(), sequence: signed(sequence), hash, seal }
    }
}

/// Reads the head.
pub(super) fn head_in(found: &RawDocument) -> Result<ChainHead, StoreError> {
    let StoredHead { sequence, hash, seal, .. } = from_document(found, "the head of the audit log")?;
    Ok(ChainHead { sequence: unsigned(sequence), hash, seal })
}

/// An entry as it is stored. Erasing removes a field of `parts`; nothing else ever changes.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredEntry {
    #[serde(rename = "_id", deserialize_with = "uuid_in")]
    id: bson::Uuid,
    sequence: i64,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    merchant: Option<String>,
    action: AuditAction,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    links: StoredLinks,
    parts: StoredParts,
}

#[derive(Serialize, Deserialize)]
struct StoredLinks {
    initiator: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    person: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    body: String,
    place: String,
    hash: String,
}

#[derive(Serialize, Deserialize)]
struct StoredParts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    initiator: Option<StoredInitiator>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    person: Option<StoredPerson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<StoredContent>,
}

#[derive(Serialize, Deserialize)]
struct StoredInitiator {
    salt: String,
    who: String,
    from: String,
}

#[derive(Serialize, Deserialize)]
struct StoredPerson {
    salt: String,
    subject: String,
}

#[derive(Serialize, Deserialize)]
struct StoredContent {
    salt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl StoredEntry {
    pub(super) fn of(entry: &ChainedEntry) -> Self {
        let entry = entry.clone();
        let Links { initiator, person, content, body, place, hash } = entry.links;
        let initiated = |Initiator { salt, who, from }| StoredInitiator { salt, who, from };
        let done_to = |Person { salt, subject }| StoredPerson { salt, subject };
        let changed = |Content { salt, before, after }| StoredContent { salt, before, after };
        Self {
            id: binary(entry.id),
            sequence: signed(entry.sequence),
            at: entry.at.millis(),
            merchant: entry.merchant.map(|merchant| merchant.as_str().to_owned()),
            action: entry.action,
            subject: entry.subject,
            links: StoredLinks { initiator, person, content, body, place, hash },
            parts: StoredParts {
                initiator: entry.initiator.map(initiated),
                person: entry.person.map(done_to),
                content: entry.content.map(changed),
            },
        }
    }
}

/// Reads an entry.
pub(super) fn entry_in(found: &RawDocument) -> Result<ChainedEntry, StoreError> {
    let stored: StoredEntry = from_document(found, "an entry of the audit log")?;
    let StoredLinks { initiator, person, content, body, place, hash } = stored.links;
    let initiated = |StoredInitiator { salt, who, from }| Initiator { salt, who, from };
    let done_to = |StoredPerson { salt, subject }| Person { salt, subject };
    let changed = |StoredContent { salt, before, after }| Content { salt, before, after };
    Ok(ChainedEntry {
        sequence: unsigned(stored.sequence),
        id: Uuid::from_bytes(stored.id.bytes()),
        at: Timestamp::from_millis(stored.at),
        merchant: stored.merchant.map(MerchantId::new),
        action: stored.action,
        subject: stored.subject,
        links: Links { initiator, person, content, body, place, hash },
        initiator: stored.parts.initiator.map(initiated),
        person: stored.parts.person.map(done_to),
        content: stored.parts.content.map(changed),
    })
}

fn uuid_in<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bson::Uuid, D::Error> {
    Uuid::deserialize(deserializer).map(binary)
}
