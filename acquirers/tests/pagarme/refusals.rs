use quita_domain::acquiring::{CallFailure, ChargeAnswer};
use quita_domain::method::Method;
use quita_ports::AcquirerFactory as _;
use serde_json::json;

use crate::payment::*;
use crate::scripted::{Scripted, json as answered};
use crate::there::There;

#[tokio::test(start_paused = true)]
async fn each_status_of_http_has_its_meaning() {
    let refused = json!({ "message": "The request is invalid." });
    for (status, expected) in [
        (400, "refused"),
        (412, "refused"),
        (422, "refused"),
        (404, "refused"),
        (401, "not delivered"),
        (403, "not delivered"),
        (408, "unknown"),
        (409, "unknown"),
        (429, "throttled"),
        (500, "unknown"),
        (503, "unknown"),
        (302, "unknown"),
    ] {
        let exchange = Scripted::with([answered(status, &refused)]);
        let answer = adapter(exchange.factory()).charge(&charge(Method::Pix, 10_000)).await;
        let told = match &answer {
            ChargeAnswer::Refused(_) => "refused",
            ChargeAnswer::Failed(CallFailure::NotDelivered(_)) => "not delivered",
            ChargeAnswer::Failed(CallFailure::Unknown(_)) => "unknown",
            ChargeAnswer::Failed(CallFailure::Throttled { after_ms: 10_000 }) => "throttled",
            other => panic!("{status} {other:?}"),
        };
        assert_eq!(told, expected, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_the_gateway_refuses_is_refused_and_one_in_error_is_asked_for() {
    let there = There::open();
    there.outcome(json!({ "reject": { "code": "412" } }));
    let answer = there.adapter().charge(&charge(Method::CreditCard, 15_700)).await;
    assert_eq!(answer, ChargeAnswer::Refused("412".into()));
    let there = There::open();
    there.outcome(json!({ "reject": { "code": "500" } }));
    let answer = there.adapter().charge(&charge(Method::CreditCard, 15_700)).await;
    assert!(matches!(answer, ChargeAnswer::Accepted(_)), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_throttled_account_is_left_alone_for_as_long_as_it_asked() {
    let there = There::open();
    there.strike(json!([{ "fault": "throttled", "retryAfter": 7 }]));
    let adapter = there.adapter();
    adapter.inquire(&query(Method::Pix, 10_000)).await;
    let held = adapter.charge(&charge(Method::Pix, 10_000)).await;
    assert_eq!(held, ChargeAnswer::Failed(CallFailure::Throttled { after_ms: 7_000 }));
    assert_eq!(there.left().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_read_that_doctor_makes_shows_address_and_key() {
    let there = There::open();
    assert_eq!(factory(settings(), there.factory()).ask_something_unknown().await, Ok(()));
    let other = quita_domain::secret::Secret::new("sk_test_other".to_owned());
    let wrong = quita_acquirers::pagarme::settings::PagarmeSettings { secret_key: other, ..settings() };
    let refused = factory(wrong, there.factory()).ask_something_unknown().await;
    assert!(matches!(refused, Err(CallFailure::NotDelivered(_))), "{refused:?}");
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_sent_is_told_before_anything_leaves() {
    let there = There::open();
    let long =
        changed(Method::Pix, 10_000, |order| order.payer.email = format!("{}@example.com", "a".repeat(60)));
    let factory = factory(settings(), there.factory());
    assert_eq!(factory.objection(&long.order), Some("email_too_long"));
    assert_eq!(factory.objection(&charge(Method::Pix, 10_000).order), None);
    assert_eq!(there.adapter().charge(&long).await, ChargeAnswer::Refused("email_too_long".into()));
    assert!(there.left().is_empty());
}
