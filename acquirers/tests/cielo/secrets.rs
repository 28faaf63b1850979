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
        [VISA, "4111 1111", "411111111111", "739\"", KEY, "unguessable", "11144477735", "fulano@example.com"]
    {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn nothing_of_a_card_or_payer_is_in_an_answer_whatever_cielo_echoes() {
    let echo = format!("card 4111 1111 1111 1111 / {VISA} of fulano@example.com, 111.444.777-35, {KEY}");
    let payment = json!({
        "PaymentId": SALE, "Amount": 10000, "Status": 3, "ReturnCode": VISA, "ReturnMessage": echo,
        "MerchantAdviceCode": VISA,
    });
    let sale = json!({"MerchantOrderId": ORDER, "Payment": payment});
    for method in [Method::CreditCard, Method::Pix] {
        for answer in [
            json(400, &json!([{"Code": VISA, "Message": echo}])),
            json(201, &sale),
            json(500, &json!([{"Code": 1, "Message": echo}])),
            Err(Failure::Unknown("cut".into())),
        ] {
            let exchange = Scripted::with([answer]);
            let answer = adapter(exchange.factory()).charge(&charge(method, 10_000)).await;
            holds_nothing(&answer);
            holds_nothing(&exchange.requests.lock().unwrap());
        }
    }
    let exchange =
        Scripted::with([json(200, &json!({"Status": 2, "ReturnCode": "102", "ReturnMessage": echo}))]);
    holds_nothing(
        &adapter(exchange.factory())
            .operate(&named(query(Method::CreditCard, 10_000), SALE), &refund(1))
            .await,
    );
}

#[test]
fn settings_do_not_print_their_secrets() {
    holds_nothing(&settings());
}
