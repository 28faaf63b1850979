//! The inbox: stored notices of acquirers, brought to their payments.
//!
//! Owns which notices are being worked here. A notice is answered once it is stored, then worked until the payment
//! has learnt it or an exception is stored; only then is it finished. Never drops one. Made anew by the supervisor
//! when it dies; what it had begun is due again by the store.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use actix::prelude::*;
use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_domain::exception::{Exception, UNKNOWN_PAYMENT};
use quita_domain::payment::{Command, OddityKind};
use quita_ports::trace::{Place, Span, within};
use quita_ports::{NoticeSink, SinkError, StoreError};

use crate::actor_meter::{Alive, Level};
use crate::batch_span::batch_span;
use crate::mailbox::{Ask, NoAnswer, Question, Reply};
use crate::payments::Denied;
use crate::shared::{Shared, failed_before};
use crate::slot::Slot;
use crate::transaction::{Asker, Executed};

/// Waits before a notice that came too early, or whose payment is unknown, is tried again. After the last one it is
/// given up.
const TRIES_MS: [u64; 8] = [300, 1_000, 5_000, 30_000, 300_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000];

/// Tries after which it is an exception; what it waits for may still come.
const REPORTED_AFTER: u32 = 5;

/// Notices stored in one batch.
const BATCH: usize = 256;

/// Store this notice, then work it.
pub(crate) struct Submit(pub(crate) Notice);

impl Question for Submit {
    type Answer = Result<(), StoreError>;
    const NAME: &'static str = "submit";

    fn tell(&self, span: &mut Span) {
        span.tell("transaction.id", self.0.transaction_id);
    }
}

/// Work these notices, which are stored and due.
pub(crate) struct Work(pub(crate) Vec<(Notice, u32)>);

impl Question for Work {
    type Answer = ();
    const NAME: &'static str = "work";
}

/// A notice that waits to be stored.
struct Submitted {
    notice: Notice,
    reply: Reply<Result<(), StoreError>>,
    /// Lasts until it is stored.
    span: Span,
}

/// A notice that is stored and waits to be worked.
struct Ready {
    notice: Notice,
    tried: u32,
    came: Came,
}

/// How a notice came to be worked.
enum Came {
    /// It was just submitted: at this place in a trace, if it is recorded.
    Here(Option<Place>),
    /// It was found in the store, which keeps no traces.
    FromStore,
}

/// Stores and works notices.
pub(crate) struct InboxActor {
    shared: Arc<Shared>,
    waiting: VecDeque<Submitted>,
    is_storing: bool,
    ready: VecDeque<Ready>,
    known: HashSet<String>,
    in_flight: usize,
    done: Vec<String>,
    is_finishing: bool,
    level: Level,
    alive: Alive,
}

impl InboxActor {
    pub(crate) fn new(shared: Arc<Shared>, alive: Alive) -> Self {
        Self {
            shared,
            waiting: VecDeque::new(),
            is_storing: false,
            ready: VecDeque::new(),
            known: HashSet::new(),
            in_flight: 0,
            done: Vec::new(),
            is_finishing: false,
            level: alive.level(),
            alive,
        }
    }

    /// Stores what waits as one batch, then works what is new.
    fn store(&mut self, context: &mut Context<Self>) {
        self.level.set(self.waiting.len());
        if self.is_storing || self.waiting.is_empty() {
            return;
        }
        self.is_storing = true;
        let count = self.waiting.len().min(BATCH);
        let apart = |Submitted { notice, reply, span }| (notice, (reply, span));
        let (notices, mut waiting): (Vec<_>, Vec<_>) = self.waiting.drain(..count).map(apart).unzip();
        // Known before they are stored, so that the timer does not work them a second time.
        let fresh: Vec<_> = notices.iter().map(|notice| self.known.insert(notice.id.clone())).collect();
        let shared = Arc::clone(&self.shared);
        let work = async move {
            let batch = batch_span("store notices", waiting.iter_mut().map(|(_, span)| span));
            let stored = shared.store.put_notices(&notices).await;
            drop(batch);
            (notices, waiting, stored)
        };
        context.spawn(work.into_actor(self).map(move |(notices, waiting, stored), inbox, context| {
            inbox.is_storing = false;
            if let Err(error) = &stored {
                inbox.shared.heed(error);
            }
            for ((place, notice), (reply, mut span)) in notices.into_iter().enumerate().zip(waiting) {
                let is_fresh_here = fresh.get(place).copied().unwrap_or(false);
                let is_new = stored.as_ref().is_ok_and(|new| new.get(place).copied().unwrap_or(false));
                if is_new && is_fresh_here {
                    let came = Came::Here(span.place().cloned());
                    inbox.ready.push_back(Ready { notice, tried: 0, came });
                } else if is_fresh_here {
                    inbox.known.remove(&notice.id);
                }
                if stored.is_err() {
                    span.fail("not stored");
                }
                // Told before whoever waits goes on.
                drop(span);
                reply.send(stored.as_ref().map(|_| ()).map_err(Clone::clone));
            }
            inbox.work(context);
            inbox.store(context);
        }));
    }

    /// Works what is ready, as long as there is room.
    fn work(&mut self, context: &mut Context<Self>) {
        while self.in_flight < self.shared.limits.inbox_in_flight {
            let Some(Ready { notice, tried, came }) = self.ready.pop_front() else { break };
            self.in_flight = self.in_flight.saturating_add(1);
            let (shared, id) = (Arc::clone(&self.shared), notice.id.clone());
            let work = async move {
                let span = bring_span(&shared, &notice, came);
                within(span.place().cloned(), bring(&shared, &notice, tried)).await
            };
            context.spawn(work.into_actor(self).map(move |outcome, inbox, context| {
                inbox.in_flight = inbox.in_flight.saturating_sub(1);
                match outcome {
                    Outcome::Done => {
                        inbox.shared.failed_notices.succeeded(&id);
                        inbox.done.push(id);
                    }
                    Outcome::PutOff => {
                        inbox.shared.failed_notices.succeeded(&id);
                        inbox.known.remove(&id);
                    }
                    Outcome::Failed(why) => {
                        inbox.known.remove(&id);
                        inbox.shared.failed_notices.failed(id, &why);
                    }
                }
                inbox.finish(context);
                inbox.work(context);
            }));
        }
    }

    /// Finishes what is done, as one batch.
    fn finish(&mut self, context: &mut Context<Self>) {
        if self.is_finishing || self.done.is_empty() {
            return;
        }
        self.is_finishing = true;
        let ids = std::mem::take(&mut self.done);
        let shared = Arc::clone(&self.shared);
        let work = async move {
            if let Err(error) = shared.store.finish_notices(&ids, shared.clock.now()).await {
                // They stay due; working them again changes nothing.
                tracing::warn!(%error, count = ids.len(), "worked notices could not be finished");
            }
            ids
        };
        context.spawn(work.into_actor(self).map(|ids, inbox, context| {
            inbox.is_finishing = false;
            for id in ids {
                inbox.known.remove(&id);
            }
            inbox.finish(context);
        }));
    }
}

enum Outcome {
    Done,
    /// It came too early; the store knows when it is tried again.
    PutOff,
    /// It stays due as it was: what went wrong here does not count as one of its tries.
    Failed(Denied),
}

/// The span of bringing a notice: of the trace that it came with, or the first of one.
fn bring_span(shared: &Shared, notice: &Notice, came: Came) -> Span {
    let name = || "bring notice".into();
    let mut span = match came {
        Came::Here(place) => Span::child(place.as_ref(), name),
        Came::FromStore => Span::begin(shared.tracer.as_ref(), name),
    };
    span.tell_with(|span| {
        span.tell("transaction.id", notice.transaction_id);
        span.tell("acquirer", notice.acquirer.as_str().to_owned());
    });
    span
}

/// Brings one notice to its payment.
async fn bring(shared: &Shared, notice: &Notice, tried: u32) -> Outcome {
    let asker = Asker::Acquirer(notice.acquirer.clone());
    let command = Command::Notified(notice.fact.clone());
    let executed = shared.execute_for(asker, notice.transaction_id, command).await;
    match executed {
        Ok(Executed { oddity: None, .. }) => Outcome::Done,
        Ok(Executed { oddity: Some(oddity), payment, .. }) => {
            let exception = shared.exception(&payment, &oddity, &notice.id);
            match oddity.kind {
                OddityKind::TooEarly => put_off(shared, notice, tried, exception).await,
                OddityKind::Contradiction
                | OddityKind::AmountMismatch
                | OddityKind::PaidTwice
                | OddityKind::PaidAfterDeclined
                | OddityKind::RefundExceedsPaid
                | OddityKind::UnknownOutcome => told(shared.report(exception).await, notice, Outcome::Done),
            }
        }
        Err(Denied::NotFound) => put_off(shared, notice, tried, unknown_payment(shared, notice)).await,
        Err(denied) => {
            tracing::warn!(notice.id, %denied, "a notice could not be worked; it stays due");
            Outcome::Failed(denied)
        }
    }
}

/// Puts a notice off that waits for another one. After a while an operator is told; in the end it is given up.
async fn put_off(shared: &Shared, notice: &Notice, tried: u32, exception: Exception) -> Outcome {
    if tried == REPORTED_AFTER
        && let Err(error) = shared.report(exception).await
    {
        return told(Err(error), notice, Outcome::Done);
    }
    let Some(wait) = usize::try_from(tried).ok().and_then(|tried| TRIES_MS.get(tried)) else {
        return Outcome::Done;
    };
    let until = shared.clock.now().plus_ms(*wait);
    told(shared.store.postpone_notice(&notice.id, tried, until).await, notice, Outcome::PutOff)
}

/// What comes of a notice if the store was told what it had to be.
fn told(result: Result<(), StoreError>, notice: &Notice, outcome: Outcome) -> Outcome {
    match result {
        Ok(()) => outcome,
        Err(error) => {
            tracing::warn!(notice.id, %error, "what came of a notice could not be stored; it stays due");
            Outcome::Failed(Denied::StoreUnavailable(error))
        }
    }
}

fn unknown_payment(shared: &Shared, notice: &Notice) -> Exception {
    Exception {
        id: format!("{}:unknown_payment", notice.id),
        kind: UNKNOWN_PAYMENT.into(),
        transaction_id: notice.transaction_id,
        acquirer: Some(notice.acquirer.clone()),
        detail: "a notice for a payment that is not stored here, or was never sent to this acquirer".into(),
        advice: "look the transaction up at the acquirer; if money came in, refund it there".into(),
        reported_at: shared.clock.now(),
        resolution: None,
    }
}

impl Actor for InboxActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Submit>> for InboxActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Submit>, context: &mut Self::Context) {
        let (Submit(notice), reply, mut handling) = ask.open();
        if self.waiting.len() >= self.shared.limits.inbox_mailbox {
            self.alive.refused();
            reply.send(Err(StoreError::Unavailable("too many notices are waiting".into())));
            return;
        }
        self.waiting.push_back(Submitted { notice, reply, span: handling.hand_over() });
        self.store(context);
    }
}

impl Handler<Ask<Work>> for InboxActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Work>, context: &mut Self::Context) {
        let (Work(notices), reply, _timer) = ask.open();
        for (notice, tried) in notices {
            let may_try = self.shared.failed_notices.may_try(&notice.id);
            let has_room = self.ready.len() < self.shared.limits.inbox_mailbox;
            if may_try && has_room && self.known.insert(notice.id.clone()) {
                self.ready.push_back(Ready { notice, tried, came: Came::FromStore });
            }
        }
        self.work(context);
        reply.send(());
    }
}

/// The inbox as acquirers and the edge see it.
pub(crate) struct InboxSink(pub(crate) Arc<Shared>);

#[async_trait]
impl NoticeSink for InboxSink {
    async fn submit(&self, notice: Notice) -> Result<(), SinkError> {
        if self.0.is_broken() {
            return Err(SinkError::Store(failed_before()));
        }
        let inbox: &Arc<Slot<InboxActor>> = self.0.inbox.get().ok_or(SinkError::Busy)?;
        match inbox.mailbox().ask(Submit(notice)).await {
            Ok(result) => result.map_err(SinkError::Store),
            Err(NoAnswer::Full | NoAnswer::Died) => Err(SinkError::Busy),
        }
    }
}
