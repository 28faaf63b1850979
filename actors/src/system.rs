//! The tree of actors, its start and its stop.
//!
//! ```text
//! ActorSystem
//! ├─ FrontActor ×threads         a shard of the payments each
//! │   └─ TransactionActor ×N     on its front's thread
//! ├─ SupervisorActor             recreates dead actors
//! ├─ AcquirerActor ×acquirer×method
//! ├─ JournalActor, ReaderActor   group commit, group read
//! ├─ TimerActor, InboxActor      due payments, acquirers' notices
//! ├─ NodeActor, SamplerActor     operators' directives, their views
//! └─ WebhookPoolActor
//!     └─ WebhookWorkerActor ×n
//! ```

mod builder;
pub(crate) mod parts;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix::prelude::*;
use prometheus::Registry;
use quita_domain::control::Node;
use quita_ports::trace::Tracer;
use quita_ports::{AcquirerFactory, Clock, Dice, Ids, Store, Vault, WebhookSenderFactory};

use self::builder::Builder;
use self::parts::SystemParts;
use crate::acquirers::inbox_sink::InboxSink;
use crate::acquirers::inquiry_clock::InquiryClock;
use crate::acquirers::missing_routes::MissingRoutes;
use crate::actor::crash_cause;
use crate::actor::slot::{Revive, Slot};
use crate::actor::supervisor::SupervisorActor;
use crate::limits::Limits;
use crate::operators::Operators;
use crate::payments::Payments;
use crate::store::books::Books;
use crate::store::state::StoreState;
use crate::store::time_limited::TimeLimitedStore;
use crate::transaction::confirmed::LongWaits;
use crate::upkeep::backoff::Backoff;
use crate::upkeep::node::NodeIdentity;
use crate::upkeep::reporting::Exceptions;
use crate::watch::at_scrape::AtScrape;
use crate::watch::meter::Meter;
use crate::watch::samples::Samples;
use crate::webhooks::secrets::Secrets;

/// Ports through which the actors reach the outside.
pub struct Ports {
    /// Store of record.
    pub store: Arc<dyn Store>,
    /// Opens the secrets that the store keeps sealed.
    pub vault: Arc<dyn Vault>,
    /// Acquirers that move the money.
    pub acquirers: Vec<Arc<dyn AcquirerFactory>>,
    /// Senders of the merchants' webhooks.
    pub webhooks: Arc<dyn WebhookSenderFactory>,
    /// Wall clock.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// Randomness that need not be secret.
    pub dice: Arc<dyn Dice>,
    /// Recorder of traces, if traces are wanted.
    pub tracer: Option<Arc<dyn Tracer>>,
}

/// Threads on which the actors run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// All on the thread that starts them: deterministic, for simulation.
    Here,
    /// On this many threads, with a front shard on each. The other actors share them. If two actors of one payment run
    /// on one thread, a message between them wakes no other thread.
    Threads(usize),
}

/// The running tree.
pub struct ActorSystem {
    system: Arc<SystemParts>,
    inbox: InboxSink,
    arbiters: Vec<Arbiter>,
    supervisor: Arc<Slot<SupervisorActor>>,
}

impl ActorSystem {
    /// Starts every actor. Must be called inside an actix system.
    ///
    /// # Errors
    /// Fails if the metrics can't be entered into the registry.
    pub fn start(
        ports: Ports,
        limits: Limits,
        placement: Placement,
        identity: NodeIdentity,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        crash_cause::listen();
        let meter = Meter::new(registry, &ports.clock)?;
        let state = StoreState::register(registry, Arc::clone(&ports.clock))?;
        let form = ports.store.form();
        let store: Arc<dyn Store> =
            Arc::new(TimeLimitedStore { store: ports.store, state: Arc::clone(&state) });
        let NodeIdentity { public_url, address, version } = identity;
        let now = ports.clock.now();
        let node = Node {
            id: ports.ids.fresh(),
            address,
            version,
            routing: None,
            accounts: None,
            comparison_failure: None,
            knows_form: form.known,
            writes_form: form.number,
            started_at: now,
            seen_at: now,
        };
        let exceptions =
            Exceptions::new(store.clone(), Arc::clone(&ports.clock), Arc::clone(&meter), &limits);
        let system = Arc::new(SystemParts {
            books: Arc::new(Books::new(store, state, &limits)),
            exceptions: Arc::new(exceptions),
            inquiry_clock: InquiryClock::new(limits.failed_lately),
            missing_routes: MissingRoutes::default(),
            long_waits: Arc::new(LongWaits::up_to(limits.confirmed_long)),
            samples: Arc::new(Samples::new(&limits)),
            limits,
            clock: ports.clock,
            ids: ports.ids,
            dice: ports.dice,
            meter,
            commands: Arc::default(),
            published: Arc::default(),
            directives: Arc::default(),
            known_nodes: Arc::default(),
            own_node: node.id,
            routes: OnceLock::new(),
            webhooks: OnceLock::new(),
        });
        let mut builder = Builder::new(Arc::clone(&system), placement);
        let failed_notices = Arc::new(Backoff::new(system.limits.failed_lately));
        let thread = builder.start_books();
        let inbox = builder.start_inbox(&thread, &ports.tracer, &failed_notices);
        let sink = InboxSink {
            inbox: Arc::clone(&inbox),
            fuse: Arc::clone(&system.books.fuse),
            commands: Arc::clone(&system.commands),
        };
        let routes = builder.start_acquirers(ports.acquirers, &sink);
        let secrets = Secrets::new(Arc::clone(&system.books.store), ports.vault, Arc::clone(&system.clock));
        builder.start_webhooks(ports.webhooks, secrets, public_url, ports.tracer.clone());
        builder.start_fronts();
        builder.start_timer(inbox, ports.tracer, failed_notices);
        builder.start_watch(node, routes);
        AtScrape::register(Arc::clone(&system), registry)?;
        let supervisor = builder.start_supervisor();
        Ok(Self { system, inbox: sink, arbiters: builder.arbiters, supervisor })
    }

    /// Returns the application service.
    pub fn payments(&self) -> Payments {
        Payments::new(Arc::clone(&self.system), self.inbox.clone())
    }

    /// Returns the application service of operators.
    pub fn operators(&self) -> Operators {
        Operators::new(Arc::clone(&self.system))
    }

    /// Recreates the supervisor if it is dead. To be called periodically; the supervisor looks after all other actors.
    pub fn watch(&self) {
        self.supervisor.revive_if_dead(self.system.limits.restart_after);
    }

    /// Stops every actor. The store reports their unfinished work as due again.
    pub async fn stop(self) {
        // Done while the actors still run: confirmations that are not stored by the end cause their events to be
        // delivered again.
        self.system.commands.store_confirmed().await;
        // Gives outcomes on their way to the store a moment; nothing depends on it.
        tokio::time::sleep(Duration::from_millis(50)).await;
        for arbiter in self.arbiters {
            arbiter.stop();
            if let Err(panic) = arbiter.join() {
                tracing::error!(?panic, "a thread that runs actors panicked");
            }
        }
    }
}
