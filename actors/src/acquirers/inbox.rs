//! The inbox: stored notices from acquirers, brought to their payments.
//!
//! Owns the set of notices being processed here. A notice is answered once it is stored. It is processed until the
//! payment has learnt it or an exception is stored, and only then finished. Never drops a notice. Recreated by the
//! supervisor when it dies; the store reports unfinished notices as due again.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use actix::prelude::*;
use quita_domain::acquiring::Notice;
use quita_domain::exception::{Exception, UNKNOWN_PAYMENT};
use quita_domain::payment::{Command, DiscrepancyKind};
use quita_ports::trace::{Span, SpanContext, Tracer, within};
use quita_ports::{Clock, StoreError};

use crate::actor::mailbox::{Ask, Question, Reply};
use crate::actor::meter::{Alive, Level};
use crate::denied::{Denied, warn_unless_away};
use crate::limits::Limits;
use crate::store::batch_span::batch_span;
use crate::store::books::Books;
use crate::transaction::commands::Commands;
use crate::transaction::messages::{Asker, Executed};
use crate::upkeep::backoff::Backoff;
use crate::upkeep::reporting::Exceptions;

/// Waits before retrying a notice that came too early, or whose payment is unknown. It is given up after the last one.
const TRIES_MS: [u64; 8] = [300, 1_000, 5_000, 30_000, 300_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000];

/// Number of tries after which an exception is reported. The payment may still appear.
const REPORTED_AFTER: u32 = 5;

/// Notices stored in one batch.
const BATCH: usize = 256;

/// Stores this notice, then processes it. The answer says whether it is new.
pub(crate) struct Submit(pub(crate) Notice);

impl Question for Submit {
    type Answer = Result<bool, StoreError>;
    const NAME: &'static str = "submit";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.0.transaction_id);
    }
}

/// Processes these notices, which are stored and due.
pub(crate) struct Work(pub(crate) Vec<(Notice, u32)>);

impl Question for Work {
    type Answer = ();
    const NAME: &'static str = "work";
}

/// A notice waiting to be stored.
struct Submitted {
    notice: Notice,
    reply: Reply<Result<bool, StoreError>>,
    /// Lasts until it is stored.
    span: Span,
}

/// A stored notice waiting to be processed.
struct Ready {
    notice: Notice,
    tried: u32,
    origin: Origin,
}

/// Origin of a notice that is being processed.
enum Origin {
    /// It was just submitted, from this span if its trace is recorded.
    Submitted(Option<SpanContext>),
    /// It was found in the store, which keeps no traces.
    Stored,
}

/// Dependencies of the inbox.
pub(crate) struct InboxParts {
    pub(crate) books: Arc<Books>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) exceptions: Arc<Exceptions>,
    /// Notices that could not be processed.
    pub(crate) failed_notices: Arc<Backoff<String>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Recorder of the traces that begin here, if traces are wanted.
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) limits: Limits,
}

/// Stores and processes notices.
pub(crate) struct InboxActor {
    parts: Arc<InboxParts>,
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
    pub(crate) fn new(parts: Arc<InboxParts>, alive: Alive) -> Self {
        Self {
            parts,
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

    /// Stores the waiting notices as one batch, then processes the new ones.
    fn store(&mut self, context: &mut Context<Self>) {
        self.level.set(self.waiting.len());
        if self.is_storing || self.waiting.is_empty() {
            return;
        }
        self.is_storing = true;
        let count = self.waiting.len().min(BATCH);
        let apart = |Submitted { notice, reply, span }| (notice, (reply, span));
        let (notices, mut waiting): (Vec<_>, Vec<_>) = self.waiting.drain(..count).map(apart).unzip();
        // Marked as known before they are stored, so that the timer does not process them a second time.
        let fresh: Vec<_> = notices.iter().map(|notice| self.known.insert(notice.id.clone())).collect();
        let parts = Arc::clone(&self.parts);
        let work = async move {
            let batch = batch_span("store notices", waiting.iter_mut().map(|(_, span)| span));
            let stored = parts.books.store.put_notices(&notices).await;
            drop(batch);
            (notices, waiting, stored)
        };
        context.spawn(work.into_actor(self).map(move |(notices, waiting, stored), inbox, context| {
            inbox.is_storing = false;
            if let Err(error) = &stored {
                inbox.parts.books.fuse.note_store_error(error);
            }
            for ((place, notice), (reply, mut span)) in notices.into_iter().enumerate().zip(waiting) {
                let is_fresh_here = fresh.get(place).copied().unwrap_or(false);
                let is_new = stored.as_ref().is_ok_and(|new| new.get(place).copied().unwrap_or(false));
                if is_new && is_fresh_here {
                    let origin = Origin::Submitted(span.context().cloned());
                    inbox.ready.push_back(Ready { notice, tried: 0, origin });
                } else if is_fresh_here {
                    // A repetition, or a notice that was not stored. If the store has it unfinished, the timer delivers
                    // it.
                    inbox.known.remove(&notice.id);
                }
                if stored.is_err() {
                    span.fail("not stored");
                }
                // Recorded before the caller continues.
                drop(span);
                reply.send(stored.as_ref().map(|_| is_new).map_err(Clone::clone));
            }
            inbox.work(context);
            inbox.store(context);
        }));
    }

    /// Processes notices that are ready, as long as there is room.
    fn work(&mut self, context: &mut Context<Self>) {
        while self.in_flight < self.parts.limits.inbox_in_flight {
            let Some(Ready { notice, tried, origin }) = self.ready.pop_front() else { break };
            self.in_flight = self.in_flight.saturating_add(1);
            let parts = Arc::clone(&self.parts);
            let id = notice.id.clone();
            let work = async move {
                let span = bring_span(&parts, &notice, origin);
                within(span.context().cloned(), bring(&parts, &notice, tried)).await
            };
            context.spawn(work.into_actor(self).map(move |worked, inbox, context| {
                inbox.in_flight = inbox.in_flight.saturating_sub(1);
                match worked {
                    // It stays known until the store has it as finished; otherwise the timer would deliver it again.
                    Worked::Done => {
                        inbox.parts.failed_notices.succeeded(&id);
                        inbox.done.push(id);
                    }
                    Worked::PutOff => {
                        inbox.parts.failed_notices.succeeded(&id);
                        inbox.known.remove(&id);
                    }
                    Worked::Failed(why) => {
                        inbox.known.remove(&id);
                        inbox.parts.failed_notices.failed(id, &why);
                    }
                }
                inbox.finish(context);
                inbox.work(context);
            }));
        }
    }

    /// Finishes processed notices as one batch.
    fn finish(&mut self, context: &mut Context<Self>) {
        if self.is_finishing || self.done.is_empty() {
            return;
        }
        self.is_finishing = true;
        let ids = std::mem::take(&mut self.done);
        let parts = Arc::clone(&self.parts);
        let work = async move {
            if let Err(error) = parts.books.store.finish_notices(&ids, parts.clock.now()).await {
                // They stay due, which is harmless: processing is idempotent.
                let denied = Denied::StoreUnavailable(error);
                warn_unless_away!(denied, error = %denied, count = ids.len(), "processed notices could not be marked as done");
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

/// Result of delivering a notice to its payment.
enum Worked {
    Done,
    /// It came too early. The store has the time of its next try.
    PutOff,
    /// It stays due: a failure on our side does not count as one of its tries.
    Failed(Denied),
}

/// Opens the span of delivering a notice: in the trace it came with, or in a new one.
fn bring_span(parts: &InboxParts, notice: &Notice, origin: Origin) -> Span {
    let name = || "bring notice".into();
    let mut span = match origin {
        Origin::Submitted(context) => Span::child(context.as_ref(), name),
        Origin::Stored => Span::begin(parts.tracer.as_ref(), name),
    };
    span.record_with(|span| {
        span.record("transaction.id", notice.transaction_id);
        span.record("acquirer", notice.acquirer.as_str().to_owned());
    });
    span
}

/// Delivers one notice to its payment.
async fn bring(parts: &InboxParts, notice: &Notice, tried: u32) -> Worked {
    let asker = Asker::Acquirer(notice.acquirer.clone());
    let command = Command::Notified { acquirer: notice.acquirer.clone(), fact: notice.fact.clone() };
    let executed = parts.commands.execute_for(asker, notice.transaction_id, command).await;
    match executed {
        Ok(Executed { unstored, payment, .. }) => {
            for discrepancy in &unstored {
                let exception = parts.exceptions.of(&payment, discrepancy, &notice.id);
                match discrepancy.kind {
                    // A fact that is too early has changed nothing and has no other discrepancy.
                    DiscrepancyKind::TooEarly => return put_off(parts, notice, tried, exception).await,
                    DiscrepancyKind::Contradiction
                    | DiscrepancyKind::ForeignCharge
                    | DiscrepancyKind::AmountMismatch
                    | DiscrepancyKind::Overpaid
                    | DiscrepancyKind::PaidTwice
                    | DiscrepancyKind::SecondCharge
                    | DiscrepancyKind::PaidAfterDecline
                    | DiscrepancyKind::RefundExceedsPaid
                    | DiscrepancyKind::RefundedAndChargedBack
                    | DiscrepancyKind::LateAuthorization
                    | DiscrepancyKind::NumberTaken
                    | DiscrepancyKind::PixTaken
                    | DiscrepancyKind::PixCodeMissing
                    | DiscrepancyKind::AmountUnknown
                    | DiscrepancyKind::UnknownOutcome => {
                        if let Err(error) = parts.exceptions.report(exception).await {
                            return once_stored(Err(error), notice, Worked::Done);
                        }
                    }
                }
            }
            Worked::Done
        }
        Err(Denied::NotFound) => put_off(parts, notice, tried, unknown_payment(parts, notice)).await,
        Err(denied) => {
            warn_unless_away!(denied, notice.id, error = %denied, "a notice could not be processed; it stays due");
            Worked::Failed(denied)
        }
    }
}

/// Postpones a notice that waits for another one. After a while an operator gets an exception; in the end the notice is
/// given up.
async fn put_off(parts: &InboxParts, notice: &Notice, tried: u32, exception: Exception) -> Worked {
    if tried == REPORTED_AFTER
        && let Err(error) = parts.exceptions.report(exception).await
    {
        return once_stored(Err(error), notice, Worked::Done);
    }
    let Some(wait) = usize::try_from(tried).ok().and_then(|tried| TRIES_MS.get(tried)) else {
        return Worked::Done;
    };
    let until = parts.clock.now().plus_ms(*wait);
    once_stored(parts.books.store.postpone_notice(&notice.id, tried, until).await, notice, Worked::PutOff)
}

/// Returns `worked` if the store call succeeded; otherwise the notice stays due.
fn once_stored(result: Result<(), StoreError>, notice: &Notice, worked: Worked) -> Worked {
    match result {
        Ok(()) => worked,
        Err(error) => {
            let denied = Denied::StoreUnavailable(error);
            warn_unless_away!(denied, notice.id, error = %denied, "the outcome of a notice could not be stored; it stays due");
            Worked::Failed(denied)
        }
    }
}

fn unknown_payment(parts: &InboxParts, notice: &Notice) -> Exception {
    Exception {
        id: format!("{}:unknown_payment", notice.id),
        kind: UNKNOWN_PAYMENT.into(),
        transaction_id: Some(notice.transaction_id),
        acquirer: Some(notice.acquirer.clone()),
        detail: "a notice for a payment that is not stored here, or was never sent to this acquirer".into(),
        advice: "look the transaction up at the acquirer; if money came in, refund it there".into(),
        reported_at: parts.clock.now(),
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
        if self.waiting.len() >= self.parts.limits.inbox_mailbox {
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
            let may_try = self.parts.failed_notices.may_try(&notice.id);
            let has_room = self.ready.len() < self.parts.limits.inbox_mailbox;
            // The insert comes last: a notice that finds no room must not count as known.
            if may_try && has_room && self.known.insert(notice.id.clone()) {
                self.ready.push_back(Ready { notice, tried, origin: Origin::Stored });
            }
        }
        self.work(context);
        reply.send(());
    }
}
