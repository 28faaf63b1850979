//! Mailboxes: an address that measures, is bounded, and carries the way back for the answer.

use std::sync::Arc;

use actix::dev::ToEnvelope;
use actix::prelude::SendError;
use actix::{Actor, Addr, Handler, Message};
use prometheus::HistogramTimer;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::meter::ActorMeter;

/// What an actor is asked, and what it answers.
pub(crate) trait Question: Send + 'static {
    /// The answer.
    type Answer: Send + 'static;
    /// The name under which the time for it is measured.
    const NAME: &'static str;
}

/// A question on its way, with the way back.
pub(crate) struct Ask<Q: Question> {
    question: Q,
    reply: Reply<Q::Answer>,
    stamp: Stamp,
}

impl<Q: Question> Message for Ask<Q> {
    type Result = ();
}

impl<Q: Question> Ask<Q> {
    /// Opens it: the wait ends and the handling begins.
    pub(crate) fn open(self) -> (Q, Reply<Q::Answer>, HistogramTimer) {
        let timer = self.stamp.begin(Q::NAME);
        (self.question, self.reply, timer)
    }

    /// Gives it back to be sent elsewhere; the wait there is measured apart.
    pub(crate) fn redirect(self) -> (Q, Reply<Q::Answer>) {
        (self.question, self.reply)
    }
}

/// The way back for one answer.
pub(crate) struct Reply<T>(oneshot::Sender<T>);

impl<T> Reply<T> {
    /// Answers. Somebody who no longer waits is not an error.
    pub(crate) fn send(self, answer: T) {
        drop(self.0.send(answer));
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The mailbox was full; nothing was done.
    Full,
    /// The actor died, perhaps after it did what was asked.
    Died,
}

/// A bounded, measured address.
pub(crate) struct Mailbox<A: Actor> {
    address: Addr<A>,
    meter: Arc<ActorMeter>,
}

impl<A: Actor> Clone for Mailbox<A> {
    fn clone(&self) -> Self {
        Self { address: self.address.clone(), meter: Arc::clone(&self.meter) }
    }
}

impl<A: Actor> Mailbox<A> {
    pub(crate) const fn new(address: Addr<A>, meter: Arc<ActorMeter>) -> Self {
        Self { address, meter }
    }

    /// Whether the actor is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.address.connected()
    }

    /// Asks, and waits for the answer. A full mailbox refuses at once.
    pub(crate) async fn ask<Q: Question>(&self, question: Q) -> Result<Q::Answer, NoAnswer>
    where
        A: Handler<Ask<Q>>,
        A::Context: ToEnvelope<A, Ask<Q>>,
    {
        let (sender, receiver) = oneshot::channel();
        self.pass_on(question, Reply(sender)).map_err(|(_, _, why)| why)?;
        receiver.await.map_err(|_| NoAnswer::Died)
    }

    /// Offers work without waiting for the answer. What is not taken is due again by the store.
    pub(crate) fn offer<Q: Question>(&self, question: Q)
    where
        A: Handler<Ask<Q>>,
        A::Context: ToEnvelope<A, Ask<Q>>,
    {
        let (sender, _) = oneshot::channel();
        if let Err((_, _, why)) = self.pass_on(question, Reply(sender)) {
            tracing::debug!(?why, message = Q::NAME, "work was not taken; it is due again");
        }
    }

    /// Passes on a question whose answer somebody else waits for; gives it back if it was not taken.
    pub(crate) fn pass_on<Q: Question>(
        &self,
        question: Q,
        reply: Reply<Q::Answer>,
    ) -> Result<(), (Q, Reply<Q::Answer>, NoAnswer)>
    where
        A: Handler<Ask<Q>>,
        A::Context: ToEnvelope<A, Ask<Q>>,
    {
        let stamp = Stamp::new(&self.meter);
        self.address.try_send(Ask { question, reply, stamp }).map_err(|error| {
            let (ask, why) = match error {
                SendError::Full(ask) => (ask, NoAnswer::Full),
                SendError::Closed(ask) => (ask, NoAnswer::Died),
            };
            if why == NoAnswer::Full {
                self.meter.refused.inc();
            }
            let (question, reply) = ask.redirect();
            (question, reply, why)
        })
    }
}

/// Counts one message as waiting until it is opened or lost.
struct Stamp {
    meter: Arc<ActorMeter>,
    sent_at: Instant,
}

impl Stamp {
    fn new(meter: &Arc<ActorMeter>) -> Self {
        meter.depth.inc();
        Self { meter: Arc::clone(meter), sent_at: Instant::now() }
    }

    fn begin(self, message: &'static str) -> HistogramTimer {
        self.meter.wait.observe(self.sent_at.elapsed().as_secs_f64());
        self.meter.handling(message).start_timer()
    }
}

impl Drop for Stamp {
    fn drop(&mut self) {
        self.meter.depth.dec();
    }
}
