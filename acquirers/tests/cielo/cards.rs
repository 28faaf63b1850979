//! Cards: what is sent, and what the answer states.

use quita_domain::acquiring::{Approval, CallFailure, ChargeAnswer, Decline, DeclineKind, Fact, RemovedBy};
use quita_domain::method::Method;
use quita_domain::money::Money;
use serde_json::{Value, json};

use crate::bank::Bank;
use crate::payment::*;
use crate::scripted::{Scripted, json};

fn sale(payment: &Value) -> Value {
    let mut whole = json!({"PaymentId": SALE, "Type": "CreditCard", "Amount": 15700, "Status": 2});
    for (name, value) in payment.as_object().unwrap() {
        whole[name] = value.clone();
    }
    json!({"MerchantOrderId": ORDER, "Payment": whole})
}

async fn answered(payment: Value) -> ChargeAnswer {
    answered_for(VISA, payment).await
}

async fn answered_for(number: &str, payment: Value) -> ChargeAnswer {
    let exchange = Scripted::with([json(201, &sale(&payment))]);
    adapter(exchange.factory()).charge(&charge_with(Method::CreditCard, 15_700, number)).await
}

fn approval() -> Approval {
    Approval { authorization_code: "161803".into() }
}

#[tokio::test]
async fn an_authorisation_is_sent_as_cielo_wants_it() {
    let exchange = Scripted::with([]);
    adapter(exchange.factory()).charge(&charge(Method::CreditCard, 15_700)).await;
    assert_eq!(exchange.urls(), [format!("POST {BASE}/1/sales/")]);
    let expected = json!({
        "MerchantOrderId": ORDER,
        "Customer": {"Name": "Fulano de Tal", "Identity": "11144477735", "IdentityType": "CPF"},
        "Payment": {
            "Type": "CreditCard", "Amount": 15700, "Currency": "BRL", "Country": "BRA", "Installments": 3,
            "Interest": "ByMerchant", "Capture": true, "Authenticate": false, "SoftDescriptor": "LOJAEXEMPLO",
            "CreditCard": {
                "CardNumber": VISA, "Holder": "Joao DAvila", "ExpirationDate": "03/2030",
                "SecurityCode": "739", "SaveCard": false, "Brand": "Visa",
            },
        },
    });
    assert_eq!(exchange.body(0), expected);
    let requests = exchange.requests.lock().unwrap();
    let header = |name: &str| {
        let found = requests[0].headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(header("MerchantKey"), KEY);
    assert_eq!(header("MerchantId"), settings().merchant_id);
    assert_eq!(header("Content-Type"), "application/json");
    assert!(uuid::Uuid::parse_str(&header("RequestId")).is_ok());
}

#[tokio::test]
async fn each_request_has_an_id_of_its_own() {
    let exchange = Scripted::with([]);
    let cielo = adapter(exchange.factory());
    tokio::time::pause();
    cielo.charge(&charge(Method::CreditCard, 1)).await;
    cielo.inquire(&query(Method::CreditCard, 1)).await;
    let requests = exchange.requests.lock().unwrap();
    let ids: Vec<_> =
        requests.iter().map(|one| one.headers.iter().find(|(name, _)| name == "RequestId")).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}

#[tokio::test]
async fn brands_are_in_cielos_spelling() {
    for (number, spelling) in [
        (VISA, "Visa"),
        (MASTERCARD, "Master"),
        ("378282246310005", "Amex"),
        ("6362970000457013", "Elo"),
        ("6062826786276634", "Hipercard"),
        ("30569309025904", "Diners"),
        ("6011111111111117", "Discover"),
        ("3530111333300000", "JCB"),
        ("6370950000000005", "Hiper"),
    ] {
        let exchange = Scripted::with([]);
        adapter(exchange.factory()).charge(&charge_with(Method::CreditCard, 1, number)).await;
        assert_eq!(exchange.body(0)["Payment"]["CreditCard"]["Brand"], spelling, "{number}");
    }
}

#[tokio::test]
async fn a_card_that_is_captured_at_once_is_settled_with_its_approval() {
    let bank = Bank::default();
    let answer = adapter(bank.factory()).charge(&charge(Method::CreditCard, 15_700)).await;
    let statement = statement(answer);
    let [Fact::Settled(settlement)] = statement.facts.as_slice() else { panic!("{:?}", statement.facts) };
    assert_eq!(settlement.id, bank.only_sale().payment_id);
    assert_eq!(settlement.amount, Money::from_cents(15_700));
    assert_eq!(settlement.approval, Some(approval()));
    let reference: Vec<_> = statement.reference.iter().collect();
    let payment_id = bank.only_sale().payment_id;
    let expected = [
        ("orderId", ORDER),
        ("paymentId", payment_id.as_str()),
        ("proofOfSale", "271828"),
        ("tid", "0310031415926"),
    ];
    assert_eq!(reference, expected);
}

#[tokio::test]
async fn an_authorisation_holds_the_limit_and_no_more() {
    let bank = Bank::default();
    let answer = adapter(bank.factory()).charge(&uncaptured(15_700)).await;
    assert_eq!(facts(answer), [Fact::Authorized(approval())]);
    assert_eq!((bank.only_sale().status, bank.only_sale().captured), (1, 0));
}

#[tokio::test]
async fn the_status_decides_and_the_code_explains() {
    let declined = |code: &str, kind, network: &str| {
        let network_code = Some(network.to_owned());
        vec![Fact::Declined(Decline { code: code.into(), kind, network_code, advice: None })]
    };
    let reversible = Some(DeclineKind::Reversible);
    let irreversible = Some(DeclineKind::Irreversible);
    for (payment, expected) in [
        (json!({"Status": 3, "ReturnCode": "51"}), declined("insufficient_funds", reversible, "51")),
        (json!({"Status": "3", "ReturnCode": 5}), declined("generic_decline", reversible, "05")),
        (json!({"Status": 3, "ReturnCode": "41"}), declined("lost_card", irreversible, "41")),
        // A code of success does not make a refusal one.
        (json!({"Status": 3, "ReturnCode": "00"}), declined("generic_decline", None, "00")),
        (json!({"Status": 13, "ReturnCode": "AA"}), declined("generic_decline", None, "AA")),
        (json!({"Status": 10, "VoidedAmount": 15700}), vec![Fact::Removed { by: RemovedBy::Receiver }]),
    ] {
        assert_eq!(facts(answered(payment.clone()).await), expected, "{payment}");
    }
}

#[tokio::test]
async fn mastercards_advice_is_kept() {
    let answer =
        answered_for(MASTERCARD, json!({"Status": 3, "ReturnCode": "51", "MerchantAdviceCode": 3})).await;
    let [Fact::Declined(decline)] = &facts(answer)[..] else { panic!() };
    assert_eq!(decline.advice.as_deref(), Some("03"));
}

#[tokio::test]
async fn what_is_not_finished_or_not_known_is_unclear() {
    for status in [json!(0), json!(12), json!(20), json!(99), json!("0")] {
        let answer = answered(json!({ "Status": status })).await;
        assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{status}: {answer:?}");
    }
    let answer = answered(json!({"Status": 3, "CapturedAmount": 15700})).await;
    assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::Unknown(_))), "{answer:?}");
}

#[tokio::test]
async fn an_answer_about_another_order_or_amount_is_no_answer_to_this_charge() {
    let cielo = |body: Value| async move {
        let exchange = Scripted::with([json(201, &body)]);
        adapter(exchange.factory()).charge(&charge(Method::CreditCard, 15_700)).await
    };
    let mut other_order = sale(&json!({}));
    other_order["MerchantOrderId"] = json!("01935a1b7c007abc8def0123456789ac");
    for body in [
        other_order,
        sale(&json!({"Amount": 15701})),
        sale(&json!({"Currency": "USD"})),
        sale(&json!({"Type": "Boleto"})),
    ] {
        let answer = cielo(body.clone()).await;
        assert!(matches!(answer, ChargeAnswer::Mismatched(_)), "{body}: {answer:?}");
    }
    let mut shouted = sale(&json!({}));
    shouted["MerchantOrderId"] = json!(ORDER.to_uppercase());
    assert!(matches!(cielo(shouted).await, ChargeAnswer::Known(_)));
}

#[tokio::test]
async fn a_card_whose_number_is_gone_is_not_sent() {
    let exchange = Scripted::with([]);
    let mut charge = charge(Method::CreditCard, 15_700);
    charge.card = None;
    let answer = adapter(exchange.factory()).charge(&charge).await;
    assert!(matches!(answer, ChargeAnswer::Failed(CallFailure::NotDelivered(_))), "{answer:?}");
    assert!(exchange.urls().is_empty());
}
