use quita_domain::acquiring::{ChargeAnswer, Fact, Issued};
use quita_domain::method::Method;
use serde_json::json;

use crate::payment::*;
use crate::there::{There, known};

#[tokio::test(start_paused = true)]
async fn a_pix_has_a_code_of_its_amount_and_is_paid() {
    let there = There::open();
    let charge = charge(Method::Pix, 10_000);
    let stated = statement(there.adapter().charge(&charge).await);
    let [Fact::Pending { issued: Issued::Pix { txid, code, expires_at }, .. }] = &stated.facts[..] else {
        panic!("{stated:?}")
    };
    assert_eq!((txid.len(), code.contains("5406100.00")), (32, true));
    assert_eq!(*expires_at, created_at().plus_ms(3_600_000));
    assert_eq!(there.last_body()["payments"][0]["pix"], json!({ "expires_in": 3_600 }));
    there.control(json!({ "do": "pay", "charge": CODE }));
    let query = known(&charge.query, ChargeAnswer::Known(stated));
    let facts = facts(there.adapter().inquire(&query).await);
    let [Fact::Settled(settlement), Fact::Concluded] = &facts[..] else { panic!("{facts:?}") };
    assert_eq!(settlement.end_to_end_id.as_ref().map(String::len), Some(32));
}

#[tokio::test(start_paused = true)]
async fn a_code_that_is_not_the_payments_is_never_shown() {
    for wrong in ["other-amount", "wrong-check", "garbage", "missing"] {
        let there = There::open();
        there.control(json!({ "do": "plan", "plan": { "wrongCode": wrong } }));
        let answer = there.adapter().charge(&charge(Method::Pix, 10_000)).await;
        assert!(matches!(answer, ChargeAnswer::WithoutCode(_)), "{wrong}: {answer:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pix_that_nobody_paid_expires_there() {
    let there = There::open();
    let query = there.made(&charge(Method::Pix, 10_000)).await;
    tokio::time::advance(std::time::Duration::from_secs(3_601)).await;
    // The clocks of both sides are paused: they go on together.
    let answer = there.adapter().inquire(&query).await;
    let declined = facts(answer);
    assert!(matches!(&declined[..], [Fact::Expired | Fact::Declined(_)]), "{declined:?}");
}

#[tokio::test(start_paused = true)]
async fn a_longer_code_costs_nothing_and_a_missing_txid_is_none() {
    let there = There::open();
    let charge = changed(Method::Pix, 10_000, |order| {
        order.terms = quita_domain::order::Terms::Pix { expires_in_s: 86_400 * 30 };
    });
    let facts = facts(there.adapter().charge(&charge).await);
    assert!(matches!(&facts[..], [Fact::Pending { .. }]));
    assert_eq!(there.last_body()["payments"][0]["pix"]["expires_in"], 86_400 * 30);
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_code_runs_from_the_sending_that_made_it() {
    let there = There::open();
    let mut charge = charge(Method::Pix, 10_000);
    charge.query.sent_at = created_at().plus_ms(7_200_000);
    let stated = statement(there.adapter().charge(&charge).await);
    let [Fact::Pending { issued: Issued::Pix { expires_at, .. }, .. }] = &stated.facts[..] else {
        panic!("{stated:?}")
    };
    assert_eq!(*expires_at, created_at().plus_ms(7_200_000 + 3_600_000));
}
