//! Stored forms, kept as files under `tests/golden`.
//!
//! One value of every kind is written through the ports, with every field set. The stored data is compared with the
//! file, so an unintended change of the form fails here. The kept data is read, and must be the same when written
//! again, so a program that no longer reads a form fails too. A released form never changes: a new one gets its own
//! files, which `scripts/golden --form` writes.

pub mod everything;
mod render;

use std::path::PathBuf;
use std::sync::Arc;

use bson::{Bson, Document, RawDocument};
use futures_util::TryStreamExt;
use mongodb::options::FindOptions;
use quita_domain::access::{ApiKey, Application};
use quita_domain::acquiring::Notice;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::Exception;
use quita_domain::link::Link;
use quita_domain::payment::Payment;
use quita_domain::people::{MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_domain::reconciliation::StoredLine;
use quita_domain::secret_key::{KeyRecord, SealedSecret};
use quita_embedded::EmbeddedStore;
use quita_stored_form::{FromDocument, ToDocument, decode, encode};
use rusqlite::Connection;

use crate::mongo::Server;
use render::{of_collection, of_file};

/// Returns the file of a form, by its number and name.
pub fn golden(form: i64, name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join(format!("../golden/form-{form}/{name}"))
}

/// Returns true if the files are to be written.
fn is_writing() -> bool {
    std::env::var_os("GOLDEN_FILES").is_some_and(|value| value == "write")
}

/// Number of the form whose files are compared with what this program writes.
const CURRENT: i64 = 1;

/// Compares a text with a file, or writes it.
fn compare(name: &str, text: &str) {
    let path = golden(CURRENT, name);
    if is_writing() {
        std::fs::write(path, text).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    let differs = kept.lines().zip(text.lines()).enumerate().find(|(_, (kept, now))| kept != now);
    let (line, difference) = match differs {
        Some((line, (kept, now))) => (line + 1, format!("kept: {kept}\n now: {now}")),
        None if kept == text => return,
        None => (kept.lines().count().min(text.lines().count()) + 1, String::from("one is longer")),
    };
    panic!(
        "the stored form has changed, at line {line} of {}:\n{difference}\nA released form never \
         changes: raise the number. One that is not released yet is written again by scripts/golden --form",
        path.display()
    );
}

/// Returns the check of a document of a store, by the name of its field.
fn kind_of(name: &str) -> Option<fn(&[u8])> {
    Some(match name {
        "apiKey" | "api_key" => returns::<ApiKey>,
        "application" => returns::<Application>,
        "control" => returns::<RouteControl>,
        "exception" => returns::<Exception>,
        "line" => returns::<StoredLine>,
        "link" => returns::<Link>,
        "node" => returns::<Node>,
        "notice" => returns::<Notice>,
        "operator" => returns::<Operator>,
        "payment" => returns::<Payment>,
        "policy" => returns::<MerchantPolicy>,
        "profile" => returns::<MerchantProfile>,
        "record" => returns::<KeyRecord>,
        "sealed" => returns::<SealedSecret>,
        "session" => returns::<Session>,
        "user" => returns::<User>,
        _ => return None,
    })
}

/// Reads a kept document, and checks that it is the same when written again.
fn returns<T: FromDocument + ToDocument>(bytes: &[u8]) {
    let value: T = decode(bytes, "a kept document").unwrap();
    let again = encode(&value).unwrap();
    let [kept, now] = [bytes, again.as_slice()].map(|bytes| RawDocument::from_bytes(bytes).unwrap());
    let [kept, now] = [kept, now].map(|raw| render::document(&Document::try_from(raw).unwrap()));
    assert_eq!(kept, now, "it is not written again as it was");
}

/// Number of kinds of documents that every form has.
const KINDS: usize = 16;

async fn fill(path: &std::path::Path) {
    let store = EmbeddedStore::open(path).unwrap();
    everything::put_into(Arc::new(store)).await;
}

#[tokio::test]
async fn the_embedded_store_writes_the_form_that_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quita.db");
    fill(&path).await;
    compare("embedded.txt", &of_file(&Connection::open(&path).unwrap()));
    if is_writing() {
        let kept = golden(CURRENT, "embedded.db");
        drop(std::fs::remove_file(&kept));
        EmbeddedStore::back_up(&path, &kept).unwrap();
    }
}

#[tokio::test]
async fn the_kept_file_is_read_and_each_document_written_again_as_it_was() {
    if is_writing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("quita.db");
    std::fs::copy(golden(CURRENT, "embedded.db"), &path).unwrap();
    let file = Connection::open(&path).unwrap();
    let kept = std::fs::read_to_string(golden(CURRENT, "embedded.txt")).unwrap();
    assert_eq!(of_file(&file), kept, "the two kept files are of one moment");
    let mut kinds = std::collections::BTreeSet::new();
    render::each_document(&file, |column, bytes| {
        let reads = kind_of(column).unwrap_or_else(|| panic!("{column} is of no kind that is known"));
        reads(bytes);
        kinds.insert(column.to_owned());
    });
    assert_eq!(kinds.len(), KINDS, "{kinds:?}");
    drop(file);
    let store = EmbeddedStore::open_sole_writer(&path).unwrap();
    everything::check_is_in(Arc::new(store)).await;
}

/// Returns every document of a database, by collection.
async fn documents_of(database: &mongodb::Database) -> Document {
    let mut names = database.list_collection_names().await.unwrap();
    names.sort();
    let mut all = Document::new();
    for name in names {
        let options = FindOptions::builder().sort(bson::doc! { "_id": 1 }).build();
        let found = database.collection::<Document>(&name).find(bson::doc! {}).with_options(options).await;
        let found: Vec<Document> = found.unwrap().try_collect().await.unwrap();
        all.insert(name, found);
    }
    all
}

#[tokio::test]
async fn mongodb_gets_the_form_that_is_kept() {
    let Some(server) = Server::connect().await else { return };
    server
        .run(|store, database| async move {
            everything::put_into(store).await;
            let all = documents_of(&database).await;
            let mut text = String::new();
            for (name, documents) in &all {
                let indexes = database.run_command(bson::doc! { "listIndexes": name }).await.unwrap();
                let indexes = indexes.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
                text.push_str(&of_collection(name, indexes, documents.as_array().unwrap()));
            }
            compare("mongodb.txt", &text);
            if is_writing() {
                let bytes = bson::serialize_to_vec(&all).unwrap();
                std::fs::write(golden(CURRENT, "mongodb.bson"), bytes).unwrap();
            }
        })
        .await;
}

fn kept_documents() -> Document {
    let bytes = std::fs::read(golden(CURRENT, "mongodb.bson")).unwrap();
    bson::deserialize_from_slice(&bytes).unwrap()
}

#[test]
fn each_kept_document_of_mongodb_is_read_and_written_again_as_it_was() {
    if is_writing() {
        return;
    }
    let mut kinds = std::collections::BTreeSet::new();
    for (_, documents) in &kept_documents() {
        for (name, value) in documents.as_array().unwrap().iter().flat_map(|one| one.as_document().unwrap()) {
            if let (Some(reads), Bson::Document(value)) = (kind_of(name), value) {
                reads(&bson::serialize_to_vec(value).unwrap());
                kinds.insert(name.clone());
            }
        }
    }
    assert_eq!(kinds.len(), KINDS, "{kinds:?}");
}

/// Replaces the contents of a database with the kept documents.
pub async fn restore_kept(database: &mongodb::Database) {
    for (name, documents) in &kept_documents() {
        let collection = database.collection::<Document>(name);
        collection.delete_many(bson::doc! {}).await.unwrap();
        let documents: Vec<_> =
            documents.as_array().unwrap().iter().map(|one| one.as_document().unwrap().clone()).collect();
        if !documents.is_empty() {
            collection.insert_many(documents).await.unwrap();
        }
    }
}

#[tokio::test]
async fn the_kept_database_is_read() {
    let Some(server) = Server::connect().await else { return };
    if is_writing() {
        return;
    }
    server
        .run(|_, database| async move {
            restore_kept(&database).await;
            let again = crate::mongo_version::connect_again(&database).await.unwrap();
            everything::check_is_in(Arc::new(again)).await;
        })
        .await;
}
