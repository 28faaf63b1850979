//! Nightly comparison of acquirers' lists with the payments. [`Nights`] decides which comparisons are due, and records
//! those that were done. This job calls it often.

use std::sync::Arc;
use std::time::Duration;

use quita_actors::Operators;
use quita_ports::{Clock, WholeStore};
use quita_services::reconciliation::{List, Nights, Reconciler};
use uuid::Uuid;

use crate::acquirers::Link;
use crate::jobs::{JobName, JobOutcome, Rhythm};
use quita_config::Config;

/// Schedule of checking the clock.
pub(crate) const NIGHTLY: Rhythm = Rhythm {
    name: JobName::NightlyComparison,
    every: Duration::from_secs(15),
    first_after: Duration::from_secs(15),
};

/// Separator of the failures in the result of a run.
pub(crate) const BETWEEN_FAILURES: &str = "; ";

/// Daily comparison of acquirers' lists.
pub(crate) struct Nightly {
    /// Schedule of comparisons; absent if nothing is compared automatically.
    nights: Option<Nights>,
    links: Vec<Arc<Link>>,
    operators: Operators,
}

impl Nightly {
    /// Creates the comparison with the payments in this store, at the configured time.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        links: Vec<Arc<Link>>,
        operators: Operators,
    ) -> Self {
        let askable = links.iter().map(|link| link.config().spec.name);
        let reconciler = Reconciler::new(store.clone(), Arc::clone(&clock), askable);
        let counter = operators.clone();
        let nights = config.reconcile_at.map(|at| {
            let count = Arc::new(move |kind| counter.count_exception(kind));
            Nights::new(reconciler, store, clock, at, Uuid::now_v7(), count)
        });
        Self { nights, links, operators }
    }

    /// Returns true if anything is compared automatically.
    pub(crate) const fn is_needed(&self) -> bool {
        self.nights.is_some()
    }

    /// Runs due comparisons, and reports failed ones to every node. Fails as long as a failed comparison has not
    /// succeeded.
    pub(crate) async fn pass(&mut self) -> JobOutcome {
        let Some(nights) = &mut self.nights else { return Ok(()) };
        for link in &self.links {
            let spec = link.config().spec;
            if let Some(reader) = link.factory().lists() {
                nights.pass(&List { acquirer: spec.name, reader, rate: spec.rate, mode: spec.mode }).await;
            }
        }
        let failures = nights.failures();
        let failure = (!failures.is_empty()).then(|| failures.join(BETWEEN_FAILURES));
        // Reported even without a failure; otherwise nodes would continue to show one that has passed.
        self.operators.report_comparison(failure.as_deref());
        failure.map_or(Ok(()), Err)
    }
}
