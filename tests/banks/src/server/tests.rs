//! The server by real connections.

use std::io::Read as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::*;
use crate::api_pix::{Config, PixBank};
use crate::certificates::Pair;

const TXID: &str = "7978c0c97ea847e78e8849634473c1f1";
const KEY: &str = "123e4567-e12b-12d1-a456-426655440000";

fn bank() -> PixBank {
    PixBank::new(Config { fixed_tokens: vec!["t".to_owned()], ..Config::default() })
}

fn agent(tls: TlsConfig) -> ureq::Agent {
    ureq::Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(20)))
        .build()
        .into()
}

fn plain() -> ureq::Agent {
    agent(TlsConfig::default())
}

fn trusting(certificates: &Certificates, client: Option<Pair>) -> ureq::Agent {
    let read = |path| std::fs::read(path).unwrap();
    let root = Certificate::from_pem(&read(certificates.ca())).unwrap();
    let roots = RootCerts::from(std::iter::once(root));
    let shown = client.map(|pair| {
        let certificate = Certificate::from_pem(&read(pair.certificate)).unwrap();
        ClientCert::new_with_certs(&[certificate], PrivateKey::from_pem(&read(pair.key)).unwrap())
    });
    agent(TlsConfig::builder().root_certs(roots).client_cert(shown).build())
}

fn put_charge(agent: &ureq::Agent, url: &str) -> Result<u16, ureq::Error> {
    let body = json!({"calendario": {"expiracao": 3600}, "valor": {"original": "1.00"}, "chave": KEY});
    let url = format!("{url}/v2/cob/{TXID}");
    Ok(agent
        .put(url)
        .header("authorization", "Bearer t")
        .content_type("application/json")
        .send(body.to_string())?
        .status()
        .as_u16())
}

fn json_of(mut answer: ureq::http::Response<ureq::Body>) -> Value {
    serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
}

fn token(agent: &ureq::Agent, url: &str) -> Value {
    let form = [("client_id", "id"), ("client_secret", "secret"), ("grant_type", "client_credentials")];
    json_of(agent.post(format!("{url}/oauth/token")).send_form(form).unwrap())
}

#[test]
fn mutual_tls_lets_in_who_has_a_certificate_of_the_banks_authority_and_nobody_else() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::start(bank(), Tls::Mutual(directory.path().to_owned())).unwrap();
    let certificates = served.certificates().unwrap();
    let put = |client| put_charge(&trusting(certificates, client), &served.url());
    assert!(put(None).is_err());
    assert!(put(Some(certificates.foreign())).is_err());
    assert!(served.with(|bank| bank.calls().is_empty()), "nothing came through");
    assert_eq!(put(Some(certificates.client())).unwrap(), 201);
}

#[test]
fn a_token_is_bound_to_the_certificate_that_asked_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let served = Served::start(bank(), Tls::Mutual(directory.path().to_owned())).unwrap();
    let certificates = served.certificates().unwrap();
    let url = served.url();
    let first = trusting(certificates, Some(certificates.client()));
    let second = trusting(certificates, Some(certificates.other_client()));
    let token = token(&first, &url)["access_token"].as_str().unwrap().to_owned();
    let get = |agent: &ureq::Agent| {
        let call = agent.get(format!("{url}/v2/webhook")).header("authorization", format!("Bearer {token}"));
        call.call().unwrap().status().as_u16()
    };
    assert_eq!((get(&first), get(&second)), (200, 401));
}

#[test]
fn a_charge_is_paid_by_the_control_path_and_called_back() {
    let (heard, hears) = mpsc::channel();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let receiver = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&bytes).ends_with("}]}") {
            let count = stream.read(&mut buffer).unwrap();
            assert!(count > 0, "cut");
            bytes.extend_from_slice(&buffer[..count]);
        }
        io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        heard.send(String::from_utf8(bytes).unwrap()).unwrap();
    });
    let options = Options { forward: Some(origin), ..Options::default() };
    let served = Served::start_with(bank(), options).unwrap();
    let agent = plain();
    let control = served.control_url();
    served.with(|bank| bank.foreign_webhook(KEY, "https://shop.example/hooks/secret", 0));
    assert_eq!(put_charge(&agent, &served.url()).unwrap(), 201);
    let paid = agent.post(format!("{control}/pay/{TXID}")).send_empty().unwrap();
    assert_eq!(paid.status().as_u16(), 200);
    let request = hears.recv_timeout(Duration::from_secs(20)).unwrap();
    assert!(request.starts_with("POST /hooks/secret/pix HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(TXID));
    receiver.join().unwrap();
    let books = json_of(agent.get(format!("{control}/books")).call().unwrap());
    assert_eq!(books[TXID]["received"], "1.00");
}

#[test]
fn a_reset_cuts_the_connection_after_the_charge_was_made() {
    let served = Served::start(bank(), Tls::Plain).unwrap();
    let faults = json!({"next": [{"fault": "reset-after"}]});
    plain().post(format!("{}/faults", served.control_url())).send(faults.to_string()).unwrap();
    assert!(put_charge(&plain(), &served.url()).is_err());
    assert!(served.with(|bank| bank.books(0).contains_key(TXID)));
    assert_eq!(put_charge(&plain(), &served.url()).unwrap(), 201);
}

#[test]
fn silence_lasts_until_the_client_goes_and_others_are_served_meanwhile() {
    let served = Served::start(bank(), Tls::Plain).unwrap();
    let faults = json!({"do": "faults", "next": [{"fault": "silence-before"}]});
    served.with(|bank| bank.control(&faults, 0));
    let mut silent = std::net::TcpStream::connect(served.address).unwrap();
    io::Write::write_all(&mut silent, b"GET /cob HTTP/1.1\r\nhost: bank\r\n\r\n").unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while served.with(|bank| bank.calls().is_empty()) {
        assert!(Instant::now() < until);
        std::thread::yield_now();
    }
    assert_eq!(put_charge(&plain(), &served.url()).unwrap(), 201);
    silent.set_nonblocking(true).unwrap();
    assert_eq!(silent.read(&mut [0; 1]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
}

#[test]
fn the_clock_is_put_forward_so_that_tokens_end() {
    let served = Served::start(bank(), Tls::Plain).unwrap();
    let agent = plain();
    let url = served.url();
    let token = token(&agent, &url)["access_token"].as_str().unwrap().to_owned();
    let status = || {
        let call = agent.get(format!("{url}/v2/webhook")).header("authorization", format!("Bearer {token}"));
        call.call().unwrap().status().as_u16()
    };
    assert_eq!(status(), 200);
    let ahead = json!({"aheadMs": 3_600_000});
    agent.post(format!("{}/clock", served.control_url())).send(ahead.to_string()).unwrap();
    assert_eq!(status(), 401);
}

#[test]
fn nothing_answers_at_its_addresses_once_it_is_dropped() {
    let served = Served::start(bank(), Tls::Plain).unwrap();
    let addresses = [served.address, served.control];
    drop(served);
    for address in addresses {
        assert!(std::net::TcpStream::connect(address).is_err());
    }
}
