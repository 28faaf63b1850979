//! Limits of attempts to sign in, on each node: for each account, each network, both together; apart from those, for
//! each browser that signed in to the account before, and for each session.

#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use quita_domain::people::Session;
use quita_domain::secret::Secret;

use super::devices::Device;
use crate::service::limiter::{Limiter, Pace};
use crate::service::network::networks_of;
use crate::service::people::Line;

/// Attempts in a row from one address on one account, and how long until there is one more.
const PAIR: Pace = Pace { burst: 8, period: Duration::from_secs(60) };
/// The same from one site: a home has 256 IPv6 networks, and must not guess 256 times as often.
const SITE_PAIR: Pace = Pace { burst: 16, period: Duration::from_secs(30) };
/// The same from one large network, which may be a firm's or one stranger's.
const LARGE_PAIR: Pace = Pace { burst: 24, period: Duration::from_secs(20) };
/// From one address on all accounts: an office may share it.
const ADDRESS: Pace = Pace { burst: 40, period: Duration::from_secs(6) };
/// The same from one site.
const SITE: Pace = Pace { burst: 80, period: Duration::from_secs(3) };
/// The same from one large network.
const LARGE: Pace = Pace { burst: 120, period: Duration::from_secs(2) };
/// From all addresses on one account: more than one large network may use up, so that a stranger who guesses at an
/// account does not keep its owner out.
const ACCOUNT: Pace = Pace { burst: 60, period: Duration::from_secs(10) };
/// From one browser on the account that was signed in to with it. After these it is any browser, until there is one
/// more (OWASP, Slow Down Online Guessing Attacks with Device Cookies).
const DEVICE: Pace = Pace { burst: 10, period: Duration::from_secs(360) };
/// At the current password, by who is signed in.
const SESSION: Pace = Pace { burst: 8, period: Duration::from_secs(60) };

/// Counts attempts, whether they succeed or not and whether the account exists or not.
pub(crate) struct Attempts {
    one: Range<IpAddr>,
    site: Range<IpAddr>,
    large: Range<IpAddr>,
    accounts: Limiter<String>,
    devices: Limiter<Device>,
    sessions: Limiter<String>,
}

/// What is counted of networks of one width: attempts on all accounts, and on one.
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

    /// Counts one attempt, and tells in which line its password waits to be hashed; or tells how many seconds to wait.
    ///
    /// A device is one of this account. Whatever strangers do, it has attempts of its own; when they are used up, it is
    /// a stranger's.
    pub(crate) fn count(&self, account: &str, address: IpAddr, device: Option<Device>) -> Result<Line, u64> {
        if device.is_some_and(|device| self.devices.count(&device).is_ok()) {
            return Ok(Line::Known);
        }
        self.count_stranger(&account_key(account), address)?;
        Ok(Line::Strangers)
    }

    /// Counts one guess at the current password of who is signed in. Strangers have no part in it.
    pub(crate) fn count_in_session(&self, token: &Secret<String>) -> Result<(), u64> {
        self.sessions.count(&Session::id_of(token.expose()))
    }

    /// From the narrowest on: what one address may not do counts on no wider network, and on nobody's account.
    fn count_stranger(&self, account: &str, address: IpAddr) -> Result<(), u64> {
        let networks = networks_of(address);
        self.one.count(account, networks.one)?;
        if let Some(site) = networks.site {
            self.site.count(account, site)?;
        }
        self.large.count(account, networks.large)?;
        self.accounts.count(&account.to_owned())
    }
}

/// Characters of an account that count: no address has more.
const ACCOUNT_CHARACTERS: usize = 254;

/// An account however it is spelt, known or not.
pub(super) fn account_key(account: &str) -> String {
    account.trim().to_lowercase().chars().take(ACCOUNT_CHARACTERS).collect()
}
