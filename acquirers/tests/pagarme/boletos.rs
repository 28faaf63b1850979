use quita_domain::acquiring::{ChargeAnswer, Fact, Issued};
use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::order::Terms;
use serde_json::json;

use crate::payment::*;
use crate::there::{There, known};

fn with_terms(change: impl FnOnce(&mut DueTerms)) -> quita_domain::acquiring::Charge {
    changed(Method::Boleto, 10_000, |order| {
        let mut due = DueTerms::plain(due_date());
        change(&mut due);
        order.terms = Terms::Boleto(due);
    })
}

#[tokio::test(start_paused = true)]
async fn a_boletos_bar_code_is_computed_from_its_line() {
    let there = There::open();
    let stated = statement(there.adapter().charge(&charge(Method::Boleto, 10_000)).await);
    let [Fact::Pending { issued: Issued::Boleto(slip), .. }] = &stated.facts[..] else {
        panic!("{stated:?}")
    };
    assert_eq!((slip.digitable_line.len(), slip.barcode.len()), (47, 44));
    assert!(slip.barcode.starts_with("1979") && slip.pix_code.is_none());
    assert!(stated.reference.get("ourNumber").is_some());
    let sent = there.last_body()["payments"][0]["boleto"].clone();
    assert_eq!(sent["due_at"], "2026-12-01T23:59:59-03:00");
    assert_eq!(sent["instructions"], "Pague no banco");
    let number = sent["document_number"].as_str().unwrap();
    assert_eq!(number.len(), 16);
    assert_eq!(stated.reference.get("_documentNumber"), Some(number));
    assert!(stated.reference.shown().all(|(name, _)| !name.starts_with('_')));
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_not_the_payments_is_never_shown() {
    for wrong in ["other-amount", "wrong-check", "garbage", "missing", "other-day"] {
        let there = There::open();
        there.control(json!({ "do": "plan", "plan": { "wrongCode": wrong } }));
        let answer = there.adapter().charge(&charge(Method::Boleto, 10_000)).await;
        assert!(matches!(answer, ChargeAnswer::WithoutCode(_)), "{wrong}: {answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn whole_percentages_and_a_fixed_fine_go_through() {
    let there = There::open();
    let charge = with_terms(|due| {
        due.fine = Some(Portion::BasisPoints(200));
        due.interest = Some(Interest::BasisPointsPerMonth(100));
        due.payable_after_due_days = 30;
        // Until 2026-12-31, which is no business day of banks.
        due.instructions = vec!["Pedido 7".into(), "Obrigado".into()];
    });
    assert!(matches!(there.adapter().charge(&charge).await, ChargeAnswer::Known(_)));
    let sent = there.last_body()["payments"][0]["boleto"].clone();
    assert_eq!(sent["fine"], json!({ "days": 1, "type": "percentage", "amount": 2 }));
    assert_eq!(sent["interest"], json!({ "days": 1, "type": "percentage", "amount": 1 }));
    assert_eq!(sent["max_days_to_pay_past_due"], 34);
    assert_eq!(sent["instructions"], "Pague no banco\nPedido 7\nObrigado");
    let fixed = with_terms(|due| due.fine = Some(Portion::Amount(Money::from_cents(150))));
    let there = There::open();
    assert!(matches!(there.adapter().charge(&fixed).await, ChargeAnswer::Known(_)));
    let sent = there.last_body()["payments"][0]["boleto"].clone();
    assert_eq!(sent["fine"], json!({ "days": 1, "type": "flat", "amount": 150 }));
}

#[tokio::test(start_paused = true)]
async fn terms_that_pagarme_has_not_are_refused_before_anything_leaves() {
    let day = Money::from_cents(10);
    for charge in [
        with_terms(|due| due.fine = Some(Portion::BasisPoints(150))),
        with_terms(|due| due.interest = Some(Interest::AmountPerDay(day))),
        with_terms(|due| due.interest = Some(Interest::BasisPointsPerMonth(33))),
        with_terms(|due| due.discounts = vec![Discount { until: due_date(), portion: Portion::Amount(day) }]),
    ] {
        let there = There::open();
        let answer = there.adapter().charge(&charge).await;
        assert_eq!(answer, ChargeAnswer::Refused("terms_unsupported".into()));
        assert!(there.left().is_empty());
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_paid_is_told_with_its_day_whatever_the_words_are() {
    for (cents, paid) in [(10_000, 10_000), (10_250, 10_250), (9_000, 9_000)] {
        let there = There::open();
        let charge = charge(Method::Boleto, 10_000);
        let query = known(&charge.query, there.adapter().charge(&charge).await);
        there.control(json!({ "do": "pay", "charge": CODE, "amountCents": cents }));
        let facts = facts(there.adapter().inquire(&query).await);
        let [Fact::Settled(settlement), Fact::Concluded] = &facts[..] else { panic!("{facts:?}") };
        assert_eq!((settlement.amount.cents(), settlement.paid_on), (paid, "2026-11-21".parse().ok()));
    }
}
