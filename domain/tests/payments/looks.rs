//! Looks at charges that were paid long ago: what nobody told of is found by them.

use crate::payments::time::DAY;
use crate::*;

fn looking(ms: u64) -> Context {
    Context { looks_at_paid: true, ..at(ms) }
}

fn then(payment: &Payment, command: Command, ms: u64) -> Payment {
    reported(payment.decide(command, &looking(ms)).unwrap().next.unwrap_or_else(|| payment.clone()), ms)
}

/// Paid after two seconds, at an acquirer that is to be asked about that later.
fn paid_there() -> Payment {
    then(&pending(), notice(settled("s1", 10_000)), 2_000)
}

fn answered(payment: &Payment, answer: ChargeAnswer, ms: u64) -> Payment {
    let asked_at = payment.inquired_at;
    let inquiring = None;
    then(payment, Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring, answer }, ms)
}

fn known(facts: Vec<Fact>) -> ChargeAnswer {
    ChargeAnswer::Known(Statement { facts, reference: Reference::none() })
}

/// The next look, asked and not answered, and when it was.
fn looked(payment: &Payment) -> (Payment, u64) {
    let ms = payment.due_at().unwrap().ms_since(START);
    let woken = payment.decide(Command::Wake, &looking(ms)).unwrap();
    assert_eq!(calls(&woken), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)]);
    (woken.next.unwrap(), ms)
}

#[test]
fn a_paid_charge_is_looked_at_after_30_60_120_and_180_days() {
    let mut payment = paid_there();
    let mut days = Vec::new();
    while payment.due_at().is_some() {
        let (asked, ms) = looked(&payment);
        days.push(ms / DAY);
        payment = answered(&asked, known(vec![settled("s1", 10_000)]), ms + 500);
        assert_eq!(payment.status(), Status::Paid);
        assert!(days.len() < 9, "{days:?}");
    }
    assert_eq!(days, [30, 60, 120, 180]);
    assert_eq!(payment.state.version, paid_there().state.version, "nothing that a merchant sees");
}

#[test]
fn a_look_that_is_not_answered_is_made_again_within_hours() {
    let (asked, ms) = looked(&paid_there());
    let failed = ChargeAnswer::Failed(CallFailure::Unknown("away".into()));
    let mut payment = answered(&asked, failed.clone(), ms + 500);
    for _ in 0..20 {
        let (asked, again_ms) = looked(&payment);
        assert!(again_ms < ms + 20 * 2 * 3_600_000, "{again_ms}");
        payment = answered(&asked, failed.clone(), again_ms + 500);
    }
    let (asked, ms) = looked(&payment);
    let answered = answered(&asked, known(vec![settled("s1", 10_000)]), ms + 500);
    assert_eq!(answered.due_at().unwrap().ms_since(START) / DAY, 60);
}

#[test]
fn a_chargeback_that_nobody_told_of_is_found_and_so_is_another_one_later() {
    let back = |id: &str| Fact::ChargedBack { id: id.into(), amount: Some(Money::from_cents(1_000)) };
    let (asked, ms) = looked(&paid_there());
    let disputed = answered(&asked, known(vec![settled("s1", 10_000), back("c1")]), ms + 500);
    assert_eq!(disputed.status(), Status::Chargeback);
    let (asked, ms) = looked(&disputed);
    assert_eq!(ms / DAY, 60);
    let facts = vec![settled("s1", 10_000), back("c1"), back("c2")];
    assert_eq!(answered(&asked, known(facts), ms + 500).chargebacks.len(), 2);
}

#[test]
fn a_hint_in_between_leaves_the_looks_as_they_were() {
    let paid = paid_there();
    let hinted =
        then(&paid, Command::Hinted { acquirer: AcquirerName::new("first"), charge: Reference::none() }, DAY);
    let (asked, ms) = looked(&hinted);
    assert_eq!(ms, DAY);
    let answered = answered(&asked, known(vec![settled("s1", 10_000)]), ms + 500);
    assert_eq!(answered.due_at(), paid.due_at());
}

#[test]
fn where_lists_tell_of_it_and_after_all_went_back_nothing_is_looked_at() {
    assert_eq!(paid().due_at(), None);
    let (asked, ms) = looked(&paid_there());
    let all = Fact::Refunded { refund_id: "r1".into(), amount: None };
    let refunded = answered(&asked, known(vec![settled("s1", 10_000), all]), ms + 500);
    assert_eq!((refunded.status(), refunded.due_at()), (Status::Refund, None));
}

#[test]
fn an_acquirer_that_shows_the_charge_no_more_is_no_contradiction() {
    let (asked, ms) = looked(&paid_there());
    let asked_at = asked.inquired_at;
    let inquiring = None;
    let answer = Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at,
        inquiring,
        answer: ChargeAnswer::NotFound,
    };
    let found = asked.decide(answer, &looking(ms + 500)).unwrap();
    assert!(found.discrepancies.is_empty());
    assert_eq!(found.next.unwrap().due_at().unwrap().ms_since(START) / DAY, 60);
}

#[test]
fn the_same_answer_once_more_is_not_one_more_look() {
    let (asked, ms) = looked(&paid_there());
    let seen = known(vec![settled("s1", 10_000)]);
    let answered = answered(&asked, seen.clone(), ms + 500);
    let asked_at = asked.inquired_at;
    let inquiring = None;
    let again = Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring, answer: seen };
    assert_eq!(answered.decide(again, &looking(ms + 500)).unwrap().next, None);
}

#[test]
fn the_first_look_is_30_days_away_by_a_clock_that_was_set_back() {
    let long_ago = Context { now: Timestamp::from_millis(0), ..looking(0) };
    let settled = notice(settled("s1", 10_000));
    let paid = pending().decide(settled.clone(), &long_ago).unwrap().next.unwrap();
    assert_eq!(paid.check.unwrap().at.millis() / DAY.cast_signed(), 30);
    assert_eq!(
        paid.decide(settled, &long_ago).unwrap().next,
        None,
        "a notice that is repeated changes nothing"
    );
}

fn costing(payment: &Payment, command: Command, ms: u64) -> Payment {
    let context = Context { states_cost: true, ..at(ms) };
    reported(payment.decide(command, &context).unwrap().next.unwrap_or_else(|| payment.clone()), ms)
}

#[test]
fn what_a_payment_cost_is_asked_for_after_a_minute_and_after_ten() {
    let mut payment = costing(&pending(), notice(settled("s1", 10_000)), 2_000);
    let cost = |cents| Fact::Cost { amount: Money::from_cents(cents) };
    let mut minutes = Vec::new();
    let mut versions = Vec::new();
    for cents in [249, 299] {
        let ms = payment.due_at().unwrap().ms_since(START);
        minutes.push((ms - 2_000) / 60_000);
        let asked = costing(&payment, Command::Wake, ms);
        let asked_at = asked.inquired_at;
        let inquiring = None;
        let answer = known(vec![settled("s1", 10_000), cost(cents)]);
        let events = asked.history.len();
        payment = costing(
            &asked,
            Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring, answer },
            ms + 100,
        );
        assert_eq!((payment.state.cost, payment.history.len()), (Some(Money::from_cents(cents)), events));
        versions.push(payment.state.version);
    }
    assert_eq!((minutes, payment.due_at()), (vec![1, 10], None));
    assert_eq!(versions[1], versions[0] + 1, "each change is a version");
    let same = costing(&payment, notice(cost(299)), 700_000);
    assert_eq!(same.state.version, versions[1]);
    let event = payment.history.last().unwrap();
    assert_eq!(payment.as_of(event).cost, None, "an event stays as it was");
}

#[test]
fn what_was_never_paid_cost_nothing() {
    let stated = costing(&pending(), notice(Fact::Cost { amount: Money::from_cents(1) }), 50);
    assert_eq!(stated.state.cost, None);
}
