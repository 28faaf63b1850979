//! Valid bodies to begin with, and the check that all tests call.

use quita_domain::request::{
    ParsedRequest, PostbackPolicy, Rejection, RejectionKind, RequestLimits, code, parse,
};
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

pub(crate) const CARD_NUMBER: &str = "4242424242424242";
pub(crate) const CVV: &str = "739";

pub(crate) const LIMITS: RequestLimits =
    RequestLimits { max_installments: 12, postback: PostbackPolicy::HttpsPublicOnly };

/// 10 July 2026, 12:00 in São Paulo.
pub(crate) fn now() -> Timestamp {
    Timestamp::parse("2026-07-10T15:00:00.000Z").unwrap()
}

/// A PIX request with only what is required.
pub(crate) fn pix() -> Value {
    json!({
        "paymentMethod": "pix",
        "amount": 10_000,
        "currency": "BRL",
        "paymentDetails": {
            "firstName": "Maria",
            "lastName": "da Silva",
            "document": "11144477735",
            "documentType": "CPF",
            "email": "maria@example.com",
            "phoneNumber": "11987654321",
            "address": {
                "street": "Av. Paulista",
                "number": "1000",
                "neighborhood": "Bela Vista",
                "city": "São Paulo",
                "state": "SP",
                "zipCode": "01310100",
            },
        },
    })
}

/// A boleto request with only what is required.
pub(crate) fn boleto() -> Value {
    with(pix(), "/paymentMethod", json!("boleto"))
}

/// A card request with only what is required.
pub(crate) fn card() -> Value {
    let mut body = with(pix(), "/paymentMethod", json!("credit_card"));
    body["installments"] = json!(3);
    body["creditCard"] = json!({
        "number": CARD_NUMBER,
        "holderName": "MARIA DA SILVA",
        "expirationMonth": 12,
        "expirationYear": 2030,
        "cvv": CVV,
    });
    body
}

/// A card request with everything in it that a request can have.
pub(crate) fn full() -> Value {
    let mut body = card();
    body["paymentDetails"]["address"]["complement"] = json!("ap. 12");
    body["paymentDetails"]["address"]["country"] = json!("BR");
    body["shipping"] = json!({ "fee": 500 });
    body["items"] = json!([
        { "id": "018f3b1a-7c00-7000-8000-000000000001", "name": "Camiseta", "quantity": 2, "price": 5000 },
        { "name": "Frete grátis", "quantity": 1, "price": 0 },
    ]);
    body["postbackUrl"] = json!("https://shop.example.com/hooks");
    body["splits"] =
        json!([{ "recipientId": "r1", "percentage": 12 }, { "recipientId": "r2", "percentage": 50 }]);
    for name in ["UTMSource", "UTMMedium", "UTMCampaign", "UTMTerm", "UTMContent"] {
        body[name] = json!(name.to_lowercase());
    }
    body["capture"] = json!(false);
    body["externalReference"] = json!("order-7");
    body["metadata"] = json!({ "color": "blue", "size": "M" });
    body
}

/// The body with another value at a JSON pointer; the last step may be new.
pub(crate) fn with(mut body: Value, pointer: &str, value: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match body.pointer_mut(parent).unwrap() {
        Value::Array(entries) => entries[name.parse::<usize>().unwrap()] = value,
        parent => parent[name] = value,
    }
    body
}

/// The body without the member at a JSON pointer.
pub(crate) fn without(mut body: Value, pointer: &str) -> Value {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    body.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name).unwrap();
    body
}

pub(crate) fn parse_text(body: &str) -> Result<ParsedRequest, Rejection> {
    parse(body.as_bytes(), now(), &LIMITS)
}

/// Reads a body that keeps every rule.
pub(crate) fn accept(body: &Value) -> ParsedRequest {
    let read = parse_text(&body.to_string()).unwrap_or_else(|rejection| panic!("{rejection:?}\n{body:#}"));
    assert_eq!(read.clock_violations, [], "{body:#}");
    read
}

/// Expects exactly these violations, `field code` each, of the rules; none means acceptance.
pub(crate) fn check(body: &Value, expected: &[&str]) {
    if expected.is_empty() {
        accept(body);
    } else {
        check_rejected(&body.to_string(), RejectionKind::Unprocessable, expected);
    }
}

/// Expects exactly these violations, `field code` each, of the shape.
pub(crate) fn check_shape(body: &Value, expected: &[&str]) {
    check_rejected(&body.to_string(), RejectionKind::Malformed, expected);
}

/// Expects exactly these violations for a body that `json!` cannot write.
pub(crate) fn check_rejected(body: &str, kind: RejectionKind, expected: &[&str]) {
    let rejection = parse_text(body).err().unwrap_or_else(|| panic!("accepted: {body}"));
    let found: Vec<_> =
        rejection.violations.iter().map(|found| format!("{} {}", found.field, found.code)).collect();
    assert_eq!(found, expected, "{body}");
    assert_eq!(rejection.kind, kind, "{body}");
    check_message(&rejection, body);
}

/// Codes are on the list, messages are sentences, and nothing of a card is disclosed.
pub(crate) fn check_message(rejection: &Rejection, body: &str) {
    assert!(!rejection.violations.is_empty(), "{body}");
    for violation in &rejection.violations {
        assert!(code::ALL.contains(&violation.code), "{violation:?}");
        for message in [violation.message.english(), violation.message.portuguese()] {
            assert!(message.len() > 3 && message.len() < 120, "{violation:?}");
        }
        assert!(violation.field.len() < 200, "{violation:?}");
    }
    let told = format!("{rejection:?} {rejection}");
    // The column of a syntax error may happen to be the code.
    let is_syntax = rejection.violations[0].code == code::SYNTAX;
    assert!(!told.contains(CARD_NUMBER) && (is_syntax || !told.contains(CVV)), "{told}");
}
