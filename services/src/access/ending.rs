//! Number of keys that end soon, as a metric: monitoring can warn before a shop's calls are refused.

use std::sync::Arc;

use prometheus::{IntGaugeVec, Opts, Registry};
use quita_domain::identity::Mode;
use quita_ports::{Clock, KeyringStore, StoreError};

/// Latest count of the keys that work and end within 30 days.
#[derive(Clone)]
pub struct EndingKeyCount(IntGaugeVec);

impl EndingKeyCount {
    /// Returns the count of both modes.
    pub fn get(&self) -> i64 {
        [Mode::Test, Mode::Live].map(|mode| self.0.with_label_values(&[mode.as_str()]).get()).iter().sum()
    }
}

/// Counter of the keys that work and end within 30 days.
pub struct EndingKeys {
    store: Arc<dyn KeyringStore>,
    clock: Arc<dyn Clock>,
    gauge: IntGaugeVec,
}

impl EndingKeys {
    /// Registers the metric.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub fn register(
        store: Arc<dyn KeyringStore>,
        clock: Arc<dyn Clock>,
        registry: &Registry,
    ) -> Result<Self, prometheus::Error> {
        let options =
            Opts::new("quita_api_keys_ending_soon", "Valid API keys that expire within 30 days, by mode");
        let gauge = IntGaugeVec::new(options, &["mode"])?;
        registry.register(Box::new(gauge.clone()))?;
        Ok(Self { store, clock, gauge })
    }

    /// Returns a handle to the latest count.
    pub fn last_count(&self) -> EndingKeyCount {
        EndingKeyCount(self.gauge.clone())
    }

    /// Counts the keys that end soon.
    ///
    /// # Errors
    /// [`StoreError`]; the last count stays.
    pub async fn count(&self) -> Result<(), StoreError> {
        let keys = self.store.keys().await?;
        let now = self.clock.now();
        for mode in [Mode::Test, Mode::Live] {
            let ending = keys.iter().filter(|key| key.owner.mode == mode && key.ends_soon(now).is_some());
            let count = i64::try_from(ending.count()).unwrap_or(i64::MAX);
            self.gauge.with_label_values(&[mode.as_str()]).set(count);
        }
        Ok(())
    }
}
