//! Amount that is owed for a title on a day, computed independently for the bank.

use chrono::{Datelike as _, Days, NaiveDate, Weekday};

/// Discount, fine and interest of a title.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) discount: Discount,
    /// Days and their discounts, in cents or hundredths of a percent.
    pub(super) discounts: Vec<(NaiveDate, u64)>,
    pub(super) fine: Fine,
    pub(super) interest: Interest,
    /// First day of interest.
    pub(super) interest_from: Option<NaiveDate>,
    /// First day of the fine.
    pub(super) fine_from: Option<NaiveDate>,
    pub(super) rebate_cents: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Discount {
    #[default]
    None,
    Cents,
    Percent,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Fine {
    #[default]
    None,
    Cents(u64),
    Percent(u64),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Interest {
    #[default]
    None,
    CentsPerDay(u64),
    PercentPerMonth(u64),
}

impl Terms {
    /// Returns the amount that a payer owes on this day for a title with this amount and due date. A title that is due
    /// on a weekend can be paid unchanged on the next working day (Lei 7.089/1983); this bank knows no holidays.
    pub(super) fn owed_cents(&self, amount_cents: u64, due: NaiveDate, day: NaiveDate) -> u64 {
        let amount_cents = amount_cents.saturating_sub(self.rebate_cents);
        if day > working_day(due) {
            return amount_cents
                + self.fine_cents(amount_cents, day)
                + self.interest_cents(amount_cents, day);
        }
        let discount = self.discounts.iter().find(|(until, _)| day <= *until).map_or(0, |(_, value)| *value);
        let discount = match self.discount {
            Discount::None => 0,
            Discount::Cents => discount,
            Discount::Percent => percent(amount_cents, discount),
        };
        amount_cents.saturating_sub(discount)
    }

    fn fine_cents(&self, amount_cents: u64, day: NaiveDate) -> u64 {
        if self.fine_from.is_none_or(|from| day < from) {
            return 0;
        }
        match self.fine {
            Fine::None => 0,
            Fine::Cents(cents) => cents,
            Fine::Percent(hundredths) => percent(amount_cents, hundredths),
        }
    }

    fn interest_cents(&self, amount_cents: u64, day: NaiveDate) -> u64 {
        let Some(from) = self.interest_from.filter(|from| day >= *from) else { return 0 };
        let days = u64::try_from((day - from).num_days()).unwrap_or(0) + 1;
        match self.interest {
            Interest::None => 0,
            Interest::CentsPerDay(cents) => cents * days,
            Interest::PercentPerMonth(hundredths) => (amount_cents * hundredths * days + 150_000) / 300_000,
        }
    }
}

fn percent(amount_cents: u64, hundredths: u64) -> u64 {
    (amount_cents * hundredths + 5_000) / 10_000
}

/// Returns this day, or the Monday after a weekend.
fn working_day(day: NaiveDate) -> NaiveDate {
    let days = match day.weekday() {
        Weekday::Sat => 2,
        Weekday::Sun => 1,
        Weekday::Mon | Weekday::Tue | Weekday::Wed | Weekday::Thu | Weekday::Fri => 0,
    };
    day.checked_add_days(Days::new(days)).unwrap_or(day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn what_is_owed_follows_from_the_day() {
        let terms = Terms {
            discount: Discount::Percent,
            discounts: vec![(day("2026-11-25"), 500), (day("2026-11-27"), 200)],
            fine: Fine::Percent(200),
            fine_from: Some(day("2026-11-29")),
            interest: Interest::PercentPerMonth(100),
            interest_from: Some(day("2026-11-29")),
            rebate_cents: 0,
        };
        // 2026-11-28 is a Saturday.
        for (on, expected) in [
            ("2026-11-25", 9_500),
            ("2026-11-26", 9_800),
            ("2026-11-28", 10_000),
            ("2026-11-30", 10_000),
            ("2026-12-01", 10_210),
        ] {
            assert_eq!(terms.owed_cents(10_000, day("2026-11-28"), day(on)), expected, "{on}");
        }
    }
}
