//! Boletos are paid late: with fine and interest, after they expired, or never, and then they are withdrawn.

use chrono::NaiveDate;
use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::record::PaymentRecord;
use quita_domain::slip::IssuedBoleto;

use crate::payments::time::DAY;
use crate::payments::unknown_outcomes::charge_answered;
use crate::*;

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// A Saturday: payable until Monday, 2026-11-23.
const DUE: &str = "2026-11-21";

/// A boleto of 100.00 that waits for its payer.
fn waiting() -> Payment {
    of(DueTerms::plain(date(DUE)))
}

/// Such a boleto with these terms.
fn of(terms: DueTerms) -> Payment {
    let terms = Terms::Boleto(terms);
    let order = Order { method: Method::Boleto, terms, ..pix_order() };
    let issued = Issued::Boleto(Box::new(IssuedBoleto {
        barcode: "0".repeat(44),
        digitable_line: "0".repeat(47),
        due_date: date(DUE),
        our_number: "1".into(),
        portfolio: "17".into(),
        agency_and_account: "1/1".into(),
        bank_code: "001-9".into(),
        bank_name: "Banco".into(),
        beneficiary_name: "Loja".into(),
        beneficiary_document: "1".into(),
        beneficiary_address: "Rua".into(),
        pix_code: None,
    }));
    let fact = Fact::Pending { issued, news_at: None };
    after(&open(order).next.unwrap(), charge_answered(ChargeAnswer::known(fact)), 500)
}

fn settled_on(day: Option<&str>, cents: u64) -> Fact {
    let id = "s1".into();
    let amount = Money::from_cents(cents);
    let paid_on = day.map(date);
    Fact::Settled(Settlement { id, amount, paid_on, end_to_end_id: None, approval: None })
}

fn amounts(payment: &Payment) -> (Status, Option<u64>, Option<u64>) {
    let state = &payment.state;
    (payment.status(), state.captured_amount.map(Money::cents), state.paid_amount.map(Money::cents))
}

/// One that was paid on this day, which is learnt five days after its beginning.
pub(crate) fn paid_on(day: &str, cents: u64) -> Payment {
    after(&waiting(), notice(settled_on(Some(day), cents)), 5 * DAY)
}

fn expired() -> Payment {
    let expired = after(&waiting(), notice(Fact::Expired), 6 * DAY);
    assert_eq!(expired.status(), Status::Expired);
    expired
}

#[test]
fn paid_late_with_fine_and_interest_it_is_paid_and_both_amounts_are_shown() {
    let learnt = 5 * DAY;
    let paid = after(&waiting(), notice(settled_on(Some("2026-11-24"), 10_233)), learnt);
    assert_eq!(amounts(&paid), (Status::Paid, Some(10_000), Some(10_233)));
    let record = serde_json::to_value(PaymentRecord::now(&paid, "https://pay.example")).unwrap();
    assert_eq!(record["boleto"]["paidAmount"], "102.33");
    assert_eq!([&record["amount"], &record["capturedAmount"]], ["100.00", "100.00"]);
    let again = after(&paid, notice(settled_on(Some("2026-11-24"), 10_233)), learnt + 1);
    assert_eq!(again, paid, "a notice that repeats changes nothing");
    let exact = after(&waiting(), notice(settled_on(Some("2026-11-24"), 10_000)), learnt);
    assert_eq!(amounts(&exact), (Status::Paid, Some(10_000), Some(10_000)), "a bank may waive the interest");
}

#[test]
fn without_the_day_from_the_acquirer_the_day_on_which_it_is_learnt_counts() {
    let terms = DueTerms {
        fine: Some(Portion::BasisPoints(200)),
        interest: Some(Interest::BasisPointsPerMonth(100)),
        ..DueTerms::plain(date(DUE))
    };
    for (ms, cents, expected) in [
        (DAY, 10_213, Some(DiscrepancyKind::Overpaid)),
        (4 * DAY, 10_213, None),
        (4 * DAY, 10_000, Some(DiscrepancyKind::AmountMismatch)),
    ] {
        let told = notice(settled_on(None, cents));
        let decision = of(terms.clone()).decide(told, &at(ms)).unwrap();
        assert_eq!(decision.discrepancies.first().map(|found| found.kind), expected, "{ms} {cents}");
    }
}

#[test]
fn more_than_was_owed_is_paid_and_told_once() {
    for (day, cents) in [(DUE, 10_001), ("2026-11-23", 10_001), ("2026-11-24", 10_233)] {
        let told = || notice(settled_on(Some(day), cents));
        let decision = waiting().decide(told(), &at(5 * DAY)).unwrap();
        let kinds: Vec<_> = decision.discrepancies.iter().map(|found| found.kind).collect();
        assert_eq!(kinds, [DiscrepancyKind::Overpaid], "{day} {cents}");
        let paid = decision.next.unwrap();
        assert_eq!(amounts(&paid), (Status::Paid, Some(10_000), Some(cents)));
        assert_eq!(paid.decide(told(), &at(6 * DAY)).unwrap().discrepancies, []);
    }
}

#[test]
fn with_a_discount_what_was_left_is_paid_and_is_all_that_can_be_refunded() {
    let discount = Discount { until: date("2026-11-18"), portion: Portion::Amount(Money::from_cents(500)) };
    let boleto = || of(DueTerms { discounts: vec![discount], ..DueTerms::plain(date(DUE)) });
    let paid = after(&boleto(), notice(settled_on(Some("2026-11-18"), 9_500)), DAY);
    assert_eq!(amounts(&paid), (Status::Paid, Some(9_500), Some(9_500)));
    assert_eq!(paid.state.refundable_amount(), Money::from_cents(9_500));
    assert_eq!(
        discrepancy(&boleto(), notice(settled_on(Some("2026-11-21"), 9_500))),
        DiscrepancyKind::AmountMismatch
    );
}

#[test]
fn a_pix_with_a_due_date_is_paid_late_with_fine_and_interest_which_can_be_refunded() {
    let terms = DueTerms {
        payable_after_due_days: 30,
        fine: Some(Portion::BasisPoints(200)),
        ..DueTerms::plain(date(DUE))
    };
    let order = Order { terms: Terms::DuePix(terms.clone()), ..pix_order() };
    let expires_at = terms.payable_before();
    let issued = Issued::Pix { txid: "t".repeat(32), code: "c".into(), expires_at };
    let fact = Fact::Pending { issued, news_at: None };
    let waiting = after(&open(order).next.unwrap(), charge_answered(ChargeAnswer::known(fact)), 500);
    assert_eq!(waiting.expires_at().unwrap().to_string(), "2026-12-24T03:00:00.000Z");
    let paid = after(&waiting, notice(settled_on(Some("2026-12-01"), 10_200)), 12 * DAY);
    assert_eq!((paid.status(), paid.state.refundable_amount()), (Status::Paid, Money::from_cents(10_200)));
    let record = serde_json::to_value(PaymentRecord::now(&paid, "https://pay.example")).unwrap();
    assert_eq!([&record["pix"]["paidAmount"], &record["pix"]["paidOn"]], ["102.00", "2026-12-01"]);
    assert_eq!([&record["pix"]["dueDate"], &record["terms"]["payableUntil"]], [DUE, "2026-12-23"]);
}

#[test]
fn on_time_too_little_is_an_exception_however_late_it_is_learnt() {
    // A boleto that is due on a Saturday is payable without interest on the Monday.
    for (day, cents) in [(DUE, 9_999), ("2026-11-23", 9_999)] {
        for ms in [DAY, 20 * DAY] {
            let told = notice(settled_on(Some(day), cents));
            assert_eq!(discrepancy(&waiting(), told), DiscrepancyKind::AmountMismatch, "{day} {cents}");
            let told = notice(settled_on(Some(day), cents));
            assert_eq!(after(&waiting(), told, ms).status(), Status::Pending);
        }
    }
}

#[test]
fn late_and_too_little_is_an_exception() {
    let told = notice(settled_on(Some("2026-11-30"), 9_999));
    assert_eq!(discrepancy(&waiting(), told), DiscrepancyKind::AmountMismatch);
}

#[test]
fn a_pix_with_another_amount_is_an_exception_whenever_it_comes() {
    let expired = after(&pending(), notice(Fact::Expired), DAY);
    for payment in [pending(), expired] {
        let told = notice(settled_on(Some("2027-01-01"), 10_233));
        assert_eq!(discrepancy(&payment, told), DiscrepancyKind::AmountMismatch);
    }
}

#[test]
fn refunds_are_of_the_amount_without_interest_and_all_of_it_is_a_refund() {
    let paid = after(&waiting(), notice(settled_on(Some("2026-11-24"), 10_233)), 5 * DAY);
    assert_eq!(
        paid.permits(RequestedOperation::Refund(Some(Money::from_cents(10_001)))),
        Err(Refusal::RefundExceedsPaid(Money::from_cents(10_000)))
    );
    let refunding = after(&paid, requested(RequestedOperation::Refund(None), None, 1), 6 * DAY);
    let refunded = after(&refunding, operated(operation_id(1), OperationAnswer::Done), 6 * DAY + 1);
    assert_eq!(amounts(&refunded), (Status::Refund, Some(10_000), Some(10_233)));
}

#[test]
fn an_expired_one_can_be_withdrawn_and_a_pix_cannot() {
    let withdrawing = after(&expired(), requested(RequestedOperation::Cancel, None, 1), 7 * DAY);
    let withdrawn = after(&withdrawing, operated(operation_id(1), OperationAnswer::Done), 7 * DAY + 1);
    assert_eq!(withdrawn.status(), Status::Cancelled);
    assert!(withdrawn.state.expired_at < withdrawn.state.cancelled_at);
    assert!(withdrawn.check.is_some(), "late money is looked for as after any cancellation");
    let late = after(&withdrawn, notice(settled_on(Some("2026-11-29"), 10_400)), 8 * DAY);
    assert_eq!(amounts(&late), (Status::Paid, Some(10_000), Some(10_400)));
    assert_eq!(late.state.status_reason.as_deref(), Some("late_settlement"));
    let pix = after(&pending(), notice(Fact::Expired), DAY);
    let status = Status::Expired;
    let verb = "be cancelled";
    let allowed = "pending, approved";
    let refused = Err(Refusal::NotAllowed { status, verb, allowed });
    assert_eq!(pix.permits(RequestedOperation::Cancel), refused);
}

#[test]
fn a_withdrawal_that_is_refused_because_it_was_paid_leaves_it_expired_until_the_money_is_learnt() {
    let withdrawing = after(&expired(), requested(RequestedOperation::Cancel, None, 1), 7 * DAY);
    let refused = OperationAnswer::Refused("already_paid".into());
    let refused = after(&withdrawing, operated(operation_id(1), refused), 7 * DAY + 1);
    assert_eq!(refused.status(), Status::Expired);
    let paid = after(&refused, notice(settled_on(Some("2026-11-27"), 10_300)), 7 * DAY + 2);
    assert_eq!(amounts(&paid), (Status::Paid, Some(10_000), Some(10_300)));
}

#[test]
fn what_its_acquirer_writes_off_after_it_expired_stays_expired() {
    assert_eq!(after(&expired(), notice(Fact::Cancelled), 7 * DAY).status(), Status::Expired);
}

#[test]
fn boletos_of_one_day_are_not_asked_for_in_the_same_millisecond() {
    let last = waiting().expires_at().unwrap();
    let due: std::collections::BTreeSet<_> = (0..50_u128)
        .map(|number| {
            let id = TransactionId::new(Uuid::from_u128(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
            let mut payment = Payment { id, ..waiting() };
            while payment.due_at().unwrap() < last {
                payment = after(&payment, Command::Wake, payment.due_at().unwrap().ms_since(START));
            }
            let due = payment.due_at().unwrap();
            assert!(last <= due && due < last.plus_ms(3_600_000), "{due:?}");
            due
        })
        .collect();
    assert!(due.len() > 45, "{}", due.len());
}

#[test]
fn a_cancelled_boleto_is_looked_at_after_one_and_three_days_and_once_more_when_its_code_ends() {
    let waiting = waiting();
    let end = waiting.expires_at().unwrap().ms_since(START);
    assert!(end > 4 * DAY, "a code that outlives the looks for late money: {end}");
    let asked = after(&waiting, requested(RequestedOperation::Cancel, None, 1), 1_000);
    let mut payment = after(&asked, operated(operation_id(1), OperationAnswer::Done), 2_000);
    assert_eq!(payment.status(), Status::Cancelled);
    let issued = waiting.state.issued.as_deref().unwrap();
    let still_open = || ChargeAnswer::known(Fact::Pending { issued: issued.clone(), news_at: None });
    let mut looks = Vec::new();
    while let Some(due) = payment.due_at().map(|due| due.ms_since(START)) {
        looks.push(due);
        assert!(looks.len() < 5, "{looks:?}");
        let woken = payment.decide(Command::Wake, &at(due)).unwrap();
        assert_eq!(calls(&woken), [Effect::Inquire(AcquirerName::new("first"), AttemptNumber::FIRST)]);
        assert!(woken.discrepancies.is_empty(), "{:?}", woken.discrepancies);
        let asked = woken.next.unwrap();
        let answer = Command::Inquired {
            attempt: AttemptNumber::FIRST,
            asked_at: asked.inquired_at,
            inquiring: None,
            answer: still_open(),
        };
        payment = after(&asked, answer, due + 100);
    }
    assert_eq!(looks.len(), 3, "{looks:?}");
    assert!((end..=end + 3_600_000).contains(&looks[2]), "{looks:?} {end}");
}
