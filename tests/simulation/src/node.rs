//! One node: the real actor system over simulated ports, behind a fuse.
//!
//! A dead node is one whose every call to the outside never returns: nothing that it still does in memory can be
//! seen by anybody. So it dies at any await, and what was under way to the store or a bank arrives or not.

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

/// Longest time for what was accepted to finish once the node is told to stop: the default of `shutdown-time`.
const SHUTDOWN_TIME: Duration = Duration::from_secs(10);

/// Least time before a node stops its actors at which a receiver must have confirmed an event that has to be stored
/// then, in milliseconds: the answer passes from the worker to the payment.
const CONFIRMED_BEFORE_MS: u64 = 5;
/// Time from a node's death until its actors are dropped: what they had under way to the outside has arrived by then,
/// however late it is.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(300);
/// Time for which a write that the store lost keeps the next one of its payment waiting, in milliseconds.
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
    /// One comparison at a time, as in a process.
    nights: Arc<tokio::sync::Mutex<Nights>>,
    pub(crate) keys: Arc<NodeKeys>,
    configuration: Arc<Mutex<Configuration>>,
    /// Taken away when the actors are told to stop.
    system: Arc<Mutex<Option<ActorSystem>>>,
}

/// The client hung up, waited too long, or the node died: it was not told what became of its request.
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

    /// Says whether it lives and was not told to stop.
    pub(crate) fn takes_requests(&self) -> bool {
        self.is_alive() && !self.fuse.is_stopping()
    }

    /// Configuration that it was told last.
    pub(crate) fn configuration(&self) -> Configuration {
        self.configuration.lock().unwrap().clone()
    }

    /// Says whether this acquirer is configured here.
    pub(crate) fn has(&self, bank: &AcquirerName) -> bool {
        self.acquirers.iter().any(|factory| factory.spec().name == *bank)
    }

    /// Its store, clock and payments, for what runs beside its actors.
    pub(crate) fn parts(&self) -> (Arc<dyn WholeStore>, Arc<dyn Clock>, Payments) {
        (Arc::clone(&self.store), Arc::clone(&self.clock), self.payments.clone())
    }

    /// Reads the configuration again, which may change the routes alone while it runs.
    pub(crate) fn reload(&self, world: &World) {
        let present = world.installation.configurations.present();
        world.note(|| format!("node {} takes routes {}", self.place, present.version));
        if world.mistake != Some(Mistake::IgnoreReload) {
            self.operators.route_by(planted::table(world.mistake, &present.routes, &world.bank_names()));
        }
        self.configuration.lock().unwrap().clone_from(&present);
    }

    /// Stops as a process does: it accepts nothing more, finishes what it accepted, and stops its actors.
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

    /// Whatever receivers confirmed to this node before it stopped its actors is stored, if nothing was wrong since.
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

    /// Puts a client's request to it and returns the answer, as long as both live and wait.
    pub(crate) async fn call<T, F>(&self, request: impl FnOnce(Payments) -> F) -> Result<T, Untold>
    where
        F: Future<Output = T>,
    {
        self.while_alive(request(self.payments.clone())).await
    }

    /// The id under which it knows a request; `None` if it can't tell now. A node that was not given the key of the store
    /// ends, as a process does at its start.
    pub(crate) async fn id_of(&self, world: &Arc<World>, request: Request) -> Option<TransactionId> {
        let node = self.clone();
        let world = Arc::clone(world);
        // A panic of the store's adapter ends this question and nothing else.
        let asked = actix::spawn(async move {
            if node.keys.is_locked_out(&world) {
                node.fuse.blow("it was not given the secret key");
            }
            node.while_alive(node.keys.id_of(&world, request)).await.ok().flatten()
        });
        asked.await.ok().flatten()
    }

    /// Puts an operator's request to it and returns the answer.
    pub(crate) async fn ask<T, F>(&self, request: impl FnOnce(Operators) -> F) -> Result<T, Untold>
    where
        F: Future<Output = T>,
    {
        self.while_alive(request(self.operators.clone())).await
    }

    /// Does what is due of a bank's nights, for as long as this node lives. Says whether nothing is left to do.
    pub(crate) async fn pass_night(&self, bank: &AcquirerName) -> Result<bool, Untold> {
        // Of an acquirer that is configured no more nothing is compared.
        let Some(list) = self.list(bank) else { return Ok(true) };
        let pass = async { self.nights.lock().await.pass(&list).await };
        tokio::select! {
            biased;
            () = self.fuse.death() => Err(Untold),
            is_done = pass => Ok(is_done),
        }
    }

    /// The list of a bank, if it is configured.
    fn list(&self, bank: &AcquirerName) -> Option<List> {
        let factory = self.acquirers.iter().find(|factory| factory.spec().name == *bank)?;
        let mode = factory.spec().mode;
        Some(List { acquirer: bank.clone(), reader: factory.lists().unwrap(), rate: None, mode })
    }

    /// Compares what a bank lists of a day with the payments, for as long as this node lives. Says whether everybody was
    /// asked who could be.
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

    /// Runs what the page of a link does here, as long as the client waits. A panic of the store's adapter ends this request
    /// and nothing else.
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

/// Small pools, so that they are full now and then; and ticks that are no shorter than a simulated day can bear.
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

/// Runs a node's actors, and drops them some time after its death. Nobody can see what they do then, but their timers
/// would go on for as long as the world does: most of its work.
fn forget_after_death(fuse: &Arc<Fuse>, tasks: LocalSet) {
    let tasks = actix::spawn(tasks);
    let fuse = Arc::clone(fuse);
    drop(actix::spawn(async move {
        fuse.death().await;
        sleep(FORGOTTEN_AFTER).await;
        tasks.abort();
    }));
}

/// Between a node and the outside; when it has blown, nothing passes any more.
pub(crate) struct Fuse {
    world: Arc<World>,
    place: usize,
    gates: AtomicU64,
    /// Calls that wait for their counterparty, or for their turn there.
    calls: AtomicU64,
    blows_at: u64,
    broken_at_ms: AtomicU64,
    is_dead: AtomicBool,
    /// Wakes in the order of waiting, so that the same seed does the same things.
    death: Notify,
    /// Requests that were accepted and are not answered.
    requests: AtomicU64,
    /// Moment at which the node was told to stop.
    told_to_stop: Mutex<Option<Instant>>,
    /// Says whether it ended because it was told to.
    has_stopped: AtomicBool,
    /// Moments at which receivers confirmed events to this node.
    confirmed: Mutex<BTreeMap<(TransactionId, EventSequence), u64>>,
}

impl Fuse {
    /// One that blows at the gate with this number.
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

    /// Gates passed until now.
    pub(crate) fn gates(&self) -> u64 {
        self.gates.load(Ordering::Relaxed)
    }

    /// Lets a call pass that changes nothing outside, unless the process is dead. It makes no difference whether the
    /// process dies before such a call or at the gate before it.
    pub(crate) async fn pass(&self) {
        if self.is_dead() {
            pending::<()>().await;
        }
    }

    /// A call that ends before hours go by is under way until this is dropped.
    pub(crate) fn call(self: &Arc<Self>) -> CallUnderWay {
        self.calls.fetch_add(1, Ordering::Relaxed);
        CallUnderWay(Arc::clone(self))
    }

    pub(crate) fn has_calls_under_way(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > 0
    }

    /// Every call that changes something outside passes one before and one after.
    pub(crate) async fn gate(&self, what: &'static str) {
        if !self.is_dead() && self.gates.fetch_add(1, Ordering::Relaxed) + 1 == self.blows_at {
            self.blow(what);
        }
        self.pass().await;
    }

    /// The process dies.
    pub(crate) fn blow(&self, why: &str) {
        self.world.disturb();
        self.world.note(|| format!("node {} dies: {why}", self.place));
        self.is_dead.store(true, Ordering::Relaxed);
        self.death.notify_waiters();
    }

    /// Takes in a request, unless the node was told to stop: it counts until this is dropped.
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

    /// Says whether it was not told before.
    fn begin_stopping(&self) -> bool {
        let mut told_at = self.told_to_stop.lock().unwrap();
        let is_first = told_at.is_none();
        told_at.get_or_insert_with(Instant::now);
        is_first
    }

    /// Waits for what was accepted, but not for ever.
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

    /// A node that was told to stop leaves no request unanswered that it could answer in time.
    fn check_dropped(&self) {
        let told_at = *self.told_to_stop.lock().unwrap();
        let is_early = told_at.is_some_and(|at| at.elapsed() < SHUTDOWN_TIME);
        if is_early && self.has_stopped.load(Ordering::Relaxed) {
            self.world.violation(format!("node {} dropped a request when it was told to stop", self.place));
        }
    }

    /// A receiver confirmed an event, and its answer came in here.
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

    /// The node was told that its store can't be trusted any more.
    pub(crate) fn note_broken(&self) {
        let now_ms = self.world.clock.elapsed_ms();
        self.broken_at_ms.fetch_min(now_ms, Ordering::Relaxed);
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken_at_ms.load(Ordering::Relaxed) != u64::MAX
    }

    /// After that it must not write. (What it had begun at the same moment may still be under way.)
    pub(crate) fn check_not_broken(&self) {
        if self.world.clock.elapsed_ms() > self.broken_at_ms.load(Ordering::Relaxed) {
            self.world.violation(format!("node {} writes although an fsync failed", self.place));
        }
    }
}

/// A call that its node has not given up, and that was not answered.
#[must_use]
pub(crate) struct CallUnderWay(Arc<Fuse>);

impl Drop for CallUnderWay {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that was accepted, and is not answered.
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
