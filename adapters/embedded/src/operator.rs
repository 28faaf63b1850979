//! Decisions of operators, and the nodes that they see.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use quita_ports::{OperatorStore, StoreError, StoreForm};
use rusqlite::Transaction;
use uuid::Uuid;

use super::EmbeddedStore;
use super::failure::Failure;
use super::reading::{find_all, find_one};
use quita_stored_form::rules::KEEP_UNSEEN_NODE_MS;
use quita_stored_form::{encode, signed, signed_limit};

#[async_trait]
impl OperatorStore for EmbeddedStore {
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError> {
        let row = (control.acquirer.as_str().to_owned(), control.method.as_str(), encode(control)?);
        self.write(move |transaction| {
            let sql = "INSERT INTO route_controls (acquirer, method, control) VALUES (?1, ?2, ?3) \
                ON CONFLICT (acquirer, method) DO UPDATE SET control = excluded.control";
            transaction.prepare_cached(sql)?.execute(row)?;
            Ok(())
        })
        .await
    }

    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError> {
        self.read(|transaction| {
            let sql =
                "SELECT acquirer || ' ' || method, control FROM route_controls ORDER BY acquirer, method";
            find_all(transaction, sql, [], "the directive for")
        })
        .await
    }

    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError> {
        let id = id.to_owned();
        self.read(move |transaction| find_exception(transaction, &id)).await
    }

    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError> {
        let id = id.to_owned();
        let resolution = resolution.clone();
        self.write(move |transaction| {
            let open = find_exception(transaction, &id)?.filter(|found| found.resolution.is_none());
            let Some(mut exception) = open else { return Ok(false) };
            let resolved_at = resolution.at.millis();
            exception.resolution = Some(resolution);
            let sql = "UPDATE exceptions SET resolved_at = ?2, exception = ?3 WHERE id = ?1";
            transaction.prepare_cached(sql)?.execute((id, resolved_at, encode(&exception)?))?;
            Ok(true)
        })
        .await
    }

    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        self.read(move |transaction| {
            let sql = "SELECT id, exception FROM exceptions WHERE resolved_at IS NOT NULL \
                ORDER BY resolved_at DESC, id DESC LIMIT ?1";
            find_all(transaction, sql, [signed_limit(limit)], "exception")
        })
        .await
    }

    async fn put_node(&self, node: &Node) -> Result<(), StoreError> {
        let row = (node.id.into_bytes(), node.seen_at.millis(), encode(node)?);
        let before = node.seen_at.millis().saturating_sub(signed(KEEP_UNSEEN_NODE_MS));
        self.write(move |transaction| {
            let sql = "INSERT INTO nodes (id, seen_at, node) VALUES (?1, ?2, ?3) \
                ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, node = excluded.node";
            transaction.prepare_cached(sql)?.execute(row)?;
            transaction.prepare_cached("DELETE FROM nodes WHERE seen_at < ?1")?.execute([before])?;
            Ok(())
        })
        .await
    }

    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError> {
        let id = id.into_bytes();
        self.write(move |transaction| {
            let removed = transaction.prepare_cached("DELETE FROM nodes WHERE id = ?1")?.execute([id])?;
            Ok(removed > 0)
        })
        .await
    }

    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError> {
        let found = self.read(move |transaction| {
            let sql = "SELECT lower(hex(id)), node FROM nodes WHERE seen_at >= ?1";
            find_all(transaction, sql, [seen_since.millis()], "node")
        });
        let mut nodes: Vec<Node> = found.await?;
        nodes.sort_by_key(|node| (node.started_at, node.id));
        Ok(nodes)
    }

    async fn server_now(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }

    async fn follow_form(&self) -> Result<StoreForm, StoreError> {
        self.read_form().await
    }

    fn form(&self) -> StoreForm {
        self.trust.form().now()
    }
}

fn find_exception(transaction: &Transaction<'_>, id: &str) -> Result<Option<Exception>, Failure> {
    find_one(transaction, "SELECT id, exception FROM exceptions WHERE id = ?1", [id], "exception")
}
