//! The rows of `items` and `splits`.

use quita_domain::money::Money;
use quita_domain::order::Share;
use quita_domain::request::RejectionKind;
use serde_json::{Value, json};

use super::bodies::{accept, check, check_rejected, check_shape, parse_text, pix, with, without};

fn items(items: Value) -> Value {
    with(pix(), "/items", items)
}

fn item() -> Value {
    json!({ "id": "018f3b1a-7c00-7000-8000-000000000001", "name": "Caneca", "quantity": 1, "price": 990 })
}

fn splits(splits: Value) -> Value {
    with(pix(), "/splits", splits)
}

#[test]
fn there_are_at_most_100_items() {
    check(&items(json!([])), &[]);
    check(&items(json!(vec![item(); 100])), &[]);
    check(&items(json!(vec![item(); 101])), &["items too_many"]);
}

#[test]
fn an_item_has_name_quantity_and_price() {
    for (name, good, bad, code) in [
        ("name", json!("ñ".repeat(255)), json!("n".repeat(256)), "length"),
        ("name", json!("n"), json!(""), "length"),
        ("name", json!("n"), json!("n\u{0}"), "character"),
        ("quantity", json!(1), json!(0), "range"),
        ("quantity", json!(1_000_000), json!(1_000_001), "range"),
        ("price", json!(0), json!(-1), "range"),
        ("price", json!(9_999_999_999_u64), json!(10_000_000_000_u64), "range"),
        ("id", json!("018F3B1A-7C00-7000-8000-000000000001"), json!("7"), "format"),
        ("id", json!(null), json!("018f3b1a7c0070008000000000000001"), "format"),
    ] {
        let pointer = format!("/items/0/{name}");
        check(&with(items(json!([item()])), &pointer, good), &[]);
        check(&with(items(json!([item()])), &pointer, bad), &[&format!("items[0].{name} {code}")]);
    }
}

#[test]
fn the_shape_of_every_item_is_told() {
    let body = items(json!([item(), { "name": 1, "quantity": "1", "price": 1.5, "id": 7 }, {}, null, []]));
    let expected = [
        "items[3] type",
        "items[4] type",
        "items[1].id type",
        "items[1].name type",
        "items[1].quantity type",
        "items[1].price type",
        "items[2].name required",
        "items[2].quantity required",
        "items[2].price required",
    ];
    check_shape(&body, &expected);
    check_shape(&items(json!({})), &["items type"]);
}

#[test]
fn the_largest_items_do_not_overflow() {
    let largest = json!({ "name": "n", "quantity": 1_000_000, "price": 9_999_999_999_u64 });
    let order = accept(&items(json!([largest]))).purchase.order;
    assert_eq!(order.items[0].total(), Money::from_cents(9_999_999_999_000_000));
}

#[test]
fn there_are_at_most_20_splits() {
    let split = json!({ "recipientId": "r", "amount": 1 });
    check(&splits(json!([])), &[]);
    check(&splits(json!(vec![split.clone(); 20])), &[]);
    check(&splits(json!(vec![split; 21])), &["splits too_many"]);
}

#[test]
fn amounts_may_come_to_the_amount_and_no_more() {
    let two = |first: u64, second: u64| {
        splits(json!([{ "recipientId": "a", "amount": first }, { "recipientId": "b", "amount": second }]))
    };
    check(&two(1, 9_999), &[]);
    check(&two(2, 9_999), &["splits exceeds_amount"]);
    check(&two(0, 1), &["splits[0].amount range"]);
    check(&with(two(5_000, 5_000), "/amount", json!(0)), &["amount range"]);
}

#[test]
fn percentages_may_come_to_a_hundred_and_no_more() {
    let two = |first: &str, second: &str| {
        let list = format!(
            r#"[{{"recipientId":"a","percentage":{first}}},{{"recipientId":"b","percentage":{second}}}]"#
        );
        splits(json!("LIST")).to_string().replace("\"LIST\"", &list)
    };
    let order = parse_text(&two("33.33", "66.67")).unwrap().purchase.order;
    let shares: Vec<_> = order.splits.iter().map(|split| split.share).collect();
    assert_eq!(shares, [Share::BasisPoints(3333), Share::BasisPoints(6667)]);
    for (first, second, expected) in [
        ("33.34", "66.67", "splits exceeds_amount"),
        ("100.01", "1", "splits[0].percentage range"),
        ("1", "0", "splits[1].percentage range"),
        ("-5", "1", "splits[0].percentage range"),
        ("12.345", "1", "splits[0].percentage format"),
        ("1e1", "1", "splits[0].percentage format"),
    ] {
        check_rejected(&two(first, second), RejectionKind::Unprocessable, &[expected]);
    }
    check_rejected(&two("\"10\"", "1"), RejectionKind::Malformed, &["splits[0].percentage type"]);
}

#[test]
fn a_share_is_an_amount_or_a_percentage() {
    let one = json!({ "recipientId": "a", "amount": 1 });
    let other = json!({ "recipientId": "b", "percentage": 1 });
    check(&splits(json!([one, other])), &["splits mixed"]);
    check(&splits(json!([{ "recipientId": "a", "amount": 1, "percentage": 1 }])), &["splits[0] mixed"]);
    check(&splits(json!([{ "recipientId": "a", "amount": 1, "percentage": null }])), &[]);
    check_shape(&splits(json!([{ "recipientId": "a" }])), &["splits[0] required"]);
    check_shape(
        &splits(json!([{ "recipientId": "a", "amount": 1, "percentage": "1" }])),
        &["splits[0].percentage type"],
    );
}

#[test]
fn a_recipient_has_an_id() {
    let split = json!([{ "recipientId": "a", "amount": 1 }]);
    let id = "/splits/0/recipientId";
    check(&with(splits(split.clone()), id, json!("ü".repeat(100))), &[]);
    check(&with(splits(split.clone()), id, json!("u".repeat(101))), &["splits[0].recipientId length"]);
    check(&with(splits(split.clone()), id, json!("")), &["splits[0].recipientId length"]);
    check_shape(&without(splits(split.clone()), id), &["splits[0].recipientId required"]);
    check_shape(&with(splits(split), id, json!(7)), &["splits[0].recipientId type"]);
}
