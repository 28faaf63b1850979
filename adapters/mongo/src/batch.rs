//! One command for a whole batch, and the outcome of each write that its reply states.
//!
//! The driver's own bulk write counts how many guards failed, but not which. With `ordered: false`, the plain commands
//! report it: each write that is not made is an error. Such an error is an insert's id that is taken, or a stale guard,
//! which fails on purpose.

use bson::{Document, RawDocumentBuf};
use mongodb::Database;
use mongodb::options::WriteConcern;
use quita_ports::{StoreError, WriteError};
use serde::Serialize;

use super::connect::write_concern;
use super::failure::{answer_within_time, no_answer, refused, within_time, write_error};
use super::indexes::{BOUND_PIX, USED_TOKEN};

/// Maximum bytes of one command: the server takes 16 MiB, and the driver adds a little.
const MAX_BYTES: usize = 16_000_000;
/// Maximum statements of one command (`maxWriteBatchSize` of every server since 3.6).
const MAX_STATEMENTS: usize = 100_000;

/// The code for a taken `_id`.
const DUPLICATE_KEY: i32 = 11_000;
/// The code for a conversion that failed (`ConversionFailure`). The other branch of a guarded write has such a
/// conversion.
pub(super) const STALE_GUARD: i32 = 241;

pub(super) type Outcome = Result<(), WriteError>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Insert<'a, D> {
    insert: &'a str,
    documents: Vec<D>,
    ordered: bool,
    write_concern: WriteConcern,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a, S> {
    update: &'a str,
    updates: Vec<S>,
    ordered: bool,
    write_concern: WriteConcern,
}

/// Returns the command that inserts documents.
pub(super) fn insert<D: Serialize>(
    collection: &str,
    documents: Vec<D>,
) -> bson::error::Result<RawDocumentBuf> {
    let write_concern = write_concern();
    let command = Insert { insert: collection, documents, ordered: false, write_concern };
    bson::serialize_to_raw_document_buf(&command)
}

/// Returns the command that makes guarded writes.
pub(super) fn update<S: Serialize>(
    collection: &str,
    statements: Vec<S>,
) -> bson::error::Result<RawDocumentBuf> {
    let write_concern = write_concern();
    let command = Update { update: collection, updates: statements, ordered: false, write_concern };
    bson::serialize_to_raw_document_buf(&command)
}

/// Makes these writes in as few commands as possible, and returns one outcome for each, in order.
///
/// A `Conflict` means that the id is taken, not that the document that took it is on a majority. A caller that relies
/// on that document reads it first, or uses [`insert_unread`].
pub(super) async fn run<W>(
    database: &Database,
    writes: &[W],
    command: impl Fn(&[W]) -> bson::error::Result<RawDocumentBuf>,
) -> Vec<Outcome> {
    run_judged(database, writes, command, judge).await
}

/// Inserts documents, and reads none of the existing ones. Returns for each whether it was inserted (`true`) or its id
/// was taken (`false`). In either case the document is on a majority; otherwise the outcome is an error.
pub(super) async fn insert_unread<W>(
    database: &Database,
    writes: &[W],
    command: impl Fn(&[W]) -> bson::error::Result<RawDocumentBuf>,
) -> Vec<Result<bool, StoreError>> {
    let outcomes = run_judged(database, writes, command, judge_unread).await;
    outcomes.into_iter().map(is_new).collect()
}

async fn run_judged<W>(
    database: &Database,
    writes: &[W],
    command: impl Fn(&[W]) -> bson::error::Result<RawDocumentBuf>,
    judge: fn(&Document, usize) -> Vec<Outcome>,
) -> Vec<Outcome> {
    let mut parts = Vec::new();
    split(writes, &command, &mut parts);
    let mut outcomes = Vec::with_capacity(writes.len());
    for (count, part) in parts {
        match part {
            Ok(command) => outcomes.extend(run_one(database, command, count, judge).await),
            Err(error) => outcomes.extend(vec![Err(WriteError::NotWritten(error)); count]),
        }
    }
    outcomes
}

fn is_new(outcome: Outcome) -> Result<bool, StoreError> {
    match outcome {
        Ok(()) => Ok(true),
        // Only the collection of payments has these two indexes; here such an error only means that a document existed.
        Err(WriteError::Conflict | WriteError::TokenUsed | WriteError::PixTaken) => Ok(false),
        Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => Err(error),
    }
}

/// Inserts one document, as [`insert_unread`] does.
pub(super) async fn insert_one(
    database: &Database,
    collection: &str,
    document: &(impl Serialize + Sync),
) -> Result<bool, StoreError> {
    let command = |only: &[_]| insert(collection, only.to_vec());
    let outcomes = insert_unread(database, &[document], command).await;
    outcomes.into_iter().next().unwrap_or(Ok(false))
}

/// Makes these updates in as few commands as possible. Their count means nothing, because the documents that they look
/// for may be gone.
pub(super) async fn run_loose<W>(
    database: &Database,
    writes: &[W],
    command: impl Fn(&[W]) -> bson::error::Result<RawDocumentBuf>,
) -> Result<(), StoreError> {
    let mut parts = Vec::new();
    split(writes, &command, &mut parts);
    for (_, part) in parts {
        run_one_loose(database, part?).await?;
    }
    Ok(())
}

async fn run_one_loose(database: &Database, command: RawDocumentBuf) -> Result<(), StoreError> {
    let reply = within_time(database.run_raw_command(command)).await?;
    // A guard that matches nothing is no error here; the remaining ones are refusals such as a full disk or an older
    // form.
    if let Some(error) = write_errors(&reply).next() {
        return Err(refused(error.get_i32("code").unwrap_or(0)));
    }
    match reply.get_document("writeConcernError") {
        Ok(error) => Err(no_majority(error)),
        Err(_) => Ok(()),
    }
}

/// Halves a batch until each part fits, and until a write that can't be encoded is isolated.
fn split<W>(
    writes: &[W],
    command: &impl Fn(&[W]) -> bson::error::Result<RawDocumentBuf>,
    parts: &mut Vec<(usize, Result<RawDocumentBuf, StoreError>)>,
) {
    if writes.is_empty() {
        return;
    }
    // The size is known only once the command is encoded, and hardly any batch is too large. So nothing is measured in
    // advance.
    let encoded = if writes.len() > MAX_STATEMENTS { Ok(None) } else { command(writes).map(Some) };
    let fitting = encoded.map(|bytes| bytes.filter(|bytes| bytes.as_bytes().len() <= MAX_BYTES));
    match fitting {
        Ok(Some(bytes)) => parts.push((writes.len(), Ok(bytes))),
        // One payment that can't be encoded must not fail the others, which have nothing to do with it.
        Ok(None) | Err(_) if writes.len() > 1 => {
            let (first, second) = writes.split_at(writes.len() / 2);
            split(first, command, parts);
            split(second, command, parts);
        }
        Ok(None) => parts.push((1, Err(StoreError::Unreadable("a document over 16 MB".into())))),
        Err(error) => {
            parts.push((1, Err(StoreError::Unreadable(format!("can't be encoded: {}", error.kind)))))
        }
    }
}

async fn run_one(
    database: &Database,
    command: RawDocumentBuf,
    count: usize,
    judge: fn(&Document, usize) -> Vec<Outcome>,
) -> Vec<Outcome> {
    match answer_within_time(database.run_raw_command(command)).await {
        Some(Ok(reply)) => judge(&reply, count),
        Some(Err(error)) => vec![Err(write_error(&error)); count],
        // After a time-out the server still has the command, and may finish it.
        None => vec![Err(WriteError::Unknown(no_answer())); count],
    }
}

/// Reads the outcome of each of `count` writes from the reply to their command.
fn judge(reply: &Document, count: usize) -> Vec<Outcome> {
    // Individual errors overwrite this below: without a majority,
    // only writes that certainly failed have a certain outcome.
    let mut outcomes = vec![remaining(reply, count); count];
    for error in write_errors(reply) {
        let place = error.get_i32("index").ok().and_then(|index| usize::try_from(index).ok());
        let outcome = place.and_then(|place| outcomes.get_mut(place));
        if let Some(outcome) = outcome {
            *outcome = Err(match error.get_i32("code") {
                // The key pattern shows which unique index refused. A used token or a bound Pix is no lost race and
                // must not be retried.
                Ok(DUPLICATE_KEY) if is_of(error, USED_TOKEN) => WriteError::TokenUsed,
                Ok(DUPLICATE_KEY) if is_of(error, BOUND_PIX) => WriteError::PixTaken,
                Ok(DUPLICATE_KEY | STALE_GUARD) => WriteError::Conflict,
                code => WriteError::NotWritten(refused(code.unwrap_or(0))),
            });
        }
    }
    outcomes
}

/// Returns true if the value of this field is taken, and not the id.
fn is_of(error: &Document, field: &str) -> bool {
    error.get_document("keyPattern").is_ok_and(|keys| keys.contains_key(field))
}

/// Reads the outcomes of inserts whose callers do not read documents that took an id. Without a majority for the
/// command, the document that took the id may lack one too, and be lost in the next election. So its outcome is as
/// unknown as that of an insert.
fn judge_unread(reply: &Document, count: usize) -> Vec<Outcome> {
    let mut outcomes = judge(reply, count);
    if let Ok(error) = reply.get_document("writeConcernError") {
        let taken = outcomes.iter_mut().filter(|outcome| **outcome == Err(WriteError::Conflict));
        taken.for_each(|outcome| *outcome = Err(WriteError::Unknown(no_majority(error))));
    }
    outcomes
}

fn write_errors(reply: &Document) -> impl Iterator<Item = &Document> {
    reply.get_array("writeErrors").into_iter().flatten().filter_map(bson::Bson::as_document)
}

/// Returns the outcome of the writes for which the reply has no error.
fn remaining(reply: &Document, count: usize) -> Outcome {
    let unknown = |why: String| Err(WriteError::Unknown(StoreError::Unavailable(why)));
    if let Ok(error) = reply.get_document("writeConcernError") {
        return Err(WriteError::Unknown(no_majority(error)));
    }
    let written = reply.get_i32("n").ok().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
    if written.saturating_add(write_errors(reply).count()) != count {
        // A wrong count means that the reply was misunderstood. `Unknown` is safe, because such a write is looked up.
        return unknown(format!("MongoDB reported {written} writes out of {count}"));
    }
    Ok(())
}

fn no_majority(error: &Document) -> StoreError {
    let code = error.get_i32("code").unwrap_or(0);
    StoreError::Unavailable(format!("no majority confirmed a write in time (code {code})"))
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn is_unknown(outcome: &Outcome) -> bool {
        matches!(outcome, Err(WriteError::Unknown(_)))
    }

    #[test]
    fn each_error_is_that_of_its_write() {
        let errors = [doc! { "index": 1, "code": 11000 }, doc! { "index": 2, "code": 10334 }];
        let outcomes = judge(&doc! { "ok": 1, "n": 2, "writeErrors": errors.to_vec() }, 4);
        assert_eq!(outcomes[1], Err(WriteError::Conflict));
        assert!(matches!(outcomes[2], Err(WriteError::NotWritten(_))));
        assert_eq!([&outcomes[0], &outcomes[3]], [&Ok(()), &Ok(())]);
    }

    #[test]
    fn a_used_token_and_a_taken_pix_are_other_answers_than_a_taken_id() {
        let errors = [
            doc! { "index": 0, "code": 11000, "keyPattern": { USED_TOKEN: 1 } },
            doc! { "index": 1, "code": 11000, "keyPattern": { "_id": 1 } },
            doc! { "index": 2, "code": 11000, "keyPattern": { BOUND_PIX: 1, "mode": 1 } },
        ];
        let outcomes = judge(&doc! { "ok": 1, "n": 0, "writeErrors": errors.to_vec() }, 3);
        let expected = [WriteError::TokenUsed, WriteError::Conflict, WriteError::PixTaken];
        assert_eq!(outcomes, expected.map(Err));
    }

    #[test]
    fn without_a_majority_a_taken_id_is_certain_only_to_those_who_read_what_took_it() {
        let errors = [doc! { "index": 0, "code": 11000 }, doc! { "index": 1, "code": 10334 }];
        let reply = doc! {
            "ok": 1, "n": 1, "writeErrors": errors.to_vec(),
            "writeConcernError": { "code": 64, "errmsg": "waiting for replication timed out" },
        };
        let read = judge(&reply, 3);
        let unread = judge_unread(&reply, 3);
        assert_eq!(read[0], Err(WriteError::Conflict));
        assert!(is_unknown(&unread[0]));
        for outcomes in [read, unread] {
            assert!(matches!(outcomes[1], Err(WriteError::NotWritten(_))), "refused is refused");
            assert!(is_unknown(&outcomes[2]));
        }
    }

    #[test]
    fn a_taken_id_is_an_answer_once_a_majority_confirmed_the_command() {
        let reply = doc! { "ok": 1, "n": 1, "writeErrors": [{ "index": 0, "code": 11000 }] };
        assert_eq!(judge_unread(&reply, 2), [Err(WriteError::Conflict), Ok(())]);
    }

    #[test]
    fn a_reply_that_does_not_add_up_is_not_believed() {
        assert!(judge(&doc! { "ok": 1, "n": 1 }, 2).iter().all(is_unknown));
        assert!(judge(&doc! { "ok": 1 }, 1).iter().all(is_unknown));
    }

    #[test]
    fn a_batch_is_split_where_it_does_not_fit_or_cannot_be_encoded() {
        // `None` means a number that does not fit into BSON.
        let sizes = [Some(9_000_000), Some(1), Some(9_000_000), Some(17_000_000), Some(2), None];
        let command = |sizes: &[Option<usize>]| {
            let texts: Option<Vec<_>> = sizes.iter().map(|size| size.map(|size| "x".repeat(size))).collect();
            texts.map_or_else(|| insert("c", vec![u64::MAX]), |texts| insert("c", texts))
        };
        let mut parts = Vec::new();
        split(&sizes, &command, &mut parts);
        let seen: Vec<_> = parts.iter().map(|(count, part)| (*count, part.is_ok())).collect();
        assert_eq!(seen, [(1, true), (2, true), (1, false), (1, true), (1, false)]);
    }
}
