//! `quita listen`: a webhook receiver for development.

mod event_line;
pub(super) mod signature_check;

use std::env;
use std::net::SocketAddr;

use actix_web::http::StatusCode;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use awc::Client;
use clap::Args;
use clap::builder::PossibleValuesParser;
use quita_domain::webhook::signature::WebhookSecret;
use quita_machine::SystemClock;
use quita_ports::Clock;
use url::Url;

use super::failure::Failure;
use super::http_client::{client, server_url};
use super::json_text::JsonText;
use super::output;
use event_line::{EventBody, event_line};
use quita_config::listen_address::parse_listen_address;
use signature_check::{SIGNATURE_HEADERS, SignatureHeaders, judge};

/// Environment variable with the webhook secrets: all valid ones, as `quita secrets show` prints them.
pub(super) const SECRET_VARIABLE: &str = "QUITA_SECRET";

/// Events that are sent (contract, section 3).
const EVENTS: [&str; 10] = [
    "payment.pending",
    "payment.approved",
    "payment.paid",
    "payment.declined",
    "payment.expired",
    "payment.cancelled",
    "payment.refund",
    "payment.refund_succeeded",
    "payment.refund_failed",
    "payment.chargeback",
];

/// Maximum size of a webhook in bytes.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Seconds granted to a request in progress when the receiver is stopped.
const SHUTDOWN_S: u64 = 1;

/// Arguments of `quita listen`.
#[derive(Debug, Args)]
#[command(after_help = "To check signatures, set QUITA_SECRET to what `quita secrets show` prints \
    (--mode live for live events).")]
pub(super) struct ListenCommand {
    /// Address to listen on
    #[arg(long, value_name = "ADDRESS", env = "QUITA_RECEIVER_LISTEN", default_value = "127.0.0.1:8090",
        value_parser = listen_address)]
    listen: SocketAddr,
    /// Status to answer with [default: 200, or the status of the receiver at --forward-to]
    #[arg(long, value_name = "STATUS", env = "QUITA_RECEIVER_ANSWER", value_parser = status)]
    answer: Option<StatusCode>,
    /// Forward each webhook to this URL
    #[arg(long, value_name = "URL", env = "QUITA_RECEIVER_FORWARD_TO", value_parser = server_url)]
    forward_to: Option<Url>,
    /// Print the body of each event to stdout as one line of JSON; everything else goes to stderr
    #[arg(long, env = "QUITA_RECEIVER_PRINT_JSON")]
    print_json: bool,
    /// Only these events, comma-separated; others are answered with 200, and neither shown nor forwarded
    #[arg(long, value_name = "EVENT", value_delimiter = ',', env = "QUITA_RECEIVER_EVENTS",
        value_parser = PossibleValuesParser::new(EVENTS))]
    events: Vec<String>,
}

pub(super) async fn run(command: ListenCommand) -> Result<(), Failure> {
    let secrets = secrets_of_environment()?;
    if secrets.is_empty() {
        output::note("Signatures are not checked: set QUITA_SECRET to what `quita secrets show` prints.");
    }
    let listen = command.listen;
    let make_receiver = move || ListenWorker {
        secrets: secrets.clone(),
        answer: command.answer,
        forward_to: command.forward_to.clone(),
        prints_json: command.print_json,
        events: command.events.clone(),
        client: client(),
    };
    let server = HttpServer::new(move || {
        App::new()
            .app_data(Data::new(make_receiver()))
            .app_data(web::PayloadConfig::new(MAX_BODY_BYTES))
            .default_service(web::to(receive))
    })
    .workers(1)
    .shutdown_timeout(SHUTDOWN_S)
    .bind(listen)
    .map_err(|error| {
        Failure::failed(format!("can't listen on {listen}: {error}\nPass another address with --listen."))
    })?;
    for address in server.addrs() {
        output::note(&format!("Listening on http://{address}; Ctrl-C stops."));
    }
    server.run().await.map_err(|error| Failure::failed(format!("the receiver stopped: {error}")))
}

/// State of one worker.
struct ListenWorker {
    secrets: Vec<WebhookSecret>,
    answer: Option<StatusCode>,
    forward_to: Option<Url>,
    prints_json: bool,
    /// Events that are shown; empty for all of them.
    events: Vec<String>,
    client: Client,
}

async fn receive(receiver: Data<ListenWorker>, request: HttpRequest, body: Bytes) -> HttpResponse {
    let event = EventBody::read(&body);
    if !receiver.shows(&event) {
        return HttpResponse::Ok().finish();
    }
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let headers = SignatureHeaders::new(header);
    let now = SystemClock.now();
    let mut line = event_line(&event, &judge(&receiver.secrets, &headers, &body, now), now);
    let json = std::str::from_utf8(&body).ok().and_then(JsonText::parse).map(JsonText::on_one_line);
    let mut answer = StatusCode::OK;
    if let Some(url) = &receiver.forward_to {
        (answer, line) = match receiver.forward(url, &request, body).await {
            Ok(status) => (status, format!("{line}  forwarded: {}", status.as_u16())),
            Err(why) => (StatusCode::BAD_GATEWAY, format!("{line}  not forwarded: {why}")),
        };
    }
    if let Some(told) = receiver.answer {
        (answer, line) = (told, format!("{line}  answered: {}", told.as_u16()));
    }
    // A receiver that can't print is useless, so if stdout is closed, it visibly fails to the sender.
    if let Err(failure) = receiver.print(&line, json.as_deref()) {
        output::note(&failure.to_string());
        return HttpResponse::InternalServerError().finish();
    }
    HttpResponse::new(answer)
}

impl ListenWorker {
    fn shows(&self, event: &EventBody) -> bool {
        self.events.is_empty()
            || event.name().is_some_and(|name| self.events.iter().any(|shown| shown == name))
    }

    fn print(&self, line: &str, json: Option<&str>) -> Result<(), Failure> {
        if !self.prints_json {
            return output::result(line);
        }
        output::note(line);
        json.map_or(Ok(()), output::result)
    }

    async fn forward(&self, url: &Url, request: &HttpRequest, body: Bytes) -> Result<StatusCode, String> {
        let mut onward = self.client.post(url.as_str());
        for name in SIGNATURE_HEADERS.into_iter().chain(["content-type"]) {
            if let Some(value) = request.headers().get(name) {
                onward = onward.insert_header((name, value));
            }
        }
        let answer = onward.send_body(body).await;
        answer.map(|answer| answer.status()).map_err(|error| output::printable(&error.to_string()))
    }
}

/// Reads the secrets from `QUITA_SECRET`; none if it is not set.
pub(super) fn secrets_of_environment() -> Result<Vec<WebhookSecret>, Failure> {
    secrets(&env::var(SECRET_VARIABLE).unwrap_or_default())
}

/// Parses secrets separated by whitespace, as `quita secrets show` prints them.
fn secrets(text: &str) -> Result<Vec<WebhookSecret>, Failure> {
    let secrets: Option<Vec<_>> = text.split_whitespace().map(WebhookSecret::parse).collect();
    secrets.ok_or_else(|| {
        Failure::usage(
            "QUITA_SECRET is not a webhook secret; it must be whsec_… as `quita secrets show` prints it",
        )
    })
}

fn listen_address(text: &str) -> Result<SocketAddr, String> {
    parse_listen_address(text).ok_or_else(|| {
        "must be an IP address and a port, such as 127.0.0.1:8090, or only a port for loopback".into()
    })
}

fn status(text: &str) -> Result<StatusCode, String> {
    let status = text.parse().ok().filter(|code| (200..=599).contains(code));
    let status = status.and_then(|code| StatusCode::from_u16(code).ok());
    status.ok_or_else(|| "must be a status from 200 to 599".into())
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;
    use quita_domain::status::Status;

    use super::super::test_server::test_server;
    use super::*;

    #[test]
    fn one_or_two_secrets_are_read_and_anything_else_is_wrong_usage() {
        let [one, two] = [1, 2].map(|byte| WebhookSecret::from_bytes(vec![byte; 32]).reveal());
        assert_eq!(secrets("").unwrap().len(), 0);
        assert_eq!(secrets(&format!("{one}\n{two}\n")).unwrap().len(), 2);
        let failure = secrets(&format!("{one} whsec_short")).unwrap_err();
        assert!(!failure.to_string().contains(&one));
        assert_eq!(failure, Failure::usage(&failure));
    }

    #[actix_web::test]
    async fn what_the_receiver_behind_answers_is_answered_unless_another_was_told() {
        let server = test_server(|request: HttpRequest| {
            let is_whole = SIGNATURE_HEADERS.iter().all(|name| request.headers().contains_key(*name));
            if is_whole { HttpResponse::Accepted().finish() } else { HttpResponse::BadRequest().finish() }
        });
        let nobody = Url::parse("http://127.0.0.1:1/").unwrap();
        for (forward_to, answer, expected) in
            [(&server.url, None, 202), (&server.url, Some(StatusCode::OK), 200), (&nobody, None, 502)]
        {
            let forward_to = Some(forward_to.clone());
            let receiver = receiver(answer, forward_to);
            let request = SIGNATURE_HEADERS
                .into_iter()
                .fold(TestRequest::default(), |request, name| request.insert_header((name, "1")));
            let response =
                receive(Data::new(receiver), request.to_http_request(), Bytes::from_static(b"{}")).await;
            assert_eq!(response.status().as_u16(), expected);
        }
        server.stop().await;
    }

    fn receiver(answer: Option<StatusCode>, forward_to: Option<Url>) -> ListenWorker {
        let secrets = Vec::new();
        let events = Vec::new();
        ListenWorker { secrets, answer, forward_to, prints_json: false, events, client: client() }
    }

    #[test]
    fn every_event_of_a_status_can_be_chosen() {
        for status in Status::ALL.into_iter().filter(|status| *status != Status::Initial) {
            let event = format!("payment.{status}");
            assert!(EVENTS.contains(&event.as_str()), "{event}");
        }
    }

    #[actix_web::test]
    async fn an_event_that_was_not_asked_for_is_confirmed_and_goes_nowhere() {
        let nobody = Url::parse("http://127.0.0.1:1/").unwrap();
        let mut receiver = receiver(Some(StatusCode::GONE), Some(nobody));
        receiver.events = vec!["payment.paid".into()];
        let receiver = Data::new(receiver);
        for (body, expected) in
            [(r#"{"event":"payment.pending"}"#, 200), ("{}", 200), (r#"{"event":"payment.paid"}"#, 410)]
        {
            let request = TestRequest::default().to_http_request();
            let response = receive(receiver.clone(), request, Bytes::from_static(body.as_bytes())).await;
            assert_eq!(response.status().as_u16(), expected, "{body}");
        }
    }

    #[actix_web::test]
    async fn what_was_told_is_answered() {
        for (answer, expected) in [(None, 200), (Some(StatusCode::GONE), 410)] {
            let receiver = receiver(answer, None);
            let request = TestRequest::default().to_http_request();
            let response = receive(Data::new(receiver), request, Bytes::from_static(b"{}")).await;
            assert_eq!(response.status().as_u16(), expected);
        }
    }
}
