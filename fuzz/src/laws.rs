//! Laws that hold for every payment, whatever happens to it and when.

mod chargebacks;
mod charges;
mod confirmed;
mod operations;
mod repetition;
mod reports;

use quita_domain::delivery::{Confirmation, Delivery, DeliveryState};
use quita_domain::event::Event;
use quita_domain::money::Money;
use quita_domain::numbering::EventSequence;
use quita_domain::operation::{OperationKind, OperationState};
use quita_domain::payment::{Command, Context, Decision, Effect, Payment};
use quita_domain::record::PaymentRecord;
use quita_domain::state::{RefundStatus, State};
use quita_domain::status::Status;
use quita_domain::webhook;
use quita_domain::webhook::schedule::STEPS_MS;

/// Time for which inquiries must have been made before a "not found" is accepted.
const BELIEVED_AFTER_MS: u64 = 20_000;

/// Decides, checks every law, and returns the payment afterwards.
pub fn step(before: &Payment, command: Command, context: &Context) -> Payment {
    written(before, &[], command, context).unwrap_or_else(|| before.clone())
}

/// Decides with confirmations that are not stored yet, and checks every law. Returns the payment to write, if there is
/// one.
pub fn written(
    before: &Payment,
    confirmed: &[Confirmation],
    command: Command,
    context: &Context,
) -> Option<Payment> {
    let decision = before.decide_with(confirmed, command.clone(), context);
    if let [confirmed] = confirmed {
        confirmed::check(before, confirmed, &decision, &command, context);
    }
    if let (Ok(Decision { next: Some(next), .. }), true) = (&decision, confirmed.len() > 1) {
        confirmed::check_none_is_lost(next, confirmed);
    }
    let decision = decision.ok()?;
    reports::check(before, &decision, &command);
    let Some(next) = decision.next.as_ref() else {
        assert!(decision.effects.is_empty(), "nothing is sent without being stored first");
        return None;
    };
    check_write(before, next, context);
    check_history(before, next);
    check_state(next);
    check_money(before, next);
    check_told(before, next, &decision, &command, context);
    check_effects(next, &decision);
    check_nothing_is_forgotten(next);
    chargebacks::check(before, next, &command, context);
    charges::check(before, &decision, next, &command, context);
    operations::check(before, &decision, next, &command, context);
    check_outbox(next);
    repetition::check(next, &decision, command, context);
    decision.next
}

/// Checks that the revision rises by one, and that immutable fields do not change.
fn check_write(before: &Payment, next: &Payment, context: &Context) {
    assert_eq!(next.revision, before.revision + 1);
    assert_eq!(next.last_op, context.op);
    assert_eq!(next.id, before.id);
    assert_eq!(next.owner, before.owner);
    assert_eq!(next.order, before.order);
    assert_eq!(next.fingerprint, before.fingerprint);
    assert_eq!(next.page_token, before.page_token);
    assert_eq!(next.link, before.link);
    assert_eq!(next.created_at, before.created_at);
    assert_eq!(next.considered, before.considered);
}

/// Checks that old events stay. Each new one is counted and dated, and shows the payment at that time. It is an edge of
/// the table or the end of a refund.
fn check_history(before: &Payment, next: &Payment) {
    assert!(told(next).starts_with(&told(before)), "what happened stays");
    let events = next.history.len() - before.history.len();
    let versions = usize::try_from(next.state.version - before.state.version).unwrap();
    assert!((events..=events + 1).contains(&versions), "{versions} versions for {events} events");
    if shown(before) != shown(next) {
        assert!(versions > 0, "the merchant sees another record under the same version");
    }
    let mut previous = (Status::Initial, EventSequence::new(0), next.created_at, 0);
    for event in &next.history {
        let (status, sequence, at, version) = previous;
        assert_eq!(event.previous_status, status);
        match &event.refund {
            None => assert!(status.allows(event.status), "{status} became {}", event.status),
            Some(_) => {
                assert_eq!(status, event.status, "a refund that changed the status is no event of its own")
            }
        }
        assert_eq!(event.sequence, sequence.next());
        assert!(event.occurred_at >= at, "time runs backwards");
        assert_eq!(next.as_of(event).status, event.status);
        assert!(next.as_of(event).version > version && next.as_of(event).version <= next.state.version);
        previous = (event.status, event.sequence, event.occurred_at, next.as_of(event).version);
    }
    assert_eq!(next.status(), previous.0, "no change of status without its event");
    check_refunds_are_told(next);
    if let Some(event) = next.history.last() {
        webhook::body::body(next, event, "https://pay.example.com").expect("every event can be told");
    }
}

/// Checks that the end of each refund is reported once. An event of its own reports it, or the status if it returned
/// the last money. A refund that was done after it had failed is reported twice.
fn check_refunds_are_told(next: &Payment) {
    for event in &next.history {
        let Some(ended) = &event.refund else { continue };
        let mut shown = next.as_of(event).refunds.iter();
        let refund =
            shown.find(|refund| refund.id == ended.refund_id).expect("a refund that is told is there");
        assert_eq!((refund.amount, refund.status), (ended.amount, ended.status));
        assert_eq!(refund.failure_reason, ended.failure_reason);
    }
    let times = |id: &str, status| {
        let ended = next.history.iter().filter_map(|event| event.refund.as_ref());
        ended.filter(|ended| ended.refund_id == id && ended.status == status).count()
    };
    let mut untold = 0;
    for refund in &next.state.refunds {
        let (failed, done) =
            (times(&refund.id, RefundStatus::Failed), times(&refund.id, RefundStatus::Succeeded));
        match refund.status {
            RefundStatus::Processing => assert_eq!((failed, done), (0, 0), "{refund:?} is told too early"),
            RefundStatus::Failed => assert_eq!((failed, done), (1, 0), "{refund:?}"),
            RefundStatus::Succeeded => {
                assert!(failed <= 1 && done <= 1, "{refund:?} is told twice");
                untold += usize::from(done == 0);
            }
        }
    }
    let by_status =
        next.history.iter().filter(|event| event.status == Status::Refund && event.refund.is_none());
    assert_eq!(untold, by_status.count(), "a refund ended, and nobody is told: {:?}", next.state.refunds);
}

/// Checks that a hint, or a statement of an acquirer without the charge, changes nothing visible. An acquirer that
/// shows the charges of the same account counts as having it.
fn check_told(before: &Payment, next: &Payment, decision: &Decision, command: &Command, context: &Context) {
    let binds_nobody = match command {
        Command::Hinted { .. } => true,
        Command::Notified { acquirer, .. } => Some(acquirer) != before.acquirer() && !context.is_one_account,
        Command::ChargeAnswered { .. }
        | Command::Inquired { .. }
        | Command::Operate(_)
        | Command::OperationAnswered { .. }
        | Command::OperationInquired { .. }
        | Command::OperationResolved { .. }
        | Command::ChargeResolved { .. }
        | Command::MismatchEnded
        | Command::DeliveryAnswered { .. }
        | Command::Redeliver { .. }
        | Command::Deliver { .. }
        | Command::Wake
        | Command::InquireNow
        | Command::Reported(_)
        | Command::PixTaken { .. }
        | Command::ChargeNeverLeft => false,
    };
    if binds_nobody {
        assert_eq!(shown(before), shown(next));
        let is_sent = |effect: &Effect| matches!(effect, Effect::Charge(_) | Effect::Operate(..));
        assert!(!decision.effects.iter().any(is_sent), "a hint sent something");
    }
}

fn shown(payment: &Payment) -> String {
    serde_json::to_string(&PaymentRecord::now(payment, "https://pay.example.com"))
        .expect("a record has a text")
}

/// Checks that times are in the order of a payment's life, and each is set once.
fn check_state(next: &Payment) {
    let state = &next.state;
    assert!(state.updated_at >= next.created_at);
    let moments = [
        (Status::Paid, state.paid_at),
        (Status::Refund, state.refunded_at),
        (Status::Chargeback, state.chargeback_at),
        (Status::Cancelled, state.cancelled_at),
        (Status::Expired, state.expired_at),
    ];
    for (status, moment) in moments {
        let first = next.history.iter().find(|event| event.status == status);
        assert_eq!(moment, first.map(|event| event.occurred_at), "when it became {status} first");
    }
    if let Some((paid, refunded)) = state.paid_at.zip(state.refunded_at) {
        assert!(paid <= refunded, "refunded before it was paid");
    }
}

/// Checks that no more comes in than was requested, and no more goes out than came in.
fn check_money(before: &Payment, next: &Payment) {
    let state = &next.state;
    let captured = state.captured_amount.unwrap_or_default();
    assert!(captured <= next.order.amount, "{captured} came in for {}", next.order.amount);
    let sum = |counts: fn(RefundStatus) -> bool| -> Money {
        state.refunds.iter().filter(|refund| counts(refund.status)).map(|refund| refund.amount).sum()
    };
    let certain = sum(|status| status == RefundStatus::Succeeded);
    assert!(certain <= captured, "{certain} of {captured} went back");
    assert!(sum(|status| status != RefundStatus::Failed) <= captured, "more may go back than came in");
    assert!(state.refunds.iter().all(|refund| refund.amount > Money::ZERO));
    if before.state.captured_amount.is_some() && before.status() == next.status() {
        assert_eq!(before.state.captured_amount, state.captured_amount, "what came in changed");
    }
    match next.status() {
        // A won dispute shows that money had come in, but not how much.
        Status::Paid => {
            let was_won = next.chargebacks.iter().any(|chargeback| chargeback.won.is_some());
            assert!(state.captured_amount.is_some() || was_won, "paid, and nothing came in");
        }
        Status::Refund => assert_eq!(Some(certain), state.captured_amount, "not all went back"),
        Status::Initial
        | Status::Pending
        | Status::Approved
        | Status::Declined
        | Status::Chargeback
        | Status::Expired
        | Status::Cancelled => {}
    }
}

/// Checks that only what was stored is sent.
fn check_effects(next: &Payment, decision: &Decision) {
    for effect in &decision.effects {
        match effect {
            Effect::Charge(name) => assert_eq!(Some(name), next.acquirer()),
            Effect::Inquire(name, number) => {
                assert_eq!(next.attempt(*number).map(|attempt| &attempt.acquirer), Some(name));
            }
            Effect::Operate(name, id) | Effect::InquireOperation(name, id) => {
                let operation =
                    next.operations.iter().find(|operation| operation.id == *id).expect("its operation");
                assert!(operation.is_processing());
                // A charge that the payment has left is refunded at its own acquirer.
                let there = operation.surplus.as_ref().map(|surplus| &surplus.acquirer);
                assert_eq!(Some(name), there.or(next.acquirer()));
                assert!(
                    next.state.attempts.iter().any(|attempt| attempt.acquirer == *name),
                    "never charged there"
                );
            }
            Effect::Deliver(index) => {
                let delivery = next.delivery(*index).expect("a delivery");
                assert_eq!(delivery.state, DeliveryState::Pending);
                let is_before =
                    |other: &&Delivery| other.repeats.is_none() && other.sequence < delivery.sequence;
                let mut earlier = next.outbox.iter().filter(is_before);
                let are_over = earlier.all(|other| other.state != DeliveryState::Pending);
                assert!(delivery.repeats.is_some() || are_over, "an event goes out before its time");
            }
            Effect::Report => assert!(!next.reports.is_empty(), "nothing is brought on"),
        }
    }
}

/// Checks that everything open has a time at which it is looked at.
fn check_nothing_is_forgotten(next: &Payment) {
    let last = next.state.attempts.last();
    for attempt in &next.state.attempts {
        let is_last = last.is_some_and(|last| std::ptr::eq(last, attempt));
        assert!(
            !attempt.call.is_open() || (is_last && attempt.call.next_at.is_some()),
            "an open charge is forgotten"
        );
    }
    match next.status() {
        Status::Initial => assert!(
            last.is_some_and(|attempt| attempt.call.is_open()),
            "an initial payment waits for nothing"
        ),
        Status::Pending => {
            assert!(next.check.is_some() || next.waits_for_a_person(), "nobody looks at a pending payment");
        }
        Status::Approved if next.order.captures_at_once() => {
            let is_captured_or_refused = next.operations.iter().any(|operation| {
                matches!(operation.kind, OperationKind::Capture(_))
                    && (operation.is_processing() || operation.state() == OperationState::Refused)
            });
            assert!(is_captured_or_refused, "an authorisation that nobody captures");
        }
        Status::Approved
        | Status::Declined
        | Status::Refund
        | Status::Chargeback
        | Status::Expired
        | Status::Paid
        | Status::Cancelled => {}
    }
    let is_open =
        next.operations.iter().any(|operation| operation.call.next_at.is_some()) || next.check.is_some();
    assert!(!is_open || next.due_at().is_some());
}

/// Checks that each event has one delivery, in order. A delivery has a next time unless it is over.
fn check_outbox(next: &Payment) {
    let own = || next.outbox.iter().filter(|delivery| delivery.repeats.is_none());
    if next.order.postback_url.is_some() {
        assert_eq!(own().count(), next.history.len(), "one delivery for each event");
    }
    let numbers = (1..=u32::try_from(own().count()).unwrap()).map(EventSequence::new);
    assert!(own().map(|delivery| delivery.sequence).eq(numbers));
    for delivery in &next.outbox {
        assert_eq!(
            delivery.state == DeliveryState::Pending,
            delivery.next_attempt_at.is_some(),
            "{delivery:?}"
        );
        assert_eq!(
            delivery.state == DeliveryState::Delivered,
            delivery.delivered_at.is_some(),
            "{delivery:?}"
        );
        assert!(delivery.attempts.len() <= STEPS_MS.len());
    }
}

/// Returns every event with the state that it reports, wherever that is stored.
fn told(payment: &Payment) -> Vec<(Event, State)> {
    let without = |event: &Event| Event { snapshot: None, ..event.clone() };
    payment.history.iter().map(|event| (without(event), payment.as_of(event).clone())).collect()
}
