//! Instalments of a link's card payments, with their sums.

use super::Link;
use crate::money::Money;

/// Number of instalments that a payer may choose, with their sums. They have no interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InstallmentPlan {
    /// Number of instalments.
    pub count: u8,
    /// Amount of the first one, which includes the remainder of the division.
    pub first: Money,
    /// Amount of each of the others.
    pub others: Money,
}

impl Link {
    /// Returns the plans that a payer may choose: up to `most` instalments, none of them below `least`. A single
    /// payment is always among them.
    pub fn installment_plans(&self, least: Money, most: u8) -> Vec<InstallmentPlan> {
        let most = self.offer.max_installments.min(most).max(1);
        let plans = (1..=most).map(|count| InstallmentPlan::of(self.offer.amount, count));
        plans.filter(|plan| plan.count == 1 || plan.others >= least).collect()
    }
}

impl InstallmentPlan {
    fn of(amount: Money, count: u8) -> Self {
        let others = Money::from_cents(amount.cents().checked_div(count.into()).unwrap_or_default());
        let first = amount.minus(others.times(u64::from(count).saturating_sub(1)));
        Self { count, first, others }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::link_of;
    use super::*;

    fn plans(amount: u64, max: u8, least: u64, most: u8) -> Vec<(u8, u64, u64)> {
        let link = link_of(&format!(r#","maxInstallments":{max}"#));
        let link = Link {
            offer: crate::link::Offer { amount: Money::from_cents(amount), ..link.offer.clone() },
            ..link
        };
        let plans = link.installment_plans(Money::from_cents(least), most);
        plans.iter().map(|plan| (plan.count, plan.first.cents(), plan.others.cents())).collect()
    }

    #[test]
    fn the_first_instalment_has_the_rest_and_all_add_up() {
        assert_eq!(plans(10_000, 3, 500, 12), [(1, 10_000, 10_000), (2, 5_000, 5_000), (3, 3_334, 3_333)]);
        for (count, first, others) in plans(10_007, 12, 1, 12) {
            assert_eq!(first + others * u64::from(count - 1), 10_007, "{count}");
        }
    }

    #[test]
    fn an_instalment_below_the_least_and_more_than_the_configured_maximum_are_not_offered() {
        let counts = |amount, max, least, most| {
            plans(amount, max, least, most).iter().map(|plan| plan.0).collect::<Vec<_>>()
        };
        assert_eq!(counts(1_500, 12, 500, 12), [1, 2, 3]);
        assert_eq!(counts(1_499, 12, 500, 12), [1, 2]);
        assert_eq!(counts(499, 12, 500, 12), [1]);
        assert_eq!(counts(10_000, 12, 500, 2), [1, 2]);
    }
}
