//! Charges with a due date: fine, interest and discounts, and the amount that is owed on a day.
//!
//! All sums are integers. Every percentage refers to the charge's amount, and every part is rounded half up to a cent.

use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};

use crate::boleto::business_day;
use crate::method::Method;
use crate::money::Money;
use crate::time::Timestamp;

/// Terms of a charge with a due date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DueTerms {
    /// Last date on which it is payable without fine and interest; moved to the next business day.
    pub due_date: NaiveDate,
    /// Calendar days after that for which it may still be paid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub payable_after_due_days: u16,
    /// Added once if it is paid late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fine: Option<Portion>,
    /// Added for each day by which it is paid late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interest: Option<Interest>,
    /// Discounts for early payment: their days rise and their sizes fall.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discounts: Vec<Discount>,
    /// Texts that a slip shows to its payer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
}

/// Part of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Portion {
    /// A fixed amount.
    Amount(Money),
    /// Hundredths of a percent: 2 % is 200.
    BasisPoints(u32),
}

/// Simple interest on a charge that is paid late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Interest {
    /// A fixed amount for each calendar day.
    AmountPerDay(Money),
    /// Hundredths of a percent for each month of 30 days.
    BasisPointsPerMonth(u32),
}

/// Discount until a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    /// Last calendar day on which it applies. It moves with the due date if it is the due date.
    pub until: NaiveDate,
    /// Its size.
    pub portion: Portion,
}

/// First day after which days of interest are counted. The banks' rules differ for a due date that is no business day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterestSince {
    /// The due date as requested: boletos.
    DueDate,
    /// The due date moved to a business day: PIX (manual of API Pix, `valor.juros`).
    MovedDueDate,
}

impl InterestSince {
    /// Returns the rule of a payment method.
    pub const fn of(method: Method) -> Self {
        match method {
            Method::Boleto => Self::DueDate,
            Method::Pix | Method::CreditCard => Self::MovedDueDate,
        }
    }
}

/// Comparison of what a payer paid with what was owed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paid {
    /// As owed, within the tolerance for rounding.
    Right,
    /// Less than that.
    TooLittle,
    /// More than that.
    TooMuch,
}

/// A percentage in hundredths, a hundred of them for each percent.
const WHOLE: u128 = 10_000;

/// Days of a month for which interest is agreed.
const DAYS_OF_MONTH: u128 = 30;

impl Portion {
    /// Returns this part of `whole`, rounded half up.
    pub fn of(self, whole: Money) -> Money {
        match self {
            Self::Amount(amount) => amount,
            Self::BasisPoints(points) => rounded(u128::from(whole.cents()) * u128::from(points), WHOLE),
        }
    }

    const fn is_percentage(self) -> bool {
        matches!(self, Self::BasisPoints(_))
    }
}

impl Interest {
    /// Returns the interest on `whole` for this number of days. The sum is rounded, not each day's part.
    fn of(self, whole: Money, days: u64) -> Money {
        match self {
            Self::AmountPerDay(amount) => amount.times(days),
            Self::BasisPointsPerMonth(points) => {
                let parts = u128::from(whole.cents()) * u128::from(points);
                rounded(parts.saturating_mul(u128::from(days)), WHOLE * DAYS_OF_MONTH)
            }
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(days: &u16) -> bool {
    *days == 0
}

fn rounded(dividend: u128, divisor: u128) -> Money {
    let half = divisor / 2;
    let cents = dividend.saturating_add(half).checked_div(divisor).unwrap_or_default();
    Money::from_cents(u64::try_from(cents).unwrap_or(u64::MAX))
}

impl DueTerms {
    /// Returns the terms of a charge that states nothing but its due date.
    pub const fn plain(due_date: NaiveDate) -> Self {
        Self {
            due_date,
            payable_after_due_days: 0,
            fine: None,
            interest: None,
            discounts: Vec::new(),
            instructions: Vec::new(),
        }
    }

    /// Returns the last day without fine and interest: the due date, or the next business day (Law 7,089/1983).
    pub fn moved_due_date(&self) -> NaiveDate {
        business_day::roll(self.due_date)
    }

    /// Returns the last day on which it may be paid.
    pub fn payable_until(&self) -> NaiveDate {
        let days = Days::new(u64::from(self.payable_after_due_days));
        let moved = self.moved_due_date();
        business_day::roll(moved.checked_add_days(days).unwrap_or(moved))
    }

    /// Returns the end of that day in Brasília, which is the start of the next one.
    pub fn payable_before(&self) -> Timestamp {
        Timestamp::end_of_sao_paulo_day(self.payable_until()).plus_ms(1)
    }

    /// Returns true if fine and interest are added on this day.
    pub fn is_late_on(&self, day: NaiveDate) -> bool {
        self.moved_due_date() < day
    }

    /// Returns the amount that is owed on a day.
    pub fn owed_on(&self, amount: Money, day: NaiveDate, since: InterestSince) -> Money {
        if !self.is_late_on(day) {
            return amount.minus(self.discount_on(amount, day));
        }
        let first = match since {
            InterestSince::DueDate => self.due_date,
            InterestSince::MovedDueDate => self.moved_due_date(),
        };
        let days = u64::try_from(day.signed_duration_since(first).num_days()).unwrap_or_default();
        let fine = self.fine.map_or(Money::ZERO, |fine| fine.of(amount));
        let interest = self.interest.map_or(Money::ZERO, |interest| interest.of(amount, days));
        amount.plus(fine).plus(interest)
    }

    /// Returns the discount that applies on a day: the first that has not passed.
    pub fn discount_on(&self, amount: Money, day: NaiveDate) -> Money {
        let applies = |discount: &&Discount| day <= self.last_day_of(**discount);
        // Their days rise and their sizes fall, as checked in the request, so the first one that applies is the
        // largest.
        self.discounts.iter().find(applies).map_or(Money::ZERO, |discount| discount.portion.of(amount))
    }

    /// Returns the last day of a discount.
    pub fn last_day_of(&self, discount: Discount) -> NaiveDate {
        if discount.until == self.due_date { self.moved_due_date() } else { discount.until }
    }

    /// Returns the largest discount.
    pub fn greatest_discount(&self, amount: Money) -> Money {
        self.discounts.iter().map(|discount| discount.portion.of(amount)).max().unwrap_or_default()
    }

    /// Compares an amount that came in with what was owed on the day that the acquirer names.
    ///
    /// It is also right if it was owed on the previous business day. Acquirers differ in holidays, in the hour at which
    /// a day ends, and in the day from which interest is counted.
    pub fn compare(&self, amount: Money, came: Money, day: NaiveDate) -> Paid {
        let owed = |day| {
            let on_day = |since| self.owed_on(amount, day, since);
            [on_day(InterestSince::DueDate), on_day(InterestSince::MovedDueDate)]
        };
        let that_day = owed(day);
        let tolerance = self.tolerance();
        let fits = |owed: Money| came.cents().abs_diff(owed.cents()) <= tolerance;
        if that_day.into_iter().chain(owed(business_day::before(day))).any(fits) {
            return Paid::Right;
        }
        // It is too little only if it falls short by both ways of counting: the bank may have used the smaller one.
        let least = that_day.into_iter().min().unwrap_or_default();
        if came < least { Paid::TooLittle } else { Paid::TooMuch }
    }

    /// Returns the number of cents by which an acquirer may round differently.
    fn tolerance(&self) -> u64 {
        let discounts_by_percentage =
            self.discounts.first().is_some_and(|discount| discount.portion.is_percentage());
        match self.interest {
            Some(Interest::BasisPointsPerMonth(_)) => 2,
            Some(Interest::AmountPerDay(_)) => 1,
            None if self.fine.is_some() || discounts_by_percentage => 1,
            None => 0,
        }
    }

    /// Returns the merchant's part of the amount that came in: without fine and interest, less the discount of that
    /// day.
    pub fn principal_of(&self, amount: Money, came: Money, day: NaiveDate) -> Money {
        came.min(amount.minus(self.discount_on(amount, day)))
    }

    /// Returns true if the amount that is owed depends on the day.
    pub fn changes_the_amount(&self) -> bool {
        self.fine.is_some() || self.interest.is_some() || !self.discounts.is_empty()
    }
}

#[cfg(test)]
mod tests;
