//! Checks before the run, so that a tester's mistake is not measured as a fault of the service.

use awc::Client;
use awc::error::SendRequestError;
use serde::Deserialize;
use url::Url;

use super::super::failure::Failure;
use super::super::output;

/// Prefix of every test key.
const TEST_KEY: &str = "qk_test_";

/// Maximum size in bytes of an answer: a page with one record is far smaller.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Fields of an error that are parsed.
#[derive(Deserialize)]
struct ErrorMessage {
    message: String,
}

/// Refuses a key that is not a test key, or that contains a character that no key has.
pub(super) fn check_key(key: &str) -> Result<(), Failure> {
    let foreign = key.chars().find(|character| !character.is_ascii_graphic());
    if let Some(foreign) = foreign.filter(|_| key.starts_with(TEST_KEY)) {
        return Err(Failure::usage(format!(
            "The key contains an invalid character: {foreign:?}. A file with Windows line endings, or a copied line, \
             may have added it: pass the key without it with --key or QUITA_KEY."
        )));
    }
    if key.starts_with(TEST_KEY) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "A load test needs a test key, which begins with {TEST_KEY}. `quita keys create --merchant NAME` creates one."
    )))
}

/// Asks the service for the key's newest payment, and explains what prevents a run.
pub(super) async fn ask(client: &Client, base_url: &Url, key: &str) -> Result<(), Failure> {
    let url = format!("{}/pay/payments?limit=1", base_url.as_str().trim_end_matches('/'));
    let request = client.get(url).bearer_auth(key).insert_header(("content-type", "application/json"));
    let mut answer = request.send().await.map_err(|error| unreachable_service(base_url, &error))?;
    let status = answer.status().as_u16();
    // If the body is missing or too large, the status must be enough.
    let body = answer.body().limit(MAX_ANSWER_BYTES).await.unwrap_or_default();
    let is_json_object =
        serde_json::from_slice::<serde_json::Value>(&body).is_ok_and(|body| body.is_object());
    let message =
        serde_json::from_slice::<ErrorMessage>(&body).map(|error| output::printable(&error.message));
    let message = message.unwrap_or_else(|_| "no reason given".into());
    let advice = match status {
        200 if is_json_object => return Ok(()),
        // The service accepts the key but is busy: the run itself will show how much.
        429 => return Ok(()),
        401 => "Pass a valid test key with --key or QUITA_KEY.",
        403 => "Create a test key with the scopes payments:write, payments:read and webhooks.",
        503 => "Wait until /health/ready answers 200 on its --ops-listen, then start again.",
        _ => {
            return Err(Failure::failed(format!(
                "{base_url} answered {status} to GET {}, which is not an answer of Quita; pass the address of its option listen \
                 (not ops-listen) with --url.",
                path_of(base_url)
            )));
        }
    };
    Err(Failure::failed(format!("{base_url} answered {status}: {message}\n{advice}")))
}

/// Returns the path that is requested from a service below this address.
fn path_of(base_url: &Url) -> String {
    format!("{}/pay/payments", base_url.path().trim_end_matches('/'))
}

/// Asks whether the key may query deliveries. Without an answer, it is assumed that it may.
pub(super) async fn lacks_webhooks(client: &Client, base_url: &Url, key: &str) -> bool {
    let url = format!("{}/pay/webhooks/deliveries?limit=1", base_url.as_str().trim_end_matches('/'));
    let request = client.get(url).bearer_auth(key).insert_header(("content-type", "application/json"));
    request.send().await.is_ok_and(|answer| answer.status().as_u16() == 403)
}

fn unreachable_service(base_url: &Url, error: &SendRequestError) -> Failure {
    // A server without TLS answers in plain text, which the client reports as a malformed message.
    if base_url.scheme() == "https" && error.to_string().contains("InvalidContentType") {
        return Failure::failed(format!(
            "{base_url} can't be reached: it does not use TLS there; http:// is probably meant"
        ));
    }
    Failure::failed(format!(
        "{base_url} can't be reached: {error}\nCheck that `quita serve` is running there, or pass another address with --url."
    ))
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use actix_web::{HttpRequest, HttpResponse};

    use super::super::super::http_client::client;
    use super::super::super::test_server::test_server;
    use super::*;

    async fn ask_one_that_answers(status: u16, body: &'static str) -> Result<(), String> {
        let server = test_server(move |request: HttpRequest| {
            let is_asked_well = request.path() == "/pay/payments"
                && request.headers().get("authorization").is_some_and(|key| key == "Bearer qk_test_x");
            let status =
                if is_asked_well { StatusCode::from_u16(status).unwrap() } else { StatusCode::IM_A_TEAPOT };
            HttpResponse::build(status).body(body)
        });
        let asked = ask(&client(), &server.url, "qk_test_x").await;
        server.stop().await;
        asked.map_err(|failure| failure.to_string())
    }

    #[actix_web::test]
    async fn what_stands_in_the_way_is_named_with_what_to_do() {
        for (status, body, expected) in [
            (
                401,
                r#"{"message":"invalid or missing API key"}"#,
                "invalid or missing API key\nPass a valid test key",
            ),
            (403, r#"{"message":"no"}"#, "the scopes payments:write"),
            (503, r#"{"message":"the store is unavailable"}"#, "the store is unavailable\nWait until"),
            (404, "<html>", "which is not an answer of Quita; pass the address of its option listen"),
            (200, "<html>", "which is not an answer of Quita"),
        ] {
            let message = ask_one_that_answers(status, body).await.unwrap_err();
            assert!(message.contains(expected), "{status}: {message}");
        }
    }

    #[test]
    fn the_path_that_was_asked_for_is_named() {
        for (url, expected) in
            [("http://host:1", "/pay/payments"), ("http://host:1/pay/", "/pay/pay/payments")]
        {
            assert_eq!(path_of(&Url::parse(url).unwrap()), expected);
        }
    }

    #[actix_web::test]
    async fn https_at_a_port_without_tls_is_said_to_be_that() {
        let server = test_server(|_| HttpResponse::Ok().finish());
        let mut url = server.url.clone();
        url.set_scheme("https").unwrap();
        let failure = ask(&client(), &url, "qk_test_x").await.unwrap_err().to_string();
        server.stop().await;
        assert!(failure.ends_with("it does not use TLS there; http:// is probably meant"), "{failure}");
    }

    #[actix_web::test]
    async fn a_service_that_answers_may_be_loaded() {
        for (status, body) in [(200, r#"{"data":[]}"#), (429, "{}")] {
            assert_eq!(ask_one_that_answers(status, body).await, Ok(()));
        }
    }

    #[actix_web::test]
    async fn a_key_that_may_not_ask_for_deliveries_is_known_before_the_run() {
        for (status, expected) in [(StatusCode::FORBIDDEN, true), (StatusCode::OK, false)] {
            let server = test_server(move |request: HttpRequest| {
                let is_asked_well = request.path() == "/pay/webhooks/deliveries";
                HttpResponse::build(if is_asked_well { status } else { StatusCode::IM_A_TEAPOT }).body("{}")
            });
            let found = lacks_webhooks(&client(), &server.url, "qk_test_x").await;
            server.stop().await;
            assert_eq!(found, expected, "{status}");
        }
    }

    #[test]
    fn only_a_test_key_is_taken() {
        assert_eq!(["qk_test_x_y", "qk_test_x_y-z_0"].map(check_key), [Ok(()), Ok(())]);
        for key in ["", "qk_live_x_y", "sk_test_x", "qk_testx"] {
            let failure = check_key(key).unwrap_err();
            assert_eq!(failure, Failure::usage(&failure), "{key}");
        }
        for (key, foreign) in [("qk_test_x_y\r", r"'\r'"), ("qk_test_x_y\n", r"'\n'"), ("qk_test_x y", "' '")]
        {
            let failure = check_key(key).unwrap_err();
            assert_eq!(failure, Failure::usage(&failure));
            assert!(failure.to_string().contains(&format!("an invalid character: {foreign}.")), "{failure}");
        }
    }
}
