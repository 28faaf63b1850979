//! Codes of a registered boleto, checked before a payer sees them.

use chrono::NaiveDate;
use quita_domain::boleto::{Barcode, Line, due_factor};
use quita_domain::money::Money;

/// Title for which codes are checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected<'a> {
    /// The bank's three digits.
    pub(crate) bank: &'a str,
    pub(crate) amount: Money,
    pub(crate) due_date: NaiveDate,
}

/// Returns the bar code with its line. The line is computed if the bank gives none.
///
/// # Errors
/// The reason why a payer may not see them.
pub(crate) fn checked(
    barcode: Option<&str>,
    line: Option<&str>,
    expected: Expected<'_>,
) -> Result<(Barcode, Line), &'static str> {
    let line = line.map(|line| Line::parse(line).map_err(|_| "the line is not valid")).transpose()?;
    let barcode = match (barcode, &line) {
        (Some(digits), _) => Barcode::parse(digits).map_err(|_| "the bar code is not valid")?,
        (None, Some(line)) => line.barcode().clone(),
        (None, None) => return Err("there is no bar code"),
    };
    if line.as_ref().is_some_and(|line| *line.barcode() != barcode) {
        return Err("line and bar code differ");
    }
    if barcode.bank() != expected.bank {
        return Err("the bar code is of another bank");
    }
    if barcode.amount_cents() != expected.amount.cents() {
        return Err("the bar code has another amount");
    }
    if Some(barcode.factor()) != due_factor::factor(expected.due_date) {
        return Err("the bar code has another due date");
    }
    let line = line.unwrap_or_else(|| barcode.line());
    Ok((barcode, line))
}
