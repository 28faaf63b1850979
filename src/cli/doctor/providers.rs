//! Checks of acquirers' providers: certificates, and the answer to a harmless read.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use actix_web::rt::time::timeout;
use quita_acquirers::api_pix::settings::CallbackRegistration;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_machine::SystemClock;
use quita_ports::Clock;

use super::finding::Finding;
use crate::acquirers::{self, Link, LinkState, Site};
use quita_config::Config;
use quita_config::acquirer::AdapterConfig;

const SUBJECT: &str = "acquirer";

/// Remaining validity below which a certificate is reported.
const CERTIFICATE_WARNING_MS: u64 = 30 * DAY_MS;

/// Time limit for a provider, including the request for its token.
const TIME_OUT: Duration = Duration::from_secs(40);

/// Asks every provider about something that does not exist, concurrently.
pub(super) async fn reach(config: &Config) -> Vec<Finding> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let links = match acquirers::build(config, &Site::of(config), &clock) {
        Ok(links) => links,
        Err(error) => return vec![Finding::fail(SUBJECT, format!("{error:#}"), "fix its certificates")],
    };
    let findings = links.iter().map(|link| look_at(link, config, clock.now()));
    let mut findings = futures_util::future::join_all(findings).await.concat();
    findings.extend(shared_accounts(&links));
    findings
}

/// Warns of acquirers that share an account: both list each charge, but only one of them receives its callbacks.
fn shared_accounts(links: &[Arc<Link>]) -> Vec<Finding> {
    let mut names: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for link in links {
        let factory = link.factory();
        let spec = factory.spec();
        // A bank's test environment may have the same key as its real one.
        let account = factory.charge_account().map(|account| (spec.mode.as_str(), account));
        if let Some(account) = account {
            names.entry(account).or_default().push(spec.name.to_string());
        }
    }
    let shared = names.into_values().filter(|names| names.len() > 1);
    let warned = |names: Vec<String>| {
        let text = format!("{} share one account, and show each other's charges", names.join(", "));
        Finding::warn(SUBJECT, text, "give each table its own account (Pix key), or remove one")
    };
    shared.map(warned).collect()
}

async fn look_at(link: &Link, config: &Config, now: Timestamp) -> Vec<Finding> {
    // A sandbox has no provider.
    let Some(LinkState { acquirer, address, certificate_until, .. }) = link.state() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    findings.extend(certificate_until.map(|until| certificate(acquirer.as_str(), until, now)));
    findings.extend(callbacks(link, config));
    let read = timeout(TIME_OUT, link.ask_something_unknown()).await;
    let read = read.unwrap_or_else(|_| Err(format!("no answer within {} s", TIME_OUT.as_secs())));
    findings.push(match (read, link.state().and_then(|state| state.token_until)) {
        (Ok(()), None) => Finding::ok(SUBJECT, format!("{acquirer}: {address} answers")),
        (Ok(()), Some(until)) => {
            Finding::ok(SUBJECT, format!("{acquirer}: {address} answers; its token is valid until {until}"))
        }
        (Err(why), _) => {
            let text = format!("{acquirer}: {address} can't be asked: {why}");
            Finding::fail(
                SUBJECT,
                text,
                "check this acquirer's address, certificate and secrets, and the network",
            )
        }
    });
    findings
}

fn certificate(acquirer: &str, until: Timestamp, now: Timestamp) -> Finding {
    let mend = "put a new one with its key into certificate-file and private-key-file, and send SIGHUP to the service";
    if until <= now {
        return Finding::fail(SUBJECT, format!("{acquirer}: its certificate expired at {until}"), mend);
    }
    let text = format!("{acquirer}: its certificate expires at {until}");
    if until.ms_since(now) <= CERTIFICATE_WARNING_MS {
        return Finding::warn(SUBJECT, text, mend);
    }
    Finding::ok(SUBJECT, text)
}

/// Reports the address for the bank's callbacks, without its token.
fn callbacks(link: &Link, config: &Config) -> Option<Finding> {
    let configured = link.config();
    let callbacks = match &configured.adapter {
        AdapterConfig::ApiPix(api_pix) => &api_pix.callbacks,
        AdapterConfig::Sicoob(sicoob) => &sicoob.callbacks,
        AdapterConfig::Sandbox(_) | AdapterConfig::Cielo(_) | AdapterConfig::Pagarme(_) => return None,
    };
    let name = &configured.spec.name;
    let address = Site::of(config).notifications(&configured);
    match callbacks.registration {
        CallbackRegistration::Register | CallbackRegistration::Replace => Some(Finding::ok(
            SUBJECT,
            format!(
                "{name}: the service registers {address}/… for callbacks; Acquirers in the operators' console shows the result"
            ),
        )),
        CallbackRegistration::Off => Some(Finding::ok(
            SUBJECT,
            format!("{name}: the service registers no callback address with the bank"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_certificate_warns_a_month_before_its_end_and_fails_at_it() {
        let now = Timestamp::from_millis(0);
        for (until_ms, level) in
            [(0, Level::Fail), (1, Level::Warn), (30 * DAY_MS, Level::Warn), (30 * DAY_MS + 1, Level::Ok)]
        {
            assert_eq!(certificate("bank", now.plus_ms(until_ms), now).level, level, "{until_ms}");
        }
    }

    #[actix_web::test]
    async fn tables_of_one_account_and_mode_are_warned_of() {
        use quita_config::settings::Settings;
        let is_told = async |[one, other]: [(&str, &str); 2]| {
            let table = |name: &str, (mode, key): (&str, &str)| {
                format!(
                    "{{ name = '{name}', adapter = 'api_pix', mode = '{mode}', token-auth = 'static', \
                     base-url = 'http://127.0.0.1:9/v2', receiver-name = 'a', receiver-city = 'b', pix-key = '{key}' }}"
                )
            };
            let tables = format!("[{}, {}]", table("one", one), table("other", other));
            let token = |name: &str| (format!("QUITA_ACQUIRER_{name}_STATIC_TOKEN").into(), "token".into());
            let settings = Settings::gather([("acquirer", tables)], [token("ONE"), token("OTHER")]);
            let found = reach(&Config::from_settings(settings).unwrap()).await;
            found.iter().any(|finding| finding.text.contains("one, other share one account"))
        };
        assert!(is_told([("test", "a@b.example"), ("test", "a@b.example")]).await);
        assert!(!is_told([("test", "a@b.example"), ("test", "c@b.example")]).await);
        assert!(!is_told([("test", "a@b.example"), ("live", "a@b.example")]).await);
    }

    #[actix_web::test]
    async fn a_provider_that_is_down_fails_with_its_name_and_a_sandbox_is_not_asked() {
        use quita_config::settings::Settings;
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        drop(socket);
        let table = format!(
            "[{{ name = 'bank', adapter = 'api_pix', token-auth = 'static', base-url = 'http://{address}', \
             pix-key = 'a@b.example', receiver-name = 'a', receiver-city = 'b' }}, \
             {{ name = 'sandbox', adapter = 'sandbox' }}]"
        );
        let variables = [("QUITA_ACQUIRER_BANK_STATIC_TOKEN".into(), "hunter2".into())];
        let config = Config::from_settings(Settings::gather([("acquirer", table)], variables)).unwrap();
        let found = reach(&config).await;
        let levels: Vec<_> = found.iter().map(|finding| finding.level).collect();
        assert_eq!(levels, [Level::Ok, Level::Fail], "{found:?}");
        assert!(
            found[1].text.contains("connection refused") && !found[1].text.contains("hunter2"),
            "{found:?}"
        );
    }
}
