//! One acquirer for one method.
//!
//! Owns the bound on calls under way and their time-out. Turns what the provider answered into a fact, and everything
//! else into "not delivered" or "unknown"; never guesses, never retries. Sends nothing that an operator's order
//! withholds. Made anew by the supervisor when it dies: whoever waited then counts the call as unknown.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery, OperationAnswer};
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::operation::Operation;
use quita_ports::trace::{Span, SpanKind, within};
use quita_ports::{Acquirer, Clock};
use tokio::time::Instant;

use crate::actor_meter::{Alive, Level};
use crate::health::Health;
use crate::mailbox::{Ask, Question};
use crate::meter::Meter;
use crate::outcome::Ended;

/// Calls that may wait for each one that may be under way.
const QUEUED_PER_CALL: usize = 8;

/// Send this charge, if its call can end before its lease does.
pub(crate) struct SendCharge {
    pub(crate) charge: Box<Charge>,
    /// Whether the payment comes from another acquirer: then it is a new one here.
    pub(crate) moves_here: bool,
    /// When others may ask what became of it; `None` while it has no outside effect.
    pub(crate) lease_end: Option<Instant>,
}

impl Question for SendCharge {
    type Answer = ChargeAnswer;
    const NAME: &'static str = "charge";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.charge.query.id);
    }
}

/// A charge that was answered locally is stored.
pub(crate) struct Begun(pub(crate) Box<ChargeQuery>);

impl Question for Begun {
    type Answer = ();
    const NAME: &'static str = "begun";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.0.id);
    }
}

/// Ask what became of this charge.
pub(crate) struct FindCharge(pub(crate) Box<ChargeQuery>);

impl Question for FindCharge {
    type Answer = ChargeAnswer;
    const NAME: &'static str = "find";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.0.id);
    }
}

/// Cancel, capture or refund, if the call can end before its lease does: then it is sent again.
pub(crate) struct SendOperation {
    pub(crate) query: Box<ChargeQuery>,
    pub(crate) operation: Operation,
    pub(crate) lease_end: Instant,
}

impl Question for SendOperation {
    type Answer = OperationAnswer;
    const NAME: &'static str = "operate";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.query.id);
        span.tell("operation.id", self.operation.id.to_string());
    }
}

type Call = Pin<Box<dyn Future<Output = ()>>>;

/// What an acquirer actor is made of.
pub(crate) struct AcquirerParts {
    pub(crate) name: AcquirerName,
    pub(crate) acquirer: Rc<dyn Acquirer>,
    pub(crate) health: Arc<Health>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) concurrency: usize,
    pub(crate) time_out: Duration,
    pub(crate) mailbox: usize,
}

/// Bounds and times the calls to one acquirer.
pub(crate) struct AcquirerActor {
    parts: Rc<AcquirerParts>,
    waiting: VecDeque<Call>,
    in_flight: usize,
    level: Level,
    alive: Alive,
}

impl AcquirerActor {
    pub(crate) fn new(parts: AcquirerParts, alive: Alive) -> Self {
        parts.health.set_load(0, 0, false);
        Self { parts: Rc::new(parts), waiting: VecDeque::new(), in_flight: 0, level: alive.level(), alive }
    }

    /// Why a call is not even queued.
    fn turns_away(&self, moves_here: bool) -> Option<CallFailure> {
        let has_room = self.waiting.len() < self.parts.concurrency.saturating_mul(QUEUED_PER_CALL);
        let too_busy = || {
            self.alive.refused();
            CallFailure::NotDelivered("too many calls are waiting".into())
        };
        self.parts.withholds(moves_here).or_else(|| (!has_room).then(too_busy))
    }

    fn enqueue(&mut self, call: impl Future<Output = ()> + 'static, context: &mut Context<Self>) {
        self.waiting.push_back(Box::pin(call));
        self.pump(context);
    }

    /// New payments are routed elsewhere, or refused before anything is written, while half of the room is taken.
    fn tell_load(&mut self) {
        self.level.set(self.waiting.len());
        let half = self.parts.concurrency.saturating_mul(QUEUED_PER_CALL / 2);
        self.parts.health.set_load(self.in_flight, self.waiting.len(), self.waiting.len() > half);
    }

    fn pump(&mut self, context: &mut Context<Self>) {
        while self.in_flight < self.parts.concurrency {
            let Some(call) = self.waiting.pop_front() else { break };
            self.in_flight = self.in_flight.saturating_add(1);
            context.spawn(call.into_actor(self).map(|(), actor, context| {
                actor.in_flight = actor.in_flight.saturating_sub(1);
                actor.pump(context);
            }));
        }
        self.tell_load();
    }
}

impl Actor for AcquirerActor {
    type Context = Context<Self>;
}

impl Handler<Ask<SendCharge>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<SendCharge>, context: &mut Self::Context) {
        let (SendCharge { charge, moves_here, lease_end }, reply, mut handling) = ask.open();
        if let Some(why) = self.turns_away(moves_here) {
            reply.send(ChargeAnswer::Failed(why));
            return;
        }
        let (parts, span) = (Rc::clone(&self.parts), handling.hand_over());
        self.enqueue(
            async move {
                reply.send(match parts.keeps_back(moves_here, lease_end) {
                    Some(why) => ChargeAnswer::Failed(why),
                    None => {
                        let call = parts.call("call charge", charge.query.method, &span);
                        parts.timed(call, parts.acquirer.charge(&charge), ChargeAnswer::Failed).await
                    }
                });
            },
            context,
        );
    }
}

impl Handler<Ask<Begun>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Begun>, context: &mut Self::Context) {
        let (Begun(query), reply, mut handling) = ask.open();
        if self.waiting.len() >= self.parts.mailbox {
            // The acquirer is asked when it expects news.
            self.alive.refused();
            return;
        }
        let (parts, span) = (Rc::clone(&self.parts), handling.hand_over());
        self.enqueue(
            async move {
                if parts.keeps_back(false, None).is_none() {
                    within(span.place().cloned(), parts.acquirer.begun(&query)).await;
                }
                reply.send(());
            },
            context,
        );
    }
}

impl Handler<Ask<FindCharge>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<FindCharge>, context: &mut Self::Context) {
        let (FindCharge(query), reply, mut handling) = ask.open();
        if let Some(why) = self.turns_away(false) {
            reply.send(ChargeAnswer::Failed(why));
            return;
        }
        let (parts, span) = (Rc::clone(&self.parts), handling.hand_over());
        self.enqueue(
            async move {
                reply.send(match parts.keeps_back(false, None) {
                    Some(why) => ChargeAnswer::Failed(why),
                    None => {
                        let call = parts.call("call find", query.method, &span);
                        parts.timed(call, parts.acquirer.find(&query), ChargeAnswer::Failed).await
                    }
                });
            },
            context,
        );
    }
}

impl Handler<Ask<SendOperation>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<SendOperation>, context: &mut Self::Context) {
        let (SendOperation { query, operation, lease_end }, reply, mut handling) = ask.open();
        if let Some(why) = self.turns_away(false) {
            reply.send(OperationAnswer::Failed(why));
            return;
        }
        let (parts, span) = (Rc::clone(&self.parts), handling.hand_over());
        self.enqueue(
            async move {
                reply.send(match parts.keeps_back(false, Some(lease_end)) {
                    Some(why) => OperationAnswer::Failed(why),
                    None => {
                        let call = parts.call("call operate", query.method, &span);
                        let answer = parts.acquirer.operate(&query, &operation);
                        parts.timed(call, answer, OperationAnswer::Failed).await
                    }
                });
            },
            context,
        );
    }
}

impl AcquirerParts {
    /// Whether an operator's order forbids to send it.
    fn withholds(&self, moves_here: bool) -> Option<CallFailure> {
        let standing = self.health.order();
        let sends = standing.sends() && (standing.takes_new_payments() || !moves_here);
        (!sends).then_some(CallFailure::Withheld)
    }

    /// Why a call whose turn it is is not sent. If it might still be under way when its lease ends, whoever asks then
    /// would be told that the acquirer never saw it, and would send it again.
    fn keeps_back(&self, moves_here: bool, lease_end: Option<Instant>) -> Option<CallFailure> {
        let ends = Instant::now() + self.time_out;
        let is_too_late = lease_end.is_some_and(|lease_end| lease_end <= ends);
        let too_late = || CallFailure::NotDelivered("it waited too long to be sent".into());
        self.withholds(moves_here).or_else(|| is_too_late.then(too_late))
    }

    /// The span of a call that leaves now.
    fn call(&self, name: &'static str, method: Method, message: &Span) -> Span {
        let mut call = Span::child(message.place(), || name.into()).of_kind(SpanKind::Client);
        call.tell_with(|call| {
            call.tell("acquirer", self.name.as_str().to_owned());
            call.tell("method", method.label());
        });
        call
    }

    /// Runs a call under the time-out, and counts what came of it.
    async fn timed<T: Ended>(
        &self,
        mut call: Span,
        answer: impl Future<Output = T>,
        failed: impl FnOnce(CallFailure) -> T,
    ) -> T {
        let started = Instant::now();
        let answer = within(call.place().cloned(), answer);
        let answer = match tokio::time::timeout(self.time_out, answer).await {
            Ok(answer) => answer,
            Err(_) => failed(CallFailure::Unknown("time-out".into())),
        };
        let (took, (outcome, why)) = (started.elapsed(), answer.ended());
        call.tell("outcome", outcome.label());
        if why.is_some() {
            call.fail(outcome.label());
        }
        self.health.ended(outcome, took, self.clock.now(), why);
        let seconds = self.meter.acquirer_requests.with_label_values(&[self.name.as_str(), outcome.label()]);
        seconds.observe(took.as_secs_f64());
        answer
    }
}
