//! Reasons of Cielo's refusals.

use serde_json::Value;

use crate::field::Object;
use crate::reason::{clean, explained};

/// An explicit refusal with a 4xx.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Reason, for people.
    pub(super) reason: String,
    /// Cielo's error codes.
    pub(super) codes: Vec<String>,
}

impl Refusal {
    /// Reads `[{"Code":126,"Message":"…"}]`, or a single such object. Anything else only yields its status.
    pub(super) fn read(status: u16, body: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let errors: Vec<Object<'_>> = match &value {
            Value::Array(errors) => errors.iter().filter_map(Object::of).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Object::of(&value).into_iter().collect()
            }
        };
        let told: Vec<(Option<String>, Option<String>)> =
            errors.iter().map(|error| (error.text("Code"), error.text("Message"))).collect();
        let codes = told.iter().filter_map(|(code, _)| code.clone()).collect();
        let texts: Vec<String> = told.iter().filter_map(|(code, message)| explained(code, message)).collect();
        let said = clean(&texts.join("; "));
        let reason = if said.is_empty() { format!("HTTP {status}") } else { said };
        Self { reason, codes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_array_of_errors_is_read_with_codes_and_messages() {
        let body = br#"[{"Code":126,"Message":"Credit Card Expiration Date is invalid"},{"code":"108"}]"#;
        let refusal = Refusal::read(400, body);
        assert_eq!(refusal.reason, "126: Credit Card Expiration Date is invalid; 108");
        assert_eq!(refusal.codes, ["126", "108"]);
        for body in ["", "<html>no</html>", "[]", "{}", "null", "[[]]"] {
            assert_eq!(Refusal::read(422, body.as_bytes()).reason, "HTTP 422", "{body}");
        }
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in any::<Vec<u8>>()) {
            prop_assert!(!Refusal::read(400, &body).reason.is_empty());
        }
    }
}
