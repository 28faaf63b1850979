//! Decisions of payments: creation, facts in any order, operations, deliveries, time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

#[path = "samples/payment.rs"]
mod samples;

mod payments {
    pub(crate) mod approved;
    pub(crate) mod archive;
    pub(crate) mod boletos;
    pub(crate) mod captures;
    pub(crate) mod concluded;
    pub(crate) mod confirmed;
    pub(crate) mod crosswise;
    pub(crate) mod deliveries;
    pub(crate) mod disputes;
    pub(crate) mod elsewhere;
    pub(crate) mod elsewhere_hints;
    pub(crate) mod erasure;
    pub(crate) mod further;
    pub(crate) mod hints;
    pub(crate) mod looks;
    pub(crate) mod numbers;
    pub(crate) mod operations;
    pub(crate) mod order_of_notices;
    pub(crate) mod pix_taken;
    pub(crate) mod reconciled;
    pub(crate) mod reports;
    pub(crate) mod room;
    pub(crate) mod second;
    pub(crate) mod spread;
    pub(crate) mod strange_answers;
    pub(crate) mod stuck;
    pub(crate) mod sums;
    pub(crate) mod time;
    pub(crate) mod under_review;
    pub(crate) mod unknown_outcomes;
    pub(crate) mod withdrawn;
    pub(crate) mod withheld;
    pub(crate) mod without_code;
}

use std::sync::Arc;

use quita_domain::acquiring::{
    Approval, CallFailure, ChargeAnswer, Decline, Fact, Issued, OperationAnswer, Reference, Settlement,
    Statement,
};
use quita_domain::card::{CardData, CardNumber, Cvv, Expiry};
use quita_domain::delivery::{DeliveryAttempt, DeliveryState, Lease};
use quita_domain::event::{Cause, Event};
use quita_domain::identity::{AcquirerName, Mode, OperationId, TransactionId};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::numbering::{AttemptNumber, DeliveryIndex, EventSequence};
use quita_domain::operation::{OperationRequest, OperationState, RequestedOperation};
use quita_domain::order::{Order, Terms};
use quita_domain::outbound_call::Progress;
use quita_domain::payment::{
    Command, Context, Decision, DiscrepancyKind, Effect, Inquiring, NewPayment, Payment, Refusal, Report,
};
use quita_domain::routing::{ChargeEnd, Considered, Routed};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_domain::webhook::schedule::LEASE_MS;
use samples::{START, at, owner, pix_order};
use uuid::Uuid;

fn card_order(capture: bool) -> Order {
    let number = CardNumber::parse("4242424242424242").unwrap();
    let cvv = Cvv::parse("123", number.brand()).unwrap();
    let expiry = Expiry::new(12, 2030).unwrap();
    let card = CardData { number, holder_name: "MARIA".into(), expiry, cvv };
    let terms = Terms::CreditCard { card: card.masked(), installments: 1, capture };
    Order { method: Method::CreditCard, terms, ..pix_order() }
}

fn open(order: Order) -> Decision {
    let considered = |name: &str| Considered {
        acquirer: AcquirerName::new(name),
        eligible: true,
        reason: "eligible".into(),
    };
    let new = NewPayment {
        id: TransactionId::new(Uuid::from_u128(7)),
        owner: owner(),
        order: Arc::new(order),
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token: "token".into(),
        link: None,
        considered: vec![considered("first"), considered("second")],
        routed: Routed::default(),
    };
    Payment::open(new, &at(0))
}

fn pending_fact() -> Fact {
    let expires_at = START.plus_ms(3_600_000);
    let issued = Issued::Pix { txid: "t".repeat(32), code: "code".into(), expires_at };
    Fact::Pending { issued, news_at: None }
}

fn charged_back(id: &str) -> Fact {
    Fact::ChargedBack { id: id.into(), amount: None }
}

fn dispute_won(id: &str) -> Fact {
    Fact::DisputeWon { id: id.into(), chargeback_id: None }
}

/// A dispute that was won, about this chargeback.
fn dispute_won_of(id: &str, chargeback_id: &str) -> Fact {
    Fact::DisputeWon { id: id.into(), chargeback_id: Some(chargeback_id.into()) }
}

fn authorised() -> Fact {
    Fact::Authorized(Approval { authorization_code: "123456".into() })
}

/// A card payment that has just been opened.
fn opened_card(capture: bool) -> Payment {
    Payment { order: Arc::new(card_order(capture)), ..open(pix_order()).next.unwrap() }
}

fn settled(id: &str, cents: u64) -> Fact {
    let amount = Money::from_cents(cents);
    Fact::Settled(Settlement { id: id.into(), amount, paid_on: None, end_to_end_id: None, approval: None })
}

/// Returns the payment after a command at this time, and after operators have whatever was found.
/// A payment that does not change is returned as it was.
fn after(payment: &Payment, command: Command, ms: u64) -> Payment {
    reported(payment.decide(command, &at(ms)).unwrap().next.unwrap_or_else(|| payment.clone()), ms)
}

/// Returns the payment once the exceptions of its reports are stored.
fn reported(payment: Payment, ms: u64) -> Payment {
    let keys = payment.reports.iter().map(Report::key).collect();
    payment.decide(Command::Reported(keys), &at(ms)).unwrap().next.unwrap_or(payment)
}

/// Returns what acquirers are asked to do.
fn calls(decision: &Decision) -> Vec<Effect> {
    let is_call = |effect: &&Effect| !matches!(effect, Effect::Deliver(_) | Effect::Report);
    decision.effects.iter().filter(is_call).cloned().collect()
}

fn pending() -> Payment {
    let answer = ChargeAnswer::known(pending_fact());
    after(
        &open(pix_order()).next.unwrap(),
        Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer },
        10,
    )
}

fn paid() -> Payment {
    after(&pending(), notice(settled("s1", 10_000)), 2_000)
}

/// A notice of the acquirer that has the charge.
fn notice(fact: Fact) -> Command {
    notice_of("first", fact)
}

fn notice_of(acquirer: &str, fact: Fact) -> Command {
    Command::Notified { acquirer: AcquirerName::new(acquirer), fact }
}

/// Returns what a process knows that has been asking for this long about a call that is over.
#[allow(clippy::unnecessary_wraps, reason = "as commands have it")]
const fn asking_for(for_ms: u64) -> Option<Inquiring> {
    Some(Inquiring { call_is_over: true, for_ms })
}

const fn operation_id(number: u128) -> OperationId {
    OperationId::new(Uuid::from_u128(number))
}

/// The answer to an operation that was sent once.
fn operated(operation: OperationId, answer: OperationAnswer) -> Command {
    Command::OperationAnswered { operation, sending: 1, answer }
}

fn requested(requested: RequestedOperation, key: Option<&str>, id: u128) -> Command {
    Command::Operate(OperationRequest { id: operation_id(id), requested, key: key.map(String::from) })
}

fn refund(cents: u64) -> RequestedOperation {
    RequestedOperation::Refund(Some(Money::from_cents(cents)))
}

fn discrepancy(payment: &Payment, command: Command) -> DiscrepancyKind {
    let decision = payment.decide(command, &at(9_000)).unwrap();
    if let Some(next) = decision.next {
        assert_eq!(next.state, payment.state, "a discrepancy changes nothing that anybody sees");
    }
    decision.discrepancies[0].kind
}

#[test]
fn an_opened_payment_holds_its_intent_before_anything_is_sent() {
    let decision = open(pix_order());
    let payment = decision.next.unwrap();
    assert_eq!((payment.status(), payment.revision, payment.state.version), (Status::Initial, 1, 1));
    assert_eq!(decision.effects, [Effect::Charge(AcquirerName::new("first"))]);
    assert!(payment.due_at().is_some(), "a crash now would be noticed");
    assert!(payment.history.is_empty() && payment.outbox.is_empty());
}

#[test]
fn a_change_of_status_its_event_and_its_delivery_are_one_write() {
    let payment = open(pix_order()).next.unwrap();
    let answer = ChargeAnswer::known(pending_fact());
    let decision =
        payment.decide(Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }, &at(10)).unwrap();
    let next = decision.next.unwrap();
    assert_eq!(next.revision, 2);
    assert_eq!((next.history[0].sequence, next.history[0].status), (EventSequence::FIRST, Status::Pending));
    assert_eq!(next.as_of(&next.history[0]).status, Status::Pending);
    assert_eq!(next.as_of(&next.history[0]).version, next.state.version);
    assert_eq!(decision.effects, [Effect::Deliver(DeliveryIndex::FIRST)]);
    assert_eq!(next.outbox_at(), Some(START.plus_ms(10 + LEASE_MS)), "the attempt that runs now has a lease");
}

#[test]
fn a_captured_card_becomes_approved_and_paid_in_one_write_with_two_events() {
    let order = card_order(true);
    let considered =
        Considered { acquirer: AcquirerName::new("a"), eligible: true, reason: "eligible".into() };
    let base = pending();
    let new = NewPayment {
        id: base.id,
        owner: base.owner,
        order: Arc::new(order),
        fingerprint: None,
        card_fingerprint: None,
        used_token: None,
        page_token: String::new(),
        link: None,
        considered: vec![considered],
        routed: Routed::default(),
    };
    let opened = Payment::open(new, &Context { card_at_hand: true, ..at(0) }).next.unwrap();
    let approval = quita_domain::acquiring::Approval { authorization_code: "123456".into() };
    let settlement = Settlement {
        id: "s".into(),
        amount: Money::from_cents(10_000),
        paid_on: None,
        end_to_end_id: None,
        approval: Some(approval),
    };
    let answer = ChargeAnswer::known(Fact::Settled(settlement));
    let payment = after(&opened, Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }, 5);
    let statuses: Vec<_> = payment.history.iter().map(|event| (event.sequence.get(), event.status)).collect();
    assert_eq!(statuses, [(1, Status::Approved), (2, Status::Paid)]);
    assert_eq!(payment.as_of(&payment.history[0]).paid_at, None, "an event shows the payment as of then");
    assert_eq!(payment.as_of(&payment.history[1]), &*payment.state);
    assert_eq!(payment.history[1].snapshot, None, "what the payment still is, is held once");
    assert_eq!(payment.revision, 2);
}

#[test]
fn repeated_and_late_news_change_nothing() {
    let paid = paid();
    for command in [
        notice(settled("s1", 10_000)),
        notice(Fact::Expired),
        Command::ChargeAnswered {
            attempt: AttemptNumber::FIRST,
            answer: ChargeAnswer::known(pending_fact()),
        },
        Command::Inquired {
            attempt: AttemptNumber::FIRST,
            asked_at: None,
            inquiring: None,
            answer: ChargeAnswer::known(settled("s1", 10_000)),
        },
    ] {
        let decision = paid.decide(command.clone(), &at(9_000)).unwrap();
        assert!(decision.next.is_none() && decision.discrepancies.is_empty(), "{command:?}");
    }
}

#[test]
fn what_the_table_refuses_is_an_exception_and_never_dropped() {
    assert_eq!(discrepancy(&paid(), notice(settled("s2", 10_000))), DiscrepancyKind::PaidTwice);
    assert_eq!(discrepancy(&pending(), notice(settled("s1", 9_999))), DiscrepancyKind::AmountMismatch);
    assert_eq!(discrepancy(&pending(), notice(settled("s1", 10_001))), DiscrepancyKind::AmountMismatch);
    assert_eq!(discrepancy(&pending(), notice(charged_back("c1"))), DiscrepancyKind::TooEarly);
    assert_eq!(discrepancy(&paid(), notice(Fact::Cancelled)), DiscrepancyKind::Contradiction);
    let declined = after(&pending(), notice(Fact::Declined(Decline::of("x"))), 100);
    assert_eq!(discrepancy(&declined, notice(settled("s1", 10_000))), DiscrepancyKind::PaidAfterDecline);
}

#[test]
fn an_acquirer_that_was_certainly_not_reached_makes_room_for_the_next_until_none_is_left() {
    let opened = open(pix_order()).next.unwrap();
    let down = || ChargeAnswer::Failed(CallFailure::NotDelivered("down".into()));
    let first = opened
        .decide(Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: down() }, &at(5))
        .unwrap();
    assert_eq!(first.effects, [Effect::Charge(AcquirerName::new("second"))]);
    let payment = first.next.unwrap();
    let late = payment
        .decide(Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: down() }, &at(6))
        .unwrap();
    assert!(late.next.is_none(), "an answer to an earlier charge is no answer to this one");
    let over = after(&payment, Command::ChargeAnswered { attempt: AttemptNumber::new(2), answer: down() }, 7);
    assert_eq!(over.status(), Status::Declined);
    assert_eq!(over.state.status_reason.as_deref(), Some("no_acquirer_available"));
}

#[test]
fn refunds_never_exceed_what_was_paid() {
    let half = after(&paid(), requested(refund(6_000), None, 1), 3_000);
    let refused = half.decide(requested(refund(4_001), None, 2), &at(3_001)).unwrap_err();
    assert_eq!(refused, Refusal::RefundExceedsPaid(Money::from_cents(4_000)));
    let done = operated(operation_id(1), OperationAnswer::Done);
    let half = after(&half, done, 3_002);
    assert_eq!((half.status(), half.state.refunded_amount().cents()), (Status::Paid, 6_000));
    let rest = after(&half, requested(RequestedOperation::Refund(None), None, 3), 3_003);
    let done = operated(operation_id(3), OperationAnswer::Done);
    let all = after(&rest, done, 3_004);
    assert_eq!((all.status(), all.state.refunded_amount().cents()), (Status::Refund, 10_000));
}

#[test]
fn a_refused_refund_gives_its_amount_free_again() {
    let asked = after(&paid(), requested(refund(10_000), None, 1), 3_000);
    let answer = OperationAnswer::Refused("no balance".into());
    let refused = after(&asked, operated(operation_id(1), answer), 3_001);
    assert_eq!(refused.status(), Status::Paid);
    assert_eq!(refused.state.refundable_amount().cents(), 10_000);
}

#[test]
fn an_operation_under_a_known_key_is_a_replay_and_never_a_second_one() {
    let asked = after(&paid(), requested(refund(100), Some("k"), 1), 3_000);
    let again = asked.decide(requested(refund(100), Some("k"), 2), &at(3_001)).unwrap();
    assert!(again.next.is_none() && again.is_replay);
    assert_eq!(again.operation, Some(operation_id(1)));
    for other in [refund(101), RequestedOperation::Refund(None), RequestedOperation::Cancel] {
        let refused = asked.decide(requested(other, Some("k"), 3), &at(3_002)).unwrap_err();
        assert_eq!(refused, Refusal::KeyReused);
    }
}

#[test]
fn what_a_status_does_not_allow_is_refused_by_name() {
    let refused =
        pending().decide(requested(RequestedOperation::Refund(None), None, 1), &at(1_000)).unwrap_err();
    assert!(refused.to_string().contains("pending") && refused.to_string().contains("paid"), "{refused}");
    assert!(paid().decide(requested(RequestedOperation::Cancel, None, 1), &at(3_000)).is_err());
    let not_capturable =
        pending().decide(requested(RequestedOperation::Capture(None), None, 1), &at(1_000)).unwrap_err();
    assert_eq!(not_capturable, Refusal::NotCapturable(Status::Pending));
    let told = not_capturable.to_string();
    assert!(told.contains("pending") && told.contains("approved") && told.contains("capture"), "{told}");
}

#[test]
fn times_never_run_backwards_whatever_the_clock_does() {
    let paid = paid();
    let early = Context { now: Timestamp::from_millis(0), ..at(0) };
    let refunded = paid
        .decide(notice(Fact::Refunded { refund_id: "r".into(), amount: None }), &early)
        .unwrap()
        .next
        .unwrap();
    assert_eq!(refunded.status(), Status::Refund);
    assert!(refunded.created_at <= refunded.state.paid_at.unwrap());
    assert!(refunded.state.paid_at <= refunded.state.refunded_at);
}

#[test]
fn a_payment_reads_back_as_it_was_stored() {
    let payment = after(&paid(), requested(refund(100), Some("k"), 1), 3_000);
    let text = serde_json::to_string(&payment).unwrap();
    assert_eq!(serde_json::from_str::<Payment>(&text).unwrap(), payment);
    assert!(paid().history.last().unwrap().snapshot.is_none(), "what the payment still is, is stored once");
}

#[test]
fn an_operation_decided_again_after_a_lost_write_is_begun_once() {
    let asked = after(&paid(), requested(refund(100), None, 1), 3_000);
    let again = asked.decide(requested(refund(100), None, 1), &at(3_100)).unwrap();
    assert!(again.next.is_none() && again.operation.is_some() && !again.is_replay);
}
