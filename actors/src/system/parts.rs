//! The parts of one system: the services that its actors share, and where those are that payments turn to.
//!
//! Fronts and transactions take all of it, any other actor what it needs. A circle of files stays, because the messages
//! themselves go round: a front starts transactions, what a transaction decides goes to acquirers and to the webhook
//! pool, and what came of it returns as a command to the front. So these parts and `transaction/commands.rs` know the
//! front and the pool, and are known to them. Nothing else belongs to it.

use std::sync::{Arc, OnceLock};

use quita_domain::payment::{Context, HINT_GAP_MS};
use quita_ports::{Clock, Dice, Ids};
use uuid::Uuid;

use crate::acquirers::directives::RouteDirectives;
use crate::acquirers::inquiry_clock::InquiryClock;
use crate::acquirers::routing::Routes;
use crate::actor::slot::Slot;
use crate::limits::Limits;
use crate::store::books::Books;
use crate::transaction::commands::Commands;
use crate::transaction::published::Published;
use crate::upkeep::known_nodes::KnownNodes;
use crate::upkeep::reporting::Exceptions;
use crate::watch::meter::Meter;
use crate::watch::samples::Samples;
use crate::webhooks::pool::WebhookPoolActor;

/// What one system is made of.
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
    /// This process, among them.
    pub(crate) own_node: Uuid,
    pub(crate) inquiry_clock: InquiryClock,
    pub(crate) samples: Arc<Samples>,
    /// Filled once, at the start.
    pub(crate) routes: OnceLock<Arc<Routes>>,
    pub(crate) webhooks: OnceLock<Arc<Slot<WebhookPoolActor>>>,
}

impl SystemParts {
    /// What a decision may depend on, fresh.
    pub(crate) fn context(&self, card_at_hand: bool) -> Context {
        let (now, dice, op) = (self.clock.now(), self.dice.roll(), self.ids.fresh());
        Context {
            now,
            dice,
            op,
            card_at_hand,
            operates_in_turn: false,
            charge_name: None,
            refund_shows_after_ms: 0,
            hint_gap_ms: HINT_GAP_MS,
            reads_approved: false,
            looks_at_paid: false,
            card_tries: None,
        }
    }
}
