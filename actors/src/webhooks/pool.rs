//! The webhook pool: gives deliveries to workers.
//!
//! Owns the queue of deliveries that were claimed, and who works on what. Receivers take turns and none may occupy
//! more than its share of the workers, so that a slow one delays nobody else. What came of each is stored while its
//! worker goes on. Never decides whether a delivery succeeded, never has one twice: one that is claimed again while it
//! waits keeps its place with the new lease. What does not fit stays in the store and is due when its lease ends.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use actix::prelude::*;
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::payment::Command;
use quita_ports::Clock;
use quita_ports::trace::{Span, within};
use url::Url;

use crate::actor::kind::ActorKind;
use crate::actor::mailbox::{Ask, Mailbox, NoAnswer};
use crate::actor::meter::{ActorMeter, Alive, Level};
use crate::limits::Limits;
use crate::transaction::commands::Commands;
use crate::watch::meter::Meter;
use crate::webhooks::deliver::{Deliver, Key};
use crate::webhooks::worker::{SendWebhook, WebhookWorkerActor};

/// What became of a delivery that was claimed.
enum Claimed {
    /// The span lasts as long.
    Waits(Deliver, Span),
    UnderWay,
}

/// The deliveries that wait for one receiver.
#[derive(Default)]
struct Receiver {
    waiting: VecDeque<Key>,
    in_flight: usize,
}

/// Hires workers, and their successors.
pub(crate) type Workers = Box<dyn Fn() -> Mailbox<WebhookWorkerActor> + Send>;

/// Gives deliveries to workers.
pub(crate) struct WebhookPoolActor {
    commands: Arc<Commands>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    hire: Workers,
    idle: Vec<Mailbox<WebhookWorkerActor>>,
    receivers: HashMap<String, Receiver>,
    turns: VecDeque<String>,
    claimed: HashMap<Key, Claimed>,
    waiting: usize,
    /// Attempts that are over, and whose outcomes are not stored yet.
    unstored: usize,
    meter: Arc<ActorMeter>,
    workers: Arc<ActorMeter>,
    level: Level,
    _alive: Alive,
}

impl WebhookPoolActor {
    pub(crate) fn new(
        commands: Arc<Commands>,
        clock: Arc<dyn Clock>,
        limits: Limits,
        hire: Workers,
        meter: &Meter,
    ) -> Self {
        let idle = (0..limits.webhook_workers).map(|_| hire()).collect();
        let (meter, workers) = (meter.of(ActorKind::WebhookPool), meter.of(ActorKind::WebhookWorker));
        let alive = meter.alive();
        Self {
            commands,
            clock,
            limits,
            hire,
            idle,
            receivers: HashMap::new(),
            turns: VecDeque::new(),
            claimed: HashMap::new(),
            waiting: 0,
            unstored: 0,
            meter,
            workers,
            level: alive.level(),
            _alive: alive,
        }
    }

    fn enqueue(&mut self, delivery: Deliver, span: Span) {
        let (limits, key) = (&self.limits, delivery.key());
        match self.claimed.get_mut(&key) {
            Some(Claimed::Waits(waiting, waiting_span)) => {
                (*waiting, *waiting_span) = (delivery, span);
                return;
            }
            Some(Claimed::UnderWay) => return,
            None => {}
        }
        let Some(name) = delivery.payment.order.postback_url.as_deref().map(receiver_of) else { return };
        let waiting_there = self.receivers.get(&name).map_or(0, |receiver| receiver.waiting.len());
        if self.waiting >= limits.webhook_queue || waiting_there >= limits.webhook_queue_per_receiver {
            self.meter.refused.inc();
            return;
        }
        let receiver = self.receivers.entry(name.clone()).or_default();
        if receiver.waiting.is_empty() {
            self.turns.push_back(name);
        }
        receiver.waiting.push_back(key);
        self.claimed.insert(key, Claimed::Waits(delivery, span));
        self.waiting = self.waiting.saturating_add(1);
    }

    /// Gives work to idle workers, one delivery for each receiver in turn.
    fn pump(&mut self, context: &mut Context<Self>) {
        let Limits { webhook_workers_per_receiver: per_receiver, webhook_outcomes, .. } = self.limits;
        let mut turns = self.turns.len();
        while turns > 0 && !self.idle.is_empty() && self.unstored < webhook_outcomes {
            let Some(name) = self.turns.pop_front() else { break };
            if self.receivers.get(&name).is_some_and(|receiver| receiver.in_flight >= per_receiver) {
                self.turns.push_back(name);
                turns = turns.saturating_sub(1);
                continue;
            }
            let next = self.take_next(&name);
            if self.receivers.get(&name).is_some_and(|receiver| !receiver.waiting.is_empty()) {
                self.turns.push_back(name.clone());
            } else {
                turns = turns.saturating_sub(1);
            }
            let Some((delivery, span)) = next else {
                self.forget_if_idle(&name);
                continue;
            };
            let Some(worker) = self.idle.pop() else { break };
            self.give(worker, name, (delivery, span), context);
        }
        self.level.set(self.waiting);
    }

    /// The receiver's next delivery whose lease still runs, now under way. Those before it are the timer's again.
    fn take_next(&mut self, name: &str) -> Option<(Deliver, Span)> {
        let now = self.clock.now();
        let receiver = self.receivers.get_mut(name)?;
        while let Some(key) = receiver.waiting.pop_front() {
            self.waiting = self.waiting.saturating_sub(1);
            if let Some(Claimed::Waits(delivery, span)) = self.claimed.remove(&key)
                && delivery.is_ours(now)
            {
                self.claimed.insert(key, Claimed::UnderWay);
                receiver.in_flight = receiver.in_flight.saturating_add(1);
                return Some((delivery, span));
            }
        }
        None
    }

    fn forget_if_idle(&mut self, name: &str) {
        if self.receivers.get(name).is_some_and(|known| known.in_flight == 0 && known.waiting.is_empty()) {
            self.receivers.remove(name);
        }
    }

    /// Has it sent, and has it stored how that went, whatever becomes of the pool meanwhile.
    fn give(
        &mut self,
        worker: Mailbox<WebhookWorkerActor>,
        receiver: String,
        (delivery, span): (Deliver, Span),
        context: &mut Context<Self>,
    ) {
        let (pool, commands, key) = (context.address(), Arc::clone(&self.commands), delivery.key());
        let span_context = span.context().cloned();
        let work = async move {
            let answer = worker.ask(SendWebhook(delivery.clone())).await;
            let has_died = answer == Err(NoAnswer::Died) || !worker.is_alive();
            let attempt = answer.ok().flatten();
            let is_over = attempt.is_none();
            tell(&pool, Sent { worker, has_died, receiver, key, is_over });
            if let Some(attempt) = attempt {
                store(&commands, delivery, attempt).await;
                tell(&pool, Stored(key));
            }
        };
        actix::spawn(within(span_context, work));
    }
}

/// An attempt has ended. `is_over`: there is nothing to be stored of it.
#[derive(Message)]
#[rtype(result = "()")]
struct Sent {
    worker: Mailbox<WebhookWorkerActor>,
    has_died: bool,
    receiver: String,
    key: Key,
    is_over: bool,
}

/// How an attempt went is stored, or could not be.
#[derive(Message)]
#[rtype(result = "()")]
struct Stored(Key);

/// Tells the pool, which knows of no more than its workers and a bounded number of outcomes.
fn tell<M: Message<Result = ()> + Send + 'static>(pool: &Addr<WebhookPoolActor>, news: M)
where
    WebhookPoolActor: Handler<M>,
{
    if pool.try_send(news).is_err() {
        tracing::debug!("the webhook pool was recreated in the meantime");
    }
}

async fn store(commands: &Commands, Deliver { payment, index }: Deliver, attempt: DeliveryAttempt) {
    let command = Command::DeliveryAnswered { delivery: index, attempt };
    if let Err(denied) = commands.insist(payment.id, command).await {
        tracing::warn!(transaction.id = %payment.id, %denied, "a delivery's outcome could not be stored; it is sent again");
    }
}

impl Handler<Sent> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, sent: Sent, context: &mut Self::Context) {
        let worker = if sent.has_died {
            tracing::error!(
                "a webhook worker died and was replaced; its delivery is due when its lease ends"
            );
            self.workers.restarted();
            (self.hire)()
        } else {
            sent.worker
        };
        self.idle.push(worker);
        if sent.is_over {
            self.claimed.remove(&sent.key);
        } else {
            self.unstored = self.unstored.saturating_add(1);
        }
        if let Some(receiver) = self.receivers.get_mut(&sent.receiver) {
            receiver.in_flight = receiver.in_flight.saturating_sub(1);
        }
        self.forget_if_idle(&sent.receiver);
        self.pump(context);
    }
}

impl Handler<Stored> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, Stored(key): Stored, context: &mut Self::Context) {
        self.unstored = self.unstored.saturating_sub(1);
        self.claimed.remove(&key);
        self.pump(context);
    }
}

/// Who receives: host and port of the address.
fn receiver_of(url: &str) -> String {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
    let port = parsed.as_ref().and_then(Url::port_or_known_default).unwrap_or_default();
    format!("{host}:{port}")
}

impl Actor for WebhookPoolActor {
    type Context = Context<Self>;
}

impl Handler<Ask<Deliver>> for WebhookPoolActor {
    type Result = ();

    fn handle(&mut self, ask: Ask<Deliver>, context: &mut Self::Context) {
        let (delivery, reply, mut handling) = ask.open();
        self.enqueue(delivery, handling.hand_over());
        reply.send(());
        self.pump(context);
    }
}
