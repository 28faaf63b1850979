//! The node: this process among those on the same store.
//!
//! Owns the report of this process to the others. Follows the operators' directives for acquirers, on whichever node
//! they were given, and sends a heartbeat to the store. No payment passes through it. While the store is out of reach
//! the last directives remain in force. Recreated by the supervisor when it dies.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, OperatorStore, StoreError};
use tokio::time::{Instant, timeout};

use crate::acquirers::directives::RouteDirectives;
use crate::acquirers::routing::Routes;
use crate::actor::meter::Alive;
use crate::denied::{Denied, warn_unless_away};
use crate::limits::Limits;
use crate::upkeep::heartbeats::{ClockNews, ViewTime};
use crate::upkeep::known_nodes::{KnownNodes, NodeNews};
use crate::upkeep::route_agreement::RoutesNews;

/// Time within which the store's server must report its time. A slower answer is too inaccurate.
const TIME_TOLD_WITHIN: Duration = Duration::from_secs(2);

/// Identity of a process, as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeIdentity {
    /// Address at which clients reach the service, whichever node answers.
    pub public_url: String,
    /// Address on which this process itself serves merchants.
    pub address: String,
    /// Version of the program.
    pub version: String,
}

/// Dependencies of the node's actor.
pub(crate) struct NodeParts {
    /// This process, as the others see it.
    pub(crate) node: Node,
    pub(crate) store: Arc<dyn OperatorStore>,
    /// True if no other process may serve this store.
    pub(crate) is_sole_writer: bool,
    pub(crate) directives: Arc<RouteDirectives>,
    pub(crate) routes: Arc<Routes>,
    pub(crate) known: Arc<KnownNodes>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Limits,
}

/// Follows directives, and reports that this process is alive.
pub(crate) struct NodeActor {
    parts: Arc<NodeParts>,
    is_asking: bool,
    is_telling: bool,
    /// True if the last request for directives was answered.
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
                    let denied = Denied::StoreUnavailable(error);
                    warn_unless_away!(denied, error = %denied, "the operators' directives could not be read; the last known ones stay in effect");
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
                tracing::debug!(%error, "this node's heartbeat failed");
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
    // Before the heartbeat is seen: an upgrade waits until every node reports that it writes the new form.
    let form = parts.store.follow_form().await?;
    if form.is_too_new() {
        return Ok(());
    }
    let begun_at = Instant::now();
    let node = Node {
        routing: Some(parts.routes.version()),
        accounts: Some(parts.routes.accounts()),
        comparison_failure: parts.known.comparison_failure(),
        knows_form: form.known,
        writes_form: form.number,
        seen_at: parts.clock.now(),
        ..parts.node.clone()
    };
    // Written before the others are read: without this node's own heartbeat among them nothing is concluded.
    parts.store.put_node(&node).await?;
    let mut stored = parts.store.nodes(Timestamp::from_millis(0)).await?;
    if parts.is_sole_writer {
        // All other processes have ended, or this one could not have started.
        stored.retain(|node| node.id == parts.node.id);
    }
    let limits = &parts.limits;
    let ahead_of_server_ms = ahead_of_server_ms(parts).await;
    let time = ViewTime {
        begun_at,
        read_at: Instant::now(),
        now: parts.clock.now(),
        seen_within: limits.node_seen_within,
        longest_gap: limits.longest_heartbeat_gap(),
        ahead_of_server_ms,
    };
    let news = parts.known.note(stored, parts.node.id, &time);
    tell(&news);
    // Only its successor at the address removes it, so that only one node does.
    for dead in news.replaced.iter().filter(|dead| dead.address == parts.node.address) {
        parts.store.remove_node(dead.id).await?;
        tracing::info!(node.id = %dead.id, address = dead.address, "this node replaced a dead one");
    }
    Ok(())
}

/// Compares this node's clock with that of the store's server. `None` if the server does not report its time soon
/// enough.
async fn ahead_of_server_ms(parts: &NodeParts) -> Option<i64> {
    let asked_at = Instant::now();
    let asked = parts.store.server_now();
    let server = timeout(TIME_TOLD_WITHIN, asked).await.ok()?.ok()??;
    let way_back_ms = i64::try_from(asked_at.elapsed().as_millis() / 2).ok()?;
    let now_there_ms = server.millis().saturating_add(way_back_ms);
    Some(parts.clock.now().millis().saturating_sub(now_there_ms))
}

fn tell(news: &NodeNews) {
    for Node { id, address, seen_at, .. } in &news.lost {
        tracing::warn!(node.id = %id, address, %seen_at, "another node was lost: it never announced a stop, and is no longer seen");
    }
    for Node { id, address, .. } in &news.back {
        tracing::info!(node.id = %id, address, "a lost node is back");
    }
    match news.own_clock {
        Some(ClockNews::Differs { ahead_s }) => tracing::warn!(
            ahead_s,
            "this node's clock differs from that of the store's server: correct the wrong one with NTP"
        ),
        Some(ClockNews::Agrees) => {
            tracing::info!("this node's clock agrees with that of the store's server again");
        }
        None => {}
    }
    if let Some(routes) = news.routes {
        tell_routes(routes);
    }
    for (Node { id, address, .. }, clock) in &news.clocks {
        match clock {
            ClockNews::Differs { ahead_s } => {
                tracing::warn!(node.id = %id, address, ahead_s, "another node's clock differs from this one's: synchronise both with NTP");
            }
            ClockNews::Agrees => {
                tracing::info!(node.id = %id, address, "another node's clock agrees with this one's again");
            }
        }
    }
}

fn tell_routes(news: RoutesNews) {
    match news {
        RoutesNews::Differ => tracing::warn!(
            "nodes route payments by different tables or accounts: configure the same acquirers and routes on all of them"
        ),
        RoutesNews::Agree => {
            tracing::info!("all live nodes route payments by the same table and accounts")
        }
    }
}

fn too_slow() -> StoreError {
    StoreError::Unavailable("it takes too long to read the operators' directives".into())
}
