//! The bytes between the adapter and Cielo: each sale gets its own answer, however that is framed, or none; and none is
//! sent twice.

use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::exchange::http_client::{HttpClientFactory, HttpClientSettings};
use quita_domain::acquiring::{CallFailure, ChargeAnswer, OperationAnswer};
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::method::Method;
use quita_ports::AcquirerFactory;
use quita_wire::{Asked, Case, Expected, Server, Step, cases, frame};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::payment::{SALE, charge, factory, named, query, refund, settings};

/// The sale that was asked for, taken.
fn sale(asked: &Asked) -> String {
    let (_, body) = asked.text.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    let payment = json!({
        "Type": "CreditCard", "Amount": body["Payment"]["Amount"], "PaymentId": SALE, "Status": 2, "ReturnCode": "6",
        "CapturedAmount": body["Payment"]["Amount"], "Currency": "BRL", "Tid": "0310031415926",
    });
    json!({"MerchantOrderId": body["MerchantOrderId"], "Payment": payment}).to_string()
}

/// A Cielo that answers the first sale by this case, and the others plainly.
async fn cielo(steps: fn(u16, &str) -> Vec<Step>) -> Server {
    Server::start(move |asked: &Asked| match asked.number {
        1 => steps(201, &sale(asked)),
        _ => frame(201, &sale(asked)),
    })
    .await
}

fn factory_at(server: &Server) -> impl AcquirerFactory {
    let mut settings = settings();
    (settings.base_url, settings.query_base_url) = (server.url(""), server.url("/query"));
    let exchange = HttpClientFactory::new(HttpClientSettings {
        time_out: Duration::from_secs(20),
        connections: 8,
        identity: None,
        authorities: None,
    });
    factory(settings, Mode::Live, Arc::new(exchange.unwrap()))
}

#[tokio::test]
async fn a_sale_gets_its_own_answer_however_cielo_frames_it_and_is_sent_once() {
    for Case { name, steps, expected, .. } in cases() {
        let server = cielo(steps).await;
        let adapter = factory_at(&server).build();
        let answer = adapter.charge(&charge(Method::CreditCard, 1_000)).await;
        match (expected, &answer) {
            (Expected::Whole, ChargeAnswer::Known(_)) => {}
            (Expected::Broken | Expected::None, ChargeAnswer::Failed(CallFailure::Unknown(_))) => {}
            _ => panic!("{name}: {answer:?}"),
        }
        assert_eq!(server.asked().len(), 1, "{name}");
        server.at_rest().await;
        let mut another = charge(Method::CreditCard, 2_000);
        another.query.id = TransactionId::new(Uuid::from_u128(42));
        let answer = adapter.charge(&another).await;
        assert!(matches!(answer, ChargeAnswer::Known(_)), "{name}: {answer:?}");
        assert_eq!(server.asked().len(), 2, "{name}");
    }
}

#[tokio::test]
async fn what_moves_money_at_cielo_is_never_sent_again_by_itself() {
    let server = Server::start(|asked: &Asked| match asked.number {
        1 => frame(201, &sale(asked)),
        _ => vec![Step::Close],
    })
    .await;
    let adapter = factory_at(&server).build();
    let mut first = charge(Method::CreditCard, 2_000);
    first.query.id = TransactionId::new(Uuid::from_u128(42));
    assert!(matches!(adapter.charge(&first).await, ChargeAnswer::Known(_)));
    let sale = named(query(Method::CreditCard, 1_000), "3f6d1b1e-7c55-4a57-9f0b-3a0f6f7d2c12");
    let answer = adapter.operate(&sale, &refund(300)).await;
    assert!(matches!(answer, OperationAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
    assert_eq!(server.connections(), [1, 1], "a void by sums would give back twice as much");
}
