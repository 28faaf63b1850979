//! What operators decide, and what they see of the nodes.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::StoreError;

/// Directives for acquirers, resolved exceptions, nodes.
#[async_trait]
pub trait OperatorStore: Send + Sync + 'static {
    /// Stores a directive for one acquirer and method; it takes the place of the one before.
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError>;

    /// Every directive.
    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError>;

    /// The exception with this id, open or resolved.
    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError>;

    /// Resolves an exception; `false` if there is no open one with this id. A resolved one keeps its resolution, even
    /// when it is reported again.
    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError>;

    /// Resolved exceptions, those resolved last first, at most `limit`.
    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError>;

    /// Stores that a node is alive; one that was not seen for thirty days may be forgotten.
    async fn put_node(&self, node: &Node) -> Result<(), StoreError>;

    /// Forgets a node; `false` if there is none with this id.
    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError>;

    /// Nodes that were seen at this time or later, the oldest start first.
    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError>;
}
