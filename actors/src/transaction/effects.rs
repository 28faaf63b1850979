//! What follows from a stored decision: calls and deliveries, each in a task of its own.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, OperationAnswer};
use quita_domain::card::CardData;
use quita_domain::identity::AcquirerName;
use quita_domain::payment::{CALL_LEASE_MS, Command, Effect, Payment};
use quita_ports::trace;
use tokio::time::Instant;
use uuid::Uuid;

use crate::acquirer::{AcquirerActor, FindCharge, SendCharge, SendOperation};
use crate::mailbox::{Mailbox, NoAnswer};
use crate::reporting::report_until_stored;
use crate::shared::Shared;
use crate::webhook_pool::Deliver;

/// Starts an effect of what was decided at this moment. What is lost here with the process is due again by the store.
pub(super) fn run(
    shared: &Arc<Shared>,
    payment: &Arc<Payment>,
    (effect, decided_at): (Effect, Instant),
    card: Option<&CardData>,
) {
    // By a clock that never jumps, and from before the write: a lease that others see can't be over any earlier.
    let lease_end = decided_at + Duration::from_millis(CALL_LEASE_MS);
    match effect {
        Effect::Charge(acquirer) => {
            let (charge, moves_here) = (Box::new(charge(payment, card)), payment.is_sent_elsewhere());
            let question = SendCharge { charge, moves_here, lease_end: Some(lease_end) };
            send_charge(shared, payment, &acquirer, question);
        }
        Effect::Find(acquirer) => find_charge(shared, payment, &acquirer),
        Effect::Operate(acquirer, operation) => operate(shared, payment, &acquirer, (operation, lease_end)),
        Effect::Deliver(index) => {
            if let Some(pool) = shared.webhooks.get() {
                pool.mailbox().offer(Deliver { payment: Arc::clone(payment), index });
            }
        }
    }
}

/// The charge as its acquirer gets it.
pub(super) fn charge(payment: &Payment, card: Option<&CardData>) -> Charge {
    Charge { query: payment.query(), order: Arc::clone(&payment.order), card: card.cloned() }
}

/// Which of the payment's charges is the last.
pub(super) fn attempt(payment: &Payment) -> u32 {
    payment.query().attempt
}

fn send_charge(shared: &Arc<Shared>, payment: &Arc<Payment>, name: &AcquirerName, question: SendCharge) {
    let mailbox = acquirer(shared, payment, name);
    let (shared, id, attempt) = (Arc::clone(shared), payment.id, attempt(payment));
    actix::spawn(trace::carry(async move {
        let answer = match mailbox {
            Some(mailbox) => mailbox.ask(question).await,
            None => Err(NoAnswer::Full),
        };
        let answer = answer.unwrap_or_else(|why| ChargeAnswer::Failed(failure(why)));
        report(&shared, shared.insist(id, Command::ChargeAnswered { attempt, answer }).await, "charge");
    }));
}

fn find_charge(shared: &Arc<Shared>, payment: &Arc<Payment>, name: &AcquirerName) {
    let mailbox = acquirer(shared, payment, name);
    let (shared, id, attempt) = (Arc::clone(shared), payment.id, attempt(payment));
    let query = Box::new(payment.query());
    let asking_for = shared.asking.asks(payment);
    let asking_for_ms = asking_for.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    actix::spawn(trace::carry(async move {
        let Some(mailbox) = mailbox else { return };
        let Ok(answer) = mailbox.ask(FindCharge(query)).await else { return };
        let executed = shared.insist(id, Command::Found { attempt, asking_for_ms, answer }).await;
        if let Ok(executed) = &executed {
            shared.asking.answered(&executed.payment);
        }
        report(&shared, executed, "find");
    }));
}

fn operate(
    shared: &Arc<Shared>,
    payment: &Arc<Payment>,
    name: &AcquirerName,
    (operation, lease_end): (Uuid, Instant),
) {
    let mailbox = acquirer(shared, payment, name);
    let Some(wanted) = payment.operations.iter().find(|known| known.id == operation).cloned() else { return };
    let (shared, id) = (Arc::clone(shared), payment.id);
    let question = SendOperation { query: Box::new(payment.query()), operation: wanted, lease_end };
    actix::spawn(trace::carry(async move {
        let answer = match mailbox {
            Some(mailbox) => mailbox.ask(question).await,
            None => Err(NoAnswer::Full),
        };
        let answer = answer.unwrap_or_else(|why| OperationAnswer::Failed(failure(why)));
        report(
            &shared,
            shared.insist(id, Command::OperationAnswered { operation, answer }).await,
            "operation",
        );
    }));
}

fn acquirer(shared: &Shared, payment: &Payment, name: &AcquirerName) -> Option<Mailbox<AcquirerActor>> {
    shared.routes.get()?.find(name, payment.method()).map(|route| route.slot.mailbox())
}

/// An acquirer actor that was full did nothing; one that died may have sent the call.
fn failure(why: NoAnswer) -> CallFailure {
    match why {
        NoAnswer::Full => CallFailure::NotDelivered("the acquirer's mailbox is full".into()),
        NoAnswer::Died => CallFailure::Unknown("the acquirer's actor died".into()),
    }
}

/// Keeps what the table refused for an operator, and logs what could not be executed.
fn report(
    shared: &Arc<Shared>,
    result: Result<super::Executed, crate::payments::Denied>,
    source: &'static str,
) {
    match result {
        Ok(executed) => {
            if let Some(oddity) = executed.oddity {
                let exception = shared.exception(&executed.payment, &oddity, source);
                report_until_stored(shared, exception);
            }
        }
        Err(denied) => {
            tracing::warn!(%denied, source, "an acquirer's answer could not be stored; it will be asked again")
        }
    }
}
