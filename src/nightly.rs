//! The nightly comparison: what acquirers list, held against the payments. What is due and what was done is known by
//! [`Nights`]; here it is looked at often.

use std::sync::Arc;
use std::time::Duration;

use quita_actors::{List, Nights, Operators, Reconciler};
use quita_ports::{Clock, WholeStore};
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use crate::acquirers::Link;
use quita_config::Config;

/// How often it is looked whether it is time. The first time that long after the start.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Compares the lists of acquirers once a day.
pub(crate) struct Nightly {
    /// Absent where nothing is compared by itself.
    nights: Option<Nights>,
    links: Vec<Arc<Link>>,
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
        let nights = config.reconcile_at.map(|at| {
            let count = Box::new(move |kind| operators.count_exception(kind));
            Nights::new(reconciler, (store, clock), (at, Uuid::now_v7()), count)
        });
        Self { nights, links }
    }

    /// Looks again and again whether it is time.
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
