//! One node: the real actor system over simulated ports, behind a fuse.
//!
//! Every call of a dead node to the outside never returns, so nobody can see what it still does in memory. So it dies
//! at any await, and its calls to the store or a bank arrive or not.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::NaiveDate;
use prometheus::Registry;
use quita_actors::{ActorSystem, Limits, NodeIdentity, Operators, Payments, Placement, Ports, WebhookLimits};
use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::numbering::EventSequence;
use quita_domain::reconciliation::StoredLine;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, Clock, Dice, Ids, WholeStore};
use quita_services::reconciliation::{List, Nights, NotReconciled, Reconciler};
use tokio::sync::Notify;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::installation::{self, Configuration, Happening};
use crate::orders::Request;
use crate::planted::{self, Mistake};
use crate::receivers::NodeSenders;
use crate::reconciling::NIGHT;
use crate::secret_keys::NodeKeys;
use crate::store::NodeStore;
use crate::world::World;

/// Longest time that a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Time limit for accepted work to finish once the node is told to stop: the default of `shutdown-time`.
const SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// Minimum time between a receiver's confirmation and the stop of the actors, in milliseconds, for the confirmation to
/// be stored: the answer passes from the worker to the payment.
const CONFIRMED_BEFORE_MS: u64 = 5;
/// Time from a node's death until its actors are dropped. By then, all its calls to the outside have arrived, however
/// late.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);
/// Time for which a lost write delays the next write of its payment, in milliseconds.
const WRITE_TIME_OUT_MS: u64 = 10_000;

/// A running node. Its clones are the same node.
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) place: usize,
    pub(crate) fuse: Arc<Fuse>,
    payments: Payments,
    operators: Operators,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    acquirers: Vec<Arc<dyn AcquirerFactory>>,
    /// Allows one comparison at a time, as in a process.
    nights: Arc<tokio::sync::Mutex<Nights>>,
    pub(crate) keys: Arc<NodeKeys>,
    configuration: Arc<Mutex<Configuration>>,
    /// Removed when the actors are told to stop.
    system: Arc<Mutex<Option<ActorSystem>>>,
}

/// Error of a client that hung up or timed out, or whose node died: it does not know the outcome of its request.
#[derive(Debug)]
pub(crate) struct Untold;

impl Node {
    /// Starts a node at this place; it dies at the gate with this number, if it gets that far.
    pub(crate) fn start(world: &Arc<World>, place: usize, dies_at_gate: Option<u64>) -> Self {
        let fuse = Fuse::new(world, place, dies_at_gate);
        let configuration = world.installation.configurations.present();
        let [public_url, address, version] = ["https://pay.example", "node", "0"].map(String::from);
        let identity = NodeIdentity { public_url, address, version };
        let node = Arc::new(NodeChance { world: Arc::clone(world), place });
        let clock: Arc<dyn Clock> = Arc::<NodeChance>::clone(&node);
        let store = NodeStore::open(world, &fuse);
        let keys = Arc::new(NodeKeys::of(world, Arc::clone(&store)));
        let configured = configuration.routes.configured(world.banks.len());
        let time_out_ms = configuration.time_out_ms;
        let factory = |bank: usize| world.banks[bank].factory(world, &fuse, time_out_ms, Arc::clone(&clock));
        let acquirers: Vec<_> = configured.map(factory).collect();
        let ports = Ports {
            store: store.clone(),
            vault: Arc::new(keys.vault()),
            acquirers: acquirers.clone(),
            webhooks: Arc::new(NodeSenders { world: Arc::clone(world), fuse: Arc::clone(&fuse) }),
            clock: Arc::clone(&clock),
            ids: Arc::<NodeChance>::clone(&node),
            dice: node,
            tracer: None,
        };
        let tasks = LocalSet::new();
        let system = {
            let _tasks = tasks.enter();
            ActorSystem::start(ports, limits(), Placement::Here, identity, &Registry::new()).unwrap()
        };
        forget_after_death(&fuse, tasks);
        let payments = system.payments();
        let operators = system.operators();
        operators.route_by(planted::table(world.mistake, &configuration.routes, &world.bank_names()));
        let system = Arc::new(Mutex::new(Some(system)));
        let watched = Arc::clone(&fuse);
        let looked_after = Arc::clone(&system);
        drop(actix::spawn(async move {
            while !watched.is_dead() {
                sleep(Duration::from_secs(3)).await;
                if let Some(system) = looked_after.lock().unwrap().as_ref() {
                    system.watch();
                }
            }
        }));
        world.note(|| format!("node {place} starts"));
        let askable = acquirers.iter().map(|factory| factory.spec().name.clone());
        let whole: Arc<dyn WholeStore> = Arc::clone(&store);
        let reconciler = Reconciler::new(Arc::clone(&whole), Arc::clone(&clock), askable);
        let id = world.fresh_id();
        let nights = Nights::new(reconciler, whole, Arc::clone(&clock), NIGHT, id, Arc::new(|_| ()));
        let node = Self {
            place,
            fuse,
            payments,
            operators,
            store,
            clock,
            acquirers,
            nights: Arc::new(tokio::sync::Mutex::new(nights)),
            keys,
            configuration: Arc::new(Mutex::new(configuration)),
            system,
        };
        installation::keep_erasing(world, &node);
        node
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.fuse.is_dead()
    }

    /// Returns true if it is alive and was not told to stop.
    pub(crate) fn takes_requests(&self) -> bool {
        self.is_alive() && !self.fuse.is_stopping()
    }

    /// Returns the configuration that it last read.
    pub(crate) fn configuration(&self) -> Configuration {
        self.configuration.lock().unwrap().clone()
    }

    /// Returns true if this acquirer is configured here.
    pub(crate) fn has(&self, bank: &AcquirerName) -> bool {
        self.acquirers.iter().any(|factory| factory.spec().name == *bank)
    }

    /// Returns its store, clock and payments, for tasks beside its actors.
    pub(crate) fn parts(&self) -> (Arc<dyn WholeStore>, Arc<dyn Clock>, Payments) {
        (Arc::clone(&self.store), Arc::clone(&self.clock), self.payments.clone())
    }

    /// Reads the configuration again, which only changes the routes while it runs.
    pub(crate) fn reload(&self, world: &World) {
        let present = world.installation.configurations.present();
        world.note(|| format!("node {} takes routes {}", self.place, present.version));
        if world.mistake != Some(Mistake::IgnoreReload) {
            self.operators.route_by(planted::table(world.mistake, &present.routes, &world.bank_names()));
        }
        self.configuration.lock().unwrap().clone_from(&present);
    }

    /// Stops as a process does: it accepts nothing more, finishes accepted work, and stops its actors.
    pub(crate) async fn stop(&self, world: &Arc<World>) {
        if !self.fuse.begin_stopping() {
            return self.fuse.death().await;
        }
        world.note(|| format!("node {} is told to stop", self.place));
        let stopping = async {
            self.fuse.finish_requests().await;
            let stops_at_ms = world.clock.elapsed_ms();
            let system = self.system.lock().unwrap().take();
            if let Some(system) = system.filter(|_| world.mistake != Some(Mistake::StopForgetsConfirmed)) {
                system.stop().await;
            }
            stops_at_ms
        };
        let is_dropping = world.mistake == Some(Mistake::StopDropsAccepted);
        let stops_at_ms = tokio::select! {
            biased;
            () = self.fuse.death() => return,
            () = async {}, if is_dropping => world.clock.elapsed_ms(),
            stops_at_ms = stopping => stops_at_ms,
        };
        self.check_confirmed(world, stops_at_ms);
        world.installation.count(Happening::NodeStopped);
        self.fuse.blow_by_stopping();
    }

    /// Checks that confirmations from before the stop of the actors are stored, unless there was a fault since.
    fn check_confirmed(&self, world: &World, stops_at_ms: u64) {
        for ((id, sequence), confirmed_ms) in self.fuse.confirmed() {
            let is_in_time = confirmed_ms + CONFIRMED_BEFORE_MS < stops_at_ms;
            if !is_in_time || !world.was_calm_for(WRITE_TIME_OUT_MS, confirmed_ms) {
                continue;
            }
            let Some(payment) = world.store.payment(id) else { continue };
            world.installation.count(Happening::ConfirmedBeforeStop);
            let mut of_event = payment.outbox.iter().filter(|one| one.sequence == sequence);
            if of_event.all(|one| one.state == DeliveryState::Pending) {
                world.violation(format!(
                    "{id}: event {sequence} was confirmed before its node stopped, and is sent again"
                ));
            }
        }
    }

    /// Sends a client's request to it and returns the answer, unless the node dies or the client gives up.
    pub(crate) async fn call<T, F>(&self, request: impl FnOnce(Payments) -> F) -> Result<T, Untold>
    where
        F: Future<Output = T>,
    {
        self.while_alive(request(self.payments.clone())).await
    }

    /// Returns the id under which it knows a request; `None` if this is not known now. A node without the store's key
    /// exits, as a process does at its start.
    pub(crate) async fn id_of(&self, world: &Arc<World>, request: Request) -> Option<TransactionId> {
        let node = self.clone();
        let world = Arc::clone(world);
        // A panic of the store's adapter ends only this inquiry.
        let asked = actix::spawn(async move {
            if node.keys.is_locked_out(&world) {
                node.fuse.blow("it was not given the secret key");
            }
            node.while_alive(node.keys.id_of(&world, request)).await.ok().flatten()
        });
        asked.await.ok().flatten()
    }

    /// Sends an operator's request to it and returns the answer.
    pub(crate) async fn ask<T, F>(&self, request: impl FnOnce(Operators) -> F) -> Result<T, Untold>
    where
        F: Future<Output = T>,
    {
        self.while_alive(request(self.operators.clone())).await
    }

    /// Performs the due comparisons of a bank's nights, while this node lives. Returns true if nothing is left to do.
    pub(crate) async fn pass_night(&self, bank: &AcquirerName) -> Result<bool, Untold> {
        // Nothing is compared for an acquirer that is no longer configured.
        let Some(list) = self.list(bank) else { return Ok(true) };
        let pass = async { self.nights.lock().await.pass(&list).await };
        tokio::select! {
            biased;
            () = self.fuse.death() => Err(Untold),
            is_done = pass => Ok(is_done),
        }
    }

    /// Returns the list of a bank, if it is configured.
    fn list(&self, bank: &AcquirerName) -> Option<List> {
        let factory = self.acquirers.iter().find(|factory| factory.spec().name == *bank)?;
        let mode = factory.spec().mode;
        Some(List { acquirer: bank.clone(), reader: factory.lists().unwrap(), rate: None, mode })
    }

    /// Compares a bank's list of a day with the payments, while this node lives. Returns true if every possible inquiry
    /// was made.
    pub(crate) async fn compare(
        &self,
        bank: &AcquirerName,
        day: NaiveDate,
    ) -> Result<Result<bool, NotReconciled>, Untold> {
        let Some(list) = self.list(bank) else { return Err(Untold) };
        let askable = self.acquirers.iter().map(|factory| factory.spec().name.clone());
        let reconciler =
            Reconciler::new(Arc::clone(&self.store), Arc::clone(&self.clock), askable).of_mode(list.mode);
        let mut is_final = true;
        let mut tell = |stored: &StoredLine| {
            is_final &= stored.judged.as_ref().is_some_and(|judged| judged.is_final);
            Ok(())
        };
        let compared = reconciler.reconcile_list(&list, day, day, &mut tell);
        let compared = tokio::select! {
            biased;
            () = self.fuse.death() => return Err(Untold),
            compared = compared => compared,
        };
        Ok(compared.map(|_| is_final))
    }

    /// Runs the code of a link's page here, while the client waits. A panic of the store's adapter ends only this
    /// request.
    pub(crate) async fn serve<T: 'static>(
        &self,
        request: impl Future<Output = T> + 'static,
    ) -> Result<T, Untold> {
        let node = self.clone();
        let served = actix::spawn(async move { node.while_alive(request).await }).await;
        served.unwrap_or(Err(Untold))
    }

    async fn while_alive<T>(&self, request: impl Future<Output = T>) -> Result<T, Untold> {
        let Some(_accepted) = self.fuse.accept() else { return Err(Untold) };
        tokio::select! {
            biased;
            () = self.fuse.death() => {
                self.fuse.check_dropped();
                Err(Untold)
            }
            answer = timeout(PATIENCE, request) => answer.map_err(|_| Untold),
        }
    }
}

/// Returns limits with small pools, so that they are sometimes full, and with ticks that a simulated day can bear.
fn limits() -> Limits {
    Limits {
        webhooks: WebhookLimits {
            places: 4,
            places_per_receiver: 2,
            waiting_per_receiver: 8,
            waiting_per_merchant: 16,
            idle_workers: 2,
            page: 8,
            interval: Duration::from_secs(2),
            review: Duration::from_secs(60),
            ..WebhookLimits::default()
        },
        timer_interval: Duration::from_secs(2),
        supervision_interval: Duration::from_secs(3),
        directives_interval: Duration::from_secs(3),
        node_interval: Duration::from_secs(15),
        sample_interval: Duration::from_secs(3_600),
        ..Limits::default()
    }
}

/// Runs a node's actors, and drops them some time after its death. Nobody can see them then, but their timers would
/// make up most of the world's work.
fn forget_after_death(fuse: &Arc<Fuse>, tasks: LocalSet) {
    let tasks = actix::spawn(tasks);
    let fuse = Arc::clone(fuse);
    drop(actix::spawn(async move {
        fuse.death().await;
        sleep(FORGOTTEN_AFTER).await;
        tasks.abort();
    }));
}

/// Fuse between a node and the outside; once it has blown, nothing passes any more.
pub(crate) struct Fuse {
    world: Arc<World>,
    place: usize,
    gates: AtomicU64,
    /// Calls that wait for their counterparty, or for their turn.
    calls: AtomicU64,
    blows_at: u64,
    broken_at_ms: AtomicU64,
    is_dead: AtomicBool,
    /// Wakes tasks in the order of waiting, so that a seed is reproducible.
    death: Notify,
    /// Requests that were accepted but not answered yet.
    requests: AtomicU64,
    /// Time at which the node was told to stop.
    told_to_stop: Mutex<Option<Instant>>,
    /// True if it ended because it was told to.
    has_stopped: AtomicBool,
    /// Times at which receivers confirmed events to this node.
    confirmed: Mutex<BTreeMap<(TransactionId, EventSequence), u64>>,
}

impl Fuse {
    /// Creates a fuse that blows at the gate with this number.
    pub(crate) fn new(world: &Arc<World>, place: usize, blows_at: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            world: Arc::clone(world),
            place,
            gates: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            blows_at: blows_at.unwrap_or(u64::MAX),
            broken_at_ms: AtomicU64::new(u64::MAX),
            is_dead: AtomicBool::new(false),
            death: Notify::new(),
            requests: AtomicU64::new(0),
            told_to_stop: Mutex::default(),
            has_stopped: AtomicBool::new(false),
            confirmed: Mutex::default(),
        })
    }

    /// Returns the place of this node.
    pub(crate) const fn place(&self) -> usize {
        self.place
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Returns the number of gates passed so far.
    pub(crate) fn gates(&self) -> u64 {
        self.gates.load(Ordering::Relaxed)
    }

    /// Lets a call pass that changes nothing outside, unless the process is dead. Dying before such a call is the same
    /// as dying at the gate before it.
    pub(crate) async fn pass(&self) {
        if self.is_dead() {
            pending::<()>().await;
        }
    }

    /// Counts a call that does not take hours as under way until this is dropped.
    pub(crate) fn call(self: &Arc<Self>) -> CallUnderWay {
        self.calls.fetch_add(1, Ordering::Relaxed);
        CallUnderWay(Arc::clone(self))
    }

    pub(crate) fn has_calls_under_way(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0
    }

    /// Passes a gate, one before and one after every call that changes something outside.
    pub(crate) async fn gate(&self, what: &'static str) {
        if !self.is_dead() && self.gates.fetch_add(1, Ordering::Relaxed) + 1 == self.blows_at {
            self.blow(what);
        }
        self.pass().await;
    }

    /// Kills the process.
    pub(crate) fn blow(&self, why: &str) {
        self.world.disturb();
        self.world.note(|| format!("node {} dies: {why}", self.place));
        self.is_dead.store(true, Ordering::Relaxed);
        self.death.notify_waiters();
    }

    /// Accepts a request, unless the node was told to stop. The request counts until this is dropped.
    fn accept(self: &Arc<Self>) -> Option<Accepted> {
        if self.is_stopping() {
            return None;
        }
        self.requests.fetch_add(1, Ordering::Relaxed);
        Some(Accepted(Arc::clone(self)))
    }

    fn is_stopping(&self) -> bool {
        self.told_to_stop.lock().unwrap().is_some()
    }

    /// Begins to stop. Returns true if it was not told before.
    fn begin_stopping(&self) -> bool {
        let mut told_at = self.told_to_stop.lock().unwrap();
        let is_first = told_at.is_none();
        told_at.get_or_insert_with(Instant::now);
        is_first
    }

    /// Waits for accepted requests, with a time limit.
    async fn finish_requests(&self) {
        let until = Instant::now() + SHUTDOWN_TIME;
        while self.requests.load(Ordering::Relaxed) > 0 && Instant::now() < until {
            sleep(Duration::from_millis(10)).await;
        }
    }

    fn blow_by_stopping(&self) {
        self.has_stopped.store(true, Ordering::Relaxed);
        self.blow("it was told to stop");
    }

    /// Checks that a node that was told to stop left no request unanswered that it could answer in time.
    fn check_dropped(&self) {
        let told_at = *self.told_to_stop.lock().unwrap();
        let is_early = told_at.is_some_and(|at| at.elapsed() < SHUTDOWN_TIME);
        if is_early && self.has_stopped.load(Ordering::Relaxed) {
            self.world.violation(format!("node {} dropped a request when it was told to stop", self.place));
        }
    }

    /// Records that a receiver confirmed an event, and that its answer arrived here.
    pub(crate) fn note_confirmed(&self, id: TransactionId, sequence: EventSequence) {
        self.confirmed.lock().unwrap().insert((id, sequence), self.world.clock.elapsed_ms());
    }

    fn confirmed(&self) -> BTreeMap<(TransactionId, EventSequence), u64> {
        self.confirmed.lock().unwrap().clone()
    }

    /// Returns when the process is dead.
    pub(crate) async fn death(&self) {
        let notified = self.death.notified();
        if !self.is_dead() {
            notified.await;
        }
    }

    /// Records that the node was told that its store is broken.
    pub(crate) fn note_broken(&self) {
        let now_ms = self.world.clock.elapsed_ms();
        self.broken_at_ms.fetch_min(now_ms, Ordering::Relaxed);
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken_at_ms.load(Ordering::Relaxed) != u64::MAX
    }

    /// Checks that it does not write after that. (A write that began at the same moment may still be under way.)
    pub(crate) fn check_not_broken(&self) {
        if self.world.clock.elapsed_ms() > self.broken_at_ms.load(Ordering::Relaxed) {
            self.world.violation(format!("node {} writes although an fsync failed", self.place));
        }
    }
}

/// A call that its node has not given up, and that has no answer yet.
#[must_use]
pub(crate) struct CallUnderWay(Arc<Fuse>);

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that was accepted, but not answered yet.
#[must_use]
struct Accepted(Arc<Fuse>);

impl Drop for Accepted {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A node's clock, ids and dice.
struct NodeChance {
    world: Arc<World>,
    place: usize,
}

impl Clock for NodeChance {
    fn now(&self) -> Timestamp {
        self.world.skews[self.place].of(self.world.clock.now())
    }
}

impl Ids for NodeChance {
    fn fresh(&self) -> Uuid {
        self.world.fresh_id()
    }
}

impl Dice for NodeChance {
    fn roll(&self) -> u64 {
        self.world.chance.any()
    }
}
