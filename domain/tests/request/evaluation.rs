//! The body of a dry run.

use quita_domain::card::Brand;
use quita_domain::request::evaluation::{Evaluation, parse};
use quita_domain::request::{Rejection, RejectionKind};
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use super::bodies::{CARD_NUMBER, LIMITS, boleto, card, now, pix, with};

fn read(body: &Value) -> Result<Evaluation, Rejection> {
    parse(body.to_string().as_bytes(), now(), &LIMITS)
}

fn refused(body: &Value) -> Vec<String> {
    let rejection = read(body).unwrap_err();
    let told =
        |violation: &quita_domain::request::Violation| format!("{} {}", violation.field, violation.code);
    rejection.violations.iter().map(told).collect()
}

#[test]
fn a_creation_is_a_dry_run_of_now_with_any_dice() {
    for body in [pix(), boleto(), card()] {
        let asked = read(&body).unwrap();
        assert_eq!((asked.at, asked.dice), (now(), None));
    }
}

#[test]
fn of_a_card_its_number_or_its_beginning_is_enough_and_no_more_is_kept() {
    let with_card = |card: Value| with(super::bodies::card(), "/creditCard", card);
    for (sent, brand, digits) in [
        (json!({"number": CARD_NUMBER}), Brand::Visa, "424242"),
        (json!({"number": "6362970000457013", "cvv": "not looked at"}), Brand::Elo, "636297"),
        (json!({"bin": "650485"}), Brand::Elo, "650485"),
        (json!({"bin": "65048599", "brand": "discover"}), Brand::Discover, "650485"),
        (json!({"bin": "999999", "brand": "visa"}), Brand::Visa, "999999"),
    ] {
        let order = read(&with_card(sent.clone())).unwrap().order;
        let kept = order.card().unwrap();
        assert_eq!(
            (kept.brand, kept.first_digits.as_str(), kept.last_digits.as_str()),
            (brand, digits, ""),
            "{sent}"
        );
    }
    for (sent, broken) in [
        (json!({}), "creditCard required"),
        (json!({"bin": "65048"}), "creditCard.bin format"),
        (json!({"bin": "650485999"}), "creditCard.bin format"),
        (json!({"bin": "999999"}), "creditCard.bin unknown_value"),
        (json!({"bin": "650485", "brand": "ELO"}), "creditCard.brand unknown_value"),
        (json!({"bin": 650_485}), "creditCard.bin type"),
        (json!({"number": "4242424242424241"}), "creditCard.number check_digit"),
    ] {
        assert_eq!(refused(&with_card(sent.clone())), [broken], "{sent}");
    }
}

#[test]
fn a_number_elsewhere_is_refused_as_in_a_creation() {
    let body = with(pix(), "/externalReference", json!(CARD_NUMBER));
    assert_eq!(refused(&body), ["externalReference card_number"]);
}

#[test]
fn dice_may_be_any_number_also_one_that_a_card_could_have() {
    let body = with(pix(), "/dice", json!(CARD_NUMBER));
    assert_eq!(read(&body).unwrap().dice, Some(4_242_424_242_424_242));
}

#[test]
fn time_and_dice_are_read_and_rules_of_the_calendar_are_those_of_that_time() {
    let mut body = boleto();
    body["dueDate"] = json!("2027-01-10");
    body["dice"] = json!("18446744073709551615");
    body["at"] = json!("2027-01-05T09:00:00-03:00");
    let asked = read(&body).unwrap();
    assert_eq!(asked.at, Timestamp::parse("2027-01-05T12:00:00.000Z").unwrap());
    assert_eq!(asked.dice, Some(u64::MAX));
    body["at"] = json!("2027-01-11T12:00:00Z");
    assert_eq!(refused(&body), ["dueDate range"]);
}

#[test]
fn what_is_no_time_and_no_dice_is_refused() {
    for (name, value, broken) in [
        ("at", json!("tomorrow"), "at format"),
        ("at", json!("2027-01-05T09:00:00"), "at format"),
        ("at", json!(7), "at type"),
        ("dice", json!("18446744073709551616"), "dice range"),
        ("dice", json!("-1"), "dice range"),
        ("dice", json!("1.5"), "dice range"),
        ("dice", json!(7), "dice type"),
    ] {
        let mut body = pix();
        body[name] = value.clone();
        assert_eq!(refused(&body), [broken], "{value}");
    }
    assert_eq!(read(&json!([])).unwrap_err().kind, RejectionKind::Malformed);
}
