//! Shape before rules, and all of either at once.

use quita_domain::request::RejectionKind::Malformed;
use serde_json::json;

use super::bodies::{card, check, check_rejected, check_shape, pix};

#[test]
fn an_empty_object_lacks_everything() {
    let expected =
        ["paymentMethod required", "amount required", "currency required", "paymentDetails required"];
    check_shape(&json!({}), &expected);
}

#[test]
fn all_broken_rules_are_reported_at_once_in_the_order_of_the_table() {
    let mut body = card();
    body["amount"] = json!(0);
    body["currency"] = json!("USD");
    body["paymentDetails"]["document"] = json!("11144477736");
    body["paymentDetails"]["email"] = json!("maria");
    body["paymentDetails"]["address"]["state"] = json!("XX");
    body["items"] = json!([{ "name": "", "quantity": 0, "price": -1 }]);
    body["splits"] = json!([{ "recipientId": "r", "percentage": 101 }]);
    body["installments"] = json!(99);
    body["creditCard"]["number"] = json!("4242424242424241");
    body["creditCard"]["cvv"] = json!("9");
    body["metadata"] = json!({ "k": "\u{0}" });
    let expected = [
        "amount range",
        "currency unknown_value",
        "paymentDetails.document check_digit",
        "paymentDetails.email format",
        "paymentDetails.address.state unknown_value",
        "items[0].name length",
        "items[0].quantity range",
        "items[0].price range",
        "splits[0].percentage range",
        "installments range",
        "creditCard.number check_digit",
        "creditCard.cvv length",
        "metadata.k character",
    ];
    check(&body, &expected);
}

#[test]
fn if_anything_is_wrong_with_the_shape_no_rule_is_told() {
    let mut body = pix();
    body["amount"] = json!(0);
    body["paymentMethod"] = json!("cash");
    body["paymentDetails"]["email"] = json!("maria");
    body["paymentDetails"]["phoneNumber"] = json!(11_987_654_321_u64);
    body["capture"] = json!("yes");
    check_shape(&body, &["paymentDetails.phoneNumber type", "capture type"]);
}

#[test]
fn every_field_tells_a_wrong_type() {
    for name in
        ["paymentMethod", "amount", "currency", "paymentDetails", "shipping", "items", "splits", "metadata"]
    {
        let mut body = pix();
        body[name] = json!(true);
        check_shape(&body, &[&format!("{name} type")]);
    }
}

#[test]
fn what_is_not_a_json_object_in_utf8_is_refused() {
    for (body, expected) in [
        ("", " syntax"),
        ("{\"amount\":", " syntax"),
        ("{\"amount\":1}garbage", " syntax"),
        ("[]", " type"),
        ("\"text\"", " type"),
        ("null", " type"),
        ("{\"amount\":1,\"amount\":1}", "amount duplicate"),
        ("{\"paymentDetails\":{\"email\":\"a\",\"email\":\"b\"}}", "paymentDetails.email duplicate"),
    ] {
        check_rejected(body, Malformed, &[expected]);
    }
    check_rejected(&format!("{{\"a\":{}", "[".repeat(200_000)), Malformed, &[" syntax"]);
    let nested = format!("{{\"unknown\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    check_rejected(&nested, Malformed, &[&format!("unknown{} syntax", "[0]".repeat(15))]);
}
