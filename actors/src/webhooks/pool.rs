//! The webhook pool: assigns deliveries to workers.
//!
//! Owns the queue of waiting deliveries, the position up to which the store was read for it, and the assignment of
//! deliveries to workers. A waiting delivery is not claimed: it costs the store nothing until its turn comes. The
//! outcome of an attempt is stored while its worker continues. Never decides whether a delivery succeeded, never holds
//! one twice. Recreated by the supervisor when it dies; its deliveries are found in the store.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use quita_domain::delivery::{DeliveryAttempt, Lease, Receiver};
use quita_domain::identity::TransactionId;
use quita_domain::numbering::DeliveryIndex;
use quita_domain::payment::Command;
use quita_ports::trace::{Span, Tracer, within};
use quita_ports::{Clock, DueDelivery, Store, StoreError};
use tokio::time::{Instant, timeout};

use crate::actor::kind::ActorKind;
use crate::actor::mailbox::{Ask, Mailbox, NoAnswer};
use crate::actor::meter::{ActorMeter, Alive, Level};
use crate::denied::{Denied, warn_unless_away};
use crate::limits::WebhookLimits;
use crate::transaction::commands::Commands;
use crate::upkeep::reporting::{Exceptions, unreadable};
use crate::watch::meter::Meter;
use crate::webhooks::backlog::Backlog;
use crate::webhooks::deliver::{Deliver, weight_of};
use crate::webhooks::queue::{Ended, Place, Queue, Turn, Waiting};
use crate::webhooks::worker::{SendWebhook, WebhookWorkerActor};

/// Pages of due deliveries that are read one after the other, before the next interval.
const PAGES_AT_ONCE: u32 = 8;

/// Time-out of reading one page.
const READ_TIME_OUT: Duration = Duration::from_secs(30);

/// Creates workers.
pub(crate) type Workers = Box<dyn Fn() -> Mailbox<WebhookWorkerActor> + Send>;

/// Dependencies of the pool, except its workers.
pub(crate) struct PoolParts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) exceptions: Arc<Exceptions>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Recorder of the traces that begin here, if traces are wanted.
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) limits: WebhookLimits,
}

/// A payment whose deliveries could not be claimed, and the time of the failure.
struct Failed {
    at: Instant,
    receiver: Arc<Receiver>,
    id: TransactionId,
    waiting: Waiting,
}

/// Assigns deliveries to workers.
pub(crate) struct WebhookPoolActor {
    parts: Arc<PoolParts>,
    hire: Workers,
    idle: Vec<Mailbox<WebhookWorkerActor>>,
    queue: Queue,
    backlog: Backlog,
    pages: u32,
    /// Places of payments whose deliveries are being claimed.
    claiming: HashMap<TransactionId, Place>,
    /// Oldest first.
    failed: VecDeque<Failed>,
    /// Places of the exchanges under way, by number.
    exchanges: HashMap<u64, Place>,
    /// Start times of exchanges, until they end or are slow.
    begun: VecDeque<(Instant, u64)>,
    last_number: u64,
    /// Deliveries being sent, or whose outcome is being stored.
    under_way: HashMap<TransactionId, Vec<DeliveryIndex>>,
    /// Attempts that have ended but whose outcomes are not stored yet.
    unstored: usize,
    meter: Arc<ActorMeter>,
    workers: Arc<ActorMeter>,
    level: Level,
    _alive: Alive,
}

impl WebhookPoolActor {
    pub(crate) fn new(parts: PoolParts, hire: Workers, meter: &Meter) -> Self {
        let (meter, workers) = (meter.of(ActorKind::WebhookPool), meter.of(ActorKind::WebhookWorker));
        let alive = meter.alive();
        Self {
            queue: Queue::new(parts.limits.clone()),
            backlog: Backlog::new(parts.limits.review),
            parts: Arc::new(parts),
            hire,
            idle: Vec::new(),
            pages: 0,
            claiming: HashMap::new(),
            failed: VecDeque::new(),
            exchanges: HashMap::new(),
            begun: VecDeque::new(),
            last_number: 0,
            under_way: HashMap::new(),
            unstored: 0,
            meter,
            workers,
            level: alive.level(),
            _alive: alive,
        }
    }

    /// Accepts a claimed delivery, either from a change of the payment or because its turn had come.
    fn claimed(&mut self, delivery: Deliver, span: Span, context: &mut Context<Self>) {
        let id = delivery.payment.id;
        // It is being sent, or its outcome is being stored: sending it again would deliver the event twice.
        if self.under_way.get(&id).is_some_and(|indexes| indexes.contains(&delivery.index)) {
            return;
        }
        if let Some(place) = self.claiming.remove(&id) {
            self.send(delivery, place, Some(span), context);
            return;
        }
        let (Some(receiver), Some(lease)) = (delivery.payment.receiver(), delivery.lease) else { return };
        if !self.queue.put_claimed(receiver, &delivery.payment, lease, span) {
            self.meter.refused.inc();
        }
        self.pump(context);
        // Only now, because a delivery that could leave at once needed its content.
        self.queue.lighten(&id);
    }

    /// Begins as many deliveries as there are free places.
    fn pump(&mut self, context: &mut Context<Self>) {
        // While outcomes can't be stored, further events would only be sent again after their leases.
        while self.unstored < self.parts.limits.outcomes
            && let Some(turn) = self.queue.next()
        {
            self.begin(turn, context);
        }
        if let Some(from) = self.queue.take_refill() {
            self.backlog.go_back(from);
        }
        self.level.set(self.queue.len());
    }

    /// Sends a delivery whose claim is still valid, or claims the due deliveries.
    fn begin(&mut self, Turn { id, waiting, place }: Turn, context: &mut Context<Self>) {
        let Waiting { mut leases, payment, span } = waiting;
        let now = self.parts.clock.now();
        let lease = leases.pop_front_if(|lease| payment.is_some() && now < lease.ends_at);
        if let (Some(lease), Some(payment)) = (lease, payment) {
            if !leases.is_empty() {
                let waiting = Waiting { leases, payment: Some(Arc::clone(&payment)), span: None };
                self.queue.put_back(&place.receiver, id, waiting);
            }
            let delivery = Deliver::under(&payment, lease);
            self.send(delivery, place, span, context);
        } else {
            self.claim(id, leases.into(), place, context);
        }
    }

    /// Claims the due deliveries of a payment. They come back as messages, before the reply or after it.
    fn claim(&mut self, id: TransactionId, held: Vec<Lease>, place: Place, context: &mut Context<Self>) {
        // A payment that was put back after a failure may have been found in the store again: then it has two turns.
        if let Some(other) = self.claiming.insert(id, place) {
            self.queue.free(other, Ended::Unused);
        }
        let pool = context.address();
        let parts = Arc::clone(&self.parts);
        let mut span = Span::begin(parts.tracer.as_ref(), || "deliver".into());
        span.record("transaction.id", id);
        let span_context = span.context().cloned();
        actix::spawn(within(span_context, async move {
            let command = Command::Deliver { held: held.clone() };
            let result = parts.commands.execute(id, command).await.map(drop);
            drop(span);
            tell(&pool, ClaimAnswered { id, held, result });
        }));
    }

    /// Sends a delivery and stores its outcome, whatever happens to the pool in the meantime.
    fn send(&mut self, delivery: Deliver, mut place: Place, span: Option<Span>, context: &mut Context<Self>) {
        self.queue.weigh(&mut place, weight_of(&delivery.payment));
        self.last_number = self.last_number.wrapping_add(1);
        let number = self.last_number;
        let id = delivery.payment.id;
        let index = delivery.index;
        self.exchanges.insert(number, place);
        self.begun.push_back((Instant::now(), number));
        self.under_way.entry(id).or_default().push(index);
        let worker = self.idle.pop().unwrap_or_else(|| (self.hire)());
        let pool = context.address();
        let parts = Arc::clone(&self.parts);
        let span_context = span.as_ref().and_then(|span| span.context().cloned());
        let work = async move {
            let answer = worker.ask(SendWebhook(delivery)).await;
            let has_died = answer == Err(NoAnswer::Died) || !worker.is_alive();
            let attempt = answer.ok().flatten();
            let ended = attempt.as_ref().map_or(Ended::Unused, |attempt| ended(attempt, parts.limits.prompt));
            let is_over = attempt.is_none();
            // The receiver's place is freed once it has answered, without waiting for the store.
            tell(&pool, Sent { worker, has_died, number, id, index, ended, is_over });
            drop(span);
            if let Some(attempt) = attempt {
                store(&parts.commands, id, index, attempt).await;
                tell(&pool, Stored { id, index });
            }
        };
        actix::spawn(within(span_context, work));
    }

    /// Forgets a delivery that is no longer being sent or stored.
    fn is_over(&mut self, id: TransactionId, index: DeliveryIndex) {
        if let Some(indexes) = self.under_way.get_mut(&id) {
            indexes.retain(|other| *other != index);
            if indexes.is_empty() {
                self.under_way.remove(&id);
            }
        }
    }

    fn tick(&mut self, context: &mut Context<Self>) {
        let now = Instant::now();
        let limits = &self.parts.limits;
        while let Some((_, number)) =
            self.begun.pop_front_if(|(at, _)| now.duration_since(*at) >= limits.prompt)
        {
            if let Some(place) = self.exchanges.get_mut(&number) {
                self.queue.slow(place);
            }
        }
        while let Some(failed) =
            self.failed.pop_front_if(|failed| now.duration_since(failed.at) >= limits.retry)
        {
            self.queue.put_back(&failed.receiver, failed.id, failed.waiting);
        }
        self.pump(context);
        self.pages = 0;
        self.read_on(context);
    }

    /// Reads the next page of due deliveries.
    fn read_on(&mut self, context: &mut Context<Self>) {
        let Some(after) = self.backlog.begin() else { return };
        let parts = Arc::clone(&self.parts);
        let reading = async move {
            let reading = parts.store.outbox_due(after, parts.clock.now(), parts.limits.page);
            timeout(READ_TIME_OUT, reading).await
        };
        let then = reading.into_actor(self).map(|found, pool, context| match found {
            Ok(Ok(found)) => pool.found(found, context),
            Ok(Err(error)) => pool.could_not_read(&Denied::StoreUnavailable(error)),
            Err(_) => {
                let too_slow = StoreError::Unavailable("it took too long".into());
                pool.could_not_read(&Denied::StoreUnavailable(too_slow));
            }
        });
        context.spawn(then);
    }

    fn could_not_read(&mut self, denied: &Denied) {
        warn_unless_away!(denied, error = %denied, "the webhook pool could not read due deliveries; it will retry");
        self.backlog.failed();
    }

    fn found(&mut self, found: Vec<DueDelivery>, context: &mut Context<Self>) {
        let last = found.last().map(|due| due.place);
        let is_last = found.len() < self.parts.limits.page;
        for DueDelivery { place, receiver } in found {
            let is_begun = self.under_way.contains_key(&place.id) || self.claiming.contains_key(&place.id);
            if !is_begun && !self.queue.put_due(receiver, place) {
                self.meter.refused.inc();
            }
        }
        self.backlog.read(last, is_last);
        self.pump(context);
        self.pages = self.pages.saturating_add(1);
        if !is_last && self.pages < PAGES_AT_ONCE {
            self.read_on(context);
        }
    }
}

/// Classifies the end of an exchange for its receiver.
fn ended(attempt: &DeliveryAttempt, prompt: Duration) -> Ended {
    if attempt.status.is_some() {
        Ended::Answered
    } else if Duration::from_millis(attempt.duration_ms) < prompt {
        Ended::Unreachable
    } else {
        Ended::Silent
    }
}

/// End of an attempt. `is_over` if it has no outcome to store.
#[derive(Message)]
#[rtype(result = "()")]
struct Sent {
    worker: Mailbox<WebhookWorkerActor>,
    has_died: bool,
    number: u64,
    id: TransactionId,
    index: DeliveryIndex,
    ended: Ended,
    is_over: bool,
}

/// End of storing an attempt's outcome, successful or not.
#[derive(Message)]
#[rtype(result = "()")]
struct Stored {
    id: TransactionId,
    index: DeliveryIndex,
}

/// Result of claiming the due deliveries of a payment.
#[derive(Message)]
#[rtype(result = "()")]
struct ClaimAnswered {
    id: TransactionId,
    held: Vec<Lease>,
    result: Result<(), Denied>,
}

/// Sends a message to the pool. Their number is bounded by its places and the limit of outcomes.
fn tell<M: Message<Result = ()> + Send + 'static>(pool: &Addr<WebhookPoolActor>, news: M)
where
    WebhookPoolActor: Handler<M>,
{
    if pool.try_send(news).is_err() {
        tracing::debug!("the webhook pool was recreated in the meantime");
    }
}

async fn store(commands: &Commands, id: TransactionId, index: DeliveryIndex, attempt: DeliveryAttempt) {
    let command = Command::DeliveryAnswered { delivery: index, attempt };
    if let Err(denied) = commands.insist(id, command).await {
        warn_unless_away!(denied, transaction.id = %id, error = %denied, "the outcome of a delivery could not be stored; it will be sent again");
    }
}

impl Handler<Sent> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, sent: Sent, context: &mut Self::Context) {
        if sent.has_died {
            tracing::error!(
                "a webhook worker died and was replaced; its delivery is due again when the lease expires"
            );
            self.workers.restarted();
        } else if self.idle.len() < self.parts.limits.idle_workers {
            self.idle.push(sent.worker);
        }
        if sent.is_over {
            self.is_over(sent.id, sent.index);
        } else {
            self.unstored = self.unstored.saturating_add(1);
        }
        if let Some(place) = self.exchanges.remove(&sent.number) {
            self.queue.free(place, sent.ended);
        }
        self.pump(context);
    }
}

impl Handler<Stored> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, Stored { id, index }: Stored, context: &mut Self::Context) {
        self.unstored = self.unstored.saturating_sub(1);
        self.is_over(id, index);
        self.pump(context);
    }
}

impl Handler<ClaimAnswered> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, ClaimAnswered { id, held, result }: ClaimAnswered, context: &mut Self::Context) {
        // If the place is still there, nothing was claimed: another node was faster, or the claim failed.
        let Some(place) = self.claiming.remove(&id) else { return };
        if let Err(denied) = result {
            warn_unless_away!(denied, transaction.id = %id, error = %denied, "a delivery could not be claimed");
            if let Denied::StoreUnavailable(StoreError::Unreadable(_)) = denied {
                let exception = unreadable(id, self.parts.clock.now());
                self.parts.exceptions.report_until_stored(exception);
            } else if denied.is_transient() {
                let waiting = Waiting { leases: held.into(), ..Waiting::default() };
                let receiver = Arc::clone(&place.receiver);
                self.failed.push_back(Failed { at: Instant::now(), receiver, id, waiting });
            }
        }
        self.queue.free(place, Ended::Unused);
        self.pump(context);
    }
}

impl Actor for WebhookPoolActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.run_interval(self.parts.limits.interval, Self::tick);
    }
}

impl Handler<Ask<Deliver>> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Deliver>, context: &mut Self::Context) {
        let (delivery, reply, mut handling) = ask.open();
        self.claimed(delivery, handling.hand_over(), context);
        reply.send(());
    }
}
