//! `quita audit export`: prints entries as lines of JSON, for a log collector.

use clap::Args;
use quita_domain::audit::AuditEntry;
use quita_domain::audit::chain::{ChainPlace, ChainedEntry};
use quita_domain::time::Timestamp;
use quita_ports::AuditStore;
use serde::Serialize;

use super::PAGE;
use crate::cli::command_store::CommandStore;
use crate::cli::failure::Failure;
use crate::cli::flags::StoreAccessFlags;
use crate::cli::output;

/// Entries to print.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExportLog {
    /// Entries after this place; after this place, which must be in the log with this hash; or not older than this time
    /// [default: all]
    #[arg(long, value_name = "SEQUENCE|SEQUENCE:HASH|TIME", value_parser = since)]
    since: Option<Since>,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Start of an export.
#[derive(Debug, Clone)]
enum Since {
    Place(u64),
    Seen(ChainPlace),
    Time(Timestamp),
}

/// Entry as it is printed. Erased parts are left out, and listed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExportedEntry {
    sequence: u64,
    hash: String,
    id: uuid::Uuid,
    /// Time of the entry in ISO 8601.
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    who: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    erased: Vec<&'static str>,
}

impl ExportedEntry {
    fn of(chained: &ChainedEntry) -> Self {
        let AuditEntry { id, at, merchant, action, before, after, .. } = chained.entry();
        let initiator = chained.initiator.as_ref();
        let person = chained.person.as_ref().map(|person| &person.subject);
        Self {
            sequence: chained.sequence,
            hash: chained.links.hash.clone(),
            id,
            at: at.to_string(),
            merchant: merchant.map(|merchant| merchant.as_str().to_owned()),
            who: initiator.map(|initiator| initiator.who.clone()),
            from: initiator.map(|initiator| initiator.from.clone()),
            action: action.as_str(),
            subject: chained.subject.as_ref().or(person).cloned(),
            before,
            after,
            erased: chained.erased_parts().map(|part| part.as_str()).collect(),
        }
    }
}

pub(super) async fn run(ExportLog { since, store }: ExportLog) -> Result<(), Failure> {
    let opened = CommandStore::open(store).await?;
    let store = opened.store.as_ref();
    let mut place = match &since {
        Some(Since::Place(place)) => *place,
        Some(Since::Seen(seen)) => {
            refuse_other(store, seen).await?;
            seen.sequence
        }
        Some(Since::Time(_)) | None => 0,
    };
    let from = match since {
        Some(Since::Time(from)) => Some(from),
        Some(Since::Place(_) | Since::Seen(_)) | None => None,
    };
    let mut unreadable = Vec::new();
    loop {
        let page = store.chained_audit(place, PAGE).await.map_err(Failure::failed)?;
        let Some((last, _)) = page.last() else { break };
        place = *last;
        for (sequence, read) in page {
            match read {
                Ok(entry) if from.is_none_or(|from| entry.at >= from) => print(&entry)?,
                Ok(_) => {}
                // An unreadable entry does not end the export: the collector must get the entries after it.
                Err(_) => unreadable.push(sequence),
            }
        }
    }
    match unreadable.first() {
        None => Ok(()),
        Some(first) => Err(Failure::failed(format!(
            "{} entries can't be read, the first at place {first}: see `quita audit verify`.",
            unreadable.len()
        ))),
    }
}

fn print(entry: &ChainedEntry) -> Result<(), Failure> {
    output::result(&serde_json::to_string(&ExportedEntry::of(entry)).map_err(Failure::failed)?)
}

/// Fails unless the log still contains the entry that the collector has seen.
async fn refuse_other(store: &(impl AuditStore + ?Sized), seen: &ChainPlace) -> Result<(), Failure> {
    let page = store.chained_audit(seen.sequence.saturating_sub(1), 1).await.map_err(Failure::failed)?;
    let found = page.first().and_then(|(_, read)| read.as_ref().ok()).map(ChainedEntry::position);
    match found {
        Some(place) if place == *seen => Ok(()),
        Some(_) | None => Err(Failure::failed(format!(
            "the log no longer continues from {seen}: see `quita audit verify --continues {seen}`."
        ))),
    }
}

fn since(text: &str) -> Result<Since, String> {
    let place = || text.parse().ok().map(Since::Place);
    let seen = || ChainPlace::parse(text).map(Since::Seen);
    let time = || Timestamp::parse(text).map(Since::Time);
    place().or_else(seen).or_else(time).ok_or_else(|| {
        "must be the place of an entry, a place and its hash as `quita audit verify` prints them, or a time such as \
         2026-11-21T12:00:00Z"
            .into()
    })
}
