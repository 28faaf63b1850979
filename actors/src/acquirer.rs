//! One acquirer for one method.
//!
//! Owns the bound on calls under way and their time-out. Turns what the provider answered into a fact, and everything
//! else into "not delivered" or "unknown"; never guesses, never retries. Made anew by the supervisor when it dies:
//! whoever waited then counts the call as unknown.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery, OperationAnswer};
use quita_domain::identity::AcquirerName;
use quita_domain::operation::Operation;
use quita_ports::{Acquirer, Clock};
use tokio::time::Instant;

use crate::mailbox::{Ask, Question};
use crate::meter::{Alive, Meter};
use crate::routing::Health;

/// Calls that may wait for each one that may be under way.
const QUEUED_PER_CALL: usize = 8;

/// Send this charge, if its call can end before its lease does.
pub(crate) struct SendCharge {
    pub(crate) charge: Box<Charge>,
    /// When others may ask what became of it; `None` while it has no outside effect.
    pub(crate) lease_end: Option<Instant>,
}

impl Question for SendCharge {
    type Answer = ChargeAnswer;
    const NAME: &'static str = "charge";
}

/// A charge that was answered locally is stored.
pub(crate) struct Begun(pub(crate) Box<ChargeQuery>);

impl Question for Begun {
    type Answer = ();
    const NAME: &'static str = "begun";
}

/// Ask what became of this charge.
pub(crate) struct FindCharge(pub(crate) Box<ChargeQuery>);

impl Question for FindCharge {
    type Answer = ChargeAnswer;
    const NAME: &'static str = "find";
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
    _alive: Alive,
}

impl AcquirerActor {
    pub(crate) fn new(parts: AcquirerParts, alive: Alive) -> Self {
        Self { parts: Rc::new(parts), waiting: VecDeque::new(), in_flight: 0, _alive: alive }
    }

    fn has_room(&self) -> bool {
        self.waiting.len() < self.parts.concurrency.saturating_mul(QUEUED_PER_CALL)
    }

    fn enqueue(&mut self, call: impl Future<Output = ()> + 'static, context: &mut Context<Self>) {
        self.waiting.push_back(Box::pin(call));
        self.pump(context);
    }

    /// New payments are routed elsewhere, or refused before anything is written, while half of the room is taken.
    fn tell_if_busy(&self) {
        let half = self.parts.concurrency.saturating_mul(QUEUED_PER_CALL / 2);
        self.parts.health.set_busy(self.waiting.len() > half);
    }

    fn pump(&mut self, context: &mut Context<Self>) {
        self.tell_if_busy();
        while self.in_flight < self.parts.concurrency {
            let Some(call) = self.waiting.pop_front() else { break };
            self.in_flight = self.in_flight.saturating_add(1);
            context.spawn(call.into_actor(self).map(|(), actor, context| {
                actor.in_flight = actor.in_flight.saturating_sub(1);
                actor.pump(context);
            }));
        }
    }
}

impl Actor for AcquirerActor {
    type Context = Context<Self>;
}

impl Handler<Ask<SendCharge>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<SendCharge>, context: &mut Self::Context) {
        let (SendCharge { charge, lease_end }, reply, _timer) = ask.open();
        if !self.has_room() {
            reply.send(ChargeAnswer::Failed(too_busy()));
            return;
        }
        let parts = Rc::clone(&self.parts);
        self.enqueue(
            async move {
                if parts.is_too_late(lease_end) {
                    reply.send(ChargeAnswer::Failed(waited_too_long()));
                    return;
                }
                let call = parts.acquirer.charge(&charge);
                reply.send(parts.timed(call, ChargeAnswer::Failed, charge_outcome).await);
            },
            context,
        );
    }
}

impl Handler<Ask<Begun>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Begun>, context: &mut Self::Context) {
        let (Begun(query), reply, _timer) = ask.open();
        if self.waiting.len() >= self.parts.mailbox {
            // The acquirer is asked when it expects news.
            return;
        }
        let parts = Rc::clone(&self.parts);
        self.enqueue(
            async move {
                parts.acquirer.begun(&query).await;
                reply.send(());
            },
            context,
        );
    }
}

impl Handler<Ask<FindCharge>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<FindCharge>, context: &mut Self::Context) {
        let (FindCharge(query), reply, _timer) = ask.open();
        if !self.has_room() {
            reply.send(ChargeAnswer::Failed(too_busy()));
            return;
        }
        let parts = Rc::clone(&self.parts);
        self.enqueue(
            async move {
                let call = parts.acquirer.find(&query);
                reply.send(parts.timed(call, ChargeAnswer::Failed, charge_outcome).await);
            },
            context,
        );
    }
}

impl Handler<Ask<SendOperation>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<SendOperation>, context: &mut Self::Context) {
        let (SendOperation { query, operation, lease_end }, reply, _timer) = ask.open();
        if !self.has_room() {
            reply.send(OperationAnswer::Failed(too_busy()));
            return;
        }
        let parts = Rc::clone(&self.parts);
        self.enqueue(
            async move {
                if parts.is_too_late(Some(lease_end)) {
                    reply.send(OperationAnswer::Failed(waited_too_long()));
                    return;
                }
                let call = parts.acquirer.operate(&query, &operation);
                reply.send(parts.timed(call, OperationAnswer::Failed, operation_outcome).await);
            },
            context,
        );
    }
}

impl AcquirerParts {
    /// Whether a call that begins now might still be under way when its lease ends. Whoever asks then would be told
    /// that the acquirer never saw it, and would send it again.
    fn is_too_late(&self, lease_end: Option<Instant>) -> bool {
        let ends = Instant::now() + self.time_out;
        lease_end.is_some_and(|lease_end| lease_end <= ends)
    }

    /// Runs a call under the time-out, and counts what came of it.
    async fn timed<T>(
        &self,
        call: impl Future<Output = T>,
        failed: impl FnOnce(CallFailure) -> T,
        outcome: impl FnOnce(&T) -> Outcome,
    ) -> T {
        let started = Instant::now();
        let answer = match tokio::time::timeout(self.time_out, call).await {
            Ok(answer) => answer,
            Err(_) => failed(CallFailure::Unknown("time-out".into())),
        };
        let outcome = outcome(&answer);
        match outcome {
            Outcome::Answered | Outcome::Refused => self.health.succeeded(),
            Outcome::NotDelivered | Outcome::Unknown => self.health.failed(self.clock.now()),
        }
        let seconds = self.meter.acquirer_requests.with_label_values(&[self.name.as_str(), outcome.label()]);
        seconds.observe(started.elapsed().as_secs_f64());
        answer
    }
}

fn too_busy() -> CallFailure {
    CallFailure::NotDelivered("too many calls are waiting".into())
}

fn waited_too_long() -> CallFailure {
    CallFailure::NotDelivered("it waited too long to be sent".into())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Answered,
    Refused,
    NotDelivered,
    Unknown,
}

impl Outcome {
    const fn label(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Refused => "refused",
            Self::NotDelivered => "not_delivered",
            Self::Unknown => "unknown",
        }
    }

    const fn of_failure(failure: &CallFailure) -> Self {
        match failure {
            CallFailure::NotDelivered(_) => Self::NotDelivered,
            CallFailure::Unknown(_) => Self::Unknown,
        }
    }
}

const fn charge_outcome(answer: &ChargeAnswer) -> Outcome {
    match answer {
        ChargeAnswer::Known(_) | ChargeAnswer::NotFound => Outcome::Answered,
        ChargeAnswer::Failed(failure) => Outcome::of_failure(failure),
    }
}

const fn operation_outcome(answer: &OperationAnswer) -> Outcome {
    match answer {
        OperationAnswer::Done => Outcome::Answered,
        OperationAnswer::Refused(_) => Outcome::Refused,
        OperationAnswer::Failed(failure) => Outcome::of_failure(failure),
    }
}
