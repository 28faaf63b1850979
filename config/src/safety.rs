//! Checks for settings that are valid but unsafe.

use std::net::SocketAddr;

use quita_domain::time::Timestamp;

use super::nearest::nearest;
use super::option::{CONFIG_FILE, VARIABLE_PREFIX};
use super::problem::Problem;
use super::secret_key::MIN_SECRET_KEY_CHARACTERS;
use super::{Config, Environment};

/// Returns the problems with which production refuses to start. Development accepts everything but a short key of its
/// own, and serves no other machine under the public key.
pub(super) fn problems(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut refuse = |option: &str, message: String| {
        problems.push(Problem { option: option.into(), message });
    };
    if config.secret_keys.has_short() {
        refuse(
            "secret-key",
            format!("it is shorter than {MIN_SECRET_KEY_CHARACTERS} characters; {MAKE_A_KEY}"),
        );
    }
    if config.environment == Environment::Development {
        let is_open = [config.listen, config.ops_listen].into_iter().find(|address| !is_loopback(*address));
        if let Some(address) = is_open.filter(|_| config.secret_keys.has_default()) {
            refuse(
                "secret-key",
                format!(
                    "it is the publicly known key, with which only loopback may be served, not {address}: listen on a \
                     loopback address, or {MAKE_A_KEY}"
                ),
            );
        }
        return problems;
    }
    if config.secret_keys.has_default() {
        refuse("secret-key", format!("production needs a key of its own; {MAKE_A_KEY}"));
    }
    match &config.public_url {
        None => refuse("public-url", "production needs the public https address of this service".into()),
        Some(url) if url.scheme() != "https" => {
            refuse("public-url", format!("{url} uses {}; production needs https", url.scheme()));
        }
        Some(_) => {}
    }
    problems
}

/// Returns true if two listeners can't have these addresses at once.
pub(super) fn are_one_address(one: SocketAddr, other: SocketAddr) -> bool {
    let overlap = one.ip().is_unspecified() || other.ip().is_unspecified() || one.ip() == other.ip();
    // Port 0 is any free port.
    one.port() != 0 && one.port() == other.port() && one.is_ipv4() == other.is_ipv4() && overlap
}

/// Options that decide if a setting is safe.
const DECIDING: [&str; 2] = ["environment", CONFIG_FILE.name];

/// Returns the unsafe settings besides the refused ones, without those that would only follow from a refused one.
pub(super) fn problems_beside(refused: &[Problem], config: &Config) -> Vec<Problem> {
    let is_refused = |name: &str| refused.iter().any(|problem| is_about(&problem.option, name));
    if DECIDING.into_iter().any(is_refused) {
        return Vec::new();
    }
    problems(config).into_iter().filter(|problem| !is_refused(&problem.option)).collect()
}

/// Returns true if a user who wrote `written` meant this option, or the file that may contain it.
fn is_about(written: &str, name: &str) -> bool {
    let written = written.strip_prefix(VARIABLE_PREFIX).unwrap_or(written);
    let file = format!("{name}-file");
    nearest(written, [name, file.as_str()]).is_some()
}

/// Provider of boletos that Cielo has discontinued.
const ENDED_PROVIDER: &str = "BancoDoBrasil2";

const MAKE_A_KEY: &str =
    "create one with `openssl rand -base64 48` and set QUITA_SECRET_KEY or secret-key-file";

/// Returns warnings about settings that are allowed.
pub(super) fn warnings(config: &Config, store_is_flag: bool, now: Timestamp) -> Vec<String> {
    let mut warnings = Vec::new();
    if !is_loopback(config.ops_listen) {
        warnings.push(format!(
            "ops-listen is {}: metrics, health and exceptions need no password and are open to anyone who can reach it; \
             use a loopback address or a private network",
            config.ops_listen
        ));
    }
    if !is_loopback(config.ops_listen) && config.ops_hosts.is_empty() {
        warnings.push(
            "ops-hosts: none is set, so the operator's pages are served only under loopback names; set the host name \
             that operators use"
                .into(),
        );
    }
    // Production has a proxy, because Quita itself does not support TLS. This is not refused: a proxy that passes
    // connections through can't add a header.
    if config.environment == Environment::Production && !config.behind_proxy {
        warnings.push(format!(
            "behind-proxy is false: the peer that connects to {} counts as the client, so behind a proxy all clients share \
             its address, and 40 wrong passwords from anyone keep everyone from signing in; set behind-proxy = true, and \
             let the proxy add X-Forwarded-For",
            config.listen
        ));
    }
    if config.environment == Environment::Production && config.store.is_readable_on_the_way() {
        warnings.push(format!(
            "store: the connection to {} is unencrypted, or its server's certificate is not verified; add tls=true to its \
             URL, without tlsInsecure or tlsAllowInvalidCertificates",
            config.store
        ));
    }
    if config.environment == Environment::Production && !config.operators_need_second_factor {
        warnings.push(
            "operators-need-second-factor is false: a password alone opens the console in which operators drain routes and \
             decide what became of refunds (PCI DSS 4.0.1, 8.4.1); remove the option"
                .into(),
        );
    }
    if config.acquirers.is_empty() {
        warnings
            .push("acquirer: none is configured, so every payment is refused with method_unavailable".into());
    }
    for acquirer in &config.acquirers {
        let identity = acquirer.adapter.tls().and_then(|tls| tls.identity.as_ref());
        if let Some(until) = identity.and_then(|identity| identity.until()).filter(|until| *until <= now) {
            warnings.push(format!(
                "acquirer[{}].certificate-file: its certificate expired at {until}, so the provider refuses every call; \
                 install a new one with its key, and send SIGHUP",
                acquirer.spec.name
            ));
        }
        if acquirer.adapter.boleto_provider() == Some(ENDED_PROVIDER) {
            warnings.push(format!(
                "acquirer[{}].boleto.provider: Cielo discontinued {ENDED_PROVIDER} on 2025-12-31; set BancoDoBrasil3",
                acquirer.spec.name
            ));
        }
    }
    if store_is_flag && config.store.has_credentials() {
        warnings.push(
            "store: its password came from a flag, which others on this machine can read; put it in the configuration \
             file"
                .into(),
        );
    }
    warnings
}

/// Returns true if only this machine can reach an address.
pub(super) fn is_loopback(address: SocketAddr) -> bool {
    // An IPv4 loopback address may be written as IPv6 (`::ffff:127.0.0.1`).
    address.ip().to_canonical().is_loopback()
}
