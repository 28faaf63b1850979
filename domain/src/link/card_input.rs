//! Card as typed by a payer on the page of a link, and its part of the creation request.

use serde::Serialize;

use crate::secret::Secret;
use crate::text::is_digits;

/// Card as it was typed. Exists only in memory, until its payment is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardInput {
    /// Number, with or without blanks.
    pub number: Secret<String>,
    /// Name embossed on the card.
    pub holder_name: Secret<String>,
    /// Expiry: `12/30`, `12/2030`.
    pub expiry: Secret<String>,
    /// Security code.
    pub code: Secret<String>,
    /// Number of instalments.
    pub installments: u8,
}

/// Body of `creditCard`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CardBody<'a> {
    number: String,
    holder_name: &'a str,
    expiration_month: String,
    expiration_year: String,
    cvv: &'a str,
}

impl<'a> CardBody<'a> {
    /// Returns the body. Values that can't be parsed stay as typed, and are refused by their rule.
    pub(super) fn of(card: &'a CardInput) -> Self {
        let (expiration_month, expiration_year) = split_expiry(card.expiry.expose());
        Self {
            number: without_gaps(card.number.expose()),
            holder_name: card.holder_name.expose().trim(),
            expiration_month,
            expiration_year,
            cvv: card.code.expose().trim(),
        }
    }
}

/// Removes the separators that people type between groups of digits.
fn without_gaps(text: &str) -> String {
    text.chars().filter(|one| !one.is_whitespace() && *one != '-' && *one != '.').collect()
}

/// Splits an expiry into its month and its year of four digits.
fn split_expiry(text: &str) -> (String, String) {
    let text = without_gaps(text);
    let (month, year) = match text.split_once('/') {
        Some(parts) => parts,
        None => text.split_at_checked(2).unwrap_or((&text, "")),
    };
    let is_short = year.len() == 2 && is_digits(year);
    (month.to_owned(), if is_short { format!("20{year}") } else { year.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_is_read_as_people_write_it() {
        for (typed, month, year) in [
            ("12/30", "12", "2030"),
            (" 1 / 31 ", "1", "2031"),
            ("12/2030", "12", "2030"),
            ("1230", "12", "2030"),
            ("122030", "12", "2030"),
            ("12", "12", ""),
            ("1", "1", ""),
            ("", "", ""),
            ("ab/cd", "ab", "cd"),
            ("é1", "é", "1"),
        ] {
            assert_eq!(split_expiry(typed), (month.to_owned(), year.to_owned()), "{typed}");
        }
    }

    #[test]
    fn a_number_may_have_gaps() {
        assert_eq!(without_gaps("4242 4242-4242.4242"), "4242424242424242");
    }

    #[test]
    fn nothing_of_a_typed_card_is_printed() {
        let text = |text: &str| Secret::new(text.to_owned());
        let card = CardInput {
            number: text("4242 4242 4242 4242"),
            holder_name: text("MARIA"),
            expiry: text("12/30"),
            code: text("123"),
            installments: 1,
        };
        let printed = format!("{card:?}");
        assert!(
            !printed.contains("4242") && !printed.contains("MARIA") && !printed.contains("12"),
            "{printed}"
        );
    }
}
