//! The nightly comparison of acquirers' lists with the payments. [`Nights`] decides what is due, and records what was
//! done. This loop calls it often.

use std::sync::Arc;
use std::time::Duration;

use quita_actors::{List, Nights, Operators, Reconciler};
use quita_ports::{Clock, WholeStore};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use crate::acquirers::Link;
use quita_config::Config;

/// Interval between looks at the clock. The first look is one interval after the start.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Daily comparison of acquirers' lists.
pub(crate) struct Nightly {
    /// Schedule of comparisons; absent where nothing is compared automatically.
    nights: Option<Nights>,
    links: Vec<Arc<Link>>,
}

impl Nightly {
    /// Compares with the payments in this store, at the configured time.
    pub(crate) fn new(
        config: &Config,
        store: Arc<dyn WholeStore>,
        clock: Arc<dyn Clock>,
        (links, operators): (Vec<Arc<Link>>, Operators),
    ) -> Self {
        let askable = links.iter().map(|link| link.config().spec.name);
        let reconciler = Reconciler::new(store.clone(), Arc::clone(&clock), askable);
        let nights = config.reconcile_at.map(|at| {
            let count = Box::new(move |kind| operators.count_exception(kind));
            Nights::new(reconciler, (store, clock), (at, Uuid::now_v7()), count)
        });
        Self { nights, links }
    }

    /// Runs due comparisons, for ever.
    pub(crate) async fn run(self) {
        let Self { nights: Some(mut nights), links } = self else { return };
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            for link in &links {
                let spec = link.config().spec;
                if let Some(reader) = link.factory().lists() {
                    nights
                        .pass(&List { acquirer: spec.name, reader, rate: spec.rate, mode: spec.mode })
                        .await;
                }
            }
        }
    }
}
