//! Amounts: JSON numbers in reais, and reais in Portuguese.

use serde_json::Value;

/// Returns the hundredths of a JSON number with at most two decimals; `None` for anything else, and for negative
/// numbers.
pub(super) fn hundredths(value: &Value) -> Option<u64> {
    let text = value.as_number()?.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    // Zeros after the second decimal mean nothing.
    let decimals = decimals.trim_end_matches('0');
    let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 2 || !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    format!("{whole}{decimals:0<2}").parse().ok()
}

/// Returns the JSON number with this many hundredths.
pub(super) fn number(hundredths: u64) -> Value {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    serde_json::from_str(&text).unwrap_or_default()
}

/// Writes `1.234,56`.
pub(super) fn reais(cents: u64) -> String {
    format!("{},{:02}", grouped(cents / 100), cents % 100)
}

/// Writes `1.500.000`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            text.push('.');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_have_at_most_two_decimals() {
        for (given, expected) in [
            (json!(100), Some(10_000)),
            (json!(100.5), Some(10_050)),
            (json!(0.07), Some(7)),
            (json!(100.0), Some(10_000)),
            (json!(1.005), None),
            (json!(-1), None),
            (json!("100.00"), None),
        ] {
            assert_eq!(hundredths(&given), expected, "{given}");
        }
    }

    #[test]
    fn reais_are_written_as_in_brazil() {
        for (cents, expected) in
            [(75, "0,75"), (100_000, "1.000,00"), (12_345_678, "123.456,78"), (123_456_789, "1.234.567,89")]
        {
            assert_eq!(reais(cents), expected);
        }
        assert_eq!(grouped(1_500_000), "1.500.000");
    }
}
