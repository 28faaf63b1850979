//! Expiry of our certificates: reported while there is still time to renew them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::identity::AcquirerName;
use quita_domain::time::Timestamp;
use quita_ports::Clock;

use super::Link;
use crate::jobs::{JobName, Rhythm};

/// Schedule of the checks. A certificate from a reloaded configuration is seen at the next one.
pub(crate) const CERTIFICATES: Rhythm =
    Rhythm { name: JobName::Certificates, every: Duration::from_secs(60), first_after: Duration::ZERO };
/// Remaining validity below which a certificate is reported, in milliseconds.
pub(crate) const ENDS_SOON_MS: i64 = 30 * 24 * 3_600 * 1_000;

/// Monitor of the certificates of all acquirers.
pub(crate) struct CertificateWatch {
    links: Vec<Arc<Link>>,
    clock: Arc<dyn Clock>,
    told: ReportedAges,
}

impl CertificateWatch {
    /// Creates a monitor of these acquirers' certificates.
    pub(crate) fn new(links: Vec<Arc<Link>>, clock: Arc<dyn Clock>) -> Self {
        Self { links, clock, told: ReportedAges::default() }
    }

    /// Checks each certificate.
    pub(crate) fn look(&mut self) {
        for state in self.links.iter().filter_map(|link| link.state()) {
            if let Some(until) = state.certificate_until {
                self.told.tell(&state.acquirer, until, self.clock.now());
            }
        }
    }
}

/// State of a certificate, by its expiry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    Good,
    EndsSoon,
    Ended,
}

impl Age {
    fn of(until: Timestamp, now: Timestamp) -> Self {
        match until.millis().saturating_sub(now.millis()) {
            ..=0 => Self::Ended,
            1..=ENDS_SOON_MS => Self::EndsSoon,
            _ => Self::Good,
        }
    }
}

/// Last reported state of each certificate.
#[derive(Debug, Default)]
struct ReportedAges(HashMap<AcquirerName, Age>);

impl ReportedAges {
    /// Logs a certificate whose state has changed. Returns true if it logged one.
    fn tell(&mut self, acquirer: &AcquirerName, until: Timestamp, now: Timestamp) -> bool {
        let age = Age::of(until, now);
        let before = self.0.insert(acquirer.clone(), age).unwrap_or(Age::Good);
        // Logged only when the state changes: the same line every minute would bury everything else.
        if before == age {
            return false;
        }
        match age {
            Age::Good => tracing::info!(%acquirer, %until, "our certificate for an acquirer was renewed"),
            Age::EndsSoon => {
                tracing::warn!(%acquirer, %until, "our certificate for an acquirer expires soon")
            }
            Age::Ended => tracing::warn!(%acquirer, %until, "our certificate for an acquirer has expired"),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_told_once_a_month_before_once_when_it_has_come_and_once_when_it_is_renewed() {
        let mut told = ReportedAges::default();
        let bank = AcquirerName::new("bank");
        let end = Timestamp::from_millis(ENDS_SOON_MS * 2);
        let mut tell = |until: Timestamp, now_ms| told.tell(&bank, until, Timestamp::from_millis(now_ms));
        assert!(!tell(end, ENDS_SOON_MS - 1), "there is time");
        assert!(tell(end, ENDS_SOON_MS) && !tell(end, ENDS_SOON_MS + 60_000));
        assert!(tell(end, end.millis()) && !tell(end, end.millis() + 60_000));
        let renewed = Timestamp::from_millis(end.millis() * 2);
        assert!(tell(renewed, end.millis()) && !tell(renewed, end.millis()));
    }
}
