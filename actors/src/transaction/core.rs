//! The heart of a transaction: load, decide, persist, apply.

use std::sync::Arc;

use quita_domain::acquiring::{ChargeAnswer, Fact};
use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::{Command, Decision, Effect, NewPayment, Payment};
use quita_domain::status::Status;
use quita_ports::{StoreError, WriteError};
use tokio::time::Instant;

use super::card_in_hand::{CardHold, CardInHand};
use super::memory::Memory;
use super::{Asker, Executed, effects};
use crate::acquirer::{Begun, SendCharge};
use crate::payments::{CreatePayment, Created, Denied};
use crate::routing::{NoRoute, Route};
use crate::shared::Shared;

/// Why nothing is routed until the store has told once what operators ordered.
const NO_ORDERS: &str = "it has not told yet which acquirers may be used";

/// Times a decision is made again because another writer was faster.
const MAX_CONFLICTS: u32 = 16;

/// One payment, as it is stored, and the card that may still have to be charged.
pub(super) struct Core {
    id: TransactionId,
    shared: Arc<Shared>,
    memory: Memory,
    card: CardInHand,
}

impl Core {
    pub(super) fn new(id: TransactionId, shared: Arc<Shared>, hold: CardHold) -> Self {
        let memory = Memory::new(id, Arc::clone(&shared));
        Self { id, shared, memory, card: CardInHand::new(hold) }
    }

    /// What is known without asking the store.
    pub(super) const fn payment(&self) -> Option<&Arc<Payment>> {
        self.memory.payment()
    }

    /// The payment as it is: known here, or read from the store.
    pub(super) async fn current(&mut self) -> Result<Arc<Payment>, Denied> {
        if let Some(payment) = self.memory.payment() {
            return Ok(Arc::clone(payment));
        }
        self.memory.begin();
        let found = self.shared.load(self.id).await?.ok_or(Denied::NotFound)?;
        self.memory.hold(&found);
        Ok(found)
    }

    /// Creates the payment; the insert decides whether it was there before.
    pub(super) async fn create(&mut self, new: CreatePayment) -> Result<Created, Denied> {
        if self.memory.payment().is_some() {
            self.forget_if_others_write();
            return replay(&self.taken().await?, new.fingerprint.as_deref());
        }
        if !self.shared.orders.are_known_within(self.shared.limits.write_time_out).await {
            return Err(Denied::StoreUnavailable(StoreError::Unavailable(NO_ORDERS.into())));
        }
        let (context, decided_at) = (self.shared.context(new.purchase.card.is_some()), Instant::now());
        let routes = self.shared.routes.get().ok_or(Denied::Stopping)?;
        let order = new.purchase.order;
        let considered = match routes.plan(&order, new.owner.mode, context.now, context.dice) {
            Ok(considered) => considered,
            Err(no_route) => return self.known_without_route(new.fingerprint, no_route).await,
        };
        self.card.take(new.purchase.card, Instant::now() + self.shared.limits.card_held_for);
        let fingerprint = new.fingerprint;
        let opened = Payment::open(
            NewPayment {
                id: self.id,
                owner: new.owner,
                order,
                fingerprint: fingerprint.clone(),
                page_token: new.page_token,
                considered,
            },
            &context,
        );
        let decision = self.answer_locally(opened).await;
        let Some(next) = decision.next else { return Err(Denied::Defect("an opened payment is a change")) };
        match self.persist(next, 0).await {
            Ok(payment) => {
                self.count_created(&payment);
                self.count_events(&payment, 0);
                self.tell_begun(&payment);
                self.run(&payment, decision.effects, decided_at);
                Ok(Created { payment, is_replay: false })
            }
            Err(WriteError::Conflict) => {
                self.card.let_go();
                let known = self.taken().await?;
                match fingerprint {
                    // The id was fresh: the write that seemed to be lost was ours.
                    None => {
                        self.count_created(&known);
                        Ok(Created { payment: known, is_replay: false })
                    }
                    Some(fingerprint) => replay(&known, Some(&fingerprint)),
                }
            }
            Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => {
                self.card.let_go();
                Err(Denied::StoreUnavailable(error))
            }
        }
    }

    /// The payment that took the id. A replica set refuses to store twice what a reader may not be shown yet: the
    /// caller has to ask again, and must not be told that there is none.
    async fn taken(&mut self) -> Result<Arc<Payment>, Denied> {
        match self.current().await {
            Err(Denied::NotFound) => {
                let why = String::from("a payment that is stored can't be read yet");
                Err(Denied::StoreUnavailable(StoreError::Unavailable(why)))
            }
            known => known,
        }
    }

    /// What was created under the key stays a replay when nobody would take it any more.
    async fn known_without_route(
        &mut self,
        fingerprint: Option<String>,
        no_route: NoRoute,
    ) -> Result<Created, Denied> {
        if fingerprint.is_none() {
            return Err(no_route.into());
        }
        match self.current().await {
            Ok(known) => replay(&known, fingerprint.as_deref()),
            Err(Denied::NotFound) => Err(no_route.into()),
            Err(denied) => Err(denied),
        }
    }

    /// If the acquirer answers without any outside effect, its answer goes into the first write.
    async fn answer_locally(&self, opened: Decision) -> Decision {
        let Some((payment, name)) = opened.next.as_ref().zip(first_charge(&opened.effects)) else {
            return opened;
        };
        let Some(route) = self.local_route(payment, name) else { return opened };
        let charge = Box::new(effects::charge(payment, None));
        let question = SendCharge { charge, moves_here: false, lease_end: None };
        let Ok(answer) = route.slot.mailbox().ask(question).await else { return opened };
        if !matches!(answer, ChargeAnswer::Known(Fact::Pending { .. })) {
            return opened;
        }
        let attempt = effects::attempt(payment);
        let context = self.shared.context(false);
        match payment.decide(Command::ChargeAnswered { attempt, answer }, &context) {
            Ok(decided) if decided.next.is_some() => decided,
            Ok(_) | Err(_) => opened,
        }
    }

    /// Tells an acquirer that answered locally that the charge is stored. If this is lost, the acquirer is asked when
    /// it expects news.
    fn tell_begun(&self, payment: &Payment) {
        if let Some(route) = payment.acquirer().and_then(|name| self.local_route(payment, name)) {
            route.slot.mailbox().offer(Begun(Box::new(payment.query())));
        }
    }

    fn local_route(&self, payment: &Payment, name: &AcquirerName) -> Option<&Route> {
        let route = self.shared.routes.get()?.find(name, payment.method())?;
        route.factory.answers_locally(&payment.order).then_some(route)
    }

    /// What is known here may be stale while other nodes write: the store tells.
    fn forget_if_others_write(&mut self) {
        if self.shared.may_be_stale(self.id) {
            self.memory.forget();
        }
    }

    /// Executes a command: decides on the stored state, again if another writer was faster.
    ///
    /// A write finds out by itself whether its payment was stale. What is refused or changes nothing makes no write,
    /// so it is decided on what the store has.
    pub(super) async fn execute(&mut self, asker: &Asker, command: Command) -> Result<Executed, Denied> {
        for _ in 0..MAX_CONFLICTS {
            let was_known = self.memory.payment().is_some();
            let payment = self.current().await?;
            let (context, decided_at) = (self.shared.context(self.card.get().is_some()), Instant::now());
            let decision = match asker.may_see(&payment) {
                true => payment.decide(command.clone(), &context).map_err(Denied::Refused),
                false => Err(Denied::NotFound),
            };
            if was_known && decision.as_ref().map_or(true, |decision| decision.next.is_none()) {
                self.forget_if_others_write();
                if self.memory.payment().is_none() {
                    continue;
                }
            }
            let decision = decision?;
            let (oddity, operation) = (decision.oddity, decision.operation);
            let calls_acquirer = decision.effects.iter().any(|effect| !matches!(effect, Effect::Deliver(_)));
            let is_replay = decision.is_replay;
            let executed = |payment| Executed { payment, oddity, operation, is_replay, calls_acquirer };
            let Some(next) = decision.next else { return Ok(executed(payment)) };
            match self.persist(next, payment.revision).await {
                Ok(stored) => {
                    self.count_events(&stored, payment.history.len());
                    self.count_given_up(&stored, &payment);
                    self.run(&stored, decision.effects, decided_at);
                    return Ok(executed(stored));
                }
                Err(WriteError::Conflict) => self.memory.forget(),
                Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) => {
                    self.memory.forget();
                    return Err(Denied::StoreUnavailable(error));
                }
            }
        }
        Err(Denied::Overloaded)
    }

    /// Stores the payment, and only then holds it for true.
    async fn persist(&mut self, next: Payment, expected_revision: u64) -> Result<Arc<Payment>, WriteError> {
        let next = Arc::new(next);
        self.memory.begin();
        self.shared.commit(Arc::clone(&next), expected_revision).await?;
        self.memory.hold(&next);
        Ok(next)
    }

    fn run(&mut self, payment: &Arc<Payment>, effects: Vec<Effect>, decided_at: Instant) {
        for effect in effects {
            effects::run(&self.shared, payment, (effect, decided_at), self.card.get());
        }
        if payment.status() != Status::Initial {
            self.card.let_go();
        }
    }

    /// A card that was held for too long leaves the memory, whatever was asked.
    pub(super) fn let_stale_card_go(&mut self) {
        self.card.get();
    }

    fn count_created(&self, payment: &Payment) {
        self.shared.meter.created.with_label_values(&[payment.method().label()]).inc();
    }

    fn count_events(&self, payment: &Payment, known: usize) {
        let acquirer = payment.acquirer().map_or("none", |name| name.as_str());
        for event in payment.history.iter().skip(known) {
            let labels = [payment.method().label(), acquirer, event.status.as_str()];
            self.shared.meter.payments.with_label_values(&labels).inc();
        }
    }

    fn count_given_up(&self, payment: &Payment, before: &Payment) {
        let given_up = exhausted(payment).saturating_sub(exhausted(before));
        self.shared.meter.webhook_exhausted.inc_by(given_up);
    }
}

/// Deliveries that were given up.
fn exhausted(payment: &Payment) -> u64 {
    let given_up = payment.outbox.iter().filter(|delivery| delivery.state == DeliveryState::Exhausted);
    u64::try_from(given_up.count()).unwrap_or(u64::MAX)
}

fn first_charge(effects: &[Effect]) -> Option<&AcquirerName> {
    effects.iter().find_map(|effect| match effect {
        Effect::Charge(name) => Some(name),
        Effect::Find(_) | Effect::Operate(..) | Effect::Deliver(_) => None,
    })
}

/// A payment that was there before: the same request gets it, another one is refused.
fn replay(known: &Arc<Payment>, fingerprint: Option<&str>) -> Result<Created, Denied> {
    if fingerprint.is_some() && known.fingerprint.as_deref() == fingerprint {
        Ok(Created { payment: Arc::clone(known), is_replay: true })
    } else {
        Err(Denied::KeyReused)
    }
}
