//! The node: this process among those on the same store.
//!
//! Owns what is reported of this one to the others. Follows what operators directed for the acquirers, wherever it was
//! directed, and tells the store now and then that this process is alive. No payment passes through it. While the store
//! is out of reach the last directives hold. Recreated by the supervisor when it dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use actix::prelude::*;
use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, OperatorStore, StoreError};
use tokio::time::timeout;
use uuid::Uuid;

use crate::acquirers::directives::RouteDirectives;
use crate::acquirers::routing::Routes;
use crate::actor::meter::Alive;
use crate::limits::Limits;
use crate::watch::meter::Meter;

/// How a process is known to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeIdentity {
    /// How the outside reaches the service, whichever node answers.
    pub public_url: String,
    /// Where this process itself serves merchants.
    pub address: String,
    /// The version of the program.
    pub version: String,
}

/// Whether other processes work on the same store. Until it is known there may be some.
#[derive(Debug, Default)]
pub(crate) struct OtherNodes {
    are_none: AtomicBool,
}

impl OtherNodes {
    /// Whether none was seen lately.
    pub(crate) fn are_none(&self) -> bool {
        self.are_none.load(Ordering::Relaxed)
    }

    /// Learns who was seen lately. Where this node is not seen either, that says nothing: it stood still for so long.
    fn note(&self, seen: &[Node], own: Uuid) {
        let are_none = matches!(seen, [one] if one.id == own);
        self.are_none.store(are_none, Ordering::Relaxed);
    }
}

/// What the node's actor is made of.
pub(crate) struct NodeParts {
    /// This process, as the others know it.
    pub(crate) node: Node,
    pub(crate) store: Arc<dyn OperatorStore>,
    pub(crate) directives: Arc<RouteDirectives>,
    pub(crate) routes: Arc<Routes>,
    pub(crate) others: Arc<OtherNodes>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) limits: Limits,
}

/// Follows directives, and tells that this process is alive.
pub(crate) struct NodeActor {
    parts: Arc<NodeParts>,
    is_asking: bool,
    is_telling: bool,
    /// Whether the last question was answered.
    was_told: bool,
    _alive: Alive,
}

impl NodeActor {
    pub(crate) const fn new(parts: Arc<NodeParts>, alive: Alive) -> Self {
        Self { parts, is_asking: false, is_telling: false, was_told: true, _alive: alive }
    }

    /// Reads the operators' directives.
    fn ask(&mut self, context: &mut Context<Self>) {
        if std::mem::replace(&mut self.is_asking, true) {
            return;
        }
        let parts = Arc::clone(&self.parts);
        let work = async move { follow_directives(&parts).await };
        context.spawn(work.into_actor(self).map(|followed, node, _| {
            node.is_asking = false;
            let is_told = followed.is_ok();
            if let Err(error) = followed
                && node.was_told
            {
                if node.parts.directives.are_known() {
                    tracing::warn!(%error, "the operators' directives could not be read; the last directives hold");
                } else {
                    tracing::warn!(%error, "the operators' directives could not be read; nothing is sent");
                }
            }
            node.was_told = is_told;
        }));
    }

    /// Reports that this process is alive.
    fn tell(&mut self, context: &mut Context<Self>) {
        if std::mem::replace(&mut self.is_telling, true) {
            return;
        }
        let parts = Arc::clone(&self.parts);
        let work = async move { be_seen(&parts).await };
        context.spawn(work.into_actor(self).map(|seen, node, _| {
            node.is_telling = false;
            if let Err(error) = seen {
                tracing::debug!(%error, "this node could not be reported to the others");
            }
        }));
    }
}

impl Actor for NodeActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        self.ask(context);
        self.tell(context);
        context.run_interval(self.parts.limits.directives_interval, Self::ask);
        context.run_interval(self.parts.limits.node_interval, Self::tell);
    }
}

async fn follow_directives(parts: &NodeParts) -> Result<(), StoreError> {
    let refreshed = parts.directives.refresh(parts.store.as_ref(), &parts.routes);
    timeout(parts.limits.directives_time_out, refreshed).await.unwrap_or_else(|_| Err(too_slow()))
}

async fn be_seen(parts: &NodeParts) -> Result<(), StoreError> {
    let routing = Some(parts.routes.version());
    let node = Node { routing, seen_at: parts.clock.now(), ..parts.node.clone() };
    parts.store.put_node(&node).await?;
    let seen = nodes(parts.store.as_ref(), parts.clock.now(), &parts.limits).await?;
    parts.others.note(&seen, parts.node.id);
    parts.meter.nodes_seen.set(i64::try_from(seen.len()).unwrap_or(i64::MAX));
    Ok(())
}

/// The nodes that were seen lately.
pub(crate) async fn nodes(
    store: &dyn OperatorStore,
    now: Timestamp,
    limits: &Limits,
) -> Result<Vec<Node>, StoreError> {
    let within_ms = i64::try_from(limits.node_seen_within.as_millis()).unwrap_or(i64::MAX);
    store.nodes(Timestamp::from_millis(now.millis().saturating_sub(within_ms))).await
}

fn too_slow() -> StoreError {
    StoreError::Unavailable("it takes too long to read the operators' directives".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: u128) -> Node {
        let at = Timestamp::from_millis(0);
        let (address, version) = ("127.0.0.1:1".into(), "1".into());
        Node { id: Uuid::from_u128(id), address, version, routing: None, started_at: at, seen_at: at }
    }

    #[test]
    fn a_node_is_alone_that_sees_itself_and_nobody_else() {
        let others = OtherNodes::default();
        let is_alone_among = |seen: &[u128]| {
            others.note(&seen.iter().copied().map(node).collect::<Vec<_>>(), Uuid::from_u128(1));
            others.are_none()
        };
        assert!(is_alone_among(&[1]));
        assert!(!is_alone_among(&[1, 2]));
        assert!(!is_alone_among(&[2]));
        assert!(is_alone_among(&[1]));
        assert!(!is_alone_among(&[]));
    }
}
