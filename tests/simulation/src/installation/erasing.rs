//! Erasure of payers in parallel to everything, by the service's own code. It erases the payer of one payment, one
//! person, or whoever was kept for the retention period. Nothing of them is left in the store or shown to anyone, and
//! nothing else is lost.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::NaiveDate;
use quita_actors::ErasureFollower;
use quita_domain::document::Document;
use quita_domain::identity::TransactionId;
use quita_domain::order::Payer;
use quita_domain::payment::Payment;
use quita_domain::reconciliation::Source;
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_memory_store::NoAuditLog;
use quita_ports::{Clock, Ids, StoreError, WholeStore, Write};
use quita_services::erasure::{Eraser, ErasureTally};
use quita_services::retention::{KeptFor, Retention};
use serde_json::Value;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::Happening;
use crate::node::{Fuse, Node};
use crate::orders::PERSONS;
use crate::planted::Mistake;
use crate::store::NodeStore;
use crate::world::World;

/// Time for which a payer is kept after the last change, and after a payment. It is shorter than in production, so that
/// a world lasts long enough.
const KEPT_FOR: KeptFor = KeptFor { rested_ms: DAY_MS, paid_ms: 2 * DAY_MS };
/// Time for which a node that died keeps others from erasing.
const CLAIMED_FOR: Duration = Duration::from_secs(5 * 60);
/// Interval of looks for expired payers, as in the service.
const LOOK_EVERY: Duration = Duration::from_secs(15);
/// Interval of looks for payers erased by another process, as in the service.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);
/// Time after which no erased payer is shown by a service whose own copy of payments is authoritative. `privacy erase`
/// waits for it.
const FORGOTTEN_WITHIN: Duration = Duration::from_secs(2);
/// Time after which a look for erased payers gives up a call that hangs.
const GIVEN_UP_AFTER_MS: u64 = 60_000;
/// Number of times that a command is repeated after the store ended it half-way.
const TRIES: u32 = 5;
/// Guard that ends a command that hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time for which an event that was about to be sent may still name an erased payer, in milliseconds.
const SENT_WITHIN_MS: u64 = 30_000;
/// Twice the error of a clock, plus the time for which a process may hold the claim without working.
const KEPT_AT_MOST_LONGER_MS: u64 = 3 * 3_600_000;

/// Payments whose payer was erased.
#[derive(Debug, Default)]
pub(crate) struct Erasures {
    /// Moment at which the erasure was stored.
    stored_ms: BTreeMap<TransactionId, u64>,
}

impl Erasures {
    pub(crate) fn note(&mut self, id: TransactionId, now_ms: u64) {
        self.stored_ms.entry(id).or_insert(now_ms);
    }

    /// Keeps the erasures that the restored store still has.
    pub(super) fn retain(&mut self, is_erased: impl Fn(TransactionId) -> bool) {
        self.stored_ms.retain(|id, _| is_erased(*id));
    }
}

/// Clock and ids of a command that runs beside the service.
struct Beside(Arc<World>);

impl Clock for Beside {
    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}

impl Ids for Beside {
    fn fresh(&self) -> Uuid {
        self.0.fresh_id()
    }
}

/// Has payers erased now and then, for as long as the world lives.
pub(crate) async fn meddle(world: Arc<World>) {
    if !world.installation.plan.erases {
        return;
    }
    loop {
        world.pass(2_000, 20_000).await;
        let own = Arc::clone(&world);
        // The store's adapter may panic.
        drop(actix::spawn(async move { timeout(PATIENCE, command(&own)).await }).await);
    }
}

/// Runs one command, which may be killed half-way.
async fn command(world: &Arc<World>) {
    let payments = world.store.payments();
    if payments.is_empty() {
        return;
    }
    let payment = world.chance.pick(&payments);
    let dies_at = world.chance.per_mille(100).then(|| world.chance.between(1, 6));
    let fuse = Fuse::new(world, 0, dies_at);
    let desk = Desk::open(world, &fuse);
    let erasing = async {
        if world.chance.per_mille(600) {
            desk.erase_payment(payment.id).await;
        } else {
            desk.erase_person(&payment.order.payer.document).await;
        }
    };
    tokio::select! {
        biased;
        () = fuse.death() => {}
        () = erasing => {}
    }
}

/// Parts that the command works with.
struct Desk {
    world: Arc<World>,
    eraser: Eraser,
    paid_ms: u64,
    began_ms: u64,
    restores: u64,
}

impl Desk {
    fn open(world: &Arc<World>, fuse: &Arc<Fuse>) -> Self {
        let beside = Arc::new(Beside(Arc::clone(world)));
        let paid_ms = world.chance.pick(&[0, KEPT_FOR.paid_ms]);
        let store = NodeStore::beside(world, fuse);
        let eraser = Eraser::new(store, Arc::new(NoAuditLog), beside.clone(), beside, paid_ms);
        let began_ms = world.clock.elapsed_ms();
        let restores = world.store.restores();
        Self { world: Arc::clone(world), eraser, paid_ms, began_ms, restores }
    }

    async fn erase_payment(&self, id: TransactionId) {
        let world = &self.world;
        world.note(|| format!("privacy erase --transaction {id}"));
        for _ in 0..TRIES {
            match self.eraser.erase(id).await {
                Ok(None) if self.restores == world.store.restores() => {
                    world.violation(format!("{id} is stored, and its payer can't be erased: it is unknown"));
                    return;
                }
                Ok(None) => return,
                Ok(Some((_, tally))) => {
                    self.count(tally, Happening::PaymentErased);
                    if tally.erased + tally.erased_before > 0 {
                        self.check_gone(&[id]).await;
                    }
                    return;
                }
                Err(_) => world.pass(50, 500).await,
            }
        }
    }

    async fn erase_person(&self, document: &Document) {
        let world = &self.world;
        world.note(|| "privacy erase --document".to_owned());
        let until = world.clock.now().minus_ms(self.paid_ms);
        let is_meant =
            |payment: &Arc<Payment>| payment.order.payer.document == *document && payment.is_finished(until);
        let finished: Vec<_> =
            world.store.payments().into_iter().filter(is_meant).map(|payment| payment.id).collect();
        let Ok(tally) = self.erase_pages(document).await else { return };
        self.count(tally, Happening::PersonErased);
        if tally.left == 0 {
            let is_still =
                |id: &TransactionId| world.store.payment(*id).is_some_and(|one| one.is_finished(until));
            let finished: Vec<_> = finished.into_iter().filter(is_still).collect();
            self.check_gone(&finished).await;
        }
    }

    async fn erase_pages(&self, document: &Document) -> Result<ErasureTally, StoreError> {
        let mut place = None;
        let mut tally = ErasureTally::default();
        let mut failed = 0;
        loop {
            match self.eraser.erase_page_of(document, place.clone()).await {
                Ok(page) => {
                    tally = tally.plus(page.tally);
                    place = page.next;
                    if place.is_none() {
                        return Ok(tally);
                    }
                }
                Err(error) if failed >= TRIES => return Err(error),
                Err(_) => {
                    failed += 1;
                    self.world.pass(50, 500).await;
                }
            }
        }
    }

    fn count(&self, tally: ErasureTally, happening: Happening) {
        if tally.erased > 0 {
            self.world.installation.count(happening);
        }
        if tally.not_finished > 0 {
            self.world.installation.count(Happening::NotFinished);
        }
    }

    /// Checks that the payers are erased in the store and no longer shown. The command has reported success.
    async fn check_gone(&self, ids: &[TransactionId]) {
        let world = &self.world;
        for id in ids {
            let is_there = world.store.payment(*id).is_some_and(|payment| !payment.is_erased());
            if is_there && self.restores == world.store.restores() {
                world.violation(format!("{id}: its payer counts as erased, and is stored"));
            }
        }
        if world.store.is_embedded() {
            sleep(FORGOTTEN_WITHIN).await;
        }
        for place in 0..world.node_count() {
            for id in ids {
                self.check_told(place, *id).await;
            }
        }
    }

    async fn check_told(&self, place: usize, id: TransactionId) {
        let world = &self.world;
        let Some(node) = world.node(place).filter(Node::takes_requests) else { return };
        // A node whose own copy of payments is authoritative must have learnt of it. It waits for a store that hangs
        // before it asks again.
        let is_calm = !world.store.is_embedded() || world.was_calm_for(GIVEN_UP_AFTER_MS, self.began_ms);
        // A read that was under way returns the store's earlier content to every caller that joins it: the next one
        // counts.
        drop(node.call(|payments| async move { payments.read(id).await }).await);
        let read = node.call(|payments| async move { payments.read(id).await }).await;
        let Ok(Ok(Some(payment))) = read else { return };
        let is_stored = world.store.payment(id).is_some_and(|payment| payment.is_erased());
        if is_calm && is_stored && !payment.is_erased() && self.restores == world.store.restores() {
            world.violation(format!("{id}: node {place} still tells who paid"));
        }
    }
}

/// Runs the tasks beside the actors of a node. One follows erasures by other processes; one erases payers after the
/// retention period.
pub(crate) fn keep(world: &Arc<World>, node: &Node) {
    let plan = world.installation.plan;
    if !plan.erases() {
        return;
    }
    let (store, clock, payments) = node.parts();
    let number = world.store.lock().erased.len() as u64;
    let follower = ErasureFollower::new(store.clone(), payments, number);
    if follower.is_needed() {
        let follower = Arc::new(AsyncMutex::new(follower));
        drop(actix::spawn(follow(Arc::clone(&node.fuse), follower)));
    }
    if plan.retains {
        let ids = Arc::new(Beside(Arc::clone(world)));
        let store = NodeStore::beside(world, &node.fuse);
        let retention = Retention::new(store.clone(), Arc::new(NoAuditLog), clock, ids, KEPT_FOR);
        let retention = Arc::new(AsyncMutex::new(retention));
        drop(actix::spawn(retain(Arc::clone(world), Arc::clone(&node.fuse), retention, store)));
    }
}

/// Runs a step beside the actors until the node dies. A panic of the store's adapter ends only the step.
async fn step(fuse: &Fuse, step: impl Future<Output = ()> + 'static) {
    let step = actix::spawn(step);
    tokio::select! {
        biased;
        () = fuse.death() => {}
        _ = step => {}
    }
}

async fn follow(fuse: Arc<Fuse>, follower: Arc<AsyncMutex<ErasureFollower>>) {
    while !fuse.is_dead() {
        sleep(FOLLOW_EVERY).await;
        let follower = Arc::clone(&follower);
        step(&fuse, async move { drop(follower.lock().await.follow().await) }).await;
    }
}

async fn retain(
    world: Arc<World>,
    fuse: Arc<Fuse>,
    retention: Arc<AsyncMutex<Retention>>,
    store: Arc<dyn WholeStore>,
) {
    while !fuse.is_dead() {
        sleep(LOOK_EVERY).await;
        let world = Arc::clone(&world);
        let retention = Arc::clone(&retention);
        let store = Arc::clone(&store);
        let erasing = async move {
            let tell = |erased: u64| {
                (0..erased).for_each(|_| world.installation.count(Happening::KeptForLongEnough));
            };
            drop(retention.lock().await.erase_due(tell).await);
            if world.mistake == Some(Mistake::EraseTheOpen) {
                erase_the_open(&world, &*store).await;
            }
        };
        step(&fuse, erasing).await;
    }
}

/// Erases the payer of an open payment, as a service that does not check for finished payments would.
async fn erase_the_open(world: &World, store: &dyn WholeStore) {
    let now = world.clock.now();
    let Some(open) = world.store.payments().into_iter().find(|payment| payment.rests_since().is_none())
    else {
        return;
    };
    let mut erased = Payment { erased_at: Some(now), last_op: world.fresh_id(), ..open.as_ref().clone() };
    erased.revision += 1;
    let order = Arc::make_mut(&mut erased.order);
    order.payer = Payer::erased(order.payer.document.kind());
    let write = Write { payment: Arc::new(erased), expected_revision: open.revision };
    drop(store.commit(&[write]).await);
}

/// Returns the answer of a receiver, which thanks the payer by name.
pub(crate) fn thanks(world: &World, body: &str) -> Option<String> {
    if !world.installation.plan.erases() {
        return None;
    }
    let event: Value = serde_json::from_str(body).ok()?;
    let name = event.pointer("/data/customer/name")?.as_str()?;
    Some(format!("obrigado, {name}"))
}

/// Returns true if an event is unchanged except for masks.
pub(crate) fn is_masked(before: &str, after: &str) -> bool {
    let read = |text| serde_json::from_str::<Value>(text).ok();
    read(before).zip(read(after)).is_some_and(|(before, after)| is_same_but_for_masks(&before, &after))
}

fn is_same_but_for_masks(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before.iter().all(|(name, value)| {
                    after.get(name).is_some_and(|other| is_same_but_for_masks(value, other))
                })
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before.iter().zip(after).all(|(one, other)| is_same_but_for_masks(one, other))
        }
        (before, Value::String(text)) => text.contains('*') || before == after,
        (before, after) => before == after,
    }
}

/// Checks an event that arrives at its receiver. Some time after its payer was erased, it must not identify the payer.
pub(crate) fn check_event(world: &World, id: TransactionId, body: &str) {
    let erased_ms = world.installation.erasures.lock().unwrap().stored_ms.get(&id).copied();
    let is_over = erased_ms.is_some_and(|ms| ms + SENT_WITHIN_MS < world.clock.elapsed_ms());
    if let Some(trace) = is_over.then(|| trace_in(body)).flatten() {
        world.violation(format!("{id}: an event tells of {trace}, who was erased"));
    }
}

/// Returns the first trace of a person in this text, if any.
fn trace_in(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    let without_ids = without_ids(&text);
    PERSONS.iter().flat_map(|person| person.traces()).find(|trace| {
        // Letters alone may stand in an id by chance. A document or an address does not.
        let is_word = trace.chars().all(char::is_alphabetic);
        let searched = if is_word { &without_ids } else { &text };
        searched.contains(&trace.to_lowercase())
    })
}

/// Returns the text without long words of letters and digits, such as the number of an order at an acquirer.
fn without_ids(text: &str) -> String {
    let has_digit = |word: &str| word.contains(|character: char| character.is_ascii_digit());
    let has_letter = |word: &str| word.contains(|character: char| character.is_ascii_alphabetic());
    let is_id = |word: &&str| word.len() > 20 && has_digit(word) && has_letter(word);
    text.split_inclusive(|character: char| !character.is_alphanumeric()).filter(|word| !is_id(word)).collect()
}

/// Checks that nothing of an erased payer is left in the store, or of any person where none belongs.
pub(crate) fn check(world: &World) {
    if !world.installation.plan.erases() {
        return;
    }
    let mut violations = Vec::new();
    let records = world.store.lock();
    for payment in records.payments.values().filter(|payment| payment.is_erased()) {
        if let Some(trace) = trace_in(&serde_json::to_string(payment).unwrap()) {
            violations.push(format!("{}: {trace} was erased, and is still stored", payment.id));
        }
    }
    let beside = [
        ("exceptions", format!("{:?}", records.exceptions)),
        ("lines", format!("{:?}", records.lines)),
        ("notices", records.notices.values().map(|stored| format!("{:?}", stored.notice)).collect()),
    ];
    drop(records);
    for (what, text) in beside {
        if let Some(trace) = trace_in(&text) {
            violations.push(format!("the stored {what} tell of {trace}"));
        }
    }
    violations.into_iter().for_each(|violation| world.violation(violation));
}

/// Returns how long the claim to erase still holds, at most as long as the error of a clock explains.
fn claimed_for(world: &World) -> Duration {
    let run = (Source::personal_data(), NaiveDate::default());
    let until = world.store.lock().runs.get(&run).map(|(claim, _)| claim.until);
    let now = world.clock.now();
    let left_ms = until.map_or(0, |until| until.ms_since(now));
    Duration::from_millis(left_ms.min(KEPT_AT_MOST_LONGER_MS))
}

/// Checks that payers are erased after retention, within one or two looks once all is quiet.
pub(crate) async fn check_kept(world: &Arc<World>) {
    if !world.installation.plan.retains {
        return;
    }
    // A call that has hung since the storm is given up first, and the claim of a dead node expires: later if its clock
    // was fast.
    sleep(CLAIMED_FOR.max(claimed_for(world)) + LOOK_EVERY * 6).await;
    let now = world.clock.now();
    for payment in world.store.payments() {
        let is_over = |since: Timestamp, kept_ms: u64| since.plus_ms(kept_ms + KEPT_AT_MOST_LONGER_MS) < now;
        let is_paid = payment.status() == Status::Paid;
        let kept_ms = if is_paid { KEPT_FOR.rested_ms.max(KEPT_FOR.paid_ms) } else { KEPT_FOR.rested_ms };
        let has_rested = payment.rests_since().is_some_and(|since| is_over(since, kept_ms));
        let until = now.minus_ms(KEPT_FOR.paid_ms + KEPT_AT_MOST_LONGER_MS);
        if has_rested && payment.is_finished(until) {
            world.violation(format!("{}: its payer is kept for ever", payment.id));
        }
    }
}
