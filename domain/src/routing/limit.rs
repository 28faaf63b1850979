//! Limits on the tries of one card.
//!
//! The brands count tries after a decline and charge for those beyond a limit. The figures are those of the contract
//! (section 4, "Routes"). Here they only prevent a further try by this service, never one by a merchant.

use crate::card::Brand;
use crate::payment::Payment;
use crate::time::{DAY_MS, Timestamp};

/// Time for which tries are counted: the longest window of any brand.
pub const TRIES_ARE_COUNTED_FOR_MS: u64 = 30 * DAY_MS;

/// Maximum number of a card's payments that are counted, newest first: more than the tries that any brand allows.
pub const PAYMENTS_ARE_COUNTED_TO: usize = 64;

/// Mastercard's advice after which a card is not tried again (merchant advice codes).
const NEVER_AGAIN: [&str; 4] = ["03", "21", "40", "41"];

/// Tries of one card at any acquirer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardTries {
    /// Of the last 24 hours.
    pub in_a_day: u32,
    /// Of the last 30 days.
    pub in_30_days: u32,
}

impl CardTries {
    /// Counts all charges of these payments, at any acquirer and with any outcome.
    pub fn of<'a>(payments: impl IntoIterator<Item = &'a Payment>, now: Timestamp) -> Self {
        let mut tries = Self::default();
        for attempt in payments.into_iter().flat_map(|payment| &payment.state.attempts) {
            let ago_ms = now.ms_since(attempt.at);
            tries.in_a_day = tries.in_a_day.saturating_add(u32::from(ago_ms < DAY_MS));
            let counts = ago_ms < TRIES_ARE_COUNTED_FOR_MS;
            tries.in_30_days = tries.in_30_days.saturating_add(u32::from(counts));
        }
        tries
    }

    /// Adds two counts.
    #[must_use]
    pub const fn plus(self, others: Self) -> Self {
        Self {
            in_a_day: self.in_a_day.saturating_add(others.in_a_day),
            in_30_days: self.in_30_days.saturating_add(others.in_30_days),
        }
    }
}

/// Reason why a card is not tried further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitReached {
    /// The brand's limit for 24 hours.
    InADay,
    /// The brand's limit for 30 days.
    In30Days,
    /// The brand's advice.
    Advice,
}

/// Checks that a card with these tries may be tried once more.
///
/// # Errors
/// The limit that was reached.
pub fn further_try(brand: Brand, advice: Option<&str>, tries: CardTries) -> Result<(), LimitReached> {
    let is_mastercard = matches!(brand, Brand::Mastercard | Brand::Hiper);
    if is_mastercard && advice.is_some_and(|advice| NEVER_AGAIN.contains(&advice)) {
        return Err(LimitReached::Advice);
    }
    let (in_a_day, in_30_days) = match brand {
        Brand::Visa | Brand::Elo => (u32::MAX, 15),
        Brand::Mastercard | Brand::Hiper => (7, 35),
        Brand::Hipercard | Brand::Amex | Brand::Diners | Brand::Discover | Brand::Jcb | Brand::Aura => {
            (u32::MAX, u32::MAX)
        }
    };
    if tries.in_a_day >= in_a_day {
        return Err(LimitReached::InADay);
    }
    if tries.in_30_days >= in_30_days {
        return Err(LimitReached::In30Days);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn tries(in_a_day: u32, in_30_days: u32) -> CardTries {
        CardTries { in_a_day, in_30_days }
    }

    #[test]
    fn the_last_try_of_each_brand_is_allowed_and_the_one_after_it_is_not() {
        for (brand, last, one_more, why) in [
            (Brand::Visa, tries(14, 14), tries(14, 15), LimitReached::In30Days),
            (Brand::Elo, tries(0, 14), tries(0, 15), LimitReached::In30Days),
            (Brand::Mastercard, tries(6, 34), tries(7, 7), LimitReached::InADay),
            (Brand::Mastercard, tries(6, 34), tries(0, 35), LimitReached::In30Days),
        ] {
            assert_eq!(further_try(brand, None, last), Ok(()), "{brand:?}");
            assert_eq!(further_try(brand, None, one_more), Err(why), "{brand:?}");
        }
        assert_eq!(further_try(Brand::Amex, None, tries(1_000, 1_000)), Ok(()));
    }

    #[test]
    fn what_mastercard_advises_against_is_not_tried_again() {
        for advice in NEVER_AGAIN {
            assert_eq!(further_try(Brand::Mastercard, Some(advice), tries(1, 1)), Err(LimitReached::Advice));
            assert_eq!(further_try(Brand::Visa, Some(advice), tries(1, 1)), Ok(()), "it is Mastercard's");
        }
        assert_eq!(further_try(Brand::Mastercard, Some("02"), tries(1, 1)), Ok(()));
    }
}
