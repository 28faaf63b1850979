//! One actor per transaction: the only writer of its status.
//!
//! Owns one payment: decide → persist → apply → reply → effects. Awaits nothing but the store (and an acquirer that
//! answers locally) while it handles a message; calls to acquirers run in tasks of their own and come back as
//! commands. Never changes what is not stored yet, never stops itself: its front drops the address.

mod card_in_hand;
mod core;
mod effects;
mod memory;

use std::sync::Arc;

use actix::prelude::*;
use quita_domain::identity::{AcquirerName, Owner, TransactionId};
use quita_domain::operation::OperationState;
use quita_domain::payment::{Command, Oddity, Payment};
use quita_domain::status::Status;
use quita_ports::trace::{Span, within};
use uuid::Uuid;

pub(crate) use self::card_in_hand::CardHold;
use self::core::Core;
use crate::actor_meter::{ActorMeter, Alive};
use crate::kind::ActorKind;
use crate::mailbox::{Ask, Mailbox, Question, Reply, leave_bound_to_mailbox};
use crate::payments::{CreatePayment, Created, Denied};
use crate::shared::Shared;

/// Callers that may wait for one payment to change.
const MAX_WAITERS: usize = 256;

/// A question that is for one payment.
pub(crate) trait Addressed: Question {
    /// Which.
    fn id(&self) -> TransactionId;
}

/// Create the payment, or find it under its key.
pub(crate) struct Create(pub(crate) Box<CreatePayment>);

impl Question for Create {
    type Answer = Result<Created, Denied>;
    const NAME: &'static str = "create";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.id());
    }
}

impl Addressed for Create {
    fn id(&self) -> TransactionId {
        self.0.id
    }
}

/// Execute a command.
pub(crate) struct Execute {
    pub(crate) id: TransactionId,
    /// Who asks.
    pub(crate) asker: Asker,
    pub(crate) command: Command,
}

/// Who asks, which decides what the payment is to them. To anybody else it does not exist.
#[derive(Debug, Clone)]
pub(crate) enum Asker {
    /// The service itself.
    Service,
    /// A merchant, of the payments of its own.
    Owner(Owner),
    /// An acquirer, of the payments that were charged there.
    Acquirer(AcquirerName),
}

impl Asker {
    pub(crate) fn may_see(&self, payment: &Payment) -> bool {
        match self {
            Self::Service => true,
            Self::Owner(owner) => owner.may_see(&payment.owner),
            Self::Acquirer(name) => payment.state.attempts.iter().any(|attempt| attempt.acquirer == *name),
        }
    }
}

impl Question for Execute {
    type Answer = Result<Executed, Denied>;
    const NAME: &'static str = "execute";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.id);
        span.tell("command", self.command.name());
    }
}

impl Addressed for Execute {
    fn id(&self) -> TransactionId {
        self.id
    }
}

/// What came of a command.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub(crate) payment: Arc<Payment>,
    pub(crate) oddity: Option<Oddity>,
    pub(crate) operation: Option<Uuid>,
    pub(crate) is_replay: bool,
    /// Whether an acquirer is called because of it.
    pub(crate) calls_acquirer: bool,
}

/// Answer when this has come true.
pub(crate) struct Await {
    pub(crate) id: TransactionId,
    pub(crate) until: Until,
}

impl Question for Await {
    type Answer = Result<Arc<Payment>, Denied>;
    const NAME: &'static str = "await";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.id());
    }
}

impl Addressed for Await {
    fn id(&self) -> TransactionId {
        self.id
    }
}

/// What a caller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The acquirer has answered, or its call is known to be lost. A notice that overtakes the answer is not enough for
    /// a method that has a code to pay with: it brings none.
    Answered,
    /// The operation was done or refused.
    Ended(Uuid),
    /// Something changed that the merchant can see.
    ChangedSince(u32),
}

impl Until {
    pub(crate) fn has_come(self, payment: &Payment) -> bool {
        match self {
            Self::Answered => payment.status() != Status::Initial && !payment.awaits_code(),
            Self::ChangedSince(version) => payment.state.version > version,
            Self::Ended(id) => payment
                .operations
                .iter()
                .find(|operation| operation.id == id)
                .is_some_and(|operation| operation.state != OperationState::Processing),
        }
    }
}

/// Tell what the payment is now.
pub(crate) struct Read(pub(crate) TransactionId);

impl Question for Read {
    type Answer = Result<Option<Arc<Payment>>, Denied>;
    const NAME: &'static str = "read";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.id());
    }
}

impl Addressed for Read {
    fn id(&self) -> TransactionId {
        self.0
    }
}

type Waiter = (Until, Reply<Result<Arc<Payment>, Denied>>);

/// Owns one payment.
pub(crate) struct TransactionActor {
    /// Taken while a message is handled; nothing else is handled meanwhile.
    core: Option<Core>,
    waiters: Vec<Waiter>,
    _alive: Alive,
}

impl TransactionActor {
    fn new(id: TransactionId, shared: Arc<Shared>, hold: CardHold, alive: Alive) -> Self {
        Self { core: Some(Core::new(id, shared, hold)), waiters: Vec::new(), _alive: alive }
    }

    /// Starts it with its mailbox. The hold tells when it must not leave the memory.
    pub(crate) fn launch(
        id: TransactionId,
        shared: &Arc<Shared>,
        meter: &Arc<ActorMeter>,
        hold: CardHold,
    ) -> Mailbox<Self> {
        let actor = Self::new(id, Arc::clone(shared), hold, meter.alive_for(id));
        let address = Self::create(|context| {
            leave_bound_to_mailbox(context);
            actor
        });
        Mailbox::with_trail(address, Arc::clone(meter), shared.limits.transaction_mailbox)
    }

    /// The kind, for the meter.
    pub(crate) const KIND: ActorKind = ActorKind::Transaction;

    /// Takes the core back, and tells those who waited for what has now come true.
    fn settle(&mut self, mut core: Core) {
        core.let_stale_card_go();
        if let Some(payment) = core.payment() {
            for (until, reply) in std::mem::take(&mut self.waiters) {
                if until.has_come(payment) {
                    reply.send(Ok(Arc::clone(payment)));
                } else {
                    self.waiters.push((until, reply));
                }
            }
        }
        self.core = Some(core);
    }
}

impl Actor for TransactionActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Create>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Create>, _: &mut Self::Context) -> Self::Result {
        let (Create(new), reply, mut handling) = ask.open();
        let Some(mut core) = self.core.take() else { return nothing(self) };
        let place = handling.place();
        let work = async move {
            let created = core.create(*new).await;
            tell_status(handling.span(), created.as_ref().ok().map(|created| &created.payment));
            reply.send(created);
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            within(place, work).into_actor(self).map(|core, actor, _| actor.settle(core)),
        ))
    }
}

impl Handler<Ask<Execute>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Execute>, _: &mut Self::Context) -> Self::Result {
        let (question, reply, mut handling) = ask.open();
        let Some(mut core) = self.core.take() else { return nothing(self) };
        let place = handling.place();
        let work = async move {
            let executed = core.execute(&question.asker, question.command).await;
            tell_status(handling.span(), executed.as_ref().ok().map(|executed| &executed.payment));
            reply.send(executed);
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            within(place, work).into_actor(self).map(|core, actor, _| actor.settle(core)),
        ))
    }
}

impl Handler<Ask<Await>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Await>, _: &mut Self::Context) -> Self::Result {
        let (question, reply, handling) = ask.open();
        let Some(mut core) = self.core.take() else { return nothing(self) };
        let (place, until) = (handling.place(), question.until);
        let work = async move {
            let current = core.current().await;
            drop(handling);
            (core, current)
        };
        AtomicResponse::new(Box::pin(within(place, work).into_actor(self).map(
            move |(core, current), actor, _| {
                match current {
                    Ok(payment) if !until.has_come(&payment) && actor.waiters.len() < MAX_WAITERS => {
                        actor.waiters.push((until, reply));
                    }
                    result => reply.send(result),
                }
                actor.settle(core);
            },
        )))
    }
}

impl Handler<Ask<Read>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Read>, _: &mut Self::Context) -> Self::Result {
        let (Read(_), reply, handling) = ask.open();
        let Some(mut core) = self.core.take() else { return nothing(self) };
        let place = handling.place();
        let work = async move {
            let current = core.current().await;
            reply.send(match current {
                Ok(payment) => Ok(Some(payment)),
                Err(Denied::NotFound) => Ok(None),
                Err(denied) => Err(denied),
            });
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            within(place, work).into_actor(self).map(|core, actor, _| actor.settle(core)),
        ))
    }
}

/// Tells which status a payment has now.
fn tell_status(span: &mut Span, payment: Option<&Arc<Payment>>) {
    if let Some(payment) = payment {
        span.tell("payment.status", payment.status().as_str());
    }
}

/// Can't happen: the core is there whenever a message is handled. The caller sees a dropped reply.
fn nothing(actor: &TransactionActor) -> AtomicResponse<TransactionActor, ()> {
    AtomicResponse::new(Box::pin(async {}.into_actor(actor)))
}
