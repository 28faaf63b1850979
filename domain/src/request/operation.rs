//! The body of a capture or refund: `{"amount": cents}`, or nothing.

use super::basket::MAX_CENTS;
use super::fields::{Fields, Findings};
use super::{Rejection, json};
use crate::money::Money;

/// Reads the amount that the caller names; `None` means all there is. An empty body is as `{}`.
///
/// # Errors
/// A [`Rejection`], as for the creation request.
pub fn parse_amount(body: &[u8]) -> Result<Option<Money>, Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(None);
    }
    let object = json::read(body)?;
    let findings = Findings::default();
    let root = Fields::of_body(&object, &findings);
    let amount = root.optional("amount").integer_in(1..=MAX_CENTS);
    root.refuse_card_numbers(&[]);
    let (amount, _) = findings.conclude(Some(amount.map(Money::from_cents)))?;
    Ok(amount)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RejectionKind::{self, Malformed, Unprocessable};
    use crate::request::code;

    #[test]
    fn an_amount_may_be_named_or_left_out() {
        for body in ["", " \n", "{}", "{\"amount\":null}", "{\"reason\":\"x\"}"] {
            assert_eq!(parse_amount(body.as_bytes()), Ok(None), "{body}");
        }
        for (body, cents) in [("{\"amount\":1}", 1), (" {\"amount\": 9999999999} ", 9_999_999_999)] {
            assert_eq!(parse_amount(body.as_bytes()), Ok(Some(Money::from_cents(cents))), "{body}");
        }
    }

    #[test]
    fn an_amount_out_of_bounds_or_of_another_type_is_refused() {
        let refused = |body: &str, kind: RejectionKind, field: &str, code: &str| {
            let rejection = parse_amount(body.as_bytes()).unwrap_err();
            let violation = &rejection.violations[0];
            assert_eq!(
                (rejection.kind, violation.field.as_str(), violation.code),
                (kind, field, code),
                "{body}"
            );
        };
        for amount in ["0", "-1", "10000000000", "99999999999999999999999999"] {
            refused(&format!("{{\"amount\":{amount}}}"), Unprocessable, "amount", code::RANGE);
        }
        for amount in ["1.0", "1e2", "\"1\"", "true", "[]", "{}"] {
            refused(&format!("{{\"amount\":{amount}}}"), Malformed, "amount", code::TYPE);
        }
        refused("[]", Malformed, "", code::TYPE);
        refused("{", Malformed, "", code::SYNTAX);
    }
}
