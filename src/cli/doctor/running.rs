//! Check of the service that may be running at the configured address for operators.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::timeout;
use awc::error::SendRequestError;
use serde::Deserialize;

use super::super::http_client::client;
use super::super::output::printable;
use super::finding::Finding;
use super::other_store::ShownEnd;

const SUBJECT: &str = "service";
/// Time limit for the connection to an address of this machine.
const CONNECTED_WITHIN: Duration = Duration::from_secs(1);
/// Time limit for the answer. The service itself waits 2.5 s for its store.
const TIME_OUT: Duration = Duration::from_secs(5);
/// Maximum size of the answer in bytes.
const MAX_BYTES: usize = 256 * 1024;
/// Maximum size of the metrics in bytes.
const MAX_METRICS_BYTES: usize = 4 * 1024 * 1024;

/// Process that is listening at the operators' address.
#[derive(Debug)]
pub(super) struct RunningService {
    pub(super) url: String,
    /// Answer of the process; `None` if it gave none in time.
    readiness: Option<Readiness>,
    /// End of the audit log of its store, if its metrics have it.
    pub(super) audit_end: Option<ShownEnd>,
}

/// Answer of `/health/ready`.
#[derive(Debug, Deserialize)]
struct Readiness {
    status: String,
    version: String,
    checks: Checks,
}

#[derive(Debug, Deserialize)]
struct Checks {
    store: Check,
    mailboxes: Check,
    routes: Check,
}

#[derive(Debug, Deserialize)]
struct Check {
    ok: bool,
    message: Option<String>,
}

/// Queries the readiness of the service at this address. Returns a warning if nobody answers there, or another program
/// does; no finding if no port is known.
pub(super) async fn ask(ops_listen: SocketAddr) -> Result<RunningService, Option<Finding>> {
    if ops_listen.port() == 0 {
        return Err(None);
    }
    let address = reachable(ops_listen);
    let url = format!("http://{address}");
    if !matches!(timeout(CONNECTED_WITHIN, TcpStream::connect(address)).await, Ok(Ok(_))) {
        return Err(Some(not_running(&url)));
    }
    let request = client().get(format!("{url}/health/ready")).timeout(TIME_OUT);
    let mut answer = match request.send().await {
        Ok(answer) => answer,
        Err(SendRequestError::Timeout) => {
            return Ok(RunningService { url, readiness: None, audit_end: None });
        }
        Err(_) => return Err(Some(another_program(&url))),
    };
    let body = answer.body().limit(MAX_BYTES).await;
    let Some(readiness) = body.ok().and_then(|body| serde_json::from_slice(&body).ok()) else {
        return Err(Some(another_program(&url)));
    };
    let audit_end = audit_end(&url).await;
    Ok(RunningService { url, readiness: Some(readiness), audit_end })
}

/// Reads the end of the audit log from the metrics of the service at this URL.
async fn audit_end(url: &str) -> Option<ShownEnd> {
    let request = client().get(format!("{url}/metrics")).timeout(TIME_OUT);
    let body = request.send().await.ok()?.body().limit(MAX_METRICS_BYTES).await.ok()?;
    ShownEnd::of_metrics(std::str::from_utf8(&body).ok()?)
}

fn not_running(url: &str) -> Finding {
    let text = format!("nothing answers at {url}: the service is not running here");
    Finding::warn(SUBJECT, text, "start it with `quita serve`, unless it is stopped on purpose")
}

fn another_program(url: &str) -> Finding {
    let text = format!("what answers at {url} is not this service");
    Finding::warn(SUBJECT, text, "stop the other program, or correct the option ops-listen")
}

/// Returns the address at which this machine reaches a listener on all addresses.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
    };
    SocketAddr::new(ip, listen.port())
}

impl RunningService {
    /// Reports whether the service is ready, in its own words.
    pub(super) fn finding(&self) -> Finding {
        let url = &self.url;
        let Some(Readiness { status, version, checks }) = &self.readiness else {
            let seconds = TIME_OUT.as_secs();
            let text =
                format!("something listens at {url}, but did not report within {seconds} s that it is ready");
            return Finding::warn(
                SUBJECT,
                text,
                "if it is the service, see QuitaNotReady in docs/ops/RUNBOOK.md",
            );
        };
        if status == "ready" {
            return Finding::ok(SUBJECT, format!("{} runs at {url}, and is ready", printable(version)));
        }
        let Checks { store, mailboxes, routes } = checks;
        let failed = [store, mailboxes, routes].into_iter().filter(|check| !check.ok);
        let messages: Vec<_> = failed.filter_map(|check| check.message.as_deref()).collect();
        let messages = printable(&messages.join("; "));
        let text = format!("it runs at {url}, and is not ready: {messages}");
        Finding::fail(SUBJECT, text, "see QuitaNotReady in docs/ops/RUNBOOK.md")
    }

    /// Reports that the configured store does not exist although this service is running.
    pub(super) fn store_is_gone(&self, store: &str) -> Finding {
        let url = &self.url;
        let is_away = self.readiness.as_ref().is_some_and(|readiness| !readiness.checks.store.ok);
        if is_away {
            let text = format!("{store} does not exist, but a service runs at {url}: its store is gone");
            let mend = "put the store back in its place while the service runs, and do not start another: it would \
                        start with an empty store";
            return Finding::fail("store", text, mend);
        }
        let text = format!("{store} does not exist, but a service runs at {url}");
        let mend = "check the option store: the service uses a different store, or this one was just removed; do not \
                    start another service until you know which";
        Finding::warn("store", text, mend)
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    fn running(answer: &str) -> RunningService {
        RunningService {
            url: "http://127.0.0.1:9090".into(),
            readiness: serde_json::from_str(answer).unwrap(),
            audit_end: None,
        }
    }

    #[actix_web::test]
    async fn an_address_at_which_nobody_listens_is_worth_a_warning() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        drop(socket);
        let found = ask(address).await.unwrap_err().unwrap();
        assert_eq!((found.level, found.subject), (Level::Warn, "service"));
        let text = format!("nothing answers at http://{address}: the service is not running here");
        assert_eq!(found.text, text);
        assert!(ask("127.0.0.1:0".parse().unwrap()).await.unwrap_err().is_none(), "no port is known");
    }

    #[actix_web::test]
    async fn a_listener_that_says_nothing_is_worth_a_warning() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = ask(socket.local_addr().unwrap()).await.unwrap();
        assert_eq!(found.finding().level, Level::Warn);
        let gone = found.store_is_gone("sqlite:/q.db");
        assert!(gone.level == Level::Warn && !gone.to_string().contains("quita serve"), "{gone}");
    }

    #[test]
    fn a_listener_on_every_address_is_asked_at_loopback() {
        for (listen, asked) in
            [("0.0.0.0:9", "127.0.0.1:9"), ("[::]:9", "[::1]:9"), ("10.0.0.7:9", "10.0.0.7:9")]
        {
            assert_eq!(reachable(listen.parse().unwrap()).to_string(), asked);
        }
    }

    #[test]
    fn a_service_that_is_not_ready_fails_with_its_messages() {
        let service = running(
            r#"{"status":"not_ready","version":"1","checks":{"store":{"ok":false,"message":"it burns"},
               "mailboxes":{"ok":true},"routes":{"ok":false,"message":"none"},"acquirers":[],"failing":[]}}"#,
        );
        let found = service.finding();
        assert_eq!(found.level, Level::Fail);
        assert!(found.text.ends_with("is not ready: it burns; none"), "{found}");
        let gone = service.store_is_gone("sqlite:/q.db");
        assert_eq!(gone.level, Level::Fail);
        assert!(gone.text.contains("a service runs at http://127.0.0.1:9090: its store is gone"), "{gone}");
    }

    #[test]
    fn a_service_that_is_ready_has_perhaps_another_store() {
        let ok = r#"{"ok":true}"#;
        let service = running(&format!(
            r#"{{"status":"ready","version":"1","checks":{{"store":{ok},"mailboxes":{ok},"routes":{ok}}}}}"#
        ));
        assert_eq!(service.finding().level, Level::Ok);
        let gone = service.store_is_gone("sqlite:/q.db");
        assert!(gone.level == Level::Warn && !gone.to_string().contains("quita serve"), "{gone}");
    }
}
