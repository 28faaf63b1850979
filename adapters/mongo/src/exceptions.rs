//! Exceptions, which need a person.

use async_trait::async_trait;
use bson::{Bson, doc};
use mongodb::options::FindOptions;
use quita_domain::exception::Exception;
use quita_ports::{ExceptionStore, OperatorStore as _, StoreError};
use serde::Serialize;

use super::MongoStore;
use super::indexes::{EXCEPTIONS, OPEN, RESOLVED_AT, named};
use super::reading::{find_all, value_in};
use quita_stored_form::{AsDocument, signed_limit};

/// An exception as it is stored.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionDocument<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    reported_at: i64,
    exception: AsDocument<'a, Exception>,
}

#[async_trait]
impl ExceptionStore for MongoStore {
    async fn put_exception(&self, exception: &Exception) -> Result<bool, StoreError> {
        let reported_at = exception.reported_at.millis();
        let envelope = ExceptionDocument { id: &exception.id, reported_at, exception: AsDocument(exception) };
        if self.insert_one(EXCEPTIONS, &envelope).await? {
            return Ok(true);
        }
        let known = self.exception(&exception.id).await?;
        // A resolved cause that is found again stays resolved, and the caller neither counts nor logs it again.
        Ok(known.is_none_or(|known| known.resolution.is_none()))
    }

    async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let newest_first = doc! { "reportedAt": -1, "_id": -1 };
        let options =
            FindOptions::builder().sort(newest_first).limit(signed_limit(limit)).hint(named(OPEN)).build();
        let open = doc! { RESOLVED_AT: Bson::Null };
        find_all(&self.collection(EXCEPTIONS), open, options, |found| value_in(found, "exception")).await
    }
}
