//! Personal data that is old enough: erased by one node of all, and forgotten wherever it is remembered.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{IntCounter, Registry};
use quita_actors::{Eraser, ErasureTally, Payments};
use quita_domain::payment::FINISHED_STATUSES;
use quita_domain::reconciliation::Source;
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, millis_in};
use quita_machine::SystemIds;
use quita_ports::{AuditEraser, Clock, RunClaim, StoreError, WholeStore};
use tokio::time::{MissedTickBehavior, interval, sleep};
use uuid::Uuid;

use quita_config::Config;

/// How often it is looked whether any payment has rested for long enough: five lookups along an index of those that rest.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// What can't be read stays, and is not looked at all the time.
const LOOK_AGAIN_AFTER: Duration = Duration::from_secs(3_600);

/// How long a claim holds. It is made anew with each step.
const LEASE_MS: u64 = 5 * 60_000;

/// A paid payment is finished so long after it was paid.
pub(crate) const PAID_FOR_MS: u64 = 180 * DAY_MS;

/// How often it is looked which payers another process has erased.
const FOLLOW_EVERY: Duration = Duration::from_secs(1);

/// Within this time after a payer was erased nobody is told of it from the memory of a service that runs.
pub(crate) const FORGOTTEN_WITHIN: Duration = Duration::from_secs(2);

/// Erased payments that are forgotten at once.
const FOLLOWED_AT_ONCE: usize = 500;

/// Erases payers that were kept for long enough.
pub(crate) struct Retention {
    eraser: Eraser,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    /// How long they are kept, in milliseconds; for ever when absent.
    kept_for_ms: Option<u64>,
    /// This process among those on the store.
    node: Uuid,
    erased: IntCounter,
    /// Whether what was erased may still be in the store's log.
    is_to_empty: bool,
}

impl Retention {
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
        let eraser =
            Eraser::new((store.clone(), audit), (Arc::clone(&clock), Arc::new(SystemIds)), PAID_FOR_MS);
        let erased = IntCounter::new(
            "quita_payers_erased_total",
            "Payments whose payer was erased because it was kept for as long as it may be",
        )?;
        registry.register(Box::new(erased.clone()))?;
        let kept_for_ms = config.retain_personal_data.map(millis_in);
        Ok(Self { eraser, store, clock, kept_for_ms, node: Uuid::now_v7(), erased, is_to_empty: false })
    }

    /// Looks again and again.
    pub(crate) async fn run(mut self) {
        let Some(kept_for_ms) = self.kept_for_ms else { return };
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            match self.erase(kept_for_ms).await {
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

    /// Erases all that may be, if there is any and nobody else does it.
    async fn erase(&mut self, kept_for_ms: u64) -> Result<ErasureTally, StoreError> {
        let mut tally = ErasureTally::default();
        for status in FINISHED_STATUSES {
            if self.eraser.has_resting(status, kept_for_ms).await? && self.claim(LEASE_MS).await? {
                tally = tally.plus(self.erase_all(status, kept_for_ms).await?);
            }
        }
        self.is_to_empty |= tally.erased > 0;
        if self.is_to_empty {
            self.claim(0).await?;
            self.eraser.forget_replaced().await?;
            self.is_to_empty = false;
        }
        Ok(tally)
    }

    async fn erase_all(&self, status: Status, kept_for_ms: u64) -> Result<ErasureTally, StoreError> {
        let (mut place, mut tally) = (None, ErasureTally::default());
        loop {
            let page = self.eraser.erase_page_of_resting(status, kept_for_ms, place).await?;
            self.erased.inc_by(page.tally.erased);
            tally = tally.plus(page.tally);
            place = page.next;
            if place.is_none() || !self.claim(LEASE_MS).await? {
                return Ok(tally);
            }
        }
    }

    /// Claims what is to be done for so long, or goes on claiming it.
    async fn claim(&self, for_ms: u64) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let (source, day) = (Source::personal_data(), chrono::NaiveDate::default());
        let claim = RunClaim { source, day, node: self.node, now, until: now.plus_ms(for_ms) };
        self.store.claim_run(&claim).await
    }
}

/// Lets this process forget payments whose payers were erased by another one, or by itself, in the store that it
/// remembers for true; those after this number.
pub(crate) async fn follow_erasures(store: Arc<dyn WholeStore>, payments: Payments, mut number: u64) {
    if !store.is_sole_writer() {
        return;
    }
    let mut ticks = interval(FOLLOW_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = follow(&*store, &payments, &mut number).await {
            tracing::debug!(error, "payers that were erased could not be forgotten; it is tried again");
        }
    }
}

async fn follow(store: &dyn WholeStore, payments: &Payments, number: &mut u64) -> Result<(), String> {
    loop {
        let erased =
            store.erased_after(*number, FOLLOWED_AT_ONCE).await.map_err(|error| error.to_string())?;
        for (each, id) in &erased {
            payments.forget(*id).await.map_err(|denied| denied.to_string())?;
            *number = *each;
        }
        if erased.len() < FOLLOWED_AT_ONCE {
            return Ok(());
        }
    }
}
