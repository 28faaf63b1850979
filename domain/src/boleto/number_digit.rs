//! Check digit of a number registered through an API (nosso número), for banks that leave it to their customer.

use super::BoletoError;
use super::check_digit::remainder_3197;

/// Most digits of a number without its check digit at Sicoob.
const SICOOB_NUMBER: usize = 7;

/// Rule by which the numbers of one contract get their check digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NumberDigit {
    /// Digits before the number in the sum: cooperative (4) and customer (10).
    contract: String,
}

impl NumberDigit {
    /// Largest number that can get a check digit: it has seven digits itself.
    pub const MAX_NUMBER: u32 = 9_999_999;

    /// Creates Sicoob's rule: the cooperative's number (4 digits) and the customer's (10, with its own digit).
    ///
    /// # Errors
    /// [`BoletoError::FreeField`] if one of them has more digits.
    pub fn sicoob(cooperative: u64, customer: u64) -> Result<Self, BoletoError> {
        let contract = format!("{cooperative:04}{customer:010}");
        if contract.len() == 14 { Ok(Self { contract }) } else { Err(BoletoError::FreeField) }
    }

    /// Returns the number followed by its digit.
    #[must_use]
    pub fn appended(&self, number: u32) -> u32 {
        // Weights 3, 1, 9, 7 from the left, modulo 11; 0 instead of 10 and 11 (Sicoob's manual of boletos).
        let digit = match remainder_3197(&format!("{}{number:0SICOOB_NUMBER$}", self.contract)) {
            0 | 1 => 0,
            remainder => 11_u32.saturating_sub(remainder),
        };
        number.saturating_mul(10).saturating_add(digit)
    }

    /// Returns the number without its digit.
    #[must_use]
    pub const fn stripped(number: u32) -> u32 {
        number / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_manual_and_of_a_bank_slip_get_their_digits() {
        for (cooperative, customer, number, whole) in
            [(1, 19, 21, 218), (3_041, 1_181_815, 348, 3_489), (3_041, 1_181_815, 9_999_999, 99_999_991)]
        {
            let digit = NumberDigit::sicoob(cooperative, customer).unwrap();
            assert_eq!(digit.appended(number), whole, "{number}");
            assert_eq!(NumberDigit::stripped(whole), number);
        }
    }

    #[test]
    fn ten_and_eleven_are_the_digit_zero() {
        let digit = NumberDigit::sicoob(1, 19).unwrap();
        let zeros = (1..=100).filter(|number| digit.appended(*number).is_multiple_of(10)).count();
        assert!((15..=22).contains(&zeros), "two of eleven remainders: {zeros}");
    }

    #[test]
    fn a_contract_with_too_many_digits_is_refused() {
        assert_eq!(NumberDigit::sicoob(10_000, 1), Err(BoletoError::FreeField));
        assert_eq!(NumberDigit::sicoob(1, 10_000_000_000), Err(BoletoError::FreeField));
    }
}
