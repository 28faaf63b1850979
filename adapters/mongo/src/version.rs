//! Number of the form in which the database is stored, kept in a collection of its own.

use bson::{RawDocumentBuf, doc};
use mongodb::Database;
use quita_ports::StoreError;

use super::batch;
use super::failure::within_time;
use super::indexes::{PAYMENTS, STORED_FORM};
use quita_stored_form::VERSION;
use quita_stored_form::rules::other_form;

const ID: &str = "version";

/// Returns true if there is a store in the database, of whatever version. Makes nothing.
pub(super) async fn is_store(database: &Database) -> Result<bool, StoreError> {
    let ours = database.list_collection_names().filter(doc! { "name": { "$in": [STORED_FORM, PAYMENTS] } });
    Ok(!within_time(ours).await?.is_empty())
}

/// Notes the version in a new database, and refuses one whose stored form is another.
///
/// The version is written before any other collection is made, and read after looking for them: so of nodes that start
/// together on a new database, none takes it for one without a version.
pub(super) async fn settle(database: &Database) -> Result<(), StoreError> {
    let payments = database.list_collection_names().filter(doc! { "name": PAYMENTS });
    let is_new = within_time(payments).await?.is_empty();
    if is_new {
        batch::insert_one(database, STORED_FORM, &doc! { "_id": ID, "version": VERSION }).await?;
    }
    let form = database.collection::<RawDocumentBuf>(STORED_FORM);
    let found = within_time(form.find_one(doc! { "_id": ID })).await?;
    match found.and_then(|found| found.get_i64("version").ok()) {
        Some(VERSION) => Ok(()),
        other => Err(other_form(other)),
    }
}
