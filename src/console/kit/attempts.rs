//! Limits of attempts to sign in, for each account, each address and both together, on each node.

use std::net::IpAddr;
use std::time::Duration;

use crate::service::limiter::{Limiter, Pace};
use crate::service::network::network_of;

/// Attempts in a row from one address on one account, and how long until there is one more.
const PAIR: Pace = Pace { burst: 8, period: Duration::from_secs(60) };
/// The same from one address on all accounts: an office may share it.
const ADDRESS: Pace = Pace { burst: 40, period: Duration::from_secs(6) };
/// The same from all addresses on one account: more than one of them may use up, so that a stranger who guesses at an
/// account does not keep its owner out.
const ACCOUNT: Pace = Pace { burst: 60, period: Duration::from_secs(10) };
/// Characters of an account that count: no address has more.
const ACCOUNT_CHARACTERS: usize = 254;

/// Counts attempts, whether they succeed or not and whether the account exists or not.
pub(crate) struct Attempts {
    pairs: Limiter<(String, IpAddr)>,
    addresses: Limiter<IpAddr>,
    accounts: Limiter<String>,
}

impl Attempts {
    pub(crate) fn new() -> Self {
        Self { pairs: Limiter::new(PAIR), addresses: Limiter::new(ADDRESS), accounts: Limiter::new(ACCOUNT) }
    }

    /// Counts one attempt, or tells how many seconds to wait.
    pub(crate) fn count(&self, account: &str, address: IpAddr) -> Result<(), u64> {
        let account: String = account.to_lowercase().chars().take(ACCOUNT_CHARACTERS).collect();
        let network = network_of(address);
        // What one address may not do counts on nobody's account.
        self.addresses.count(&network)?;
        self.pairs.count(&(account.clone(), network))?;
        self.accounts.count(&account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_account_is_guessed_a_few_times_from_one_address_however_it_is_spelt() {
        let attempts = Attempts::new();
        for name in ["Ana@loja.com", "ana@loja.com"].iter().cycle().take(8) {
            assert_eq!(attempts.count(name, address("10.0.0.1")), Ok(()));
        }
        let wait = attempts.count("ana@loja.com", address("10.0.0.1")).unwrap_err();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(attempts.count("bia@loja.com", address("10.0.0.1")), Ok(()));
    }

    #[test]
    fn guesses_from_one_address_keep_nobody_else_out() {
        let attempts = Attempts::new();
        let refused = (0..1_000).filter(|_| attempts.count("ana@loja.com", address("10.0.0.1")).is_err());
        assert_eq!(refused.count(), 992);
        assert_eq!(attempts.count("ana@loja.com", address("10.0.0.2")), Ok(()));
    }

    #[test]
    fn an_account_is_guessed_a_bounded_number_of_times_wherever_from() {
        let attempts = Attempts::new();
        let guess = |last: u8| attempts.count("ana@loja.com", IpAddr::from([10, 0, 0, last]));
        assert!((0..60).all(|last| guess(last).is_ok()));
        assert!(guess(60).is_err());
    }

    #[test]
    fn attempts_from_one_network_are_bounded_for_all_accounts() {
        let attempts = Attempts::new();
        let guess = |number: u32, from: &str| attempts.count(&format!("{number}@loja.com"), address(from));
        assert!((0..40).all(|number| guess(number, &format!("2001:db8::{number:x}")).is_ok()));
        assert!(guess(40, "2001:db8::ffff").is_err());
        assert!(guess(41, "2001:db8:0:1::1").is_ok());
    }
}
