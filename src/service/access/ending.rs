//! Number of keys that end soon, as a metric: monitoring can warn before a shop's calls are refused.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{IntGaugeVec, Opts, Registry};
use quita_domain::identity::Mode;
use quita_ports::{Clock, KeyringStore, StoreError};

use crate::jobs::{JobName, JobOutcome, Rhythm};

/// Rhythm of counts.
pub(crate) const ENDING_KEYS: Rhythm =
    Rhythm { name: JobName::EndingKeys, every: Duration::from_secs(60), first_after: Duration::ZERO };

/// Latest count of the keys that work and end within 30 days.
#[derive(Clone)]
pub(crate) struct EndingKeyCount(IntGaugeVec);

impl EndingKeyCount {
    /// Returns the count of both modes.
    pub(crate) fn get(&self) -> i64 {
        [Mode::Test, Mode::Live].map(|mode| self.0.with_label_values(&[mode.as_str()]).get()).iter().sum()
    }
}

/// Counter of the keys that work and end within 30 days.
pub(crate) struct EndingKeys {
    store: Arc<dyn KeyringStore>,
    clock: Arc<dyn Clock>,
    gauge: IntGaugeVec,
}

impl EndingKeys {
    /// Registers the metric.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub(crate) fn register(
        store: Arc<dyn KeyringStore>,
        clock: Arc<dyn Clock>,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        let options =
            Opts::new("quita_api_keys_ending_soon", "API keys that work and end within 30 days, by mode");
        let gauge = IntGaugeVec::new(options, &["mode"])?;
        registry.register(Box::new(gauge.clone()))?;
        Ok(Self { store, clock, gauge })
    }

    /// Returns a handle to the latest count.
    pub(crate) fn last_count(&self) -> EndingKeyCount {
        EndingKeyCount(self.gauge.clone())
    }

    /// Counts the keys that end soon.
    pub(crate) async fn pass(&self) -> JobOutcome {
        self.count().await.map_err(|error| {
            tracing::debug!(%error, "the keys that end soon could not be counted; it is done later");
            error.to_string()
        })
    }

    async fn count(&self) -> Result<(), StoreError> {
        let (keys, now) = (self.store.keys().await?, self.clock.now());
        for mode in [Mode::Test, Mode::Live] {
            let ending = keys.iter().filter(|key| key.owner.mode == mode && key.ends_soon(now).is_some());
            let count = i64::try_from(ending.count()).unwrap_or(i64::MAX);
            self.gauge.with_label_values(&[mode.as_str()]).set(count);
        }
        Ok(())
    }
}
