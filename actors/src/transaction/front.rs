//! The front: entry to the transactions of one shard.
//!
//! Owns the addresses of its live transactions: finds or starts them, and forwards questions. Drops the addresses of
//! those that were idle for a while and hold nothing that is missing in the store. Never reads or decides itself. One
//! per thread. Recreated by the supervisor, after which every transaction is loaded from the store again.

pub(crate) mod look;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use futures_util::{StreamExt, stream};
use quita_domain::identity::TransactionId;
use quita_ports::trace;
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};

use crate::actor::mailbox::{Ask, Mailbox, NoAnswer, Reply};
use crate::actor::meter::{ActorMeter, Alive};
use crate::denied::Denied;
use crate::system::parts::SystemParts;
use crate::transaction::messages::{
    Addressed, Await, Create, Execute, Forget, MayInquire, Read, StoreConfirmed,
};
use crate::transaction::wheel::Wheel;
use crate::transaction::{Hold, TransactionActor};

/// Maximum number of times a question is forwarded to a transaction that turns out to be dead.
const PASSES: u32 = 3;

/// Number of transactions examined before other tasks get their turn.
const LOOKS_AT_ONCE: usize = 128;

struct Live {
    mailbox: Mailbox<TransactionActor>,
    since: Instant,
    used_at: Instant,
    hold: Hold,
}

impl Live {
    fn launch(id: TransactionId, system: &Arc<SystemParts>, meter: &Arc<ActorMeter>) -> Self {
        let hold = Hold::default();
        let mailbox = TransactionActor::launch(id, system, meter, hold.clone());
        let now = Instant::now();
        Self { mailbox, since: now, used_at: now, hold }
    }

    /// Returns the time at which it has been idle for this long.
    fn idle_at(&self, idle_after: Duration) -> Instant {
        self.used_at + idle_after
    }

    /// Returns true if it may leave memory. A transaction whose card may still have to be charged would come back
    /// without the card. A busy one would write concurrently with its successor.
    fn is_idle(&self, now: Instant, idle_after: Duration) -> bool {
        let is_needed = self.mailbox.is_busy() || self.hold.is_held(now);
        now >= self.idle_at(idle_after) && !(is_needed && self.mailbox.is_alive())
    }
}

/// Finds, starts and forgets transactions.
pub(crate) struct FrontActor {
    system: Arc<SystemParts>,
    live: HashMap<TransactionId, Live>,
    wheel: Wheel,
    /// Transactions due for examination.
    turns: VecDeque<TransactionId>,
    transactions: Arc<ActorMeter>,
    alive: Alive,
}

impl FrontActor {
    pub(crate) fn new(system: Arc<SystemParts>, alive: Alive) -> Self {
        let transactions = system.meter.of(TransactionActor::KIND);
        let wheel = Wheel::new(system.limits.idle_after);
        Self { system, live: HashMap::new(), wheel, turns: VecDeque::new(), transactions, alive }
    }

    /// Returns the mailbox of a transaction, starting it if it is not alive.
    fn transaction(&mut self, id: TransactionId) -> Option<Mailbox<TransactionActor>> {
        let has_room = self.live.len() < self.system.limits.live_transactions;
        match self.live.entry(id) {
            Entry::Occupied(mut found) if found.get().mailbox.is_alive() => {
                found.get_mut().used_at = Instant::now();
                Some(found.get().mailbox.clone())
            }
            Entry::Occupied(mut dead) => {
                tracing::error!(transaction.id = %id, "a transaction's actor died; its payment is reloaded from the store");
                self.transactions.restarted();
                // A write of the dead actor may still land, so its successor does not trust its own copy.
                self.system.books.doubt(id);
                let live = Live::launch(id, &self.system, &self.transactions);
                let mailbox = live.mailbox.clone();
                dead.insert(live);
                Some(mailbox)
            }
            Entry::Vacant(vacant) => has_room.then(|| {
                self.wheel.put(id, self.system.limits.idle_after);
                vacant.insert(Live::launch(id, &self.system, &self.transactions)).mailbox.clone()
            }),
        }
    }

    fn pass_on<Q, T>(&mut self, mut question: Q, mut reply: Reply<Result<T, Denied>>)
    where
        Q: Addressed + crate::actor::mailbox::Question<Answer = Result<T, Denied>>,
        T: Send + 'static,
        TransactionActor: Handler<Ask<Q>>,
    {
        for _ in 0..PASSES {
            let Some(mailbox) = self.transaction(question.id()) else {
                self.alive.refused();
                break;
            };
            match mailbox.pass_on(question, reply) {
                Ok(()) => return,
                Err((_, reply, NoAnswer::Full)) => {
                    reply.send(Err(Denied::Overloaded));
                    return;
                }
                // A dead mailbox returns it unhandled, so nothing is done twice.
                Err((same_question, same_reply, NoAnswer::Died)) => {
                    question = same_question;
                    reply = same_reply;
                }
            }
        }
        reply.send(Err(Denied::Overloaded));
    }

    /// Turns the wheel, and starts to examine the transactions that are due, unless that is already in progress.
    fn turn(&mut self, context: &mut Context<Self>) {
        let is_looking = !self.turns.is_empty();
        self.turns.extend(self.wheel.turn());
        if !is_looking {
            self.passivate(context);
        }
    }

    /// Drops the addresses of idle transactions: a bounded number, then other tasks get their turn.
    fn passivate(&mut self, context: &mut Context<Self>) {
        for _ in 0..LOOKS_AT_ONCE {
            let Some(id) = self.turns.pop_front() else { break };
            self.look_at(id);
        }
        if self.turns.is_empty() {
            return;
        }
        context.spawn(yield_now().into_actor(self).map(|(), front, context| front.passivate(context)));
    }

    fn look_at(&mut self, id: TransactionId) {
        let now = Instant::now();
        let idle_after = self.system.limits.idle_after;
        let Entry::Occupied(mut found) = self.live.entry(id) else { return };
        // Readers of the published state send no message: only the entry shows that it is in use.
        if found.get().is_idle(now, idle_after) && self.system.published.was_read(id) {
            found.get_mut().used_at = now;
        }
        if found.get().is_idle(now, idle_after) {
            if !found.get().mailbox.is_alive() {
                self.system.books.doubt(id);
            }
            found.remove();
        } else {
            self.wheel.put(id, found.get().idle_at(idle_after).saturating_duration_since(now));
        }
    }
}

impl Actor for FrontActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.run_interval(self.wheel.step, Self::turn);
    }
}

/// Implements handlers for questions that always go to the transaction.
macro_rules! pass_on {
    ($($question:ty),*) => {$(
        impl Handler<Ask<$question>> for FrontActor {
            type Result = ();

            fn handle(&mut self, ask: Ask<$question>, _: &mut Self::Context) {
                let (question, reply, handling) = ask.open();
                let _here = handling.enter();
                self.pass_on(question, reply);
            }
        }
    )*};
}

pass_on!(Create, Execute, Await, MayInquire);

impl Handler<Ask<StoreConfirmed>> for FrontActor {
    type Result = ();

    /// Makes every transaction store its waiting confirmations. Only as many at once as fit into one batch, because the
    /// journal refuses writes that it has no room for.
    fn handle(&mut self, ask: Ask<StoreConfirmed>, _: &mut Self::Context) {
        let (question, reply, _handling) = ask.open();
        let mut waiting: Vec<_> = self.live.iter().filter(|(_, live)| live.hold.has_confirmed()).collect();
        // Oldest first: a hash map's own order differs from run to run, and the simulator repeats a run to the letter.
        waiting.sort_unstable_by_key(|(id, _)| **id);
        let mailboxes: Vec<_> = waiting.into_iter().map(|(_, live)| live.mailbox.clone()).collect();
        let at_once = self.system.limits.journal_batch;
        actix::spawn(async move {
            let asked = mailboxes.into_iter().map(|mailbox| async move {
                let answer = timeout_at(question.until, mailbox.ask(question)).await;
                // Without an answer the confirmation counts as not stored.
                answer.ok().and_then(Result::ok).unwrap_or(1)
            });
            let unstored = stream::iter(asked).buffer_unordered(at_once);
            reply.send(unstored.fold(0, |sum, one| ready(sum + one)).await);
        });
    }
}

impl Handler<Ask<Forget>> for FrontActor {
    type Result = ();

    /// Forwards it to a live transaction only; any other has no copy in memory.
    fn handle(&mut self, ask: Ask<Forget>, _: &mut Self::Context) {
        let (question, reply, handling) = ask.open();
        let _here = handling.enter();
        if self.live.contains_key(&question.id()) {
            self.pass_on(question, reply);
        } else {
            reply.send(Ok(()));
        }
    }
}

impl Handler<Ask<Read>> for FrontActor {
    type Result = ();

    /// Forwards it to a live transaction; for any other, reads the store without starting its actor.
    fn handle(&mut self, ask: Ask<Read>, _: &mut Self::Context) {
        let (question, reply, handling) = ask.open();
        let _here = handling.enter();
        if self.live.contains_key(&question.id()) {
            self.pass_on(question, reply);
            return;
        }
        let system = Arc::clone(&self.system);
        actix::spawn(trace::carry(async move {
            reply.send(system.books.load(question.id()).await.map_err(Denied::StoreUnavailable))
        }));
    }
}
