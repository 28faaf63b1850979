//! Amounts and percentages as decimal numbers, without any float.

use quita_domain::money::Money;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// JSON number with two decimals: an amount in reais from its cents, a percentage from its hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hundredths(u64);

impl From<Money> for Hundredths {
    fn from(amount: Money) -> Self {
        Self(amount.cents())
    }
}

impl From<u32> for Hundredths {
    fn from(basis_points: u32) -> Self {
        Self(basis_points.into())
    }
}

impl Serialize for Hundredths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = format!("{}.{:02}", self.0 / 100, self.0 % 100);
        RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// Reads an amount in reais from a JSON number with at most two decimals, or from a text in the same format.
pub(crate) fn of_number(value: Option<&Value>) -> Option<Money> {
    let text = match value? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    // Zeros after the second decimal mean nothing.
    let decimals = decimals.trim_end_matches('0');
    let is_plain = (1..=12).contains(&whole.len()) && decimals.len() <= 2;
    let digits = format!("{whole}{decimals:0<2}");
    let is_plain = is_plain && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten().map(Money::from_cents)
}

/// Reads an amount at the end of a text, in Brazilian notation: `LIQUIDACAO - R$ 1.234,56`.
pub(crate) fn at_the_end(text: &str) -> Option<Money> {
    let (_, amount) = text.trim_end().rsplit_once("R$")?;
    let (whole, cents) = amount.trim().split_once(',')?;
    let mut groups = whole.split('.');
    let first = groups.next().filter(|group| (1..=9).contains(&group.len()))?;
    let rest: Vec<&str> = groups.collect();
    // Groups of three digits with dots between them, or no dots.
    let is_grouped = rest.is_empty() || first.len() <= 3 && rest.iter().all(|group| group.len() == 3);
    let digits = format!("{first}{}{cents}", rest.concat());
    let is_plain = cents.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_grouped && is_plain).then(|| digits.parse().ok()).flatten().map(Money::from_cents)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_have_two_decimals_and_every_cent() {
        for (cents, expected) in
            [(0, "0.00"), (7, "0.07"), (10_010, "100.10"), (9_999_999_999, "99999999.99")]
        {
            let text = serde_json::to_string(&Hundredths::from(Money::from_cents(cents))).unwrap();
            assert_eq!(text, expected);
        }
        assert_eq!(serde_json::to_string(&Hundredths::from(250_u32)).unwrap(), "2.50");
    }

    #[test]
    fn a_number_of_reais_has_at_most_two_decimals() {
        for (value, cents) in [
            (json!(100), Some(10_000)),
            (json!(100.1), Some(10_010)),
            (json!(0.07), Some(7)),
            (json!("99.25"), Some(9_925)),
            (json!("99.250"), Some(9_925)),
            (json!(0), Some(0)),
            (json!(1.005), None),
            (json!(-1), None),
            (json!(1e30), None),
            (json!("1,00"), None),
            (json!(""), None),
            (json!(null), None),
        ] {
            assert_eq!(of_number(Some(&value)), cents.map(Money::from_cents), "{value}");
        }
        assert_eq!(of_number(None), None);
    }

    #[test]
    fn an_amount_is_read_as_brazilians_write_it_and_nothing_else_is_one() {
        for (text, cents) in [
            ("LIQUIDAÇÃO - COMPENSAÇÃO - R$ 100,00", Some(10_000)),
            ("LIQUIDAÇÃO - R$1.234,56 ", Some(123_456)),
            ("TARIFA R$ 0,75", Some(75)),
            ("R$ 1.234.567,89", Some(123_456_789)),
            ("R$ 1234,56", Some(123_456)),
            ("LIQUIDAÇÃO", None),
            ("R$ 100", None),
            ("R$ 100.00", None),
            ("R$ 12.34,56", None),
            ("R$ 1234.567,00", None),
            ("R$ -1,00", None),
            ("R$ ,00", None),
            ("R$ 1,0", None),
            ("R$ 1,00 de R$ É", None),
        ] {
            assert_eq!(at_the_end(text), cents.map(Money::from_cents), "{text}");
        }
    }
}
