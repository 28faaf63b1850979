//! The reader: group read.
//!
//! Owns nothing. Concurrent lookups become one; two for the same payment share its answer. Never caches: what it
//! answers was read after it was asked. Made anew by the supervisor when it dies.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use actix::prelude::*;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_ports::{Store, StoreError};

use crate::lanes::{Lanes, PATIENCE, after_the_others};
use crate::limits::Limits;
use crate::mailbox::{Ask, Question, Reply};
use crate::meter::Alive;

/// Read this payment from the store.
pub(crate) struct Load(pub(crate) TransactionId);

impl Question for Load {
    type Answer = Result<Option<Arc<Payment>>, StoreError>;
    const NAME: &'static str = "load";
}

type Found = Result<Option<Arc<Payment>>, StoreError>;

/// Gathers lookups into batches.
pub(crate) struct ReaderActor {
    store: Arc<dyn Store>,
    waiting: HashMap<TransactionId, Vec<Reply<Found>>>,
    /// Whose turn it is: what waits longest is read first.
    turns: VecDeque<TransactionId>,
    lanes: Lanes,
    /// Whether a batch leaves as soon as the others on this thread had their turn.
    is_about_to_read: bool,
    /// Whether what waits leaves after a while, however little it is.
    is_held_back: bool,
    capacity: usize,
    batch_size: usize,
    _alive: Alive,
}

impl ReaderActor {
    pub(crate) fn new(store: Arc<dyn Store>, limits: &Limits, alive: Alive) -> Self {
        Self {
            store,
            waiting: HashMap::new(),
            turns: VecDeque::new(),
            lanes: Lanes::new(limits.reader_in_flight),
            is_about_to_read: false,
            is_held_back: false,
            capacity: limits.reader_mailbox,
            batch_size: limits.reader_batch,
            _alive: alive,
        }
    }

    /// Reads what waits if it is worth a batch: soon, together with what is on its way, or after a while.
    fn pump(&mut self, context: &mut Context<Self>) {
        if self.lanes.is_worth_a_batch(self.turns.len()) && !self.is_about_to_read {
            self.is_about_to_read = true;
            context.spawn(after_the_others().into_actor(self).map(|(), reader, context| {
                reader.is_about_to_read = false;
                while reader.lanes.is_worth_a_batch(reader.turns.len()) {
                    reader.read(context);
                }
                reader.hold_back(context);
            }));
        }
        self.hold_back(context);
    }

    /// What is too little for another batch now leaves after a while all the same.
    fn hold_back(&mut self, context: &mut Context<Self>) {
        let is_left = !self.turns.is_empty() && !self.is_about_to_read;
        if is_left && self.lanes.is_one_free() && !self.is_held_back {
            self.is_held_back = true;
            context.run_later(PATIENCE, |reader, context| {
                reader.is_held_back = false;
                if reader.lanes.is_one_free() {
                    reader.read(context);
                }
                reader.pump(context);
            });
        }
    }

    /// Reads a batch of what waits.
    fn read(&mut self, context: &mut Context<Self>) {
        let count = self.turns.len().min(self.batch_size);
        if count == 0 {
            return;
        }
        let ids: Vec<_> = self.turns.drain(..count).collect();
        let replies: Vec<_> = ids.iter().filter_map(|id| self.waiting.remove_entry(id)).collect();
        self.lanes.leave(count);
        let store = Arc::clone(&self.store);
        let work = async move {
            match store.load(&ids).await {
                Err(StoreError::Unreadable(_)) if ids.len() > 1 => {
                    answer_one_by_one(store.as_ref(), replies).await;
                }
                loaded => answer(replies, loaded),
            }
        };
        context.spawn(work.into_actor(self).map(move |(), reader, context| {
            reader.lanes.arrive(count);
            reader.pump(context);
        }));
    }
}

fn answer(replies: Vec<(TransactionId, Vec<Reply<Found>>)>, loaded: Result<Vec<Payment>, StoreError>) {
    let found: Result<HashMap<_, _>, _> =
        loaded.map(|payments| payments.into_iter().map(|payment| (payment.id, Arc::new(payment))).collect());
    for (id, waiting) in replies {
        for reply in waiting {
            reply.send(found.as_ref().map(|found| found.get(&id).cloned()).map_err(Clone::clone));
        }
    }
}

/// One payment that can't be read must not keep the others of its batch from being read.
async fn answer_one_by_one(store: &dyn Store, replies: Vec<(TransactionId, Vec<Reply<Found>>)>) {
    for (id, waiting) in replies {
        answer(vec![(id, waiting)], store.load(&[id]).await);
    }
}

impl Actor for ReaderActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Load>> for ReaderActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Load>, context: &mut Self::Context) {
        let (Load(id), reply, _timer) = ask.open();
        if self.waiting.len() >= self.capacity {
            reply.send(Err(StoreError::Unavailable("too many reads are waiting".into())));
            return;
        }
        let waiting = self.waiting.entry(id).or_default();
        if waiting.is_empty() {
            self.turns.push_back(id);
        }
        waiting.push(reply);
        self.pump(context);
    }
}
