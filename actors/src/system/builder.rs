//! Start of the actors, each on its thread.

use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use actix::prelude::*;
use quita_domain::control::Node;
use quita_ports::trace::Tracer;
use quita_ports::{AcquirerFactory, WebhookSenderFactory};

use super::Placement;
use super::parts::SystemParts;
use crate::acquirers::acquirer::{AcquirerActor, AcquirerParts};
use crate::acquirers::approvals::ApprovalWindows;
use crate::acquirers::health::Health;
use crate::acquirers::inbox::{InboxActor, InboxParts};
use crate::acquirers::inbox_sink::InboxSink;
use crate::acquirers::our_numbers::{NumberServices, OurNumbers};
use crate::acquirers::pace::Pace;
use crate::acquirers::routing::{Route, Routes};
use crate::actor::kind::ActorKind;
use crate::actor::mailbox::{Mailbox, leave_bound_to_mailbox};
use crate::actor::meter::Alive;
use crate::actor::slot::{Revive, Slot};
use crate::actor::supervisor::SupervisorActor;
use crate::limits::Limits;
use crate::store::journal::JournalActor;
use crate::store::reader::ReaderActor;
use crate::transaction::front::FrontActor;
use crate::upkeep::backoff::Backoff;
use crate::upkeep::node::{NodeActor, NodeParts};
use crate::upkeep::timer::{TimerActor, TimerParts};
use crate::watch::sampler::{SamplerActor, SamplerParts};
use crate::webhooks::pool::{PoolParts, WebhookPoolActor, Workers};
use crate::webhooks::secrets::Secrets;
use crate::webhooks::worker::{self, WebhookWorkerActor, WorkerParts};

/// Capacity of an actor that gets no messages because only timers drive it.
const NO_MESSAGES: usize = 0;

/// Starts the actors, each on its thread.
pub(super) struct Builder {
    system: Arc<SystemParts>,
    pub(super) arbiters: Vec<Arbiter>,
    /// Number of threads handed out.
    handed_out: usize,
    charges: Vec<(&'static str, Arc<dyn Revive>)>,
}

impl Builder {
    pub(super) fn new(system: Arc<SystemParts>, placement: Placement) -> Self {
        let count = match placement {
            Placement::Here => 0,
            Placement::Threads(count) => count.max(1),
        };
        let arbiters = (0..count).map(|_| Arbiter::new()).collect();
        Self { system, arbiters, handed_out: 0, charges: Vec::new() }
    }

    /// Returns the next thread in turn, or this one.
    fn thread(&mut self) -> ArbiterHandle {
        let turn = self.handed_out.checked_rem(self.arbiters.len()).unwrap_or(0);
        self.handed_out = self.handed_out.saturating_add(1);
        self.arbiters.get(turn).map_or_else(Arbiter::current, Arbiter::handle)
    }

    /// Creates a slot for an actor that the supervisor keeps alive.
    fn keep<A: Actor<Context = Context<A>>>(
        &mut self,
        kind: ActorKind,
        thread: &ArbiterHandle,
        capacity: usize,
        make: impl Fn(&Arc<SystemParts>, Alive) -> A + Clone + Send + Sync + 'static,
    ) -> Arc<Slot<A>> {
        let meter = self.system.meter.of(kind);
        let thread = thread.clone();
        let slot = Arc::new(Slot::new(&self.system, Arc::clone(&meter), move |system| {
            let make = make.clone();
            let system = Arc::clone(system);
            let alive = meter.alive();
            let address = A::start_in_arbiter(&thread, move |context| {
                leave_bound_to_mailbox(context);
                make(&system, alive)
            });
            Mailbox::new(address, Arc::clone(&meter), capacity)
        }));
        let charge: Arc<dyn Revive> = slot.clone();
        self.charges.push((kind.label(), charge));
        slot
    }

    /// Starts the journal and the reader. The inbox shares their thread.
    pub(super) fn start_books(&mut self) -> ArbiterHandle {
        let thread = self.thread();
        let Limits { journal_mailbox, reader_mailbox, .. } = self.system.limits;
        let journal = self.keep(ActorKind::Journal, &thread, journal_mailbox, |system, alive| {
            let SystemParts { books, meter, limits, .. } = system.as_ref();
            let store = books.store.clone();
            let fuse = Arc::clone(&books.fuse);
            JournalActor::new(store, fuse, Arc::clone(meter), limits, alive)
        });
        let reader = self.keep(ActorKind::Reader, &thread, reader_mailbox, |system, alive| {
            ReaderActor::new(system.books.store.clone(), &system.limits, alive)
        });
        set(&self.system.books.journal, journal);
        set(&self.system.books.reader, reader);
        thread
    }

    pub(super) fn start_inbox(
        &mut self,
        thread: &ArbiterHandle,
        tracer: &Option<Arc<dyn Tracer>>,
        failed_notices: &Arc<Backoff<String>>,
    ) -> Arc<Slot<InboxActor>> {
        let system = &self.system;
        let parts = Arc::new(InboxParts {
            books: Arc::clone(&system.books),
            commands: Arc::clone(&system.commands),
            exceptions: Arc::clone(&system.exceptions),
            failed_notices: Arc::clone(failed_notices),
            clock: Arc::clone(&system.clock),
            tracer: tracer.clone(),
            limits: system.limits.clone(),
        });
        let capacity = parts.limits.inbox_mailbox;
        self.keep(ActorKind::Inbox, thread, capacity, move |_, alive| {
            InboxActor::new(Arc::clone(&parts), alive)
        })
    }

    pub(super) fn start_acquirers(
        &mut self,
        factories: Vec<Arc<dyn AcquirerFactory>>,
        sink: &InboxSink,
    ) -> Arc<Routes> {
        let thread = self.thread();
        let capacity = self.system.limits.acquirer_mailbox;
        let mut routes = Vec::new();
        for factory in factories {
            // Connected before any charge can leave, since its notices have no other way.
            if let Some(local) = factory.local_issue() {
                local.connect(Arc::new(sink.clone()));
            }
            // One for all methods, because providers limit the calls of a client. Health is kept per method.
            let pace = Arc::new(Pace::of(factory.spec()));
            let numbers = self.numbers(factory.as_ref());
            for method in factory.spec().methods.clone() {
                let health = Arc::new(Health::new(&self.system.limits));
                let made = (Arc::clone(&factory), Arc::clone(&health), Arc::clone(&pace));
                let slot = self.keep(ActorKind::Acquirer, &thread, capacity, move |system, alive| {
                    let (factory, health, pace) = &made;
                    let parts = AcquirerParts {
                        name: factory.spec().name.clone(),
                        method,
                        acquirer: factory.build(),
                        health: Arc::clone(health),
                        pace: Arc::clone(pace),
                        meter: Arc::clone(&system.meter),
                        clock: Arc::clone(&system.clock),
                        concurrency: factory.spec().concurrency.max(1),
                        time_out: Duration::from_millis(factory.spec().time_out_ms),
                    };
                    AcquirerActor::new(parts, alive)
                });
                let factory = Arc::clone(&factory);
                let pace = Arc::clone(&pace);
                let approvals = ApprovalWindows::default();
                let numbers = numbers.clone();
                routes.push(Route { factory, method, health, pace, approvals, numbers, slot });
            }
        }
        let routes = Arc::new(Routes::new(routes));
        set(&self.system.routes, Arc::clone(&routes));
        routes
    }

    /// Returns the numbers of an acquirer's slips, if it leaves them to us.
    fn numbers(&self, factory: &dyn AcquirerFactory) -> Option<Arc<OurNumbers>> {
        let range = factory.numbers()?.clone();
        let SystemParts { books, exceptions, meter, clock, limits, .. } = self.system.as_ref();
        let services = NumberServices {
            store: books.store.clone(),
            exceptions: Arc::clone(exceptions),
            meter: Arc::clone(meter),
            clock: Arc::clone(clock),
            time_out: limits.write_time_out,
        };
        Some(Arc::new(OurNumbers::new(factory.spec().name.clone(), range, services)))
    }

    pub(super) fn start_webhooks(
        &mut self,
        senders: Arc<dyn WebhookSenderFactory>,
        secrets: Secrets,
        public_url: String,
        tracer: Option<Arc<dyn Tracer>>,
    ) {
        let thread = self.thread();
        let system = &self.system;
        let parts = Arc::new(WorkerParts {
            secrets,
            clock: Arc::clone(&system.clock),
            meter: Arc::clone(&system.meter),
            public_url,
        });
        let pool = system.meter.of(ActorKind::WebhookPool);
        let slot = Arc::new(Slot::new(system, Arc::clone(&pool), move |system| {
            let system = Arc::clone(system);
            let hire = hire(&parts, &senders, &thread);
            let capacity = system.limits.webhooks.mailbox;
            let parts = PoolParts {
                store: Arc::clone(&system.books.store),
                commands: Arc::clone(&system.commands),
                exceptions: Arc::clone(&system.exceptions),
                clock: Arc::clone(&system.clock),
                tracer: tracer.clone(),
                limits: system.limits.webhooks.clone(),
            };
            let address = WebhookPoolActor::start_in_arbiter(&thread, move |context| {
                leave_bound_to_mailbox(context);
                WebhookPoolActor::new(parts, hire, &system.meter)
            });
            Mailbox::new(address, Arc::clone(&pool), capacity)
        }));
        let charge: Arc<dyn Revive> = slot.clone();
        self.charges.push((ActorKind::WebhookPool.label(), charge));
        set(&self.system.webhooks, slot);
    }

    pub(super) fn start_fronts(&mut self) {
        let mut fronts = Vec::new();
        for _ in 0..self.arbiters.len().max(1) {
            let thread = self.thread();
            let capacity = self.system.limits.front_mailbox;
            let front = self.keep(ActorKind::Front, &thread, capacity, |system, alive| {
                FrontActor::new(Arc::clone(system), alive)
            });
            fronts.push(front);
        }
        set(&self.system.commands.fronts, fronts);
    }

    pub(super) fn start_timer(
        &mut self,
        inbox: Arc<Slot<InboxActor>>,
        tracer: Option<Arc<dyn Tracer>>,
        failed_notices: Arc<Backoff<String>>,
    ) {
        let thread = self.thread();
        let system = &self.system;
        let parts = Arc::new(TimerParts {
            store: Arc::clone(&system.books.store),
            store_state: Arc::clone(&system.books.state),
            commands: Arc::clone(&system.commands),
            inbox,
            exceptions: Arc::clone(&system.exceptions),
            failed_payments: Backoff::new(system.limits.failed_lately),
            failed_notices,
            payments_fail: AtomicBool::new(false),
            notices_fail: AtomicBool::new(false),
            failed_counts: AtomicU32::new(0),
            clock: Arc::clone(&system.clock),
            tracer,
            meter: Arc::clone(&system.meter),
            limits: system.limits.clone(),
        });
        self.keep(ActorKind::Timer, &thread, NO_MESSAGES, move |_, alive| {
            TimerActor::new(Arc::clone(&parts), alive)
        });
    }

    /// Starts the sampler and the node.
    pub(super) fn start_watch(&mut self, node: Node, routes: Arc<Routes>) {
        let thread = self.thread();
        let system = &self.system;
        let sampler = Arc::new(SamplerParts {
            meter: Arc::clone(&system.meter),
            store_state: Arc::clone(&system.books.state),
            routes: Arc::clone(&routes),
            samples: Arc::clone(&system.samples),
            clock: Arc::clone(&system.clock),
            interval: system.limits.sample_interval,
        });
        let node = Arc::new(NodeParts {
            node,
            store: system.books.store.clone(),
            directives: Arc::clone(&system.directives),
            routes,
            is_sole_writer: system.books.store.is_sole_writer(),
            known: Arc::clone(&system.known_nodes),
            clock: Arc::clone(&system.clock),
            limits: system.limits.clone(),
        });
        self.keep(ActorKind::Node, &thread, NO_MESSAGES, move |_, alive| {
            NodeActor::new(Arc::clone(&node), alive)
        });
        self.keep(ActorKind::Sampler, &thread, NO_MESSAGES, move |_, alive| {
            SamplerActor::new(Arc::clone(&sampler), alive)
        });
    }

    pub(super) fn start_supervisor(&mut self) -> Arc<Slot<SupervisorActor>> {
        let thread = self.thread();
        // Complete only because the supervisor starts last.
        let charges = self.charges.clone();
        self.keep(ActorKind::Supervisor, &thread, NO_MESSAGES, move |system, alive| {
            SupervisorActor::new(charges.clone(), &system.limits, alive)
        })
    }
}

/// Returns the function with which the pool creates workers.
fn hire(
    parts: &Arc<WorkerParts>,
    senders: &Arc<dyn WebhookSenderFactory>,
    thread: &ArbiterHandle,
) -> Workers {
    let parts = Arc::clone(parts);
    let senders = Arc::clone(senders);
    let thread = thread.clone();
    let meter = parts.meter.of(ActorKind::WebhookWorker);
    Box::new(move || {
        let parts = Arc::clone(&parts);
        let senders = Arc::clone(&senders);
        let alive = meter.alive();
        let address = WebhookWorkerActor::start_in_arbiter(&thread, move |context| {
            leave_bound_to_mailbox(context);
            WebhookWorkerActor::new(parts, senders.build(), alive)
        });
        Mailbox::new(address, Arc::clone(&meter), worker::MAILBOX)
    })
}

/// Fills a cell that may be filled only once.
fn set<T>(place: &OnceLock<T>, value: T) {
    if place.set(value).is_err() {
        tracing::error!("an actor was started twice");
    }
}
