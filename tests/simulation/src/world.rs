//! Everything outside the nodes, which outlives them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::identity::{AcquirerName, OperationId, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use tokio::time::sleep;
use uuid::Uuid;

use crate::chance::{Chance, Fault, Faults};
use crate::clock::{Skew, WorldClock};
use crate::installation::{Configurations, Installation, Plan};
use crate::links::Links;
use crate::node::Node;
use crate::operator::Drained;
use crate::orders::Kind;
use crate::party::{Make, Party};
use crate::past;
use crate::planted::Mistake;
use crate::receivers::Receivers;
use crate::routes::{Place, Routes, Tries};
use crate::store::SimStore;
use crate::trace::Trace;

/// Parts and settings from which a world is built.
pub(crate) struct Setting {
    pub(crate) nodes: usize,
    /// True if the store is embedded, so that only one process writes to it.
    pub(crate) is_embedded: bool,
    /// Banks of the world: one, or several to choose from.
    pub(crate) banks: Vec<Make>,
    pub(crate) routes: Routes,
    /// Number of tries of each card before this world began.
    pub(crate) tried_before: Vec<u64>,
    /// True if the secret key of the service is changed while it runs.
    pub(crate) changes_keys: bool,
    /// Life of the installation as a whole.
    pub(crate) plan: Plan,
    pub(crate) faults: Faults,
    pub(crate) wants_trace: bool,
    /// Mistake of the service in this world, if it makes one.
    pub(crate) mistake: Option<Mistake>,
}

/// Behaviour of a bank that is simulated at the port.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manner {
    /// PIX codes are issued without any outside effect.
    pub(crate) issues_locally: bool,
    /// A card that is sent a second time is charged a second time.
    pub(crate) forgets_keys: bool,
    /// A card is authorised first and captured by a separate call.
    pub(crate) authorises_only: bool,
    /// Operations have no ids: one that is sent twice is done twice. Only its sums show their outcome.
    pub(crate) knows_sums_only: bool,
    /// A refund is accepted at once; it is done, or fails, minutes or hours later.
    pub(crate) takes_time_for_refunds: bool,
    /// Its notices name their subject, by our id or by its own, and nothing else.
    pub(crate) only_hints: bool,
    /// A boleto is accepted at once and receives its code later.
    pub(crate) registers_later: bool,
    /// It gives money back although it was charged back before.
    pub(crate) gives_back_disputed: bool,
    /// It names the chargeback that a won dispute was about.
    pub(crate) names_disputes: bool,
    /// It reports who withdrew a charge, and that a PIX that was paid wrongly takes no more money.
    pub(crate) says_how_it_ended: bool,
    /// It reports with a decline whether another try may succeed.
    pub(crate) says_if_final: bool,
}

/// Simulated world.
pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) faults: Faults,
    pub(crate) clock: WorldClock,
    pub(crate) store: SimStore,
    pub(crate) banks: Vec<Party>,
    pub(crate) installation: Installation,
    pub(crate) links: Links,
    pub(crate) tries: Mutex<Tries>,
    pub(crate) receivers: Receivers,
    pub(crate) drained: Drained,
    pub(crate) trace: Trace,
    pub(crate) skews: Vec<Skew>,
    pub(crate) changes_keys: bool,
    pub(crate) mistake: Option<Mistake>,
    nodes: Mutex<Vec<Option<Node>>>,
    told: Mutex<Told>,
    violations: Mutex<Vec<String>>,
    ids: AtomicU64,
    /// Moment of the last disturbance: a fault, or the death or restart of a node.
    disturbed_ms: AtomicU64,
    /// Number of errands that banks and payers still have to finish.
    errands: AtomicU64,
    notices_on_the_way: AtomicU64,
    /// Last day in Brasília on which money moved.
    moved_on: Mutex<Option<NaiveDate>>,
    /// Last moment by which every process had looked for due nights, if processes do.
    looked_for_nights_at: Mutex<Option<Timestamp>>,
    /// Moments at which something happens outside; time is not skipped beyond them.
    appointments: Mutex<BTreeSet<Timestamp>>,
}

/// Payments and operations that were reported to clients.
#[derive(Default)]
struct Told {
    /// Highest version of each acknowledged payment that a client has seen.
    versions: BTreeMap<TransactionId, u32>,
    /// Operations reported as accepted.
    operations: Vec<(TransactionId, OperationId)>,
}

impl World {
    /// Builds a world. Must be called inside the runtime in which the world lives.
    pub(crate) fn new(seed: u64, setting: Setting) -> Arc<Self> {
        let banks = setting.banks.iter().enumerate().map(|(place, make)| Party::new(place, *make));
        let banks: Vec<_> = banks.collect();
        let names = banks.iter().map(|bank| bank.name().clone()).collect();
        let configurations = Configurations::new(setting.routes, names, setting.mistake);
        let world = Arc::new(Self {
            chance: Chance::new(seed),
            faults: setting.faults,
            clock: WorldClock::begin(setting.plan.begins_at),
            store: SimStore::new(setting.is_embedded, setting.plan.other_merchants + 1),
            banks,
            installation: Installation::new(setting.plan, configurations),
            links: Links::new(seed),
            tries: Mutex::default(),
            receivers: Receivers::default(),
            drained: Drained::default(),
            trace: Trace::new(setting.wants_trace),
            skews: (0..setting.nodes).map(|_| Skew::default()).collect(),
            changes_keys: setting.changes_keys,
            mistake: setting.mistake,
            nodes: Mutex::new((0..setting.nodes).map(|_| None).collect()),
            told: Mutex::default(),
            violations: Mutex::default(),
            ids: AtomicU64::new(0),
            disturbed_ms: AtomicU64::new(0),
            errands: AtomicU64::new(0),
            notices_on_the_way: AtomicU64::new(0),
            moved_on: Mutex::default(),
            looked_for_nights_at: Mutex::default(),
            appointments: Mutex::default(),
        });
        past::remember(&world, &setting.tried_before);
        world
    }

    /// Returns the names of its banks, in their order.
    pub(crate) fn bank_names(&self) -> Vec<AcquirerName> {
        self.banks.iter().map(|bank| bank.name().clone()).collect()
    }

    /// Returns the kinds of payment that a bank of this world takes.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        self.kinds_without(None)
    }

    /// Returns the kinds of payment that a bank other than this one takes.
    pub(crate) fn kinds_without(&self, absent: Option<Place>) -> Vec<Kind> {
        let others = |place: &Place| Some(*place) != absent;
        let takes = |kind: &Kind| {
            (0..self.banks.len()).filter(others).any(|place| self.banks[place].takes(kind.method()))
        };
        Kind::ALL.into_iter().filter(takes).collect()
    }

    pub(crate) fn strikes(&self, fault: Fault) -> bool {
        let strikes = self.faults.strikes(fault, &self.chance);
        if strikes {
            self.disturb();
            self.note(|| format!("fault {fault:?}"));
        }
        strikes
    }

    /// Notes that something is wrong now.
    pub(crate) fn disturb(&self) {
        self.disturbed_ms.store(self.clock.elapsed_ms(), Ordering::Relaxed);
    }

    /// Returns true if nothing was wrong in this period before the given moment, nor since.
    pub(crate) fn was_calm_for(&self, ms: u64, before_ms: u64) -> bool {
        before_ms.checked_sub(ms).is_some_and(|since| self.disturbed_ms.load(Ordering::Relaxed) <= since)
    }

    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        self.trace.note(self.clock.elapsed_ms(), line);
    }

    /// Reports a violation of an invariant.
    pub(crate) fn violation(&self, what: String) {
        self.note(|| format!("VIOLATION {what}"));
        let mut violations = self.violations.lock().unwrap();
        if !violations.contains(&what) {
            violations.push(what);
        }
    }

    pub(crate) fn violations(&self) -> Vec<String> {
        self.violations.lock().unwrap().clone()
    }

    /// Returns the payment of a request that reaches a bank. While it was on the way, the store may have forgotten it.
    pub(crate) fn payment_sent(&self, id: TransactionId) -> Option<Arc<Payment>> {
        self.store.payment(id).or_else(|| self.installation.forgotten(id))
    }

    pub(crate) fn fresh_id(&self) -> Uuid {
        Uuid::from_u128(0xf_0000_0000 + u128::from(self.ids.fetch_add(1, Ordering::Relaxed)))
    }

    /// Sleeps for some milliseconds of this world's time.
    pub(crate) async fn pass(&self, least_ms: u64, most_ms: u64) {
        sleep(Duration::from_millis(self.chance.between(least_ms, most_ms))).await;
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.lock().unwrap().len()
    }

    pub(crate) fn node(&self, place: usize) -> Option<Node> {
        self.nodes.lock().unwrap()[place].clone().filter(Node::is_alive)
    }

    pub(crate) fn put_node(&self, place: usize, node: Node) {
        self.disturb();
        self.nodes.lock().unwrap()[place] = Some(node);
        self.note_routes();
    }

    /// Notes the routes that the running nodes follow.
    pub(crate) fn note_routes(&self) {
        let up = (0..self.node_count()).filter_map(|place| self.node(place));
        let followed: Vec<_> = up.map(|node| node.configuration().version).collect();
        self.installation.configurations.note_followed(&followed, self.clock.elapsed_ms());
    }

    /// Drops the nodes, which hold this world as it holds them.
    pub(crate) fn end(&self) {
        self.nodes.lock().unwrap().clear();
    }

    /// Returns a node that takes requests, if there is one.
    pub(crate) fn any_node(&self) -> Option<Node> {
        self.any_node_of(Node::takes_requests)
    }

    /// Returns a node that takes requests and has this acquirer configured, if there is one.
    pub(crate) fn any_node_with(&self, bank: &AcquirerName) -> Option<Node> {
        self.any_node_of(|node| node.takes_requests() && node.has(bank))
    }

    fn any_node_of(&self, is_meant: impl Fn(&Node) -> bool) -> Option<Node> {
        let up = (0..self.node_count()).filter_map(|place| self.node(place));
        let meant: Vec<_> = up.filter(|node| is_meant(node)).collect();
        (!meant.is_empty()).then(|| self.chance.pick(&meant))
    }

    /// Returns true if this acquirer is no longer configured.
    pub(crate) fn is_gone(&self, bank: &AcquirerName) -> bool {
        let absent = self.installation.configurations.present().absent();
        absent.is_some_and(|place| self.banks[place].name() == bank)
    }

    /// Notes that a client saw this payment at this version.
    pub(crate) fn tell(&self, id: TransactionId, version: u32) {
        let mut told = self.told.lock().unwrap();
        let known = told.versions.entry(id).or_default();
        *known = version.max(*known);
    }

    /// Returns the newest version that any client has seen. Nothing shown from now on may be older.
    pub(crate) fn told_version(&self, id: TransactionId) -> Option<u32> {
        self.told.lock().unwrap().versions.get(&id).copied()
    }

    /// Drops answers about whatever the store forgot.
    pub(crate) fn forget_told(&self, stored: &BTreeMap<TransactionId, Arc<Payment>>) {
        let mut told = self.told.lock().unwrap();
        told.versions.retain(|id, _| stored.contains_key(id));
        for (id, version) in &mut told.versions {
            *version = (*version).min(stored[id].state.version);
        }
        let is_stored = |id: &TransactionId, operation: &OperationId| {
            stored.get(id).is_some_and(|payment| payment.operations.iter().any(|one| one.id == *operation))
        };
        told.operations.retain(|(id, operation)| is_stored(id, operation));
    }

    pub(crate) fn acknowledged(&self) -> Vec<TransactionId> {
        self.told.lock().unwrap().versions.keys().copied().collect()
    }

    pub(crate) fn tell_operation(&self, id: TransactionId, operation: OperationId) {
        self.told.lock().unwrap().operations.push((id, operation));
    }

    pub(crate) fn acknowledged_operations(&self) -> Vec<(TransactionId, OperationId)> {
        self.told.lock().unwrap().operations.clone()
    }

    /// Runs something outside the nodes that must end before all is quiet.
    pub(crate) fn errand(self: &Arc<Self>, errand: impl Future<Output = ()> + 'static) {
        self.errands.fetch_add(1, Ordering::Relaxed);
        let world = Arc::clone(self);
        drop(actix::spawn(async move {
            errand.await;
            world.errands.fetch_sub(1, Ordering::Relaxed);
        }));
    }

    /// Runs the delivery of a notice, which must arrive before time is skipped.
    pub(crate) fn errand_of_notice(self: &Arc<Self>, errand: impl Future<Output = ()> + 'static) {
        self.notices_on_the_way.fetch_add(1, Ordering::Relaxed);
        let world = Arc::clone(self);
        self.errand(async move {
            errand.await;
            world.notices_on_the_way.fetch_sub(1, Ordering::Relaxed);
        });
    }

    pub(crate) fn has_notices_on_the_way(&self) -> bool {
        self.notices_on_the_way.load(Ordering::Relaxed) > 0
    }

    /// Returns true if a running node waits for a counterparty, or announces that it is up. Either takes seconds, never
    /// hours.
    pub(crate) fn has_calls_under_way(&self) -> bool {
        (0..self.node_count())
            .filter_map(|place| self.node(place))
            .any(|node| node.fuse.has_calls_under_way())
    }

    /// Notes that money moved just now.
    pub(crate) fn note_movement(&self) {
        *self.moved_on.lock().unwrap() = Some(self.clock.now().sao_paulo_date());
    }

    pub(crate) fn moved_on(&self) -> Option<NaiveDate> {
        *self.moved_on.lock().unwrap()
    }

    /// Notes that every running process has looked for nights since this moment.
    pub(crate) fn note_look_for_nights(&self, at: Timestamp) {
        *self.looked_for_nights_at.lock().unwrap() = Some(at);
    }

    pub(crate) fn looked_for_nights_at(&self) -> Option<Timestamp> {
        *self.looked_for_nights_at.lock().unwrap()
    }

    /// Adds a moment that something outside waits for.
    pub(crate) fn appoint(&self, at: Timestamp) {
        self.appointments.lock().unwrap().insert(at);
    }

    /// Returns the next moment that something outside waits for.
    pub(crate) fn next_appointment(&self) -> Option<Timestamp> {
        let now = self.clock.now();
        let mut appointments = self.appointments.lock().unwrap();
        appointments.retain(|at| *at >= now);
        appointments.first().copied()
    }

    pub(crate) fn has_errands(&self) -> bool {
        self.errands.load(Ordering::Relaxed) > 0
    }
}
