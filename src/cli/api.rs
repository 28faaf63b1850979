//! API client that calls the running service the way a merchant's program does.

use std::time::Duration;

use awc::http::header::HeaderMap;
use awc::http::{Method, StatusCode};
use clap::Args;
use clap::builder::{NonEmptyStringValueParser, TypedValueParser};
use serde::Deserialize;
use url::Url;

use super::failure::Failure;
use super::http_client::{client, server_url, unreachable};
use super::json_text::JsonText;
use super::output;
use crate::http::wordings;

/// Maximum size in bytes of an answer: a page of the largest records is smaller.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Address of the service, and the key with which it is called.
#[derive(Debug, Args)]
pub(super) struct Api {
    /// Address of the service
    #[arg(long, env = "QUITA_URL", default_value = "http://127.0.0.1:8080", value_parser = server_url)]
    pub(super) url: Url,
    /// API key, best set as QUITA_KEY: other users of this machine can read flags
    #[arg(long, env = "QUITA_KEY", hide_env_values = true, value_parser = key())]
    pub(super) key: String,
}

/// Reads a key. A line written on Windows ends with a carriage return.
fn key() -> impl TypedValueParser<Value = String> {
    NonEmptyStringValueParser::new().map(|key| key.trim().to_owned())
}

/// Returns true if a text consists only of characters that occur in keys (RFC 4648, section 5).
fn may_be_key(text: &str) -> bool {
    text.chars().all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-'))
}

/// Number of times that a call waits for the rate limit of its key.
const MOST_WAITS: u8 = 3;

/// Longest such wait, in seconds.
const LONGEST_WAIT_S: u64 = 10;

/// Request to the API.
pub(super) struct ApiRequest<'a> {
    method: Method,
    path: String,
    query: Vec<(&'static str, String)>,
    body: Option<&'a str>,
    idempotency_key: Option<&'a str>,
}

impl<'a> ApiRequest<'a> {
    pub(super) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), query: Vec::new(), body: None, idempotency_key: None }
    }

    pub(super) fn post(path: impl Into<String>) -> Self {
        Self { method: Method::POST, ..Self::get(path) }
    }

    pub(super) fn with_query(self, query: Vec<(&'static str, String)>) -> Self {
        Self { query, ..self }
    }

    pub(super) fn with_body(self, body: &'a str) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(super) fn with_idempotency_key(self, key: Option<&'a str>) -> Self {
        Self { idempotency_key: key, ..self }
    }
}

/// Failed call.
pub(super) struct FailedCall {
    pub(super) failure: Failure,
    /// True if the same call may succeed later: there was no answer, or the service was overloaded or failed.
    pub(super) passes: bool,
    /// Seconds after which the rate limit allows the same call, unless they are too many to wait.
    wait_s: Option<u64>,
}

impl FailedCall {
    const fn passing(failure: Failure) -> Self {
        Self { failure, passes: true, wait_s: None }
    }

    /// Returns the failure of a call that would fail again.
    pub(super) const fn lasting(failure: Failure) -> Self {
        Self { failure, passes: false, wait_s: None }
    }
}

/// Parts of a refusal that are shown to the user.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShownRefusal {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    details: Vec<RefusalDetail>,
    #[serde(default)]
    request_id: Option<String>,
}

impl ShownRefusal {
    /// Returns true if the service has no such address, unlike a payment that does not exist.
    fn is_of_unknown_address(&self) -> bool {
        // Both have the code `not_found`, so the sentence has to tell them apart.
        let unknown = wordings::nothing_here();
        self.message.as_deref().is_some_and(|message| message.starts_with(unknown.english()))
    }
}

#[derive(Deserialize)]
struct RefusalDetail {
    field: String,
    message: String,
}

impl Api {
    /// Returns true if the key moves real money.
    pub(super) fn is_live(&self) -> bool {
        self.key.starts_with("qk_live_")
    }

    /// Calls the service, and returns the JSON of its answer. `what` names the call in messages.
    pub(super) async fn call(&self, what: &str, call: ApiRequest<'_>) -> Result<String, Failure> {
        self.exchange(what, call).await.map_err(|failed| failed.failure)
    }

    /// Calls the service for a caller that may retry. Waits if the rate limit of the key is reached.
    pub(super) async fn exchange(&self, what: &str, call: ApiRequest<'_>) -> Result<String, FailedCall> {
        for _ in 0..MOST_WAITS {
            match self.exchange_once(what, &call).await {
                Err(FailedCall { wait_s: Some(seconds), .. }) => {
                    output::note(&format!(
                        "The rate limit of the key is reached; trying again in {seconds} s."
                    ));
                    tokio::time::sleep(Duration::from_secs(seconds)).await;
                }
                ended => return ended,
            }
        }
        self.exchange_once(what, &call).await
    }

    async fn exchange_once(&self, what: &str, call: &ApiRequest<'_>) -> Result<String, FailedCall> {
        if !may_be_key(&self.key) {
            // The key itself is not printed: it is secret, even if it is malformed.
            let why = "the key contains an invalid character, such as a quotation mark or a space; set QUITA_KEY again";
            return Err(FailedCall::lasting(Failure::usage(why)));
        }
        let url = self.place(&call.path, &call.query);
        let mut request = client().request(call.method.clone(), url.as_str()).bearer_auth(&self.key);
        if let Some(key) = call.idempotency_key {
            request = request.insert_header(("Idempotency-Key", key));
        }
        let request = request.insert_header(("Content-Type", "application/json"));
        let sent = match call.body {
            Some(body) => request.send_body(body.to_owned()).await,
            None => request.send().await,
        };
        let mut answer = sent.map_err(|error| {
            let why = unreachable(&self.url, &error);
            FailedCall::passing(Failure::failed(format!(
                "{why}\nCheck that `quita serve` is running there, or pass another address with --url."
            )))
        })?;
        note_headers(answer.headers());
        let status = answer.status();
        let wait_s = wait_s(status, answer.headers());
        let body = answer.body().limit(MAX_ANSWER_BYTES).await;
        let body = body.map_err(|error| {
            FailedCall::passing(Failure::failed(format!("the response can't be read: {error}")))
        })?;
        let passes = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        let json = std::str::from_utf8(&body).ok().filter(|text| JsonText::parse(text).is_some());
        match json {
            Some(json) if status.is_success() => Ok(json.to_owned()),
            Some(json) => {
                let refusal = serde_json::from_str(json).unwrap_or_default();
                let mut told = told(&format!("{what} failed with {status}"), &refusal);
                if status == StatusCode::NOT_FOUND && refusal.is_of_unknown_address() {
                    told.push_str(&self.advice_on(&url));
                }
                Err(FailedCall { failure: Failure::failed(told), passes, wait_s })
            }
            None => {
                let mut told =
                    format!("{} answered {status} without JSON. Is Quita running there?", self.url);
                if status == StatusCode::NOT_FOUND {
                    told.push_str(&self.advice_on(&url));
                }
                Err(FailedCall { failure: Failure::failed(told), passes, wait_s })
            }
        }
    }

    /// Returns a line with the address at which there is nothing, and the part of it that the user chose.
    fn advice_on(&self, asked: &Url) -> String {
        let mut asked = asked.clone();
        asked.set_query(None);
        let path = self.url.path().trim_end_matches('/');
        let advice = match path {
            "" => String::new(),
            _ => format!(" Check the path {path} of --url or QUITA_URL: most services have none."),
        };
        format!("\n  The command asked for {asked}.{advice}")
    }

    /// Returns the address of a call, below the path of the service.
    fn place(&self, path: &str, query: &[(&str, String)]) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}{path}", self.url.path().trim_end_matches('/')));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }
}

/// Returns the seconds to wait after a refusal by the rate limit, if they are few.
fn wait_s(status: StatusCode, headers: &HeaderMap) -> Option<u64> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.parse().ok()?;
    (status == StatusCode::TOO_MANY_REQUESTS && seconds <= LONGEST_WAIT_S).then_some(seconds)
}

/// Prints information that only the headers of an answer contain.
fn note_headers(headers: &HeaderMap) {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(output::printable);
    if let Some(names) = text("quita-ignored") {
        output::note(&format!("The service does not know these names, and ignored them: {names}"));
    }
    if text("idempotency-replayed").is_some() {
        output::note("An earlier request used this idempotency key: this is its result.");
    }
}

/// Returns the message for a refusal, with a line for each violation.
fn told(what: &str, refusal: &ShownRefusal) -> String {
    let message = refusal.message.as_deref().unwrap_or("no reason given");
    let mut told = format!("{what}: {}", output::printable(message));
    let details = refusal.details.as_slice();
    let lines = details.iter().map(|detail| match detail.field.as_str() {
        // The violation concerns the whole body.
        "" => detail.message.clone(),
        field => format!("{field}: {}", detail.message),
    });
    // The message already contains the violation if there is only one.
    for line in lines.filter(|line| details.len() > 1 || !message.starts_with(line.as_str())) {
        told.push_str(&format!("\n  {}", output::printable(&line)));
    }
    if let Some(id) = refusal.request_id.as_deref() {
        told.push_str(&format!("\n  (request {})", output::printable(id)));
    }
    told
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use actix_web::{HttpRequest, HttpResponse};

    use super::super::test_server::test_server;
    use super::*;

    fn api(url: &str) -> Api {
        Api { url: server_url(url).unwrap(), key: "qk_test_x".into() }
    }

    #[test]
    fn the_address_of_a_call_keeps_the_path_of_the_service() {
        let query = [("externalReference", "a&b".to_owned())];
        for (base, address) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/pay/payments"),
            ("https://pay.example.com/base/", "https://pay.example.com/base/pay/payments"),
        ] {
            assert_eq!(api(base).place("/pay/payments", &[]).as_str(), address);
            let with_query = format!("{address}?externalReference=a%26b");
            assert_eq!(api(base).place("/pay/payments", &query).as_str(), with_query);
        }
    }

    async fn check(status: u16, answer: &'static str, expected: Result<&str, &[&str]>) {
        let server = test_server(move |request: HttpRequest| {
            let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
            let is_asked_well = request.method() == "POST"
                && request.path() == "/pay/payments"
                && header("authorization") == Some("Bearer qk_test_x")
                && header("idempotency-key") == Some("k");
            let status = StatusCode::from_u16(if is_asked_well { status } else { 500 }).unwrap();
            HttpResponse::build(status).body(answer)
        });
        let call = ApiRequest::post("/pay/payments").with_body("{}").with_idempotency_key(Some("k"));
        let told = api(server.url.as_str()).call("create", call).await.map_err(|failure| failure.to_string());
        match expected {
            Ok(json) => assert_eq!(told.as_deref(), Ok(json)),
            Err(parts) => {
                let message = told.unwrap_err();
                parts.iter().for_each(|part| assert!(message.contains(part), "{part}: {message}"));
            }
        }
        server.stop().await;
    }

    #[actix_web::test]
    async fn the_answer_is_returned_as_it_came_and_a_refusal_is_told_whole() {
        check(201, r#"{"z":1,"a":2}"#, Ok(r#"{"z":1,"a":2}"#)).await;
        let refusal = r#"{"message":"it is\u001b wrong","details":[{"field":"amount","code":"type","message":"no"}],
            "requestId":"r1"}"#;
        let told =
            ["create failed with 422 Unprocessable Entity: it is\\u{1b} wrong", "\n  amount: no", "r1"];
        check(422, refusal, Err(&told)).await;
        let alone = r#"{"message":"amount: is required","requestId":"r1",
            "details":[{"field":"amount","code":"required","message":"is required"}]}"#;
        check(400, alone, Err(&["400 Bad Request: amount: is required\n  (request r1)"])).await;
        check(409, "{}", Err(&["409 Conflict: no reason given"])).await;
        check(200, "<html>", Err(&["without JSON"])).await;
    }

    #[actix_web::test]
    async fn an_unknown_address_is_told_whole_with_the_path_that_may_be_wrong() {
        let nothing = r#"{"message":"there is nothing at this address; did you mean /pay/payments?"}"#;
        let no_payment = r#"{"message":"transaction not found"}"#;
        let [asked, path] = ["asked for http://127.0.0.1:", "Check the path /base of --url or QUITA_URL"];
        for (base, answer, has_address, has_path) in [
            ("base/", nothing, true, true),
            ("base", "<html>", true, true),
            ("", nothing, true, false),
            ("base", no_payment, false, false),
        ] {
            let server = test_server(move |_| HttpResponse::NotFound().body(answer));
            let url = format!("{}{base}", server.url);
            let call = ApiRequest::get("/pay/payments").with_query(vec![("limit", "1".to_owned())]);
            let told = api(&url).call("list", call).await.unwrap_err().to_string();
            assert_eq!((told.contains(asked), told.contains(path)), (has_address, has_path), "{told}");
            let whole = format!("{}/pay/payments.", url.trim_end_matches('/'));
            assert_eq!(told.contains(&whole), has_address, "{told}");
            server.stop().await;
        }
    }

    #[actix_web::test]
    async fn calls_that_may_succeed_later_are_told_from_those_that_will_not() {
        for (status, passes) in [(401, false), (404, false), (429, true), (500, true), (503, true)] {
            let status = StatusCode::from_u16(status).unwrap();
            let server = test_server(move |_| HttpResponse::build(status).body("{}"));
            let failed = api(server.url.as_str()).exchange("read", ApiRequest::get("/")).await.err().unwrap();
            assert_eq!(failed.passes, passes, "{status}");
            server.stop().await;
        }
        let failed = api("http://127.0.0.1:1").exchange("read", ApiRequest::get("/")).await.err().unwrap();
        assert!(failed.passes);
    }

    #[actix_web::test]
    async fn a_call_waits_for_the_rate_limit_a_few_times_but_not_long() {
        for (refusals, retry_after_s, calls, is_answered) in
            [(2, 0, 3, true), (9, 0, 4, false), (1, LONGEST_WAIT_S + 1, 1, false)]
        {
            let count = Arc::new(AtomicUsize::new(0));
            let counted = count.clone();
            let server = test_server(move |_| {
                if counted.fetch_add(1, Ordering::Relaxed) >= refusals {
                    return HttpResponse::Ok().body("{}");
                }
                HttpResponse::TooManyRequests().insert_header(("Retry-After", retry_after_s)).body("{}")
            });
            let answer = api(server.url.as_str()).exchange("read", ApiRequest::get("/")).await;
            assert_eq!(answer.is_ok(), is_answered, "{refusals}");
            assert_eq!(count.load(Ordering::Relaxed), calls, "{refusals}");
            server.stop().await;
        }
    }

    #[actix_web::test]
    async fn a_service_that_is_not_there_is_told_with_what_to_do() {
        let told =
            api("http://127.0.0.1:1").call("read", ApiRequest::get("/")).await.unwrap_err().to_string();
        assert!(
            told.contains("127.0.0.1:1") && told.contains("--url") && !told.contains("qk_test_x"),
            "{told}"
        );
    }

    #[actix_web::test]
    async fn a_key_with_a_character_that_no_key_has_is_sent_nowhere_and_not_printed() {
        for wrong in ["'qk_test_a'", "qk_test_a b", "qk_test_\u{fc}"] {
            let api = Api { key: wrong.into(), ..api("http://127.0.0.1:1") };
            let told = api.call("read", ApiRequest::get("/")).await.unwrap_err();
            assert_eq!(told, Failure::usage(&told), "{wrong}");
            assert!(
                told.to_string().contains("QUITA_KEY") && !told.to_string().contains("qk_test"),
                "{told}"
            );
        }
        assert!(may_be_key("qk_test_ef2833_sSnHA-x_z"));
    }

    #[test]
    fn a_server_url_is_http_or_https_with_a_host() {
        for text in ["", "127.0.0.1:8080", "localhost:8080", "ftp://host", "file:///x"] {
            assert!(server_url(text).is_err(), "{text}");
        }
    }
}
