//! Approved cards that nobody captures yet: what happens to them at the acquirer is found by asking.

use quita_domain::operation::Verdict;

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::charge_answered;
use crate::*;

/// Returns the context of a decision where the acquirer is asked about approved cards.
fn read(ms: u64) -> Context {
    Context { reads_approved: true, ..at(ms) }
}

fn decide(payment: &Payment, command: Command, ms: u64) -> Decision {
    payment.decide(command, &read(ms)).unwrap()
}

fn approved() -> Payment {
    decide(&opened_card(false), charge_answered(ChargeAnswer::known(authorised())), 1_000).next.unwrap()
}

pub(crate) fn looked(payment: &Payment, fact: Fact) -> Command {
    let asked_at = payment.inquired_at;
    let answer = ChargeAnswer::known(fact);
    Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring: None, answer }
}

/// Asked whenever it is due until this time is over; says when.
fn asked_until(mut payment: Payment, end_ms: u64) -> (Payment, Vec<u64>) {
    let mut asked_ms = Vec::new();
    loop {
        let due_ms = payment.due_at().unwrap().ms_since(START);
        if due_ms > end_ms {
            return (payment, asked_ms);
        }
        let woken = decide(&payment, Command::Wake, due_ms);
        assert!(woken.effects.contains(&Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)));
        asked_ms.push(due_ms);
        payment = woken.next.unwrap();
        let answered = decide(&payment, looked(&payment, authorised()), due_ms + 100);
        assert_eq!(answered.discrepancies, []);
        payment = answered.next.unwrap_or(payment);
    }
}

#[test]
fn an_approved_card_is_asked_for_after_one_three_and_ten_minutes_and_then_every_six_hours() {
    let (payment, asked_ms) = asked_until(approved(), DAY / 2 + 700_000);
    let minute = 60_000;
    assert_eq!(asked_ms, [1, 3, 10, 370, 730].map(|minutes| 1_000 + minutes * minute));
    assert_eq!((payment.status(), payment.state.version), (Status::Approved, approved().state.version));
}

#[test]
fn an_authorisation_that_is_gone_is_declined() {
    let (payment, _) = asked_until(approved(), 16 * DAY);
    let asked = decide(&payment, Command::Wake, 17 * DAY).next.unwrap();
    let gone = decide(&asked, looked(&asked, Fact::Expired), 17 * DAY + 100);
    assert_eq!(gone.discrepancies, []);
    let gone = gone.next.unwrap();
    assert_eq!(gone.status(), Status::Declined);
    assert_eq!(gone.state.status_reason.as_deref(), Some("authorization_expired"));
    assert_eq!(gone.due_at(), None);
}

#[test]
fn what_was_captured_or_voided_at_the_acquirers_desk_is_found() {
    let asked = decide(&approved(), Command::Wake, 61_000).next.unwrap();
    let captured = decide(&asked, looked(&asked, settled("s1", 6_000)), 61_100).next.unwrap();
    assert_eq!((captured.status(), captured.due_at()), (Status::Paid, None));
    let voided = decide(&asked, looked(&asked, Fact::Cancelled), 61_100).next.unwrap();
    assert_eq!((voided.status(), voided.due_at()), (Status::Cancelled, None));
}

#[test]
fn a_hint_comes_between_and_the_schedule_goes_on() {
    let hinted = decide(
        &approved(),
        Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() },
        5_000,
    )
    .next
    .unwrap();
    let asked = decide(&hinted, Command::Wake, 5_000).next.unwrap();
    let same = decide(&asked, looked(&asked, authorised()), 5_100).next.unwrap();
    assert_eq!(same.check, approved().check);
}

#[test]
fn a_card_that_is_captured_at_once_costs_no_more_for_it() {
    let opened = opened_card(true);
    let approved = decide(&opened, charge_answered(ChargeAnswer::known(authorised())), 1_000).next.unwrap();
    let capture = approved.operations[0].id;
    let paid = decide(&approved, operated(capture, OperationAnswer::Done), 1_100).next.unwrap();
    assert_eq!((paid.status(), paid.revision, paid.due_at()), (Status::Paid, 3, None));
}

#[test]
fn what_lives_in_this_process_is_not_asked_for() {
    let opened = opened_card(false);
    assert_eq!(after(&opened, charge_answered(ChargeAnswer::known(authorised())), 1_000).due_at(), None);
}

#[test]
fn what_was_captured_at_the_desk_is_found_although_a_dispute_overtook_our_unclear_capture() {
    let id = operation_id(1);
    let capture = RequestedOperation::Capture(Some(Money::from_cents(400)));
    let sent = decide(&approved(), requested(capture, None, 1), 2_000).next.unwrap();
    let failed = OperationAnswer::Failed(CallFailure::Unknown("reset".into()));
    let unclear = decide(&sent, operated(id, failed), 3_000).next.unwrap();
    let dispute = notice(Fact::ChargedBack { id: "c".into(), amount: None });
    let disputed = decide(&unclear, dispute, 4_000).next.unwrap();
    assert_eq!((disputed.status(), disputed.state.captured_amount), (Status::Chargeback, None));
    let won = decide(&disputed, notice(dispute_won("w")), 5_000).next.unwrap();
    assert_eq!((won.status(), won.state.captured_amount), (Status::Paid, None));
    for payment in [disputed, won] {
        let verdict = Command::OperationResolved { operation: id, verdict: Verdict::Refused };
        let ended = decide(&payment, verdict, DAY).next.unwrap();
        assert!(ended.due_at() <= Some(START.plus_ms(DAY)), "the charge is looked at");
        let asked = decide(&ended, Command::Wake, DAY).next.unwrap();
        let found = decide(&asked, looked(&asked, settled("s1", 6_000)), DAY + 100);
        assert_eq!(found.discrepancies, []);
        assert_eq!(found.next.unwrap().state.captured_amount, Some(Money::from_cents(6_000)));
    }
}

#[test]
fn how_much_others_captured_is_asked_when_a_dispute_about_it_was_won() {
    let disputed = decide(&approved(), notice(charged_back("c")), 4_000).next.unwrap();
    let won = decide(&disputed, notice(dispute_won("w")), 5_000).next.unwrap();
    assert_eq!((won.status(), won.state.captured_amount), (Status::Paid, None));
    let asked = decide(&won, Command::Wake, 7_000).next.unwrap();
    for told in [notice(settled("s1", 6_000)), looked(&asked, settled("s1", 6_000))] {
        let found = decide(&asked, told, 7_100);
        assert_eq!(found.discrepancies, []);
        assert_eq!(found.next.unwrap().state.captured_amount, Some(Money::from_cents(6_000)));
    }
}

#[test]
fn an_expiry_ends_no_approved_pix_and_an_operator_learns_of_it() {
    const IN_TIME: u64 = 3_600_000 + 1_000;
    let story = Statement { facts: vec![Fact::Expired, authorised()], reference: Reference::default() };
    let answer =
        Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer: ChargeAnswer::Known(story) };
    let first = decide(&pending(), answer.clone(), IN_TIME);
    assert_eq!(first.discrepancies, []);
    let approved = first.next.unwrap();
    assert_eq!(approved.status(), Status::Approved);
    let again = decide(&approved, answer, IN_TIME);
    assert_eq!(again.discrepancies[0].kind, DiscrepancyKind::Contradiction);
    assert_eq!(again.next.unwrap().state, approved.state);
}
