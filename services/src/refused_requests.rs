//! Requests refused for lack of authority: counted in a metric, and logged so rarely that nobody can flood the log.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use prometheus::{IntCounterVec, Opts, Registry};
use quita_domain::access::Origins;

use super::limiter::{Limiter, Pace};

/// Rate of log lines about one subject.
const OF_ONE_SUBJECT: Pace = Pace { burst: 1, period: Duration::from_secs(60) };
/// Rate of log lines about all subjects of a kind.
const OF_ALL_SUBJECTS: Pace = Pace { burst: 10, period: Duration::from_secs(6) };

/// Declares the reasons of refusals, with their names in the metric.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Reason of a refusal.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RefusedRequest {
            $($(#[$doc])* $name,)*
        }

        impl RefusedRequest {
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Returns the name in the metric and the log.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

refusals! {
    /// No key, or a text that could not be one.
    NoKey = "no_key",
    /// A key that does not exist.
    UnknownKey = "unknown_key",
    /// The id of an existing key, with another secret or of the other mode.
    WrongSecret = "wrong_secret",
    /// A key that was revoked.
    RevokedKey = "revoked_key",
    /// A key that has expired.
    ExpiredKey = "expired_key",
    /// A key without the required scope.
    Scope = "scope",
    /// A page whose origin no application lists.
    Origin = "origin",
    /// A user of a console whose role does not permit it.
    Role = "role",
    /// A form of another session, or from another site.
    ForeignForm = "foreign_form",
    /// A wrong proof of identity.
    Proof = "proof",
    /// A sign-in.
    SignIn = "sign_in",
}

/// Log lines of one kind: about each subject one a minute, about all of them a few.
struct LoggedLines {
    /// Hashes of the subjects: strangers choose some of them, and a hash is small however long its subject is.
    subjects: Limiter<u64>,
    hasher: RandomState,
    all: Limiter<()>,
    /// True if the log says already that not every refusal is logged.
    is_full: AtomicBool,
    /// Line of the log that says so.
    more: &'static str,
}

impl LoggedLines {
    fn new(more: &'static str) -> Self {
        Self {
            subjects: Limiter::new(OF_ONE_SUBJECT),
            hasher: RandomState::new(),
            all: Limiter::new(OF_ALL_SUBJECTS),
            is_full: AtomicBool::new(false),
            more,
        }
    }

    /// Returns true if a line about this is due.
    fn is_due(&self, subject: &str) -> bool {
        // Checked by subject first: one that was logged recently takes no turn from the others.
        if self.subjects.count(&self.hasher.hash_one(subject)).is_err() {
            return false;
        }
        let has_room = self.all.count(&()).is_ok();
        let was_full = self.is_full.swap(!has_room, Ordering::Relaxed);
        if !has_room && !was_full {
            tracing::warn!("{}; quita_requests_refused_total counts all of them", self.more);
        }
        has_room
    }
}

/// Counter of refused requests, on this node.
pub struct RefusedRequests {
    counter: Option<IntCounterVec>,
    keys: LoggedLines,
    /// Separate from those of keys: anyone can state an origin, and must not be able to silence a warning about a key.
    origins: LoggedLines,
}

impl Default for RefusedRequests {
    /// Creates a counter without a metric.
    fn default() -> Self {
        Self {
            counter: None,
            keys: LoggedLines::new("too many refusals of API keys to log each one"),
            origins: LoggedLines::new("too many refusals of pages that send cards to log each one"),
        }
    }
}

impl RefusedRequests {
    /// Registers the metric.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let help = "Requests refused because of the caller, by reason";
        let counter = IntCounterVec::new(Opts::new("quita_requests_refused_total", help), &["why"])?;
        // Created with zero, because an alert does not see an increase in a series that did not exist.
        for why in RefusedRequest::ALL {
            counter.with_label_values(&[why.as_str()]);
        }
        registry.register(Box::new(counter.clone()))?;
        Ok(Self { counter: Some(counter), ..Self::default() })
    }

    /// Counts one refusal.
    pub fn count(&self, why: RefusedRequest) {
        if let Some(counter) = &self.counter {
            counter.with_label_values(&[why.as_str()]).inc();
        }
    }

    /// Counts a refusal with the id of an existing key, and warns about that key and reason once a minute.
    pub fn count_key(&self, why: RefusedRequest, key_id: &str) {
        self.count(why);
        if self.keys.is_due(&format!("{key_id} {}", why.as_str())) {
            tracing::warn!(key.id = key_id, why = why.as_str(), "calls with an API key are refused");
        }
    }

    /// Counts a refusal in a console, and warns about that console once a minute.
    pub fn count_page(&self, why: RefusedRequest, door: &'static str) {
        self.count(why);
        if self.keys.is_due(&format!("{door} {}", why.as_str())) {
            tracing::warn!(door, why = why.as_str(), "requests in a console are refused");
        }
    }

    /// Counts a page that may send no cards, and warns about its origin once a minute.
    pub fn count_origin(&self, origin: &str) {
        self.count(RefusedRequest::Origin);
        // Anyone can send this header, with any content.
        let origin = Origins::parse([origin], true).ok();
        if let Some(origin) = origin.as_ref().and_then(|origins| origins.iter().next())
            && self.origins.is_due(origin)
        {
            tracing::warn!(
                origin,
                "a page may not send cards: no application lists its origin (quita applications origins)"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason_and_every_reason_is_there_from_the_start() {
        let registry = Registry::new();
        let refused = RefusedRequests::register(&registry).unwrap();
        refused.count(RefusedRequest::Proof);
        refused.count_key(RefusedRequest::WrongSecret, "a");
        refused.count_key(RefusedRequest::WrongSecret, "a");
        let gathered = registry.gather();
        let counted: Vec<_> = gathered[0]
            .get_metric()
            .iter()
            .map(|metric| (metric.get_label()[0].value().to_owned(), metric.get_counter().get_value()))
            .collect();
        let refusals = [RefusedRequest::Proof, RefusedRequest::WrongSecret, RefusedRequest::WrongSecret];
        assert_eq!(counted.len(), RefusedRequest::ALL.len());
        for why in RefusedRequest::ALL {
            let found = counted.iter().find(|(name, _)| name == why.as_str());
            let expected = refusals.iter().filter(|refusal| *refusal == why).map(|_| 1.0).sum::<f64>();
            assert_eq!(found.map(|(_, count)| *count), Some(expected), "{why:?}");
        }
    }

    #[test]
    fn a_flood_of_origins_takes_no_line_from_keys() {
        let refused = RefusedRequests::default();
        let told =
            (0..100).filter(|number| refused.origins.is_due(&format!("https://h{number}.example"))).count();
        assert_eq!(told, 10, "the first ones");
        assert!(refused.keys.is_due("a wrong_secret"));
        assert!(!refused.keys.is_due("a wrong_secret"), "once a minute");
    }
}
