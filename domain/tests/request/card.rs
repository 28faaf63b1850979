//! The rows of `installments`, `creditCard` and `capture`.

use quita_domain::card::Brand;
use quita_domain::request::RejectionKind;
use serde_json::{Value, json};

use super::bodies::{
    CARD_NUMBER, CVV, accept, card, check, check_shape, full, now, parse_text, pix, with, without,
};

#[test]
fn a_card_is_kept_out_of_the_order() {
    let purchase = accept(&card()).purchase;
    let stored = serde_json::to_string(&purchase.order).unwrap();
    assert!(!stored.contains(CARD_NUMBER) && !stored.contains(CVV), "{stored}");
    assert!(!format!("{purchase:?}").contains(CARD_NUMBER));
    let data = purchase.card.unwrap();
    assert_eq!((data.number.expose(), data.cvv.expose()), (CARD_NUMBER, CVV));
    assert_eq!(data.number.brand(), Brand::Visa);
    assert_eq!(purchase.order.card().unwrap().last_digits, "4242");
    assert!(purchase.order.captures_at_once());
}

#[test]
fn a_card_number_passes_luhn_and_has_a_known_brand() {
    let body = |number: &str| with(card(), "/creditCard/number", json!(number));
    for number in ["5555555555554444", "6062826786276634", "6362970000457013", "4000000000000002"] {
        check(&body(number), &[]);
    }
    for (number, code) in [
        ("4242424242424241", "check_digit"),
        ("4242 4242 4242 4242", "character"),
        ("4242-4242-4242-4242", "character"),
        ("", "length"),
        ("424242424242", "length"),
        ("42424242424242424242", "length"),
        ("0000000000000000", "unknown_brand"),
        ("55555555555553", "brand_length"),
    ] {
        check(&body(number), &[&format!("creditCard.number {code}")]);
    }
}

#[test]
fn the_brand_decides_how_long_the_security_code_is() {
    let amex = with(card(), "/creditCard/number", json!("378282246310005"));
    check(&with(amex.clone(), "/creditCard/cvv", json!("1234")), &[]);
    check(&with(amex, "/creditCard/cvv", json!("123")), &["creditCard.cvv length"]);
    for (cvv, code) in [("98", "length"), ("9876", "length"), ("", "length"), ("98x", "character")] {
        check(&with(card(), "/creditCard/cvv", json!(cvv)), &[&format!("creditCard.cvv {code}")]);
    }
    let unknown = with(card(), "/creditCard/number", json!("1"));
    check(&with(unknown.clone(), "/creditCard/cvv", json!("1234")), &["creditCard.number length"]);
    let both = ["creditCard.number length", "creditCard.cvv character"];
    check(&with(unknown, "/creditCard/cvv", json!("12x")), &both);
}

#[test]
fn month_and_year_are_integers_or_texts() {
    for (month, year) in [(json!(1), json!(2027)), (json!("01"), json!("2027")), (json!("1"), json!(2027))] {
        let body =
            with(with(card(), "/creditCard/expirationMonth", month), "/creditCard/expirationYear", year);
        assert_eq!(accept(&body).purchase.card.unwrap().expiry.to_string(), "01/2027");
    }
    for (name, value, code) in [
        ("expirationMonth", json!(0), "range"),
        ("expirationMonth", json!(13), "range"),
        ("expirationMonth", json!("00"), "range"),
        ("expirationMonth", json!("13"), "range"),
        ("expirationMonth", json!(-1), "range"),
        ("expirationMonth", json!(""), "character"),
        ("expirationMonth", json!("+1"), "character"),
        ("expirationMonth", json!("001"), "length"),
        ("expirationYear", json!(30), "range"),
        ("expirationYear", json!(10_000), "range"),
        ("expirationYear", json!("30"), "length"),
        ("expirationYear", json!("20300"), "length"),
        ("expirationYear", json!("203O"), "character"),
    ] {
        check(&with(card(), &format!("/creditCard/{name}"), value), &[&format!("creditCard.{name} {code}")]);
    }
    for value in [json!(1.5), json!(true), json!([])] {
        check_shape(
            &with(card(), "/creditCard/expirationMonth", value),
            &["creditCard.expirationMonth type"],
        );
    }
}

#[test]
fn an_expired_card_is_a_matter_of_the_clock() {
    let body = with(
        with(card(), "/creditCard/expirationMonth", json!(7)),
        "/creditCard/expirationYear",
        json!(2026),
    );
    check(&body, &[]);
    let expired = with(body, "/creditCard/expirationMonth", json!(6));
    let read = parse_text(&expired.to_string()).unwrap();
    let [violation] = &read.clock_violations[..] else { panic!("{:?}", read.clock_violations) };
    assert_eq!((violation.field.as_str(), violation.code), ("creditCard.expirationYear", "expired"));
    let rejection = read.into_purchase().unwrap_err();
    assert_eq!(rejection.kind, RejectionKind::Unprocessable);
    let also = with(expired, "/installments", json!(0));
    check(&also, &["installments range", "creditCard.expirationYear expired"]);
    assert_eq!(now().sao_paulo_date().to_string(), "2026-07-10");
}

#[test]
fn the_holder_has_a_name() {
    let body = |name: &str| with(card(), "/creditCard/holderName", json!(name));
    check(&body(&"Ç".repeat(100)), &[]);
    for (name, code) in
        [("", "length"), ("  ", "length"), (&*"N".repeat(101), "length"), ("N\u{0}", "character")]
    {
        check(&body(name), &[&format!("creditCard.holderName {code}")]);
    }
}

#[test]
fn a_card_has_all_its_parts_as_texts() {
    for name in ["number", "holderName", "expirationMonth", "expirationYear", "cvv"] {
        let pointer = format!("/creditCard/{name}");
        check_shape(&without(card(), &pointer), &[&format!("creditCard.{name} required")]);
        check_shape(&with(card(), &pointer, json!(null)), &[&format!("creditCard.{name} required")]);
        check_shape(&with(card(), &pointer, json!({})), &[&format!("creditCard.{name} type")]);
    }
    for (name, value) in [("number", json!(4_242_424_242_424_242_u64)), ("cvv", json!(739))] {
        check_shape(
            &with(card(), &format!("/creditCard/{name}"), value),
            &[&format!("creditCard.{name} type")],
        );
    }
}

#[test]
fn a_card_payment_needs_card_and_installments() {
    let neither = without(without(card(), "/creditCard"), "/installments");
    check_shape(&neither, &["installments required", "creditCard required"]);
    check_shape(&with(card(), "/creditCard", json!("4242")), &["creditCard type"]);
    for count in [1, 12] {
        check(&with(card(), "/installments", json!(count)), &[]);
    }
    for count in [0, 13, -1, 256] {
        check(&with(card(), "/installments", json!(count)), &["installments range"]);
    }
    for value in [json!("3"), json!(3.5), json!([])] {
        check_shape(&with(card(), "/installments", value), &["installments type"]);
    }
}

#[test]
fn what_is_a_cards_is_refused_for_others() {
    let foreign = |name: &str, value: Value| with(pix(), &format!("/{name}"), value);
    check(&foreign("installments", json!(1)), &[]);
    check(&foreign("installments", json!(2)), &["installments not_applicable"]);
    check(&foreign("capture", json!(true)), &["capture not_applicable"]);
    check(&foreign("creditCard", json!({})), &["creditCard not_applicable"]);
    check(&foreign("creditCard", card()["creditCard"].clone()), &["creditCard not_applicable"]);
    check_shape(&foreign("creditCard", json!("4242")), &["creditCard type"]);
    check_shape(&foreign("capture", json!("false")), &["capture type"]);
}

#[test]
fn capture_is_true_or_false() {
    assert!(!accept(&with(card(), "/capture", json!(false))).purchase.order.captures_at_once());
    assert!(accept(&with(card(), "/capture", json!(true))).purchase.order.captures_at_once());
    for value in [json!(0), json!("true")] {
        check_shape(&with(card(), "/capture", value), &["capture type"]);
    }
}

#[test]
fn the_card_number_is_refused_wherever_it_would_be_kept() {
    let sentence = json!(format!("card {CARD_NUMBER}"));
    for (pointer, field) in [
        ("/creditCard/holderName", "creditCard.holderName"),
        ("/paymentDetails/firstName", "paymentDetails.firstName"),
        ("/paymentDetails/address/complement", "paymentDetails.address.complement"),
        ("/items/0/name", "items[0].name"),
        ("/splits/0/recipientId", "splits[0].recipientId"),
        ("/UTMTerm", "UTMTerm"),
        ("/externalReference", "externalReference"),
        ("/metadata/color", "metadata.color"),
        ("/postbackUrl", "postbackUrl"),
    ] {
        check(&with(full(), pointer, sentence.clone()), &[&format!("{field} card_number")]);
    }
    check(&with(full(), "/metadata", json!({ CARD_NUMBER: "v" })), &["metadata card_number"]);
}
