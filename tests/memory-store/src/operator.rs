//! Exceptions that need a person, decisions of operators, and the nodes that they see.

use async_trait::async_trait;
use quita_domain::control::{Node, RouteControl};
use quita_domain::exception::{Exception, Resolution};
use quita_domain::time::Timestamp;
use quita_ports::{ExceptionStore, OperatorStore, StoreError, StoreForm};
use uuid::Uuid;

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{first_by, last_by};

#[async_trait]
impl<C: Connection> ExceptionStore for MemoryStore<C> {
    async fn put_exception(&self, exception: &Exception) -> Result<bool, StoreError> {
        self.0
            .change("put_exception", |records| {
                if let Some(known) = records.exceptions.iter().find(|known| known.id == exception.id) {
                    return Ok(known.resolution.is_none());
                }
                records.exceptions.push(exception.clone());
                Ok(true)
            })
            .await
    }

    async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        self.0
            .read("exceptions", |records| {
                let open = records.exceptions.iter().filter(|one| one.resolution.is_none());
                Ok(last_by(open, |one| (one.reported_at, one.id.clone()), limit))
            })
            .await
    }
}

#[async_trait]
impl<C: Connection> OperatorStore for MemoryStore<C> {
    async fn put_route_control(&self, control: &RouteControl) -> Result<(), StoreError> {
        let route = |control: &RouteControl| (control.acquirer.clone(), control.method);
        self.0
            .change("put_route_control", |records| {
                records.controls.retain(|known| route(known) != route(control));
                records.controls.push(control.clone());
                Ok(())
            })
            .await
    }

    async fn route_controls(&self) -> Result<Vec<RouteControl>, StoreError> {
        self.0.read("route_controls", |records| Ok(records.controls.clone())).await
    }

    async fn exception(&self, id: &str) -> Result<Option<Exception>, StoreError> {
        self.0
            .read("exception", |records| Ok(records.exceptions.iter().find(|one| one.id == id).cloned()))
            .await
    }

    async fn resolve_exception(&self, id: &str, resolution: &Resolution) -> Result<bool, StoreError> {
        self.0
            .change("resolve_exception", |records| {
                let mut open = records.exceptions.iter_mut().filter(|one| one.resolution.is_none());
                let found = open.find(|one| one.id == id);
                Ok(found.map(|one| one.resolution = Some(resolution.clone())).is_some())
            })
            .await
    }

    async fn resolved_exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        self.0
            .read("resolved_exceptions", |records| {
                let resolved = records.exceptions.iter().filter(|one| one.resolution.is_some());
                let resolved_at = |one: &Exception| one.resolution.as_ref().map(|resolution| resolution.at);
                Ok(last_by(resolved, |one| (resolved_at(one), one.id.clone()), limit))
            })
            .await
    }

    async fn put_node(&self, node: &Node) -> Result<(), StoreError> {
        self.0
            .change("put_node", |records| {
                records.nodes.insert(node.id, node.clone());
                Ok(())
            })
            .await
    }

    async fn remove_node(&self, id: Uuid) -> Result<bool, StoreError> {
        self.0.change("remove_node", |records| Ok(records.nodes.remove(&id).is_some())).await
    }

    async fn nodes(&self, seen_since: Timestamp) -> Result<Vec<Node>, StoreError> {
        self.0
            .read("nodes", |records| {
                let seen = records.nodes.values().filter(|node| node.seen_at >= seen_since);
                Ok(first_by(seen, |node| (node.started_at, node.id), usize::MAX))
            })
            .await
    }

    async fn server_now(&self) -> Result<Option<Timestamp>, StoreError> {
        self.0.read("server_now", |records| Ok(records.server_now)).await
    }

    async fn follow_form(&self) -> Result<StoreForm, StoreError> {
        // These records are never upgraded.
        self.0.read("follow_form", |_| Ok(StoreForm::FIRST)).await
    }

    fn form(&self) -> StoreForm {
        StoreForm::FIRST
    }
}
