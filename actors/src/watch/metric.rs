//! Construction of metrics: histogram buckets and registration.

use prometheus::core::Collector;
use prometheus::{HistogramOpts, Registry};

/// Buckets for durations from microseconds to seconds.
pub(crate) const SECONDS: [f64; 14] =
    [0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0];
/// Buckets for durations of up to a day.
pub(crate) const LONG_SECONDS: [f64; 12] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0, 3_600.0, 86_400.0];
/// Buckets for counts of writes.
pub(crate) const COUNTS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// Returns the options of a histogram of durations from microseconds to seconds.
pub(crate) fn seconds(name: &str, help: &str) -> HistogramOpts {
    HistogramOpts::new(name, help).buckets(SECONDS.to_vec())
}

/// Registers a metric.
pub(crate) fn enter<C: Collector + Clone + 'static>(
    registry: &Registry,
    metric: C,
) -> Result<C, prometheus::Error> {
    registry.register(Box::new(metric.clone()))?;
    Ok(metric)
}
