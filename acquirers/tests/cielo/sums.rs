//! Sums of Cielo, which tell what others did there. What may be ours is not told.

use quita_domain::acquiring::{ChargeQuery, Fact, RemovedBy};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::payment::*;
use crate::scripted::{Scripted, json};

async fn inquired(query: &ChargeQuery, payment: Value) -> Vec<Fact> {
    let mut whole = json!({"PaymentId": SALE, "Amount": 10000, "AuthorizationCode": "161803"});
    for (name, value) in payment.as_object().unwrap() {
        whole[name] = value.clone();
    }
    let exchange = Scripted::with([json(200, &json!({"MerchantOrderId": ORDER, "Payment": whole}))]);
    facts(adapter(exchange.factory()).inquire(query).await)
}

fn authorised() -> ChargeQuery {
    named(uncaptured(10_000).query, SALE)
}

fn paid(cents: u64, refunded: u64) -> ChargeQuery {
    let paid_amount = Some(Money::from_cents(cents));
    let refunded_amount = Money::from_cents(refunded);
    ChargeQuery { paid_amount, refunded_amount, ..authorised() }
}

fn under_way(query: ChargeQuery) -> ChargeQuery {
    ChargeQuery { operation_under_way: true, ..query }
}

fn refunded(sum: u64) -> Fact {
    Fact::RefundedInTotal { refund_id: format!("{SALE}-{sum}"), total: Money::from_cents(sum) }
}

fn is_settled(fact: &Fact, cents: u64) -> bool {
    matches!(fact, Fact::Settled(settlement) if settlement.id == SALE && settlement.amount == Money::from_cents(cents))
}

#[tokio::test]
async fn a_void_at_cielo_removes_an_authorisation() {
    for status in [10, 11] {
        let gone = json!({"Status": status, "VoidedAmount": 10000});
        assert_eq!(inquired(&authorised(), gone.clone()).await, [Fact::Removed { by: RemovedBy::Receiver }]);
        let mut cancelled = authorised();
        cancelled.cancelled_at = Some(created_at());
        assert_eq!(inquired(&cancelled, gone.clone()).await, [Fact::Cancelled]);
        let stated = inquired(&under_way(authorised()), gone).await;
        assert!(matches!(&stated[..], [Fact::Authorized(_)]), "it may be ours: {stated:?}");
    }
}

#[tokio::test]
async fn an_authorisation_that_nobody_captured_in_time_has_expired() {
    let gone = json!({"Status": 10, "VoidedAmount": 10000});
    for (days, fact) in [(15, Fact::Expired), (14, Fact::Removed { by: RemovedBy::Receiver })] {
        let created_at = Timestamp::from_millis(created_at().millis() - days * 24 * 60 * 60 * 1_000);
        let query = ChargeQuery { created_at, ..authorised() };
        assert_eq!(inquired(&query, gone.clone()).await, [fact], "after {days} days");
    }
}

#[tokio::test]
async fn a_capture_at_cielo_is_settled_with_what_was_captured() {
    let captured = json!({"Status": 2, "CapturedAmount": 4000});
    let stated = inquired(&authorised(), captured.clone()).await;
    assert!(matches!(&stated[..], [fact] if is_settled(fact, 4_000)), "{stated:?}");
    let stated = inquired(&under_way(authorised()), captured).await;
    assert!(matches!(&stated[..], [Fact::Authorized(_)]), "it may be ours: {stated:?}");
}

#[tokio::test]
async fn a_refund_at_cielo_is_told_once_by_its_sum() {
    let part = json!({"Status": 2, "CapturedAmount": 10000, "VoidedAmount": 300});
    for _ in 0..2 {
        let stated = inquired(&paid(10_000, 0), part.clone()).await;
        assert!(is_settled(&stated[0], 10_000));
        assert_eq!(stated[1..], [refunded(300)]);
    }
    let more = json!({"Status": 2, "CapturedAmount": 10000, "VoidedAmount": "1000"});
    assert_eq!(inquired(&paid(10_000, 300), more).await[1..], [refunded(1_000)]);
    assert_eq!(inquired(&under_way(paid(10_000, 0)), part).await.len(), 1, "it may be ours");
}

#[tokio::test]
async fn a_whole_refund_at_cielo_gives_back_what_was_captured() {
    for (payment, sum) in [
        (json!({"Status": 11, "CapturedAmount": 6000, "VoidedAmount": 6000}), 6_000),
        (json!({"Status": 10, "CapturedAmount": 6000}), 6_000),
    ] {
        let stated = inquired(&paid(6_000, 0), payment.clone()).await;
        assert!(is_settled(&stated[0], 6_000));
        assert_eq!(stated[1..], [refunded(sum)]);
        let stated = inquired(&authorised(), payment).await;
        assert!(is_settled(&stated[0], 6_000), "captured and refunded before anybody heard of it");
        assert_eq!(stated[1..], [refunded(sum)]);
    }
}

#[tokio::test]
async fn a_pix_that_was_refunded_was_paid_before() {
    let mut waiting = named(query(Method::Pix, 10_000), SALE);
    let stated = inquired(&waiting, json!({"Status": 11, "Type": "Pix"})).await;
    assert!(is_settled(&stated[0], 10_000));
    assert_eq!(stated[1..], [refunded(10_000)]);
    waiting.paid_amount = Some(Money::from_cents(10_000));
    let on_its_way = inquired(&waiting, json!({"Status": 12, "Type": "Pix"})).await;
    assert!(matches!(&on_its_way[..], [fact] if is_settled(fact, 10_000)), "{on_its_way:?}");
}

#[tokio::test]
async fn each_chargeback_is_stated_and_an_unknown_status_is_told() {
    let payment = json!({"Status": 2, "CapturedAmount": 10000, "Chargebacks": [
        {"CaseNumber": "000001", "Amount": 2500, "Status": "Received", "Date": "2026-11-30"},
        {"CaseNumber": 2, "Amount": "500", "Status": "AcceptedByMerchant"},
        {"CaseNumber": "000003", "Amount": 100, "Status": "Reversed"},
    ]});
    let stated = inquired(&paid(10_000, 0), payment).await;
    let opened =
        |id: &str, cents| Fact::ChargedBack { id: id.into(), amount: Some(Money::from_cents(cents)) };
    assert_eq!(stated[1..3], [opened("000001", 2_500), opened("2", 500)]);
    let Fact::Unclear { text, .. } = &stated[3] else { panic!("{stated:?}") };
    assert_eq!(text, "the status of chargeback 000003 is Reversed, which is not known");
}

#[tokio::test]
async fn an_authorisation_that_lapsed_is_declined() {
    let stated = inquired(&authorised(), json!({"Status": 13})).await;
    assert!(matches!(&stated[..], [Fact::Declined(_)]), "{stated:?}");
}
