//! `creditCard.token`, and the body of `POST /pay/tokens`.

use quita_domain::card::token::{CardTokens, TokenContents};
use quita_domain::card::{CardData, CardNumber, Cvv, Expiry};
use quita_domain::request::{self, ParsedRequest, Rejection, evaluation, token};
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use super::bodies::{CARD_NUMBER, LIMITS, card, now, with, without};

/// Opener of one token, whose contents end at this time.
struct OneToken(Timestamp);

impl CardTokens for OneToken {
    fn open(&self, token: &str) -> Option<TokenContents> {
        let number = CardNumber::parse(CARD_NUMBER).unwrap();
        let cvv = Cvv::parse("987", number.brand()).unwrap();
        let expiry = Expiry::new(12, 2049).unwrap();
        let card = CardData { number, holder_name: "MARIA DA SILVA".into(), expiry, cvv };
        (token == "tok_1").then_some(TokenContents { card, expires_at: self.0 })
    }
}

fn paid_with(token: &str) -> Value {
    with(card(), "/creditCard", json!({ "token": token }))
}

fn parse(body: &Value, ends_in_ms: i64) -> Result<ParsedRequest, Rejection> {
    let tokens = OneToken(Timestamp::from_millis(now().millis() + ends_in_ms));
    request::parse_with(&tokens, body.to_string().as_bytes(), now(), &LIMITS)
}

fn violations(rejection: &Rejection) -> Vec<String> {
    rejection.violations.iter().map(|wrong| format!("{} {}", wrong.field, wrong.code)).collect()
}

#[test]
fn a_token_is_the_card_that_it_was_made_of() {
    let purchase = parse(&paid_with("tok_1"), 1).unwrap().into_purchase().unwrap();
    assert_eq!(purchase.order.card().unwrap().last_digits, "4242");
    assert_eq!(purchase.card.unwrap().number.expose(), CARD_NUMBER);
}

#[test]
fn the_fingerprint_is_that_of_the_card() {
    let of = |body: &Value| parse(body, 1).unwrap().fingerprint(b"key");
    let in_words = with(
        with(card(), "/creditCard/holderName", json!("MARIA DA SILVA")),
        "/creditCard/expirationYear",
        json!(2049),
    );
    let in_words = with(in_words, "/creditCard/expirationMonth", json!(12));
    assert_eq!(of(&paid_with("tok_1")), of(&in_words));
    assert_ne!(of(&paid_with("tok_1")), of(&with(paid_with("tok_1"), "/amount", json!(1))));
}

#[test]
fn an_unknown_token_is_refused_and_an_expired_one_for_a_new_payment_only() {
    let unknown = parse(&paid_with("tok_2"), 1).unwrap_err();
    assert_eq!(violations(&unknown), ["creditCard.token token_unknown"]);
    let message = unknown.message();
    assert!(message.english().contains("the same merchant and mode as the publishable key"), "{message}");
    assert!(message.portuguese().contains("mesmo lojista e modo que a chave publicável"), "{message:?}");
    let expired = parse(&paid_with("tok_1"), 0).unwrap();
    assert!(!expired.fingerprint(b"key").is_empty(), "a known key is answered in spite of it");
    assert_eq!(violations(&expired.into_purchase().unwrap_err()), ["creditCard.token token_expired"]);
}

#[test]
fn a_token_that_is_no_text_is_told_as_that() {
    for token in [json!(1), json!(["tok_1"]), json!({}), json!(true)] {
        let body = with(paid_with("tok_1"), "/creditCard/token", token);
        assert_eq!(violations(&parse(&body, 1).unwrap_err()), ["creditCard.token type"]);
    }
}

#[test]
fn a_token_has_no_other_field_beside_it() {
    for name in ["number", "holderName", "expirationMonth", "expirationYear", "cvv"] {
        let body = with(paid_with("tok_1"), &format!("/creditCard/{name}"), json!("12"));
        assert_eq!(violations(&parse(&body, 1).unwrap_err()), ["creditCard.token not_applicable"], "{name}");
    }
    let absent = with(paid_with("tok_1"), "/creditCard/cvv", Value::Null);
    assert!(parse(&absent, 1).is_ok());
}

#[test]
fn no_text_has_the_number_of_the_card_in_the_token() {
    let body = with(paid_with("tok_1"), "/externalReference", json!(CARD_NUMBER));
    assert_eq!(violations(&parse(&body, 1).unwrap_err()), ["externalReference card_number"]);
}

#[test]
fn a_dry_run_takes_a_token() {
    let tokens = OneToken(Timestamp::from_millis(now().millis() + 1));
    let parse = |body: &Value| evaluation::parse_with(&tokens, body.to_string().as_bytes(), now(), &LIMITS);
    assert_eq!(parse(&paid_with("tok_1")).unwrap().order.card().unwrap().first_digits, "424242");
    assert_eq!(violations(&parse(&paid_with("tok_2")).unwrap_err()), ["creditCard.token token_unknown"]);
}

#[test]
fn a_card_to_tokenize_is_checked_as_that_of_a_creation() {
    let body = json!({"creditCard": card()["creditCard"]});
    let parse = |body: &Value| token::parse(body.to_string().as_bytes(), now());
    assert_eq!(parse(&body).unwrap().card.number.expose(), CARD_NUMBER);
    assert_eq!(violations(&parse(&json!({})).unwrap_err()), ["creditCard required"]);
    for (name, value, code) in [
        ("number", json!("4242424242424241"), "check_digit"),
        ("cvv", json!("1"), "length"),
        ("expirationYear", json!(2020), "expired"),
        ("holderName", json!("💳".repeat(100)), "length"),
    ] {
        let body = with(body.clone(), &format!("/creditCard/{name}"), value);
        let field = format!("creditCard.{name} {code}");
        assert_eq!(violations(&parse(&body).unwrap_err()), [field.as_str()], "{name}");
    }
    let missing = without(body, "/creditCard/cvv");
    assert_eq!(violations(&parse(&missing).unwrap_err()), ["creditCard.cvv required"]);
}
