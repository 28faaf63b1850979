//! What operators ordered and settled, and the nodes.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use quita_ports::{OperatorStore, StoreError};

use super::NodeStore;
use crate::planted::Mistake;

#[async_trait]
impl OperatorStore for NodeStore {
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError> {
        self.change("put order", || {
            let mut content = self.world.store.lock();
            let is_other =
                |known: &RouteControl| known.acquirer != control.acquirer || known.method != control.method;
            content.controls.retain(is_other);
            content.controls.push(control.clone());
        })
        .await
    }

    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError> {
        self.read().await?;
        if self.world.mistake == Some(Mistake::ForgetOrders) && self.world.chance.between(0, 9) == 0 {
            return Ok(Vec::new());
        }
        Ok(self.world.store.lock().controls.clone())
    }

    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError> {
        self.read().await?;
        Ok(self.world.store.lock().exceptions.iter().find(|exception| exception.id == id).cloned())
    }

    /// No person settles anything here.
    async fn resolve_exception(&self, _: &str, _: &Resolution) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn resolved_exceptions(&self, _: usize) -> Result<Vec<Exception>, StoreError> {
        Ok(Vec::new())
    }

    /// Nothing depends on it.
    async fn put_node(&self, _: &Node) -> Result<(), StoreError> {
        self.read().await
    }

    async fn nodes(&self, _: Timestamp) -> Result<Vec<Node>, StoreError> {
        Ok(Vec::new())
    }
}
