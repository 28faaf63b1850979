//! Decisions of operators, and the nodes that they see.

use async_trait::async_trait;
use bson::{Bson, DateTime, RawDocumentBuf, doc};
use mongodb::options::FindOptions;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use quita_ports::{OperatorStore, StoreError, StoreForm};
use serde::Serialize;
use uuid::Uuid;

use super::MongoStore;
use super::failure::within_time;
use super::indexes::{BY_ID, EXCEPTIONS, NODES, RESOLVED, RESOLVED_AT, ROUTE_CONTROLS, SEEN, named};
use super::reading::{binary, find_all, value_in};
use super::server_time::told_time;
use quita_stored_form::{AsDocument, signed_limit};

/// A directive as it is stored.
#[derive(Serialize)]
struct StoredControl<'a> {
    #[serde(rename = "_id")]
    id: bson::Document,
    control: AsDocument<'a, RouteControl>,
}

/// A node as it is stored. The server deletes a node that was not seen for thirty days.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredNode<'a> {
    #[serde(rename = "_id")]
    id: bson::Uuid,
    seen_at: DateTime,
    node: AsDocument<'a, Node>,
}

#[async_trait]
impl OperatorStore for MongoStore {
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError> {
        let id = doc! { "acquirer": control.acquirer.as_str(), "method": control.method.as_str() };
        let stored = StoredControl { id: id.clone(), control: AsDocument(control) };
        self.put(ROUTE_CONTROLS, id.into(), &stored).await
    }

    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError> {
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).hint(named(BY_ID)).build();
        let read = |found: &_| value_in(found, "control");
        find_all(&self.collection(ROUTE_CONTROLS), doc! {}, options, read).await
    }

    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError> {
        let found = within_time(self.collection(EXCEPTIONS).find_one(doc! { "_id": id })).await?;
        found.map(|found| value_in(&found, "exception")).transpose()
    }

    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError> {
        let resolution = bson::serialize_to_bson(resolution);
        let resolution =
            resolution.map_err(|_| StoreError::Unreadable("a resolution can't be encoded".into()))?;
        let open = doc! { "_id": id, RESOLVED_AT: Bson::Null };
        let change = doc! { "$set": { "exception.resolution": resolution } };
        let resolved =
            within_time(self.collection(EXCEPTIONS).update_one(open, self.form.with(change))).await?;
        Ok(resolved.matched_count == 1)
    }

    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let options = FindOptions::builder()
            .sort(doc! { RESOLVED_AT: -1, "_id": -1 })
            .limit(signed_limit(limit))
            .hint(named(RESOLVED));
        let resolved = doc! { RESOLVED_AT: { "$exists": true } };
        let read = |found: &_| value_in(found, "exception");
        find_all(&self.collection(EXCEPTIONS), resolved, options.build(), read).await
    }

    async fn put_node(&self, node: &Node) -> Result<(), StoreError> {
        let id = binary(node.id);
        let seen_at = DateTime::from_millis(node.seen_at.millis());
        self.put(NODES, id.into(), &StoredNode { id, seen_at, node: AsDocument(node) }).await
    }

    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError> {
        let found = doc! { "_id": binary(id) };
        let removed = within_time(self.collection(NODES).delete_one(found)).await?;
        Ok(removed.deleted_count == 1)
    }

    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError> {
        let filter = doc! { "seenAt": { "$gte": DateTime::from_millis(seen_since.millis()) } };
        let options = FindOptions::builder().hint(named(SEEN)).build();
        let nodes = self.collection(NODES);
        let mut nodes: Vec<Node> = find_all(&nodes, filter, options, |found| value_in(found, "node")).await?;
        nodes.sort_by_key(|node| (node.started_at, node.id));
        Ok(nodes)
    }

    async fn server_now(&self) -> Result<Option<Timestamp>, StoreError> {
        let admin = self.database.client().database("admin");
        told_time(&within_time(admin.run_command(doc! { "hello": 1 })).await?).map(Some)
    }

    async fn follow_form(&self) -> Result<StoreForm, StoreError> {
        Ok(self.read_form().await?.form())
    }

    fn form(&self) -> StoreForm {
        self.form.now()
    }
}

impl MongoStore {
    /// Stores a document, replacing the one with its id.
    async fn put(
        &self,
        collection: &str,
        id: Bson,
        document: &(impl Serialize + Sync),
    ) -> Result<(), StoreError> {
        let encoded = bson::serialize_to_raw_document_buf(document);
        let encoded: RawDocumentBuf =
            encoded.map_err(|_| StoreError::Unreadable(format!("one of {collection} can't be encoded")))?;
        let replaced = self.collection(collection);
        within_time(replaced.replace_one(doc! { "_id": id }, self.form.stamped(encoded)).upsert(true))
            .await
            .map(drop)
    }
}
