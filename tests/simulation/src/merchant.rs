//! Merchants' programs. They create, retry with their keys, read, cancel, capture, refund and redeliver, several at
//! once, on any node. They compare each answer with earlier ones.

use std::sync::Arc;

use quita_actors::{CreatePayment, Denied, Operated};
use quita_domain::identity::{OperationId, TransactionId};
use quita_domain::money::Money;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::operation::{OperationRequest, RequestedOperation};
use quita_domain::payment::Refusal;

use crate::chance::Fault;
use crate::installation::Happening;
use crate::node::Untold;
use crate::orders::Request;
use crate::store::{owner, owner_of};
use crate::world::World;

/// Maximum number of times that a request with a key is sent until it is answered.
const TRIES: u32 = 40;

/// Step that a merchant takes with a payment after its creation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// Wait for this many milliseconds.
    Wait(u64),
    Read,
    Operate(RequestedOperation),
    Redeliver,
}

/// Program of a merchant.
#[derive(Clone)]
pub(crate) struct Merchant {
    pub(crate) world: Arc<World>,
    pub(crate) request: Request,
}

impl Merchant {
    /// Creates the payment; with a key, it retries. Returns true if that was acknowledged.
    pub(crate) async fn create(&self) -> bool {
        let world = &self.world;
        let now = world.clock.now();
        for _ in 0..if self.request.has_key { TRIES } else { 1 } {
            let Some(node) = world.any_node() else {
                world.pass(200, 1_000).await;
                continue;
            };
            let floor = world.told_version(self.request.id());
            let Some(id) = node.id_of(world, self.request).await else {
                world.pass(50, 2_000).await;
                continue;
            };
            let new = CreatePayment { id, ..self.request.new_payment(now) };
            let answer =
                self.with_patience(node.call(|payments| async move { payments.create(new).await })).await;
            world.note(|| format!("create {} at node {}: {}", self.request.id(), node.place, brief(&answer)));
            match answer {
                Ok(Ok(created)) if created.payment.id != self.request.id() => {
                    world.violation(format!("{}: its key made a second payment", self.request.id()));
                    return true;
                }
                Ok(Ok(created)) => {
                    self.hear(floor, created.payment.state.version);
                    return true;
                }
                Ok(Err(denied)) if denied.is_transient() => {}
                Ok(Err(denied)) => {
                    world.violation(format!("{}: a good request was denied: {denied}", self.request.id()));
                    return false;
                }
                Err(Untold) => {}
            }
            world.pass(50, 2_000).await;
        }
        false
    }

    /// Takes the steps.
    pub(crate) async fn act(&self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Wait(ms) => self.world.pass(ms, ms).await,
                Step::Read => self.read().await,
                Step::Operate(requested) => self.operate(requested).await,
                Step::Redeliver => self.redeliver().await,
            }
        }
    }

    /// Reads the payment back: it exists, and is never older than any answer before.
    pub(crate) async fn read(&self) {
        let world = &self.world;
        let id = self.request.id();
        let Some(node) = world.any_node() else { return };
        let floor = world.told_version(id);
        let owner = owner_of(self.request.merchant);
        match node.call(|payments| async move { payments.read_own(id, &owner).await }).await {
            Ok(Ok(payment)) => self.hear(floor, payment.state.version),
            Ok(Err(Denied::NotFound)) if floor.is_some() => {
                world.violation(format!("{id} was acknowledged and is not found"));
            }
            Ok(Err(Denied::NotFound)) if self.request.has_key && world.installation.was_set_back(id) => {
                world.installation.count(Happening::AskedForOnceMore);
                self.create().await;
            }
            Ok(Err(_)) | Err(Untold) => {}
        }
    }

    fn hear(&self, floor: Option<u32>, version: u32) {
        let id = self.request.id();
        if floor.is_some_and(|floor| version < floor) {
            self.world
                .violation(format!("{id}: version {version} was told after version {}", floor.unwrap()));
        }
        self.world.tell(id, version);
    }

    /// Cancels, captures or refunds; with a key, it retries.
    async fn operate(&self, requested: RequestedOperation) {
        let world = &self.world;
        let id = self.request.id();
        let key = world.chance.per_mille(700).then(|| format!("key-{}", world.chance.any()));
        for _ in 0..if key.is_some() { TRIES } else { 1 } {
            let Some(node) = world.any_node() else {
                world.pass(200, 1_000).await;
                continue;
            };
            let floor = world.told_version(id);
            let request =
                OperationRequest { id: OperationId::new(world.fresh_id()), requested, key: key.clone() };
            let owner = owner_of(self.request.merchant);
            let call = node.call(|payments| async move { payments.operate(id, owner, request).await });
            let answer = self.with_patience(call).await;
            world.note(|| {
                format!("{} {id} at node {}: {}", requested.verb(), node.place, brief_operation(&answer))
            });
            match answer {
                Ok(Ok(operated)) => {
                    self.hear(floor, operated.payment.state.version);
                    world.tell_operation(id, operated.operation.id);
                    return;
                }
                Ok(Err(denied)) if !denied.is_transient() => {
                    self.check_refusal(&denied, requested);
                    return;
                }
                Ok(Err(_)) | Err(Untold) => {}
            }
            world.pass(50, 2_000).await;
        }
    }

    fn check_refusal(&self, denied: &Denied, requested: RequestedOperation) {
        let is_sane = match denied {
            Denied::Refused(refusal) => !matches!(refusal, Refusal::KeyReused | Refusal::NoSuchDelivery),
            Denied::NotFound => self.world.told_version(self.request.id()).is_none(),
            Denied::KeyReused
            | Denied::TokenUsed
            | Denied::MethodUnavailable
            | Denied::AmountNotAccepted
            | Denied::ExpiryNotAccepted
            | Denied::NoRoute
            | Denied::Overloaded
            | Denied::Interrupted
            | Denied::StoreUnavailable(_)
            | Denied::Stopping
            | Denied::Defect(_) => false,
        };
        if !is_sane {
            self.world.violation(format!("{}: {} was denied: {denied}", self.request.id(), requested.verb()));
        }
    }

    async fn redeliver(&self) {
        let world = &self.world;
        let id = self.request.id();
        let has_one = world.store.payment(id).is_some_and(|payment| !payment.outbox.is_empty());
        let Some(node) = world.any_node().filter(|_| has_one) else { return };
        let owner = owner_of(self.request.merchant);
        drop(
            node.call(|payments| async move { payments.redeliver(id, owner, DeliveryIndex::FIRST).await })
                .await,
        );
    }

    /// Makes a call; some clients hang up before they have the answer.
    async fn with_patience<T>(&self, call: impl Future<Output = Result<T, Untold>>) -> Result<T, Untold> {
        if !self.world.strikes(Fault::ClientHangsUp) {
            return call.await;
        }
        tokio::select! {
            biased;
            answer = call => answer,
            () = self.world.pass(1, 500) => Err(Untold),
        }
    }
}

/// Draws the steps of one of the programs that act on one payment at the same time.
pub(crate) fn steps_by_chance(world: &World, cents: u64) -> Vec<Step> {
    let chance = &world.chance;
    let mut steps = vec![Step::Wait(chance.between(0, 15_000))];
    for _ in 0..chance.between(1, 3) {
        let amount = chance.per_mille(500).then(|| Money::from_cents(chance.between(1, cents)));
        // Several of these fit into one payment.
        let a_part = Money::from_cents(cents.div_ceil(4));
        let requested_operations = [
            RequestedOperation::Cancel,
            RequestedOperation::Capture(amount),
            RequestedOperation::Refund(amount),
            RequestedOperation::Refund(Some(a_part)),
            RequestedOperation::Refund(None),
        ];
        let operate = Step::Operate(chance.pick(&requested_operations));
        steps.push(chance.pick(&[Step::Read, operate, operate, operate, Step::Redeliver]));
        steps.push(Step::Wait(chance.between(0, 5_000)));
        steps.push(Step::Read);
    }
    steps
}

fn brief(answer: &Result<Result<quita_actors::Created, Denied>, Untold>) -> String {
    match answer {
        Ok(Ok(created)) => {
            format!("{} version {}", created.payment.status(), created.payment.state.version)
        }
        Ok(Err(denied)) => denied.to_string(),
        Err(Untold) => "untold".to_owned(),
    }
}

fn brief_operation(answer: &Result<Result<Operated, Denied>, Untold>) -> String {
    match answer {
        Ok(Ok(operated)) => format!("{:?} {}", operated.operation.state(), operated.operation.id),
        Ok(Err(denied)) => denied.to_string(),
        Err(Untold) => "untold".to_owned(),
    }
}

/// Reads one payment at every node; no other merchant may see anything of it.
pub(crate) async fn read_everywhere(world: &Arc<World>, id: TransactionId) {
    let stored = world.store.payment(id);
    let version = stored.as_ref().map(|payment| payment.state.version);
    let owner = stored.map_or_else(owner, |payment| payment.owner.clone());
    for place in 0..world.node_count() {
        let Some(node) = world.node(place) else { continue };
        let asker = owner.clone();
        let read = node.call(|payments| async move { payments.read_own(id, &asker).await }).await;
        let told = read.ok().and_then(Result::ok).map(|payment| payment.state.version);
        // A node that dies or stops at this moment does not answer.
        if node.takes_requests() && (told.is_none() || told < version) {
            world.violation(format!("{id}: node {place} says {told:?}, the store {version:?}"));
        }
    }
    if world.installation.plan.other_merchants > 0
        && let Some(node) = world.any_node()
    {
        let stranger = owner_of(if owner == owner_of(0) { 1 } else { 0 });
        let read = node.call(|payments| async move { payments.read_own(id, &stranger).await }).await;
        if matches!(read, Ok(Ok(_))) {
            world.violation(format!("{id}: another merchant was told of it"));
        }
    }
}
