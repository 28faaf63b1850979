//! Methods that no acquirer can take because every open one is failing, as far as that was logged.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::time::Timestamp;

/// Ability of a route to take new payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ability {
    /// It is open, and nothing shows that it fails.
    Able,
    /// It is open, but no charge was answered since the first lost call ended.
    Failing {
        /// End of the first lost call.
        since: Timestamp,
    },
    /// A directive keeps new payments away, or the directives have not been read yet.
    Closed {
        /// Time of the directive; `None` if there never was one.
        since: Option<Timestamp>,
    },
}

/// Method that no acquirer can take, because every open one is failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodOutage {
    /// Mode of the payments.
    pub mode: Mode,
    /// Method of the payments.
    pub method: Method,
    /// Time since which no acquirer can take it.
    pub since: Timestamp,
}

/// Change of a method's outage, to be logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OutageChange {
    /// The last acquirer that could take the method began to fail, or was closed.
    Begins {
        /// The failing acquirers.
        failing: Vec<AcquirerName>,
    },
    /// An acquirer can take the method again.
    Ends {
        /// Time for which none could.
        after_ms: u64,
    },
}

/// Start of each outage that was logged and has not ended.
#[derive(Debug, Default)]
pub(crate) struct MethodOutages(Mutex<BTreeMap<(Mode, Method), Timestamp>>);

impl MethodOutages {
    /// Compares the routes of a method with what was logged. Returns each change once. A method whose routes were all
    /// closed by directives has no outage: that was somebody's decision.
    pub(crate) fn note(
        &self,
        method: (Mode, Method),
        routes: &[(AcquirerName, Ability)],
        now: Timestamp,
    ) -> Option<OutageChange> {
        let mut started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if routes.iter().any(|(_, ability)| *ability == Ability::Able) {
            let since = started.remove(&method)?;
            return Some(OutageChange::Ends { after_ms: now.ms_since(since) });
        }
        let is_failing = |ability: &Ability| matches!(ability, Ability::Failing { .. });
        let failing = routes.iter().filter(|(_, ability)| is_failing(ability));
        let failing: Vec<_> = failing.map(|(acquirer, _)| acquirer.clone()).collect();
        if failing.is_empty() || started.contains_key(&method) {
            return None;
        }
        let since = routes.iter().filter_map(|(_, ability)| ability.lost_at()).max().unwrap_or(now);
        started.insert(method, since);
        Some(OutageChange::Begins { failing })
    }

    /// Returns the outages that have not ended.
    pub(crate) fn current(&self) -> Vec<MethodOutage> {
        let started = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outage = |((mode, method), since): (&(Mode, Method), &Timestamp)| MethodOutage {
            mode: *mode,
            method: *method,
            since: *since,
        };
        started.iter().map(outage).collect()
    }
}

impl Ability {
    /// Returns the time since which the route takes no new payments, if it is known.
    const fn lost_at(self) -> Option<Timestamp> {
        match self {
            Self::Able => None,
            Self::Failing { since } => Some(since),
            Self::Closed { since } => since,
        }
    }
}

impl OutageChange {
    /// Logs the change. Only live payments are worth an error: a sandbox fails whenever a test asks it to.
    pub(crate) fn tell(&self, (mode, method): (Mode, Method)) {
        let what = in_words(method);
        match (self, mode) {
            (Self::Begins { failing }, Mode::Live) => tracing::error!(
                mode = mode.as_str(),
                method = method.label(),
                acquirers = names(failing),
                "no acquirer can take {what}: every open one is failing. {UNTIL_ONE_ANSWERS}"
            ),
            (Self::Begins { failing }, Mode::Test) => tracing::warn!(
                mode = mode.as_str(),
                method = method.label(),
                acquirers = names(failing),
                "no acquirer can take {what}: every open one is failing. {UNTIL_ONE_ANSWERS}"
            ),
            (Self::Ends { after_ms }, Mode::Live | Mode::Test) => tracing::info!(
                mode = mode.as_str(),
                method = method.label(),
                after_ms,
                "an acquirer can take {what} again"
            ),
        }
    }
}

/// Consequence of an outage, and the place that says what to do.
const UNTIL_ONE_ANSWERS: &str = "Until a call succeeds, new payments are declined with no_acquirer_available, or \
    stay initial while their outcome is unknown: see QuitaMethodUnable in docs/ops/RUNBOOK.md";

const fn in_words(method: Method) -> &'static str {
    match method {
        Method::Pix => "PIX",
        Method::Boleto => "boletos",
        Method::CreditCard => "cards",
    }
}

fn names(acquirers: &[AcquirerName]) -> String {
    acquirers.iter().map(AcquirerName::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIX: (Mode, Method) = (Mode::Live, Method::Pix);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn failing(since_s: i64) -> Ability {
        Ability::Failing { since: at(since_s) }
    }

    fn closed(since_s: i64) -> Ability {
        Ability::Closed { since: Some(at(since_s)) }
    }

    fn begins(acquirers: &[&'static str]) -> Option<OutageChange> {
        Some(OutageChange::Begins { failing: acquirers.iter().copied().map(AcquirerName::new).collect() })
    }

    /// Notes the abilities of the acquirers `a` and `b`.
    fn note(outages: &MethodOutages, a: Ability, b: Ability, now_s: i64) -> Option<OutageChange> {
        outages.note(PIX, &[(AcquirerName::new("a"), a), (AcquirerName::new("b"), b)], at(now_s))
    }

    #[test]
    fn an_outage_begins_with_the_last_that_fails_and_ends_with_the_first_that_works() {
        let outages = MethodOutages::default();
        assert_eq!(note(&outages, Ability::Able, Ability::Able, 0), None);
        assert_eq!(note(&outages, failing(1), Ability::Able, 2), None, "the other one takes payments");
        assert_eq!(note(&outages, failing(1), failing(5), 6), begins(&["a", "b"]));
        assert_eq!(note(&outages, failing(1), failing(5), 7), None, "it was told");
        let (mode, method) = PIX;
        assert_eq!(outages.current(), [MethodOutage { mode, method, since: at(5) }]);
        let ended = Some(OutageChange::Ends { after_ms: 60_000 });
        assert_eq!(note(&outages, failing(1), Ability::Able, 65), ended, "since the second one failed");
        assert_eq!(outages.current(), []);
        assert_eq!(note(&outages, Ability::Able, Ability::Able, 66), None);
        assert_eq!(note(&outages, failing(70), failing(70), 71), begins(&["a", "b"]), "another one");
    }

    #[test]
    fn closed_routes_take_no_payments_but_are_nobodys_outage() {
        let outages = MethodOutages::default();
        let unread = Ability::Closed { since: None };
        assert_eq!(note(&outages, unread, unread, 0), None);
        assert_eq!(note(&outages, closed(1), closed(2), 3), None, "operators closed both");
        assert_eq!(note(&outages, closed(1), Ability::Able, 4), None);
        assert_eq!(note(&outages, closed(1), failing(5), 6), begins(&["b"]), "the last one that was open");
        assert_eq!(note(&outages, closed(1), closed(7), 8), None, "it is not over");
        let ended = Some(OutageChange::Ends { after_ms: 10_000 });
        assert_eq!(note(&outages, Ability::Able, closed(7), 15), ended);
        assert_eq!(note(&outages, failing(16), closed(20), 21), begins(&["a"]));
        let ended = Some(OutageChange::Ends { after_ms: 5_000 });
        assert_eq!(note(&outages, Ability::Able, closed(20), 25), ended, "since the other one was closed");
    }

    #[test]
    fn methods_and_modes_have_outages_of_their_own() {
        let outages = MethodOutages::default();
        let bank = |ability| [(AcquirerName::new("a"), ability)];
        let others = [(Mode::Test, Method::Pix), (Mode::Live, Method::CreditCard)];
        assert_eq!(outages.note(PIX, &bank(failing(1)), at(1)), begins(&["a"]));
        for other in others {
            assert_eq!(outages.note(other, &bank(Ability::Able), at(2)), None);
            assert_eq!(outages.note(other, &bank(failing(3)), at(3)), begins(&["a"]));
        }
    }
}
