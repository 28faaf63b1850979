//! Fingerprints, which tell whether two bodies count as the same request under one key.

use std::collections::BTreeSet;

use quita_domain::request::parse;
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use super::bodies::{LIMITS, accept, boleto, card, full, parse_text, pix, with, without};

const SECRET: &[u8] = b"a secret of this server";

fn fingerprint(body: &Value) -> String {
    accept(body).fingerprint(SECRET)
}

#[test]
fn a_fingerprint_is_the_same_in_every_release() {
    assert_eq!(fingerprint(&pix()), "687d6e9df35e041a0bf952458eb7424c397524cdc7f18b04b3e7a9c119527644");
    assert_eq!(fingerprint(&full()), "a9b686f9d50713aa7bb00539d7e5ef533685b2198a6852cd50ba0779dfc177b5");
}

#[test]
fn it_is_keyed() {
    assert_ne!(accept(&pix()).fingerprint(b"another"), fingerprint(&pix()));
    assert_eq!(accept(&pix()).fingerprint(&[7; 200]).len(), 64);
    assert_ne!(accept(&pix()).fingerprint(b""), fingerprint(&pix()));
}

#[test]
fn spelling_makes_no_difference() {
    let same = [
        with(full(), "/paymentMethod", json!("CREDIT_CARD")),
        with(full(), "/paymentDetails/documentType", json!("cpf")),
        with(full(), "/paymentDetails/firstName", json!(" Maria ")),
        with(full(), "/creditCard/expirationMonth", json!("12")),
        with(full(), "/creditCard/cvv", json!("123")),
        with(full(), "/expiresIn", json!(null)),
        with(full(), "/unknown", json!(1)),
        without(full(), "/paymentDetails/address/country"),
    ];
    for body in same {
        assert_eq!(fingerprint(&body), fingerprint(&full()), "{body:#}");
    }
    assert_eq!(fingerprint(&with(pix(), "/expiresIn", json!(3600))), fingerprint(&pix()));
    assert_eq!(fingerprint(&with(pix(), "/items", json!([]))), fingerprint(&pix()));
    assert_eq!(fingerprint(&with(card(), "/capture", json!(true))), fingerprint(&card()));
}

#[test]
fn the_order_of_names_makes_no_difference() {
    let backwards = r#"{"currency":"BRL","amount":10000,"paymentMethod":"pix"}"#;
    let payer = pix()["paymentDetails"].to_string();
    let body = backwards.replacen('{', &format!("{{\"paymentDetails\":{payer},"), 1);
    assert_eq!(parse_text(&body).unwrap().fingerprint(SECRET), fingerprint(&pix()));
}

#[test]
fn everything_that_was_asked_for_makes_a_difference() {
    let changes = [
        ("/amount", json!(10_001)),
        ("/paymentDetails/firstName", json!("Mariana")),
        ("/paymentDetails/lastName", json!("Silva")),
        ("/paymentDetails/document", json!("52998224725")),
        ("/paymentDetails/email", json!("maria@example.org")),
        ("/paymentDetails/phoneNumber", json!("5511987654321")),
        ("/paymentDetails/address/street", json!("Rua Augusta")),
        ("/paymentDetails/address/number", json!("1001")),
        ("/paymentDetails/address/complement", json!(null)),
        ("/paymentDetails/address/neighborhood", json!("Centro")),
        ("/paymentDetails/address/city", json!("Santos")),
        ("/paymentDetails/address/state", json!("RJ")),
        ("/paymentDetails/address/zipCode", json!("01310101")),
        ("/shipping/fee", json!(501)),
        ("/shipping", json!(null)),
        ("/items/0/id", json!(null)),
        ("/items/0/name", json!("Camisa")),
        ("/items/0/quantity", json!(3)),
        ("/items/0/price", json!(5001)),
        ("/items", json!(null)),
        ("/postbackUrl", json!("https://shop.example.com/hook")),
        ("/splits/0/recipientId", json!("r3")),
        ("/splits/0/percentage", json!(13)),
        (
            "/splits",
            json!([{ "recipientId": "r1", "amount": 1200 }, { "recipientId": "r2", "amount": 5000 }]),
        ),
        ("/UTMSource", json!("x")),
        ("/UTMContent", json!(null)),
        ("/installments", json!(4)),
        ("/creditCard/number", json!("4000000000000002")),
        ("/creditCard/holderName", json!("JOSE DA SILVA")),
        ("/creditCard/expirationMonth", json!(11)),
        ("/creditCard/expirationYear", json!(2031)),
        ("/capture", json!(true)),
        ("/externalReference", json!("order-8")),
        ("/metadata/color", json!("red")),
        ("/metadata", json!({ "color": "blueM", "size": "" })),
    ];
    let mut seen = BTreeSet::from([fingerprint(&full())]);
    for (pointer, value) in changes {
        assert!(seen.insert(fingerprint(&with(full(), pointer, value))), "{pointer}");
    }
}

#[test]
fn a_due_date_that_was_not_sent_is_the_same_on_every_day() {
    let on = |body: &Value, day: &str| {
        let now = Timestamp::parse(day).unwrap();
        parse(body.to_string().as_bytes(), now, &LIMITS).unwrap().fingerprint(SECRET)
    };
    let first = "2026-07-10T15:00:00Z";
    let later = "2028-01-01T15:00:00Z";
    assert_eq!(on(&boleto(), first), on(&boleto(), later));
    let sent = with(boleto(), "/dueDate", json!("2026-07-13"));
    assert_eq!(on(&sent, first), on(&sent, later));
    assert_ne!(on(&sent, first), on(&boleto(), first));
    assert_eq!(on(&card(), first), on(&card(), "2040-01-01T15:00:00Z"));
}
