//! Properties of every body: no panic, no disclosed secret, and an accepted request keeps the rules.

use proptest::collection::vec;
use proptest::prelude::*;
use quita_domain::card::{Brand, CardNumber, Cvv};
use quita_domain::money::Money;
use quita_domain::order::Share;
use quita_domain::request::{ParsedRequest, Rejection, operation, parse};
use serde_json::{Value, json};

use super::bodies::{LIMITS, boleto, check_message, full, now, pix};

/// Values that parsers stumble over.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[0-9]{0,20}".prop_map(Value::from),
        "[a-z@.:/ -]{0,30}".prop_map(Value::from),
        Just(json!("\u{0}")),
        Just(json!("ã".repeat(300))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any::<String>(), inner), 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Every place in a body, as JSON pointers.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| places(value, &format!("{path}/{name}"), found))
        }
        Value::Array(entries) => {
            entries
                .iter()
                .enumerate()
                .for_each(|(index, value)| places(value, &format!("{path}/{index}"), found));
        }
        _ => {}
    }
}

/// A valid body with some of its values replaced.
fn mutated() -> impl Strategy<Value = Value> {
    let start = prop_oneof![Just(full()), Just(pix()), Just(boleto())];
    (start, vec((any::<prop::sample::Index>(), any_value()), 1..4)).prop_map(|(mut body, changes)| {
        for (place, value) in changes {
            let mut found = Vec::new();
            places(&body, "", &mut found);
            if let Some(old) = body.pointer_mut(place.get::<String>(&found)) {
                *old = value;
            }
        }
        body
    })
}

fn read(body: &[u8]) -> Result<ParsedRequest, Rejection> {
    let read = parse(body, now(), &LIMITS);
    match &read {
        Ok(request) => check_accepted(request),
        Err(rejection) => check_message(rejection, &String::from_utf8_lossy(body)),
    }
    read
}

fn check_accepted(request: &ParsedRequest) {
    let order = &request.purchase.order;
    assert!((Money::from_cents(1)..=Money::MAX).contains(&order.amount));
    let shares: Money = order.splits.iter().map(|split| split.share.of(order.amount)).sum();
    assert!(shares <= order.amount);
    let amounts = order.splits.iter().filter(|split| matches!(split.share, Share::Amount(_))).count();
    assert!(amounts == 0 || amounts == order.splits.len());
    assert_eq!(request.purchase.card.is_some(), order.card().is_some());
    let stored = serde_json::to_string(order).unwrap();
    assert!(!stored.contains("\\u0000"));
    if let Some(card) = &request.purchase.card {
        assert!(!stored.contains(card.number.expose()));
    }
    assert_eq!(request.fingerprint(b"secret").len(), 64);
    assert_eq!(serde_json::from_str::<quita_domain::order::Order>(&stored).unwrap(), **order);
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused_and_nothing_panics(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
        let _answered = operation::parse(&bytes).is_ok();
    }

    #[test]
    fn arbitrary_json_is_refused_and_nothing_panics(body in any_value()) {
        prop_assert!(read(body.to_string().as_bytes()).is_err());
    }

    #[test]
    fn mutated_requests_are_read_or_refused(body in mutated()) {
        let _answered = read(body.to_string().as_bytes()).is_ok();
    }

    #[test]
    fn damaged_bytes_are_read_or_refused(place in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut body = full().to_string().into_bytes();
        let place = place.index(body.len());
        body[place] = byte;
        if cut {
            body.truncate(place);
        }
        let _answered = read(&body).is_ok();
    }

    #[test]
    fn no_refusal_tells_a_card_number_or_security_code(number in "[3-6][0-9]{11,18}", cvv in "[0-9]{5,9}") {
        let mut body = full();
        body["creditCard"]["number"] = json!(number);
        body["creditCard"]["cvv"] = json!(cvv);
        body["creditCard"]["holderName"] = json!("");
        body["paymentDetails"]["document"] = json!(number);
        let told = format!("{:?}", read(body.to_string().as_bytes()).unwrap_err());
        prop_assert!(!told.contains(&number) && !told.contains(&cvv), "{}", told);
        let refused = format!("{:?}{:?}", CardNumber::parse(&number), Cvv::parse(&cvv, Brand::Visa));
        prop_assert!(!refused.contains(&number) && !refused.contains(&cvv));
    }
}
