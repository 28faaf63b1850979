//! The node: this process among those on the same store.
//!
//! Owns what the others are told of this one. Follows what operators ordered for the acquirers, wherever it was
//! ordered, and tells the store now and then that this process is alive. No payment passes through it. While the store
//! is out of reach the last orders hold. Made anew by the supervisor when it dies.

use std::sync::Arc;

use actix::prelude::*;
use quita_domain::control::Node;
use quita_ports::StoreError;
use tokio::time::timeout;

use crate::actor_meter::Alive;
use crate::shared::Shared;

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

/// Follows orders, and tells that this process is alive.
pub(crate) struct NodeActor {
    shared: Arc<Shared>,
    is_asking: bool,
    is_telling: bool,
    /// Whether the last question was answered.
    was_told: bool,
    _alive: Alive,
}

impl NodeActor {
    pub(crate) const fn new(shared: Arc<Shared>, alive: Alive) -> Self {
        Self { shared, is_asking: false, is_telling: false, was_told: true, _alive: alive }
    }

    /// Asks what operators ordered.
    fn ask(&mut self, context: &mut Context<Self>) {
        if std::mem::replace(&mut self.is_asking, true) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let work = async move { follow_orders(&shared).await };
        context.spawn(work.into_actor(self).map(|followed, node, _| {
            node.is_asking = false;
            let is_told = followed.is_ok();
            if let Err(error) = followed
                && node.was_told
            {
                if node.shared.orders.are_known() {
                    tracing::warn!(%error, "what operators ordered could not be read; the last orders hold");
                } else {
                    tracing::warn!(%error, "what operators ordered could not be read; nothing is sent");
                }
            }
            node.was_told = is_told;
        }));
    }

    /// Tells that this process is alive.
    fn tell(&mut self, context: &mut Context<Self>) {
        if std::mem::replace(&mut self.is_telling, true) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let work = async move { be_seen(&shared).await };
        context.spawn(work.into_actor(self).map(|seen, node, _| {
            node.is_telling = false;
            if let Err(error) = seen {
                tracing::debug!(%error, "the other nodes could not be told of this one");
            }
        }));
    }
}

impl Actor for NodeActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        self.ask(context);
        self.tell(context);
        context.run_interval(self.shared.limits.orders_interval, Self::ask);
        context.run_interval(self.shared.limits.node_interval, Self::tell);
    }
}

async fn follow_orders(shared: &Shared) -> Result<(), StoreError> {
    let Some(routes) = shared.routes.get() else { return Ok(()) };
    let refreshed = shared.orders.refresh(shared.store.as_ref(), routes);
    timeout(shared.limits.orders_time_out, refreshed).await.unwrap_or_else(|_| Err(too_slow()))
}

async fn be_seen(shared: &Shared) -> Result<(), StoreError> {
    let node = Node { seen_at: shared.clock.now(), ..shared.node.clone() };
    shared.store.put_node(&node).await?;
    let seen = nodes(shared).await?.len();
    shared.meter.nodes_seen.set(i64::try_from(seen).unwrap_or(i64::MAX));
    Ok(())
}

/// The nodes that were seen lately.
pub(crate) async fn nodes(shared: &Shared) -> Result<Vec<Node>, StoreError> {
    let within_ms = i64::try_from(shared.limits.node_seen_within.as_millis()).unwrap_or(i64::MAX);
    let now_ms = shared.clock.now().millis();
    shared.store.nodes(quita_domain::time::Timestamp::from_millis(now_ms.saturating_sub(within_ms))).await
}

fn too_slow() -> StoreError {
    StoreError::Unavailable("it takes too long to tell what operators ordered".into())
}
