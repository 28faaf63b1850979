//! Number of the form in which the database is stored, and the mark that keeps older programs from writing.
//!
//! The number is in a collection of its own. Since the second form, every document states in its field `form` in which
//! form it was written. Validators of all collections require this field, so the server itself refuses the writes of an
//! older program. Such a program does not set the field when it replaces a document, and removes it when it changes
//! one.

use async_trait::async_trait;
use bson::raw::cstr;
use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};
use mongodb::Database;
use mongodb::error::{Error, ErrorKind};
use mongodb::options::FindOptions;
use quita_ports::{ArchiveStore, StoreError, StoreForm, UpgradeStore, Upgraded};
use serde::Serialize;

use super::archive::STUB;
use super::connect::write_concern;
use super::failure::{store_error, within_time};
use super::indexes::{ARCHIVE, BY_ID, COLLECTIONS, MOVING, PAYMENTS, STORED_FORM, named};
use super::reading::find_each;
use super::{MongoStore, batch};
use quita_stored_form::form::{Found, MetForm, PROGRAM, known, unreleased, upgraded};
use quita_stored_form::{signed_limit, unsigned};

const ID: &str = "version";
/// Field of a document that was written in the second form or later: the number of the form.
const FIELD: &str = "form";
/// The code for a collection that already exists (`NamespaceExists`).
const EXISTS: i32 = 48;

/// Returns true if the database contains a store of any form. Creates nothing.
pub(super) async fn is_store(database: &Database) -> Result<bool, StoreError> {
    let ours = database.list_collection_names().filter(doc! { "name": { "$in": [STORED_FORM, PAYMENTS] } });
    Ok(!within_time(ours).await?.is_empty())
}

/// Records the form in a new database, and refuses a database whose stored form this program does not know.
///
/// The number is written before any other collection is created, and read after looking for collections. If several
/// nodes start together on a new database, none mistakes it for one without a number, and only one has created it.
pub(super) async fn settle(database: &Database) -> Result<Settled, StoreError> {
    let payments = database.list_collection_names().filter(doc! { "name": PAYMENTS });
    let mut is_new = within_time(payments).await?.is_empty();
    if is_new {
        let first = doc! { "_id": ID, "version": known(), "program": PROGRAM };
        is_new = batch::insert_one(database, STORED_FORM, &first).await?;
    }
    Ok(Settled { form: find(database).await?.check()?, is_new })
}

/// Form of a database.
pub(super) struct Settled {
    pub(super) form: StoreForm,
    /// True if the form was recorded just now: the database was new.
    pub(super) is_new: bool,
}

fn forms(database: &Database) -> mongodb::Collection<RawDocumentBuf> {
    database.collection(STORED_FORM)
}

async fn find(database: &Database) -> Result<Found, StoreError> {
    let document = within_time(forms(database).find_one(doc! { "_id": ID })).await?.ok_or_else(unreleased)?;
    let number = document.get_i64("version").map_err(|_| unreleased())?;
    let program = document.get_str("program").ok().map(String::from);
    Ok(Found { number, program, is_upgrading: document.get_document("upgrade").is_ok() })
}

/// Form of the database when it was last read, and the value of the field `form` in its documents.
#[derive(Debug)]
pub(super) struct Form(MetForm);

impl Form {
    pub(super) const fn of(form: StoreForm) -> Self {
        Self(MetForm::of(form))
    }

    pub(super) fn now(&self) -> StoreForm {
        self.0.now()
    }

    /// Returns the number of the form that this program writes. It is never a form that the program does not know.
    pub(super) fn written(&self) -> i64 {
        self.0.number().min(known())
    }

    /// Returns the value of the field of a document; the first form has none.
    pub(super) fn stamp(&self) -> Option<i64> {
        stamp(self.written())
    }

    /// Adds the field to a whole document.
    pub(super) fn stamped(&self, mut document: RawDocumentBuf) -> RawDocumentBuf {
        if let Some(number) = self.stamp() {
            document.append(cstr!("form"), number);
        }
        document
    }

    /// Makes a change also set the field, or remove it.
    pub(super) fn with<C: FieldChange>(&self, change: C) -> C {
        change.stamped(self.stamp())
    }
}

/// Returns the value of the field of documents in a form.
pub(super) const fn stamp(form: i64) -> Option<i64> {
    if form > 1 { Some(form) } else { None }
}

/// A change of some fields of a document.
pub(super) trait FieldChange {
    fn stamped(self, stamp: Option<i64>) -> Self;
}

impl FieldChange for Document {
    fn stamped(mut self, stamp: Option<i64>) -> Self {
        let (operator, value) =
            stamp.map_or(("$unset", Bson::from("")), |number| ("$set", Bson::from(number)));
        match self.get_document_mut(operator) {
            Ok(fields) => drop(fields.insert(FIELD, value)),
            Err(_) => drop(self.insert(operator, doc! { FIELD: value })),
        }
        self
    }
}

impl FieldChange for Vec<Document> {
    fn stamped(mut self, stamp: Option<i64>) -> Self {
        self.push(match stamp {
            Some(number) => doc! { "$set": { FIELD: number } },
            None => doc! { "$unset": FIELD },
        });
        self
    }
}

impl MongoStore {
    /// Inserts a document, as [`batch::insert_one`] does, in the form of the database.
    pub(super) async fn insert_one(
        &self,
        collection: &str,
        document: &(impl Serialize + Sync),
    ) -> Result<bool, StoreError> {
        let document = self.encoded(collection, document)?;
        batch::insert_one(&self.database, collection, &document).await
    }

    /// Replaces the document that a guard finds, in the form of the database. Returns false if there is none.
    pub(super) async fn replace_guarded(
        &self,
        collection: &str,
        guard: Document,
        next: &(impl Serialize + Sync),
    ) -> Result<bool, StoreError> {
        let next = self.encoded(collection, next)?;
        let replaced = within_time(self.collection(collection).replace_one(guard, next)).await?;
        Ok(replaced.matched_count == 1)
    }

    fn encoded(&self, collection: &str, document: &impl Serialize) -> Result<RawDocumentBuf, StoreError> {
        let encoded = bson::serialize_to_raw_document_buf(document);
        let encoded =
            encoded.map_err(|_| StoreError::Unreadable(format!("one of {collection} can't be encoded")))?;
        Ok(self.form.stamped(encoded))
    }

    /// Reads the form as it is now.
    pub(super) async fn read_form(&self) -> Result<Found, StoreError> {
        let found = find(&self.database).await?;
        self.form.0.note(found.form());
        Ok(found)
    }
}

/// A payment to be written in the new form, if it has not changed since it was read.
#[derive(Serialize)]
struct RewriteStatement<'a> {
    q: Document,
    u: Rewrite<'a>,
}

#[derive(Serialize)]
struct Rewrite<'a> {
    #[serde(rename = "$set")]
    set: NewForm<'a>,
}

#[derive(Serialize)]
struct NewForm<'a> {
    /// Absent if none is stored, as in the stub of an archived payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    payment: Option<&'a RawDocument>,
    form: i64,
}

/// A payment as an upgrade reads it.
struct Old {
    id: Bson,
    next: Next,
}

/// Part of an upgrade that concerns one payment.
#[derive(Debug, PartialEq)]
enum Next {
    /// It is already in the new form.
    AsItIs,
    /// It is to be written like this, if it still has this revision.
    Written { revision: i64, document: RawDocumentBuf },
    /// It is to be marked as being in the new form, if it is still a stub or an empty copy.
    Marked,
    /// It is damaged.
    Unreadable,
}

#[async_trait]
impl UpgradeStore for MongoStore {
    async fn left_to_upgrade(&self) -> Result<u64, StoreError> {
        let payments = self.collection(PAYMENTS);
        let found = find(&self.database).await?;
        if found.number == known() && !found.is_upgrading {
            return Ok(0);
        }
        // Counting takes minutes if there are many.
        let all = within_time(payments.estimated_document_count()).await?;
        let all = all.saturating_add(self.count_archived().await?);
        let read = progress(&self.database).await?.map_or(0, |progress| progress.read);
        Ok(all.saturating_sub(read))
    }

    async fn announce_form(&self) -> Result<(), StoreError> {
        let older = doc! { "_id": ID, "version": { "$lt": known() } };
        // The filter requires an older number: two upgrades that start together must not reset each other's progress.
        let change = doc! { "$set": { "version": known(), "program": PROGRAM, "upgrade": {} } };
        within_time(forms(&self.database).update_one(older, change)).await?;
        self.read_form().await.map(drop)
    }

    async fn refuse_older_forms(&self) -> Result<(), StoreError> {
        let majority = bson::serialize_to_bson(&write_concern());
        let majority =
            majority.map_err(|_| StoreError::Unreadable("a write concern can't be encoded".into()))?;
        for collection in COLLECTIONS {
            // A collection that is created later would have no validator.
            match within_time_or(self.database.create_collection(collection), EXISTS).await {
                Ok(()) => {}
                Err(error) => return Err(error),
            }
            let mark = doc! {
                "collMod": collection, "validator": { FIELD: { "$gte": known() } },
                // "strict" also validates changes to documents that were invalid before. This is how writes of an older
                // program are refused.
                "validationLevel": "strict", "validationAction": "error", "writeConcern": majority.clone(),
            };
            within_time(self.database.run_command(mark)).await?;
        }
        Ok(())
    }

    async fn upgrade_some(&self, limit: usize) -> Result<Upgraded, StoreError> {
        let options = FindOptions::builder()
            .projection(doc! { "revision": 1, "payment": 1, FIELD: 1, STUB: 1, MOVING: 1 })
            .sort(doc! { "_id": 1 })
            .limit(signed_limit(limit.max(1)))
            .hint(named(BY_ID))
            .build();
        let Some(progress) = progress(&self.database).await? else {
            self.read_form().await?;
            return Ok(Upgraded { is_done: true, ..Upgraded::default() });
        };
        // Payments that are archived meanwhile are found there.
        let collection = if progress.in_archive { ARCHIVE } else { PAYMENTS };
        let is_first = !progress.in_archive;
        let left = progress.left();
        let found = find_each(&self.collection(collection), left, options, read_old).await?;
        let found = found.into_iter().collect::<Result<Vec<_>, _>>()?;
        let statements: Vec<_> = found.iter().filter_map(statement).collect();
        // Payments that others wrote meanwhile are already in the new form.
        let command = |some: &[RewriteStatement<'_>]| batch::update(collection, some.iter().collect());
        batch::run_loose(&self.database, &statements, command).await?;
        let count = |number: usize| unsigned(signed_limit(number));
        let read = count(found.len());
        // A page that is not full is the last one of its collection.
        let last = found.last().filter(|_| found.len() >= limit);
        let change = match last {
            Some(last) => doc! {
                "$set": { "upgrade.upTo": last.id.clone() },
                "$inc": { "upgrade.read": signed_limit(found.len()) },
            },
            None if is_first => doc! {
                "$set": { "upgrade.inArchive": true },
                "$unset": { "upgrade.upTo": "" },
                "$inc": { "upgrade.read": signed_limit(found.len()) },
            },
            None => doc! { "$unset": { "upgrade": "" } },
        };
        // A concurrent upgrade may have finished already.
        let under_way = doc! { "_id": ID, "upgrade": { "$exists": true } };
        within_time(forms(&self.database).update_one(under_way, change)).await?;
        let is_done = last.is_none() && !is_first;
        if is_done {
            self.read_form().await?;
        }
        let unreadable = found.iter().filter(|old| old.next == Next::Unreadable);
        let unreadable = unreadable.map(|old| payment_id(&old.id)).collect();
        let rewritten = found.iter().filter(|old| matches!(old.next, Next::Written { .. })).count();
        Ok(Upgraded { read, rewritten: count(rewritten), unreadable, is_done })
    }
}

/// Progress of an upgrade as stored in the database.
struct Progress {
    /// Id of the last payment that it has reached.
    up_to: Option<Bson>,
    /// Number of payments that were read.
    read: u64,
    /// True once only the archive is left.
    in_archive: bool,
}

impl Progress {
    /// Returns the filter for the payments that the upgrade has not reached.
    fn left(self) -> Document {
        self.up_to.map_or_else(Document::new, |last| doc! { "_id": { "$gt": last } })
    }
}

/// Returns the progress of the upgrade that is under way, if one is.
async fn progress(database: &Database) -> Result<Option<Progress>, StoreError> {
    let document = within_time(forms(database).find_one(doc! { "_id": ID })).await?;
    let upgrade = document.as_deref().and_then(|document| document.get_document("upgrade").ok());
    Ok(upgrade.map(|upgrade| Progress {
        up_to: upgrade.get("upTo").ok().flatten().and_then(|up_to| Bson::try_from(up_to).ok()),
        read: upgrade.get_i64("read").map_or(0, unsigned),
        in_archive: upgrade.get_bool("inArchive").unwrap_or(false),
    }))
}

fn read_old(found: &RawDocument) -> Result<Old, StoreError> {
    let id = found.get("_id").ok().flatten().and_then(|id| Bson::try_from(id).ok());
    let id = id.ok_or_else(|| StoreError::Unreadable("a payment has no id".into()))?;
    let next = || {
        if found.get_i64(FIELD).is_ok_and(|form| form >= known()) {
            return Some(Next::AsItIs);
        }
        let is_marked = |field| found.get_bool(field).unwrap_or(false);
        if is_marked(STUB) || (is_marked(MOVING) && found.get_document("payment").is_err()) {
            return Some(Next::Marked);
        }
        let payment = found.get_document("payment").ok()?;
        let document = upgraded(payment.as_bytes()).ok()?.unwrap_or_else(|| payment.to_owned());
        Some(Next::Written { revision: found.get_i64("revision").ok()?, document })
    };
    let next = next().unwrap_or(Next::Unreadable);
    Ok(Old { id, next })
}

fn payment_id(id: &Bson) -> String {
    let uuid = if let Bson::Binary(binary) = id { binary.to_uuid().ok() } else { None };
    uuid.map_or_else(|| id.to_string(), |id| id.to_string())
}

fn statement(old: &Old) -> Option<RewriteStatement<'_>> {
    let (guard, payment) = match &old.next {
        Next::Written { revision, document } => (doc! { "revision": revision }, Some(&**document)),
        Next::Marked => {
            let empty = doc! { MOVING: true, "payment": { "$exists": false } };
            (doc! { "$or": [{ STUB: true }, empty] }, None)
        }
        Next::AsItIs | Next::Unreadable => return None,
    };
    let mut q = doc! { "_id": old.id.clone() };
    q.extend(guard);
    Some(RewriteStatement { q, u: Rewrite { set: NewForm { payment, form: known() } } })
}

/// Waits for an operation whose work may already be done.
async fn within_time_or(
    operation: impl IntoFuture<Output = Result<(), Error>>,
    done: i32,
) -> Result<(), StoreError> {
    let judged = async {
        match operation.await {
            Err(error) if matches!(error.kind.as_ref(), ErrorKind::Command(command) if command.code == done) => {
                Ok(Ok(()))
            }
            Err(error) => Ok(Err(store_error(&error))),
            Ok(()) => Ok(Ok(())),
        }
    };
    within_time(judged).await?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(number: i64) -> Form {
        Form::of(StoreForm { number, known: known(), is_upgrading: false })
    }

    #[test]
    fn what_the_first_form_replaces_or_changes_has_no_field() {
        let first = form(1);
        let document = bson::rawdoc! { "_id": 1 };
        assert_eq!(first.stamped(document.clone()), document);
        let change = doc! { "$set": { "a": 1 }, "$unset": { "b": "" } };
        let expected = doc! { "$set": { "a": 1 }, "$unset": { "b": "", "form": "" } };
        assert_eq!(first.with(change), expected);
        assert_eq!(
            first.with(doc! { "$set": { "a": 1 } }),
            doc! { "$set": { "a": 1 }, "$unset": { "form": "" } }
        );
        let stages = vec![doc! { "$set": { "a": 1 } }];
        assert_eq!(first.with(stages), [doc! { "$set": { "a": 1 } }, doc! { "$unset": "form" }]);
    }

    #[test]
    fn what_a_later_form_changes_says_which_one_it_is() {
        assert_eq!(stamp(2), Some(2));
        let change = doc! { "$set": { "a": 1 } }.stamped(Some(2));
        assert_eq!(change, doc! { "$set": { "a": 1, "form": 2_i64 } });
        let stages = vec![doc! { "$set": { "a": 1 } }].stamped(Some(2));
        assert_eq!(stages.last(), Some(&doc! { "$set": { "form": 2_i64 } }));
    }

    #[test]
    fn a_form_that_is_not_known_is_never_written() {
        assert_eq!(form(known() + 1).written(), known());
        assert!(form(known() + 1).now().is_too_new());
    }
}
