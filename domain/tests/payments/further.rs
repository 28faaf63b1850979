//! One further acquirer after a decline that need not be the last word.

use quita_domain::acquiring::DeclineKind;
use quita_domain::card::CardFingerprint;
use quita_domain::numbering::AttemptNumber;
use quita_domain::routing::{CardTries, TRIES_ARE_COUNTED_FOR_MS};

use super::super::*;

const FEW: CardTries = CardTries { in_a_day: 1, in_30_days: 1 };

/// A card payment that has just been opened, of a rule that goes further; its card is counted.
fn opened() -> Payment {
    let number = CardNumber::parse("4242424242424242").unwrap();
    let routed = Routed { retries_declines: true, ..Routed::default() };
    let opened = opened_card(true);
    Payment {
        routed: Arc::new(routed),
        considered: ["first", "second", "third"].map(|name| considered(name, true)).into(),
        card_fingerprint: Some(CardFingerprint::of(&number, Mode::Test, b"key")),
        ..opened
    }
}

fn considered(name: &str, eligible: bool) -> Considered {
    Considered { acquirer: AcquirerName::new(name), eligible, reason: "eligible".into() }
}

fn counted(ms: u64) -> Context {
    Context { card_at_hand: true, card_tries: Some(FEW), ..at(ms) }
}

fn reversible(code: &str) -> Decline {
    Decline::of_kind(code, DeclineKind::Reversible)
}

/// The last charge is answered so.
fn answered(payment: &Payment, answer: ChargeAnswer) -> Command {
    Command::ChargeAnswered { attempt: payment.query().attempt, answer }
}

fn declined(payment: &Payment, decline: Decline) -> Command {
    answered(payment, ChargeAnswer::known(Fact::Declined(decline)))
}

fn told(payment: &Payment, command: Command, context: &Context) -> Payment {
    payment.decide(command, context).unwrap().next.unwrap()
}

/// A payment whose further charge is under way.
fn tried_further() -> Payment {
    let payment = opened();
    told(&payment, declined(&payment, reversible("insufficient_funds")), &counted(100))
}

fn outcomes(payment: &Payment) -> Vec<(&str, Progress<ChargeEnd>)> {
    let attempts = payment.state.attempts.iter();
    attempts.map(|attempt| (attempt.acquirer.as_str(), attempt.call.progress)).collect()
}

/// The payment ended by what the issuer said.
#[track_caller]
fn check_declined(payment: &Payment, code: &str) {
    assert_eq!(payment.status(), Status::Declined);
    assert_eq!(payment.state.status_reason.as_deref(), Some(code));
    assert_eq!(payment.state.decline.as_ref().map(|decline| decline.code.as_str()), Some(code));
    assert_eq!(payment.history.last().unwrap().actor, Cause::Acquirer);
    assert_eq!(payment.history.len(), 1, "the merchant hears of it once");
}

#[test]
fn a_reversible_decline_goes_to_the_next_acquirer_in_one_write() {
    let payment = opened();
    let decision =
        payment.decide(declined(&payment, reversible("insufficient_funds")), &counted(100)).unwrap();
    assert_eq!(calls(&decision), [Effect::Charge(AcquirerName::new("second"))]);
    let next = decision.next.unwrap();
    assert_eq!(next.revision, payment.revision + 1);
    assert_eq!((next.status(), next.history.len()), (Status::Initial, 0));
    assert_eq!(
        outcomes(&next),
        [("first", Progress::Ended(ChargeEnd::Declined)), ("second", Progress::Sent)]
    );
    assert_eq!(next.state.attempts[0].decline, Some(reversible("insufficient_funds")));
    assert_eq!(next.state.attempts[0].call.next_at, None, "nobody is asked about it");
    assert!(next.due_at() <= Some(START.plus_ms(30_100)), "a crash now would be noticed");
    assert_eq!(next.state.version, payment.state.version + 1);
}

#[test]
fn what_the_further_acquirer_says_is_the_last_word() {
    let payment = tried_further();
    let paid = told(&payment, answered(&payment, ChargeAnswer::known(settled("s1", 10_000))), &counted(200));
    assert_eq!((paid.status(), paid.state.decline.as_ref()), (Status::Paid, None));
    for decline in [reversible("generic_decline"), Decline::of_kind("lost_card", DeclineKind::Irreversible)] {
        let code = decline.code.clone();
        let ended = told(&payment, declined(&payment, decline), &counted(200));
        check_declined(&ended, &code);
        assert_eq!(ended.state.attempts.len(), 2, "there is a third acquirer, and it is not tried");
    }
}

#[test]
fn a_further_acquirer_that_has_nothing_to_say_leaves_what_the_issuer_said() {
    let payment = tried_further();
    let failures = [
        ChargeAnswer::Refused("no contract".into()),
        ChargeAnswer::Failed(CallFailure::NotDelivered("no connection".into())),
        ChargeAnswer::Failed(CallFailure::Withheld),
        ChargeAnswer::NotFound,
    ];
    for failure in failures {
        let ended = told(&payment, answered(&payment, failure), &counted(200));
        check_declined(&ended, "insufficient_funds");
        assert_eq!(ended.state.attempts.len(), 2);
    }
}

#[test]
fn an_unclear_further_charge_is_asked_for_and_goes_nowhere_else() {
    let payment = tried_further();
    let unclear = ChargeAnswer::Failed(CallFailure::Unknown("time-out".into()));
    let unclear = told(&payment, answered(&payment, unclear), &counted(200));
    assert_eq!(outcomes(&unclear)[1], ("second", Progress::Unknown));
    let found = |payment: &Payment, answer, ms| {
        let command = Command::Inquired {
            attempt: AttemptNumber::new(2),
            asked_at: payment.inquired_at,
            inquiring: asking_for(ms),
            answer,
        };
        payment.decide(command, &counted(ms)).unwrap()
    };
    let ended = found(&unclear, ChargeAnswer::known(Fact::Declined(reversible("generic_decline"))), 2_000);
    check_declined(&ended.next.unwrap(), "generic_decline");
    let paid = found(&unclear, ChargeAnswer::known(settled("s1", 10_000)), 2_000).next.unwrap();
    assert_eq!(paid.status(), Status::Paid);
    let once = found(&unclear, ChargeAnswer::NotFound, 10_000).next.unwrap();
    let again = found(&once, ChargeAnswer::NotFound, 40_000);
    assert_eq!(calls(&again), [Effect::Charge(AcquirerName::new("second"))], "it never arrived there");
}

#[test]
fn a_card_that_is_gone_before_the_further_charge_arrived_leaves_what_the_issuer_said() {
    let payment = tried_further();
    let mut unclear = told(
        &payment,
        answered(&payment, ChargeAnswer::Failed(CallFailure::Unknown("time-out".into()))),
        &counted(200),
    );
    for ms in [10_000, 40_000] {
        let answer = ChargeAnswer::NotFound;
        let asked_at = unclear.inquired_at;
        let command =
            Command::Inquired { attempt: AttemptNumber::new(2), asked_at, inquiring: asking_for(ms), answer };
        unclear = told(&unclear, command, &at(ms));
    }
    check_declined(&unclear, "insufficient_funds");
}

#[test]
fn a_decline_that_an_inquiry_brings_goes_further_too() {
    let payment = opened();
    let unclear = ChargeAnswer::Failed(CallFailure::Unknown("time-out".into()));
    let unclear = told(&payment, answered(&payment, unclear), &counted(100));
    let command = Command::Inquired {
        attempt: AttemptNumber::FIRST,
        asked_at: None,
        inquiring: asking_for(1_000),
        answer: ChargeAnswer::known(Fact::Declined(reversible("insufficient_funds"))),
    };
    assert!(unclear.card_to_count(&command, true).is_some());
    let next = told(&unclear, command, &counted(1_100));
    assert_eq!(outcomes(&next)[1], ("second", Progress::Sent));
}

#[test]
fn a_decline_that_a_notice_brings_ends_the_payment() {
    let payment = opened();
    let notice = notice(Fact::Declined(reversible("insufficient_funds")));
    assert_eq!(payment.card_to_count(&notice, true), None);
    let ended = told(&payment, notice, &counted(100));
    check_declined(&ended, "insufficient_funds");
    let late = declined(&ended, reversible("insufficient_funds"));
    assert_eq!(ended.card_to_count(&late, true), None);
    assert_eq!(calls(&ended.decide(late, &counted(200)).unwrap()), []);
}

/// The decline of the first charge ends the payment, and nobody has to be counted for that.
#[track_caller]
fn check_ends(payment: &Payment, command: Command, context: &Context, why: &str) {
    let ended = told(payment, command.clone(), context);
    assert_eq!((ended.status(), ended.state.attempts.len()), (Status::Declined, 1), "{why}");
    assert!(ended.state.attempts[0].decline.is_none(), "{why}: it is the payment's own");
}

#[test]
fn whatever_bars_a_further_try_ends_the_payment_uncounted() {
    let payment = opened();
    let decline = || declined(&payment, reversible("insufficient_funds"));
    let with = |change: fn(&mut Payment)| {
        let mut other = payment.clone();
        change(&mut other);
        other
    };
    let plain = with(|payment| payment.routed = Arc::default());
    let alone = with(|payment| payment.considered = [considered("first", true)].into());
    let barred = with(|payment| {
        payment.considered = [considered("first", true), considered("second", false)].into();
    });
    for (other, why) in [
        (&plain, "the rule does not go further"),
        (&alone, "there is nobody else"),
        (&barred, "the other one is not eligible"),
    ] {
        assert_eq!(other.card_to_count(&decline(), true), None, "{why}");
        check_ends(other, decline(), &counted(100), why);
    }
    let kinds = [Decline::of_kind("lost_card", DeclineKind::Irreversible), Decline::of("generic_decline")];
    for decline in kinds {
        let command = declined(&payment, decline);
        assert_eq!(payment.card_to_count(&command, true), None);
        check_ends(&payment, command, &counted(100), "another try can't succeed");
    }
    let gone = Context { card_at_hand: false, ..counted(100) };
    assert_eq!(payment.card_to_count(&decline(), false), None);
    check_ends(&payment, decline(), &gone, "the card is gone");
}

#[test]
fn a_card_that_was_not_counted_or_was_tried_too_often_goes_no_further() {
    let payment = opened();
    let decline = || declined(&payment, reversible("insufficient_funds"));
    assert_eq!(payment.card_to_count(&decline(), true), payment.card_fingerprint.as_ref());
    let tries = |card_tries| Context { card_tries, ..counted(100) };
    check_ends(&payment, decline(), &tries(None), "nobody counted");
    let limit = CardTries { in_a_day: 15, in_30_days: 15 };
    check_ends(&payment, decline(), &tries(Some(limit)), "Visa's limit");
    let last = CardTries { in_a_day: 14, in_30_days: 14 };
    assert_eq!(told(&payment, decline(), &tries(Some(last))).state.attempts.len(), 2);
}

#[test]
fn a_decline_beside_anything_else_goes_no_further() {
    let payment = opened();
    for other in [authorised(), settled("s1", 10_000), Fact::Cancelled] {
        let facts = vec![Fact::Declined(reversible("insufficient_funds")), other];
        let answer = ChargeAnswer::Known(Statement { facts, reference: Reference::none() });
        let command = answered(&payment, answer);
        assert_eq!(payment.card_to_count(&command, true), None);
        let calls = calls(&payment.decide(command, &counted(100)).unwrap());
        assert!(!calls.iter().any(|call| matches!(call, Effect::Charge(_))), "{calls:?}");
    }
}

#[test]
fn what_the_first_acquirer_says_later_does_not_end_the_further_charge() {
    let payment = tried_further();
    let repeated = Command::ChargeAnswered {
        attempt: AttemptNumber::FIRST,
        answer: ChargeAnswer::known(Fact::Declined(reversible("insufficient_funds"))),
    };
    assert!(payment.decide(repeated, &counted(200)).unwrap().next.is_none());
    let told_again = notice_of("first", Fact::Declined(reversible("insufficient_funds")));
    assert!(payment.decide(told_again, &counted(200)).unwrap().next.is_none());
    let approved = payment.decide(notice_of("first", authorised()), &counted(200)).unwrap();
    let kinds: Vec<_> = approved.discrepancies.iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [DiscrepancyKind::Contradiction], "the payer may be charged twice");
}

#[test]
fn the_card_is_forgotten_when_its_tries_count_no_more() {
    let payment = tried_further();
    let paid = told(&payment, answered(&payment, ChargeAnswer::known(settled("s1", 10_000))), &counted(200));
    let over = START.plus_ms(TRIES_ARE_COUNTED_FOR_MS);
    assert_eq!(paid.due_at(), Some(over));
    assert!(
        paid.decide(Command::Wake, &at(TRIES_ARE_COUNTED_FOR_MS - 1))
            .unwrap()
            .next
            .is_none_or(|woken| woken.card_fingerprint.is_some())
    );
    let woken = told(&paid, Command::Wake, &at(TRIES_ARE_COUNTED_FOR_MS));
    assert_eq!((woken.card_fingerprint.as_ref(), woken.due_at()), (None, None));
    assert_eq!((&woken.state, &woken.history), (&paid.state, &paid.history), "nobody sees anything of it");
}
