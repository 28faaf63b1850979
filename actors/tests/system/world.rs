//! A whole service in one thread of paused time: it lives, crashes, and lives again on the same store.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus::Registry;
use quita_actors::{
    ActorSystem, CreatePayment, Created, Denied, Limits, NodeIdentity, NoticeDenied, Operators, Payments,
    Placement, Ports,
};
use quita_domain::acquiring::{Fact, Notice};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::Payment;
use quita_memory_store::TestVault;
use quita_ports::trace::Tracer;
use quita_ports::{AcquirerFactory, Clock, RawNotice};
use tokio::time::sleep;

use crate::bank::{Bank, BankFactory};
use crate::chance::{LoadedDice, TestClock, TestIds};
use crate::invariants;
use crate::logs::Logs;
use crate::receivers::{Receivers, SenderFactory};
use crate::spans::Recorder;
use crate::store::TestStore;
use crate::trace::{Mark, Trace};

/// Everything outside of the actors, which outlives them.
pub(crate) struct World {
    pub(crate) store: Arc<TestStore>,
    /// The acquirer that is tried first.
    pub(crate) bank: Arc<Bank>,
    /// The acquirer that is tried when the first can't be reached; only some worlds have one.
    pub(crate) second: Option<Arc<Bank>>,
    pub(crate) receivers: Arc<Receivers>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) ids: Arc<TestIds>,
    pub(crate) trace: Trace,
    recorder: OnceLock<Arc<Recorder>>,
    pub(crate) logs: Logs,
    pub(crate) limits: Limits,
}

impl World {
    /// One bank that has to be called over the network.
    pub(crate) fn new() -> Self {
        Self::of(false, false)
    }

    /// One bank that issues locally.
    pub(crate) fn with_local_bank() -> Self {
        Self::of(true, false)
    }

    /// A store whose only writer is this process.
    pub(crate) fn with_sole_writer() -> Self {
        Self::of(false, true)
    }

    fn of(is_local: bool, is_sole_writer: bool) -> Self {
        let clock = Arc::new(TestClock::default());
        let trace = Trace::default();
        Self {
            store: Arc::new(TestStore::new(Arc::clone(&clock), trace.clone(), is_sole_writer)),
            bank: Arc::new(Bank::new("first", 1, is_local, Arc::clone(&clock), trace.clone())),
            second: None,
            receivers: Arc::new(Receivers::new(Arc::clone(&clock))),
            clock,
            ids: Arc::default(),
            trace,
            recorder: OnceLock::new(),
            logs: Logs::default(),
            // Some worlds last for days.
            limits: Limits { sample_interval: Duration::from_secs(3_600), ..Limits::default() },
        }
    }

    /// With a second bank.
    pub(crate) fn and_second_bank(mut self) -> Self {
        self.second =
            Some(Arc::new(Bank::new("second", 2, false, Arc::clone(&self.clock), self.trace.clone())));
        self
    }

    /// With a first bank that takes this many calls at once.
    pub(crate) fn with_bank_concurrency(mut self, concurrency: usize) -> Self {
        Arc::get_mut(&mut self.bank).unwrap().limit_calls(concurrency);
        self
    }

    /// With a first bank that may take so long for an answer.
    pub(crate) fn with_bank_time_out(mut self, time_out_ms: u64) -> Self {
        Arc::get_mut(&mut self.bank).unwrap().answers_within_ms(time_out_ms);
        self
    }

    /// With a first bank that allows this many calls a second.
    pub(crate) fn with_bank_rate(mut self, per_second: u32) -> Self {
        Arc::get_mut(&mut self.bank).unwrap().limit_rate(per_second);
        self
    }

    /// With a first bank that knows operations by its sums alone.
    pub(crate) fn with_bank_that_operates_in_turn(mut self) -> Self {
        Arc::get_mut(&mut self.bank).unwrap().operate_in_turn();
        self
    }

    /// With a first bank that gives nothing back.
    pub(crate) fn with_bank_that_keeps_money(mut self) -> Self {
        Arc::get_mut(&mut self.bank).unwrap().keep_money();
        self
    }

    /// With a first bank that leaves these numbers of slips to us.
    pub(crate) fn with_bank_numbers(mut self, first: u32, last: u32) -> Self {
        Arc::get_mut(&mut self.bank).unwrap().leave_numbers(first, last);
        self
    }

    pub(crate) fn with_bank_numbers_and_digits(self, first: u32, last: u32) -> Self {
        let mut world = self.with_bank_numbers(first, last);
        Arc::get_mut(&mut world.bank).unwrap().want_digits();
        world
    }

    /// Has the traces of the nodes that start from now on recorded.
    pub(crate) fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(self.recorder.get_or_init(|| Arc::new(Recorder::new(Arc::clone(&self.clock)))))
    }

    /// With these limits.
    pub(crate) fn with_limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// In which hours go by: what looks often, and finds nothing, would take the test's time.
    pub(crate) fn for_hours(self) -> Self {
        self.with_limits(|limits| {
            limits.supervision_interval = Duration::from_secs(60);
            limits.idle_after = Duration::from_secs(30);
            limits.timer_interval = Duration::from_secs(2);
            limits.backlog_interval = Duration::from_secs(60);
            limits.directives_interval = Duration::from_secs(60);
            limits.node_interval = Duration::from_secs(30);
            limits.webhooks.interval = limits.timer_interval;
        })
    }

    /// Lives one life of the process, in paused time. At its end everything in memory is gone, as after a crash.
    pub(crate) fn live<T>(&self, life: impl Future<Output = T>) -> T {
        let runner = actix::System::with_tokio_rt(|| {
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
        });
        tracing::subscriber::with_default(self.logs.clone(), || {
            let result = runner.block_on(async {
                self.clock.begin();
                let result = life.await;
                self.clock.end();
                result
            });
            drop(runner);
            result
        })
    }

    /// Returns the ports through which a node reaches this world.
    pub(crate) fn ports(&self) -> Ports {
        let banks = std::iter::once(&self.bank).chain(&self.second);
        let factory =
            |bank: &Arc<Bank>| -> Arc<dyn AcquirerFactory> { Arc::new(BankFactory(Arc::clone(bank))) };
        Ports {
            store: self.store.open(),
            vault: Arc::new(TestVault::with(&[b"key"])),
            acquirers: banks.map(factory).collect(),
            webhooks: Arc::new(SenderFactory(Arc::clone(&self.receivers))),
            clock: Arc::<TestClock>::clone(&self.clock),
            ids: Arc::<TestIds>::clone(&self.ids),
            dice: Arc::new(LoadedDice),
            tracer: self.recorder.get().cloned().map(|recorder| -> Arc<dyn Tracer> { recorder }),
        }
    }

    /// Starts a node. There may be more than one.
    pub(crate) fn node(&self) -> Node<'_> {
        self.node_with(self.ports())
    }

    /// Starts a node at an address of its own.
    pub(crate) fn node_at(&self, address: &str) -> Node<'_> {
        self.node_as(NodeIdentity { address: address.into(), ..identity() }, self.ports())
    }

    /// Starts a node that knows no acquirer.
    pub(crate) fn node_without_acquirers(&self) -> Node<'_> {
        self.node_with(Ports { acquirers: Vec::new(), ..self.ports() })
    }

    fn node_with(&self, ports: Ports) -> Node<'_> {
        self.node_as(identity(), ports)
    }

    fn node_as(&self, identity: NodeIdentity, ports: Ports) -> Node<'_> {
        let registry = Registry::new();
        let limits = self.limits.clone();
        let system = ActorSystem::start(ports, limits, Placement::Here, identity, &registry).unwrap();
        let payments = system.payments();
        let operators = system.operators();
        let system = Rc::new(RefCell::new(Some(system)));
        let watched = Rc::clone(&system);
        let watch_every = self.limits.supervision_interval.max(Duration::from_secs(1));
        let watch = actix::spawn(async move {
            loop {
                sleep(watch_every).await;
                watched.borrow().iter().for_each(ActorSystem::watch);
            }
        });
        drop(watch);
        Node { world: self, system, payments, operators, registry }
    }
}

/// Returns the identity by which every node is known to the others.
pub(crate) fn identity() -> NodeIdentity {
    let [public_url, address, version] = ["https://pay.example", "127.0.0.1:8080", "1.2.3"].map(String::from);
    NodeIdentity { public_url, address, version }
}

/// One running service.
pub(crate) struct Node<'a> {
    world: &'a World,
    /// Until it is stopped.
    system: Rc<RefCell<Option<ActorSystem>>>,
    pub(crate) payments: Payments,
    pub(crate) operators: Operators,
    registry: Registry,
}

impl Node<'_> {
    /// Creates a payment, and notes when the caller has its answer.
    pub(crate) async fn create(&self, new: CreatePayment) -> Result<Created, Denied> {
        let id = new.id;
        let result = self.payments.create(new).await;
        self.world.trace.note(Mark::Replied(id));
        result
    }

    /// Creates a payment that must succeed.
    pub(crate) async fn created(&self, new: CreatePayment) -> Arc<Payment> {
        self.create(new).await.unwrap().payment
    }

    /// Begins to create a payment while the test goes on.
    pub(crate) fn begin(&self, new: CreatePayment) -> tokio::task::JoinHandle<Result<Created, Denied>> {
        let payments = self.payments.clone();
        actix::spawn(async move { payments.create(new).await })
    }

    /// A notice of the first bank.
    pub(crate) fn notice(&self, event: &str, id: TransactionId, fact: Fact) -> Notice {
        Notice {
            id: format!("first:{event}"),
            acquirer: AcquirerName::new("first"),
            transaction_id: id,
            fact,
            received_at: self.world.clock.now(),
        }
    }

    /// The first bank sends this over HTTP, by the book.
    pub(crate) async fn hear(&self, body: &str) -> Result<(), NoticeDenied> {
        let headers = [("x-bank", "first")];
        let notice = RawNotice { path_tail: "", headers: &headers, body: body.as_bytes() };
        self.payments.take_notice("first", &notice).await
    }

    /// Stops it, as SIGTERM does.
    pub(crate) async fn stop(&self) {
        let system = self.system.take();
        system.unwrap().stop().await;
    }

    /// The payment as it is stored.
    pub(crate) fn stored(&self, id: TransactionId) -> Payment {
        self.world.store.payment(id).unwrap()
    }

    /// A number of the service's metrics, of one kind of actor.
    pub(crate) fn metric(&self, name: &str, actor: &str) -> i64 {
        self.number(name, &[("actor", actor)])
    }

    /// A number of the service's metrics: the first with these labels.
    pub(crate) fn number(&self, name: &str, labels: &[(&str, &str)]) -> i64 {
        self.number_if_any(name, labels).unwrap()
    }

    /// Returns the number of notices of the first bank over HTTP that had this outcome.
    pub(crate) fn noticed(&self, outcome: &str) -> i64 {
        let labels = [("acquirer", "first"), ("outcome", outcome)];
        self.number_if_any("quita_notices_total", &labels).unwrap_or(0)
    }

    fn number_if_any(&self, name: &str, labels: &[(&str, &str)]) -> Option<i64> {
        let families = self.registry.gather();
        let family = families.iter().find(|family| family.name() == name)?;
        let has = |metric: &prometheus::proto::Metric, (name, value): &(&str, &str)| {
            metric.get_label().iter().any(|label| label.name() == *name && label.value() == *value)
        };
        let is_meant = |metric: &&prometheus::proto::Metric| labels.iter().all(|label| has(metric, label));
        let metric = family.get_metric().iter().find(is_meant)?;
        let gauge = metric.get_gauge().get_value();
        let counter = metric.get_counter().get_value();
        let value = if gauge == 0.0 { counter } else { gauge };
        format!("{value:.0}").parse().ok()
    }

    /// Returns how often actors of this kind died and were recreated.
    pub(crate) fn restarts(&self, actor: &str) -> i64 {
        self.metric("quita_actor_restarts_total", actor)
    }

    /// Returns the number of live actors of this kind.
    pub(crate) fn live(&self, actor: &str) -> i64 {
        self.metric("quita_actor_live", actor)
    }

    /// Lets time go by until nothing is left to do, then checks what must always be true.
    pub(crate) async fn settle(&self) {
        let mut wait = Duration::from_millis(250);
        for _ in 0..2_000 {
            sleep(wait).await;
            if invariants::is_quiet(&self.world.store) {
                break;
            }
            wait = wait.saturating_mul(2).min(Duration::from_secs(60));
        }
        sleep(Duration::from_secs(1)).await;
        assert!(invariants::is_quiet(&self.world.store), "{}", invariants::unrest(&self.world.store));
        invariants::check(self.world);
        for actor in ["front", "transaction", "journal", "reader", "inbox", "acquirer", "webhook_pool"] {
            assert_eq!(self.metric("quita_actor_mailbox_depth", actor), 0, "messages left for {actor}");
        }
    }
}

/// Lets time go by.
pub(crate) async fn pass_ms(ms: u64) {
    sleep(Duration::from_millis(ms)).await;
}
