//! The body of a capture or refund: `{"amount": cents}`, or nothing.

use super::fields::{Fields, Findings};
use super::json::{JsonNode, Object, holds_number};
use super::violation::{Broken, code};
use super::{Rejection, UnknownName, json, unknown_names, wordings};
use crate::money::Money;

/// Body of a capture or refund.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationBody {
    /// Amount in the request. If absent, everything that is left.
    pub amount: Option<Money>,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
}

/// Reads the body of a capture or refund. An empty body counts as `{}`.
///
/// # Errors
/// A [`Rejection`], as for the creation request.
pub fn parse(body: &[u8]) -> Result<OperationBody, Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(OperationBody { amount: None, unknown: Vec::new() });
    }
    let object = json::read(body)?;
    let findings = Findings::default();
    let root = Fields::of_body(&object, &findings);
    let mut unknown = unknown_names::find(&object, &unknown_names::OPERATION);
    if !object.contains_key("amount") {
        take_for_amounts(&mut unknown, &object);
    }
    // Ignoring a misspelt amount would move everything that is left, and so would a variable without a value.
    let is_null = object.get("amount").is_some_and(|amount| matches!(amount, JsonNode::Null));
    if is_null {
        root.refuse_without("amount", wordings::null_amount());
    }
    let is_meant = !is_null && unknown.iter().any(|name| name.is_meant_as("amount"));
    let amount = if is_meant { root.required("amount") } else { root.optional("amount") };
    let amount = amount.cents_from(1);
    root.refuse_card_numbers(&[]);
    match findings.conclude(Some(amount)) {
        Ok((amount, _)) => Ok(OperationBody { amount, unknown }),
        Err(rejection) => Err(rejection.with_unknown(unknown)),
    }
}

/// Treats every unknown name with a number as a misspelt amount, whatever its name and however deep the number is.
/// Without an amount everything that is left would move.
fn take_for_amounts(unknown: &mut [UnknownName], object: &Object<'_>) {
    for name in unknown.iter_mut().filter(|name| name.meant.is_none()) {
        if object.get(name.path.as_str()).is_some_and(holds_number) {
            name.meant = Some("amount".to_owned());
        }
    }
}

/// Reads the body of a cancellation, which needs none, and returns its unknown names. An empty body counts as `{}`.
///
/// # Errors
/// A [`Rejection`] if it is not a JSON object, or has an amount.
pub fn parse_cancellation(body: &[u8]) -> Result<Vec<UnknownName>, Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(Vec::new());
    }
    let object = json::read(body)?;
    let findings = Findings::default();
    let root = Fields::of_body(&object, &findings);
    // Ignoring it would cancel the whole payment of a caller that means a part of it.
    if root.optional("amount").is_present() {
        root.refuse_shape("amount", Broken::new(code::NOT_APPLICABLE, wordings::amount_of_cancellation()));
    }
    root.refuse_card_numbers(&[]);
    let unknown = unknown_names::find(&object, &unknown_names::NOTHING);
    match findings.conclude(Some(())) {
        Ok(_) => Ok(unknown),
        Err(rejection) => Err(rejection.with_unknown(unknown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RejectionKind::{self, Malformed, Unprocessable};
    use crate::request::code;

    #[test]
    fn an_amount_may_be_named_or_left_out() {
        for body in ["", " \n", "{}", "{\"reason\":\"x\"}"] {
            assert_eq!(parse(body.as_bytes()).unwrap().amount, None, "{body}");
        }
        for (body, cents) in [("{\"amount\":1}", 1), (" {\"amount\": 9999999999} ", 9_999_999_999)] {
            assert_eq!(parse(body.as_bytes()).unwrap().amount, Some(Money::from_cents(cents)), "{body}");
        }
    }

    #[test]
    fn an_amount_without_a_value_moves_nothing() {
        let rejection = parse(b"{\"amount\":null}").unwrap_err();
        let violation = &rejection.violations[0];
        assert_eq!((violation.field.as_str(), violation.code), ("amount", code::REQUIRED));
        let message = &violation.message;
        assert!(message.english().starts_with("must not be null; leave it out for everything"), "{message}");
        assert!(message.portuguese().starts_with("não pode ser null; omita-o para tudo"), "{message:?}");
    }

    #[test]
    fn a_name_that_seems_to_mean_the_amount_moves_nothing() {
        for name in
            ["amout", "Amount", "value", "valor", "amount_cents", "amountInCents", "refundAmount", "total"]
        {
            let rejection = parse(format!("{{\"{name}\":1000}}").as_bytes()).unwrap_err();
            let violation = &rejection.violations[0];
            assert_eq!((violation.field.as_str(), violation.code), ("amount", code::REQUIRED), "{name}");
            assert!(violation.message.english().contains(name), "{}", violation.message.english());
            let both = format!("{{\"amount\":500,\"{name}\":1000}}");
            assert_eq!(parse(both.as_bytes()).unwrap().amount, Some(Money::from_cents(500)), "{name}");
        }
    }

    #[test]
    fn a_number_under_any_name_moves_nothing_without_an_amount() {
        for (body, name) in [
            ("{\"cents\":5}", "cents"),
            ("{\"quantia\":5}", "quantia"),
            ("{\"data\":{\"amount\":1}}", "data"),
            ("{\"refund\":{\"lines\":[{\"net\":100}]}}", "refund"),
        ] {
            let rejection = parse(body.as_bytes()).unwrap_err();
            let violation = &rejection.violations[0];
            assert_eq!((violation.field.as_str(), violation.code), ("amount", code::REQUIRED), "{body}");
            assert!(violation.message.english().contains(name), "{}", violation.message.english());
        }
        for body in ["{\"reason\":\"5\"}", "{\"metadata\":{\"by\":\"x\"},\"notify\":true}"] {
            assert_eq!(parse(body.as_bytes()).unwrap().amount, None, "{body}");
        }
        assert!(parse(b"{\"amount\":500,\"cents\":5}").is_ok());
    }

    #[test]
    fn a_cancellation_has_no_fields_and_names_each_that_is_sent() {
        for body in ["", " \n", "{}"] {
            assert_eq!(parse_cancellation(body.as_bytes()), Ok(Vec::new()), "{body}");
        }
        let named = parse_cancellation(b"{\"amount\":null,\"reason\":5}").unwrap();
        let named: Vec<_> = named.iter().map(|name| (name.path.as_str(), name.meant.as_deref())).collect();
        assert_eq!(named, [("amount", None), ("reason", None)]);
        for (body, code) in [("{{{", code::SYNTAX), ("[]", code::TYPE), ("null", code::TYPE)] {
            let rejection = parse_cancellation(body.as_bytes()).unwrap_err();
            assert_eq!((rejection.kind, rejection.violations[0].code), (Malformed, code), "{body}");
        }
        let rejection = parse_cancellation(b"{\"reason\":\"4111111111111111\"}").unwrap_err();
        assert_eq!(rejection.kind, Unprocessable);
    }

    #[test]
    fn a_cancellation_with_an_amount_is_told_where_a_part_is_captured_or_refunded() {
        for body in ["{\"amount\":100}", "{\"amount\":\"100\"}", "{\"amount\":0,\"reason\":\"x\"}"] {
            let rejection = parse_cancellation(body.as_bytes()).unwrap_err();
            let violation = &rejection.violations[0];
            assert_eq!(
                (rejection.kind, violation.field.as_str(), violation.code),
                (Malformed, "amount", code::NOT_APPLICABLE)
            );
            let message = rejection.message();
            for text in [message.english(), message.portuguese()] {
                assert!(text.contains("/capture") && text.contains("/refunds"), "{text}");
            }
        }
    }

    #[test]
    fn an_amount_out_of_bounds_or_of_another_type_is_refused() {
        let refused = |body: &str, kind: RejectionKind, field: &str, code: &str| {
            let rejection = parse(body.as_bytes()).unwrap_err();
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
