//! The webhook pool: gives deliveries to workers.
//!
//! Owns the queue of deliveries that were claimed, and who works on what. Receivers take turns and none may occupy
//! more than its share of the workers, so that a slow one delays nobody else. Never decides whether a delivery
//! succeeded. What does not fit stays in the store and is due when its lease ends.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use actix::prelude::*;
use quita_domain::payment::Payment;
use url::Url;

use crate::mailbox::{Ask, Mailbox, NoAnswer, Question};
use crate::meter::{ActorMeter, Alive};
use crate::shared::Shared;
use crate::webhook_worker::{Send, WebhookWorkerActor};

/// Deliver this, which was claimed.
#[derive(Clone)]
pub(crate) struct Deliver {
    pub(crate) payment: Arc<Payment>,
    /// Place in the payment's outbox.
    pub(crate) index: u32,
}

impl Question for Deliver {
    type Answer = ();
    const NAME: &'static str = "deliver";
}

/// The deliveries that wait for one receiver.
#[derive(Default)]
struct Receiver {
    waiting: VecDeque<Deliver>,
    in_flight: usize,
}

/// Makes workers, and makes them anew.
pub(crate) type Workers = Box<dyn Fn() -> Mailbox<WebhookWorkerActor> + std::marker::Send>;

/// Gives deliveries to workers.
pub(crate) struct WebhookPoolActor {
    shared: Arc<Shared>,
    hire: Workers,
    idle: Vec<Mailbox<WebhookWorkerActor>>,
    receivers: HashMap<String, Receiver>,
    turns: VecDeque<String>,
    waiting: usize,
    meter: Arc<ActorMeter>,
    workers: Arc<ActorMeter>,
    _alive: Alive,
}

impl WebhookPoolActor {
    pub(crate) fn new(
        shared: Arc<Shared>,
        hire: Workers,
        meter: Arc<ActorMeter>,
        workers: Arc<ActorMeter>,
    ) -> Self {
        let idle = (0..shared.limits.webhook_workers).map(|_| hire()).collect();
        let alive = meter.alive();
        Self {
            shared,
            hire,
            idle,
            receivers: HashMap::new(),
            turns: VecDeque::new(),
            waiting: 0,
            meter,
            workers,
            _alive: alive,
        }
    }

    fn enqueue(&mut self, delivery: Deliver) {
        let limits = &self.shared.limits;
        let Some(name) = delivery.payment.order.postback_url.as_deref().map(receiver_of) else { return };
        let receiver = self.receivers.entry(name.clone()).or_default();
        if self.waiting >= limits.webhook_queue || receiver.waiting.len() >= limits.webhook_queue_per_receiver
        {
            self.meter.refused.inc();
            return;
        }
        if receiver.waiting.is_empty() {
            self.turns.push_back(name);
        }
        receiver.waiting.push_back(delivery);
        self.waiting = self.waiting.saturating_add(1);
    }

    /// Gives work to idle workers, one delivery for each receiver in turn.
    fn pump(&mut self, context: &mut Context<Self>) {
        let per_receiver = self.shared.limits.webhook_workers_per_receiver;
        let mut turns = self.turns.len();
        while turns > 0 && !self.idle.is_empty() {
            let Some(name) = self.turns.pop_front() else { break };
            let Some(receiver) = self.receivers.get_mut(&name) else { continue };
            if receiver.in_flight >= per_receiver {
                self.turns.push_back(name);
                turns = turns.saturating_sub(1);
                continue;
            }
            let Some((delivery, worker)) = receiver.waiting.pop_front().zip(self.idle.pop()) else {
                continue;
            };
            receiver.in_flight = receiver.in_flight.saturating_add(1);
            if receiver.waiting.is_empty() {
                turns = turns.saturating_sub(1);
            } else {
                self.turns.push_back(name.clone());
            }
            self.waiting = self.waiting.saturating_sub(1);
            self.give(worker, name, delivery, context);
        }
    }

    fn give(
        &mut self,
        worker: Mailbox<WebhookWorkerActor>,
        name: String,
        delivery: Deliver,
        context: &mut Context<Self>,
    ) {
        let work = async move {
            let died = worker.ask(Send(delivery)).await == Err(NoAnswer::Died);
            (worker, died)
        };
        context.spawn(work.into_actor(self).map(move |(worker, died), pool, context| {
            let worker = if died || !worker.is_alive() {
                tracing::error!(
                    "a webhook worker died and was made anew; its delivery is due when its lease ends"
                );
                pool.workers.restarted();
                (pool.hire)()
            } else {
                worker
            };
            pool.idle.push(worker);
            if let Some(receiver) = pool.receivers.get_mut(&name) {
                receiver.in_flight = receiver.in_flight.saturating_sub(1);
                if receiver.in_flight == 0 && receiver.waiting.is_empty() {
                    pool.receivers.remove(&name);
                }
            }
            pool.pump(context);
        }));
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
        let (delivery, reply, _timer) = ask.open();
        self.enqueue(delivery);
        reply.send(());
        self.pump(context);
    }
}
