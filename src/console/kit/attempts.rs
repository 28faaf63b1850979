//! Rate limits on sign-in attempts, on each node: by account, by network, and by both together. Browsers with an
//! earlier sign-in to the account, and sessions, have separate limits.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use quita_domain::people::Session;
use quita_domain::secret::Secret;

use super::devices::Device;
use quita_services::limiter::{Limiter, Pace};
use quita_services::network::networks_of;
use quita_services::people::Line;

/// Attempts from one address on one account: burst, and the period after which another one is allowed.
const PAIR: Pace = Pace { burst: 8, period: Duration::from_secs(60) };
/// Attempts from one site on one account: a home has 256 IPv6 networks, which must not allow 256 times the guesses.
const SITE_PAIR: Pace = Pace { burst: 16, period: Duration::from_secs(30) };
/// Attempts from one large network on one account: the network may belong to a company or to a single attacker.
const LARGE_PAIR: Pace = Pace { burst: 24, period: Duration::from_secs(20) };
/// Attempts from one address on all accounts: an office may share one address.
const ADDRESS: Pace = Pace { burst: 40, period: Duration::from_secs(6) };
/// Attempts from one site on all accounts.
const SITE: Pace = Pace { burst: 80, period: Duration::from_secs(3) };
/// Attempts from one large network on all accounts.
const LARGE: Pace = Pace { burst: 120, period: Duration::from_secs(2) };
/// Attempts from all addresses on one account. The limit exceeds that of one large network, so guesses from there do
/// not lock the owner out.
const ACCOUNT: Pace = Pace { burst: 60, period: Duration::from_secs(10) };
/// Attempts from a known browser on its account. Once they are used up, the browser counts as unknown until the next
/// one is allowed (OWASP, Slow Down Online Guessing Attacks with Device Cookies).
const DEVICE: Pace = Pace { burst: 10, period: Duration::from_secs(360) };
/// Guesses at the current password within a session.
const SESSION: Pace = Pace { burst: 8, period: Duration::from_secs(60) };

/// Counters of attempts. Successes and failures count alike, and so do existing and unknown accounts.
pub(crate) struct Attempts {
    one: Range<IpAddr>,
    site: Range<IpAddr>,
    large: Range<IpAddr>,
    accounts: Limiter<String>,
    devices: Limiter<Device>,
    sessions: Limiter<String>,
}

/// Counters for networks of one width: attempts on all accounts, and on one.
struct Range<N: Clone + Eq + std::hash::Hash> {
    all: Limiter<N>,
    pairs: Limiter<(String, N)>,
}

impl Range<IpAddr> {
    fn new(all: Pace, pairs: Pace) -> Self {
        Self { all: Limiter::new(all), pairs: Limiter::new(pairs) }
    }

    fn count(&self, account: &str, network: IpAddr) -> Result<(), u64> {
        self.all.count(&network)?;
        self.pairs.count(&(account.to_owned(), network))
    }
}

impl Attempts {
    pub(crate) fn new() -> Self {
        Self {
            one: Range::new(ADDRESS, PAIR),
            site: Range::new(SITE, SITE_PAIR),
            large: Range::new(LARGE, LARGE_PAIR),
            accounts: Limiter::new(ACCOUNT),
            devices: Limiter::new(DEVICE),
            sessions: Limiter::new(SESSION),
        }
    }

    /// Counts one attempt, and returns the queue in which its password waits to be hashed. If there were too many,
    /// returns the seconds to wait.
    ///
    /// A known device of the account has its own attempts, independent of those by strangers. Once they are used up,
    /// the device counts as a stranger's.
    pub(crate) fn count(&self, account: &str, address: IpAddr, device: Option<Device>) -> Result<Line, u64> {
        if device.is_some_and(|device| self.devices.count(&device).is_ok()) {
            return Ok(Line::Known);
        }
        self.count_stranger(&account_key(account), address)?;
        Ok(Line::Strangers)
    }

    /// Counts one guess at the current password within a session. Strangers' attempts do not affect it.
    pub(crate) fn count_in_session(&self, token: &Secret<String>) -> Result<(), u64> {
        self.sessions.count(&Session::id_of(token.expose()))
    }

    /// Counts an attempt from an unknown browser, narrowest network first.
    fn count_stranger(&self, account: &str, address: IpAddr) -> Result<(), u64> {
        // An attempt refused for one address counts against no wider network, and against no account.
        let networks = networks_of(address);
        self.one.count(account, networks.one)?;
        if let Some(site) = networks.site {
            self.site.count(account, site)?;
        }
        self.large.count(account, networks.large)?;
        self.accounts.count(&account.to_owned())
    }
}

/// Number of leading characters of an account that are significant; no e-mail address is longer.
const ACCOUNT_CHARACTERS: usize = 254;

/// Returns the key under which an account is counted, regardless of its spelling and of whether it exists.
pub(super) fn account_key(account: &str) -> String {
    account.trim().to_lowercase().chars().take(ACCOUNT_CHARACTERS).collect()
}
