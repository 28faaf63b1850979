//! Reading documents without copying them first, by ids in BSON's form.

use bson::{Document, RawDocument, RawDocumentBuf};
use mongodb::Collection;
use mongodb::error::Error;
use mongodb::options::FindOptions;
use quita_ports::StoreError;
use uuid::Uuid;

use super::failure::{LIST_TIME_OUT, within_time};
use super::indexes::named;
use quita_stored_form::{FromDocument, decode};

/// Applies `read` to each document that a query finds, in order; fails if one of them can't be read.
pub(super) async fn find_all<T>(
    collection: &Collection<RawDocumentBuf>,
    filter: Document,
    options: FindOptions,
    read: impl Fn(&RawDocument) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    find_each(collection, filter, options, read).await?.into_iter().collect()
}

/// Applies `read` to each document that a query finds, in order.
pub(super) async fn find_each<T>(
    collection: &Collection<RawDocumentBuf>,
    filter: Document,
    options: FindOptions,
    read: impl Fn(&RawDocument) -> Result<T, StoreError>,
) -> Result<Vec<Result<T, StoreError>>, StoreError> {
    let query = async {
        let mut cursor = collection.find(filter).with_options(options).await?;
        let mut found = Vec::new();
        while cursor.advance().await? {
            found.push(read(cursor.current()));
        }
        Ok::<_, Error>(found)
    };
    within_time(query).await
}

/// Returns the documents that a pipeline produces along an index.
pub(super) async fn aggregate(
    collection: &Collection<RawDocumentBuf>,
    pipeline: Vec<Document>,
    index: &str,
) -> Result<Vec<Document>, StoreError> {
    let query = async {
        let mut cursor = collection.aggregate(pipeline).max_time(LIST_TIME_OUT).hint(named(index)).await?;
        let mut found = Vec::new();
        while cursor.advance().await? {
            // Serde is not used here: it would compile all code for reading BSON once more.
            found.push(Document::try_from(cursor.current())?);
        }
        Ok::<_, Error>(found)
    };
    within_time(query).await
}

/// Returns the value in one field of a document, as this service wrote it.
pub(super) fn value_in<T: FromDocument>(document: &RawDocument, field: &str) -> Result<T, StoreError> {
    value_called(document, field, || format!("{field} {}", id_of(document)))
}

/// Returns the value in one field of a document whose id does not belong in a message.
pub(super) fn value_called<T: FromDocument>(
    document: &RawDocument,
    field: &str,
    what: impl Fn() -> String,
) -> Result<T, StoreError> {
    match document.get_document(field) {
        Ok(value) => decode(value.as_bytes(), &what()),
        Err(_) => Err(StoreError::Unreadable(format!("{} is not there", what()))),
    }
}

/// Returns the id of a document, for messages.
fn id_of(document: &RawDocument) -> String {
    let id = document.get("_id").ok().flatten();
    let uuid = id.and_then(|id| id.as_binary()).and_then(|binary| Uuid::from_slice(binary.bytes).ok());
    uuid.map_or_else(|| format!("{id:?}"), |uuid| uuid.to_string())
}

/// Converts a UUID to BSON's own form (subtype 4).
pub(super) fn binary(uuid: Uuid) -> bson::Uuid {
    bson::Uuid::from_bytes(uuid.into_bytes())
}
