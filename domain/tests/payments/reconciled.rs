//! Lines of lists and files, held against payments: every verdict, and what a list should have had.

use chrono::{Datelike, NaiveDate};
use quita_domain::boleto::business_day;
use quita_domain::money::SignedMoney;
use quita_domain::reconciliation::{
    ChargeLine, Difference, DifferingField, Judged, LineFinding, LineKind, LineSubject, LineVerdict,
    MARGIN_MS, Movement, RECONCILIATION_KINDS, ReconciliationKind, Source, StatementLine, StoredLine,
    expected_boleto, expected_charge, expected_pix, expected_refunds, judge, settled_before,
};
use quita_domain::state::RefundStatus;
use quita_domain::time::DAY_MS;

use crate::payments::time::DAY;
use crate::*;

/// A transfer of the day on which these payments begin.
const E2E: &str = "E00000000202611211200abcdefghijk";

fn bank() -> AcquirerName {
    AcquirerName::new("first")
}

fn today() -> NaiveDate {
    START.sao_paulo_date()
}

/// Paid by this transfer.
fn paid_by(end_to_end_id: &str) -> Payment {
    let fact = Fact::Settled(Settlement {
        id: end_to_end_id.into(),
        amount: Money::from_cents(10_000),
        paid_on: None,
        end_to_end_id: Some(end_to_end_id.into()),
        approval: None,
    });
    after(&pending(), notice(fact), 2_000)
}

fn line(kind: LineKind, subject: LineSubject, cents: u64) -> StatementLine {
    StatementLine {
        id: "line".into(),
        source: Source::list_of(&bank()),
        day: today(),
        kind,
        reference: Some("reference".into()),
        subject,
        gross: Money::from_cents(cents),
        fee: None,
        net: None,
        on: today(),
        place: "page 0".into(),
        other_key: None,
    }
}

fn pix(end_to_end_id: &str, cents: u64) -> StatementLine {
    let transaction_id = Some(pending().id);
    line(LineKind::Pix, LineSubject::Pix { transaction_id, end_to_end_id: end_to_end_id.into() }, cents)
}

fn returned(refund_id: &str, is_chargeback: bool, cents: u64) -> StatementLine {
    let end_to_end_id = E2E.into();
    let refund_id = refund_id.into();
    let subject =
        LineSubject::Refund { transaction_id: Some(pending().id), end_to_end_id, refund_id, is_chargeback };
    line(LineKind::Refund, subject, cents)
}

fn boleto(kind: LineKind, cents: u64, interest: u64) -> StatementLine {
    let interest = Money::from_cents(interest);
    let our_number = Some("12".into());
    let subject = LineSubject::Boleto {
        bank: "341".into(),
        our_number,
        document_number: None,
        interest,
        credited_on: None,
    };
    line(kind, subject, cents)
}

#[track_caller]
fn check(line: &StatementLine, payment: &Payment, expected: Option<(DifferingField, &str, &str)>) {
    let found = judge(line, Some(payment), SignedMoney::default());
    let difference = found.difference().map(|found| (found.field, found.here.as_str(), found.there.as_str()));
    assert_eq!(difference, expected, "{found:?}");
    assert_eq!(found.verdict() == LineVerdict::Matched, expected.is_none());
}

#[test]
fn a_pix_matches_the_payment_that_it_paid_and_nothing_else() {
    check(&pix(E2E, 10_000), &paid_by(E2E), None);
    check(&pix(E2E, 9_999), &paid_by(E2E), Some((DifferingField::Gross, "100.00", "99.99")));
    check(&pix("E2", 10_000), &paid_by(E2E), Some((DifferingField::Reference, E2E, "E2")));
    check(&pix(E2E, 10_000), &pending(), Some((DifferingField::Status, "pending", "paid")));
    let expired = after(&pending(), notice(Fact::Expired), 2 * DAY);
    check(&pix(E2E, 10_000), &expired, Some((DifferingField::Status, "expired", "paid")));
    let returned = after(&paid_by(E2E), notice(charged_back("c1")), 3_000);
    check(&pix(E2E, 10_000), &returned, None);
    assert_eq!(judge(&pix(E2E, 10_000), None, SignedMoney::default()), LineFinding::UnknownHere);
}

#[test]
fn a_refund_matches_what_the_payment_knows_to_have_gone_back() {
    let refunded = |id: &str| Fact::Refunded { refund_id: id.into(), amount: Some(Money::from_cents(400)) };
    let paid = after(&paid_by(E2E), notice(refunded("r1")), 3_000);
    check(&returned("r1", false, 400), &paid, None);
    check(&returned("r1", false, 401), &paid, Some((DifferingField::Gross, "4.00", "4.01")));
    check(&returned("r2", false, 400), &paid, Some((DifferingField::Status, "nothing", "succeeded")));
    let asked = after(&paid, requested(refund(100), None, 5), 3_500);
    let id = operation_id(5).to_string();
    check(&returned(&id, false, 100), &asked, Some((DifferingField::Status, "processing", "succeeded")));
    check(&returned("c1", true, 10_000), &paid, Some((DifferingField::Status, "nothing", "chargeback")));
    let disputed = after(&paid, notice(charged_back("c1")), 4_000);
    check(&returned("c1", true, 10_000), &disputed, None);
    // It went back of another Pix, which has a line of its own.
    check(&returned("r9", false, 1), &paid_by("E9"), None);
}

#[test]
fn a_boletos_line_matches_what_became_of_the_payment() {
    let pending = pending();
    let paid = paid();
    let expired = after(&pending, notice(Fact::Expired), 2 * DAY);
    for (kind, payment, expected) in [
        (LineKind::Registered, &pending, None),
        (LineKind::Registered, &expired, None),
        (LineKind::Fee, &paid, None),
        (LineKind::Other, &pending, None),
        (LineKind::Settled, &paid, None),
        (LineKind::Settled, &pending, Some((DifferingField::Status, "pending", "paid"))),
        (LineKind::Boleto, &paid, None),
        (LineKind::Boleto, &pending, Some((DifferingField::Status, "pending", "paid"))),
        (LineKind::WrittenOff, &expired, None),
        (LineKind::WrittenOff, &pending, Some((DifferingField::Status, "pending", "written_off"))),
        (LineKind::WrittenOff, &paid, Some((DifferingField::Status, "paid", "written_off"))),
        (LineKind::Rejected, &expired, None),
        (LineKind::Rejected, &paid, None),
        (LineKind::Rejected, &pending, Some((DifferingField::Status, "pending", "rejected"))),
    ] {
        check(&boleto(kind, 10_000, 0), payment, expected);
    }
    // With interest and fine, or without: what came in for the payment is the same.
    for (received, interest, matches) in
        [(10_200, 200, true), (10_000, 200, true), (9_800, 200, true), (10_100, 200, false)]
    {
        let finding =
            judge(&boleto(LineKind::Settled, received, interest), Some(&paid), SignedMoney::default());
        assert_eq!(finding == LineFinding::Matched, matches, "{received}");
    }
}

/// A settlement of a boleto in a file that was imported at this time, found to agree with its payment.
fn settlement(id: &str, on: u32, cents: u64, imported_ms: u64) -> StoredLine {
    let line = boleto(LineKind::Settled, cents, 0);
    let on = line.on.with_day(on).unwrap();
    let transaction_id = Some(paid().id);
    let acquirer = None;
    let judged = Judged { finding: LineFinding::Matched, transaction_id, acquirer, is_final: true };
    let line = StatementLine { id: format!("cnab 341:ours:12:{id}"), on, ..line };
    StoredLine { line, imported_at: START.plus_ms(imported_ms), judged: Some(judged) }
}

#[test]
fn a_boleto_that_files_settle_twice_was_paid_twice() {
    let first = settlement("b:1", 20, 10_000, 0);
    for (second, is_paid_twice) in [
        (settlement("a:1", 21, 10_000, 1), true),
        (settlement("c:1", 20, 10_200, 1), true),
        // Twice in one file, imported at the same moment.
        (settlement("b:2", 20, 10_000, 0), true),
        // Reported again, with another date of credit.
        (settlement("c:1", 20, 10_000, 1), false),
        (first.clone(), false),
    ] {
        let both = [second.clone(), first.clone()];
        assert_eq!(settled_before(&first, &both), None, "the first one counts, whatever comes later");
        let found = settled_before(&second, &both);
        assert_eq!(found.is_some(), is_paid_twice, "{second:?}");
        if let Some(difference) = found.as_ref().and_then(LineFinding::difference) {
            assert_eq!(
                (difference.field, difference.here.as_str()),
                (DifferingField::Reference, "settled on 2026-11-20")
            );
            assert!(difference.there.starts_with("settled again on 2026-11-2"), "{difference:?}");
        }
    }
    let mut other = settlement("a:1", 19, 10_000, 0);
    other.judged = other.judged.map(|judged| Judged { transaction_id: None, ..judged });
    let second = settlement("c:1", 21, 10_000, 1);
    assert_eq!(settled_before(&second, &[other]), None, "another payment's");
    let registered = StatementLine { kind: LineKind::Registered, ..first.line.clone() };
    assert_eq!(settled_before(&second, &[StoredLine { line: registered, ..first }]), None);
}

#[test]
fn what_a_bank_charges_for_nothing_in_particular_is_nobodys() {
    let mut fee = boleto(LineKind::Fee, 0, 0);
    assert_eq!(judge(&fee, None, SignedMoney::default()), LineFinding::UnknownHere, "it names a boleto");
    fee.subject = LineSubject::Boleto {
        bank: "341".into(),
        our_number: None,
        document_number: None,
        interest: Money::ZERO,
        credited_on: None,
    };
    assert_eq!(judge(&fee, None, SignedMoney::default()), LineFinding::Matched);
    assert_eq!(
        judge(&StatementLine { kind: LineKind::Settled, ..fee }, None, SignedMoney::default()),
        LineFinding::UnknownHere
    );
}

/// A boleto with the number 12 that was paid on this day.
fn paid_boleto(day: &str) -> Payment {
    let mut paid = crate::payments::boletos::paid_on(day, 10_233);
    let state = Arc::make_mut(&mut paid.state);
    state.attempts.last_mut().unwrap().reference = Reference::none().with(Reference::OUR_NUMBER, "12");
    paid
}

#[test]
fn a_list_should_have_each_boleto_that_was_paid_an_hour_before() {
    let paid = paid_boleto("2026-11-24");
    let day = "2026-11-24".parse().unwrap();
    let learnt_at = paid.state.paid_at.unwrap();
    let later = learnt_at.plus_ms(60 * 60_000);
    let first = bank();
    let second = AcquirerName::new("second");
    let expected = expected_boleto(&paid, &first, day, later).unwrap();
    assert_eq!((expected.kind, expected.gross.cents(), expected.on), (LineKind::Boleto, 10_233, day));
    assert_eq!(expected.id, "first:ours:12:not listed");
    assert!(expected.is_expected());
    assert_eq!(
        judge(&expected, Some(&paid), SignedMoney::default()),
        LineFinding::Matched,
        "once it is listed"
    );
    let learnt_on = learnt_at.sao_paulo_date();
    assert_ne!(learnt_on, day);
    for (payment, acquirer, day, read_at) in [
        (&paid, &second, day, later),
        (&paid, &first, learnt_on, later),
        (&paid, &first, day, later.minus_ms(1)),
        (&paid_by(E2E), &first, today(), later),
    ] {
        assert_eq!(expected_boleto(payment, acquirer, day, read_at), None, "{day} {read_at}");
    }
    let dated_later = paid_boleto("2027-01-04");
    let expected = expected_boleto(&dated_later, &first, learnt_on, later).unwrap();
    assert_eq!(expected.on, learnt_on, "the day on which it is known");
}

#[test]
fn a_boleto_that_was_paid_on_a_weekend_should_be_in_the_list_of_the_business_day_after_it() {
    // Saturday, Sunday, and a Friday that is a holiday.
    for (paid_on, listed_on) in
        [("2026-11-21", "2026-11-23"), ("2026-11-22", "2026-11-23"), ("2026-11-20", "2026-11-23")]
    {
        let paid = paid_boleto(paid_on);
        let later = paid.state.paid_at.unwrap().plus_ms(60 * 60_000);
        let (paid_on, listed_on): (NaiveDate, NaiveDate) =
            (paid_on.parse().unwrap(), listed_on.parse().unwrap());
        assert_eq!(expected_boleto(&paid, &bank(), paid_on, later), None, "{paid_on}");
        let expected = expected_boleto(&paid, &bank(), listed_on, later).unwrap();
        assert_eq!(expected.on, listed_on);
        assert!(business_day::first_rolled_to(listed_on) <= paid_on, "{paid_on}");
    }
    let tuesday = "2026-11-24".parse().unwrap();
    assert_eq!(business_day::first_rolled_to(tuesday), tuesday);
}

#[test]
fn a_line_that_no_list_had_settles_no_boleto() {
    let paid = paid_boleto("2026-11-24");
    let later = paid.state.paid_at.unwrap().plus_ms(DAY_MS);
    let missed = expected_boleto(&paid, &bank(), "2026-11-24".parse().unwrap(), later).unwrap();
    let listed = StatementLine {
        id: "first:ours:12:2026-11-25-10233:4.1".into(),
        on: "2026-11-25".parse().unwrap(),
        place: "movements 1".into(),
        ..missed.clone()
    };
    let stored = |line: StatementLine, at: u64| StoredLine {
        line,
        imported_at: later.plus_ms(at),
        judged: Some(Judged {
            finding: LineFinding::Matched,
            transaction_id: Some(paid.id),
            acquirer: Some(bank()),
            is_final: true,
        }),
    };
    let missed = stored(missed, 0);
    let listed = stored(listed, 1);
    assert_eq!(settled_before(&listed, [&missed]), None, "the line that came counts");
    assert_eq!(settled_before(&missed, [&listed]), None);
}

#[test]
fn a_list_should_have_what_was_paid_on_its_day_a_while_ago() {
    let paid = paid_by(E2E);
    let later = START.plus_ms(DAY_MS);
    let expected = expected_pix(&paid, &bank(), today(), later).unwrap();
    assert_eq!((expected.gross.cents(), expected.named_payment()), (10_000, Some(paid.id)));
    assert_eq!(expected.id, StatementLine::pix_id(&Source::list_of(&bank()), E2E));
    assert!(expected.is_expected() && !expected.says_the_same(&pix(E2E, 10_000)));
    let tomorrow = today().succ_opt().unwrap();
    for (payment, acquirer, day, read_at) in [
        (&paid, &AcquirerName::new("second"), today(), later),
        (&paid, &bank(), tomorrow, later),
        (&paid, &bank(), today(), START.plus_ms(MARGIN_MS)),
        (&pending(), &bank(), today(), later),
        (&crate::paid(), &bank(), today(), later),
    ] {
        assert_eq!(expected_pix(payment, acquirer, day, read_at), None, "{day} {read_at}");
    }
    // Learnt days later, it is missed in the list of the day that its name tells.
    let late = "E00000000202611192359abcdefghijk";
    let day = "2026-11-19".parse().unwrap();
    assert!(expected_pix(&paid_by(late), &bank(), day, later).is_some());
    assert!(expected_pix(&paid_by(late), &bank(), today(), later).is_none());
}

#[test]
fn a_pix_should_be_followed_by_what_went_back_of_it() {
    let fact = Fact::Refunded { refund_id: "r1".into(), amount: Some(Money::from_cents(400)) };
    let refunded = after(&paid_by(E2E), notice(fact), 3_000);
    let asked = after(&refunded, requested(refund(100), None, 5), 3_500);
    assert_eq!(asked.state.refunds[1].status, RefundStatus::Processing);
    let later = START.plus_ms(DAY_MS);
    let expected = expected_refunds(&pix(E2E, 10_000), &asked, later);
    let told: Vec<_> = expected.iter().map(|line| (line.reference.as_deref(), line.gross.cents())).collect();
    assert_eq!(told, [(Some("r1"), 400)], "only what has gone back for certain");
    assert_eq!(expected_refunds(&pix("E2", 10_000), &asked, later), []);
    assert_eq!(expected_refunds(&pix(E2E, 10_000), &asked, START.plus_ms(MARGIN_MS)), []);
}

#[test]
fn what_differs_is_an_exception_once_everybody_was_asked() {
    let kinds = [
        (judge(&pix(E2E, 10_000), Some(&pending()), SignedMoney::default()), Some("status_differs")),
        (judge(&pix(E2E, 1), Some(&paid_by(E2E)), SignedMoney::default()), Some("amount_differs")),
        (judge(&pix("E2", 1), Some(&paid_by(E2E)), SignedMoney::default()), Some("movement_differs")),
        (LineFinding::MissingThere, Some("missing_there")),
        (LineFinding::UnknownHere, Some("unknown_here")),
        (LineFinding::Matched, None),
    ];
    for (finding, kind) in kinds {
        let judged = quita_domain::reconciliation::Judged {
            finding,
            transaction_id: None,
            acquirer: Some(bank()),
            is_final: false,
        };
        let stored = StoredLine { line: pix(E2E, 10_000), imported_at: START, judged: Some(judged.clone()) };
        assert_eq!(stored.exception(START), None, "somebody may still be asked");
        let judged = Some(quita_domain::reconciliation::Judged { is_final: true, ..judged });
        let exception = StoredLine { judged, ..stored }.exception(START);
        assert_eq!(exception.as_ref().map(|exception| exception.kind.as_str()), kind);
        assert!(exception.is_none_or(|exception| exception.id.starts_with("reconciliation:line:")));
    }
    for kind in RECONCILIATION_KINDS {
        assert_eq!(ReconciliationKind::parse(kind.as_str()), Some(kind));
        assert!(!kind.advice().is_empty());
    }
    for verdict in LineVerdict::ALL {
        assert_eq!(LineVerdict::parse(verdict.as_str()), Some(verdict));
    }
}

#[test]
fn a_line_that_differs_in_another_way_has_another_exception_and_as_before_the_same() {
    let told = |gross: u64, difference: Option<(DifferingField, &str, &str)>| {
        let finding = match difference {
            Some((field, here, there)) => {
                LineFinding::Different(Difference { field, here: here.into(), there: there.into() })
            }
            None => LineFinding::UnknownHere,
        };
        let judged = quita_domain::reconciliation::Judged {
            finding,
            transaction_id: None,
            acquirer: Some(bank()),
            is_final: true,
        };
        StoredLine { line: pix(E2E, gross), imported_at: START, judged: Some(judged) }
            .exception(START)
            .unwrap()
            .id
    };
    let first = told(10_001, Some((DifferingField::Gross, "100.00", "100.01")));
    assert_eq!(first, told(10_001, Some((DifferingField::Gross, "100.00", "100.01"))));
    let others = [
        told(77_700, Some((DifferingField::Gross, "100.00", "777.00"))),
        told(10_001, Some((DifferingField::Status, "pending", "paid"))),
        told(10_001, None),
        told(10_002, None),
    ];
    for (place, id) in others.iter().enumerate() {
        assert!(*id != first && !others[..place].contains(id), "{id}");
    }
}

#[test]
fn a_notice_that_states_nothing_has_the_acquirer_asked_as_a_hint_does() {
    for payment in [pending(), paid(), open(pix_order()).next.unwrap()] {
        let by_notice = payment.decide(notice(Fact::Hint), &at(5_000)).unwrap();
        let by_hint = payment
            .decide(Command::Hinted { acquirer: bank(), charge: Reference::none() }, &at(5_000))
            .unwrap();
        assert_eq!(by_notice.next, by_hint.next);
        assert!(by_notice.discrepancies.is_empty());
    }
    let before = pending();
    let hinted = after(&before, notice(Fact::Hint), 5_000);
    assert!(!hinted.was_answered_since(before.inquired_at), "nobody was asked");
    let asked = hinted.decide(Command::Wake, &at(5_000)).unwrap().next.unwrap();
    assert!(!asked.was_answered_since(before.inquired_at), "it has not answered");
    let answer = ChargeAnswer::known(pending_fact());
    let asked_at = asked.inquired_at;
    let answered = after(
        &asked,
        Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring: None, answer },
        5_100,
    );
    assert!(answered.was_answered_since(before.inquired_at));
    assert!(!answered.was_answered_since(answered.inquired_at));
}

#[test]
fn what_is_asked_beside_a_refund_of_ours_is_answered_when_that_has_ended() {
    let refunding = after(&paid(), requested(refund(1_000), None, 1), 10_000);
    let hinted = after(&refunding, notice(Fact::Hint), 12_000);
    let asked = hinted.decide(Command::Wake, &at(12_000)).unwrap().next.unwrap();
    assert_ne!(asked.inquired_at, refunding.inquired_at);
    let asked_at = asked.inquired_at;
    let answer = ChargeAnswer::known(settled("s1", 10_000));
    let answered = after(
        &asked,
        Command::Inquired { attempt: AttemptNumber::FIRST, asked_at, inquiring: None, answer },
        12_100,
    );
    assert!(!answered.was_answered_since(refunding.inquired_at), "a refund by others may be too early");
    let ended = after(&answered, operated(operation_id(1), OperationAnswer::Done), 13_000);
    assert!(ended.was_answered_since(refunding.inquired_at));
}

const CHARGE: &str = "ch_1";

fn charge_named(name: &str) -> Reference {
    Reference::none().with("chargeId", name)
}

/// A card of 100.00 that was charged as `ch_1`, and what else its acquirer stated of it.
fn charged(facts: Vec<Fact>) -> Payment {
    let statement = |facts| {
        let answer = ChargeAnswer::Known(Statement { facts, reference: charge_named(CHARGE) });
        Command::ChargeAnswered { attempt: AttemptNumber::FIRST, answer }
    };
    let settlement = Settlement {
        id: CHARGE.into(),
        amount: Money::from_cents(10_000),
        paid_on: None,
        end_to_end_id: None,
        approval: Some(Approval { authorization_code: "123456".into() }),
    };
    let paid = after(&opened_card(true), statement(vec![Fact::Settled(settlement)]), 10);
    facts.into_iter().fold(paid, |payment, fact| after(&payment, notice(fact), 20))
}

fn movement(movement: Movement, charge: &str, cents: u64) -> StatementLine {
    let is_taken = matches!(movement, Movement::Refund | Movement::Chargeback);
    let subject = ChargeLine {
        transaction_id: Some(pending().id),
        charge: charge_named(charge),
        movement,
        is_taken,
        is_own: true,
        instalment: Some(1),
        paid_out_on: None,
        expected_on: None,
    };
    line(movement.kind(), LineSubject::Charge(Box::new(subject)), cents)
}

/// Compares a line whose charge has so much in all.
#[track_caller]
fn check_sum(
    line: &StatementLine,
    sum: i64,
    payment: &Payment,
    expected: Option<(DifferingField, &str, &str)>,
) {
    let found = judge(line, Some(payment), SignedMoney::from_cents(sum));
    let difference = found.difference().map(|found| (found.field, found.here.as_str(), found.there.as_str()));
    assert_eq!(difference, expected, "{found:?}");
}

#[test]
fn a_receivable_is_compared_with_all_receivables_of_its_charge() {
    let instalment = movement(Movement::Credit, CHARGE, 3_334);
    check_sum(&instalment, 10_000, &charged(vec![]), None);
    check_sum(&instalment, 9_999, &charged(vec![]), Some((DifferingField::Gross, "100.00", "99.99")));
    check_sum(&instalment, 10_000, &opened_card(true), Some((DifferingField::Reference, "nothing", CHARGE)));
    let other = movement(Movement::Credit, "ch_2", 10_000);
    check_sum(&other, 10_000, &charged(vec![]), Some((DifferingField::Reference, CHARGE, "ch_2")));
    assert_eq!(judge(&other, None, SignedMoney::default()), LineFinding::UnknownHere);
}

#[test]
fn what_goes_back_of_a_charge_is_compared_in_total() {
    let refunded = |cents| Fact::Refunded { refund_id: "r1".into(), amount: Some(Money::from_cents(cents)) };
    let refund = movement(Movement::Refund, CHARGE, 100);
    check_sum(&refund, -400, &charged(vec![refunded(400)]), None);
    check_sum(&refund, -400, &charged(vec![]), Some((DifferingField::Gross, "0.00", "4.00")));
    let chargeback = movement(Movement::Chargeback, CHARGE, 9_600);
    check_sum(&chargeback, -9_600, &charged(vec![]), Some((DifferingField::Status, "nothing", "chargeback")));
    let disputed = charged(vec![refunded(400), charged_back("c1")]);
    check_sum(&chargeback, -9_600, &disputed, None);
    check_sum(&chargeback, -100, &disputed, Some((DifferingField::Gross, "96.00", "1.00")));
    let won = movement(Movement::DisputeWon, CHARGE, 9_600);
    check_sum(&won, 0, &disputed, Some((DifferingField::Status, "chargeback", "paid")));
    check_sum(&won, 0, &charged(vec![charged_back("c1"), dispute_won_of("w1", "c1")]), None);
    check_sum(&movement(Movement::RefundReversal, CHARGE, 400), 0, &disputed, None);
}

#[test]
fn a_movement_of_the_account_needs_no_payment() {
    let mut line = movement(Movement::Account, CHARGE, 700);
    let LineSubject::Charge(charge) = &mut line.subject else { panic!("{line:?}") };
    (charge.charge, charge.transaction_id, charge.is_taken) = (Reference::none(), None, true);
    assert_eq!((line.kind, line.added_up_with(), line.signed_gross().cents()), (LineKind::Other, None, -700));
    assert_eq!(judge(&line, None, SignedMoney::default()), LineFinding::Matched);
}

#[test]
fn a_paid_charge_is_expected_in_its_days_list_an_hour_later() {
    let paid = charged(vec![]);
    let first = bank();
    let expected = |day, ms| expected_charge(&paid, &first, "chargeId", day, START.plus_ms(ms));
    assert_eq!(expected(today(), 10 + 3_600_000 - 1), None);
    let line = expected(today(), 10 + 3_600_000).unwrap();
    assert!(line.is_expected() && line.id.starts_with("first:charge:ch_1:credit:"), "{line:?}");
    assert_eq!((line.gross.cents(), line.named_payment()), (10_000, Some(paid.id)));
    assert_eq!(expected(today().succ_opt().unwrap(), DAY_MS), None);
    assert_eq!(
        expected_charge(&paid, &AcquirerName::new("second"), "chargeId", today(), START.plus_ms(DAY_MS)),
        None
    );
}
