//! The reader: group read.
//!
//! Owns nothing. Concurrent lookups become one; two for the same payment share its answer. Never caches: every answer
//! was read after its question arrived. Payments that are not found are looked up a second time, separately from the
//! others. Recreated by the supervisor when it dies.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
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
    /// Payments that were not found, and wait for their second lookup.
    missing: BTreeMap<TransactionId, WaitingReaders>,
    is_looking_again: bool,
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
            missing: BTreeMap::new(),
            is_looking_again: false,
            lanes: Lanes::new(limits.reader_in_flight, alive.level()),
            capacity: limits.reader_mailbox,
            batch_size: limits.reader_batch,
            alive,
        }
    }

    /// Looks up missing payments a second time. This may take as long as a majority read, so it must not delay other
    /// lookups. One such lookup at a time suffices, however many callers ask for missing payments.
    fn look_again(&mut self, context: &mut Context<Self>) {
        if self.missing.is_empty() || std::mem::replace(&mut self.is_looking_again, true) {
            return;
        }
        let rest = self.missing.keys().nth(self.batch_size).copied();
        let rest = rest.map_or_else(BTreeMap::new, |first| self.missing.split_off(&first));
        let replies: Vec<_> = std::mem::replace(&mut self.missing, rest).into_iter().collect();
        let store = Arc::clone(&self.store);
        let work = async move {
            let ids: Vec<_> = replies.iter().map(|(id, _)| *id).collect();
            match store.load_missing(&ids).await {
                Err(StoreError::Unreadable(_)) if ids.len() > 1 => {
                    for (id, waiting) in replies {
                        answer(vec![(id, waiting)], store.load_missing(&[id]).await);
                    }
                }
                loaded => answer(replies, loaded),
            }
        };
        context.spawn(work.into_actor(self).map(|(), reader, context| {
            reader.is_looking_again = false;
            reader.look_again(context);
        }));
    }
}

/// Answers callers whose payments were found. Returns the replies for missing payments.
fn answer_found(
    replies: Vec<(TransactionId, WaitingReaders)>,
    found: Vec<Payment>,
) -> Vec<(TransactionId, WaitingReaders)> {
    let ids: BTreeSet<_> = found.iter().map(|payment| payment.id).collect();
    let (answered, missing) = replies.into_iter().partition(|(id, _)| ids.contains(id));
    answer(answered, Ok(found));
    missing
}

fn answer(replies: Vec<(TransactionId, WaitingReaders)>, loaded: Result<Vec<Payment>, StoreError>) {
    let found: Result<HashMap<_, _>, _> =
        loaded.map(|payments| payments.into_iter().map(|payment| (payment.id, Arc::new(payment))).collect());
    for (id, waiting) in replies {
        for (reply, mut span) in waiting {
            if found.is_err() {
                span.fail("not read");
            }
            // Recorded before the caller continues.
            drop(span);
            reply.send(found.as_ref().map(|found| found.get(&id).cloned()).map_err(Clone::clone));
        }
    }
}

/// Reads one payment after the other, so that an unreadable one does not fail the others of its batch. Returns the
/// replies for missing payments.
async fn answer_one_by_one(
    store: &dyn PaymentStore,
    replies: Vec<(TransactionId, WaitingReaders)>,
) -> Vec<(TransactionId, WaitingReaders)> {
    let mut missing = Vec::new();
    for (id, waiting) in replies {
        match store.load(&[id]).await {
            Ok(found) => missing.extend(answer_found(vec![(id, waiting)], found)),
            Err(error) => answer(vec![(id, waiting)], Err(error)),
        }
    }
    missing
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
                    answer_one_by_one(store.as_ref(), replies).await
                }
                Ok(found) => answer_found(replies, found),
                Err(error) => {
                    answer(replies, Err(error));
                    Vec::new()
                }
            }
        };
        context.spawn(work.into_actor(self).map(move |missing, reader, context| {
            reader.lanes.arrive(count);
            for (id, waiting) in missing {
                reader.missing.entry(id).or_default().extend(waiting);
            }
            reader.look_again(context);
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
        if self.waiting.len().saturating_add(self.missing.len()) >= self.capacity {
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
    use std::time::Duration;

    use futures_util::future::join_all;
    use tokio::time::{Instant, pause};

    use super::*;
    use crate::actor::kind::ActorKind;
    use crate::actor::mailbox::Mailbox;
    use crate::store::slow_connection::{SECOND_LOOK_TAKES, SlowConnection, meter, start, store_over};
    use quita_memory_store::{sample_id as id, sample_payment as payment};

    #[actix::test]
    async fn lookups_at_once_are_one_read_and_share_the_answer_for_one_payment() {
        pause();
        let connection = Arc::<SlowConnection>::default();
        connection.records.lock().unwrap().payments.insert(id(1), Arc::new(payment(1)));
        let reader = reader_over(&connection);
        let found = join_all([1, 2, 1].map(|number| reader.ask(Load(id(number))))).await;
        let found: Vec<_> = found.into_iter().map(|found| found.unwrap().unwrap()).collect();
        let [Some(first), None, Some(again)] = found.as_slice() else { panic!("{found:?}") };
        assert!(Arc::ptr_eq(first, again));
        assert_eq!(*connection.calls.lock().unwrap(), [[1, 2]]);
    }

    #[actix::test]
    async fn what_is_not_found_is_looked_up_again_and_holds_up_nothing_that_is() {
        pause();
        let connection = Arc::<SlowConnection>::default();
        connection.records.lock().unwrap().payments.insert(id(1), Arc::new(payment(1)));
        connection.hidden.lock().unwrap().payments.insert(id(2), Arc::new(payment(2)));
        let reader = reader_over(&connection);
        let begun = Instant::now();
        let found_after = |number: u128| {
            let reader = reader.clone();
            async move {
                let found = reader.ask(Load(id(number))).await.unwrap().unwrap();
                (found.is_some(), begun.elapsed())
            }
        };
        let missing = join_all((2..50).map(found_after));
        let found = async {
            let mut slowest = Duration::ZERO;
            for _ in 0..20 {
                let asked_at = begun.elapsed();
                let (is_found, at) = found_after(1).await;
                assert!(is_found);
                slowest = slowest.max(at - asked_at);
            }
            slowest
        };
        let (missing, slowest) = tokio::join!(missing, found);
        assert!(slowest < SECOND_LOOK_TAKES / 10, "{slowest:?}");
        let found: Vec<_> = missing.iter().map(|(is_found, _)| *is_found).collect();
        assert_eq!(found, (2..50).map(|number| number == 2).collect::<Vec<_>>());
        assert_eq!(connection.second_looks.lock().unwrap().iter().sum::<usize>(), 48);
        assert!(begun.elapsed() < SECOND_LOOK_TAKES * 3, "in batches: {:?}", begun.elapsed());
    }

    fn reader_over(connection: &Arc<SlowConnection>) -> Mailbox<ReaderActor> {
        start(&meter(), ActorKind::Reader, |alive| {
            ReaderActor::new(store_over(connection), &Limits::default(), alive)
        })
    }
}
