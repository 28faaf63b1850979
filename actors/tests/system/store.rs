//! The store in memory, with switches for everything that a real one may do to us.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::payment::{Command, Context, Payment};
use quita_domain::time::Timestamp;
use quita_memory_store::{Connection, MemoryStore, Records, judge};
use quita_ports::{Clock, Store, StoreError, WholeStore, Write, WriteError};
use tokio::time::sleep;
use uuid::Uuid;

use crate::access::{owner, webhook_secret};
use crate::chance::TestClock;
use crate::trace::{Mark, Trace};

/// Declares the calls that tests break; no other call of the store needs a line here.
macro_rules! ops {
    ($($op:ident = $($call:literal)|+),* $(,)?) => {
        /// A call to the store.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum Op { $($op),* }

        impl Op {
            /// The call of this name in the ports.
            fn of(call: &str) -> Option<Self> {
                match call {
                    $($($call)|+ => Some(Self::$op),)*
                    _ => None,
                }
            }
        }
    };
}

ops! {
    Commit = "commit",
    Load = "load" | "ping",
    Due = "due",
    OutboxDue = "outbox_due",
    CardTries = "card_tries",
    PaymentOfPix = "payment_of_pix",
    PutNotices = "put_notices",
    DueNotices = "due_notices",
    FinishNotices = "finish_notices",
    PutException = "put_exception",
    TakeNumbers = "take_numbers",
    RouteControls = "route_controls",
    PutRouteControl = "put_route_control",
    PutNode = "put_node",
    Backlog = "backlog",
}

/// Fault of a call to the store.
#[allow(clippy::large_enum_variant, reason = "a handful of them in a test")]
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Nothing is done.
    Unavailable,
    /// It is done, but no reply comes.
    LostReply,
    /// It is not done, and no reply comes.
    LostRequest,
    /// Nothing is done, and nothing can be trusted any more.
    Broken,
    /// The same, late.
    BrokenLate(Duration),
    /// The adapter panics.
    Panic,
    /// A change is made late; the answer to a read is late, and old by then.
    Slow(Duration),
    /// Reads do not show yet what is stored.
    Unseen,
    /// Another writer executes this on the same payments first.
    Forestalled(Command),
}

/// Plan of faults, and what was seen of the calls.
#[derive(Default)]
struct Script {
    once: HashMap<Op, VecDeque<Fault>>,
    always: HashMap<Op, Fault>,
    is_away: bool,
    called: HashMap<Op, usize>,
    spoilt: BTreeSet<TransactionId>,
    batches: Vec<usize>,
    reads: Vec<usize>,
    violations: Vec<String>,
    others: u128,
}

impl Script {
    fn next(&mut self, call: &str) -> Option<Fault> {
        let away = self.is_away.then_some(Fault::Unavailable);
        let Some(op) = Op::of(call) else { return away };
        *self.called.entry(op).or_default() += 1;
        let planned = self.once.get_mut(&op).and_then(VecDeque::pop_front);
        planned.or_else(|| self.always.get(&op).cloned()).or(away)
    }
}

/// The records, and the connection of every node to them.
pub(crate) struct TestStore {
    records: Mutex<Records>,
    script: Mutex<Script>,
    clock: Arc<TestClock>,
    trace: Trace,
    is_sole_writer: bool,
}

/// Latency of a call when nothing is wrong.
const LATENCY: Duration = Duration::from_millis(2);

impl TestStore {
    pub(crate) fn new(clock: Arc<TestClock>, trace: Trace, is_sole_writer: bool) -> Self {
        let mut records = Records::default();
        records.add_application(&owner(), &webhook_secret());
        Self { records: Mutex::new(records), script: Mutex::default(), clock, trace, is_sole_writer }
    }

    /// The store as a node gets it.
    pub(crate) fn open(self: &Arc<Self>) -> Arc<dyn Store> {
        Arc::new(MemoryStore::over(Arc::clone(self)))
    }

    /// The store as a command beside the nodes gets it.
    pub(crate) fn open_whole(self: &Arc<Self>) -> Arc<dyn WholeStore> {
        Arc::new(MemoryStore::over(Arc::clone(self)))
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    /// The next call of this kind goes wrong; calls add up.
    pub(crate) fn once(&self, op: Op, fault: Fault) {
        self.script().once.entry(op).or_default().push_back(fault);
    }

    /// Every call of this kind goes wrong from now on.
    pub(crate) fn always(&self, op: Op, fault: Fault) {
        self.script().always.insert(op, fault);
    }

    /// Every call goes wrong from now on, whatever it is for.
    pub(crate) fn go_away(&self) {
        self.script().is_away = true;
    }

    /// Everything works again.
    pub(crate) fn heal(&self) {
        let mut script = self.script();
        script.is_away = false;
        script.always.clear();
        script.once.clear();
    }

    /// Returns how often the store was called for this.
    pub(crate) fn called(&self, op: Op) -> usize {
        self.script().called.get(&op).copied().unwrap_or_default()
    }

    /// From now on this payment is unreadable.
    pub(crate) fn spoil(&self, id: TransactionId) {
        self.script().spoilt.insert(id);
    }

    /// Executes a command as another node would.
    pub(crate) fn forestall(&self, id: TransactionId, command: Command) {
        let number = {
            let mut script = self.script();
            script.others += 1;
            script.others
        };
        let op = Uuid::from_u128(0xffff_0000 + number);
        let context = Context { dice: 20, ..Context::plain(self.clock.now(), op) };
        let mut records = self.records();
        let Some(known) = records.payments.get(&id) else { return };
        if let Some(next) = known.decide(command, &context).unwrap().next {
            records.payments.insert(id, Arc::new(next));
        }
    }

    /// Returns true if every fault that was planned for a single call has happened.
    pub(crate) fn has_no_plans(&self) -> bool {
        self.script().once.values().all(VecDeque::is_empty)
    }

    pub(crate) fn payment(&self, id: TransactionId) -> Option<Payment> {
        self.records().load(&[id]).pop()
    }

    pub(crate) fn payments(&self) -> Vec<Payment> {
        self.records().payments.values().map(|payment| payment.as_ref().clone()).collect()
    }

    /// Has the store tell this as the time of its server.
    pub(crate) fn tell_time(&self, server_now: Timestamp) {
        self.records().server_now = Some(server_now);
    }

    /// Returns the number of stored nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.records().nodes.len()
    }

    /// Sizes of the batches that were committed, in order.
    pub(crate) fn batches(&self) -> Vec<usize> {
        self.script().batches.clone()
    }

    /// Sizes of the lookups of payments, in order.
    pub(crate) fn reads(&self) -> Vec<usize> {
        self.script().reads.clone()
    }

    /// Every exception, in the order in which they were stored.
    pub(crate) fn exceptions(&self) -> Vec<Exception> {
        self.records().exceptions.clone()
    }

    pub(crate) fn kinds_of_exceptions(&self) -> Vec<String> {
        self.records().exceptions.iter().map(|exception| exception.kind.clone()).collect()
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.script().violations.clone()
    }

    /// Notices that are not worked yet.
    pub(crate) fn open_notices(&self) -> usize {
        self.records().notices.values().filter(|stored| !stored.is_done).count()
    }

    /// Returns how often notices were put off.
    pub(crate) fn put_off(&self) -> u32 {
        self.records().notices.values().map(|stored| stored.tried).sum()
    }

    async fn meet(&self, call: &str) -> Option<Fault> {
        let fault = self.script().next(call);
        sleep(LATENCY).await;
        match fault {
            Some(Fault::Panic) => panic!("the store's adapter panics at {call}"),
            Some(Fault::BrokenLate(wait)) => {
                sleep(wait).await;
                Some(Fault::Broken)
            }
            other => other,
        }
    }

    fn apply(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let mut records = self.records();
        let mut script = self.script();
        let apply = |write: &Write| {
            let next = &write.payment;
            let known = records.payments.get(&next.id).cloned();
            records.write(write)?;
            let wrong = judge::violations(known.as_deref(), next).into_iter();
            script.violations.extend(wrong.map(|wrong| format!("{}: {wrong}", next.id)));
            self.trace.note(Mark::Stored(next.id, next.revision, next.status()));
            Ok(())
        };
        batch.iter().map(apply).collect()
    }

    fn note_batch(&self, batch: &[Write]) {
        let mut script = self.script();
        script.batches.push(batch.len());
        let ids: BTreeSet<_> = batch.iter().map(|write| write.payment.id).collect();
        if ids.len() != batch.len() {
            script.violations.push("two writes of one payment in one batch".to_owned());
        }
    }
}

fn away() -> StoreError {
    StoreError::Unavailable("it is away".into())
}

/// The answer to a call that was not done.
fn refusal(fault: &Fault) -> StoreError {
    match fault {
        Fault::Broken => StoreError::Broken("fsync failed".into()),
        _ => away(),
    }
}

impl Connection for TestStore {
    async fn read<T: Send>(
        &self,
        call: &'static str,
        query: impl FnOnce(&Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        match self.meet(call).await {
            None => query(&self.records()),
            Some(Fault::Unseen) => query(&Records::default()),
            Some(Fault::Slow(wait)) => {
                let answer = query(&self.records());
                sleep(wait).await;
                answer
            }
            Some(fault) => Err(refusal(&fault)),
        }
    }

    async fn change<T: Send>(
        &self,
        call: &'static str,
        change: impl FnOnce(&mut Records) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        match self.meet(call).await {
            None => change(&mut self.records()),
            Some(Fault::Slow(wait)) => {
                sleep(wait).await;
                change(&mut self.records())
            }
            Some(Fault::LostReply) => change(&mut self.records()).and_then(|_| Err(away())),
            Some(fault) => Err(refusal(&fault)),
        }
    }

    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.note_batch(batch);
        let all = |error: WriteError| batch.iter().map(|_| Err(error.clone())).collect();
        match self.meet("commit").await {
            None => self.apply(batch),
            Some(Fault::Slow(wait)) => {
                sleep(wait).await;
                self.apply(batch)
            }
            Some(Fault::LostRequest) => all(WriteError::Unknown(away())),
            Some(Fault::LostReply) => {
                self.apply(batch);
                all(WriteError::Unknown(away()))
            }
            Some(Fault::Forestalled(command)) => {
                for write in batch {
                    self.forestall(write.payment.id, command.clone());
                }
                self.apply(batch)
            }
            Some(fault) => all(WriteError::NotWritten(refusal(&fault))),
        }
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.script().reads.push(ids.len());
        self.read("load", |records| {
            if ids.iter().any(|id| self.script().spoilt.contains(id)) {
                return Err(StoreError::Unreadable("a payment of another version".into()));
            }
            Ok(records.load(ids))
        })
        .await
    }

    fn is_sole_writer(&self) -> bool {
        self.is_sole_writer
    }
}
