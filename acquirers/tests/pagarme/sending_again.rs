//! The same order under the same key, and what its answer is worth.

use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery};
use quita_domain::method::Method;
use quita_domain::numbering::AttemptNumber;
use serde_json::json;

use crate::payment::*;
use crate::there::There;

fn again(charge: Charge) -> Charge {
    Charge { query: ChargeQuery { attempt: AttemptNumber::new(2), ..charge.query.clone() }, ..charge }
}

#[tokio::test(start_paused = true)]
async fn the_same_bytes_under_the_same_key_make_one_order_and_the_newest_state_counts() {
    let there = There::open();
    there.strike(json!([{ "fault": "reset-after" }]));
    there.adapter().charge(&charge(Method::Pix, 10_000)).await;
    let first = there.last_body();
    there.control(json!({ "do": "pay", "charge": CODE }));
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let answer = there.adapter().charge(&again(charge(Method::Pix, 10_000))).await;
    assert_eq!(there.last_body(), first);
    assert_eq!(sums(&facts(answer)), (10_000, 0));
    assert_eq!(there.only().kept_cents(), 10_000);
}

#[tokio::test(start_paused = true)]
async fn what_never_arrived_is_made_by_the_next_sending() {
    let there = There::open();
    there.strike(json!([{ "fault": "reset-before" }]));
    there.adapter().charge(&charge(Method::CreditCard, 15_700)).await;
    assert!(there.charges().is_empty());
    let answer = there.adapter().charge(&again(charge(Method::CreditCard, 15_700))).await;
    assert_eq!(sums(&facts(answer)), (15_700, 0));
    there.only();
}

#[tokio::test(start_paused = true)]
async fn after_a_day_nothing_is_sent_again() {
    let there = There::open();
    let mut late = again(charge(Method::Pix, 10_000));
    late.query.created_at = created_at().minus_ms(23 * 3_600_000 + 1);
    let answer = there.adapter().charge(&late).await;
    assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
    assert!(there.left().is_empty());
}
