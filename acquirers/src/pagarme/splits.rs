//! Splits in the form that Pagar.me accepts: flat cents for each recipient, and the rest for the account's own, which
//! pays the fees. They are kept with the attempt, because a partial capture sends them again in proportion.

use quita_domain::acquiring::{ChargeQuery, Reference};
use quita_domain::money::Money;
use quita_domain::order::Split;
use serde::Serialize;

use super::settings::PagarmeSettings;

/// Reason against this acquirer: a recipient of the splits has no entry in its configuration.
pub(super) const RECIPIENT_UNKNOWN: &str = "recipient_unknown";

/// Maximum number of splits of a payment.
const MAX_SPLITS: usize = 20;

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct SplitRule {
    recipient_id: String,
    r#type: &'static str,
    amount: u64,
    options: Options,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Options {
    liable: bool,
    charge_processing_fee: bool,
    charge_remainder_fee: bool,
}

/// A share in cents for a recipient at Pagar.me.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Share {
    recipient: String,
    cents: u64,
}

/// Returns the shares of a payment's splits.
///
/// # Errors
/// [`RECIPIENT_UNKNOWN`] if a recipient has no entry.
pub(super) fn shares(
    splits: &[Split],
    amount: Money,
    settings: &PagarmeSettings,
) -> Result<Vec<Share>, &'static str> {
    let known = |split: &Split| {
        let recipient = settings.recipients.get(&split.recipient_id).ok_or(RECIPIENT_UNKNOWN)?;
        Ok(Share { recipient: recipient.clone(), cents: split.share.of(amount).cents() })
    };
    splits.iter().map(known).collect()
}

/// Returns the rules for an amount; none if nobody shares it. Their sum is exactly the amount.
///
/// # Errors
/// [`RECIPIENT_UNKNOWN`] if the account's own recipient is needed but not known, or the shares exceed the amount.
pub(super) fn rules(
    shares: &[Share],
    amount: Money,
    settings: &PagarmeSettings,
) -> Result<Vec<SplitRule>, &'static str> {
    if shares.is_empty() {
        return Ok(Vec::new());
    }
    let own = settings.recipient.clone().ok_or(RECIPIENT_UNKNOWN)?;
    let given: u64 = shares.iter().map(|share| share.cents).sum();
    let left = amount.cents().checked_sub(given).ok_or("splits_exceed_amount")?;
    let rule = |recipient_id: String, amount, is_own: bool| SplitRule {
        recipient_id,
        r#type: "flat",
        amount,
        // The account itself bears fees, remainders and chargebacks, so that recipients get exactly their shares.
        options: Options { liable: is_own, charge_processing_fee: is_own, charge_remainder_fee: is_own },
    };
    // A rule of zero would be refused.
    let some = shares.iter().filter(|share| share.cents > 0);
    let theirs = some.map(|share| rule(share.recipient.clone(), share.cents, false));
    let ours = (left > 0).then(|| rule(own, left, true));
    Ok(theirs.chain(ours).collect())
}

/// Returns the shares of a partial amount, each in proportion and rounded down: the account's own recipient gets the
/// rest.
pub(super) fn in_proportion(shares: &[Share], part: Money, whole: Money) -> Vec<Share> {
    let cents = |share: &Share| {
        let product = u128::from(share.cents).saturating_mul(u128::from(part.cents()));
        let cents = product.checked_div(u128::from(whole.cents())).unwrap_or_default();
        u64::try_from(cents).unwrap_or_default()
    };
    shares.iter().map(|share| Share { cents: cents(share), ..share.clone() }).collect()
}

/// Returns the reference with notes of the shares.
pub(super) fn noted(mut reference: Reference, shares: &[Share]) -> Reference {
    for (place, Share { recipient, cents }) in shares.iter().enumerate() {
        reference = reference.with(&Reference::split(place), &format!("{recipient} {cents}"));
    }
    reference
}

/// Returns the shares of a charge: those noted when it was created, otherwise those of the current configuration.
pub(super) fn kept(query: &ChargeQuery, settings: &PagarmeSettings) -> Vec<Share> {
    let noted = of_notes(&query.reference);
    if noted.is_empty() { shares(&query.splits, query.amount, settings).unwrap_or_default() } else { noted }
}

/// Reads the shares from the notes of a reference.
fn of_notes(reference: &Reference) -> Vec<Share> {
    let note = |place: usize| {
        let (recipient, cents) = reference.get(&Reference::split(place))?.split_once(' ')?;
        Some(Share { recipient: recipient.to_owned(), cents: cents.parse().ok()? })
    };
    (0..MAX_SPLITS).map_while(note).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use quita_domain::order::Share as Wanted;
    use quita_domain::secret::Secret;

    use super::*;

    fn settings() -> PagarmeSettings {
        let recipients =
            [("a", "re_a"), ("b", "re_b")].map(|(id, theirs)| (id.to_owned(), theirs.to_owned()));
        PagarmeSettings {
            base_url: String::new(),
            secret_key: Secret::new(String::new()),
            notification_user: String::new(),
            notification_password: Secret::new(String::new()),
            soft_descriptor: None,
            antifraud: None,
            recipient: Some("re_own".into()),
            recipients: BTreeMap::from(recipients),
            boleto: super::super::settings::BoletoSettings::default(),
            lists: true,
        }
    }

    fn split(id: &str, share: Wanted) -> Split {
        Split { recipient_id: id.into(), share }
    }

    fn amounts(rules: &[SplitRule]) -> Vec<(&str, u64, bool)> {
        rules.iter().map(|rule| (rule.recipient_id.as_str(), rule.amount, rule.options.liable)).collect()
    }

    #[test]
    fn shares_are_flat_cents_and_the_rest_is_the_accounts_own() {
        let amount = Money::from_cents(9_999);
        let splits = [split("a", Wanted::BasisPoints(3_333)), split("b", Wanted::BasisPoints(1))];
        let shares = shares(&splits, amount, &settings()).unwrap();
        let rules = rules(&shares, amount, &settings()).unwrap();
        assert_eq!(amounts(&rules), [("re_a", 3_332, false), ("re_own", 6_667, true)]);
    }

    #[test]
    fn nothing_left_makes_no_rule_and_an_unknown_recipient_none_at_all() {
        let amount = Money::from_cents(100);
        let whole = shares(&[split("a", Wanted::Amount(amount))], amount, &settings()).unwrap();
        assert_eq!(amounts(&rules(&whole, amount, &settings()).unwrap()), [("re_a", 100, false)]);
        let unknown = shares(&[split("c", Wanted::Amount(amount))], amount, &settings());
        assert_eq!(unknown, Err(RECIPIENT_UNKNOWN));
        let own = PagarmeSettings { recipient: None, ..settings() };
        assert_eq!(rules(&whole, amount, &own), Err(RECIPIENT_UNKNOWN));
        assert_eq!(rules(&[], amount, &own), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn rules_of_a_part_add_up_to_it(cents in 1_u64..1_000_000, points in 1_u32..9_000, part in 1_u64..1_000_000) {
            let whole = Money::from_cents(cents);
            let part = Money::from_cents(part.min(cents));
            let splits = [split("a", Wanted::BasisPoints(points)), split("b", Wanted::BasisPoints(900))];
            let shares = shares(&splits, whole, &settings()).unwrap();
            let kept = of_notes(&noted(Reference::none(), &shares));
            prop_assert_eq!(&kept, &shares);
            let rules = rules(&in_proportion(&kept, part, whole), part, &settings()).unwrap();
            let sum: u64 = rules.iter().map(|rule| rule.amount).sum();
            prop_assert_eq!(sum, part.cents());
        }
    }
}
