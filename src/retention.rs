//! Retention of personal data: one of the nodes erases data that is old enough, and every node removes it from memory.

use std::sync::Arc;
use std::time::Duration;

use crate::jobs::{JobName, JobOutcome, Pass, Rhythm};
use prometheus::{IntCounter, Registry};
use quita_actors::ErasureFollower;
use quita_config::Config;
use quita_domain::time::{DAY_MS, millis_in};
use quita_machine::SystemIds;
use quita_ports::{AuditEraser, Clock, WholeStore};
use quita_services::erasure::ErasureTally;
use quita_services::retention::{KeptFor, Retention};

/// Schedule of the search for payments that have long been at rest: five lookups in an index of resting payments.
pub(crate) const RETENTION: Rhythm =
    Rhythm { name: JobName::Retention, every: Duration::from_secs(15), first_after: Duration::from_secs(15) };

/// Wait after payments that can't be read. They stay due, but must not be retried all the time.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(3_600);

/// Time after which a paid payment is finished.
pub(crate) const PAID_FOR_MS: u64 = 180 * DAY_MS;

/// Schedule of the search for payers that another process has erased.
pub(crate) const ERASURES: Rhythm =
    Rhythm { name: JobName::Erasures, every: Duration::from_secs(1), first_after: Duration::ZERO };

/// Time within which an erased payer disappears from the memory of every running service.
pub(crate) const FORGOTTEN_WITHIN: Duration = Duration::from_secs(2);

/// Periodic erasure of payers that were kept long enough.
pub(crate) struct RetentionRunner {
    /// Absent if payers are kept forever.
    retention: Option<Retention>,
    erased: IntCounter,
}

impl RetentionRunner {
    /// Creates the erasure in this store, as configured.
    ///
    /// # Errors
    /// Fails if the metric is already registered.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn WholeStore>,
        audit: Arc<dyn AuditEraser>,
        clock: Arc<dyn Clock>,
        registry: &Registry,
    ) -> prometheus::Result<Self> {
        let erased = IntCounter::new(
            "quita_payers_erased_total",
            "Payments whose payer was erased at the end of the retention period",
        )?;
        registry.register(Box::new(erased.clone()))?;
        let retention = config.retain_personal_data.map(|kept_for| {
            let kept_for = KeptFor { rested_ms: millis_in(kept_for), paid_ms: PAID_FOR_MS };
            Retention::new(store, audit, clock, Arc::new(SystemIds), kept_for)
        });
        Ok(Self { retention, erased })
    }

    /// Returns true if payers are erased automatically.
    pub(crate) const fn is_needed(&self) -> bool {
        self.retention.is_some()
    }

    /// Erases payers that are due.
    pub(crate) async fn pass(&mut self) -> Pass {
        let Some(retention) = &mut self.retention else { return Pass::from(Ok(())) };
        match retention.erase_due(|erased| self.erased.inc_by(erased)).await {
            Ok(ErasureTally { erased: 0, left: 0, .. }) => Pass::from(Ok(())),
            Ok(ErasureTally { erased, left, .. }) => {
                tracing::info!(erased, left, "payers were erased at the end of their retention period");
                // The rest can't be read and stays due, so the usual schedule would retry it every 15 seconds forever.
                if left > 0 { Pass::again_in(Ok(()), LOOK_AGAIN_AFTER) } else { Pass::from(Ok(())) }
            }
            Err(error) => {
                tracing::warn!(%error, "payers at the end of their retention period could not be erased; this will be retried");
                Pass::from(Err(error.to_string()))
            }
        }
    }
}

/// Removes payments whose payers were erased, by this or another process, from this process's memory.
pub(crate) async fn follow_erasures(follower: &mut ErasureFollower) -> JobOutcome {
    follower.follow().await.map(drop).map_err(|denied| {
        tracing::debug!(%denied, "erased payers could not be removed from memory; this will be retried");
        denied.to_string()
    })
}
