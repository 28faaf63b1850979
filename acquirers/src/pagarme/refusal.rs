//! Reasons of Pagar.me's refusals.

use serde_json::Value;

use crate::field::Object;
use crate::reason::clean;

/// Maximum number of faults that are reported.
const MAX_FAULTS: usize = 4;

/// Reads `{"message": "…", "errors": {"order.customer.name": ["…"]}}`. Anything else only yields its status.
pub(super) fn read(status: u16, body: &[u8]) -> String {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    let Some(answer) = Object::of(&value) else { return format!("HTTP {status}") };
    let faults = answer.get("errors").and_then(Value::as_object);
    let told = faults.into_iter().flatten().take(MAX_FAULTS).map(|(field, messages)| {
        let first = messages.as_array().and_then(|all| all.first()).and_then(Value::as_str);
        format!("{field}: {}", first.unwrap_or("refused"))
    });
    let all: Vec<String> = answer.text("message").into_iter().chain(told).collect();
    let said = clean(&all.join("; "));
    if said.is_empty() { format!("HTTP {status}") } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_and_faults_are_told_without_personal_data() {
        let body = br#"{"message":"The request is invalid.","errors":{"customer.email":["fulano@example.com is no e-mail"]}}"#;
        assert_eq!(read(422, body), "The request is invalid.; customer.email: *** is no e-mail");
        for body in ["", "<html>", "[]", "{}"] {
            assert_eq!(read(400, body.as_bytes()), "HTTP 400", "{body}");
        }
    }
}
