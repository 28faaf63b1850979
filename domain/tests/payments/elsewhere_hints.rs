//! Hints about charges at acquirers that the payment has left: none is lost, and none moves what counts.

use quita_domain::identity::TransactionId;

use crate::payments::elsewhere::{at_first, gone_on, learns, paid_elsewhere, taken_elsewhere};
use crate::payments::second::{MINUTE, by_name, captured, decide, given_back, inquired, paid_by, whole};
use crate::*;

const SECOND_TRY: u32 = 2;
const ELSEWHERE: u32 = 3;

fn hint_of(charge: Reference) -> Command {
    Command::Hinted { acquirer: at_first(), charge }
}

fn hint() -> Command {
    hint_of(Reference::none())
}

fn not_found(payment: &Payment) -> Command {
    inquired(payment, SECOND_TRY, ChargeAnswer::NotFound)
}

fn look_at(payment: &Payment) -> u64 {
    payment.second_look.as_ref().unwrap().at.ms_since(START)
}

/// Decides with both acquirers as tables of one account.
fn with_one_account(payment: &Payment, command: Command, ms: u64) -> Decision {
    payment.decide(command, &Context { is_one_account: true, ..at(ms) }).unwrap()
}

#[test]
fn hints_that_come_before_the_charge_is_shown_use_up_no_look_of_the_schedule() {
    let paid = paid_elsewhere();
    let scheduled = look_at(&paid);
    let once = decide(&paid, hint(), MINUTE);
    let lagging = decide(&once, not_found(&once), MINUTE + 100);
    let twice = decide(&lagging, hint(), MINUTE + 1_000);
    let asked = decide(&twice, Command::Wake, look_at(&twice));
    let nothing = decide(&asked, not_found(&asked), MINUTE + 6_000);
    assert!(look_at(&nothing) >= scheduled, "{:?}", nothing.second_look);
    let looked = decide(&nothing, Command::Wake, look_at(&nothing));
    assert!(look_at(&looked) > 60 * MINUTE, "the look after an hour stays");
    let found = learns(&looked, vec![captured(1)], 700_000).next.unwrap();
    assert_eq!(given_back(&found), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn a_hint_after_the_last_look_is_followed_by_looks_of_its_own() {
    let quiet = Payment { second_look: None, ..paid_elsewhere() };
    let hinted = quiet.decide(hint(), &by_name(MINUTE)).unwrap();
    assert!(calls(&hinted).contains(&Effect::Inquire(at_first(), AttemptNumber::new(SECOND_TRY))));
    // The process may die before the answer, or the acquirer may not show the charge yet.
    let stored = hinted.next.unwrap();
    assert_eq!(look_at(&stored), 11 * MINUTE);
    let asked = decide(&stored, Command::Wake, 11 * MINUTE);
    assert!(look_at(&asked) > 60 * MINUTE);
}

#[test]
fn hints_one_after_the_other_write_one_look() {
    let once = decide(&paid_elsewhere(), hint(), MINUTE);
    let twice = decide(&once, hint(), MINUTE + 1_000);
    let again = twice.decide(hint(), &by_name(MINUTE + 1_500)).unwrap();
    assert!(again.next.is_none_or(|next| next.second_look == twice.second_look));
}

#[test]
fn the_name_that_a_hint_gives_is_asked_for_there() {
    let name = Reference::none().with("paymentId", "sale-1");
    let hinted = decide(&paid_elsewhere(), hint_of(name), MINUTE);
    let query = hinted.query_of(AttemptNumber::new(SECOND_TRY));
    assert_eq!(query.reference.get("paymentId"), Some("sale-1"));
    let other = decide(&hinted, hint_of(Reference::none().with("paymentId", "sale-2")), 2 * MINUTE);
    let query = other.query_of(AttemptNumber::new(SECOND_TRY));
    assert_eq!(query.reference.get("paymentId"), Some("sale-1"), "a known name stays");
}

#[test]
fn a_hint_at_another_table_of_the_account_has_the_charge_that_counts_asked_about() {
    let waiting = taken_elsewhere(pix_order(), pending_fact());
    let hinted = reported(with_one_account(&waiting, hint(), MINUTE).next.unwrap(), MINUTE);
    let asked = with_one_account(&hinted, Command::Wake, MINUTE);
    let here = Effect::Inquire(AcquirerName::new("second"), AttemptNumber::new(ELSEWHERE));
    assert_eq!(calls(&asked), [here]);
}

#[test]
fn what_another_table_of_the_account_shows_is_not_given_back() {
    let waiting = taken_elsewhere(pix_order(), pending_fact());
    for facts in [vec![paid_by(1)], vec![pending_fact()]] {
        let answer = ChargeAnswer::Known(Statement { facts, reference: Reference::none() });
        let command = inquired(&waiting, SECOND_TRY, answer);
        let shown = with_one_account(&waiting, command, MINUTE).next.unwrap();
        assert_eq!(given_back(&shown), []);
        assert!(shown.check.unwrap().at <= START.plus_ms(MINUTE), "the one that counts is asked about");
    }
}

#[test]
fn money_that_was_given_back_elsewhere_and_counts_after_all_is_missing_from_the_payment() {
    let waiting = taken_elsewhere(pix_order(), pending_fact());
    let surplus = reported(learns(&waiting, vec![paid_by(1)], MINUTE).next.unwrap(), MINUTE);
    let refund_id = surplus.operations[0].id.to_string();
    let here = |facts| ChargeAnswer::Known(Statement { facts, reference: Reference::none() });
    let paid = decide(&surplus, inquired(&surplus, ELSEWHERE, here(vec![paid_by(1)])), 2 * MINUTE);
    assert_eq!((paid.status(), paid.state.settlement_id.as_deref()), (Status::Paid, Some("sale-1")));
    let gone = Fact::Refunded { refund_id, amount: Some(Money::from_cents(10_000)) };
    let seen = decide(&paid, inquired(&paid, ELSEWHERE, here(vec![paid_by(1), gone])), 3 * MINUTE);
    assert_eq!((seen.status(), seen.state.refunded_amount().cents()), (Status::Refund, 10_000));
}

#[test]
fn a_pix_of_another_payment_is_not_given_back() {
    let Fact::Settled(settlement) = paid_by(1) else { panic!("a settlement") };
    let end_to_end_id = Some("E1".to_owned());
    let pix = Fact::Settled(Settlement { end_to_end_id, ..settlement });
    let waiting = taken_elsewhere(pix_order(), pending_fact());
    let bound = learns(&waiting, vec![pix.clone()], MINUTE).next.unwrap();
    assert_eq!(
        bound.pix_bound_since(&waiting),
        ["E1"],
        "the store refuses it if it has paid another payment"
    );
    let other = TransactionId::new(uuid::Uuid::from_u128(9));
    let taken = decide(&waiting, Command::PixTaken { pix: "E1".into(), other }, MINUTE);
    let told = learns(&taken, vec![pix], 2 * MINUTE);
    assert!(told.next.is_none_or(|next| given_back(&next).is_empty()), "{:?}", told.discrepancies);
}

#[test]
fn a_charge_that_shows_its_money_is_no_open_code_too() {
    let waiting = taken_elsewhere(pix_order(), settled("other-1", 10_000));
    let shown = learns(&waiting, vec![pending_fact(), paid_by(1)], MINUTE).next.unwrap();
    assert_eq!(given_back(&shown), [("sale-1".to_owned(), whole(), OperationState::Processing)]);
}

#[test]
fn the_slip_that_is_withdrawn_there_is_named_by_its_number() {
    let gone = gone_on(pix_order());
    let mut state = gone.state.as_ref().clone();
    state.attempts[1].our_number = Some(77);
    let gone = Payment { state: Arc::new(state), ..gone };
    let found = learns_open(&gone);
    let query = found.query_for(&found.operations[0]);
    assert_eq!(query.our_number, Some(77));
}

/// A payment whose earlier acquirer shows a charge that can be paid.
fn learns_open(gone: &Payment) -> Payment {
    let reference = Reference::none().with("chargeId", "other-1");
    let answer = ChargeAnswer::Known(Statement { facts: vec![settled("other-1", 10_000)], reference });
    let paid =
        decide(gone, Command::ChargeAnswered { attempt: AttemptNumber::new(ELSEWHERE), answer }, 37_000);
    reported(learns(&paid, vec![pending_fact()], MINUTE).next.unwrap(), MINUTE)
}
