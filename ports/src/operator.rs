//! Operators' decisions, and their view of the nodes.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::StoreError;

/// Directives for acquirers, resolved exceptions, nodes.
#[async_trait]
pub trait OperatorStore: Send + Sync + 'static {
    /// Stores a directive for one acquirer and method, replacing the one before.
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError>;

    /// Returns all directives.
    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError>;

    /// Returns the exception with this id, open or resolved.
    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError>;

    /// Resolves an exception; `false` if there is no open one with this id. A resolved one keeps its resolution, even
    /// when it is reported again.
    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError>;

    /// Returns resolved exceptions, the last resolved first, at most `limit`.
    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError>;

    /// Stores that a node is alive; a node that was not seen for thirty days may be deleted.
    async fn put_node(&self, node: &Node) -> Result<(), StoreError>;

    /// Deletes a node; `false` if there is none with this id.
    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Returns nodes that were seen at this time or later, the oldest start first.
    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError>;
}
