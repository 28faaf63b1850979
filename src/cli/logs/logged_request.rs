//! Rendering of a request that was refused or had unknown names, as one readable line or one line of JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::cli::api::FailedCall;
use crate::cli::failure::Failure;
use crate::cli::json_text::JsonText;
use crate::cli::output::printable;

/// Request that its developer should know about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub(super) enum LoggedRequest {
    Refused(LoggedRefusal),
    Ignored(LoggedNames),
}

/// Refused request, in the API's field order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedRefusal {
    request_id: String,
    at: String,
    method: String,
    route: String,
    status_code: u16,
    code: String,
    message: String,
    fields: Vec<String>,
    details: Vec<BrokenRule>,
    key_id: String,
}

/// Violated rule of a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub(super) struct BrokenRule {
    field: String,
    code: String,
    message: String,
}

/// Request that was accepted although some of its names are unknown, in the API's field order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoggedNames {
    request_id: String,
    at: String,
    method: String,
    route: String,
    status_code: u16,
    names: Vec<Name>,
    key_id: String,
}

/// Unknown name, and the one that was probably meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub(super) struct Name {
    name: String,
    meant: Option<String>,
}

/// Answer of `GET /pay/requests`.
pub(super) struct RequestLog {
    /// Node that answered; `None` if it is the only one.
    pub(super) node: Option<String>,
    /// Requests, oldest first.
    pub(super) entries: Vec<LoggedRequest>,
}

impl RequestLog {
    /// Parses the requests of an answer.
    pub(super) fn parse(answer: &str) -> Result<Self, FailedCall> {
        #[derive(Deserialize)]
        struct RequestsAnswer {
            #[serde(default)]
            node: Option<String>,
            data: Vec<LoggedRefusal>,
            ignored: Vec<LoggedNames>,
        }
        let answer: RequestsAnswer = serde_json::from_str(answer).map_err(|error| {
            let failure = Failure::failed(format!("the answer has no refused requests: {error}"));
            FailedCall::lasting(failure)
        })?;
        let refused = answer.data.into_iter().map(LoggedRequest::Refused);
        let mut entries: Vec<_> =
            refused.chain(answer.ignored.into_iter().map(LoggedRequest::Ignored)).collect();
        entries.reverse();
        // Times are texts of equal length, so they sort chronologically.
        entries.sort_by(|one, other| one.at().cmp(other.at()));
        Ok(Self { node: answer.node, entries })
    }
}

impl LoggedRequest {
    fn at(&self) -> &str {
        match self {
            Self::Refused(refusal) => &refusal.at,
            Self::Ignored(ignored) => &ignored.at,
        }
    }

    /// Returns the status of the response.
    pub(super) const fn status_code(&self) -> u16 {
        match self {
            Self::Refused(refusal) => refusal.status_code,
            Self::Ignored(ignored) => ignored.status_code,
        }
    }

    /// Returns the code of a refusal.
    pub(super) fn code(&self) -> Option<&str> {
        match self {
            Self::Refused(refusal) => Some(&refusal.code),
            Self::Ignored(_) => None,
        }
    }

    /// Returns one line of JSON, with control characters escaped.
    pub(super) fn json(&self) -> Result<String, Failure> {
        let text = serde_json::to_string(self).map_err(Failure::failed)?;
        let json = JsonText::parse(&text).ok_or_else(|| Failure::failed("a request is not JSON"))?;
        Ok(json.on_one_line())
    }
}

impl LoggedRefusal {
    fn told(&self) -> String {
        // The message contains only the first violation.
        let whole = match self.details.as_slice() {
            [] | [_] => self.message.clone(),
            all => {
                let told = all.iter().map(|detail| format!("{}: {}", detail.field, detail.message));
                told.collect::<Vec<_>>().join("; ")
            }
        };
        format!("{}: {whole}", self.code)
    }
}

impl LoggedNames {
    fn told(&self) -> String {
        let told = self.names.iter().map(|name| match &name.meant {
            Some(meant) => format!("{} is unknown and was ignored; did you mean {meant}?", name.name),
            None => format!("{} is unknown and was ignored", name.name),
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for LoggedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, told) = match self {
            Self::Refused(one) => {
                ([&one.at, &one.method, &one.route, &one.key_id, &one.request_id], one.told())
            }
            Self::Ignored(one) => {
                ([&one.at, &one.method, &one.route, &one.key_id, &one.request_id], one.told())
            }
        };
        let [at, method, route, key, id] = parts.map(|text| printable(text));
        let status = self.status_code();
        let told = printable(&told);
        write!(f, "{at}  {status}  {method} {route}  {told}  key {key}, request {id}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"data":[
        {"requestId":"r2","at":"2026-11-21T12:00:01.000Z","method":"GET","route":"/pay/payments/{id}","statusCode":404,
         "code":"not_found","message":"transaction not found","fields":[],"details":[],"keyId":"k"},
        {"requestId":"r1","at":"2026-11-21T12:00:00.000Z","method":"POST","route":"/pay/payments","statusCode":400,
         "code":"malformed_request","message":"amount: no\u001b; and 1 more","fields":["amount","currency"],
         "details":[{"field":"amount","code":"type","message":"no\u001b"},
                    {"field":"currency","code":"required","message":"is required"}],"keyId":"k"}],
        "ignored":[
        {"requestId":"r3","at":"2026-11-21T12:00:00.500Z","method":"POST","route":"/pay/payments","statusCode":201,
         "names":[{"name":"postback_url","meant":"postbackUrl"},{"name":"x","meant":null}],"keyId":"k"}]}"#;

    fn entries() -> Vec<LoggedRequest> {
        RequestLog::parse(ANSWER).ok().unwrap().entries
    }

    #[test]
    fn a_request_is_one_line_and_the_oldest_comes_first() {
        let lines: Vec<_> = entries().iter().map(LoggedRequest::to_string).collect();
        let expected = [
            "2026-11-21T12:00:00.000Z  400  POST /pay/payments  malformed_request: amount: no\\u{1b}; currency: is \
             required  key k, request r1",
            "2026-11-21T12:00:00.500Z  201  POST /pay/payments  postback_url is unknown and was ignored; did you mean \
             postbackUrl?, x is unknown and was ignored  key k, request r3",
            "2026-11-21T12:00:01.000Z  404  GET /pay/payments/{id}  not_found: transaction not found  key k, request r2",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn json_is_in_the_order_of_the_api_on_one_line() {
        let json = entries().first().unwrap().json().unwrap();
        assert!(json.starts_with(r#"{"requestId": "r1""#) && json.ends_with(r#""keyId": "k"}"#), "{json}");
        assert_eq!((json.lines().count(), json.contains('\u{1b}')), (1, false), "{json}");
    }

    #[test]
    fn another_answer_is_told_and_not_asked_for_again() {
        let failed = RequestLog::parse("{}").err().unwrap();
        assert!(!failed.passes && failed.failure.to_string().contains("refused requests"));
    }
}
