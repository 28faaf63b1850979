//! What operators ordered and settled, and the nodes.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use quita_ports::{OperatorStore, StoreError};

use super::{MemoryStore, Op};

#[async_trait]
impl OperatorStore for MemoryStore {
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError> {
        self.reach(Op::PutRouteControl).await?;
        let mut content = self.lock();
        let is_meant =
            |known: &RouteControl| known.acquirer == control.acquirer && known.method == control.method;
        content.controls.retain(|known| !is_meant(known));
        content.controls.push(control.clone());
        Ok(())
    }

    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError> {
        // Read first: a slow answer is an old one.
        let controls = self.lock().controls.clone();
        self.reach(Op::RouteControls).await?;
        Ok(controls)
    }

    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError> {
        Ok(self.lock().exceptions.iter().find(|exception| exception.id == id).cloned())
    }

    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError> {
        let mut content = self.lock();
        let mut open = content.exceptions.iter_mut().filter(|exception| exception.resolution.is_none());
        let found = open.find(|exception| exception.id == id);
        Ok(found.map(|exception| exception.resolution = Some(resolution.clone())).is_some())
    }

    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        let content = self.lock();
        let resolved = content.exceptions.iter().filter(|exception| exception.resolution.is_some());
        let mut resolved: Vec<_> = resolved.cloned().collect();
        resolved.sort_by_key(|exception| {
            std::cmp::Reverse(exception.resolution.as_ref().map(|resolution| resolution.at))
        });
        resolved.truncate(limit);
        Ok(resolved)
    }

    async fn put_node(&self, node: &Node) -> Result<(), StoreError> {
        self.reach(Op::PutNode).await?;
        self.lock().nodes.insert(node.id, node.clone());
        Ok(())
    }

    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError> {
        let content = self.lock();
        let mut nodes: Vec<_> =
            content.nodes.values().filter(|node| node.seen_at >= seen_since).cloned().collect();
        nodes.sort_by_key(|node| node.started_at);
        Ok(nodes)
    }
}
