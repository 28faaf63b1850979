//! The rows of `expiresIn` and `dueDate`.

use chrono::NaiveDate;
use quita_domain::due_terms::DueTerms;
use quita_domain::order::Terms;
use quita_domain::request::parse;
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use super::bodies::{LIMITS, accept, boleto, card, check, check_shape, parse_text, pix, with};

fn due(date: &str) -> Value {
    with(boleto(), "/dueDate", json!(date))
}

#[test]
fn a_pix_may_be_paid_for_a_minute_to_thirty_days() {
    for (value, seconds) in [(json!(60), 60), (json!(2_592_000), 2_592_000), (json!(null), 3600)] {
        let order = accept(&with(pix(), "/expiresIn", value)).purchase.order;
        assert_eq!(order.terms, Terms::Pix { expires_in_s: seconds });
    }
    for value in [59, 2_592_001, 0, -60] {
        check(&with(pix(), "/expiresIn", json!(value)), &["expiresIn range"]);
    }
    for value in [json!("60"), json!(60.5), json!(true)] {
        check_shape(&with(pix(), "/expiresIn", value), &["expiresIn type"]);
    }
}

#[test]
fn a_boleto_is_due_in_three_days_unless_it_says_otherwise() {
    let due_on = |body: &Value, now: &str| {
        let now = Timestamp::parse(now).unwrap();
        parse(body.to_string().as_bytes(), now, &LIMITS).unwrap().purchase.order.terms.clone()
    };
    let date = |text: &str| Terms::Boleto(DueTerms::plain(text.parse::<NaiveDate>().unwrap()));
    assert_eq!(due_on(&boleto(), "2026-07-10T15:00:00Z"), date("2026-07-13"));
    assert_eq!(due_on(&boleto(), "2026-07-11T02:59:59.999Z"), date("2026-07-13"));
    assert_eq!(due_on(&boleto(), "2026-07-11T03:00:00Z"), date("2026-07-14"));
    assert_eq!(due_on(&due("2026-07-10"), "2026-07-10T15:00:00Z"), date("2026-07-10"));
}

#[test]
fn a_due_date_is_from_today_to_a_year_ahead_and_a_matter_of_the_clock() {
    for date in ["2026-07-10", "2027-07-10"] {
        check(&due(date), &[]);
    }
    for date in ["2026-07-09", "2027-07-11", "1970-01-01", "9999-12-31"] {
        let read = parse_text(&due(date).to_string()).unwrap();
        let [violation] = &read.clock_violations[..] else { panic!("{:?}", read.clock_violations) };
        assert_eq!((violation.field.as_str(), violation.code), ("dueDate", "range"), "{date}");
        assert!(read.into_purchase().is_err());
    }
    check(&with(due("2026-07-09"), "/amount", json!(0)), &["amount range", "dueDate range"]);
}

#[test]
fn a_due_date_is_a_date() {
    for date in ["", "2026-7-15", "15/07/2026", "2026-02-30", "2026-07-15T00:00:00Z", "20260715", "hoje"] {
        check(&due(date), &["dueDate format"]);
    }
    check_shape(&with(boleto(), "/dueDate", json!(20_260_715)), &["dueDate type"]);
}

#[test]
fn what_belongs_to_another_method_is_refused() {
    check(&with(boleto(), "/expiresIn", json!(3600)), &["expiresIn not_applicable"]);
    check(&with(card(), "/expiresIn", json!(3600)), &["expiresIn not_applicable"]);
    check(&with(card(), "/dueDate", json!("x")), &["dueDate not_applicable"]);
    let mut all = pix();
    all["installments"] = json!(2);
    all["capture"] = json!(false);
    all["creditCard"] = json!({});
    let names = ["installments", "creditCard", "capture"];
    check(&all, &names.map(|name| format!("{name} not_applicable")).each_ref().map(String::as_str));
}
