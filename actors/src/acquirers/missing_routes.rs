//! Routes that payments need but that are no longer configured on this node.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::time::Timestamp;

/// Time for which a route counts as missing after a call needed it. Open boletos are inquired about once a day.
const MISSED_FOR_MS: u64 = 36 * 3_600_000;
/// Time after which a route that is still missing is logged once more.
const LOGGED_EVERY_MS: u64 = 3_600_000;

/// Route by acquirer and method.
pub type RouteKey = (AcquirerName, Method);

#[derive(Debug)]
struct Miss {
    last_at: Timestamp,
    logged_at: Timestamp,
}

/// Missing routes, by the calls that could not be made.
#[derive(Debug, Default)]
pub(crate) struct MissingRoutes(Mutex<BTreeMap<RouteKey, Miss>>);

impl MissingRoutes {
    /// Records a call that could not be made, and logs the route if it was not logged recently.
    pub(crate) fn note(&self, acquirer: &AcquirerName, method: Method, now: Timestamp) {
        let mut missing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let miss = missing.get_mut(&(acquirer.clone(), method));
        let is_logged = miss.is_some_and(|miss| {
            miss.last_at = now;
            let is_logged = now < miss.logged_at.plus_ms(LOGGED_EVERY_MS);
            if !is_logged {
                miss.logged_at = now;
            }
            is_logged
        });
        if is_logged {
            return;
        }
        missing.entry((acquirer.clone(), method)).or_insert(Miss { last_at: now, logged_at: now });
        drop(missing);
        tracing::error!(
            acquirer = acquirer.as_str(),
            method = method.label(),
            "open payments need an acquirer that is no longer configured here: keep it configured until they have ended"
        );
    }

    /// Returns the missing routes that calls needed recently.
    pub(crate) fn known(&self, now: Timestamp) -> Vec<RouteKey> {
        let missing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lately = missing.iter().filter(|(_, miss)| now < miss.last_at.plus_ms(MISSED_FOR_MS));
        lately.map(|(route, _)| route.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_missing_until_no_call_has_needed_it_for_long() {
        let missing = MissingRoutes::default();
        let bank = AcquirerName::new("bank");
        let hours = |hours: i64| Timestamp::from_millis(hours * 3_600_000);
        assert_eq!(missing.known(hours(0)), Vec::new());
        missing.note(&bank, Method::Pix, hours(0));
        missing.note(&bank, Method::Pix, hours(20));
        missing.note(&bank, Method::Boleto, hours(1));
        assert_eq!(missing.known(hours(21)), [(bank.clone(), Method::Pix), (bank.clone(), Method::Boleto)]);
        assert_eq!(missing.known(hours(40)), [(bank, Method::Pix)]);
        assert_eq!(missing.known(hours(57)), Vec::new());
    }
}
