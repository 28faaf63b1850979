//! One acquirer for one method.
//!
//! Owns the limit on concurrent calls and their time-out, which begins once a call waits for nothing else. Turns the
//! provider's answer into a fact, and everything else into "not delivered" or "unknown". Never guesses, never retries.
//! Sends nothing that an operator's directive withholds, and nothing faster than the provider allows. However many
//! inquiries wait, charges and operations go first (`call_queue.rs`). Recreated by the supervisor when it dies; a
//! waiting caller then counts the call as unknown.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_ports::trace::{Span, SpanKind, within};
use quita_ports::{Acquirer, Clock, call_time};
use tokio::time::{Instant, sleep_until};

use super::call::{Call, Held};
use super::call_outcome::CallEnd;
use super::call_queue::CallQueue;
use super::health::Health;
use super::pace::Pace;
use crate::actor::mailbox::Ask;
use crate::actor::meter::{Alive, Level};
use crate::watch::meter::Meter;

type Queued = Pin<Box<dyn Future<Output = ()>>>;

/// Dependencies of an acquirer actor.
pub(crate) struct AcquirerParts {
    pub(crate) name: AcquirerName,
    pub(crate) method: Method,
    pub(crate) acquirer: Rc<dyn Acquirer>,
    pub(crate) health: Arc<Health>,
    pub(crate) pace: Arc<Pace>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) concurrency: usize,
    pub(crate) time_out: Duration,
}

/// Limits and times the calls to one acquirer.
pub(crate) struct AcquirerActor {
    parts: Rc<AcquirerParts>,
    queue: CallQueue<Queued>,
    level: Level,
    alive: Alive,
}

impl AcquirerActor {
    pub(crate) fn new(parts: AcquirerParts, alive: Alive) -> Self {
        // A predecessor that died may have left its load behind, which would keep new payments away.
        parts.health.set_load(0, 0, false);
        let queue = CallQueue::new(parts.concurrency);
        Self { parts: Rc::new(parts), queue, level: alive.level(), alive }
    }

    /// Returns the reason why a call is not even queued.
    fn turns_away(&mut self, call: &impl Call) -> Option<CallFailure> {
        if let Some(withheld) = self.parts.withholds(call) {
            return Some(withheld);
        }
        if self.queue.has_room(call.held().class()) {
            return None;
        }
        self.alive.refused();
        Some(match call.held() {
            Held::NewCharge { .. } | Held::Operation => {
                CallFailure::NotDelivered("too many calls are waiting".into())
            }
            // The provider was not asked. The inquiry is repeated when those before it are done.
            Held::Inquiry => put_off(self.queue.next_place(Instant::now())),
        })
    }

    /// Reports the load. While charges and operations fill more than half of their queue, new payments are routed
    /// elsewhere, or refused before anything is written. Inquiries never displace new payments.
    fn report_load(&mut self) {
        self.level.set(self.queue.waiting());
        self.parts.health.set_load(self.queue.under_way(), self.queue.waiting(), self.queue.is_busy());
    }

    fn pump(&mut self, context: &mut Context<Self>) {
        while let Some((class, call)) = self.queue.begin_next() {
            let begun = Instant::now();
            context.spawn(call.into_actor(self).map(move |(), actor, context| {
                actor.queue.ended(class, begun.elapsed());
                actor.pump(context);
            }));
        }
        self.report_load();
    }
}

impl Actor for AcquirerActor {
    type Context = Context<Self>;
}

impl<C: Call> Handler<Ask<C>> for AcquirerActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<C>, context: &mut Self::Context) {
        let (call, reply, mut handling) = ask.open();
        if let Some(why) = self.turns_away(&call) {
            reply.send(C::failed(why));
            return;
        }
        let parts = Rc::clone(&self.parts);
        let span = handling.hand_over();
        let class = call.held().class();
        self.queue.push(class, Box::pin(async move { reply.send(parts.make(&call, &span).await) }));
        self.pump(context);
    }
}

impl AcquirerParts {
    /// Returns the failure if an operator's directive forbids the call.
    fn withholds(&self, call: &impl Call) -> Option<CallFailure> {
        // A failover charge is a new payment here, and a paused route takes none.
        let sends = self.health.sends() && (self.health.takes_new_payments() || !call.is_failover());
        (!sends).then_some(CallFailure::Withheld)
    }

    /// Makes a call whose turn has come, as soon as the provider allows it.
    async fn make<C: Call>(&self, call: &C, message: &Span) -> C::Answer {
        let begun = Instant::now();
        match self.wait_for_pace(call).await {
            Err(why) => C::failed(why),
            // Checked again, because a directive may have been given while it waited.
            Ok(()) => match self.withholds(call) {
                Some(why) => C::failed(why),
                None => self.timed(call, message, self.waits_until(call, begun)).await,
            },
        }
    }

    /// Waits until the call may leave, or fails if it can't end before its lease does.
    async fn wait_for_pace(&self, call: &impl Call) -> Result<(), CallFailure> {
        // If it were still under way when its lease ends, an inquiry could be answered "not found", and the call would
        // be sent again.
        let now = Instant::now();
        let held = call.held();
        let by_lease = call.lease_end().map(|lease_end| lease_end.checked_sub(self.time_out));
        let latest = match by_lease {
            None => now + held.patience(),
            Some(Some(latest)) if latest > now => latest.min(now + held.patience()),
            Some(_) => return Err(CallFailure::NotDelivered("it waited too long to be sent".into())),
        };
        loop {
            let turn = match held {
                Held::NewCharge { .. } | Held::Operation => self.pace.take_turn(latest),
                Held::Inquiry => self.pace.take_inquiry_turn(latest).await,
            };
            sleep_until(turn.map_err(|wait| held.failure(wait))?).await;
            // Meanwhile the answer to another call may have asked for fewer calls.
            if self.pace.throttled_for().is_none() {
                return Ok(());
            }
        }
    }

    /// Returns the time by which everything that the call needs must be ready: within its patience, and so that it can
    /// end before its lease does.
    fn waits_until(&self, call: &impl Call, begun: Instant) -> Instant {
        let patience = begun + call.held().patience_once_made();
        let by_lease = call.lease_end().and_then(|lease_end| lease_end.checked_sub(self.time_out));
        by_lease.map_or(patience, |by_lease| by_lease.min(patience))
    }

    /// Makes a call under the time-out, and counts its outcome.
    async fn timed<C: Call>(&self, call: &C, message: &Span, waits_until: Instant) -> C::Answer {
        let mut span = Span::child(message.context(), || C::SPAN.into()).of_kind(SpanKind::Client);
        span.record_with(|span| {
            span.record("acquirer", self.name.as_str().to_owned());
            span.record("method", self.method.label());
        });
        let started = Instant::now();
        let answer = within(span.context().cloned(), call.make(self.acquirer.as_ref()));
        let answer = match call_time::within(self.time_out, waits_until, answer).await {
            Ok(answer) => answer,
            // The request may have arrived: a time-out never counts as not delivered.
            Err(call_time::TimeOut) => C::failed(CallFailure::Unknown("time-out".into())),
        };
        let took = started.elapsed();
        let CallEnd { outcome, failure, throttled } = C::ended(&answer);
        if let Some(wait) = throttled {
            self.pace.throttle(wait);
        }
        span.record("outcome", outcome.label());
        if failure.is_some() {
            span.fail(outcome.label());
        }
        let now = self.clock.now();
        let change = match call.held() {
            Held::NewCharge { .. } | Held::Operation => self.health.ended(outcome, took, now, failure),
            Held::Inquiry => self.health.inquired(outcome, took, now, failure),
        };
        if let Some(change) = change {
            change.tell(&self.name, self.method, failure);
        }
        self.meter.count_call(&self.name, self.method, outcome, took);
        answer
    }
}

impl Held {
    /// Returns the time for which a call waits for its turn.
    const fn patience(self) -> Duration {
        match self {
            Self::NewCharge { merchant_waits } => merchant_waits,
            Self::Operation | Self::Inquiry => Duration::from_secs(5),
        }
    }

    /// Returns the longest total wait of a call, including waits of its adapter once the call is made. No caller waits
    /// for an inquiry, nor longer for an operation than for a charge. But a provider may require some seconds between
    /// two calls.
    const fn patience_once_made(self) -> Duration {
        match self {
            Self::NewCharge { merchant_waits } => merchant_waits,
            Self::Operation | Self::Inquiry => Duration::from_secs(10),
        }
    }

    /// Returns the failure of a call that would have to wait longer: it never left.
    fn failure(self, wait: Duration) -> CallFailure {
        match self {
            Self::NewCharge { .. } | Self::Operation => CallFailure::Withheld,
            Self::Inquiry => put_off(wait),
        }
    }
}

/// Returns the failure of an inquiry that did not leave. It does not count, and is repeated after this time.
fn put_off(wait: Duration) -> CallFailure {
    CallFailure::Throttled { after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) }
}
