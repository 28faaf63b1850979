//! JSON forms of single values.

use std::fmt::Display;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::money::Money;

/// A value written as its `Display` text: `"100.00"`, `"2026-11-21T12:00:00.000Z"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Printed<T>(pub(crate) T);

impl<T: Display> Serialize for Printed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// An amount written as a JSON number with two decimals, `100.00`: exact in JSON text, but not in a `Value`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DecimalNumber(pub(crate) Money);

impl Serialize for DecimalNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        raw_number(self.0.to_string(), serializer)
    }
}

/// Hundredths of a percent written as a JSON number of percent, `12.5`, with at most two decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Percentage(pub(crate) u32);

impl Serialize for Percentage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = format!("{}.{:02}", self.0 / 100, self.0 % 100);
        raw_number(text.trim_end_matches('0').trim_end_matches('.').to_owned(), serializer)
    }
}

fn raw_number<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_both_decimals() {
        for (cents, text) in
            [(0, "0.00"), (10, "0.10"), (10_000, "100.00"), (u64::MAX, "184467440737095516.15")]
        {
            assert_eq!(serde_json::to_string(&DecimalNumber(Money::from_cents(cents))).unwrap(), text);
        }
    }

    #[test]
    fn percentages_have_no_needless_decimals() {
        for (points, text) in
            [(10_000, "100"), (1000, "10"), (1250, "12.5"), (3333, "33.33"), (1, "0.01"), (10, "0.1")]
        {
            assert_eq!(serde_json::to_string(&Percentage(points)).unwrap(), text);
        }
    }
}
