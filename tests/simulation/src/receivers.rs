//! Merchants' servers: they answer, fail and hang, and check that webhooks are true and in order.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::delivery::{DeliveryAttempt, DeliveryState, webhook_id};
use quita_domain::identity::TransactionId;
use quita_domain::numbering::EventSequence;
use quita_domain::status::Status;
use quita_domain::webhook::schedule::TIME_OUT_MS;
use quita_domain::webhook::signature::verify;
use quita_ports::{SentWebhook, WebhookRequest, WebhookSender, WebhookSenderFactory};
use serde::Deserialize;
use tokio::time::sleep;

use crate::chance::Fault;
use crate::installation::{self, Happening};
use crate::node::Fuse;
use crate::planted;
use crate::store::{owner, webhook_secret};
use crate::world::World;

/// Events that all receivers received.
#[derive(Default)]
pub(crate) struct Receivers {
    /// Body of each event, by its webhook-id.
    bodies: Mutex<BTreeMap<String, String>>,
    /// Moment at which each event was last confirmed, by its webhook-id.
    confirmed: Mutex<BTreeMap<String, u64>>,
}

/// Longest delay of an event from when it may be sent, if nothing is wrong, in milliseconds.
const TOLD_WITHIN_MS: u64 = 1_000;

/// Time without disturbance before an event was stored. By then, clocks are right, and leases of dead nodes have
/// expired.
const CALM_FOR_MS: u64 = 60_000;

impl Receivers {
    /// Returns true if a receiver answered 2xx to this event.
    pub(crate) fn has_confirmed(&self, id: &str) -> bool {
        self.confirmed_ms(id).is_some()
    }

    fn confirmed_ms(&self, id: &str) -> Option<u64> {
        self.confirmed.lock().unwrap().get(id).copied()
    }

    /// Forgets the events that the store forgot. They are sent anew, and may have other contents.
    pub(crate) fn forget(&self, is_stored: impl Fn(&str) -> bool) {
        self.bodies.lock().unwrap().retain(|id, _| is_stored(id));
    }

    /// Checks a request that arrives: its contents must be stored, and earlier events settled.
    fn arrive(&self, world: &World, request: &WebhookRequest) {
        let WebhookRequest { id, timestamp_s, signature, body, .. } = request;
        world.note(|| format!("webhook {id}"));
        let event: Told = serde_json::from_str(body).unwrap();
        let payment = world.store.payment(event.transaction_id);
        let owner = payment.as_ref().map_or_else(owner, |payment| payment.owner.clone());
        if !verify(&webhook_secret(&owner), id, *timestamp_s, body.as_bytes(), signature) {
            world.violation(format!("{id} is badly signed"));
        }
        installation::check_event(world, event.transaction_id, body);
        let mut bodies = self.bodies.lock().unwrap();
        match bodies.get(id) {
            Some(known) if known == body => {}
            Some(known) if installation::is_masked(known, body) || installation::is_masked(body, known) => {
                world.installation.count(Happening::ErasedEventDelivered);
            }
            Some(_) => world.violation(format!("{id} changed its body")),
            None => {
                check_first(world, id, &event);
                bodies.insert(id.clone(), body.clone());
            }
        }
    }
}

/// Content of a webhook.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    transaction_id: TransactionId,
    sequence: EventSequence,
    status: Status,
}

/// Checks an event that is received for the first time.
fn check_first(world: &World, id: &str, event: &Told) {
    let transaction = event.transaction_id;
    let Some(payment) = world.store.payment(transaction) else {
        world.violation(format!("{id} is about a payment that is not stored"));
        return;
    };
    let sequence = event.sequence;
    let is_stored = payment
        .event(sequence)
        .is_some_and(|stored| event.status == stored.status && webhook_id(transaction, sequence) == id);
    if !is_stored {
        world.violation(format!("{id} is told before it is stored"));
    }
    let mut earlier = payment.outbox.iter().filter(|one| one.repeats.is_none() && one.sequence < sequence);
    // A confirmation may remain unstored until the next event was sent too.
    let is_confirmed = |sequence| world.receivers.has_confirmed(&webhook_id(transaction, sequence));
    if earlier.any(|one| one.state == DeliveryState::Pending && !is_confirmed(one.sequence)) {
        world.violation(format!("{id} overtook an earlier event"));
    }
    check_punctual(world, id, transaction, sequence);
}

/// Checks that an event is sent at once: as soon as it is stored, and the previous one is confirmed.
fn check_punctual(world: &World, id: &str, transaction: TransactionId, sequence: EventSequence) {
    let before = sequence.get().checked_sub(1).filter(|before| *before > 0).map(EventSequence::new);
    let confirmed = before.map(|before| world.receivers.confirmed_ms(&webhook_id(transaction, before)));
    let (Some(stored_ms), Some(confirmed_ms)) =
        (world.store.stored_ms(transaction, sequence), confirmed.unwrap_or(Some(0)))
    else {
        return;
    };
    let since_ms = stored_ms.max(confirmed_ms);
    let now_ms = world.clock.elapsed_ms();
    if world.was_calm_for(CALM_FOR_MS, stored_ms) && now_ms > since_ms + TOLD_WITHIN_MS {
        world.violation(format!("{id} was told {} ms after it could be", now_ms - since_ms));
    }
}

/// Factory of a node's senders.
pub(crate) struct NodeSenders {
    pub(crate) world: Arc<World>,
    pub(crate) fuse: Arc<Fuse>,
}

impl WebhookSenderFactory for NodeSenders {
    fn build(&self) -> Rc<dyn WebhookSender> {
        Rc::new(Sender { world: Arc::clone(&self.world), fuse: Arc::clone(&self.fuse) })
    }
}

struct Sender {
    world: Arc<World>,
    fuse: Arc<Fuse>,
}

impl Sender {
    fn note_confirmed(&self, body: &str) {
        let event: Told = serde_json::from_str(body).unwrap();
        self.fuse.note_confirmed(event.transaction_id, event.sequence);
    }

    /// Simulates the exchange. Returns the status that comes back, if one does in time.
    async fn exchange(&self, request: &WebhookRequest) -> Option<u16> {
        let (world, restores) = (&self.world, self.world.store.restores());
        world.pass(1, 40).await;
        if world.store.restores() != restores {
            // It was sent from contents that the store has since forgotten.
            return None;
        }
        world.receivers.arrive(world, request);
        if world.strikes(Fault::ReceiverHangs) {
            sleep(Duration::from_millis(TIME_OUT_MS)).await;
            return None;
        }
        world.pass(1, 40).await;
        if world.strikes(Fault::ReceiverFails) {
            return Some(500);
        }
        if world.strikes(Fault::ReceiverGone) {
            return Some(410);
        }
        let now_ms = world.clock.elapsed_ms();
        world.receivers.confirmed.lock().unwrap().insert(request.id.clone(), now_ms);
        Some(200)
    }
}

#[async_trait(?Send)]
impl WebhookSender for Sender {
    async fn send(&self, request: WebhookRequest) -> SentWebhook {
        self.fuse.gate("webhook").await;
        let world = &self.world;
        assert!(!world.strikes(Fault::SenderPanic), "the sender of webhooks panics");
        let at = world.clock.now();
        let began_ms = world.clock.elapsed_ms();
        let status = planted::exchange_heard(world, self.exchange(&request).await);
        self.fuse.gate("webhook answered").await;
        if status == Some(200) {
            self.note_confirmed(&request.body);
        }
        let attempt = DeliveryAttempt {
            at,
            duration_ms: world.clock.elapsed_ms() - began_ms,
            status,
            error: status.is_none().then(|| "timeout".into()),
            answer: installation::thanks(world, &request.body),
            retry_after_ms: None,
        };
        attempt.into()
    }
}
