//! Money in integer cents of the Brazilian real.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An amount in cents (centavos), never negative. Prints as a decimal: `100.00`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Money(u64);

impl Money {
    /// Zero.
    pub const ZERO: Self = Self(0);
    /// Largest amount of one payment: a boleto has ten digits for its amount.
    pub const MAX: Self = Self(9_999_999_999);

    /// Makes an amount from cents.
    pub const fn from_cents(cents: u64) -> Self {
        Self(cents)
    }

    /// Returns the amount in cents.
    pub const fn cents(self) -> u64 {
        self.0
    }

    /// Returns true if it is zero.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// Returns the sum; saturates at the largest amount.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference; zero if `other` is more.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns this amount multiplied by `quantity`; saturates at the largest amount.
    #[must_use]
    pub const fn times(self, quantity: u64) -> Self {
        Self(self.0.saturating_mul(quantity))
    }

    /// Returns the last two digits, which determine the sandbox's behaviour.
    pub const fn last_two_digits(self) -> u64 {
        self.0 % 100
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

/// An amount in cents that may be negative: money that goes back, or a fee that is returned. Prints as `-10.00`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignedMoney(i64);

impl SignedMoney {
    /// Makes an amount from cents.
    pub const fn from_cents(cents: i64) -> Self {
        Self(cents)
    }

    /// Returns the amount in cents.
    pub const fn cents(self) -> i64 {
        self.0
    }

    /// Returns the sum; saturates at the largest amount on either side.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the difference; saturates likewise.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Returns the amount without its sign.
    pub const fn magnitude(self) -> Money {
        Money(self.0.unsigned_abs())
    }
}

impl From<Money> for SignedMoney {
    fn from(amount: Money) -> Self {
        Self(i64::try_from(amount.0).unwrap_or(i64::MAX))
    }
}

impl fmt::Display for SignedMoney {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{}", self.magnitude())
    }
}

impl std::iter::Sum for SignedMoney {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

impl std::iter::Sum for Money {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Self::plus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_reais_with_two_decimals() {
        for (cents, text) in [(0, "0.00"), (1, "0.01"), (10_000, "100.00"), (9_999_999_999, "99999999.99")] {
            assert_eq!(Money::from_cents(cents).to_string(), text);
        }
    }

    #[test]
    fn prints_money_that_goes_back_with_its_sign() {
        for (cents, text) in [(0, "0.00"), (-1, "-0.01"), (1, "0.01"), (-10_000, "-100.00")] {
            assert_eq!(SignedMoney::from_cents(cents).to_string(), text);
        }
        assert_eq!(SignedMoney::from_cents(i64::MIN).minus(SignedMoney::from_cents(1)).cents(), i64::MIN);
        assert_eq!(SignedMoney::from(Money::from_cents(u64::MAX)).cents(), i64::MAX);
    }

    #[test]
    fn never_wraps_around() {
        assert_eq!(Money::from_cents(1).minus(Money::from_cents(2)), Money::ZERO);
        assert_eq!(Money::from_cents(u64::MAX).plus(Money::from_cents(1)).cents(), u64::MAX);
        assert_eq!(Money::from_cents(u64::MAX).times(2).cents(), u64::MAX);
    }
}
