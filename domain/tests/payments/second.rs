//! Charges beside the one that counts, at an acquirer that knows none of our ids.

use quita_domain::acquiring::{Holding, SecondCharge};
use quita_domain::operation::{Operation, OperationKind, Verdict};

use crate::payments::unknown_outcomes::{charge_answered, unknown};
use crate::*;

pub(crate) const MINUTE: u64 = 60_000;

/// An acquirer that makes another charge whenever one is sent again.
pub(crate) fn by_name(ms: u64) -> Context {
    Context { operates_in_turn: true, charge_name: Some("paymentId"), hint_gap_ms: 5_000, ..at(ms) }
}

pub(crate) fn decided(payment: &Payment, command: Command, ms: u64) -> Decision {
    payment.decide(command, &Context { card_at_hand: true, ..by_name(ms) }).unwrap()
}

pub(crate) fn decide(payment: &Payment, command: Command, ms: u64) -> Payment {
    reported(decided(payment, command, ms).next.unwrap_or_else(|| payment.clone()), ms)
}

fn sale(number: u32) -> Reference {
    Reference::none().with("paymentId", &format!("sale-{number}")).with("tid", "1")
}

fn hint(number: u32) -> Command {
    let charge = Reference::none().with("paymentId", &format!("sale-{number}"));
    Command::Hinted { acquirer: AcquirerName::new("first"), charge }
}

pub(crate) fn told(facts: Vec<Fact>, number: u32) -> ChargeAnswer {
    ChargeAnswer::Known(Statement { facts, reference: sale(number) })
}

pub(crate) fn inquired(payment: &Payment, attempt: u32, answer: ChargeAnswer) -> Command {
    Command::Inquired {
        attempt: AttemptNumber::new(attempt),
        asked_at: payment.inquired_at,
        inquiring: None,
        answer,
    }
}

fn not_found(payment: &Payment) -> Command {
    let inquiring = asking_for(60_000);
    let answer = ChargeAnswer::NotFound;
    Command::Inquired { attempt: AttemptNumber::FIRST, asked_at: payment.inquired_at, inquiring, answer }
}

/// A payment whose first charge was believed not to be there, and that was sent again.
pub(crate) fn sent_again(order: Order) -> Payment {
    let opened = Payment { order: Arc::new(order), ..open(pix_order()).next.unwrap() };
    let lost = decide(&opened, charge_answered(unknown()), 8_000);
    let once = decide(&lost, not_found(&lost), 20_000);
    let again = decide(&once, not_found(&once), 35_000);
    assert_eq!(again.state.attempts.len(), 2, "{:?}", again.state.attempts);
    again
}

fn answered(payment: &Payment, facts: Vec<Fact>) -> Payment {
    let answer = told(facts, 2);
    decide(payment, Command::ChargeAnswered { attempt: AttemptNumber::new(2), answer }, 36_000)
}

fn money(number: u32) -> Fact {
    let taken = Money::from_cents(10_000);
    let given_back = Money::ZERO;
    holding(number, Holding::Money { taken, given_back })
}

fn holding(number: u32, holds: Holding) -> Fact {
    Fact::SecondCharge(SecondCharge { id: format!("sale-{number}"), reference: sale(number), holds })
}

/// Money, by the id that the acquirer has for its sale.
pub(crate) fn paid_by(number: u32) -> Fact {
    settled(&format!("sale-{number}"), 10_000)
}

/// The same of a card, whose approval is told with it.
pub(crate) fn captured(number: u32) -> Fact {
    let Fact::Settled(settlement) = paid_by(number) else { panic!("a settlement") };
    let approval = Some(Approval { authorization_code: "123456".into() });
    Fact::Settled(Settlement { approval, ..settlement })
}

pub(crate) fn given_back(payment: &Payment) -> Vec<(String, OperationKind, OperationState)> {
    let told = |operation: &'_ Operation| {
        Some((operation.surplus.as_ref()?.id.clone(), operation.kind, operation.state()))
    };
    payment.operations.iter().filter_map(told).collect()
}

pub(crate) fn whole() -> OperationKind {
    OperationKind::Refund(Money::from_cents(10_000))
}

/// Paid by the second sale, while the first one turns up with money of its own.
fn paid_twice() -> Payment {
    let paid = answered(&sent_again(card_order(true)), vec![captured(2)]);
    assert_eq!(paid.status(), Status::Paid);
    let hinted = decide(&paid, hint(1), 40_000);
    let asked = decide(&hinted, Command::Wake, 40_001);
    decide(&asked, inquired(&asked, 2, told(vec![paid_by(2), money(1)], 2)), 41_000)
}

#[test]
fn a_hint_that_names_an_unknown_charge_has_it_asked_about() {
    let paid = answered(&sent_again(card_order(true)), vec![captured(2)]);
    assert!(paid.query().may_have_others, "it was sent again");
    let known = decide(&paid, hint(2), 40_000);
    assert_eq!(known.others, [], "that is the one that counts");
    let hinted = decide(&paid, hint(1), 40_000);
    let others = [Reference::none().with("paymentId", "sale-1")];
    assert_eq!(hinted.query().others, others);
    let asked = decided(&hinted, Command::Wake, 40_001);
    assert_eq!(calls(&asked), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::new(2))]);
    assert_eq!(asked.next.unwrap().query_of(AttemptNumber::new(2)).others, others);
}

#[test]
fn a_charge_that_is_sent_once_and_hinted_of_by_another_name_is_asked_about_too() {
    let paid = decide(&open(pix_order()).next.unwrap(), charge_answered(told(vec![pending_fact()], 2)), 100);
    assert!(!paid.query().may_have_others);
    let hinted = decide(&paid, hint(1), 40_000);
    assert!(hinted.query().may_have_others);
    let elsewhere = paid.decide(hint(1), &at(40_000)).unwrap().next.unwrap();
    assert_eq!(elsewhere.others, [], "our id is the charge's there");
}

#[test]
fn a_name_that_was_hinted_before_the_answer_came_is_the_charges_own() {
    let hinted = decide(&open(pix_order()).next.unwrap(), hint(2), 50);
    assert_eq!(hinted.others.len(), 1);
    let known = decide(&hinted, charge_answered(told(vec![pending_fact()], 2)), 100);
    assert_eq!((known.others.len(), known.query().may_have_others), (0, false));
}

#[test]
fn money_of_a_second_charge_is_given_back_once_by_its_own_name_and_an_operator_sees_it() {
    let twice = paid_twice();
    assert_eq!(given_back(&twice), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
    let operation = &twice.operations[0];
    let query = twice.query_for(operation);
    assert_eq!(query.reference.get("paymentId"), Some("sale-1"));
    assert_eq!(twice.query().reference.get("paymentId"), Some("sale-2"), "the payment's own stays");
    assert_eq!((twice.status(), twice.state.refunds.len()), (Status::Paid, 0), "the merchant sees nothing");
    let again = decided(&twice, inquired(&twice, 2, told(vec![paid_by(2), money(1)], 2)), 42_000);
    let kinds: Vec<_> = again.discrepancies.iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [DiscrepancyKind::SecondCharge]);
    assert!(again.discrepancies[0].detail.contains("sale-1"), "{:?}", again.discrepancies);
    assert!(!again.effects.iter().any(|effect| matches!(effect, Effect::Operate(..))), "once");
    let done = decide(&twice, operated(operation.id, OperationAnswer::Done), 43_000);
    assert_eq!(given_back(&done), [("sale-1".to_owned(), whole(), OperationState::Done)]);
    assert_eq!((done.status(), done.state.refundable_amount().cents()), (Status::Paid, 10_000));
    let later = decide(&done, inquired(&done, 2, told(vec![paid_by(2), money(1)], 2)), 44_000);
    assert_eq!(given_back(&later).len(), 1, "a question from before it was given back");
}

#[test]
fn what_is_given_back_at_the_desk_beside_a_second_charge_is_learnt() {
    let twice = paid_twice();
    assert!(twice.operations[0].may_have_an_effect());
    let total = Money::from_cents(1_000);
    let sums = Fact::RefundedInTotal { refund_id: "sale-2-1000".into(), total };
    let told = decide(&twice, inquired(&twice, 2, told(vec![paid_by(2), sums], 2)), 42_000);
    assert_eq!(told.state.refunded_amount(), total);
    assert_eq!(given_back(&told), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn a_second_charge_that_can_not_be_given_back_is_an_operators() {
    let twice = paid_twice();
    let refused = OperationAnswer::Refused("309: not available".into());
    let decision = decided(&twice, operated(twice.operations[0].id, refused), 43_000);
    let found = &decision.discrepancies[0];
    assert_eq!((found.kind, found.stated), (DiscrepancyKind::SecondCharge, "not given back"));
    assert!(found.detail.contains("sale-1") && found.detail.contains("309"), "{}", found.detail);
    assert_eq!(decision.next.unwrap().status(), Status::Paid);
}

#[test]
fn a_refund_of_the_merchants_waits_for_no_other_charge() {
    let twice = paid_twice();
    let asked = decided(&twice, requested(refund(10_000), None, 77), 42_000);
    assert_eq!(calls(&asked), [Effect::Operate(AcquirerName::new("first"), operation_id(77))]);
    let refunding = asked.next.unwrap();
    let done = decide(&refunding, operated(operation_id(77), OperationAnswer::Done), 43_000);
    assert_eq!(done.status(), Status::Refund);
    assert_eq!(given_back(&done), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn a_limit_that_a_second_charge_holds_is_voided() {
    let approved = answered(&sent_again(card_order(false)), vec![authorised()]);
    let answer = told(vec![authorised(), holding(1, Holding::Limit)], 2);
    let decision = decided(&approved, inquired(&approved, 2, answer), 41_000);
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::SecondCharge);
    let twice = decision.next.unwrap();
    assert_eq!(
        given_back(&twice),
        [("sale-1".to_owned(), OperationKind::Cancel, OperationState::Processing)]
    );
    let capture = decided(&twice, requested(RequestedOperation::Capture(None), None, 77), 42_000);
    assert_eq!(calls(&capture), [Effect::Operate(AcquirerName::new("first"), operation_id(77))]);
    let done = decide(&twice, operated(twice.operations[0].id, OperationAnswer::Done), 43_000);
    assert_eq!(done.status(), Status::Approved, "the one that counts is held on");
}

#[test]
fn an_unpaid_code_makes_way_for_the_one_that_was_paid() {
    let pending = answered(&sent_again(pix_order()), vec![pending_fact()]);
    assert_eq!(pending.status(), Status::Pending);
    let paid = decide(&pending, inquired(&pending, 2, told(vec![paid_by(1)], 1)), 50_000);
    assert_eq!(paid.status(), Status::Paid);
    assert_eq!(paid.state.settlement_id.as_deref(), Some("sale-1"));
    assert_eq!(paid.query().reference.get("paymentId"), Some("sale-1"), "refunds go to what was paid");
    let both = decide(&paid, inquired(&paid, 2, told(vec![paid_by(1), money(2)], 1)), 60_000);
    assert_eq!(given_back(&both), [("sale-2".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn an_answer_from_before_it_was_known_which_charge_counts_takes_nothing_away_from_it() {
    let paid = answered(&sent_again(pix_order()), vec![pending_fact(), paid_by(2)]);
    let early = decide(&paid, inquired(&paid, 2, told(vec![paid_by(1)], 1)), 40_000);
    assert_eq!(early.query().reference.get("paymentId"), Some("sale-2"));
    assert_eq!(given_back(&early), []);
    let asked = decided(&early, Command::Wake, 41_000);
    assert_eq!(
        calls(&asked),
        [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::new(2))],
        "for both, once more"
    );
    let asked = asked.next.unwrap();
    let late = decide(&asked, inquired(&asked, 2, told(vec![paid_by(2), money(1)], 2)), 42_000);
    assert_eq!(given_back(&late), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn the_answer_to_a_charge_that_another_one_followed_has_it_looked_for() {
    let paid = answered(&sent_again(card_order(true)), vec![captured(2)]);
    let late = Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: told(vec![captured(1)], 1) };
    let told = decide(&paid, late, 50_000);
    assert_eq!(told.query().others, [Reference::none().with("paymentId", "sale-1")]);
    let asked = decided(&told, Command::Wake, 50_001);
    assert_eq!(calls(&asked), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::new(2))]);
}

#[test]
fn after_it_was_sent_again_its_acquirer_is_asked_once_more_minutes_and_an_hour_later_whatever_came_meanwhile()
{
    let again = sent_again(card_order(true));
    let paid = answered(&again, vec![captured(2)]);
    assert_eq!((paid.status(), paid.check), (Status::Paid, None));
    let due = paid.due_at().unwrap().ms_since(START);
    assert_eq!(due, 35_000 + 10 * MINUTE);
    let asked = decided(&paid, Command::Wake, due);
    assert_eq!(calls(&asked), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::new(2))]);
    let asked = asked.next.unwrap();
    let fine = decide(&asked, inquired(&asked, 2, told(vec![paid_by(2)], 2)), due + 100);
    let next = fine.due_at().unwrap().ms_since(START);
    assert_eq!(next, due + 60 * MINUTE);
    let asked = decide(&fine, Command::Wake, next);
    let fine = decide(&asked, inquired(&asked, 2, told(vec![paid_by(2)], 2)), next + 100);
    assert_eq!(fine.due_at(), None, "twice");
}

#[test]
fn a_payment_that_was_given_up_is_looked_for_once_more_too() {
    let opened = opened_card(true);
    let lost = decide(&opened, charge_answered(unknown()), 8_000);
    let once = decide(&lost, not_found(&lost), 20_000);
    let forgot = once.decide(not_found(&once), &by_name(35_000)).unwrap().next.unwrap();
    assert_eq!(forgot.state.status_reason.as_deref(), Some("interrupted"));
    let due = forgot.second_look.clone().unwrap().at.ms_since(START);
    let asked = decided(&forgot, Command::Wake, due);
    assert!(
        calls(&asked).contains(&Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)),
        "{:?}",
        asked.effects
    );
}

#[test]
fn money_of_a_declined_payment_is_given_back_once_and_an_operator_sees_it() {
    let opened = opened_card(true);
    let declined = Fact::Declined(Decline::of("expired_card"));
    let declined = after(&opened, charge_answered(told(vec![declined], 1)), 100);
    let decision = declined.decide(notice(paid_by(1)), &at(5_000)).unwrap();
    assert_eq!(decision.discrepancies[0].kind, DiscrepancyKind::PaidAfterDecline);
    let giving = decision.next.unwrap();
    assert_eq!(given_back(&giving), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
    assert_eq!(giving.status(), Status::Declined);
    let again = after(&giving, notice(paid_by(1)), 6_000);
    assert_eq!(given_back(&again).len(), 1);
    let done = after(&again, operated(again.operations[0].id, OperationAnswer::Done), 7_000);
    let total = Money::from_cents(10_000);
    let sums = notice(Fact::RefundedInTotal { refund_id: "sale-1-10000".into(), total });
    let decision = done.decide(sums, &at(8_000)).unwrap();
    assert!(decision.discrepancies.is_empty(), "that was ours: {:?}", decision.discrepancies);
    let ours = notice(Fact::Refunded { refund_id: done.operations[0].id.to_string(), amount: None });
    assert!(done.decide(ours, &at(9_000)).unwrap().discrepancies.is_empty());
}

#[test]
fn money_of_a_declined_payment_that_went_back_is_ours_whatever_its_newest_step_is_called() {
    let declined = Fact::Declined(Decline::of("expired_card"));
    let declined = decide(&opened_card(true), charge_answered(told(vec![declined], 1)), 100);
    let giving = decide(&declined, inquired(&declined, 1, told(vec![paid_by(1)], 1)), 5_000);
    let done = decide(&giving, operated(giving.operations[0].id, OperationAnswer::Done), 7_000);
    let total = Money::from_cents(10_000);
    let facts = vec![paid_by(1), Fact::RefundedInTotal { refund_id: "sale-1-10000".into(), total }];
    let reference = Reference::none().with("paymentId", "sale-1").with("tid", "2");
    let answer = ChargeAnswer::Known(Statement { facts, reference });
    let later = decided(&done, inquired(&done, 1, answer), 8_000);
    let kinds: Vec<_> = later.discrepancies.iter().map(|found| found.kind).collect();
    assert!(!kinds.contains(&DiscrepancyKind::Contradiction), "{:?}", later.discrepancies);
}

#[test]
fn a_held_and_a_captured_charge_of_a_declined_payment_have_operations_of_their_own() {
    let opened = opened_card(true);
    let declined = Fact::Declined(Decline::of("expired_card"));
    let declined = decide(&opened, charge_answered(told(vec![declined], 1)), 100);
    let facts = vec![paid_by(1), money(2), holding(3, Holding::Limit)];
    let told = decide(&declined, inquired(&declined, 1, told(facts, 1)), 5_000);
    let mut ids: Vec<_> = told.operations.iter().map(|operation| operation.id).collect();
    ids.dedup();
    assert_eq!((ids.len(), given_back(&told).len()), (3, 3));
}

fn resolved(attempt: u32, verdict: Verdict) -> Command {
    Command::ChargeResolved { attempt: AttemptNumber::new(attempt), verdict }
}

#[test]
fn a_charge_of_which_nothing_is_told_can_be_ended_by_a_person_after_ten_minutes() {
    for answer in [unknown(), ChargeAnswer::Accepted(Reference::none())] {
        let stuck = after(&opened_card(true), charge_answered(answer), 8_000);
        let early = stuck.decide(resolved(1, Verdict::Refused), &at(10 * MINUTE - 1));
        assert_eq!(early.unwrap_err(), Refusal::NotStuck);
        for (attempt, verdict) in [(0, Verdict::Refused), (2, Verdict::Refused), (1, Verdict::Done)] {
            let refused = stuck.decide(resolved(attempt, verdict), &at(10 * MINUTE)).unwrap_err();
            assert_eq!(refused, Refusal::NotStuck, "{attempt} {verdict:?}");
        }
        let ended = after(&stuck, resolved(1, Verdict::Refused), 10 * MINUTE);
        assert_eq!(ended.status(), Status::Declined);
        assert_eq!(ended.state.status_reason.as_deref(), Some("interrupted"));
        assert_eq!(ended.history.last().unwrap().actor, Cause::Service);
        assert_eq!(ended.due_at(), None, "nobody is asked any more");
        let again = ended.decide(resolved(1, Verdict::Refused), &at(11 * MINUTE)).unwrap_err();
        assert_eq!(again, Refusal::NotStuck);
        let late = ended.decide(notice(paid_by(1)), &at(20 * MINUTE)).unwrap();
        assert_eq!(late.discrepancies[0].kind, DiscrepancyKind::PaidAfterDecline);
        assert_eq!(given_back(&late.next.unwrap()).len(), 1, "and what comes late is given back");
    }
}

#[test]
fn a_charge_on_its_way_or_that_is_answered_can_not_be_ended_by_a_person() {
    let late = at(DAY_MS);
    for payment in [opened_card(true), pending(), paid()] {
        assert_eq!(payment.decide(resolved(1, Verdict::Refused), &late).unwrap_err(), Refusal::NotStuck);
    }
}

const DAY_MS: u64 = 24 * 60 * MINUTE;

#[test]
fn a_refusal_that_may_be_wrong_counts_only_once_the_acquirer_is_believed_not_to_have_done_it() {
    let id = operation_id(1);
    let refunding = decide(&paid(), requested(refund(4_000), None, 1), 3_000);
    let perhaps = OperationAnswer::RefusedPerhaps("99: try again".into());
    let open = decide(&refunding, operated(id, perhaps), 3_100);
    assert_eq!(open.operations[0].state(), OperationState::Processing);
    let not_found = |for_ms| {
        let answer = OperationAnswer::NotFound;
        let inquiring = asking_for(for_ms);
        Command::OperationInquired { operation: id, sending: 1, inquiring, answer }
    };
    let once = decide(&open, not_found(10_000), 13_000);
    assert_eq!(once.operations[0].state(), OperationState::Processing);
    let decision = decided(&once, not_found(30_000), 33_000);
    let sent = |effect: &Effect| matches!(effect, Effect::Operate(..));
    assert!(!decision.effects.iter().any(sent), "what was refused is not sent again");
    let refused = decision.next.unwrap();
    assert_eq!(refused.operations[0].state(), OperationState::Refused);
    assert_eq!(refused.state.refunds[0].failure_reason.as_deref(), Some("99: try again"));
    let look = refused.second_look.unwrap();
    assert_eq!(look.at, START.plus_ms(33_000 + 10 * MINUTE), "sums that grow later are seen");
    let done = Command::OperationInquired {
        operation: id,
        sending: 1,
        inquiring: asking_for(10_000),
        answer: OperationAnswer::Done,
    };
    assert_eq!(decide(&open, done, 13_000).state.refunded_amount().cents(), 4_000);
}
