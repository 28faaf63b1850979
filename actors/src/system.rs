//! The tree of actors, and how it starts and stops.
//!
//! ```text
//! ActorSystem
//! ├─ FrontActor ×threads         a shard of the payments each
//! │   └─ TransactionActor ×N     on its front's thread
//! ├─ SupervisorActor             makes anew what dies
//! ├─ AcquirerActor ×acquirer×method
//! ├─ JournalActor, ReaderActor   group commit, group read
//! ├─ TimerActor, InboxActor      what is due, what acquirers said
//! ├─ NodeActor, SamplerActor     what operators order, what they see
//! └─ WebhookPoolActor
//!     └─ WebhookWorkerActor ×n
//! ```

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix::prelude::*;
use prometheus::Registry;
use quita_domain::control::Node;
use quita_ports::trace::Tracer;
use quita_ports::{AcquirerFactory, Clock, Dice, Ids, Store, WebhookSenderFactory};

use crate::acquirer::{AcquirerActor, AcquirerParts};
use crate::actor_meter::Alive;
use crate::asking::Asking;
use crate::cause;
use crate::doubts::Doubts;
use crate::failed_lately::FailedLately;
use crate::front::FrontActor;
use crate::health::Health;
use crate::inbox::{InboxActor, InboxSink};
use crate::journal::JournalActor;
use crate::kind::ActorKind;
use crate::limits::Limits;
use crate::mailbox::{Mailbox, leave_bound_to_mailbox};
use crate::meter::Meter;
use crate::node::{NodeActor, NodeIdentity};
use crate::operators::Operators;
use crate::orders::Orders;
use crate::payments::Payments;
use crate::published::Published;
use crate::punctual::PunctualStore;
use crate::reader::ReaderActor;
use crate::reporting::Reporting;
use crate::routing::{Route, Routes};
use crate::sampler::{SamplerActor, Samples};
use crate::secrets::Secrets;
use crate::shared::Shared;
use crate::slot::{Revive, Slot};
use crate::supervisor::SupervisorActor;
use crate::timer::TimerActor;
use crate::webhook_pool::{WebhookPoolActor, Workers};
use crate::webhook_worker::{self, WebhookWorkerActor};

/// The capacity of an actor that is asked nothing: it goes by time alone.
const NO_MESSAGES: usize = 0;

/// What the actors reach the outside through.
pub struct Ports {
    /// The truth.
    pub store: Arc<dyn Store>,
    /// Who moves the money.
    pub acquirers: Vec<Arc<dyn AcquirerFactory>>,
    /// Who tells the merchants.
    pub webhooks: Arc<dyn WebhookSenderFactory>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// Randomness that need not be secret.
    pub dice: Arc<dyn Dice>,
    /// Who records what one call brings about, if anybody does.
    pub tracer: Option<Arc<dyn Tracer>>,
}

/// On which threads the actors live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// All on the thread that starts them: deterministic, for simulation.
    Here,
    /// On so many threads, with a front shard on each. The others share them: where two actors of one payment meet on
    /// one thread, no message between them wakes another.
    Threads(usize),
}

/// The running tree.
pub struct ActorSystem {
    shared: Arc<Shared>,
    arbiters: Vec<Arbiter>,
    supervisor: Arc<Slot<SupervisorActor>>,
}

impl ActorSystem {
    /// Starts every actor. Must be called inside an actix system.
    ///
    /// # Errors
    /// When the metrics can't be entered into the registry.
    pub fn start(
        ports: Ports,
        limits: Limits,
        placement: Placement,
        identity: NodeIdentity,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        cause::listen();
        let meter = Meter::new(registry, &ports.clock)?;
        let store: Arc<dyn Store> = Arc::new(PunctualStore(ports.store));
        let secrets = Secrets::new(Arc::clone(&store), Arc::clone(&ports.clock));
        let failed_payments = FailedLately::new(limits.failed_lately);
        let failed_notices = FailedLately::new(limits.failed_lately);
        let (asking, samples) = (Asking::new(limits.failed_lately), Samples::new(&limits));
        let NodeIdentity { public_url, address, version } = identity;
        let now = ports.clock.now();
        let node = Node { id: ports.ids.fresh(), address, version, started_at: now, seen_at: now };
        let shared = Arc::new(Shared {
            limits,
            node,
            public_url,
            store,
            clock: ports.clock,
            ids: ports.ids,
            dice: ports.dice,
            tracer: ports.tracer,
            meter,
            secrets,
            is_broken: AtomicBool::new(false),
            reporting: Reporting::default(),
            failed_payments,
            failed_notices,
            asking,
            doubts: Doubts::default(),
            published: Published::default(),
            orders: Orders::default(),
            samples,
            routes: OnceLock::new(),
            fronts: OnceLock::new(),
            journal: OnceLock::new(),
            reader: OnceLock::new(),
            inbox: OnceLock::new(),
            webhooks: OnceLock::new(),
        });
        let mut builder = Builder::new(Arc::clone(&shared), placement);
        builder.start_store_actors();
        builder.start_acquirers(ports.acquirers);
        builder.start_webhooks(ports.webhooks);
        builder.start_fronts();
        builder.start_timer();
        builder.start_watch();
        let supervisor = builder.start_supervisor();
        Ok(Self { shared, arbiters: builder.arbiters, supervisor })
    }

    /// The application service.
    pub fn payments(&self) -> Payments {
        Payments::new(Arc::clone(&self.shared))
    }

    /// The application service of operators.
    pub fn operators(&self) -> Operators {
        Operators::new(Arc::clone(&self.shared))
    }

    /// Looks after the supervisor, which looks after all others. To be called now and then.
    pub fn watch(&self) {
        self.supervisor.revive_if_dead(self.shared.limits.restart_after);
    }

    /// Stops every actor. What they had not finished is due again by the store.
    pub async fn stop(self) {
        // A moment for outcomes that are on their way to the store; nothing depends on it.
        tokio::time::sleep(Duration::from_millis(50)).await;
        for arbiter in self.arbiters {
            arbiter.stop();
            if let Err(panic) = arbiter.join() {
                tracing::error!(?panic, "a thread of actors ended with a panic");
            }
        }
    }
}

/// Starts the actors, each on its thread.
struct Builder {
    shared: Arc<Shared>,
    arbiters: Vec<Arbiter>,
    /// Threads that were handed out.
    handed_out: usize,
    charges: Vec<(&'static str, Arc<dyn Revive>)>,
}

impl Builder {
    fn new(shared: Arc<Shared>, placement: Placement) -> Self {
        let count = match placement {
            Placement::Here => 0,
            Placement::Threads(count) => count.max(1),
        };
        let arbiters = (0..count).map(|_| Arbiter::new()).collect();
        Self { shared, arbiters, handed_out: 0, charges: Vec::new() }
    }

    /// The next thread in turn, or this one.
    fn thread(&mut self) -> ArbiterHandle {
        let turn = self.handed_out.checked_rem(self.arbiters.len()).unwrap_or(0);
        self.handed_out = self.handed_out.saturating_add(1);
        self.arbiters.get(turn).map_or_else(Arbiter::current, Arbiter::handle)
    }

    /// Makes a place for an actor that the supervisor keeps alive.
    fn keep<A: Actor<Context = Context<A>>>(
        &mut self,
        kind: ActorKind,
        thread: &ArbiterHandle,
        capacity: usize,
        make: impl Fn(&Arc<Shared>, Alive) -> A + Clone + Send + Sync + 'static,
    ) -> Arc<Slot<A>> {
        let meter = self.shared.meter.of(kind);
        let thread = thread.clone();
        let slot = Arc::new(Slot::new(&self.shared, Arc::clone(&meter), move |shared| {
            let (make, shared, alive) = (make.clone(), Arc::clone(shared), meter.alive());
            let address = A::start_in_arbiter(&thread, move |context| {
                leave_bound_to_mailbox(context);
                make(&shared, alive)
            });
            Mailbox::new(address, Arc::clone(&meter), capacity)
        }));
        let charge: Arc<dyn Revive> = slot.clone();
        self.charges.push((kind.label(), charge));
        slot
    }

    fn start_store_actors(&mut self) {
        let thread = self.thread();
        let Limits { journal_mailbox, reader_mailbox, inbox_mailbox, .. } = self.shared.limits;
        let journal = self.keep(ActorKind::Journal, &thread, journal_mailbox, |shared, alive| {
            JournalActor::new(Arc::clone(shared), alive)
        });
        let reader = self.keep(ActorKind::Reader, &thread, reader_mailbox, |shared, alive| {
            ReaderActor::new(Arc::clone(&shared.store), &shared.limits, alive)
        });
        let inbox = self.keep(ActorKind::Inbox, &thread, inbox_mailbox, |shared, alive| {
            InboxActor::new(Arc::clone(shared), alive)
        });
        set(&self.shared.journal, journal);
        set(&self.shared.reader, reader);
        set(&self.shared.inbox, inbox);
    }

    fn start_acquirers(&mut self, factories: Vec<Arc<dyn AcquirerFactory>>) {
        let (thread, capacity) = (self.thread(), self.shared.limits.acquirer_mailbox);
        let mut routes = Vec::new();
        for factory in factories {
            for method in factory.spec().methods.clone() {
                let health = Arc::new(Health::new(&self.shared.limits));
                let made = (Arc::clone(&factory), Arc::clone(&health));
                let slot = self.keep(ActorKind::Acquirer, &thread, capacity, move |shared, alive| {
                    let (factory, health) = &made;
                    acquirer(shared, factory.as_ref(), Arc::clone(health), alive)
                });
                routes.push(Route { factory: Arc::clone(&factory), method, health, slot });
            }
        }
        set(&self.shared.routes, Routes::new(routes));
    }

    fn start_webhooks(&mut self, senders: Arc<dyn WebhookSenderFactory>) {
        let thread = self.thread();
        let pool = self.shared.meter.of(ActorKind::WebhookPool);
        let workers = self.shared.meter.of(ActorKind::WebhookWorker);
        let here = thread.clone();
        let slot = Arc::new(Slot::new(&self.shared, Arc::clone(&pool), move |shared| {
            let hire = hire(shared, &senders, &here);
            let (shared, meter, staff) = (Arc::clone(shared), Arc::clone(&pool), Arc::clone(&workers));
            let capacity = shared.limits.webhook_queue;
            let address = WebhookPoolActor::start_in_arbiter(&here, move |context| {
                leave_bound_to_mailbox(context);
                WebhookPoolActor::new(shared, hire, meter, staff)
            });
            Mailbox::new(address, Arc::clone(&pool), capacity)
        }));
        let charge: Arc<dyn Revive> = slot.clone();
        self.charges.push((ActorKind::WebhookPool.label(), charge));
        set(&self.shared.webhooks, slot);
    }

    fn start_fronts(&mut self) {
        let mut fronts = Vec::new();
        for _ in 0..self.arbiters.len().max(1) {
            let (thread, capacity) = (self.thread(), self.shared.limits.front_mailbox);
            let front = self.keep(ActorKind::Front, &thread, capacity, |shared, alive| {
                FrontActor::new(Arc::clone(shared), alive)
            });
            fronts.push(front);
        }
        set(&self.shared.fronts, fronts);
    }

    fn start_timer(&mut self) {
        let thread = self.thread();
        self.keep(ActorKind::Timer, &thread, NO_MESSAGES, |shared, alive| {
            TimerActor::new(Arc::clone(shared), alive)
        });
    }

    /// What operators see, and what they order.
    fn start_watch(&mut self) {
        let thread = self.thread();
        self.keep(ActorKind::Node, &thread, NO_MESSAGES, |shared, alive| {
            NodeActor::new(Arc::clone(shared), alive)
        });
        self.keep(ActorKind::Sampler, &thread, NO_MESSAGES, |shared, alive| {
            SamplerActor::new(Arc::clone(shared), alive)
        });
    }

    fn start_supervisor(&mut self) -> Arc<Slot<SupervisorActor>> {
        let thread = self.thread();
        let charges = self.charges.clone();
        self.keep(ActorKind::Supervisor, &thread, NO_MESSAGES, move |shared, alive| {
            SupervisorActor::new(charges.clone(), &shared.limits, alive)
        })
    }
}

fn acquirer(
    shared: &Arc<Shared>,
    factory: &dyn AcquirerFactory,
    health: Arc<Health>,
    alive: Alive,
) -> AcquirerActor {
    let spec = factory.spec();
    let parts = AcquirerParts {
        name: spec.name.clone(),
        acquirer: factory.build(Arc::new(InboxSink(Arc::clone(shared)))),
        health,
        meter: Arc::clone(&shared.meter),
        clock: Arc::clone(&shared.clock),
        concurrency: spec.concurrency.max(1),
        time_out: Duration::from_millis(spec.time_out_ms),
        mailbox: shared.limits.acquirer_mailbox,
    };
    AcquirerActor::new(parts, alive)
}

/// How the pool gets a worker.
fn hire(shared: &Arc<Shared>, senders: &Arc<dyn WebhookSenderFactory>, thread: &ArbiterHandle) -> Workers {
    let (shared, senders, thread) = (Arc::clone(shared), Arc::clone(senders), thread.clone());
    let meter = shared.meter.of(ActorKind::WebhookWorker);
    Box::new(move || {
        let (shared, senders, alive) = (Arc::clone(&shared), Arc::clone(&senders), meter.alive());
        let address = WebhookWorkerActor::start_in_arbiter(&thread, move |context| {
            leave_bound_to_mailbox(context);
            WebhookWorkerActor::new(shared, senders.build(), alive)
        });
        Mailbox::new(address, Arc::clone(&meter), webhook_worker::MAILBOX)
    })
}

/// Fills a place that is filled once.
fn set<T>(place: &OnceLock<T>, value: T) {
    if place.set(value).is_err() {
        tracing::error!("an actor was started twice");
    }
}
