//! The bytes between the adapter and a bank: each call gets its own answer, however that is framed, or none.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use quita_acquirers::api_pix::ApiPixFactory;
use quita_acquirers::api_pix::settings::TokenSettings;
use quita_acquirers::exchange::http_client::{HttpClientFactory, HttpClientSettings};
use quita_domain::acquiring::{CallFailure, ChargeAnswer};
use quita_domain::pix::br_code::DynamicBrCode;
use quita_ports::{Acquirer, AcquirerFactory};
use quita_wire::{Asked, Case, Expected, Server, Step, cases, frame};
use serde_json::json;

use crate::bank::KEY;
use crate::world::{TXID, charge, clock, query, settings, spec};

const TOKEN: &str = r#"{"access_token":"token-number-1","token_type":"Bearer","expires_in":3600}"#;
const PROBLEM: &str = r#"{"title":"CobNaoEncontrado","status":404}"#;

fn cob() -> String {
    let location = format!("pix.example.com/qr/v2/{TXID}");
    let code = DynamicBrCode::new(location.clone(), "LOJA".into(), "SAO PAULO".into()).build().unwrap();
    let criacao = quita_domain::time::Timestamp::parse("2026-11-21T12:00:00Z").unwrap().to_string();
    json!({
        "txid": TXID, "status": "ATIVA", "revisao": 0, "chave": KEY, "valor": {"original": "10.00"},
        "calendario": {"criacao": criacao, "expiracao": 3600}, "location": location, "pixCopiaECola": code,
    })
    .to_string()
}

/// Number of times that the server was asked something that begins so, this request included.
fn is_first(asked: &Asked, seen: &std::sync::Mutex<Vec<String>>) -> bool {
    let mut seen = seen.lock().unwrap();
    let line = asked.line().to_owned();
    let is_first = !seen.contains(&line);
    seen.push(line);
    is_first
}

/// A bank that answers the first request whose line begins so by this case, and everything else plainly.
async fn bank(begins: &'static str, steps: fn(u16, &str) -> Vec<Step>) -> (Server, Rc<dyn Acquirer>) {
    let seen = std::sync::Mutex::default();
    let server = Server::start(move |asked: &Asked| {
        let frame = if is_first(asked, &seen) && asked.line().starts_with(begins) { steps } else { frame };
        match asked.line().split(' ').next() {
            Some("POST") => frame(200, TOKEN),
            Some("PUT") => frame(201, &cob()),
            _ => frame(404, PROBLEM),
        }
    })
    .await;
    let mut settings = settings();
    settings.base_url = server.url("/v2");
    settings.revision_base_url = settings.base_url.clone();
    if let TokenSettings::ClientCredentials { url, .. } = &mut settings.token {
        *url = server.url("/oauth/token");
    }
    let exchange = HttpClientFactory::new(HttpClientSettings {
        time_out: Duration::from_secs(20),
        connections: 8,
        identity: None,
        authorities: None,
    });
    let factory = ApiPixFactory::new(spec(), settings, Arc::new(exchange.unwrap()), clock());
    let adapter = factory.build();
    (server, adapter)
}

fn puts(server: &Server) -> usize {
    server.asked().iter().filter(|asked| asked.line().starts_with("PUT ")).count()
}

#[tokio::test]
async fn a_charge_gets_its_own_answer_however_the_bank_frames_it() {
    for Case { name, steps, expected, .. } in cases() {
        let (server, adapter) = bank("PUT ", steps).await;
        let answer = adapter.charge(&charge(1_000)).await;
        match (expected, &answer) {
            (Expected::Whole, ChargeAnswer::Known(_)) => {}
            (Expected::Broken | Expected::None, ChargeAnswer::Failed(CallFailure::Unknown(_))) => {}
            _ => panic!("{name}: {answer:?}"),
        }
        // Sent again unasked it might be refused for what the first one did.
        assert_eq!(puts(&server), 1, "{name}");
        server.at_rest().await;
        assert_eq!(adapter.inquire(&query(1_000)).await, ChargeAnswer::NotFound, "{name}: another's answer");
    }
}

#[tokio::test]
async fn a_token_is_read_however_the_bank_frames_it_and_without_one_nothing_left() {
    // The charge follows at once: what comes later than that looks like its answer, and nobody can tell.
    let in_time = |case: &Case| case.name != "bytes a moment after it";
    for Case { name, steps, expected, .. } in cases().into_iter().filter(in_time) {
        let (server, adapter) = bank("POST ", steps).await;
        let answer = adapter.charge(&charge(1_000)).await;
        match (expected, &answer) {
            (Expected::Whole, ChargeAnswer::Known(_)) => assert_eq!(puts(&server), 1, "{name}"),
            (Expected::Broken | Expected::None, ChargeAnswer::Failed(CallFailure::NotDelivered(_))) => {
                assert_eq!(puts(&server), 0, "{name}");
            }
            _ => panic!("{name}: {answer:?}"),
        }
        server.at_rest().await;
        assert_eq!(adapter.inquire(&query(1_000)).await, ChargeAnswer::NotFound, "{name}: another's answer");
    }
}
