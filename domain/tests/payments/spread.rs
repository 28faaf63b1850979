//! No step of a schedule is the same for everybody: what came due at once, after an outage, is not due at once again.

use crate::payments::unknown_outcomes::{charge_answered, found, unknown};
use crate::*;

fn with_dice(ms: u64, dice: u64) -> Context {
    Context { dice, ..at(ms) }
}

/// Returns the milliseconds until the payment is due next, for each of 41 values of the dice.
fn dues(payment: &Payment, command: &Command, ms: u64) -> Vec<u64> {
    let due = |dice| {
        let next = payment.decide(command.clone(), &with_dice(ms, dice)).unwrap().next.unwrap();
        let next = reported(next, ms);
        next.due_at().unwrap().ms_since(START.plus_ms(ms))
    };
    (0..41).map(due).collect()
}

#[track_caller]
fn assert_spread(dues: &[u64], step_ms: u64) {
    let different: std::collections::BTreeSet<_> = dues.iter().collect();
    assert_eq!(different.len(), 41, "{dues:?}");
    assert_eq!((dues[0], dues[20], dues[40]), (step_ms / 10 * 8, step_ms, step_ms / 10 * 12));
}

#[test]
fn every_step_of_inquiries_is_spread_over_a_fifth() {
    let mut payment = open(pix_order()).next.unwrap();
    assert_spread(&dues(&payment, &charge_answered(unknown()), 500), 1_000);
    payment = after(&payment, charge_answered(unknown()), 500);
    for step_ms in [2_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 3_600_000] {
        let now_ms = payment.due_at().unwrap().ms_since(START);
        assert_spread(&dues(&payment, &Command::Wake, now_ms), step_ms);
        payment = after(&payment, Command::Wake, now_ms);
    }
}

#[test]
fn every_step_of_checks_is_spread_over_a_fifth() {
    let mut order = pix_order();
    order.terms = Terms::Pix { expires_in_s: 30 * 86_400 };
    let expires_at = START.plus_ms(30 * 86_400_000);
    let issued = Issued::Pix { txid: "t".repeat(32), code: "code".into(), expires_at };
    let pending = Fact::Pending { issued, news_at: None };
    let opened = open(order).next.unwrap();
    let answered = charge_answered(ChargeAnswer::known(pending.clone()));
    assert_spread(&dues(&opened, &answered, 500), 60_000);
    let mut payment = after(&opened, answered, 500);
    for step_ms in [120_000, 420_000, 21_600_000, 21_600_000] {
        let now_ms = payment.due_at().unwrap().ms_since(START);
        assert_spread(&dues(&payment, &Command::Wake, now_ms), step_ms);
        payment = after(&payment, Command::Wake, now_ms);
        payment = after(&payment, found(ChargeAnswer::known(pending.clone())), now_ms + 10);
    }
}

#[test]
fn a_spread_step_is_no_jump_of_the_clock() {
    let mut payment = after(&open(pix_order()).next.unwrap(), charge_answered(unknown()), 500);
    for _ in 0..8 {
        let now_ms = payment.due_at().unwrap().ms_since(START);
        payment = payment.decide(Command::Wake, &with_dice(now_ms, 40)).unwrap().next.unwrap();
        let again = payment.decide(Command::Wake, &with_dice(now_ms, 0)).unwrap();
        assert!(again.next.is_none(), "nothing is due, and nothing is pulled in");
    }
}

#[test]
fn what_an_acquirer_asked_to_wait_for_is_never_shortened() {
    let payment = open(pix_order()).next.unwrap();
    let throttled = ChargeAnswer::Failed(CallFailure::Throttled { after_ms: 100_000 });
    let dues = dues(&payment, &charge_answered(throttled), 500);
    assert_eq!((dues.iter().min(), dues.iter().max()), (Some(&100_000), Some(&120_000)));
}

#[test]
fn a_check_that_never_left_the_process_does_not_count_and_comes_back_soon() {
    for (failure, waits_ms) in
        [(CallFailure::Withheld, 300_000), (CallFailure::Throttled { after_ms: 40_000 }, 40_000)]
    {
        let mut payment = pending();
        let before = payment.check.unwrap();
        for _ in 0..5 {
            let now_ms = payment.due_at().unwrap().ms_since(START);
            payment = after(&payment, Command::Wake, now_ms);
            payment = after(&payment, found(ChargeAnswer::Failed(failure.clone())), now_ms);
            let check = payment.check.unwrap();
            assert_eq!((check.made, check.at), (before.made, START.plus_ms(now_ms + waits_ms)));
        }
    }
}
