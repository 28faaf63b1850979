//! Mailboxes: bounded, measured addresses whose messages carry a channel for the answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use actix::dev::ToEnvelope;
use actix::prelude::SendError;
use actix::{Actor, Addr, Context, Handler, Message};
use prometheus::Histogram;
use quita_ports::trace::{self, Entered, Span, SpanContext};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::actor::meter::ActorMeter;
use crate::actor::trail::{Step, Trail};

/// A message to an actor, with the type of its answer.
pub(crate) trait Question: Send + 'static {
    /// The answer.
    type Answer: Send + 'static;
    /// Name under which the handling time is measured.
    const NAME: &'static str;
    /// The same name behind a thin reference, for trails that store many of them.
    const NAMED: &'static &'static str = &Self::NAME;

    /// Returns the name shown among an actor's last messages, which may be more specific.
    fn step_name(&self) -> &'static &'static str {
        Self::NAMED
    }

    /// Records attributes of the question in the span of its handling: ids and names, but no text written by a person.
    fn record(&self, _: &mut Span) {}
}

/// A question in transit, with the channel for its answer.
pub(crate) struct Ask<Q: Question> {
    question: Q,
    reply: Reply<Q::Answer>,
    stamp: Stamp,
}

impl<Q: Question> Message for Ask<Q> {
    type Result = ();
}

impl<Q: Question> Ask<Q> {
    /// Opens the question, which ends its waiting time and begins its handling.
    pub(crate) fn open(self) -> (Q, Reply<Q::Answer>, Handling) {
        let mut handling = self.stamp.begin(Q::NAME, self.question.step_name());
        handling.span.record_with(|span| self.question.record(span));
        (self.question, self.reply, handling)
    }

    /// Takes the question out to be sent elsewhere. The wait there is measured separately.
    pub(crate) fn redirect(self) -> (Q, Reply<Q::Answer>) {
        (self.question, self.reply)
    }
}

/// Channel for one answer.
pub(crate) struct Reply<T>(oneshot::Sender<T>);

impl<T> Reply<T> {
    /// Returns true if nobody waits for the answer any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.0.is_closed()
    }

    /// Sends the answer. A caller that no longer waits is not an error.
    pub(crate) fn send(self, answer: T) {
        drop(self.0.send(answer));
    }
}

/// Reason for a missing answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The mailbox was full; nothing was done.
    Full,
    /// The actor died, perhaps after it had done what was asked.
    Died,
}

/// A bounded, measured address.
///
/// actix limits the messages of each clone of an address, not those waiting for the actor. If every message is sent by
/// its own clone, that limit never takes effect. So messages are counted here, across all clones.
pub(crate) struct Mailbox<A: Actor> {
    address: Addr<A>,
    gate: Arc<Gate>,
}

/// Counts the messages waiting for one actor.
struct Gate {
    meter: Arc<ActorMeter>,
    capacity: usize,
    waiting: AtomicUsize,
    /// Messages being handled. There are several if the actor finishes them in the background.
    handling: AtomicUsize,
    /// Last messages, for an actor that handles one at a time and is shown to operators.
    trail: Option<Mutex<Trail>>,
}

impl Gate {
    fn with_trail(&self, act: impl FnOnce(&mut Trail)) {
        if let Some(trail) = &self.trail {
            act(&mut trail.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// State of a mailbox, for the pages that show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inside {
    pub(crate) waiting: usize,
    pub(crate) handling: usize,
    /// The last messages, the newest first.
    pub(crate) steps: Vec<Step>,
}

/// Disables actix's own bound for an actor that a [`Mailbox`] bounds.
pub(crate) fn leave_bound_to_mailbox<A: Actor<Context = Context<A>>>(context: &mut Context<A>) {
    context.set_mailbox_capacity(0);
}

impl<A: Actor> Clone for Mailbox<A> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), gate: Arc::clone(&self.gate) }
    }
}

impl<A: Actor> Mailbox<A> {
    /// Creates a mailbox in which at most `capacity` messages wait.
    pub(crate) fn new(address: Addr<A>, meter: Arc<ActorMeter>, capacity: usize) -> Self {
        Self::with(address, meter, capacity, None)
    }

    /// Creates a mailbox that also remembers the last messages.
    pub(crate) fn with_trail(address: Addr<A>, meter: Arc<ActorMeter>, capacity: usize) -> Self {
        Self::with(address, meter, capacity, Some(Mutex::default()))
    }

    fn with(address: Addr<A>, meter: Arc<ActorMeter>, capacity: usize, trail: Option<Mutex<Trail>>) -> Self {
        let waiting = AtomicUsize::new(0);
        let handling = AtomicUsize::new(0);
        Self { address, gate: Arc::new(Gate { meter, capacity, waiting, handling, trail }) }
    }

    /// Returns true if the actor is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.address.connected()
    }

    /// Returns true if messages are waiting or being handled.
    pub(crate) fn is_busy(&self) -> bool {
        self.gate.waiting.load(Ordering::Acquire) > 0 || self.gate.handling.load(Ordering::Acquire) > 0
    }

    /// Returns the number of messages waiting or being handled.
    pub(crate) fn load(&self) -> usize {
        self.gate.waiting.load(Ordering::Relaxed).saturating_add(self.gate.handling.load(Ordering::Relaxed))
    }

    /// Returns the current state.
    pub(crate) fn inside(&self) -> Inside {
        let mut steps = Vec::new();
        let now = self.gate.meter.trail_time(Instant::now());
        self.gate.with_trail(|trail| steps = trail.steps(now));
        let waiting = self.gate.waiting.load(Ordering::Relaxed);
        Inside { waiting, handling: self.gate.handling.load(Ordering::Relaxed), steps }
    }

    /// Asks and waits for the answer. A full mailbox refuses at once.
    pub(crate) async fn ask<Q: Question>(&self, question: Q) -> Result<Q::Answer, NoAnswer>
    where
        A: Handler<Ask<Q>>,
        A::Context: ToEnvelope<A, Ask<Q>>,
    {
        let (sender, receiver) = oneshot::channel();
        self.pass_on(question, Reply(sender)).map_err(|(_, _, why)| why)?;
        receiver.await.map_err(|_| NoAnswer::Died)
    }

    /// Sends work without waiting for the answer. Work that is not accepted is offered again, because the store still
    /// has it as due.
    pub(crate) fn offer<Q: Question>(&self, question: Q)
    where
        A: Handler<Ask<Q>>,
        A::Context: ToEnvelope<A, Ask<Q>>,
    {
        let (sender, _) = oneshot::channel();
        if let Err((_, _, why)) = self.pass_on(question, Reply(sender)) {
            tracing::debug!(?why, message = Q::NAME, "work was not accepted; it stays due");
        }
    }

    /// Forwards a question whose answer another caller awaits. Returns it if it was not accepted.
    pub(crate) fn pass_on<Q: Question>(
        &self,
        question: Q,
        reply: Reply<Q::Answer>,
    ) -> Result<(), (Q, Reply<Q::Answer>, NoAnswer)>
    where
        A: Handler<Ask<Q>>,
        A::Context: ToEnvelope<A, Ask<Q>>,
    {
        let Some(stamp) = Stamp::new(&self.gate) else {
            self.gate.meter.refused.inc();
            return Err((question, reply, NoAnswer::Full));
        };
        self.address.try_send(Ask { question, reply, stamp }).map_err(|error| {
            let (ask, why) = match error {
                SendError::Full(ask) => (ask, NoAnswer::Full),
                SendError::Closed(ask) => (ask, NoAnswer::Died),
            };
            let (question, reply) = ask.redirect();
            (question, reply, why)
        })
    }
}

/// Counts one message as waiting until it is opened or lost.
struct Stamp {
    gate: Arc<Gate>,
    sent_at: Instant,
    /// Position in a trace at which it was sent.
    sent_from: Option<SpanContext>,
}

impl Stamp {
    /// Counts one more message as waiting. `None` if the mailbox is full.
    fn new(gate: &Arc<Gate>) -> Option<Self> {
        // Counted before the comparison, so that concurrent senders never exceed the capacity.
        if gate.waiting.fetch_add(1, Ordering::Relaxed) >= gate.capacity {
            gate.waiting.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        gate.meter.depth.inc();
        Some(Self { gate: Arc::clone(gate), sent_at: Instant::now(), sent_from: trace::here() })
    }

    fn begin(self, name: &'static str, step_name: &'static &'static str) -> Handling {
        let gate = Arc::clone(&self.gate);
        let began = Instant::now();
        let waited = began.saturating_duration_since(self.sent_at);
        gate.meter.wait.observe(waited.as_secs_f64());
        gate.handling.fetch_add(1, Ordering::AcqRel);
        gate.with_trail(|trail| trail.begin(step_name, gate.meter.trail_time(began), waited));
        let mut span =
            Span::child(self.sent_from.as_ref(), || format!("{} {name}", gate.meter.kind.label()).into());
        span.record_with(|span| {
            span.record("actor", gate.meter.kind.label());
            span.record("message", name);
            span.record("wait_us", waited);
        });
        Handling { name, times: gate.meter.handling(name), gate, began, span }
    }
}

/// A message being handled. Counts and times it until dropped.
pub(crate) struct Handling {
    name: &'static str,
    times: Histogram,
    gate: Arc<Gate>,
    began: Instant,
    span: Span,
}

impl Handling {
    /// Makes everything this thread does until the guard is dropped part of the message's span.
    pub(crate) fn enter(&self) -> Option<Entered> {
        self.span.context().map(SpanContext::enter)
    }

    /// Returns its position in a trace.
    pub(crate) fn context(&self) -> Option<SpanContext> {
        self.span.context().cloned()
    }

    /// Returns its span, which ends with this unless it is handed over.
    pub(crate) const fn span(&mut self) -> &mut Span {
        &mut self.span
    }

    /// Takes the span out, to be kept until the requested work is done.
    pub(crate) fn hand_over(&mut self) -> Span {
        std::mem::take(&mut self.span)
    }
}

impl Drop for Handling {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.times.observe(took.as_secs_f64());
        self.gate.with_trail(|trail| trail.end(took));
        self.gate.handling.fetch_sub(1, Ordering::AcqRel);
        self.gate.meter.keep_cause(Some(self.name), None);
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        self.gate.waiting.fetch_sub(1, Ordering::Relaxed);
        self.gate.meter.depth.dec();
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::time::Timestamp;
    use quita_ports::Clock;

    use super::*;
    use crate::actor::kind::ActorKind;
    use crate::watch::meter::Meter;

    struct Noon;

    impl Clock for Noon {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(43_200_000)
        }
    }

    struct Idle;

    impl Actor for Idle {
        type Context = Context<Self>;
    }

    struct Ping;

    impl Question for Ping {
        type Answer = &'static str;
        const NAME: &'static str = "ping";
    }

    impl Handler<Ask<Ping>> for Idle {
        type Result = ();

        fn handle(&mut self, ask: Ask<Ping>, _: &mut Self::Context) {
            let (Ping, reply, _timer) = ask.open();
            reply.send("pong");
        }
    }

    struct Die;

    impl Question for Die {
        type Answer = ();
        const NAME: &'static str = "die";
    }

    impl Handler<Ask<Die>> for Idle {
        type Result = ();

        fn handle(&mut self, _: Ask<Die>, _: &mut Self::Context) {
            panic!("told to");
        }
    }

    fn mailbox(capacity: usize) -> (Mailbox<Idle>, Arc<ActorMeter>) {
        let clock: Arc<dyn Clock> = Arc::new(Noon);
        let meter = Meter::new(&prometheus::Registry::new(), &clock).unwrap().of(ActorKind::Front);
        let address = Idle::create(|context| {
            leave_bound_to_mailbox(context);
            Idle
        });
        (Mailbox::with_trail(address, Arc::clone(&meter), capacity), meter)
    }

    #[actix::test]
    async fn as_many_wait_as_the_capacity_says_over_all_clones() {
        let (mailbox, meter) = mailbox(100);
        for _ in 0..300 {
            mailbox.clone().offer(Ping);
        }
        assert_eq!((meter.depth.get(), meter.refused.get()), (100, 200));
        assert_eq!(mailbox.ask(Ping).await, Err(NoAnswer::Full));
        tokio::task::yield_now().await;
        assert_eq!(mailbox.ask(Ping).await, Ok("pong"), "what was handled makes room");
        assert_eq!(meter.depth.get(), 0);
    }

    #[actix::test]
    async fn a_dead_actor_answers_nothing_and_leaves_nothing_waiting() {
        let (mailbox, meter) = mailbox(100);
        let asked = [Ping, Ping].map(|ping| mailbox.ask(ping));
        let died = mailbox.ask(Die);
        let (died, asked) = tokio::join!(died, futures_util::future::join_all(asked));
        assert_eq!((died, asked), (Err(NoAnswer::Died), vec![Err(NoAnswer::Died); 2]));
        assert_eq!((mailbox.is_alive(), meter.depth.get()), (false, 0));
        assert_eq!(mailbox.inside().handling, 0);
        assert_eq!(mailbox.ask(Ping).await, Err(NoAnswer::Died), "dead, not full");
    }
}
