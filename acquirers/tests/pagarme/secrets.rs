//! No card number, security code or key is in anything that can be read.

use std::fmt::Debug;

use quita_acquirers::exchange::Failure;
use quita_domain::method::Method;
use serde_json::json;

use crate::payment::*;
use crate::scripted::{Scripted, json};

#[track_caller]
fn holds_nothing(shown: &impl Debug) {
    let text = format!("{shown:?}");
    for secret in
        [VISA, "4000 0000", "400000000000", KEY, "callback-password", "11144477735", "fulano@example.com"]
    {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn nothing_of_a_card_or_payer_is_in_an_answer_whatever_pagarme_echoes() {
    let echo = format!("card 4000 0000 0000 0010 / {VISA} of fulano@example.com, 111.444.777-35, {KEY}");
    let last = json!({
        "id": "tran_1", "status": "failed", "acquirer_tid": VISA, "acquirer_nsu": VISA, "acquirer_auth_code": VISA,
        "acquirer_return_code": null, "gateway_response": { "code": "400", "errors": [{ "message": echo }] },
    });
    let charge_there =
        json!({ "id": "ch_1", "code": CODE, "amount": 10_000, "status": "failed", "last_transaction": last });
    let order = json!({ "id": "or_1", "code": CODE, "charges": [charge_there] });
    for method in [Method::CreditCard, Method::Pix] {
        for answer in [
            json(400, &json!({ "message": echo, "errors": { "customer.email": [echo] } })),
            json(200, &order),
            json(500, &json!({ "message": echo })),
            Err(Failure::Unknown("cut".into())),
        ] {
            let exchange = Scripted::with([answer]);
            let answer = adapter(exchange.factory()).charge(&charge(method, 10_000)).await;
            holds_nothing(&answer);
            holds_nothing(&exchange.requests.lock().unwrap());
        }
    }
}

#[tokio::test]
async fn the_key_is_in_the_header_alone() {
    let exchange = Scripted::with([]);
    adapter(exchange.factory()).charge(&charge(Method::CreditCard, 10_000)).await;
    let requests = exchange.requests.lock().unwrap();
    let [request] = &requests[..] else { panic!() };
    assert_eq!(request.url, format!("{BASE}/orders"));
    let header =
        |name: &str| request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!(header("Idempotency-Key"), Some(CODE));
    assert!(header("Authorization").is_some_and(|value| value.starts_with("Basic ")));
    assert!(!String::from_utf8_lossy(&request.body).contains(KEY));
}

#[test]
fn settings_do_not_print_their_secrets() {
    holds_nothing(&settings());
}
