//! Retention of personal data: what is old enough is erased by one of the nodes, and removed from every memory.

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

/// Rhythm of looks for payments that have rested long enough: five lookups along an index of resting payments.
pub(crate) const RETENTION: Rhythm =
    Rhythm { name: JobName::Retention, every: Duration::from_secs(15), first_after: Duration::from_secs(15) };

/// Wait after payments that can't be read. They stay, and are not looked at all the time.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(3_600);

/// Time after which a paid payment is finished.
pub(crate) const PAID_FOR_MS: u64 = 180 * DAY_MS;

/// Rhythm of looks for payers that another process has erased.
pub(crate) const ERASURES: Rhythm =
    Rhythm { name: JobName::Erasures, every: Duration::from_secs(1), first_after: Duration::ZERO };

/// Time within which an erased payer disappears from the memory of every running service.
pub(crate) const FORGOTTEN_WITHIN: Duration = Duration::from_secs(2);

/// Periodic erasure of payers that were kept for long enough.
pub(crate) struct RetentionRunner {
    /// Absent where payers are kept for ever.
    retention: Option<Retention>,
    erased: IntCounter,
}

impl RetentionRunner {
    /// Makes the erasure in this store, as it is configured.
    ///
    /// # Errors
    /// Fails if the metric is registered already.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn WholeStore>,
        audit: Arc<dyn AuditEraser>,
        clock: Arc<dyn Clock>,
        registry: &Registry,
    ) -> prometheus::Result<Self> {
        let erased = IntCounter::new(
            "quita_payers_erased_total",
            "Payments whose payer was erased because it was kept for as long as it may be",
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

    /// Erases due payers.
    pub(crate) async fn pass(&mut self) -> Pass {
        let Some(retention) = &mut self.retention else { return Pass::from(Ok(())) };
        match retention.erase_due(|erased| self.erased.inc_by(erased)).await {
            Ok(ErasureTally { erased: 0, left: 0, .. }) => Pass::from(Ok(())),
            Ok(ErasureTally { erased, left, .. }) => {
                tracing::info!(erased, left, "payers were erased that were kept for long enough");
                // What is left can't be read and stays due, so the usual rhythm would try it every 15 seconds for ever.
                if left > 0 { Pass::again_in(Ok(()), LOOK_AGAIN_AFTER) } else { Pass::from(Ok(())) }
            }
            Err(error) => {
                tracing::warn!(%error, "payers that were kept for long enough could not be erased; it is tried again");
                Pass::from(Err(error.to_string()))
            }
        }
    }
}

/// Makes this process forget payments whose payers were erased, by itself or by another process.
pub(crate) async fn follow_erasures(follower: &mut ErasureFollower) -> JobOutcome {
    follower.follow().await.map(drop).map_err(|denied| {
        tracing::debug!(%denied, "payers that were erased could not be forgotten; it is tried again");
        denied.to_string()
    })
}
