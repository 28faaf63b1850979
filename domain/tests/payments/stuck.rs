//! Operations that are stuck, and that a person ends.

use quita_domain::operation::{OperationState, Verdict};
use quita_domain::payment::RESOLVED_BY_OPERATOR;
use quita_domain::state::RefundStatus;

use crate::payments::approved::looked;
use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::found;
use crate::*;

const ID: OperationId = operation_id(1);

/// Ten minutes after an operation that was asked for at 3 s.
const STUCK_MS: u64 = 603_000;

fn unknown() -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown("time-out".into()))
}

fn resolved(verdict: Verdict) -> Command {
    Command::OperationResolved { operation: ID, verdict }
}

fn refunding(answer: OperationAnswer) -> Payment {
    let asked = after(&paid(), requested(refund(4_000), Some("k"), 1), 3_000);
    after(&asked, operated(ID, answer), 3_100)
}

fn not_stuck(payment: &Payment, verdict: Verdict, ms: u64) {
    assert_eq!(payment.decide(resolved(verdict), &at(ms)).unwrap_err(), Refusal::NotStuck);
}

#[test]
fn a_stuck_refund_that_a_person_gives_up_is_failed_and_its_amount_is_free_again() {
    for answer in [unknown(), OperationAnswer::Accepted] {
        let payment = after(&refunding(answer), resolved(Verdict::Refused), STUCK_MS);
        assert_eq!(payment.operations[0].state(), OperationState::Refused);
        assert_eq!(payment.state.refundable_amount().cents(), 10_000);
        let shown = &payment.state.refunds[0];
        assert_eq!(shown.status, RefundStatus::Failed);
        assert_eq!(shown.failure_reason.as_deref(), Some(RESOLVED_BY_OPERATOR));
        assert_eq!(payment.history.last().unwrap().name(), "payment.refund_failed");
        let asked = after(&payment, Command::Wake, STUCK_MS + 1);
        let told = after(&asked, looked(&asked, settled("s1", 10_000)), STUCK_MS + 2);
        assert_eq!(told.due_at(), None, "nobody is asked any more");
        let again = payment.decide(requested(refund(4_000), Some("k"), 9), &at(STUCK_MS + 1)).unwrap();
        assert!(again.is_replay && again.next.is_none());
    }
}

#[test]
fn what_others_gave_back_while_a_stuck_refund_left_no_room_is_recorded_once_a_person_gave_that_up() {
    let desk = || {
        let amount = Some(Money::from_cents(3_712));
        found(ChargeAnswer::known(Fact::Refunded { refund_id: "desk".into(), amount }))
    };
    let asked = after(&paid(), requested(refund(10_000), None, 1), 3_000);
    let stuck = after(&asked, operated(ID, unknown()), 3_100);
    assert_eq!(discrepancy(&stuck, desk()), DiscrepancyKind::TooEarly);
    let ended = after(&stuck, resolved(Verdict::Refused), STUCK_MS);
    let asked = ended.decide(Command::Wake, &at(STUCK_MS + 1)).unwrap();
    let is_asked = asked.effects.iter().any(|effect| matches!(effect, Effect::Inquire(..)));
    assert!(is_asked, "nobody else tells of it: {:?}", asked.effects);
    let told = after(&asked.next.unwrap(), desk(), STUCK_MS + 2);
    assert_eq!(told.state.refunded_amount().cents(), 3_712);
}

#[test]
fn a_stuck_refund_that_a_person_found_done_is_done() {
    let payment = after(&refunding(unknown()), resolved(Verdict::Done), STUCK_MS);
    assert_eq!(payment.state.refunded_amount().cents(), 4_000);
    assert_eq!(payment.history.last().unwrap().name(), "payment.refund_succeeded");
}

#[test]
fn a_stuck_cancellation_that_was_given_up_blocks_nothing_any_more() {
    let authorized = after(&paid_later(), requested(RequestedOperation::Cancel, None, 1), 3_000);
    let stuck = after(&authorized, operated(ID, unknown()), 3_100);
    let capture = || requested(RequestedOperation::Capture(None), None, 2);
    assert_eq!(stuck.decide(capture(), &at(STUCK_MS)).unwrap_err(), Refusal::Busy("cancel"));
    let ended = after(&stuck, resolved(Verdict::Refused), STUCK_MS);
    assert_eq!(ended.status(), Status::Approved);
    assert!(ended.decide(capture(), &at(STUCK_MS + 1)).is_ok());
    let cancelled = after(&stuck, resolved(Verdict::Done), STUCK_MS);
    assert_eq!(cancelled.status(), Status::Cancelled);
}

/// An authorised card that waits for its capture.
fn paid_later() -> Payment {
    let opened = Payment { order: Arc::new(card_order(false)), ..open(pix_order()).next.unwrap() };
    let approval = Approval { authorization_code: "A1".into() };
    after(&opened, notice(Fact::Authorized(approval)), 1_000)
}

#[test]
fn what_may_still_come_by_itself_is_no_persons_to_end() {
    for verdict in Verdict::ALL {
        let sent = after(&paid(), requested(refund(4_000), None, 1), 3_000);
        not_stuck(&sent, verdict, DAY);
        not_stuck(&refunding(unknown()), verdict, STUCK_MS - 1);
        not_stuck(&refunding(OperationAnswer::Done), verdict, DAY);
        not_stuck(&paid(), verdict, DAY);
    }
}

#[test]
fn what_certainly_never_left_can_be_given_up_at_once_and_not_be_called_done() {
    let withheld = refunding(OperationAnswer::Failed(CallFailure::Withheld));
    not_stuck(&withheld, Verdict::Done, DAY);
    let ended = after(&withheld, resolved(Verdict::Refused), 3_200);
    assert_eq!(ended.state.refundable_amount().cents(), 10_000);
}

#[test]
fn an_answer_that_comes_after_all_and_says_otherwise_is_reported() {
    let inquired =
        |answer| Command::OperationInquired { operation: ID, sending: 1, inquiring: asking_for(0), answer };
    let given_up = after(&refunding(unknown()), resolved(Verdict::Refused), STUCK_MS);
    let found_done = after(&refunding(unknown()), resolved(Verdict::Done), STUCK_MS);
    let refused = || OperationAnswer::Refused("no balance".into());
    for (payment, answer, reported) in [
        (&given_up, OperationAnswer::Done, 1),
        (&given_up, refused(), 0),
        (&given_up, unknown(), 0),
        (&found_done, OperationAnswer::Done, 0),
        (&found_done, refused(), 1),
    ] {
        for command in [inquired(answer.clone()), operated(ID, answer)] {
            let decision = payment.decide(command, &at(DAY)).unwrap();
            let is_told = decision.next.as_ref().is_none_or(|next| next.state == payment.state);
            assert!(is_told && decision.next.is_some() == (reported == 1), "{decision:?}");
            assert_eq!(decision.discrepancies.len(), reported, "{decision:?}");
        }
    }
    let contradiction = given_up.decide(inquired(OperationAnswer::Done), &at(DAY)).unwrap();
    assert_eq!(contradiction.discrepancies[0].kind, DiscrepancyKind::Contradiction);
    assert_eq!(contradiction.discrepancies[0].about, Some(ID.to_string()));
}
