//! `splits`: the shares of recipients.

use std::ops::RangeInclusive;

use super::fields::{Field, Fields};
use super::violation::{Broken, code};
use super::wordings;
use crate::money::Money;
use crate::order::{Share, Split};
use crate::text::is_digits;

/// Maximum number of recipients of one payment.
const MAX_SPLITS: usize = 20;

/// A hundred percent in hundredths of a percent.
const WHOLE: u32 = 10_000;

/// Reads the shares; their sum may not exceed `amount`.
pub(super) fn read(root: &Fields<'_>, amount: Option<Money>) -> Vec<Split> {
    let field = root.optional("splits");
    let splits: Vec<Split> = field.objects(MAX_SPLITS).iter().filter_map(split).collect();
    let amounts = splits.iter().filter(|split| matches!(split.share, Share::Amount(_))).count();
    if amounts != 0 && amounts != splits.len() {
        field.refuse(Broken::new(code::MIXED, wordings::mixed_splits()));
    } else if exceeds(&splits, amount) {
        field.refuse(Broken::new(code::EXCEEDS_AMOUNT, wordings::splits_exceed_amount()));
    }
    splits
}

/// Refuses shares that exceed what is left after the greatest discount. Percentages are of the whole amount.
pub(super) fn check_against_discount(root: &Fields<'_>, splits: &[Split], amount: Money, discount: Money) {
    // A payer who pays early pays less, and all shares must fit into that amount.
    let shares: Money = splits.iter().map(|split| split.share.of(amount)).sum();
    // Shares that exceed the amount were already refused.
    if shares > amount.minus(discount) && !exceeds(splits, Some(amount)) {
        root.refuse("splits", Broken::new(code::EXCEEDS_AMOUNT, wordings::splits_exceed_discounted()));
    }
}

fn split(fields: &Fields<'_>) -> Option<Split> {
    let recipient_id = fields.required("recipientId").text_of(1..=100);
    let share = share(fields.optional("amount"), fields.optional("percentage"), fields);
    Some(Split { recipient_id: recipient_id?, share: share? })
}

fn share(amount: Field<'_>, percentage: Field<'_>, fields: &Fields<'_>) -> Option<Share> {
    match (amount.is_present(), percentage.is_present()) {
        (true, false) => amount.cents_from(1).map(Share::Amount),
        (false, true) => {
            let points = basis_points(percentage.number()?, 1..=WHOLE);
            fields.keep("percentage", points).map(Share::BasisPoints)
        }
        (true, true) => {
            // Both are read, since a wrong type takes precedence over the error that there are two.
            let cents = amount.integer();
            let points = percentage.number();
            if cents.and(points).is_some() {
                fields.refuse("", Broken::new(code::MIXED, wordings::mixed_split()));
            }
            None
        }
        (false, false) => {
            fields.refuse_without("", wordings::needs_one_of("amount", "percentage"));
            None
        }
    }
}

/// Reads hundredths of a percent from a JSON number, digit by digit: within bounds, with at most two decimals.
pub(super) fn basis_points(number: &str, bounds: RangeInclusive<u32>) -> Result<u32, Broken> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "00"));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    if !is_digits(digits) || !is_digits(decimals) || decimals.len() > 2 {
        return Err(Broken::new(code::FORMAT, wordings::no_percentage()));
    }
    let points = format!("{whole}{decimals:0<2}").parse().ok().filter(|points| bounds.contains(points));
    points.ok_or_else(|| {
        let (least, most) = bounds.into_inner();
        Broken::new(code::RANGE, wordings::percentage_out_of_range(&percentage(least), &percentage(most)))
    })
}

/// Writes hundredths of a percent: `0.01`, `20`.
fn percentage(points: u32) -> String {
    let whole = points / 100;
    let decimals = points % 100;
    if decimals == 0 { whole.to_string() } else { format!("{whole}.{decimals:02}") }
}

fn exceeds(splits: &[Split], amount: Option<Money>) -> bool {
    let mut cents = Money::ZERO;
    let mut points = 0;
    for split in splits {
        match split.share {
            Share::Amount(share) => cents = cents.plus(share),
            Share::BasisPoints(share) => points += share,
        }
    }
    points > WHOLE || amount.is_some_and(|amount| cents > amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_without_floats() {
        for (number, points) in
            [("100", 10_000), ("100.00", 10_000), ("12.5", 1250), ("0.01", 1), ("1.1", 110), ("0.07", 7)]
        {
            assert_eq!(basis_points(number, 1..=WHOLE), Ok(points), "{number}");
        }
    }

    #[test]
    fn percentages_out_of_bounds_or_form_are_refused() {
        let long = "9".repeat(1000);
        for (number, code) in [
            ("0", code::RANGE),
            ("0.00", code::RANGE),
            ("-0", code::RANGE),
            ("-0.01", code::RANGE),
            ("-12.5", code::RANGE),
            ("100.01", code::RANGE),
            ("101", code::RANGE),
            (&long, code::RANGE),
            ("0.001", code::FORMAT),
            ("12.500", code::FORMAT),
            ("1e1", code::FORMAT),
            ("1.0e1", code::FORMAT),
            ("1.0E0", code::FORMAT),
        ] {
            assert_eq!(basis_points(number, 1..=WHOLE).unwrap_err().code, code, "{number}");
        }
    }
}
