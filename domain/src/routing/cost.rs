//! Acquirers' costs of a payment.

use std::fmt;

use serde::Serialize;

use super::{Criteria, RouteInputs};
use crate::identity::AcquirerName;
use crate::money::Money;

/// Cost of certain payments at an acquirer. The first of several lines that matches applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CostLine {
    /// The acquirer.
    pub acquirer: AcquirerName,
    /// Condition on the payment.
    pub when: Criteria,
    /// Share of the amount.
    pub rate: Rate,
    /// Fixed amount in addition.
    pub fixed: Money,
}

impl CostLine {
    /// Returns the cost of a payment at this acquirer by these lines: zero if none matches.
    pub fn cost(lines: &[Self], acquirer: &AcquirerName, inputs: &RouteInputs<'_>) -> Money {
        Self::known_cost(lines, acquirer, inputs).unwrap_or_default()
    }

    /// Returns the cost of a payment at this acquirer by these lines, if one matches.
    pub fn known_cost(lines: &[Self], acquirer: &AcquirerName, inputs: &RouteInputs<'_>) -> Option<Money> {
        let line = lines.iter().find(|line| line.acquirer == *acquirer && line.when.hold(inputs));
        line.map(|line| line.rate.of(inputs.amount).plus(line.fixed))
    }
}

const MILLION: u32 = 1_000_000;

/// A share of an amount in millionths: 2.49 % is 24,900.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Rate(u32);

impl Rate {
    /// Reads `2.49%`: from 0 to 100, with at most four decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = match text.strip_suffix('%')?.split_once('.') {
            Some((whole, decimals)) => (whole, decimals),
            None => (text.strip_suffix('%')?, "0"),
        };
        let is_number = |text: &str| crate::text::is_digits(text);
        if !is_number(whole) || whole.len() > 3 || !is_number(decimals) || decimals.len() > 4 {
            return None;
        }
        let millionths = format!("{whole}{decimals:0<4}").parse().ok()?;
        (millionths <= MILLION).then_some(Self(millionths))
    }

    /// Returns the share of this amount; half a cent is rounded up.
    pub fn of(self, amount: Money) -> Money {
        let million = u128::from(MILLION);
        let share = (u128::from(amount.cents()) * u128::from(self.0) + million / 2) / million;
        Money::from_cents(u64::try_from(share).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000);
        write!(f, "{}%", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_cent_is_rounded_up() {
        for (rate, cents, share) in [
            ("2.49%", 10_000, 249),
            ("0.5%", 100, 1),
            ("0.49%", 100, 0),
            ("100%", 7, 7),
            ("0%", 7, 0),
            ("0.0001%", 500_000, 1),
        ] {
            let shared = Rate::parse(rate).unwrap().of(Money::from_cents(cents));
            assert_eq!(shared.cents(), share, "{rate} of {cents}");
        }
        assert_eq!(Rate::parse("100%").unwrap().of(Money::from_cents(u64::MAX)).cents(), u64::MAX);
    }

    #[test]
    fn a_rate_is_read_exactly_or_not_at_all() {
        for text in ["2.49%", "0%", "100%", "0.0001%", "13.5%"] {
            assert_eq!(Rate::parse(text).unwrap().to_string(), text);
        }
        for text in ["2.49", "%", ".5%", "2.%", "-1%", "+1%", "100.0001%", "2.49999%", "1e1%", "2,49%", " 2%"]
        {
            assert_eq!(Rate::parse(text), None, "{text}");
        }
    }
}
