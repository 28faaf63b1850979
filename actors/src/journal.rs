//! The journal: group commit.
//!
//! Owns the order in which writes go to the store. While batches are under way, everything that waits gathers into
//! the next one. Never decides, never reorders the writes of one payment, never reports a write that it can't prove.
//! Made anew by the supervisor when it dies; whoever waited then reads the store.

mod lost;

use std::collections::VecDeque;
use std::sync::Arc;

use actix::prelude::*;
use lost::Lost;
use quita_ports::trace::Span;
use quita_ports::{StoreError, Write, WriteError};
use tokio::time::Instant;

use crate::actor_meter::Alive;
use crate::batch_span::batch_span;
use crate::lanes::{Gathers, Lanes};
use crate::mailbox::{Ask, Question, Reply};
use crate::shared::{Shared, failed_before};

/// Make this write durable.
pub(crate) struct Commit(pub(crate) Write);

impl Question for Commit {
    type Answer = Result<(), WriteError>;
    const NAME: &'static str = "commit";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.0.payment.id);
    }
}

/// Who waits for a write to be durable.
struct Writer {
    reply: Reply<Result<(), WriteError>>,
    /// Lasts until then.
    span: Span,
}

impl Writer {
    fn tell(self, result: Result<(), WriteError>) {
        let Self { reply, mut span } = self;
        match &result {
            Ok(()) => {}
            Err(WriteError::Conflict) => span.tell("conflict", "another writer was faster"),
            Err(WriteError::NotWritten(_)) => span.fail("not written"),
            Err(WriteError::Unknown(_)) => span.fail("unknown whether it is written"),
        }
        // Told before whoever waits goes on.
        drop(span);
        reply.send(result);
    }
}

type Waiting = (Write, Writer);

/// Gathers writes into batches.
pub(crate) struct JournalActor {
    shared: Arc<Shared>,
    waiting: VecDeque<Waiting>,
    lanes: Lanes,
    alive: Alive,
}

impl JournalActor {
    pub(crate) fn new(shared: Arc<Shared>, alive: Alive) -> Self {
        let lanes = Lanes::new(shared.limits.journal_in_flight, alive.level());
        Self { shared, waiting: VecDeque::new(), lanes, alive }
    }

    /// The oldest writes. What its writer gave up while it waited is left out: nobody would know that it landed. So
    /// no two are of one payment, whose actor has one at a time.
    fn next_batch(&mut self) -> (Vec<Write>, Vec<Writer>) {
        let (mut writes, mut writers) = (Vec::new(), Vec::new());
        while writes.len() < self.shared.limits.journal_batch {
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
        if self.shared.is_broken() {
            for (_, writer) in self.waiting.drain(..) {
                writer.tell(Err(WriteError::NotWritten(failed_before())));
            }
            return;
        }
        let (writes, mut writers) = self.next_batch();
        let size = writes.len();
        if size == 0 {
            return;
        }
        self.lanes.leave(size);
        let shared = Arc::clone(&self.shared);
        let work = async move {
            let spans = writers.iter_mut().map(|writer| &mut writer.span);
            let batch = batch_span("store commit", spans);
            let results = commit(&shared, &writes).await;
            drop(batch);
            let told = writes.into_iter().zip(writers).zip(results);
            told.filter_map(|((write, writer), result)| match result {
                Err(WriteError::Unknown(error)) => Some(Lost { write, writer, error }),
                known => {
                    writer.tell(known);
                    None
                }
            })
            .collect()
        };
        context.spawn(work.into_actor(self).map(move |lost: Vec<Lost>, journal, context| {
            journal.lanes.arrive(size);
            journal.pump(context);
            if !lost.is_empty() {
                // Nobody else waits for it: the store may well take the next batch.
                let shared = Arc::clone(&journal.shared);
                context.spawn(async move { lost::read_back(&shared, lost).await }.into_actor(journal));
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
        if self.waiting.len() >= self.shared.limits.journal_mailbox {
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
async fn commit(shared: &Shared, writes: &[Write]) -> Vec<Result<(), WriteError>> {
    let (store, meter, started) = (shared.store.as_ref(), &shared.meter, Instant::now());
    let results = store.commit(writes).await;
    // At once, and not only when those who wait hear of it: the next batch must not be sent.
    for result in &results {
        if let Err(WriteError::NotWritten(error) | WriteError::Unknown(error)) = result {
            shared.heed(error);
        }
    }
    meter.commit_seconds.observe(started.elapsed().as_secs_f64());
    meter.batch_size.observe(f64::from(u32::try_from(writes.len()).unwrap_or(u32::MAX)));
    let conflicts = results.iter().filter(|result| **result == Err(WriteError::Conflict)).count();
    meter.conflicts.inc_by(u64::try_from(conflicts).unwrap_or(u64::MAX));
    results
}
