//! One actor per transaction: the only writer of its status.
//!
//! Owns one payment: decide → persist → apply → reply → effects. While it handles a message, it awaits nothing but the
//! store (and an acquirer that answers locally). Calls to acquirers run in separate tasks, and their answers come back
//! as commands. Never acts on a state that is not stored yet. Never stops itself: its front drops the address.

mod card_in_hand;
pub(crate) mod commands;
pub(crate) mod confirmed;
mod core;
pub(crate) mod effects;
pub(crate) mod front;
mod hold;
mod memory;
pub(crate) mod messages;
pub(crate) mod published;
mod unsent;
mod wheel;

use std::sync::Arc;

use actix::prelude::*;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_ports::trace::{Span, within};

use self::core::Core;
pub(crate) use self::hold::Hold;
use self::messages::{Await, Create, Execute, Forget, MayInquire, Read, StoreConfirmed, Until};
use crate::actor::kind::ActorKind;
use crate::actor::mailbox::{Ask, Mailbox, Reply, leave_bound_to_mailbox};
use crate::actor::meter::{ActorMeter, Alive};
use crate::denied::Denied;
use crate::system::parts::SystemParts;

/// Maximum number of callers that may wait for one payment to change.
const MAX_WAITERS: usize = 256;

type Waiter = (Until, Reply<Result<Arc<Payment>, Denied>>);

/// Owns one payment.
pub(crate) struct TransactionActor {
    /// Taken out while a message is handled; no other message is handled meanwhile.
    core: Option<Core>,
    /// Timer of the waiting confirmation, if there is one.
    timer: Option<SpawnHandle>,
    waiters: Vec<Waiter>,
    _alive: Alive,
}

impl TransactionActor {
    fn new(id: TransactionId, system: Arc<SystemParts>, hold: Hold, alive: Alive) -> Self {
        Self { core: Some(Core::new(id, system, hold)), timer: None, waiters: Vec::new(), _alive: alive }
    }

    /// Starts the actor with its mailbox. The hold tells the front when the actor must not leave memory.
    pub(crate) fn launch(
        id: TransactionId,
        system: &Arc<SystemParts>,
        meter: &Arc<ActorMeter>,
        hold: Hold,
    ) -> Mailbox<Self> {
        let actor = Self::new(id, Arc::clone(system), hold, meter.alive_for(id));
        let address = Self::create(|context| {
            leave_bound_to_mailbox(context);
            actor
        });
        Mailbox::with_trail(address, Arc::clone(meter), system.limits.transaction_mailbox)
    }

    /// The kind, for the meter.
    pub(crate) const KIND: ActorKind = ActorKind::Transaction;

    /// Puts the core back, and answers callers whose condition now holds.
    fn settle(&mut self, mut core: Core, context: &mut Context<Self>) {
        core.drop_expired_card();
        match (core.stores_confirmed_after(), self.timer) {
            (Some(after), None) => self.timer = Some(context.notify_later(ConfirmedIsDue, after)),
            (None, Some(timer)) => {
                context.cancel_future(timer);
                self.timer = None;
            }
            (Some(_), Some(_)) | (None, None) => {}
        }
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
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let span_context = handling.context();
        let work = async move {
            let created = core.create(*new).await;
            record_status(handling.span(), created.as_ref().ok().map(|created| &created.payment));
            reply.send(created);
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            within(span_context, work)
                .into_actor(self)
                .map(|core, actor, context| actor.settle(core, context)),
        ))
    }
}

impl Handler<Ask<Execute>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Execute>, _: &mut Self::Context) -> Self::Result {
        let (question, reply, mut handling) = ask.open();
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let span_context = handling.context();
        let work = async move {
            let executed = core.execute(&question.asker, question.command).await;
            record_status(handling.span(), executed.as_ref().ok().map(|executed| &executed.payment));
            reply.send(executed);
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            within(span_context, work)
                .into_actor(self)
                .map(|core, actor, context| actor.settle(core, context)),
        ))
    }
}

impl Handler<Ask<MayInquire>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<MayInquire>, _: &mut Self::Context) -> Self::Result {
        let (question, reply, handling) = ask.open();
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let span_context = handling.context();
        let work = async move {
            reply.send(core.may_inquire(&question.acquirer).await);
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            within(span_context, work)
                .into_actor(self)
                .map(|core, actor, context| actor.settle(core, context)),
        ))
    }
}

impl Handler<Ask<Await>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Await>, _: &mut Self::Context) -> Self::Result {
        let (question, reply, handling) = ask.open();
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let span_context = handling.context();
        let until = question.until;
        let work = async move {
            let current = core.current().await;
            drop(handling);
            (core, current)
        };
        AtomicResponse::new(Box::pin(within(span_context, work).into_actor(self).map(
            move |(core, current), actor, context| {
                match current {
                    // A waiter beyond the limit gets the current state at once instead of waiting.
                    Ok(payment) if !until.has_come(&payment) && actor.waiters.len() < MAX_WAITERS => {
                        actor.waiters.push((until, reply));
                    }
                    result => reply.send(result),
                }
                actor.settle(core, context);
            },
        )))
    }
}

impl Handler<Ask<Read>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<Read>, _: &mut Self::Context) -> Self::Result {
        let (Read(_), reply, handling) = ask.open();
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let span_context = handling.context();
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
            within(span_context, work)
                .into_actor(self)
                .map(|core, actor, context| actor.settle(core, context)),
        ))
    }
}

/// The waiting confirmation must be stored now.
#[derive(Message)]
#[rtype(result = "()")]
struct ConfirmedIsDue;

impl Handler<ConfirmedIsDue> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, _: ConfirmedIsDue, _: &mut Self::Context) -> Self::Result {
        self.timer = None;
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let work = async move {
            core.store_confirmed().await;
            core
        };
        AtomicResponse::new(Box::pin(
            work.into_actor(self).map(|core, actor, context| actor.settle(core, context)),
        ))
    }
}

impl Handler<Ask<StoreConfirmed>> for TransactionActor {
    type Result = AtomicResponse<Self, ()>;

    fn handle(&mut self, ask: Ask<StoreConfirmed>, _: &mut Self::Context) -> Self::Result {
        let (StoreConfirmed { .. }, reply, handling) = ask.open();
        let Some(mut core) = self.core.take() else { return no_core(self) };
        let work = async move {
            reply.send(core.store_confirmed().await);
            drop(handling);
            core
        };
        AtomicResponse::new(Box::pin(
            work.into_actor(self).map(|core, actor, context| actor.settle(core, context)),
        ))
    }
}

impl Handler<Ask<Forget>> for TransactionActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Forget>, _: &mut Self::Context) {
        let (Forget(_), reply, handling) = ask.open();
        let _here = handling.enter();
        if let Some(core) = &mut self.core {
            core.forget();
        }
        reply.send(Ok(()));
    }
}

/// Records the payment's current status in the span.
fn record_status(span: &mut Span, payment: Option<&Arc<Payment>>) {
    if let Some(payment) = payment {
        span.record("payment.status", payment.status().as_str());
    }
}

/// Handles a case that can't happen, because the core is present whenever a message is handled. The caller would see a
/// dropped reply.
fn no_core(actor: &TransactionActor) -> AtomicResponse<TransactionActor, ()> {
    AtomicResponse::new(Box::pin(async {}.into_actor(actor)))
}
