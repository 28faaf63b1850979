//! One `[[cost]]`.

use quita_domain::money::Money;
use quita_domain::routing::{CostLine, Rate};

use super::criteria;
use crate::acquirer::{acquirer_name, number};
use crate::table::OptionTable;

/// Reads a cost. Returns `None` if something is missing; refused values are recorded.
pub(super) fn read(table: &mut OptionTable<'_>) -> Option<CostLine> {
    let acquirer = table.required("acquirer", "the name of an acquirer", acquirer_name);
    let when = criteria::read(table);
    if !table.contains("rate") && !table.contains("fixed") {
        table.refuse("rate", "neither rate nor fixed is set; state what the acquirer charges");
    }
    let rate =
        table.optional("rate", "0% to 100% with at most four decimals, such as \"2.49%\"", Rate::parse);
    let cents = |text: &str| number(text, 0, Money::MAX.cents()).map(Money::from_cents);
    let fixed = table.optional("fixed", "0 to 9999999999 cents", cents);
    Some(CostLine {
        acquirer: acquirer?,
        when,
        rate: rate.unwrap_or_default(),
        fixed: fixed.unwrap_or(Money::ZERO),
    })
}
