//! The parts of one system: services shared by its actors, and the addresses of the actors that payments use.
//!
//! Fronts and transactions get all of it, any other actor only what it needs. A cycle between files remains, because
//! the messages themselves form a cycle. A front starts transactions; a transaction's decisions go to acquirers and to
//! the webhook pool; their results return as commands to the front. So these parts and `transaction/commands.rs` use
//! the front and the pool, and are used by them. No other file belongs to the cycle.

use std::sync::{Arc, OnceLock};

use quita_domain::payment::{Context, HINT_GAP_MS};
use quita_ports::{Clock, Dice, Ids};
use tokio::time::Instant;
use uuid::Uuid;

use crate::acquirers::directives::RouteDirectives;
use crate::acquirers::inquiry_clock::InquiryClock;
use crate::acquirers::method_outages::MethodOutage;
use crate::acquirers::missing_routes::MissingRoutes;
use crate::acquirers::route_view::RouteHealth;
use crate::acquirers::routing::Routes;
use crate::actor::slot::Slot;
use crate::limits::Limits;
use crate::store::books::Books;
use crate::transaction::commands::Commands;
use crate::transaction::confirmed::LongWaits;
use crate::transaction::published::Published;
use crate::upkeep::known_nodes::{KnownNodes, NodeView};
use crate::upkeep::reporting::Exceptions;
use crate::watch::meter::Meter;
use crate::watch::samples::Samples;
use crate::webhooks::pool::WebhookPoolActor;

/// Parts of one system.
pub(crate) struct SystemParts {
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) dice: Arc<dyn Dice>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) books: Arc<Books>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) exceptions: Arc<Exceptions>,
    pub(crate) published: Arc<Published>,
    pub(crate) directives: Arc<RouteDirectives>,
    pub(crate) known_nodes: Arc<KnownNodes>,
    /// Id of this process among them.
    pub(crate) own_node: Uuid,
    pub(crate) inquiry_clock: InquiryClock,
    pub(crate) missing_routes: MissingRoutes,
    pub(crate) long_waits: Arc<LongWaits>,
    pub(crate) samples: Arc<Samples>,
    /// Filled once, at the start.
    pub(crate) routes: OnceLock<Arc<Routes>>,
    pub(crate) webhooks: OnceLock<Arc<Slot<WebhookPoolActor>>>,
}

impl SystemParts {
    /// Returns the health of every route.
    pub(crate) fn route_health(&self) -> Vec<RouteHealth> {
        self.routes.get().map(|routes| routes.health(self.clock.now())).unwrap_or_default()
    }

    /// Returns the methods that no acquirer can take, as last logged.
    pub(crate) fn method_outages(&self) -> Vec<MethodOutage> {
        self.routes.get().map(|routes| routes.outages()).unwrap_or_default()
    }

    /// Returns the processes on this store as far as they are known now.
    pub(crate) fn nodes(&self) -> Vec<NodeView> {
        let is_store_away = self.books.state.away().is_some();
        self.known_nodes.known(Instant::now(), self.limits.longest_heartbeat_gap(), is_store_away)
    }

    /// Returns fresh inputs for a decision.
    pub(crate) fn context(&self, card_at_hand: bool) -> Context {
        let now = self.clock.now();
        let dice = self.dice.roll();
        let op = self.ids.fresh();
        Context {
            now,
            dice,
            op,
            card_at_hand,
            operates_in_turn: false,
            charge_name: None,
            charge_name_there: None,
            is_one_account: false,
            refund_shows_after_ms: 0,
            hint_gap_ms: HINT_GAP_MS,
            asked_at: None,
            reads_approved: false,
            looks_at_paid: false,
            states_cost: false,
            card_tries: None,
        }
    }
}
