//! Reading providers' JSON leniently: names in any case, numbers as text, dates with or without `T`.
//!
//! Providers' own samples differ in all of these (`PaymentId`, `Paymentid`; `"Status": 2`, `"Status": "2"`). A field
//! may be absent, but an unreadable one is never treated as absent, because sums of money depend on it.

use chrono::NaiveDate;
use quita_domain::card::free_text::holds_card_number;
use quita_domain::money::Money;
use serde_json::{Map, Value};

/// A field that is present but invalid, or one that is required but missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable(pub(crate) &'static str);

/// One object of an answer.
#[derive(Clone, Copy)]
pub(crate) struct Object<'a>(&'a Map<String, Value>);

impl<'a> Object<'a> {
    /// Wraps the value, if it is an object.
    pub(crate) fn of(value: &'a Value) -> Option<Self> {
        value.as_object().map(Self)
    }

    /// Returns the field of this name in any letter case, if it is not null. The exact name has precedence.
    pub(crate) fn get(self, name: &str) -> Option<&'a Value> {
        let exact = self.0.get(name).filter(|value| !value.is_null());
        exact.or_else(|| {
            let is_so = |known: &str| known.eq_ignore_ascii_case(name);
            self.0.iter().find(|(known, value)| is_so(known) && !value.is_null()).map(|(_, value)| value)
        })
    }

    /// Returns the object under this name.
    pub(crate) fn object(self, name: &str) -> Option<Self> {
        self.get(name).and_then(Self::of)
    }

    /// Returns a string, number or boolean as text, without surrounding spaces; `None` if it is empty.
    pub(crate) fn text(self, name: &str) -> Option<String> {
        text_of(self.get(name)?)
    }

    /// Returns a provider's name for something, which is stored. A name that contains a card number is ignored, because
    /// it must not be stored.
    pub(crate) fn label(self, name: &str) -> Option<String> {
        self.text(name).filter(|label| !holds_card_number(label))
    }

    /// Reads a whole number, or a text that contains one.
    ///
    /// # Errors
    /// Fails if it is anything else.
    pub(crate) fn number(self, name: &'static str) -> Result<Option<u64>, Unreadable> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let Some(text) = text_of(value) else {
            return if value.is_string() { Ok(None) } else { Err(Unreadable(name)) };
        };
        // Some answers write whole cents as `1000.0`. A fraction of a cent is refused, not rounded.
        let whole = text.split_once('.').filter(|(_, rest)| rest.bytes().all(|byte| byte == b'0'));
        let digits = whole.map_or(text.as_str(), |(whole, _)| whole);
        let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_plain.then(|| digits.parse().ok()).flatten().map(Some).ok_or(Unreadable(name))
    }

    /// Reads an amount in cents.
    ///
    /// # Errors
    /// Fails if it is not a whole number.
    pub(crate) fn money(self, name: &'static str) -> Result<Option<Money>, Unreadable> {
        Ok(self.number(name)?.map(Money::from_cents))
    }

    /// Returns the day of a date, whatever follows it: `2026-12-01`, `2026-12-01 10:00:00`, `2026-12-01T10:00:00.123`.
    pub(crate) fn date(self, name: &str) -> Option<NaiveDate> {
        let text = self.text(name)?;
        let (day, rest) = text.split_at_checked(10)?;
        let ends_there = rest.is_empty() || rest.starts_with(['T', 't', ' ']);
        ends_there.then(|| NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()).flatten()
    }
}

fn text_of(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_compared_without_case_and_null_is_absent() {
        let value = json!({"Paymentid": "b", "PAYMENTID": null, "Tid": null});
        let object = Object::of(&value).unwrap();
        assert_eq!(object.text("PaymentId").as_deref(), Some("b"));
        assert_eq!(object.text("Tid"), None);
    }

    #[test]
    fn a_card_number_is_no_label() {
        let value = json!({"Tid": "1006993069362B5C1001", "ProofOfSale": "4242 4242 4242 4242", "Nsu": 4242424242424242_u64});
        let object = Object::of(&value).unwrap();
        assert_eq!(object.label("Tid").as_deref(), Some("1006993069362B5C1001"));
        assert_eq!((object.label("ProofOfSale"), object.label("Nsu")), (None, None));
    }

    #[test]
    fn numbers_may_be_text_and_nothing_else_is_taken_for_one() {
        let read = |value: Value| Object::of(&json!({ "Amount": value })).unwrap().number("Amount");
        for (value, number) in [
            (json!(15700), Some(15_700)),
            (json!("15700"), Some(15_700)),
            (json!(" 15700 "), Some(15_700)),
            (json!(15700.0), Some(15_700)),
            (json!(0), Some(0)),
            (json!(""), None),
            (json!(null), None),
        ] {
            assert_eq!(read(value.clone()), Ok(number), "{value}");
        }
        for value in [
            json!(-1),
            json!(1.5),
            json!("1,00"),
            json!("R$ 1"),
            json!([1]),
            json!({}),
            json!(true),
            json!(1e30),
        ] {
            assert_eq!(read(value.clone()), Err(Unreadable("Amount")), "{value}");
        }
    }

    #[test]
    fn dates_have_a_t_or_a_blank_or_neither() {
        for text in ["2026-12-01", "2026-12-01 10:00:00", "2026-12-01T10:00:00.123-03:00"] {
            let value = json!({ "CapturedDate": text });
            let day = Object::of(&value).unwrap().date("capturedDate");
            assert_eq!(day, NaiveDate::from_ymd_opt(2026, 12, 1), "{text}");
        }
        for text in ["", "01/12/2026", "2026-13-01", "2026-12-011", "2026-12-É"] {
            let value = json!({ "CapturedDate": text });
            assert_eq!(Object::of(&value).unwrap().date("CapturedDate"), None, "{text}");
        }
    }
}
