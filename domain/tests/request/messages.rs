//! Sentences of refusals: what is right, so that nobody has to guess, and names that mean nothing.

use quita_domain::request::{Rejection, operation};
use serde_json::{Value, json};

use super::bodies::{boleto, card, full, parse_text, pix, with, without};

fn rejection(body: &Value) -> Rejection {
    parse_text(&body.to_string()).err().unwrap_or_else(|| panic!("accepted: {body:#}"))
}

/// Expects the message of the only thing that is wrong, in English.
#[track_caller]
fn check(body: &Value, message: &str) {
    assert_eq!(rejection(body).to_string(), message, "{body:#}");
}

#[test]
fn an_amount_is_said_to_be_in_cents() {
    for amount in [json!(100.5), json!("100"), json!("100.00"), json!(true)] {
        let expected = "amount: must be an integer number of cents (10000 = R$ 100,00)";
        check(&with(pix(), "/amount", amount.clone()), expected);
        let refund = json!({ "amount": amount }).to_string();
        assert_eq!(operation::parse(refund.as_bytes()).unwrap_err().to_string(), expected);
    }
    let zero = with(pix(), "/amount", json!(0));
    check(&zero, "amount: must be from 1 to 9999999999 cents (10000 = R$ 100,00)");
    let item = |price| with(pix(), "/items", json!([{"name": "a", "quantity": 1, "price": price}]));
    check(&item(json!(1.5)), "items[0].price: must be an integer number of cents (10000 = R$ 100,00)");
    let fee = with(pix(), "/shipping", json!({"fee": "5"}));
    check(&fee, "shipping.fee: must be an integer number of cents (10000 = R$ 100,00)");
    let split = with(pix(), "/splits", json!([{"recipientId": "a", "amount": "5"}]));
    check(&split, "splits[0].amount: must be an integer number of cents (10000 = R$ 100,00)");
}

#[test]
fn what_shops_have_formatted_is_shown_without_its_punctuation() {
    for (name, value, example) in [
        ("document", "529.982.247-25", "52998224725, not 529.982.247-25"),
        ("phoneNumber", "(21) 99999-0000", "11987654321, not (11) 98765-4321"),
        ("address/zipCode", "20040-002", "01310100, not 01310-100"),
    ] {
        let message = rejection(&with(pix(), &format!("/paymentDetails/{name}"), json!(value))).to_string();
        assert!(message.ends_with(example), "{message}");
        assert!(name == "document" || !message.contains(value), "nothing is echoed: {message}");
    }
}

#[test]
fn a_year_has_four_digits_and_a_code_three_or_four() {
    for year in [json!(30), json!("30"), json!(20_300)] {
        let body = with(card(), "/creditCard/expirationYear", year);
        check(&body, "creditCard.expirationYear: must have four digits, such as 2030");
    }
    for cvv in ["", "12", "12345"] {
        let body = with(card(), "/creditCard/cvv", json!(cvv));
        check(&body, "creditCard.cvv: must have 3 digits (American Express: 4)");
        let without_number = with(body, "/creditCard/number", json!("1"));
        let message = rejection(&without_number).violations[1].message.to_string();
        assert_eq!(message, "must have 3 digits (American Express: 4)");
    }
}

#[test]
fn an_object_that_lacks_all_its_alternatives_is_told_each_of_them() {
    let late = |name: &str, value: Value| with(boleto(), &format!("/{name}"), value);
    check(&late("fine", json!({})), "fine: needs percentage or amount");
    check(&late("interest", json!({})), "interest: needs percentagePerMonth or amountPerDay");
    let discount = late("discounts", json!([{ "until": "2026-07-12" }]));
    check(&discount, "discounts[0]: needs percentage or amount");
    check(&with(pix(), "/splits", json!([{ "recipientId": "a" }])), "splits[0]: needs amount or percentage");
    let fine = late("fine", json!({ "value": 500 }));
    check(
        &fine,
        "fine: needs percentage or amount; the request has fine.value, which is unknown; did you mean amount?",
    );
    assert_eq!(
        rejection(&fine).message().portuguese(),
        "fine: precisa de percentage ou amount; a requisição tem fine.value, que é desconhecido; seria amount?"
    );
}

#[test]
fn a_card_without_any_field_needs_a_token_or_all_fields() {
    let needs = "creditCard: needs token, or number, holderName, expirationMonth, expirationYear and cvv";
    let paid_with = |value: Value| with(card(), "/creditCard", value);
    check(&paid_with(json!({})), needs);
    check(&paid_with(json!({ "token": null })), needs);
    assert_eq!(
        rejection(&paid_with(json!({}))).message().portuguese(),
        "creditCard: precisa de token, ou de number, holderName, expirationMonth, expirationYear e cvv"
    );
    for name in ["tokn", "Token", "cardToken", "card_token", "tokenId"] {
        let meant = format!("; the request has creditCard.{name}, which is unknown; did you mean token?");
        check(&paid_with(json!({ name: "x" })), &format!("{needs}{meant}"));
    }
    let by_value = "; the request has creditCard.id, which is unknown; did you mean token?";
    check(&paid_with(json!({ "id": "tok_1" })), &format!("{needs}{by_value}"));
    check(&paid_with(json!({ "id": "1" })), needs);
    check(&paid_with(json!({ "tokn": "x", "card_token": "y" })), needs);
    let partly = rejection(&paid_with(json!({ "cvv": "123" })));
    assert_eq!(partly.to_string(), "creditCard.number: is required; and 3 more");
}

#[test]
fn a_month_with_other_digits_is_told_how_many_it_has() {
    for month in ["012", "100"] {
        let body = with(card(), "/creditCard/expirationMonth", json!(month));
        check(&body, "creditCard.expirationMonth: must have one or two digits, such as 3 or 03");
        assert_eq!(
            rejection(&body).message().portuguese(),
            "creditCard.expirationMonth: deve ter um ou dois dígitos, como 3 ou 03"
        );
    }
}

#[test]
fn metadata_with_a_name_of_card_data_is_told_which() {
    let named = |name: &str| with(pix(), "/metadata", json!({ "color": "red", name: "x" }));
    let long = format!("c{}vv", "-".repeat(40));
    for (name, shown) in
        [("cvv", "cvv"), ("Card Number", "Card Number"), ("cárd-number", "cardnumber"), (&long, "cvv")]
    {
        let told =
            format!("metadata: its name {shown} is a name of card data, which belongs only in creditCard");
        let message = rejection(&named(name)).message();
        assert!(message.english().starts_with(&told), "{message}");
        let told =
            format!("metadata: seu nome {shown} é um nome de dado de cartão, que só cabe em creditCard");
        assert!(message.portuguese().starts_with(&told), "{message:?}");
    }
    let number = rejection(&named("4111111111111111")).to_string();
    assert!(number.starts_with("metadata: ") && !number.contains("4111"), "{number}");
    let hidden = rejection(&named("cvv\u{664}\u{661}\u{661}\u{661}")).to_string();
    assert!(hidden.starts_with("metadata: its name cvv is a name"), "{hidden}");
}

#[test]
fn a_body_without_anything_is_said_to_be_empty() {
    for body in ["", " \n"] {
        let rejection = parse_text(body).err().unwrap();
        assert_eq!(rejection.to_string(), "the body is empty; send a JSON object");
        assert_eq!(rejection.message().portuguese(), "o corpo está vazio; envie um objeto JSON");
    }
}

#[test]
fn the_first_violation_stands_for_all_in_both_languages() {
    let body =
        without(with(with(pix(), "/amount", json!("1")), "/currency", json!(7)), "/paymentDetails/email");
    let message = rejection(&body).message();
    assert_eq!(
        message.english(),
        "amount: must be an integer number of cents (10000 = R$ 100,00); and 2 more"
    );
    assert_eq!(
        message.portuguese(),
        "amount: deve ser um número inteiro de centavos (10000 = R$ 100,00); e mais 2"
    );
}

#[test]
fn names_that_the_contract_knows_are_no_unknown_names() {
    for body in [pix(), boleto(), card(), full()] {
        assert_eq!(parse_text(&body.to_string()).unwrap().unknown, [], "{body:#}");
    }
}

#[test]
fn names_that_mean_nothing_are_told_of_what_is_accepted_and_of_what_is_refused() {
    let unknown = |body: &Value| {
        let read = parse_text(&body.to_string());
        let unknown = read.map_or_else(|rejection| rejection.unknown, |request| request.unknown);
        unknown.into_iter().map(|name| (name.path, name.meant)).collect::<Vec<_>>()
    };
    let misspelled = with(pix(), "/postback_url", json!("https://a.example"));
    let expected = [("postback_url".to_owned(), Some("postbackUrl".to_owned()))];
    assert_eq!(unknown(&misspelled), expected);
    assert_eq!(unknown(&with(misspelled.clone(), "/amount", json!("x"))), expected);
    assert_eq!(unknown(&with(misspelled, "/amount", json!(0))), expected);
    let refund = operation::parse(br#"{"reason":"x"}"#).unwrap();
    assert_eq!((refund.amount, refund.unknown[0].meant.as_deref()), (None, None));
}
