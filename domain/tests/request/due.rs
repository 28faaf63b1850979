//! The rows of a due date's terms: `payableAfterDueDays`, `fine`, `interest`, `discounts`, `instructions`.

use quita_domain::due_terms::{Discount, DueTerms, Interest, Portion};
use quita_domain::money::Money;
use quita_domain::order::Terms;
use quita_domain::request::parse;
use quita_domain::time::Timestamp;
use serde_json::{Value, json};

use super::bodies::{LIMITS, accept, boleto, card, check, check_shape, pix, with};

fn due(mut body: Value, terms: Value) -> Value {
    body["dueDate"] = json!("2026-07-20");
    body.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    body
}

fn terms_of(body: &Value) -> DueTerms {
    match accept(body).purchase.order.terms.clone() {
        Terms::Boleto(due) | Terms::DuePix(due) => due,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pix_with_a_due_date_and_a_boleto_have_all_terms() {
    let all = json!({
        "payableAfterDueDays": 10,
        "fine": { "percentage": 2 },
        "interest": { "percentagePerMonth": 1.5 },
        "discounts": [
            { "until": "2026-07-12", "amount": 500 },
            { "until": "2026-07-20", "amount": 200 },
        ],
    });
    let discount = |day: &str, cents| Discount {
        until: day.parse().unwrap(),
        portion: Portion::Amount(Money::from_cents(cents)),
    };
    let expected = DueTerms {
        payable_after_due_days: 10,
        fine: Some(Portion::BasisPoints(200)),
        interest: Some(Interest::BasisPointsPerMonth(150)),
        discounts: vec![discount("2026-07-12", 500), discount("2026-07-20", 200)],
        ..DueTerms::plain("2026-07-20".parse().unwrap())
    };
    assert_eq!(terms_of(&due(pix(), all.clone())), expected);
    let instructions = json!(["  Não receber após 30 dias "]);
    let boleto = terms_of(&with(due(boleto(), all), "/instructions", instructions));
    assert_eq!(boleto, DueTerms { instructions: vec!["Não receber após 30 dias".into()], ..expected });
}

#[test]
fn days_after_the_due_date_are_thirty_where_somebody_may_pay_late() {
    let days = |body: &Value| terms_of(body).payable_after_due_days;
    let fine = json!({ "fine": { "amount": 150 } });
    let interest = json!({ "interest": { "amountPerDay": 10 } });
    for (body, expected) in [
        (boleto(), 0),
        (due(boleto(), json!({})), 0),
        (due(boleto(), fine.clone()), 30),
        (due(boleto(), interest), 30),
        (due(pix(), json!({})), 30),
        (due(pix(), json!({ "payableAfterDueDays": 0 })), 0),
        (due(boleto(), json!({ "payableAfterDueDays": 180 })), 180),
    ] {
        assert_eq!(days(&body), expected, "{body}");
    }
    for days in [-1, 181] {
        check(&due(pix(), json!({ "payableAfterDueDays": days })), &["payableAfterDueDays range"]);
    }
    let nobody_late = with(due(boleto(), fine), "/payableAfterDueDays", json!(0));
    check(&nobody_late, &["payableAfterDueDays range"]);
}

#[test]
fn terms_without_a_due_date_and_those_of_another_method_do_not_apply() {
    let terms = json!({
        "payableAfterDueDays": 1, "fine": { "percentage": 2 }, "interest": { "percentagePerMonth": 1 },
        "discounts": [{ "until": "2026-07-12", "amount": 1 }],
    });
    let names = ["payableAfterDueDays", "fine", "interest", "discounts"];
    let expected = names.map(|name| format!("{name} not_applicable"));
    for mut body in [pix(), card()] {
        body.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
        check(&body, &expected.each_ref().map(String::as_str));
    }
    check(&due(pix(), json!({ "instructions": ["x"] })), &["instructions not_applicable"]);
    check(&due(pix(), json!({ "expiresIn": 3600 })), &["expiresIn not_applicable"]);
    check(&with(boleto(), "/fine", json!({ "percentage": 2 })), &[]);
}

#[test]
fn fine_and_interest_have_one_kind_within_bounds() {
    for (terms, expected) in [
        (json!({ "fine": { "percentage": 20 } }), vec![]),
        (json!({ "fine": { "percentage": 20.01 } }), vec!["fine.percentage range"]),
        (json!({ "fine": { "percentage": 0 } }), vec!["fine.percentage range"]),
        (json!({ "fine": { "percentage": 0.001 } }), vec!["fine.percentage format"]),
        (json!({ "fine": { "amount": 9_999 } }), vec![]),
        (json!({ "fine": { "amount": 10_000 } }), vec!["fine.amount range"]),
        (json!({ "fine": { "amount": 1, "percentage": 1 } }), vec!["fine mixed"]),
        (json!({ "interest": { "amountPerDay": 10_000 } }), vec!["interest.amountPerDay range"]),
        (json!({ "interest": { "percentagePerMonth": 21 } }), vec!["interest.percentagePerMonth range"]),
        (json!({ "interest": { "amountPerDay": 1, "percentagePerMonth": 1 } }), vec!["interest mixed"]),
    ] {
        check(&due(boleto(), terms), &expected);
    }
    for (terms, expected) in [
        (json!({ "fine": {} }), "fine required"),
        (json!({ "interest": {} }), "interest required"),
        (json!({ "fine": 2 }), "fine type"),
        (json!({ "discounts": [{}] }), "discounts[0].until required"),
        (json!({ "instructions": [1] }), "instructions[0] type"),
        (json!({ "payableAfterDueDays": "1" }), "payableAfterDueDays type"),
    ] {
        let body = due(boleto(), terms);
        let rejection = parse(body.to_string().as_bytes(), super::bodies::now(), &LIMITS).unwrap_err();
        let first = &rejection.violations[0];
        assert_eq!(format!("{} {}", first.field, first.code), expected, "{body}");
    }
    check_shape(&due(boleto(), json!({ "fine": {} })), &["fine required"]);
}

#[test]
fn discounts_rise_in_time_and_fall_in_size_and_leave_a_cent() {
    let discount = |until: &str, percentage: f64| json!({ "until": until, "percentage": percentage });
    let two = |first, second| json!({ "discounts": [first, second] });
    for (terms, expected) in [
        (two(discount("2026-07-12", 10.0), discount("2026-07-13", 5.0)), vec![]),
        (two(discount("2026-07-12", 10.0), discount("2026-07-12", 5.0)), vec!["discounts[1].until order"]),
        (
            two(discount("2026-07-12", 10.0), discount("2026-07-13", 10.0)),
            vec!["discounts[1].percentage order"],
        ),
        (
            two(discount("2026-07-12", 10.0), json!({ "until": "2026-07-13", "amount": 1 })),
            vec!["discounts mixed"],
        ),
        (json!({ "discounts": [discount("2026-07-21", 1.0)] }), vec!["discounts[0].until range"]),
        (json!({ "discounts": [discount("hoje", 1.0)] }), vec!["discounts[0].until format"]),
        (json!({ "discounts": [discount("2026-07-20", 100.0)] }), vec!["discounts[0].percentage range"]),
        (json!({ "discounts": [discount("2026-07-20", 99.99)] }), vec![]),
        (
            json!({ "discounts": [{ "until": "2026-07-20", "amount": 10_000 }] }),
            vec!["discounts[0].amount range"],
        ),
        (json!({ "discounts": [] }), vec!["discounts too_few"]),
    ] {
        check(&due(boleto(), terms), &expected);
    }
    let four: Vec<_> = (11..15).map(|day| discount(&format!("2026-07-{day}"), f64::from(20 - day))).collect();
    check(&due(boleto(), json!({ "discounts": four })), &["discounts too_many"]);
    let cent =
        with(due(boleto(), json!({ "discounts": [discount("2026-07-20", 50.0)] })), "/amount", json!(1));
    check(&with(cent, "/items", json!(null)), &["discounts[0].percentage range"]);
}

#[test]
fn a_discount_whose_day_has_passed_is_a_matter_of_the_clock() {
    let body = due(boleto(), json!({ "discounts": [{ "until": "2026-07-12", "amount": 1 }] })).to_string();
    let later = Timestamp::parse("2026-07-13T12:00:00Z").unwrap();
    let read = parse(body.as_bytes(), later, &LIMITS).unwrap();
    assert_eq!(read.clock_violations[0].field, "discounts[0].until");
    let first = parse(body.as_bytes(), super::bodies::now(), &LIMITS).unwrap();
    assert_eq!(first.fingerprint(b"key"), read.fingerprint(b"key"), "a replay is found all the same");
}

#[test]
fn instructions_are_short_texts_without_control_characters_or_card_numbers() {
    let long = "x".repeat(41);
    for (texts, expected) in [
        (json!(["a", "b", "c", "d", "e"]), vec![]),
        (json!(["a", "b", "c", "d", "e", "f"]), vec!["instructions too_many"]),
        (json!([""]), vec!["instructions[0] length"]),
        (json!(["a", long]), vec!["instructions[1] length"]),
        (json!(["a\u{7}b"]), vec!["instructions[0] format"]),
        (json!(["4242424242424242"]), vec!["instructions[0] card_number"]),
    ] {
        check(&due(boleto(), json!({ "instructions": texts })), &expected);
    }
}

#[test]
fn splits_leave_room_for_the_greatest_discount() {
    let terms = |splits: Value| json!({ "splits": splits, "discounts": [{ "until": "2026-07-12", "percentage": 10 }] });
    let amount = |cents: u64| json!([{ "recipientId": "r", "amount": cents }]);
    let percentage = |percent: u64| json!([{ "recipientId": "r", "percentage": percent }]);
    for (splits, expected) in [
        (amount(9_000), vec![]),
        (amount(9_001), vec!["splits exceeds_amount"]),
        (amount(10_001), vec!["splits exceeds_amount"]),
        (percentage(90), vec![]),
        (percentage(91), vec!["splits exceeds_amount"]),
    ] {
        check(&due(boleto(), terms(splits)), &expected);
    }
}

#[test]
fn every_term_is_part_of_the_fingerprint_and_a_default_is_not_its_explicit_value() {
    let print = |body: &Value| accept(body).fingerprint(b"key");
    let base = due(pix(), json!({}));
    let mut prints = vec![print(&pix()), print(&base)];
    for terms in [
        json!({ "payableAfterDueDays": 30 }),
        json!({ "payableAfterDueDays": 29 }),
        json!({ "fine": { "percentage": 2 } }),
        json!({ "fine": { "amount": 200 } }),
        json!({ "interest": { "percentagePerMonth": 2 } }),
        json!({ "interest": { "amountPerDay": 200 } }),
        json!({ "discounts": [{ "until": "2026-07-12", "amount": 200 }] }),
        json!({ "discounts": [{ "until": "2026-07-13", "amount": 200 }] }),
    ] {
        prints.push(print(&due(pix(), terms.clone())));
        prints.push(print(&due(boleto(), terms)));
    }
    prints.push(print(&due(boleto(), json!({ "instructions": ["a"] }))));
    prints.push(print(&due(boleto(), json!({ "instructions": ["b"] }))));
    let distinct: std::collections::BTreeSet<_> = prints.iter().collect();
    assert_eq!(distinct.len(), prints.len());
}
