//! The nightly comparison: what acquirers list of the day before, held against the payments, by one node of all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{Days, NaiveDate, NaiveTime};
use quita_actors::{List, NotReconciled, Operators, Reconciler};
use quita_domain::identity::AcquirerName;
use quita_domain::reconciliation::{ReconciliationKind, Source, StoredLine, Verdict};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{Clock, RunClaim, StoreError, WholeStore};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use crate::acquirers::Link;
use quita_config::Config;

/// How often it is looked whether it is time. The first time that long after the start.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// How long a claim to a day holds: what a node that died has begun, or what could not be finished, is begun again then.
const LEASE_MS: u64 = 15 * 60_000;

/// How long after a failure of the store a claim is tried again.
const AFTER_FAILURE_MS: u64 = 60_000;

/// How often the claim is made anew while a comparison goes on.
const RENEW_EVERY: Duration = Duration::from_secs(5 * 60);

/// Compares the lists of acquirers once a day.
pub(crate) struct Nightly {
    reconciler: Reconciler,
    store: Arc<dyn WholeStore>,
    clock: Arc<dyn Clock>,
    links: Vec<Arc<Link>>,
    operators: Operators,
    /// When, in Brasília; never when absent.
    at: Option<NaiveTime>,
    /// This process among those on the store.
    node: Uuid,
}

/// What a comparison came to.
#[derive(Debug, Default)]
struct Outcome {
    lines: u64,
    differing: u64,
    /// Lines whose acquirers have not answered yet.
    open: u64,
}

impl Nightly {
    /// Compares with what is in this store, at the configured time.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        (links, operators): (Vec<Arc<Link>>, Operators),
    ) -> Self {
        let askable = links.iter().map(|link| link.config().spec.name);
        let reconciler = Reconciler::new(store.clone(), Arc::clone(&clock), askable);
        Self { reconciler, store, clock, links, operators, at: config.reconcile_at, node: Uuid::now_v7() }
    }

    /// Looks again and again whether it is time.
    pub(crate) async fn run(self) {
        let Some(at) = self.at else { return };
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        // When a day of an acquirer is looked at again, so that the store is not asked all day long.
        let mut put_off: BTreeMap<AcquirerName, (NaiveDate, Timestamp)> = BTreeMap::new();
        loop {
            ticks.tick().await;
            let (now, day) = (self.clock.now(), last_day(self.clock.now(), at));
            for link in &self.links {
                let acquirer = link.config().spec.name;
                if put_off.get(&acquirer).is_some_and(|(known, until)| *known == day && now < *until) {
                    continue;
                }
                let wait_ms = self.compare(link, day).await;
                put_off.insert(acquirer, (day, self.clock.now().plus_ms(wait_ms)));
            }
        }
    }

    /// Compares an acquirer's list of a day, if it has lists and nobody else does so or has done so. Tells in how many
    /// milliseconds it is worth looking again.
    async fn compare(&self, link: &Link, day: NaiveDate) -> u64 {
        let spec = link.config().spec;
        let Some(reader) = link.factory().lists() else { return DAY_MS };
        let list = List { acquirer: spec.name.clone(), reader, rate: spec.rate };
        let acquirer = spec.name;
        match self.store.claim_run(&self.claim(&list, day)).await {
            Ok(true) => {}
            Ok(false) => return LEASE_MS,
            Err(error) => {
                tracing::debug!(%acquirer, %error, "a comparison could not be claimed");
                return AFTER_FAILURE_MS;
            }
        }
        let reconciler = self.reconciler.clone().of_mode(spec.mode);
        match self.compare_claimed(&reconciler, &list, day).await {
            Ok(Outcome { lines, differing, open: 0 }) => {
                tracing::info!(%acquirer, %day, lines, differing, "an acquirer's list was compared");
                if let Err(error) = self.finish(&list, day).await {
                    tracing::warn!(%acquirer, %error, "a comparison could not be finished; it is made again");
                    return AFTER_FAILURE_MS;
                }
                return DAY_MS;
            }
            Ok(Outcome { lines, differing, open }) => tracing::info!(
                %acquirer, %day, lines, differing, open,
                "an acquirer's list was compared; of some lines it did not answer, and is asked again"
            ),
            Err(error) => tracing::warn!(
                %acquirer, %day, %error, "an acquirer's list could not be compared; it is tried again"
            ),
        }
        LEASE_MS
    }

    async fn compare_claimed(
        &self,
        reconciler: &Reconciler,
        list: &List,
        day: NaiveDate,
    ) -> Result<Outcome, NotReconciled> {
        let mut outcome = Outcome::default();
        let mut count = |stored: &StoredLine| {
            let Some(judged) = &stored.judged else { return Ok(()) };
            let is_matched = judged.finding.verdict() == Verdict::Matched;
            outcome.lines = outcome.lines.saturating_add(1);
            outcome.differing = outcome.differing.saturating_add(u64::from(!is_matched));
            outcome.open = outcome.open.saturating_add(u64::from(!judged.is_final));
            if let Some(kind) = ReconciliationKind::of(&judged.finding).filter(|_| judged.is_final) {
                self.operators.count_exception(kind);
            }
            Ok(())
        };
        let run = reconciler.reconcile_list(list, (day, day), &mut count);
        let result = tokio::select! {
            done = run => done,
            () = self.renew(list, day) => Ok(()),
        };
        result.map(|()| outcome)
    }

    /// Makes the claim anew, again and again.
    async fn renew(&self, list: &List, day: NaiveDate) {
        let mut ticks = interval(RENEW_EVERY);
        loop {
            ticks.tick().await;
            if let Err(error) = self.store.claim_run(&self.claim(list, day)).await {
                tracing::debug!(%error, "a claim could not be made anew; it is tried again");
            }
        }
    }

    async fn finish(&self, list: &List, day: NaiveDate) -> Result<(), StoreError> {
        self.store.finish_run(&self.claim(list, day)).await
    }

    fn claim(&self, list: &List, day: NaiveDate) -> RunClaim {
        let now = self.clock.now();
        let source = Source::list_of(&list.acquirer);
        RunClaim { source, day, node: self.node, now, until: now.plus_ms(LEASE_MS) }
    }
}

/// The last day in Brasília whose turn has come: yesterday, or before the time of day the day before that.
fn last_day(now: Timestamp, at: NaiveTime) -> NaiveDate {
    let local = now.in_sao_paulo();
    let back = Days::new(if local.time() >= at { 1 } else { 2 });
    local.date().checked_sub_days(back).unwrap_or(NaiveDate::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_has_its_turn_on_the_next_one_at_the_time_of_brasilia() {
        let at = NaiveTime::from_hms_opt(5, 0, 0).unwrap();
        for (now, day) in [
            ("2026-11-23T07:59:59Z", "2026-11-21"),
            ("2026-11-23T08:00:00Z", "2026-11-22"),
            ("2026-11-24T02:59:59Z", "2026-11-22"),
            ("2026-11-24T03:00:00Z", "2026-11-22"),
            ("2026-11-24T08:00:00Z", "2026-11-23"),
        ] {
            assert_eq!(last_day(Timestamp::parse(now).unwrap(), at).to_string(), day, "{now}");
        }
    }
}
