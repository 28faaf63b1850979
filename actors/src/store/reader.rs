//! The reader: group read.
//!
//! Owns nothing. Concurrent lookups become one; two for the same payment share its answer. Never caches: an answer was
//! read after its question arrived. Recreated by the supervisor when it dies.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use actix::prelude::*;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Payment;
use quita_ports::trace::Span;
use quita_ports::{PaymentStore, StoreError};

use crate::actor::mailbox::{Ask, Question, Reply};
use crate::actor::meter::Alive;
use crate::limits::Limits;
use crate::store::batch_span::batch_span;
use crate::store::lanes::{Gathers, Lanes};

/// Reads this payment from the store.
pub(crate) struct Load(pub(crate) TransactionId);

impl Question for Load {
    type Answer = Result<Option<Arc<Payment>>, StoreError>;
    const NAME: &'static str = "load";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.0);
    }
}

type StoreLookup = Result<Option<Arc<Payment>>, StoreError>;

/// Callers that wait for one payment, each with a span that lasts until it is read.
type WaitingReaders = Vec<(Reply<StoreLookup>, Span)>;

/// Gathers lookups into batches.
pub(crate) struct ReaderActor {
    store: Arc<dyn PaymentStore>,
    /// In the order of the ids: when this actor dies, the waiting callers learn of it in the same order every time.
    waiting: BTreeMap<TransactionId, WaitingReaders>,
    /// Payments in the order of their questions, oldest first.
    turns: VecDeque<TransactionId>,
    lanes: Lanes,
    capacity: usize,
    batch_size: usize,
    alive: Alive,
}

impl ReaderActor {
    pub(crate) fn new(store: Arc<dyn PaymentStore>, limits: &Limits, alive: Alive) -> Self {
        Self {
            store,
            waiting: BTreeMap::new(),
            turns: VecDeque::new(),
            lanes: Lanes::new(limits.reader_in_flight, alive.level()),
            capacity: limits.reader_mailbox,
            batch_size: limits.reader_batch,
            alive,
        }
    }
}

fn answer(replies: Vec<(TransactionId, WaitingReaders)>, loaded: Result<Vec<Payment>, StoreError>) {
    let found: Result<HashMap<_, _>, _> =
        loaded.map(|payments| payments.into_iter().map(|payment| (payment.id, Arc::new(payment))).collect());
    for (id, waiting) in replies {
        for (reply, mut span) in waiting {
            if found.is_err() {
                span.fail("not read");
            }
            // Recorded before the caller goes on.
            drop(span);
            reply.send(found.as_ref().map(|found| found.get(&id).cloned()).map_err(Clone::clone));
        }
    }
}

/// Reads one payment after the other, so that an unreadable one does not fail the others of its batch.
async fn answer_one_by_one(store: &dyn PaymentStore, replies: Vec<(TransactionId, WaitingReaders)>) {
    for (id, waiting) in replies {
        answer(vec![(id, waiting)], store.load(&[id]).await);
    }
}

impl Gathers for ReaderActor {
    fn lanes(&mut self) -> &mut Lanes {
        &mut self.lanes
    }

    fn waiting(&self) -> usize {
        self.turns.len()
    }

    fn depart(&mut self, context: &mut Context<Self>) {
        let count = self.turns.len().min(self.batch_size);
        if count == 0 {
            return;
        }
        let ids: Vec<_> = self.turns.drain(..count).collect();
        let mut replies: Vec<_> = ids.iter().filter_map(|id| self.waiting.remove_entry(id)).collect();
        self.lanes.leave(count);
        let store = Arc::clone(&self.store);
        let work = async move {
            let waiting = replies.iter_mut().flat_map(|(_, waiting)| waiting);
            let batch = batch_span("store load", waiting.map(|(_, span)| span));
            let loaded = store.load(&ids).await;
            drop(batch);
            match loaded {
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

impl Actor for ReaderActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Load>> for ReaderActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Load>, context: &mut Self::Context) {
        let (Load(id), reply, mut handling) = ask.open();
        if self.waiting.len() >= self.capacity {
            self.alive.refused();
            reply.send(Err(StoreError::Unavailable("too many reads are waiting".into())));
            return;
        }
        let waiting = self.waiting.entry(id).or_default();
        if waiting.is_empty() {
            self.turns.push_back(id);
        }
        waiting.push((reply, handling.hand_over()));
        self.pump(context);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::time::pause;

    use super::*;
    use crate::actor::kind::ActorKind;
    use crate::store::slow_connection::{SlowConnection, meter, start, store_over};
    use quita_memory_store::{sample_id as id, sample_payment as payment};

    #[actix::test]
    async fn lookups_at_once_are_one_read_and_share_the_answer_for_one_payment() {
        pause();
        let connection = Arc::<SlowConnection>::default();
        connection.records.lock().unwrap().payments.insert(id(1), Arc::new(payment(1)));
        let reader = start(&meter(), ActorKind::Reader, |alive| {
            ReaderActor::new(store_over(&connection), &Limits::default(), alive)
        });
        let found = join_all([1, 2, 1].map(|number| reader.ask(Load(id(number))))).await;
        let found: Vec<_> = found.into_iter().map(|found| found.unwrap().unwrap()).collect();
        let [Some(first), None, Some(again)] = found.as_slice() else { panic!("{found:?}") };
        assert!(Arc::ptr_eq(first, again));
        assert_eq!(*connection.calls.lock().unwrap(), [[1, 2]]);
    }
}
