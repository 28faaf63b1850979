//! `quita sandbox`: moves a sandbox payment by hand, through the running service.

use clap::{Args, Subcommand};
use quita_domain::identity::TransactionId;
use serde_json::Value;
use url::Url;

use super::failure::Failure;
use super::http_client::{client, server_url};
use super::output;

/// The most bytes of an answer that are read: the largest record is far smaller.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// What happens to the payment.
#[derive(Debug, Subcommand)]
pub(super) enum SandboxCommand {
    /// The payer pays
    Pay(Target),
    /// The time to pay runs out
    Expire(Target),
    /// The money goes back
    Refund(Target),
    /// The payer disputes it
    Chargeback(Target),
}

/// Which payment, and where.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The payment's transactionId
    #[arg(value_parser = transaction_id)]
    transaction_id: TransactionId,
    /// Where the service runs
    #[arg(long, env = "QUITA_URL", default_value = "http://127.0.0.1:8080", value_parser = server_url)]
    url: Url,
    /// A test key with payments:write
    #[arg(long, env = "QUITA_KEY", hide_env_values = true)]
    key: String,
}

impl SandboxCommand {
    fn into_parts(self) -> (&'static str, Target) {
        match self {
            Self::Pay(target) => ("pay", target),
            Self::Expire(target) => ("expire", target),
            Self::Refund(target) => ("refund", target),
            Self::Chargeback(target) => ("chargeback", target),
        }
    }
}

pub(super) async fn run(command: SandboxCommand) -> Result<(), Failure> {
    let (action, target) = command.into_parts();
    output::result(&call(action, &target).await?)
}

/// Asks the service, and returns the payment's record.
async fn call(action: &str, target: &Target) -> Result<String, Failure> {
    let url = place(&target.url, target.transaction_id, action);
    let request = client().post(url.as_str()).bearer_auth(&target.key).send();
    let mut answer = request.await.map_err(|error| {
        let why = format!("{} can't be reached: {error}", target.url);
        Failure::failed(format!("{why}\nCheck that `quita serve` runs there, or name its place with --url."))
    })?;
    let body = answer.body().limit(MAX_ANSWER_BYTES).await;
    let body = body.map_err(|error| Failure::failed(format!("the answer can't be read: {error}")))?;
    let status = answer.status();
    match serde_json::from_slice::<Value>(&body) {
        Ok(record) if status.is_success() => Ok(format!("{record:#}")),
        Ok(error) => {
            let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
            Err(Failure::failed(format!(
                "{action} was refused with {status}: {}",
                output::printable(message)
            )))
        }
        Err(_) => Err(Failure::failed(format!(
            "{} answered {status} and no JSON; is it Quita that runs there?",
            target.url
        ))),
    }
}

fn place(base: &Url, id: TransactionId, action: &str) -> String {
    format!("{}/sandbox/payments/{id}/{action}", base.as_str().trim_end_matches('/'))
}

fn transaction_id(text: &str) -> Result<TransactionId, String> {
    TransactionId::parse(text).ok_or_else(|| "a transactionId is a UUID with hyphens".into())
}

#[cfg(test)]
mod tests {
    use actix_web::http::StatusCode;
    use actix_web::{HttpRequest, HttpResponse};

    use super::super::test_server::test_server;
    use super::*;

    #[test]
    fn the_address_of_an_action_keeps_the_path_of_the_service() {
        let id = TransactionId::parse("01890a5d-ac96-774b-bcce-b302099a8057").unwrap();
        for (base, address) in [
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080/sandbox/payments/"),
            ("https://pay.example.com/base/", "https://pay.example.com/base/sandbox/payments/"),
        ] {
            assert_eq!(place(&server_url(base).unwrap(), id, "pay"), format!("{address}{id}/pay"));
        }
    }

    async fn check(status: u16, answer: &'static str, expected: Result<&str, &str>) {
        let server = test_server(move |request: HttpRequest| {
            let is_asked_well = request.method() == "POST"
                && request.path() == "/sandbox/payments/01890a5d-ac96-774b-bcce-b302099a8057/pay"
                && request.headers().get("authorization").is_some_and(|key| key == "Bearer qk_test_x");
            let status = StatusCode::from_u16(if is_asked_well { status } else { 500 }).unwrap();
            HttpResponse::build(status).body(answer)
        });
        let target = Target {
            transaction_id: transaction_id("01890a5d-ac96-774b-bcce-b302099a8057").unwrap(),
            url: server.url.clone(),
            key: "qk_test_x".into(),
        };
        let result = call("pay", &target).await.map_err(|failure| failure.to_string());
        match expected {
            Ok(record) => assert_eq!(result.as_deref(), Ok(record)),
            Err(part) => assert!(result.as_ref().is_err_and(|message| message.contains(part)), "{result:?}"),
        }
        server.stop().await;
    }

    #[actix_web::test]
    async fn the_record_is_printed_and_a_refusal_is_told() {
        check(200, r#"{"status":"paid"}"#, Ok("{\n  \"status\": \"paid\"\n}")).await;
        check(409, r#"{"message":"it is\u001b paid"}"#, Err("409 Conflict: it is\\u{1b} paid")).await;
        check(200, "<html>", Err("no JSON")).await;
    }

    #[test]
    fn a_server_url_is_http_or_https_with_a_host() {
        for text in ["", "127.0.0.1:8080", "localhost:8080", "ftp://host", "file:///x"] {
            assert!(server_url(text).is_err(), "{text}");
        }
    }
}
