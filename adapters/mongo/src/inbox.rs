//! Notices from acquirers that wait to be processed.

use async_trait::async_trait;
use bson::{Bson, DateTime, doc};
use mongodb::options::FindOptions;
use quita_domain::acquiring::Notice;
use quita_domain::time::Timestamp;
use quita_ports::{InboxStore, StoreError};
use serde::Serialize;

use super::failure::within_time;
use super::indexes::{DUE, INBOX, named};
use super::reading::{find_each, value_in};
use super::{MongoStore, batch};
use quita_stored_form::{AsDocument, readable, signed_limit};

/// A notice as it is stored. Once it is finished, `finishedAt` takes the place of `dueAt`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NoticeDocument<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    due_at: i64,
    tries: i64,
    notice: AsDocument<'a, Notice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<i64>,
}

impl<'a> NoticeDocument<'a> {
    fn of(notice: &'a Notice, form: Option<i64>) -> Self {
        let due_at = notice.received_at.millis();
        Self { id: &notice.id, due_at, tries: 0, notice: AsDocument(notice), form }
    }
}

#[async_trait]
impl InboxStore for MongoStore {
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError> {
        let form = self.form.stamp();
        let command = |part: &[Notice]| {
            batch::insert(INBOX, part.iter().map(|notice| NoticeDocument::of(notice, form)).collect())
        };
        batch::insert_unread(&self.database, notices, command).await.into_iter().collect()
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut unreadable = 0;
        loop {
            // Notices that can't be read don't count towards the limit.
            let asked = limit.saturating_add(unreadable);
            let options = FindOptions::builder()
                .sort(doc! { "dueAt": 1, "_id": 1 })
                .limit(signed_limit(asked))
                .hint(named(DUE));
            let filter = doc! { "dueAt": { "$lte": now.millis() } };
            let found = find_each(&self.collection(INBOX), filter, options.build(), |found| {
                let tries = found.get_i64("tries").ok().and_then(|tries| u32::try_from(tries).ok());
                Ok((value_in(found, "notice")?, tries.unwrap_or(0)))
            })
            .await?;
            let failed = found.iter().filter(|notice| notice.is_err()).count();
            if failed <= unreadable || found.len() < asked {
                return readable(found);
            }
            unreadable = failed;
        }
    }

    async fn waiting_notices(&self, ids: &[String]) -> Result<Vec<String>, StoreError> {
        let waiting = doc! { "_id": { "$in": ids }, "dueAt": { "$exists": true } };
        let found = within_time(self.collection(INBOX).distinct("_id", waiting)).await?;
        Ok(found.iter().filter_map(Bson::as_str).map(String::from).collect())
    }

    async fn finish_notices(&self, ids: &[String], now: Timestamp) -> Result<(), StoreError> {
        let finished = DateTime::from_millis(now.millis());
        // Finished notices are kept for 30 days, because an acquirer's repetition is recognised by its id.
        let change = doc! { "$set": { "finishedAt": finished }, "$unset": { "dueAt": "" } };
        let waiting = doc! { "_id": { "$in": ids }, "dueAt": { "$exists": true } };
        within_time(self.collection(INBOX).update_many(waiting, self.form.with(change))).await.map(drop)
    }

    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError> {
        let change = doc! { "$set": { "dueAt": until.millis() }, "$inc": { "tries": 1_i64 } };
        // The number of tries guards against a second node that processed the same notice: only one of them postpones
        // it.
        let waiting = doc! { "_id": id, "tries": i64::from(tried), "dueAt": { "$exists": true } };
        within_time(self.collection(INBOX).update_one(waiting, self.form.with(change))).await.map(drop)
    }
}
