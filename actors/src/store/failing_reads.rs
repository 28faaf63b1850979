//! Reads that fail while the store otherwise answers. They are tracked separately from probes: data may be damaged or
//! forbidden although the server answers.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::time::Timestamp;
use quita_ports::StoreError;
use tokio::time::Instant;

use crate::store::state::is_broken;

/// Time of failing reads without a success after which they count as a trouble, although the store answers probes.
const READS_FAIL_FOR: Duration = Duration::from_secs(60);
/// Time after which failing reads are logged. By then the beginning of an outage has its own log line.
const READS_LOGGED_AFTER: Duration = Duration::from_secs(10);
/// Longest interval between log lines about failing reads.
const READS_LOGGED_EVERY: Duration = Duration::from_secs(60);

/// Reads that fail while the store otherwise answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingReads {
    /// Time since which no read has succeeded.
    pub since: Timestamp,
    /// Error of the last one.
    pub why: Arc<str>,
    /// True if some data is damaged. This lasts until a restart, however many other reads succeed.
    pub is_damage: bool,
}

/// Reads that failed since the last one that succeeded.
#[derive(Debug, Default)]
pub(super) struct FailedReads {
    failing: Option<(Instant, FailingReads)>,
    logged_at: Option<Instant>,
}

impl FailedReads {
    /// Ends them: a read succeeded. Damage stays.
    pub(super) fn end(&mut self) {
        self.failing.take_if(|(_, failing)| !failing.is_damage);
    }

    /// Records a failure. Returns true if a log line about it is due.
    pub(super) fn add(&mut self, now: Instant, since: Timestamp, error: &StoreError) -> bool {
        let is_new_damage =
            is_broken(error) && !self.failing.as_ref().is_some_and(|(_, failing)| failing.is_damage);
        let (begun_at, failing) = self
            .failing
            .get_or_insert_with(|| (now, FailingReads { since, why: "".into(), is_damage: false }));
        if is_new_damage {
            (*begun_at, failing.since, failing.is_damage) = (now, since, true);
        }
        if is_new_damage || !failing.is_damage {
            failing.why = error.to_string().into();
        }
        let was_logged =
            self.logged_at.is_some_and(|at| now.saturating_duration_since(at) < READS_LOGGED_EVERY);
        let lasts = now.saturating_duration_since(*begun_at) >= READS_LOGGED_AFTER;
        let is_due = is_new_damage || lasts && !was_logged;
        if is_due {
            self.logged_at = Some(now);
        }
        is_due
    }

    /// Returns the failing reads once none has succeeded for a minute, or if data is damaged.
    pub(super) fn trouble(&self) -> Option<FailingReads> {
        let (begun_at, failing) = self.failing.as_ref()?;
        (failing.is_damage || begun_at.elapsed() >= READS_FAIL_FOR).then(|| failing.clone())
    }
}

/// Logs a read that failed while the store is not away.
pub(super) fn log(error: &StoreError) {
    if is_broken(error) {
        tracing::error!(%error, "data in the store is damaged: requests that need it are answered 503, and everything else continues");
    } else {
        tracing::warn!(%error, "store reads are failing while other calls succeed; logged once a minute");
    }
}
