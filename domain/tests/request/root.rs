//! The rows of the body itself: method, amount, currency, shipping, reference, campaign, metadata, postback.

use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::request::{PostbackPolicy, RejectionKind, RequestLimits, parse};
use serde_json::{Map, Value, json};

use super::bodies::{
    LIMITS, accept, boleto, card, check, check_rejected, check_shape, full, now, pix, with, without,
};

#[test]
fn the_least_and_the_fullest_bodies_are_accepted() {
    for body in [pix(), boleto(), card(), full()] {
        check(&body, &[]);
    }
}

#[test]
fn everything_that_was_sent_is_in_the_order() {
    let order = accept(&full()).purchase.order;
    assert_eq!(order.amount, Money::from_cents(10_000));
    assert_eq!(order.shipping_fee, Some(Money::from_cents(500)));
    assert_eq!(order.postback_url.as_deref(), Some("https://shop.example.com/hooks"));
    assert_eq!(order.external_reference.as_deref(), Some("order-7"));
    assert_eq!(order.utm.campaign.as_deref(), Some("utmcampaign"));
    assert_eq!(order.metadata.get("color").map(String::as_str), Some("blue"));
    assert_eq!((order.items.len(), order.splits.len(), order.metadata.len()), (2, 2, 2));
    assert_eq!((order.installments(), order.captures_at_once()), (Some(3), false));
}

#[test]
fn a_method_is_known_in_any_letter_case() {
    for (text, method) in [("PIX", Method::Pix), ("Pix", Method::Pix), ("BOLETO", Method::Boleto)] {
        let order = accept(&with(pix(), "/paymentMethod", json!(text))).purchase.order;
        assert_eq!(order.method, method);
    }
    check(&with(card(), "/paymentMethod", json!("Credit_Card")), &[]);
    for text in ["", "cash", "creditcard", "credit-card", " pix", "pıx"] {
        check(&with(pix(), "/paymentMethod", json!(text)), &["paymentMethod unknown_value"]);
    }
}

#[test]
fn an_amount_is_from_one_to_ten_digits() {
    for amount in [1, 9_999_999_999_u64] {
        check(&with(pix(), "/amount", json!(amount)), &[]);
    }
    for amount in [json!(0), json!(-1), json!(10_000_000_000_u64), json!(u64::MAX), json!(i64::MIN)] {
        check(&with(pix(), "/amount", amount), &["amount range"]);
    }
}

#[test]
fn a_number_of_a_thousand_digits_is_out_of_range() {
    for number in ["9".repeat(1000), format!("-{}", "9".repeat(1000)), "1".repeat(20)] {
        let body = pix().to_string().replace("10000", &number);
        check_rejected(&body, RejectionKind::Unprocessable, &["amount range"]);
    }
}

#[test]
fn a_fraction_or_an_exponent_is_no_integer() {
    for number in ["100.0", "100.5", "1e4", "1E4", "1e-2", "-1.5", "1e999999"] {
        let body = pix().to_string().replace("10000", number);
        check_rejected(&body, RejectionKind::Malformed, &["amount type"]);
    }
}

#[test]
fn the_currency_is_the_real() {
    for text in ["", "brl", "USD", "BRL "] {
        check(&with(pix(), "/currency", json!(text)), &["currency unknown_value"]);
    }
}

#[test]
fn shipping_costs_nothing_or_more() {
    for (shipping, fee) in [
        (json!({ "fee": 0 }), Some(0)),
        (json!({ "fee": 9_999_999_999_u64 }), Some(9_999_999_999)),
        (json!({ "fee": null }), None),
        (json!({}), None),
        (json!(null), None),
    ] {
        let order = accept(&with(pix(), "/shipping", shipping)).purchase.order;
        assert_eq!(order.shipping_fee, fee.map(Money::from_cents));
    }
    for fee in [json!(-1), json!(10_000_000_000_u64)] {
        check(&with(pix(), "/shipping", json!({ "fee": fee })), &["shipping.fee range"]);
    }
    check_shape(&with(pix(), "/shipping", json!({ "fee": "5.00" })), &["shipping.fee type"]);
    check_shape(&with(pix(), "/shipping", json!(500)), &["shipping type"]);
}

#[test]
fn the_merchants_own_id_has_at_most_100_characters() {
    check(&with(pix(), "/externalReference", json!("é".repeat(100))), &[]);
    check(&with(pix(), "/externalReference", json!("a".repeat(101))), &["externalReference length"]);
    check(&with(pix(), "/externalReference", json!("a\u{0}")), &["externalReference character"]);
    check_shape(&with(pix(), "/externalReference", json!(7)), &["externalReference type"]);
}

#[test]
fn campaign_parameters_have_at_most_255_characters() {
    for name in ["UTMSource", "UTMMedium", "UTMCampaign", "UTMTerm", "UTMContent"] {
        let pointer = format!("/{name}");
        check(&with(pix(), &pointer, json!("ç".repeat(255))), &[]);
        check(&with(pix(), &pointer, json!("")), &[]);
        check(&with(pix(), &pointer, json!("c".repeat(256))), &[&format!("{name} length")]);
        check_shape(&with(pix(), &pointer, json!(1)), &[&format!("{name} type")]);
    }
}

#[test]
fn metadata_has_at_most_20_entries() {
    let entries =
        |count: usize| (0..count).map(|number| (format!("k{number}"), json!("v"))).collect::<Map<_, _>>();
    check(&with(pix(), "/metadata", Value::Object(entries(0))), &[]);
    check(&with(pix(), "/metadata", Value::Object(entries(20))), &[]);
    check(&with(pix(), "/metadata", Value::Object(entries(21))), &["metadata too_many"]);
}

#[test]
fn metadata_are_texts_with_short_names() {
    let metadata = |name: &str, value: Value| with(pix(), "/metadata", json!({ name: value }));
    check(&metadata(&"ã".repeat(40), json!("õ".repeat(500))), &[]);
    check(&metadata("k", json!("")), &[]);
    check(&metadata("k", json!("v".repeat(501))), &["metadata.k length"]);
    check(&metadata("k", json!("two\nlines")), &["metadata.k character"]);
    check(&metadata(&"k".repeat(41), json!("v")), &["metadata.… length"]);
    check(&metadata("", json!("v")), &["metadata length"]);
    check(&metadata("k\u{0}", json!("v")), &["metadata.… character"]);
    for value in [json!(1), json!(true), json!({}), json!(["v"])] {
        check_shape(&metadata("k", value), &["metadata.k type"]);
    }
    check_shape(&with(pix(), "/metadata", json!([])), &["metadata type"]);
    let order = accept(&metadata("k", json!(null))).purchase.order;
    assert!(order.metadata.is_empty());
}

#[test]
fn a_postback_url_is_public_outside_development() {
    let body = |url: &str| with(pix(), "/postbackUrl", json!(url));
    check(&body("https://shop.example.com/hooks?a=1"), &[]);
    check(&body("http://shop.example.com/hooks"), &["postbackUrl not_public"]);
    check(&body("https://127.0.0.1:8090/"), &["postbackUrl not_public"]);
    check(&body("not a url"), &["postbackUrl character"]);
    check(&body("not-a-url"), &["postbackUrl format"]);
    check_shape(&with(pix(), "/postbackUrl", json!({})), &["postbackUrl type"]);
    let development = RequestLimits { postback: PostbackPolicy::AllowAnything, ..LIMITS };
    let local = body("http://127.0.0.1:8090/hooks").to_string();
    assert!(parse(local.as_bytes(), now(), &development).is_ok());
}

#[test]
fn null_in_an_optional_field_is_as_absent_and_unknown_fields_are_ignored() {
    let mut body = pix();
    for name in [
        "shipping",
        "items",
        "postbackUrl",
        "splits",
        "UTMSource",
        "installments",
        "creditCard",
        "capture",
        "expiresIn",
        "dueDate",
        "externalReference",
        "metadata",
    ] {
        body[name] = json!(null);
    }
    body["unknown"] = json!({ "deep": [1.5e300, { "amount": "x" }] });
    body["paymentDetails"]["unknown"] = json!(-1);
    assert_eq!(accept(&body).purchase.order, accept(&pix()).purchase.order);
}

#[test]
fn a_missing_or_null_field_that_is_required_is_told() {
    for name in ["paymentMethod", "amount", "currency", "paymentDetails"] {
        let pointer = format!("/{name}");
        check_shape(&without(pix(), &pointer), &[&format!("{name} required")]);
        check_shape(&with(pix(), &pointer, json!(null)), &[&format!("{name} required")]);
    }
}
