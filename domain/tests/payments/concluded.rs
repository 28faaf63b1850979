//! Charges that take no more money although what came in is not what was asked for: only a person ends their payments.

use quita_domain::payment::AMOUNT_MISMATCH;

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::charge_answered;
use crate::*;

fn stated(facts: Vec<Fact>) -> ChargeAnswer {
    ChargeAnswer::Known(Statement { facts, reference: Reference::none() })
}

fn looked(payment: &Payment, answer: ChargeAnswer) -> Command {
    Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: payment.inquired_at,
        inquiring: None,
        answer,
    }
}

/// Returns the acquirer's statement of a concluded charge for which this much money came.
fn with_odd_money(cents: u64) -> ChargeAnswer {
    stated(vec![pending_fact(), settled("e1", cents), Fact::Concluded])
}

fn concluded() -> Payment {
    let opened = open(pix_order()).next.unwrap();
    let decision = opened.decide(charge_answered(with_odd_money(9_000)), &at(10)).unwrap();
    let kinds: Vec<_> = decision.discrepancies.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DiscrepancyKind::AmountMismatch], "said once");
    reported(decision.next.unwrap(), 20)
}

#[test]
fn a_charge_that_concluded_with_other_money_stays_pending_and_is_asked_for_no_more() {
    let asked = after(&pending(), Command::Wake, 60_010);
    let found = asked.decide(looked(&asked, with_odd_money(9_000)), &at(60_100)).unwrap();
    assert_eq!(found.discrepancies[0].kind, DiscrepancyKind::AmountMismatch);
    for payment in [reported(found.next.unwrap(), 60_200), concluded()] {
        assert_eq!((payment.status(), payment.due_at()), (Status::Pending, None));
        assert!(!payment.state.attempts[0].call.is_open());
        assert_eq!(after(&payment, Command::Wake, 2 * DAY).status(), Status::Pending);
        assert_eq!(after(&payment, notice(Fact::Expired), 2 * DAY).status(), Status::Pending);
        let read: Payment = serde_json::from_str(&serde_json::to_string(&payment).unwrap()).unwrap();
        assert_eq!(read, payment);
    }
}

#[test]
fn a_hint_about_it_is_asked_for_once_and_ends_nothing() {
    let hinted = after(
        &concluded(),
        Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() },
        2 * DAY,
    );
    let asked = hinted.decide(Command::Wake, &at(2 * DAY + 5_000)).unwrap();
    assert!(asked.effects.contains(&Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)));
    let asked = asked.next.unwrap();
    let found = asked.decide(looked(&asked, with_odd_money(9_000)), &at(2 * DAY + 5_100)).unwrap();
    assert_eq!(found.discrepancies[0].about.as_deref(), Some("e1"), "which is the same exception");
    let found = reported(found.next.unwrap(), 2 * DAY + 5_200);
    assert_eq!((found.status(), found.due_at()), (Status::Pending, None));
}

/// Money that the acquirer has of a charge that it takes no more money for, and shows none of.
fn without_money() -> ChargeAnswer {
    stated(vec![pending_fact(), Fact::Concluded])
}

/// One whose answer was this, at 10 ms.
fn that_shows_no_money() -> Payment {
    let opened = open(pix_order()).next.unwrap();
    let decision = opened.decide(charge_answered(without_money()), &at(10)).unwrap();
    assert!(decision.discrepancies.is_empty(), "it may show it a moment later");
    decision.next.unwrap()
}

const LAG_ENDS: u64 = 10 + 10 * 60_000;

#[test]
fn one_that_shows_no_money_yet_is_asked_for_it_for_ten_minutes_and_then_told_to_an_operator() {
    let mut payment = that_shows_no_money();
    let mut asked = Vec::new();
    while let Some(due) = payment.due_at().map(|due| due.ms_since(START)).filter(|due| *due < LAG_ENDS) {
        assert!(asked.len() < 20, "{asked:?}");
        asked.push(due);
        let woken = payment.decide(Command::Wake, &at(due)).unwrap();
        assert!(woken.effects.contains(&Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)));
        assert!(woken.discrepancies.is_empty(), "the acquirer does answer");
        payment = woken.next.unwrap();
        let found = payment.decide(looked(&payment, without_money()), &at(due + 100)).unwrap();
        assert!(found.discrepancies.is_empty() && payment.status() == Status::Pending);
        payment = found.next.unwrap_or(payment);
    }
    assert!(asked.len() >= 5 && asked[0] < 5_000, "{asked:?}");
    assert_eq!(payment.due_at(), Some(START.plus_ms(LAG_ENDS)));
    let woken = payment.decide(Command::Wake, &at(LAG_ENDS)).unwrap();
    assert!(woken.discrepancies.is_empty());
    let last = woken.next.unwrap();
    let found = last.decide(looked(&last, without_money()), &at(LAG_ENDS + 100)).unwrap();
    assert_eq!(found.discrepancies[0].kind, DiscrepancyKind::AmountMismatch);
    let told = reported(found.next.unwrap(), LAG_ENDS + 200);
    assert_eq!((told.status(), told.due_at()), (Status::Pending, Some(START.plus_ms(10 + DAY))));
    let ended = after(&told, Command::MismatchEnded, DAY);
    assert_eq!((ended.status(), ended.due_at()), (Status::Cancelled, None));
}

/// One of which an operator was told that its money did not come, in this status.
fn told_of_no_money(status: Status) -> Payment {
    let mut payment = pending();
    if status == Status::Expired {
        payment = after(&payment, notice(Fact::Expired), 3_600_000 + 200_000);
    }
    for _ in 0..40 {
        let due = payment.due_at().unwrap().ms_since(START);
        let asked = after(&payment, Command::Wake, due);
        let found = asked.decide(looked(&asked, without_money()), &at(due + 100)).unwrap();
        if !found.discrepancies.is_empty() {
            let told = reported(found.next.unwrap(), due + 200);
            assert!(told.concluded && told.status() == status);
            return told;
        }
        payment = found.next.unwrap_or(asked);
    }
    panic!("nobody is told: {payment:?}")
}

#[test]
fn a_day_later_it_is_looked_at_once_more_and_the_money_that_lagged_pays_it() {
    for status in [Status::Pending, Status::Expired] {
        let told = told_of_no_money(status);
        let due = told.due_at().unwrap().ms_since(told.concluded_since.unwrap());
        assert_eq!(due, DAY, "{status}");
        let due = told.due_at().unwrap().ms_since(START);
        let woken = told.decide(Command::Wake, &at(due)).unwrap();
        assert!(woken.discrepancies.is_empty(), "{status}: {:?}", woken.discrepancies);
        assert_eq!(calls(&woken), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)]);
        let asked = woken.next.unwrap();
        let shown = stated(vec![pending_fact(), settled("e1", 10_000), Fact::Concluded]);
        let paid = after(&asked, looked(&asked, shown), due + 100);
        assert_eq!((paid.status(), paid.due_at()), (Status::Paid, None), "{status}");
        let still_none = asked.decide(looked(&asked, without_money()), &at(due + 100)).unwrap();
        let left = reported(still_none.next.unwrap(), due + 200);
        assert_eq!((left.status(), left.due_at()), (status, None), "and then no more");
        let read: Payment = serde_json::from_str(&serde_json::to_string(&told).unwrap()).unwrap();
        assert_eq!(read, told);
    }
}

#[test]
fn the_last_look_is_a_day_away_by_a_clock_that_was_set_back() {
    let told = told_of_no_money(Status::Pending);
    let hint = Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() };
    let hinted = after(&told, hint, DAY / 2);
    let asked = after(&hinted, Command::Wake, DAY / 2 + 5_000);
    let answer = looked(&asked, without_money());
    let long_ago = Context { now: Timestamp::from_millis(0), ..at(0) };
    let found = asked.decide(answer.clone(), &long_ago).unwrap().next.unwrap();
    assert_eq!(found.check.unwrap().at, Timestamp::from_millis(DAY.cast_signed()));
    assert_eq!(found.decide(answer, &long_ago).unwrap().next, None, "the same once more changes nothing");
}

#[test]
fn one_whose_money_is_shown_a_moment_later_is_paid() {
    let payment = that_shows_no_money();
    let due = payment.due_at().unwrap().ms_since(START);
    let asked = after(&payment, Command::Wake, due);
    let shown = stated(vec![pending_fact(), settled("e1", 10_000)]);
    let paid = after(&asked, looked(&asked, shown), due + 100);
    assert_eq!((paid.status(), paid.due_at()), (Status::Paid, None));
    assert_eq!(after(&paid, notice(Fact::Concluded), due + 200), paid);
    let by_notice = after(&payment, notice(settled("e1", 10_000)), 500);
    assert_eq!(by_notice.status(), Status::Paid);
}

#[test]
fn one_whose_money_may_lag_does_not_expire() {
    let over = 3_600_000 + 95_000;
    let pending = after(&pending(), Command::Wake, over);
    let found = after(&pending, looked(&pending, without_money()), over + 100);
    assert_eq!(found.status(), Status::Pending, "its time is over, and it was paid");
    assert_eq!(after(&found, notice(Fact::Expired), over + 1_000).status(), Status::Pending);
    assert!(found.due_at().is_some_and(|due| due < START.plus_ms(over + 5_000)));
    let read: Payment = serde_json::from_str(&serde_json::to_string(&found).unwrap()).unwrap();
    assert_eq!(read, found);
}

#[test]
fn money_under_a_key_that_is_not_ours_is_for_a_person_and_changes_nothing() {
    let foreign = || Fact::PaidToOthers { id: "e9".into() };
    let told = pending().decide(notice(foreign()), &at(5_000)).unwrap();
    let told: Vec<_> = told.discrepancies.iter().map(|one| (one.kind, one.about.clone())).collect();
    assert_eq!(told, [(DiscrepancyKind::ForeignCharge, Some("e9".into()))]);
    let asked = after(&pending(), Command::Wake, 60_010);
    let answer = stated(vec![pending_fact(), foreign(), Fact::Concluded]);
    let found = asked.decide(looked(&asked, answer), &at(60_100)).unwrap();
    let kinds: Vec<_> = found.discrepancies.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DiscrepancyKind::ForeignCharge, DiscrepancyKind::AmountMismatch]);
    assert_eq!(found.next.unwrap().status(), Status::Pending);
}

#[test]
fn one_that_concluded_with_the_right_money_is_paid() {
    let answer = stated(vec![pending_fact(), settled("e1", 9_000), settled("e2", 10_000), Fact::Concluded]);
    let decision = open(pix_order()).next.unwrap().decide(charge_answered(answer), &at(10)).unwrap();
    assert_eq!(decision.discrepancies.len(), 1);
    assert_eq!(decision.next.unwrap().status(), Status::Paid);
    let told = paid().decide(notice(Fact::Concluded), &at(9_000)).unwrap();
    assert!(told.next.is_none() && told.discrepancies.is_empty());
}

#[test]
fn a_person_ends_it() {
    let ended = after(&concluded(), Command::MismatchEnded, DAY);
    assert_eq!(ended.status(), Status::Cancelled);
    assert_eq!(ended.state.status_reason.as_deref(), Some(AMOUNT_MISMATCH));
    assert_eq!(ended.due_at(), None, "the acquirer takes no more money for it");
    for payment in [pending(), paid(), ended] {
        assert_eq!(payment.decide(Command::MismatchEnded, &at(DAY)).unwrap_err(), Refusal::NotStuck);
    }
}

#[test]
fn a_person_has_it_asked_for_once_more_and_what_came_late_pays_it() {
    let told = concluded();
    let asked = told.decide(Command::InquireNow, &at(DAY)).unwrap();
    assert_eq!(calls(&asked), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)]);
    let asked = asked.next.unwrap();
    let shown = stated(vec![pending_fact(), settled("e1", 10_000), Fact::Concluded]);
    let paid = after(&asked, looked(&asked, shown), DAY + 100);
    assert_eq!((paid.status(), paid.waits_for_a_person()), (Status::Paid, false));
}
