//! The journal: group commit.
//!
//! Owns the order in which writes go to the store. While batches are under way, waiting writes gather into the next
//! one. Never decides, never reorders the writes of one payment, never reports a write as stored without proof.
//! Recreated by the supervisor when it dies; waiting callers then read the store.

mod lost;

use std::collections::VecDeque;
use std::sync::Arc;

use actix::prelude::*;
use lost::Lost;
use quita_ports::trace::Span;
use quita_ports::{PaymentStore, StoreError, Write, WriteError};
use tokio::time::Instant;

use crate::actor::mailbox::{Ask, Question, Reply};
use crate::actor::meter::Alive;
use crate::limits::Limits;
use crate::store::batch_span::batch_span;
use crate::store::fuse::Fuse;
use crate::store::lanes::{Gathers, Lanes};
use crate::watch::meter::Meter;

/// Makes this write durable.
pub(crate) struct Commit(pub(crate) Write);

impl Question for Commit {
    type Answer = Result<(), WriteError>;
    const NAME: &'static str = "commit";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.0.payment.id);
    }
}

/// Caller that waits for a write to be durable.
struct Writer {
    reply: Reply<Result<(), WriteError>>,
    /// Lasts until the caller is answered.
    span: Span,
}

impl Writer {
    fn answer(self, result: Result<(), WriteError>) {
        let Self { reply, mut span } = self;
        match &result {
            Ok(()) => {}
            Err(WriteError::Conflict) => span.record("conflict", "another writer was faster"),
            Err(WriteError::TokenUsed) => span.record("conflict", "another payment has used the token"),
            Err(WriteError::PixTaken) => span.record("conflict", "the Pix belongs to another payment"),
            Err(WriteError::NotWritten(_)) => span.fail("not written"),
            Err(WriteError::Unknown(_)) => span.fail("unknown whether it is written"),
        }
        // Recorded before the caller continues.
        drop(span);
        reply.send(result);
    }
}

type WaitingWrite = (Write, Writer);

/// Gathers writes into batches.
pub(crate) struct JournalActor {
    store: Arc<dyn PaymentStore>,
    fuse: Arc<Fuse>,
    meter: Arc<Meter>,
    waiting: VecDeque<WaitingWrite>,
    lanes: Lanes,
    capacity: usize,
    batch_size: usize,
    alive: Alive,
}

impl JournalActor {
    pub(crate) fn new(
        store: Arc<dyn PaymentStore>,
        fuse: Arc<Fuse>,
        meter: Arc<Meter>,
        limits: &Limits,
        alive: Alive,
    ) -> Self {
        Self {
            store,
            fuse,
            meter,
            waiting: VecDeque::new(),
            lanes: Lanes::new(limits.journal_in_flight, alive.level()),
            capacity: limits.journal_mailbox,
            batch_size: limits.journal_batch,
            alive,
        }
    }

    /// Takes the oldest writes, except those whose callers have given up, because nobody would learn that they landed.
    /// So no two belong to one payment, whose actor has one write at a time.
    fn next_batch(&mut self) -> (Vec<Write>, Vec<Writer>) {
        let mut writes = Vec::new();
        let mut writers = Vec::new();
        while writes.len() < self.batch_size {
            let Some((write, writer)) = self.waiting.pop_front() else { break };
            if !writer.reply.is_given_up() {
                writes.push(write);
                writers.push(writer);
            }
        }
        (writes, writers)
    }
}

impl Gathers for JournalActor {
    fn lanes(&mut self) -> &mut Lanes {
        &mut self.lanes
    }

    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn depart(&mut self, context: &mut Context<Self>) {
        // Writes that gathered behind a broken commit are refused unsent: the store could confirm them and still lose
        // them.
        if let Err(broken) = self.fuse.check() {
            for (_, writer) in self.waiting.drain(..) {
                writer.answer(Err(WriteError::NotWritten(broken.clone())));
            }
            return;
        }
        let (writes, mut writers) = self.next_batch();
        let size = writes.len();
        if size == 0 {
            return;
        }
        self.lanes.leave(size);
        let store = Arc::clone(&self.store);
        let fuse = Arc::clone(&self.fuse);
        let meter = Arc::clone(&self.meter);
        let work = async move {
            let spans = writers.iter_mut().map(|writer| &mut writer.span);
            let batch = batch_span("store commit", spans);
            let results = commit(store.as_ref(), &fuse, &meter, &writes).await;
            drop(batch);
            let told = writes.into_iter().zip(writers).zip(results);
            told.filter_map(|((write, writer), result)| match result {
                Err(WriteError::Unknown(error)) => Some(Lost { write, writer, error }),
                known => {
                    writer.answer(known);
                    None
                }
            })
            .collect()
        };
        context.spawn(work.into_actor(self).map(move |lost: Vec<Lost>, journal, context| {
            journal.lanes.arrive(size);
            journal.pump(context);
            if !lost.is_empty() {
                // Runs in a separate task, so that the next batch need not wait for it.
                let store = Arc::clone(&journal.store);
                let meter = Arc::clone(&journal.meter);
                context.spawn(
                    async move { lost::read_back(store.as_ref(), &meter, lost).await }.into_actor(journal),
                );
            }
        }));
    }
}

impl Actor for JournalActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Commit>> for JournalActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Commit>, context: &mut Self::Context) {
        let (Commit(write), reply, mut handling) = ask.open();
        // A full queue means that nothing was done, so the caller may report that and retry (decision 6).
        if self.waiting.len() >= self.capacity {
            self.alive.refused();
            let full = StoreError::Unavailable("too many writes are waiting".into());
            reply.send(Err(WriteError::NotWritten(full)));
            return;
        }
        self.waiting.push_back((write, Writer { reply, span: handling.hand_over() }));
        self.pump(context);
    }
}

/// Stores one batch.
async fn commit(
    store: &dyn PaymentStore,
    fuse: &Fuse,
    meter: &Meter,
    writes: &[Write],
) -> Vec<Result<(), WriteError>> {
    let started = Instant::now();
    let results = store.commit(writes).await;
    // Noted before the callers are answered, so that the next batch is not sent.
    for result in &results {
        if let Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) = result {
            fuse.note_store_error(error);
        }
    }
    meter.commit_seconds.observe(started.elapsed().as_secs_f64());
    meter.batch_size.observe(f64::from(u32::try_from(writes.len()).unwrap_or(u32::MAX)));
    let conflicts = results.iter().filter(|result| **result == Err(WriteError::Conflict)).count();
    meter.conflicts.inc_by(u64::try_from(conflicts).unwrap_or(u64::MAX));
    results
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::time::{pause, sleep};

    use super::*;
    use crate::actor::kind::ActorKind;
    use crate::store::slow_connection::{SlowConnection, TAKES, meter, start, store_over};
    use quita_memory_store::sample_payment as payment;

    #[actix::test]
    async fn what_comes_during_a_batch_is_the_next_and_a_broken_store_gets_nothing() {
        pause();
        let connection = Arc::<SlowConnection>::default();
        let fuse = Arc::<Fuse>::default();
        let meter = meter();
        let journal = start(&meter, ActorKind::Journal, |alive| {
            JournalActor::new(
                store_over(&connection),
                Arc::clone(&fuse),
                Arc::clone(&meter),
                &Limits::default(),
                alive,
            )
        });
        let commit = async |number| {
            let write = Write { payment: Arc::new(payment(number)), expected_revision: 0 };
            journal.ask(Commit(write)).await.unwrap()
        };
        let later = async |number| {
            sleep(TAKES / 2).await;
            commit(number).await
        };
        let (first, others) = tokio::join!(commit(1), join_all([later(2), later(3)]));
        assert_eq!((first, others), (Ok(()), vec![Ok(()); 2]));
        *connection.is_broken.lock().unwrap() = true;
        for number in [4, 5] {
            let refused = commit(number).await;
            assert!(matches!(refused, Err(WriteError::NotWritten(StoreError::Broken(_)))), "{refused:?}");
        }
        assert!(fuse.check().is_err());
        assert_eq!(*connection.calls.lock().unwrap(), [vec![1], vec![2, 3], vec![4]]);
    }
}
