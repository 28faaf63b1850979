//! One node: the real actor system over simulated ports, behind a fuse.
//!
//! A dead node is one whose every call to the outside never returns: nothing that it still does in memory can be
//! seen by anybody. So it dies at any await, and what was under way to the store or a bank arrives or not.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use chrono::NaiveDate;
use prometheus::Registry;
use quita_actors::{
    ActorSystem, Limits, List, NodeIdentity, NotReconciled, Operators, Payments, Placement, Ports,
    Reconciler, WebhookLimits,
};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::reconciliation::StoredLine;
use quita_domain::time::Timestamp;
use quita_ports::{AcquirerFactory, Clock, Dice, Ids, WholeStore};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use crate::orders::Request;
use crate::planted;
use crate::receivers::NodeSenders;
use crate::secret_keys::NodeKeys;
use crate::store::NodeStore;
use crate::world::World;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

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
    pub(crate) keys: Arc<NodeKeys>,
}

/// The client hung up, waited too long, or the node died: it was not told what became of its request.
#[derive(Debug)]
pub(crate) struct Untold;

impl Node {
    /// Starts a node at this place; it dies at the gate with this number, if it gets that far.
    pub(crate) fn start(world: &Arc<World>, place: usize, dies_at_gate: Option<u64>) -> Self {
        let fuse = Arc::new(Fuse {
            world: Arc::clone(world),
            place,
            gates: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            blows_at: dies_at_gate.unwrap_or(u64::MAX),
            broken_at_ms: AtomicU64::new(u64::MAX),
            is_dead: AtomicBool::new(false),
            death: Notify::new(),
        });
        let [public_url, address, version] = ["https://pay.example", "node", "0"].map(String::from);
        let identity = NodeIdentity { public_url, address, version };
        let node = Arc::new(NodeChance { world: Arc::clone(world), place });
        let clock: Arc<dyn Clock> = Arc::<NodeChance>::clone(&node);
        let store = NodeStore::open(world, &fuse);
        let keys = Arc::new(NodeKeys::of(world, Arc::clone(&store)));
        let acquirers: Vec<_> =
            world.banks.iter().map(|bank| bank.factory(world, &fuse, Arc::clone(&clock))).collect();
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
        let system = ActorSystem::start(ports, limits(), Placement::Here, identity, &Registry::new());
        let system = system.unwrap();
        let (payments, operators) = (system.payments(), system.operators());
        operators.route_by(planted::table(world));
        let watched = Arc::clone(&fuse);
        drop(actix::spawn(async move {
            while !watched.is_dead() {
                sleep(Duration::from_secs(3)).await;
                system.watch();
            }
        }));
        world.note(|| format!("node {place} starts"));
        Self { place, fuse, payments, operators, store, clock, acquirers, keys }
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.fuse.is_dead()
    }

    /// What a client asks of it, as long as both live and wait.
    pub(crate) async fn call<T, F>(&self, request: impl FnOnce(Payments) -> F) -> Result<T, Untold>
    where
        F: Future<Output = T>,
    {
        self.while_alive(request(self.payments.clone())).await
    }

    /// The id under which it knows a request; `None` if it can't tell now. A node that was not given the key of the store
    /// ends, as a process does at its start.
    pub(crate) async fn id_of(&self, world: &Arc<World>, request: Request) -> Option<TransactionId> {
        let (node, world) = (self.clone(), Arc::clone(world));
        // A panic of the store's adapter ends this question and nothing else.
        let asked = actix::spawn(async move {
            if node.keys.is_locked_out(&world) {
                node.fuse.blow("it was not given the secret key");
            }
            node.while_alive(node.keys.id_of(&world, request)).await.ok().flatten()
        });
        asked.await.ok().flatten()
    }

    /// What an operator asks of it.
    pub(crate) async fn ask<T, F>(&self, request: impl FnOnce(Operators) -> F) -> Result<T, Untold>
    where
        F: Future<Output = T>,
    {
        self.while_alive(request(self.operators.clone())).await
    }

    /// Compares what a bank lists of a day with the payments, for as long as this node lives. Says whether everybody was
    /// asked who could be.
    pub(crate) async fn compare(
        &self,
        bank: &AcquirerName,
        day: NaiveDate,
    ) -> Result<Result<bool, NotReconciled>, Untold> {
        let find = |factory: &&Arc<dyn AcquirerFactory>| factory.spec().name == *bank;
        let factory = self.acquirers.iter().find(find).unwrap();
        let list = List { acquirer: bank.clone(), reader: factory.lists().unwrap(), rate: None };
        let askable = self.acquirers.iter().map(|factory| factory.spec().name.clone());
        let reconciler = Reconciler::new(Arc::clone(&self.store), Arc::clone(&self.clock), askable);
        let reconciler = reconciler.of_mode(factory.spec().mode);
        let mut is_final = true;
        let mut tell = |stored: &StoredLine| {
            is_final &= stored.judged.as_ref().is_some_and(|judged| judged.is_final);
            Ok(())
        };
        let compared = reconciler.reconcile_list(&list, (day, day), &mut tell);
        let compared = tokio::select! {
            biased;
            () = self.fuse.death() => return Err(Untold),
            compared = compared => compared,
        };
        Ok(compared.map(|()| is_final))
    }

    async fn while_alive<T>(&self, request: impl Future<Output = T>) -> Result<T, Untold> {
        tokio::select! {
            biased;
            () = self.fuse.death() => Err(Untold),
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
}

impl Fuse {
    /// Which node this is.
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

    /// What changes nothing outside: whether the process dies before it or at the gate before makes no difference.
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
