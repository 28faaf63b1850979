//! Cost of a payment, next to the cost calculated from the table of costs.

use quita_domain::money::Money;

use super::language::Language;

/// Returns the stated cost, with the calculated one in `words`; `None` while the acquirer has stated none.
pub(crate) fn cost_beside(
    stated: Option<Money>,
    reckoned: Option<Money>,
    language: Language,
    words: &str,
) -> Option<String> {
    let stated = language.money(stated?);
    let beside = reckoned.map(|reckoned| words.replace("{amount}", &language.money(reckoned)));
    Some(beside.map_or_else(|| stated.clone(), |beside| format!("{stated} ({beside})")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stated_cost_is_shown_beside_the_reckoned_one() {
        let cents = |cents| Some(Money::from_cents(cents));
        let shown =
            |stated, reckoned| cost_beside(stated, reckoned, Language::English, "calculated: {amount}");
        assert_eq!(shown(cents(133), cents(120)).as_deref(), Some("R$\u{a0}1.33 (calculated: R$\u{a0}1.20)"));
        assert_eq!(shown(cents(133), None).as_deref(), Some("R$\u{a0}1.33"));
        assert_eq!(shown(None, cents(120)), None);
    }
}
