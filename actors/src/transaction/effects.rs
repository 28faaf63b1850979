//! Effects of a stored decision: calls and deliveries, each in its own task.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer};
use quita_domain::card::CardData;
use quita_domain::delivery::Lease;
use quita_domain::identity::{AcquirerName, OperationId, TransactionId};
use quita_domain::numbering::AttemptNumber;
use quita_domain::operation::Operation;
use quita_domain::payment::{CALL_LEASE_MS, Command, Effect, Payment};
use quita_ports::trace;
use tokio::time::Instant;

use super::messages::Executed;
use crate::acquirers::acquirer::AcquirerActor;
use crate::acquirers::call::{Call, InquireCharge, InquireOperation, SendCharge, SendOperation};
use crate::actor::mailbox::{Mailbox, NoAnswer};
use crate::denied::{Denied, warn_unless_away};
use crate::system::parts::SystemParts;
use crate::webhooks::deliver::Deliver;

/// Starts an effect of a decision made at `decided_at`. Effects lost with the process become due again from the store.
pub(super) fn run(
    system: &Arc<SystemParts>,
    payment: &Arc<Payment>,
    effect: Effect,
    decided_at: Instant,
    card: Option<&CardData>,
) {
    // By the monotonic clock, and counted from before the write, so the lease that others see can't end earlier.
    let lease_end = decided_at + Duration::from_millis(CALL_LEASE_MS);
    match effect {
        Effect::Charge(acquirer) => {
            let calls = Calls::to(system, payment, &acquirer);
            calls.charge(SendCharge {
                charge: Box::new(charge(payment, card)),
                is_failover: payment.is_failover(),
                lease_end,
                merchant_waits: system.limits.answer_within,
            });
        }
        Effect::Inquire(acquirer, attempt) => {
            Calls::to(system, payment, &acquirer).inquire(payment, attempt);
        }
        Effect::Operate(acquirer, operation) => {
            let Some(operation) = find(payment, operation) else { return };
            let query = Box::new(payment.query_for(&operation));
            Calls::to(system, payment, &acquirer).operate(SendOperation { query, operation, lease_end });
        }
        Effect::InquireOperation(acquirer, operation) => {
            let Some(operation) = find(payment, operation) else { return };
            let query = Box::new(payment.query_for(&operation));
            Calls::to(system, payment, &acquirer).inquire_operation(InquireOperation { query, operation });
        }
        Effect::Deliver(index) => deliver(system, Deliver::claimed(payment, index)),
        Effect::Report => report(system, payment),
    }
}

/// Sends a delivery before the confirmation of the previous one is stored, under that one's lease.
pub(super) fn deliver_under(system: &SystemParts, payment: &Arc<Payment>, lease: Lease) {
    deliver(system, Deliver::under(payment, lease));
}

fn deliver(system: &SystemParts, delivery: Deliver) {
    if let Some(pool) = system.webhooks.get() {
        pool.mailbox().offer(delivery);
    }
}

/// Asks the acquirer about the last charge because of a hint. Returns true once its news is stored. Otherwise the hint
/// itself must be stored: an answer without news may predate the change.
pub(crate) async fn inquire_for_hint(system: &Arc<SystemParts>, payment: &Payment) -> bool {
    let Some(acquirer) = payment.acquirer() else { return false };
    let calls = Calls::to(system, payment, acquirer);
    let query = payment.query();
    // This inquiry counts as being as new as the last stored one. One stored meanwhile is newer, and waits for its own
    // answer.
    let asked_at = payment.inquired_at.unwrap_or(payment.created_at);
    let attempt = query.attempt;
    let answer = calls.make(InquireCharge(Box::new(query))).await;
    if !matches!(answer, ChargeAnswer::Known(_)) {
        return false;
    }
    let answered = Command::Inquired { attempt, asked_at: Some(asked_at), inquiring: None, answer };
    let executed = calls.insist(answered).await;
    let has_news = executed.as_ref().is_ok_and(|executed| executed.is_changed);
    calls.report(executed, "inquiry");
    has_news
}

/// Stores the exceptions that a payment reports to operators, and then removes them from the payment.
fn report(system: &Arc<SystemParts>, payment: &Payment) {
    let on_their_way = system.exceptions.take_up(payment);
    if on_their_way.is_empty() {
        return;
    }
    let system = Arc::clone(system);
    let id = payment.id;
    actix::spawn(trace::carry(async move {
        // The exception is stored first, then the report is removed. After a crash in between, the same exception is
        // stored again under the same id.
        for (_, exception) in &on_their_way {
            exception.store().await;
        }
        let keys = on_their_way.iter().map(|(key, _)| key.clone()).collect();
        if let Err(denied) = system.commands.insist(id, Command::Reported(keys)).await {
            warn_unless_away!(denied, transaction.id = %id, error = %denied, "a report could not be removed from its payment; its exception will be stored again");
        }
    }));
}

/// Builds the charge to be sent to its acquirer.
fn charge(payment: &Payment, card: Option<&CardData>) -> Charge {
    Charge { query: payment.query(), order: Arc::clone(&payment.order), card: card.cloned() }
}

fn find(payment: &Payment, operation: OperationId) -> Option<Operation> {
    payment.operations.iter().find(|known| known.id == operation).cloned()
}

/// Calls to one acquirer about one payment. Each answer comes back as a command.
struct Calls {
    system: Arc<SystemParts>,
    mailbox: Option<Mailbox<AcquirerActor>>,
    id: TransactionId,
}

impl Calls {
    fn to(system: &Arc<SystemParts>, payment: &Payment, acquirer: &AcquirerName) -> Self {
        let route = system.routes.get().and_then(|routes| routes.find(acquirer, payment.method()));
        let mailbox = route.map(|route| route.slot.mailbox());
        if mailbox.is_none() {
            system.missing_routes.note(acquirer, payment.method(), system.clock.now());
        }
        Self { system: Arc::clone(system), mailbox, id: payment.id }
    }

    fn charge(self, call: SendCharge) {
        let attempt = call.charge.query.attempt;
        actix::spawn(trace::carry(async move {
            let answer = self.make(call).await;
            self.report(self.insist(Command::ChargeAnswered { attempt, answer }).await, "charge");
        }));
    }

    fn inquire(self, payment: &Arc<Payment>, attempt: AttemptNumber) {
        let query = Box::new(payment.query_of(attempt));
        // As stored with this inquiry. It lets a decision tell this answer from one to a later inquiry.
        let asked_at = payment.inquired_at;
        let is_last = payment.last_attempt() == attempt;
        // Only the last charge may be sent again, so the time of asking matters only for that one.
        let inquiring = is_last.then(|| self.system.inquiry_clock.asks_about_charge(payment)).flatten();
        actix::spawn(trace::carry(async move {
            let answer = self.make(InquireCharge(query)).await;
            let answered = Command::Inquired { attempt, asked_at, inquiring, answer };
            let executed = self.insist(answered).await;
            if let Ok(executed) = &executed {
                self.system.inquiry_clock.charge_answered(&executed.payment);
            }
            self.report(executed, "inquiry");
        }));
    }

    fn operate(self, call: SendOperation) {
        let (operation, sending) = (call.operation.id, call.operation.sending());
        actix::spawn(trace::carry(async move {
            let answer = self.make(call).await;
            let answered = Command::OperationAnswered { operation, sending, answer };
            self.report(self.insist(answered).await, "operation");
        }));
    }

    fn inquire_operation(self, call: InquireOperation) {
        let (operation, sending) = (call.operation.id, call.operation.sending());
        let inquiring = Some(self.system.inquiry_clock.asks_about_operation(&call.operation));
        actix::spawn(trace::carry(async move {
            let answer = self.make(call).await;
            let answered = Command::OperationInquired { operation, sending, inquiring, answer };
            let executed = self.insist(answered).await;
            if let Ok(executed) = &executed {
                self.system.inquiry_clock.operation_answered(&executed.payment, operation);
            }
            self.report(executed, "operation inquiry");
        }));
    }

    /// Makes a call. An acquirer actor whose mailbox is full did nothing; one that died may have sent the call.
    async fn make<C: Call>(&self, call: C) -> C::Answer {
        // Nothing has left, so another acquirer may be tried now, or the same one once it is configured again.
        let Some(mailbox) = &self.mailbox else {
            return C::failed(CallFailure::NotDelivered("the acquirer is no longer configured".into()));
        };
        let held = call.held();
        mailbox.ask(call).await.unwrap_or_else(|why| {
            C::failed(match why {
                NoAnswer::Full => held.without_room(),
                NoAnswer::Died => CallFailure::Unknown("the acquirer's actor died".into()),
            })
        })
    }

    async fn insist(&self, command: Command) -> Result<Executed, Denied> {
        self.system.commands.insist(self.id, command).await
    }

    /// Reports discrepancies that the payment did not store, and logs answers that could not be stored.
    fn report(&self, result: Result<Executed, Denied>, source: &'static str) {
        match result {
            Ok(executed) => self.system.exceptions.report_all(&executed),
            Err(denied) => {
                warn_unless_away!(denied, error = %denied, source, "an acquirer's answer could not be stored; the acquirer will be asked again")
            }
        }
    }
}
