//! PIX through Cielo.

use quita_domain::acquiring::{ChargeAnswer, Fact, Issued, RemovedBy};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::OperationKind;
use quita_domain::order::Terms;
use quita_domain::pix::br_code::StaticBrCode;
use quita_domain::pix::key::PixKey;
use quita_ports::AcquirerFactory;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::bank::Bank;
use crate::payment::*;
use crate::scripted::{Scripted, json};

fn sale(payment: &Value) -> Value {
    let mut whole = json!({"PaymentId": SALE, "Type": "Pix", "Amount": 10000, "Status": 12});
    for (name, value) in payment.as_object().unwrap() {
        whole[name] = value.clone();
    }
    json!({"MerchantOrderId": ORDER, "Payment": whole})
}

async fn answered(payment: Value) -> ChargeAnswer {
    let exchange = Scripted::with([json(201, &sale(&payment))]);
    adapter(exchange.factory()).charge(&charge(Method::Pix, 10_000)).await
}

#[tokio::test]
async fn a_charge_is_sent_with_its_provider_and_its_time() {
    let exchange = Scripted::with([]);
    adapter(exchange.factory()).charge(&charge(Method::Pix, 10_000)).await;
    let expected = json!({
        "MerchantOrderId": ORDER,
        "Customer": {"Name": "Fulano de Tal", "Identity": "11144477735", "IdentityType": "CPF"},
        "Payment": {"Type": "Pix", "Provider": "Cielo2", "Amount": 10000, "QrCode": {"Expiration": 3600}},
    });
    assert_eq!(exchange.body(0), expected);
}

#[tokio::test(start_paused = true)]
async fn what_is_sent_again_lives_no_longer_than_the_payment() {
    let exchange = Scripted::with([]);
    let cielo = adapter(exchange.factory());
    let expiration = |place| exchange.body(place)["Payment"]["QrCode"]["Expiration"].clone();
    tokio::time::advance(std::time::Duration::from_secs(600)).await;
    cielo.charge(&charge(Method::Pix, 10_000)).await;
    assert_eq!(expiration(0), 3000);
    tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    cielo.charge(&charge(Method::Pix, 10_000)).await;
    assert_eq!(expiration(1), 60);
}

#[tokio::test]
async fn more_than_a_day_is_refused_and_in_the_old_form_more_than_two_hours() {
    let exchange = Scripted::with([]);
    let expiring = |expires_in_s| {
        let mut charge = charge(Method::Pix, 10_000);
        charge.query.terms = Terms::Pix { expires_in_s };
        charge
    };
    let refused = ChargeAnswer::Refused("expiry_too_long".into());
    assert_eq!(adapter(exchange.factory()).charge(&expiring(86_401)).await, refused);
    let mut old_form = settings();
    old_form.pix_provider = None;
    let cielo = factory(old_form, Mode::Live, exchange.factory()).build();
    assert_eq!(cielo.charge(&expiring(7_201)).await, refused);
    assert!(exchange.urls().is_empty());
    cielo.charge(&expiring(7_200)).await;
    assert_eq!(exchange.body(0)["Payment"], json!({"Type": "Pix", "Amount": 10000}));
}

#[tokio::test]
async fn the_code_waits_for_its_payer() {
    let code = br_code(Some("100.00"));
    let payment =
        json!({"QrCodeString": code, "SentOrderId": "abc123abc123abc123abc123abc", "QrcodeBase64Image": "…"});
    let [Fact::Pending { issued: Issued::Pix { txid, code: shown, expires_at }, .. }] =
        &facts(answered(payment).await)[..]
    else {
        panic!()
    };
    assert_eq!((txid.as_str(), shown), ("abc123abc123abc123abc123abc", &code));
    assert_eq!(*expires_at, created_at().plus_ms(3_600_000));
    let [Fact::Pending { issued: Issued::Pix { txid, .. }, .. }] =
        &facts(answered(json!({"qrCodeSTRING": code})).await)[..]
    else {
        panic!()
    };
    assert_eq!(txid, ORDER);
}

#[tokio::test]
async fn a_code_that_a_payer_could_not_use_is_never_shown() {
    let key = PixKey::parse("fulano@example.com").unwrap();
    let open = StaticBrCode::new(key, "LOJA".into(), "SAO PAULO".into()).build().unwrap();
    let right = br_code(Some("100.00"));
    for code in [
        json!(null),
        json!(""),
        json!("00020126"),
        json!(right.replace("LOJA", "LOTA")),
        json!(br_code(Some("100.01"))),
        json!(br_code(Some("1.00"))),
        json!(br_code(Some("abc"))),
        json!(open),
    ] {
        let answer = answered(json!({ "QrCodeString": code })).await;
        let ChargeAnswer::WithoutCode(reference) = answer else { panic!("{code}: {answer:?}") };
        assert_eq!(reference.get("paymentId"), Some(SALE));
    }
}

#[tokio::test]
async fn money_is_stated_with_its_end_to_end_id() {
    let payment =
        json!({"Status": 2, "CapturedAmount": "10000", "EndToEndId": "E9999999920261121120012345678901"});
    let [Fact::Settled(settlement)] = &facts(answered(payment).await)[..] else { panic!() };
    assert_eq!((settlement.id.as_str(), settlement.amount), (SALE, Money::from_cents(10_000)));
    assert_eq!(settlement.end_to_end_id.as_deref(), Some("E9999999920261121120012345678901"));
    assert_eq!(settlement.approval, None);
}

#[tokio::test]
async fn one_that_failed_before_its_code_was_known_is_refused_and_later_removed() {
    for status in [3, 13] {
        let payment = json!({"Status": status, "ReturnCode": "BP901", "ReturnMessage": "Pix is not enabled"});
        let answer = answered(payment.clone()).await;
        assert_eq!(answer, ChargeAnswer::Refused("BP901: Pix is not enabled".into()));
        let exchange = Scripted::with([json(200, &sale(&payment))]);
        let mut shown = named(query(Method::Pix, 10_000), SALE);
        shown.issued = Some(Arc::new(issued()));
        let answer = adapter(exchange.factory()).inquire(&shown).await;
        assert_eq!(facts(answer), [Fact::Removed { by: RemovedBy::Acquirer }]);
    }
}

fn issued() -> Issued {
    let expires_at = created_at().plus_ms(3_600_000);
    Issued::Pix { txid: ORDER.into(), code: br_code(None), expires_at }
}

#[tokio::test(start_paused = true)]
async fn one_that_ended_unpaid_is_removed_before_its_time_and_expired_after_it() {
    let gone = json(200, &sale(&json!({"Status": 10})));
    let exchange = Scripted::with([gone.clone(), gone.clone(), gone.clone(), gone]);
    let cielo = adapter(exchange.factory());
    let mut shown = named(query(Method::Pix, 10_000), SALE);
    shown.issued = Some(Arc::new(issued()));
    assert_eq!(facts(cielo.inquire(&shown).await), [Fact::Removed { by: RemovedBy::Receiver }]);
    tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    assert_eq!(facts(cielo.inquire(&shown).await), [Fact::Expired]);
    shown.sent_at = created_at().plus_ms(60_000);
    let by = RemovedBy::Receiver;
    assert_eq!(facts(cielo.inquire(&shown).await), [Fact::Removed { by }], "it was sent a minute later");
    shown.cancelled_at = Some(created_at());
    assert_eq!(facts(cielo.inquire(&shown).await), [Fact::Cancelled]);
}

#[tokio::test]
async fn an_inquiry_that_does_not_repeat_the_code_leaves_the_one_that_was_shown() {
    let exchange = Scripted::with([json(200, &sale(&json!({})))]);
    let mut shown = named(query(Method::Pix, 10_000), SALE);
    shown.issued = Some(Arc::new(issued()));
    let [Fact::Pending { issued: stated, .. }] =
        &facts(adapter(exchange.factory()).inquire(&shown).await)[..]
    else {
        panic!()
    };
    assert_eq!(*stated, issued());
}

#[tokio::test]
async fn the_cancellation_of_an_unpaid_charge_is_known_here_alone() {
    let bank = Bank::default();
    let cielo = adapter(bank.factory());
    for method in [Method::Pix, Method::Boleto] {
        let query = named(query(method, 10_000), SALE);
        let cancel = operation(OperationKind::Cancel);
        assert_eq!(cielo.operate(&query, &cancel).await, quita_domain::acquiring::OperationAnswer::Done);
        assert_eq!(
            cielo.inquire_operation(&query, &cancel).await,
            quita_domain::acquiring::OperationAnswer::Done
        );
    }
    assert!(bank.books(|books| books.calls.is_empty()));
}
