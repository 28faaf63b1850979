//! Banks' answers, read leniently: unknown fields and values are ignored, numbers and texts are interchangeable, and a
//! single item may replace a list.

use quita_domain::money::Money;
use quita_domain::pix::amount;
use quita_domain::text::is_digits;
use quita_domain::time::Timestamp;
use serde_json::Value;

/// Returns a text that is not empty, without surrounding blanks.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Returns the field's value unless it is absent or `null`.
pub(crate) fn present<'a>(value: &'a Value, field: &str) -> Option<&'a Value> {
    value.get(field).filter(|found| !found.is_null())
}

/// Returns an amount in reais: a text with two decimals, or an unambiguous equivalent. Whole numbers without decimals
/// could be cents, so they are rejected.
pub(crate) fn money(value: &Value, field: &str) -> Option<Money> {
    let text = match value.get(field)? {
        // In an amount only ASCII blanks are ignored.
        Value::String(text) => text.trim_ascii().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    // A JSON number drops a trailing zero: 10.5 are ten reais and fifty cents.
    let has_one_decimal = text.rsplit_once('.').is_some_and(|(_, decimals)| decimals.len() == 1);
    let padded = if has_one_decimal { format!("{text}0") } else { text };
    amount::from_text(&padded).map(Money::from_cents)
}

/// Returns an amount in reais where this one is expected: whole reais may lack decimals, because nothing else can be
/// meant.
pub(crate) fn expected_money(value: &Value, field: &str, expected: Money) -> Option<Money> {
    money(value, field).or_else(|| {
        let reais = whole(value, field)?;
        (reais.checked_mul(100) == Some(expected.cents())).then_some(expected)
    })
}

/// A whole number from zero.
pub(crate) fn whole(value: &Value, field: &str) -> Option<u64> {
    match value.get(field)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => Some(text.trim_ascii()).filter(|text| is_digits(text))?.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An instant.
pub(crate) fn instant(value: &Value, field: &str) -> Option<Timestamp> {
    Timestamp::parse(text(value, field)?)
}

/// Returns a list, or the single item in its place.
pub(crate) fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    match value.get(field) {
        Some(Value::Array(items)) => items,
        Some(item @ Value::Object(_)) => std::slice::from_ref(item),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => &[],
    }
}

/// Returns true if a text can be an end-to-end id and part of a path: letters and digits. The standard has 32 of them.
pub(crate) fn is_end_to_end_id(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_read_in_every_spelling_that_leaves_no_doubt() {
        for (written, cents) in [
            (json!("10.00"), Some(1_000)),
            (json!(" 10.00 "), Some(1_000)),
            (json!("10.5"), Some(1_050)),
            (json!(10.5), Some(1_050)),
            (json!(0.01), Some(1)),
            (json!("0.00"), Some(0)),
            (json!(10), None),
            (json!("10"), None),
            (json!("1,00"), None),
            (json!("1.000"), None),
            (json!("-1.00"), None),
            (json!(-1.5), None),
            (json!(1e300), None),
            (json!(null), None),
            (json!({}), None),
        ] {
            let read = money(&json!({ "valor": written }), "valor").map(Money::cents);
            assert_eq!(read, cents, "{written}");
        }
    }

    #[test]
    fn whole_reais_are_read_where_nothing_else_can_be_meant() {
        for (written, cents) in [
            (json!("100"), Some(10_000)),
            (json!(100), Some(10_000)),
            (json!(" 100 "), Some(10_000)),
            (json!(100.0), Some(10_000)),
            (json!("100.00"), Some(10_000)),
            (json!("99.99"), Some(9_999)),
            (json!("10000"), None),
            (json!(10_000), None),
            (json!("1"), None),
            (json!("+100"), None),
            (json!("100\u{a0}"), None),
            (json!("100.00\u{a0}"), None),
            (json!("1e2"), None),
            (json!("١٠٠"), None),
            (json!("184467440737095517"), None),
            (json!(null), None),
        ] {
            let expected = Money::from_cents(10_000);
            let read = expected_money(&json!({ "valor": written }), "valor", expected).map(Money::cents);
            assert_eq!(read, cents, "{written}");
        }
    }

    #[test]
    fn one_thing_may_stand_where_a_list_belongs() {
        for (found, count) in [
            (json!({"pix": [{}, {}]}), 2),
            (json!({"pix": {}}), 1),
            (json!({"pix": "x"}), 0),
            (json!({"pix": null}), 0),
            (json!([]), 0),
        ] {
            assert_eq!(list(&found, "pix").len(), count, "{found}");
        }
    }
}
