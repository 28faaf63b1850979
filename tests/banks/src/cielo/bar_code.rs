//! The bar code of a boleto, 44 digits, and the line of 47 that is typed (FEBRABAN; Banco do Brasil and Bradesco for
//! the part that is the bank's own).

use chrono::NaiveDate;

/// Bank that issues a boleto.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bank {
    BancoDoBrasil,
    Bradesco,
    /// Sicoob: portfolio 1, a fictitious cooperative and customer, modality 1, one instalment.
    Sicoob,
    /// Stone, which issues Pagar.me's own boletos. The contents of its free field are not published.
    Stone,
}

impl Bank {
    fn number(self) -> &'static str {
        match self {
            Self::BancoDoBrasil => "001",
            Self::Bradesco => "237",
            Self::Sicoob => "756",
            Self::Stone => "197",
        }
    }

    /// Returns the bank's 25 digits, for a fictitious branch, account and agreement.
    fn free_field(self, our_number: u64) -> String {
        match self {
            Self::BancoDoBrasil => format!("0000001234567{our_number:010}17"),
            Self::Bradesco => format!("123409{our_number:011}00123450"),
            Self::Sicoob => format!("13007012554645{:08}001", our_number % 100_000_000),
            Self::Stone => format!("00{our_number:023}"),
        }
    }
}

/// Returns the 44 digits.
pub(crate) fn bar_code(bank: Bank, due: NaiveDate, amount_cents: u64, our_number: u64) -> String {
    let head = format!("{}9", bank.number());
    let tail = format!("{:04}{amount_cents:010}{}", factor(due), bank.free_field(our_number));
    let digit = general_digit(&format!("{head}{tail}"));
    format!("{head}{digit}{tail}")
}

/// Returns the 47 digits as they are printed.
pub(crate) fn line(bar_code: &str) -> String {
    let part = |from: usize, count: usize| bar_code.chars().skip(from).take(count).collect::<String>();
    let field = |digits: String| {
        let digit = field_digit(&digits);
        let whole = format!("{digits}{digit}");
        let (left, right) = whole.split_at_checked(5).unwrap_or((whole.as_str(), ""));
        format!("{left}.{right}")
    };
    format!(
        "{} {} {} {} {}",
        field(part(0, 4) + &part(19, 5)),
        field(part(24, 10)),
        field(part(34, 10)),
        part(4, 1),
        part(5, 14)
    )
}

/// Returns the same bar code with a wrong general check digit.
pub(crate) fn with_wrong_digit(bar_code: &str) -> String {
    let turned = |digit: char| if digit == '1' { '2' } else { '1' };
    bar_code.chars().enumerate().map(|(at, digit)| if at == 4 { turned(digit) } else { digit }).collect()
}

/// Returns the days since 1997-10-07, from 1000 to 9999 and then from 1000 again.
fn factor(due: NaiveDate) -> i64 {
    let days = NaiveDate::from_ymd_opt(1997, 10, 7).map_or(0, |first| (due - first).num_days());
    (days - 1_000).rem_euclid(9_000) + 1_000
}

/// Returns the check digit modulo 11 with weights 2 to 9 from the right; never 0.
fn general_digit(others: &str) -> u32 {
    let weighted = digits(others).rev().zip((2..=9).cycle());
    match 11 - weighted.map(|(digit, weight)| digit * weight).sum::<u32>() % 11 {
        0 | 1 | 10 | 11 => 1,
        digit => digit,
    }
}

/// Returns the check digit modulo 10 with weights 2, 1 from the right, adding the digits of each product.
fn field_digit(field: &str) -> u32 {
    let products = digits(field).rev().zip([2, 1].into_iter().cycle()).map(|(digit, weight)| digit * weight);
    (10 - products.map(|product| product / 10 + product % 10).sum::<u32>() % 10) % 10
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.chars().filter_map(|digit| digit.to_digit(10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn bar_codes_are_those_worked_out_by_hand() {
        let bradesco = bar_code(Bank::Bradesco, day("2026-12-01"), 25_350, 233);
        assert_eq!(bradesco, "23791164700000253501234090000000023300123450");
        let banco_do_brasil = bar_code(Bank::BancoDoBrasil, day("2026-12-01"), 102_659, 3_334);
        assert_eq!(banco_do_brasil, "00199164700001026590000001234567000000333417");
    }

    #[test]
    fn the_line_is_the_one_that_is_printed() {
        let line = line("34196166700000123451101234567880057123457000");
        assert_eq!(line, "34191.10121 34567.880058 71234.570001 6 16670000012345");
    }

    #[test]
    fn the_factor_starts_again_at_1000() {
        for (due, expected) in
            [("2000-07-03", 1_000), ("2025-02-21", 9_999), ("2025-02-22", 1_000), ("2026-12-01", 1_647)]
        {
            assert_eq!(factor(day(due)), expected, "{due}");
        }
    }

    #[test]
    fn a_wrong_digit_differs_from_the_right_one() {
        let right = bar_code(Bank::Bradesco, day("2026-12-01"), 1, 1);
        assert_ne!(with_wrong_digit(&right), right);
        assert_eq!(with_wrong_digit(&right).len(), 44);
    }
}
