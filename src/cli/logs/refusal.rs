//! Rendering of a refused request as one readable line, or as one line of JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cli::api::FailedCall;
use crate::cli::failure::Failure;
use crate::cli::json_text::JsonText;
use crate::cli::output::printable;

/// Refused request, in the order of the API.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Refusal {
    request_id: String,
    at: String,
    method: String,
    route: String,
    pub(super) status_code: u16,
    pub(super) code: String,
    message: String,
    fields: Vec<String>,
    key_id: String,
}

/// Answer of `GET /pay/requests`.
#[derive(Deserialize)]
pub(super) struct Page {
    /// Node that refused them; none if it is the only one.
    #[serde(default)]
    pub(super) node: Option<String>,
    #[serde(rename = "data")]
    pub(super) refusals: Vec<Refusal>,
}

impl Page {
    /// Reads the refusals of an answer, oldest first.
    pub(super) fn parse(answer: &str) -> Result<Self, FailedCall> {
        let mut page: Self = serde_json::from_str(answer).map_err(|error| {
            let failure = Failure::failed(format!("the answer has no refused requests: {error}"));
            FailedCall { failure, passes: false }
        })?;
        page.refusals.reverse();
        Ok(page)
    }
}

impl Refusal {
    /// Returns one line of JSON, with control characters escaped.
    pub(super) fn json(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(self).map_err(Failure::failed)?;
        let json = JsonText::parse(&text).ok_or_else(|| Failure::failed("a refusal is no JSON"))?;
        Ok(json.on_one_line())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [at, method, route, code, message, key, id] =
            [&self.at, &self.method, &self.route, &self.code, &self.message, &self.key_id, &self.request_id]
                .map(|text| printable(text));
        write!(f, "{at}  {}  {method} {route}  {code}: {message}", self.status_code)?;
        // The message names the first violation only.
        if self.fields.len() > 1 {
            write!(f, "  [{}]", printable(&self.fields.join(", ")))?;
        }
        write!(f, "  key {key}, request {id}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"data":[
        {"requestId":"r2","at":"2026-11-21T12:00:01.000Z","method":"GET","route":"/pay/payments/{id}","statusCode":404,
         "code":"not_found","message":"transaction not found","fields":[],"keyId":"k"},
        {"requestId":"r1","at":"2026-11-21T12:00:00.000Z","method":"POST","route":"/pay/payments","statusCode":400,
         "code":"malformed_request","message":"amount: no\u001b; and 1 more","fields":["amount","currency"],"keyId":"k"}]}"#;

    fn refusals() -> Vec<Refusal> {
        Page::parse(ANSWER).ok().unwrap().refusals
    }

    #[test]
    fn a_refusal_is_one_line_and_the_oldest_comes_first() {
        let lines: Vec<_> = refusals().iter().map(Refusal::to_string).collect();
        let expected = [
            "2026-11-21T12:00:00.000Z  400  POST /pay/payments  malformed_request: amount: no\\u{1b}; and 1 more  \
             [amount, currency]  key k, request r1",
            "2026-11-21T12:00:01.000Z  404  GET /pay/payments/{id}  not_found: transaction not found  key k, request r2",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn json_is_in_the_order_of_the_api_on_one_line() {
        let json = refusals().first().unwrap().json().unwrap();
        assert!(json.starts_with(r#"{"requestId": "r1""#) && json.ends_with(r#""keyId": "k"}"#), "{json}");
        assert_eq!((json.lines().count(), json.contains('\u{1b}')), (1, false), "{json}");
    }

    #[test]
    fn another_answer_is_told_and_not_asked_for_again() {
        let failed = Page::parse("{}").err().unwrap();
        assert!(!failed.passes && failed.failure.to_string().contains("refused requests"));
    }
}
