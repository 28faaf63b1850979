//! Amounts as the Pix API and the BR Code write them: `\d{1,10}\.\d{2}`.

use crate::text::is_digits;

/// Largest amount that can be written: R$ 9.999.999.999,99, in cents.
pub const MAX_CENTS: u64 = 999_999_999_999;

/// Writes cents as `123.45`; `None` above [`MAX_CENTS`].
pub fn to_text(cents: u64) -> Option<String> {
    (cents <= MAX_CENTS).then(|| format!("{}.{:02}", cents / 100, cents % 100))
}

/// Reads `123.45` as cents; `None` unless there are 1 to 10 digits, a dot and two digits.
pub fn from_text(text: &str) -> Option<u64> {
    let (whole, cents) = text.split_once('.')?;
    if !is_digits(whole) || whole.len() > 10 || !is_digits(cents) || cents.len() != 2 {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let cents: u64 = cents.parse().ok()?;
    Some(whole * 100 + cents)
}

/// Reads cents from an unambiguous amount: `123.4` and `123` besides `123.40` and `123.00`.
pub fn from_any_text(text: &str) -> Option<u64> {
    match text.split_once('.') {
        None => from_text(&format!("{text}.00")),
        Some((_, cents)) if cents.len() == 1 => from_text(&format!("{text}0")),
        Some(_) => from_text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_written_and_read() {
        for (cents, text) in [(0, "0.00"), (1, "0.01"), (10, "0.10"), (MAX_CENTS, "9999999999.99")] {
            assert_eq!(to_text(cents).unwrap(), text);
            assert_eq!(from_text(text), Some(cents));
        }
        assert_eq!(to_text(MAX_CENTS + 1), None);
    }

    #[test]
    fn reais_may_stand_without_cents_or_with_one_digit_of_them() {
        for (text, cents) in
            [("100", Some(10_000)), ("100.0", Some(10_000)), ("0.5", Some(50)), ("1.23", Some(123))]
        {
            assert_eq!(from_any_text(text), cents, "{text}");
        }
        for text in ["", ".", "1.", ".1", "1.234", "1,0", "-1", "12345678901", "١"] {
            assert_eq!(from_any_text(text), None, "{text}");
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        for text in ["", ".", "1", "1.", ".01", "1.0", "1.000", "-1.00", "+1.00", "1,00", "1.00 ", "١.٠٠"]
        {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
