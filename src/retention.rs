//! Personal data that is old enough: erased by one node of all, and forgotten wherever it is remembered.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{IntCounter, Registry};
use quita_actors::{ErasureFollower, ErasureTally, KeptFor, Payments, Retention};
use quita_domain::time::{DAY_MS, millis_in};
use quita_machine::SystemIds;
use quita_ports::{AuditEraser, Clock, WholeStore};
use tokio::time::{MissedTickBehavior, interval, sleep};

use quita_config::Config;

/// How often it is looked whether any payment has rested for long enough: five lookups along an index of those that rest.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// What can't be read stays, and is not looked at all the time.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(3_600);

/// A paid payment is finished so long after it was paid.
pub(crate) const PAID_FOR_MS: u64 = 180 * DAY_MS;

/// How often it is looked which payers another process has erased.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// Within this time after a payer was erased nobody is told of it from the memory of a service that runs.
pub(crate) const FORGOTTEN_WITHIN: Duration = Duration::from_secs(2);

/// Erases payers that were kept for long enough, again and again.
pub(crate) struct RetentionRunner {
    /// Absent where they are kept for ever.
    retention: Option<Retention>,
    erased: IntCounter,
}

impl RetentionRunner {
    /// Over this store, as it is configured.
    ///
    /// # Errors
    /// If the metric is registered already.
    pub(crate) fn new(
        config: &Config,
        (store, audit): (Arc<dyn WholeStore>, Arc<dyn AuditEraser>),
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
            Retention::new((store, audit), (clock, Arc::new(SystemIds)), kept_for)
        });
        Ok(Self { retention, erased })
    }

    /// Looks again and again.
    pub(crate) async fn run(self) {
        let Some(mut retention) = self.retention else { return };
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            match retention.erase_due(|erased| self.erased.inc_by(erased)).await {
                Ok(ErasureTally { erased: 0, left: 0, .. }) => {}
                Ok(ErasureTally { erased, left, .. }) => {
                    tracing::info!(erased, left, "payers were erased that were kept for long enough");
                    if left > 0 {
                        sleep(LOOK_AGAIN_AFTER).await;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "payers that were kept for long enough could not be erased; it is tried again");
                }
            }
        }
    }
}

/// Lets this process forget payments whose payers were erased by another one, or by itself, in the store that it
/// remembers for true; those after this number.
pub(crate) async fn follow_erasures(store: Arc<dyn WholeStore>, payments: Payments, number: u64) {
    let mut follower = ErasureFollower::new(store, payments, number);
    if !follower.is_needed() {
        return;
    }
    let mut ticks = interval(FOLLOW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(denied) = follower.follow().await {
            tracing::debug!(%denied, "payers that were erased could not be forgotten; it is tried again");
        }
    }
}
