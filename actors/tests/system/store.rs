//! A store in memory, with switches for everything that a real one may do to us.

mod operators;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_domain::control::{Node, RouteControl};
use quita_domain::event::Event;
use quita_domain::exception::Exception;
use quita_domain::identity::TransactionId;
use quita_domain::listing::{Cursor, DeliveryFilter, PaymentFilter};
use quita_domain::payment::{Command, Context, Payment};
use quita_domain::state::State;
use quita_domain::time::Timestamp;
use quita_ports::{
    Backlog, Clock, ExceptionStore, InboxStore, PaymentStore, Store, StoreError, Write, WriteError,
};
use tokio::time::sleep;
use uuid::Uuid;

use crate::chance::TestClock;
use crate::trace::{Mark, Trace};

/// What a store is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Commit,
    Load,
    Due,
    PutNotices,
    DueNotices,
    FinishNotices,
    PutException,
    RouteControls,
    PutRouteControl,
    PutNode,
}

/// What goes wrong with it.
#[allow(clippy::large_enum_variant, reason = "a handful of them in a test")]
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Nothing is done.
    Unavailable,
    /// It is done, but nobody is told.
    LostReply,
    /// It is not done, and nobody is told.
    LostRequest,
    /// Nothing is done, and nothing can be trusted any more.
    Broken,
    /// The same, late.
    BrokenLate(Duration),
    /// The adapter panics.
    Panic,
    /// It is done, late.
    Slow(Duration),
    /// What is stored is not shown yet.
    Unseen,
    /// Another writer executes this on the same payments first.
    Forestalled(Command),
}

/// A notice, when it is due, how often it was put off, whether it is worked.
struct StoredNotice {
    notice: Notice,
    due_at: Timestamp,
    tried: u32,
    is_done: bool,
}

#[derive(Default)]
struct Content {
    spoilt: Vec<TransactionId>,
    payments: BTreeMap<TransactionId, Payment>,
    notices: BTreeMap<String, StoredNotice>,
    exceptions: Vec<Exception>,
    controls: Vec<RouteControl>,
    nodes: BTreeMap<Uuid, Node>,
    once: HashMap<Op, VecDeque<Fault>>,
    always: HashMap<Op, Fault>,
    batches: Vec<usize>,
    reads: Vec<usize>,
    violations: Vec<String>,
    others: u128,
}

/// The store.
pub(crate) struct MemoryStore {
    content: Mutex<Content>,
    clock: Arc<TestClock>,
    trace: Trace,
    is_sole_writer: bool,
}

/// How long a call takes when nothing is wrong.
const LATENCY: Duration = Duration::from_millis(2);

impl MemoryStore {
    pub(crate) fn new(clock: Arc<TestClock>, trace: Trace, is_sole_writer: bool) -> Self {
        Self { content: Mutex::default(), clock, trace, is_sole_writer }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap()
    }

    /// The next call of this kind goes wrong; calls add up.
    pub(crate) fn once(&self, op: Op, fault: Fault) {
        self.lock().once.entry(op).or_default().push_back(fault);
    }

    /// Every call of this kind goes wrong from now on.
    pub(crate) fn always(&self, op: Op, fault: Fault) {
        self.lock().always.insert(op, fault);
    }

    /// Everything works again.
    pub(crate) fn heal(&self) {
        let mut content = self.lock();
        content.always.clear();
        content.once.clear();
    }

    /// Whether every fault that was planned has happened.
    pub(crate) fn has_no_plans(&self) -> bool {
        self.lock().once.values().all(VecDeque::is_empty)
    }

    pub(crate) fn payment(&self, id: TransactionId) -> Option<Payment> {
        self.lock().payments.get(&id).cloned()
    }

    pub(crate) fn payments(&self) -> Vec<Payment> {
        self.lock().payments.values().cloned().collect()
    }

    /// Sizes of the batches that were committed, in order.
    pub(crate) fn batches(&self) -> Vec<usize> {
        self.lock().batches.clone()
    }

    /// Sizes of the reads, in order.
    pub(crate) fn reads(&self) -> Vec<usize> {
        self.lock().reads.clone()
    }

    pub(crate) fn kinds_of_exceptions(&self) -> Vec<String> {
        self.lock().exceptions.iter().map(|exception| exception.kind.clone()).collect()
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    /// Notices that are not worked yet.
    pub(crate) fn open_notices(&self) -> usize {
        self.lock().notices.values().filter(|stored| !stored.is_done).count()
    }

    /// How often notices were put off.
    pub(crate) fn put_off(&self) -> u32 {
        self.lock().notices.values().map(|stored| stored.tried).sum()
    }

    async fn meet(&self, op: Op) -> Option<Fault> {
        let fault = {
            let mut content = self.lock();
            let planned = content.once.get_mut(&op).and_then(VecDeque::pop_front);
            planned.or_else(|| content.always.get(&op).cloned())
        };
        sleep(LATENCY).await;
        match fault {
            Some(Fault::Panic) => panic!("the store's adapter panics at {op:?}"),
            Some(Fault::Slow(wait)) => {
                sleep(wait).await;
                None
            }
            Some(Fault::BrokenLate(wait)) => {
                sleep(wait).await;
                Some(Fault::Broken)
            }
            other => other,
        }
    }

    /// For everything but a commit: done or not.
    async fn reach(&self, op: Op) -> Result<(), StoreError> {
        Self::done_or_not(self.meet(op).await)
    }

    fn done_or_not(fault: Option<Fault>) -> Result<(), StoreError> {
        match fault {
            None | Some(Fault::Slow(_) | Fault::Panic | Fault::Unseen) => Ok(()),
            Some(Fault::Broken | Fault::BrokenLate(_)) => Err(StoreError::Broken("fsync failed".into())),
            Some(Fault::Unavailable | Fault::LostReply | Fault::LostRequest | Fault::Forestalled(_)) => {
                Err(StoreError::Unavailable("it is away".into()))
            }
        }
    }

    /// From now on this payment can't be read.
    pub(crate) fn spoil(&self, id: TransactionId) {
        self.lock().spoilt.push(id);
    }

    /// Executes a command as another node would.
    pub(crate) fn forestall(&self, id: TransactionId, command: Command) {
        let mut content = self.lock();
        content.others += 1;
        let op = Uuid::from_u128(0xffff_0000 + content.others);
        let context = Context { now: self.clock.now(), dice: 20, op, card_at_hand: false };
        let Some(known) = content.payments.get(&id) else { return };
        if let Some(next) = known.decide(command, &context).unwrap().next {
            content.payments.insert(id, next);
        }
    }

    fn apply(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        let mut content = self.lock();
        batch.iter().map(|write| self.apply_one(&mut content, write)).collect()
    }

    fn apply_one(&self, content: &mut Content, write: &Write) -> Result<(), WriteError> {
        let next = &write.payment;
        let known = content.payments.get(&next.id);
        if known.map_or(0, |known| known.revision) != write.expected_revision {
            return Err(WriteError::Conflict);
        }
        let mut wrong = Vec::new();
        if next.revision <= write.expected_revision {
            wrong.push(format!("revision {} after {}", next.revision, write.expected_revision));
        }
        if known.is_some_and(|known| !told(next).starts_with(&told(known))) {
            wrong.push("history was rewritten".to_owned());
        }
        if known.is_some_and(|known| next.state.updated_at < known.state.updated_at) {
            wrong.push("updatedAt went back".to_owned());
        }
        if known.is_some_and(|known| next.state.version < known.state.version) {
            wrong.push("version went back".to_owned());
        }
        content.violations.extend(wrong.into_iter().map(|wrong| format!("{}: {wrong}", next.id)));
        content.payments.insert(next.id, next.as_ref().clone());
        self.trace.note(Mark::Stored(next.id, next.revision, next.status()));
        Ok(())
    }

    fn note_batch(&self, batch: &[Write]) {
        let mut content = self.lock();
        content.batches.push(batch.len());
        let mut ids: Vec<_> = batch.iter().map(|write| write.payment.id).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() != batch.len() {
            content.violations.push("two writes of one payment in one batch".to_owned());
        }
    }

    fn due_by(
        &self,
        now: Timestamp,
        limit: usize,
        time: impl Fn(&Payment) -> Option<Timestamp>,
    ) -> Vec<TransactionId> {
        let content = self.lock();
        let timed = content.payments.values().filter_map(|payment| Some((time(payment)?, payment.id)));
        let mut due: Vec<_> = timed.filter(|(at, _)| *at <= now).collect();
        due.sort_unstable();
        due.into_iter().take(limit).map(|(_, id)| id).collect()
    }
}

#[async_trait]
impl PaymentStore for MemoryStore {
    async fn commit(&self, batch: &[Write]) -> Vec<Result<(), WriteError>> {
        self.note_batch(batch);
        let away = || StoreError::Unavailable("it is away".into());
        let all = |result: WriteError| batch.iter().map(|_| Err(result.clone())).collect();
        match self.meet(Op::Commit).await {
            None | Some(Fault::Slow(_) | Fault::Panic | Fault::Unseen) => self.apply(batch),
            Some(Fault::Unavailable) => all(WriteError::NotWritten(away())),
            Some(Fault::Broken | Fault::BrokenLate(_)) => {
                all(WriteError::NotWritten(StoreError::Broken("fsync failed".into())))
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
        }
    }

    async fn load(&self, ids: &[TransactionId]) -> Result<Vec<Payment>, StoreError> {
        self.lock().reads.push(ids.len());
        let fault = self.meet(Op::Load).await;
        if matches!(fault, Some(Fault::Unseen)) {
            return Ok(Vec::new());
        }
        Self::done_or_not(fault)?;
        let content = self.lock();
        if ids.iter().any(|id| content.spoilt.contains(id)) {
            return Err(StoreError::Unreadable("a payment of another version".into()));
        }
        Ok(ids.iter().filter_map(|id| content.payments.get(id).cloned()).collect())
    }

    async fn list(&self, _: &PaymentFilter, _: Option<Cursor>, _: usize) -> Result<Vec<Payment>, StoreError> {
        Ok(self.payments())
    }

    async fn list_with_deliveries(
        &self,
        _: &DeliveryFilter,
        _: Option<Cursor>,
        _: usize,
    ) -> Result<Vec<Payment>, StoreError> {
        Ok(self.payments())
    }

    async fn due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        self.reach(Op::Due).await?;
        Ok(self.due_by(now, limit, Payment::due_at))
    }

    async fn outbox_due(&self, now: Timestamp, limit: usize) -> Result<Vec<TransactionId>, StoreError> {
        self.reach(Op::Due).await?;
        Ok(self.due_by(now, limit, Payment::outbox_at))
    }
}

#[async_trait]
impl InboxStore for MemoryStore {
    async fn put_notices(&self, notices: &[Notice]) -> Result<Vec<bool>, StoreError> {
        self.reach(Op::PutNotices).await?;
        let mut content = self.lock();
        let mut put = |notice: &Notice| {
            let is_new = !content.notices.contains_key(&notice.id);
            if is_new {
                let stored = StoredNotice {
                    notice: notice.clone(),
                    due_at: self.clock.now(),
                    tried: 0,
                    is_done: false,
                };
                content.notices.insert(notice.id.clone(), stored);
            }
            is_new
        };
        Ok(notices.iter().map(&mut put).collect())
    }

    async fn due_notices(&self, now: Timestamp, limit: usize) -> Result<Vec<(Notice, u32)>, StoreError> {
        self.reach(Op::DueNotices).await?;
        let content = self.lock();
        let due = content.notices.values().filter(|stored| !stored.is_done && stored.due_at <= now);
        Ok(due.take(limit).map(|stored| (stored.notice.clone(), stored.tried)).collect())
    }

    async fn finish_notices(&self, ids: &[String], _: Timestamp) -> Result<(), StoreError> {
        self.reach(Op::FinishNotices).await?;
        let mut content = self.lock();
        for id in ids {
            content.notices.get_mut(id).unwrap().is_done = true;
        }
        Ok(())
    }

    async fn postpone_notice(&self, id: &str, tried: u32, until: Timestamp) -> Result<(), StoreError> {
        let mut content = self.lock();
        let stored = content.notices.get_mut(id).unwrap();
        if stored.tried == tried {
            (stored.due_at, stored.tried) = (until, tried + 1);
        }
        Ok(())
    }
}

#[async_trait]
impl ExceptionStore for MemoryStore {
    async fn put_exception(&self, exception: &Exception) -> Result<(), StoreError> {
        self.reach(Op::PutException).await?;
        let mut content = self.lock();
        if content.exceptions.iter().all(|known| known.id != exception.id) {
            content.exceptions.push(exception.clone());
        }
        Ok(())
    }

    async fn exceptions(&self, limit: usize) -> Result<Vec<Exception>, StoreError> {
        let content = self.lock();
        let open = content.exceptions.iter().rev().filter(|exception| exception.resolution.is_none());
        Ok(open.take(limit).cloned().collect())
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn ping(&self) -> Result<(), StoreError> {
        self.reach(Op::Load).await
    }

    async fn backlog(&self, _: Timestamp) -> Result<Backlog, StoreError> {
        Ok(Backlog::default())
    }

    fn is_sole_writer(&self) -> bool {
        self.is_sole_writer
    }
}

/// Every event with the state that it tells of, wherever that is held.
fn told(payment: &Payment) -> Vec<(Event, State)> {
    let without = |event: &Event| Event { snapshot: None, ..event.clone() };
    payment.history.iter().map(|event| (without(event), payment.as_of(event).clone())).collect()
}
