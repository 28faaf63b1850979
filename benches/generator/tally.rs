//! Tally of answers, and of their latencies.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::connection::Answer;
use crate::plan::Step;

/// Largest latency that is recorded: the range is from a microsecond to two minutes, with three digits.
const LONGEST_US: u64 = 120_000_000;

/// Counts and latencies of one run.
pub(crate) struct Tally {
    creations: Histogram<u64>,
    reads: Histogram<u64>,
    by_status: BTreeMap<u16, u64>,
    errors: BTreeMap<String, u64>,
}

impl Tally {
    /// Creates an empty tally.
    ///
    /// # Errors
    /// None that is known.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let creations = histogram()?;
        let reads = histogram()?;
        Ok(Self { creations, reads, by_status: BTreeMap::new(), errors: BTreeMap::new() })
    }

    /// Records an answer.
    pub(crate) fn answered(&mut self, step: Step, answer: &Answer, latency: Duration) {
        *self.by_status.entry(answer.status).or_default() += 1;
        let histogram = match step {
            Step::Create(_) => &mut self.creations,
            Step::Read(_) => &mut self.reads,
        };
        record(histogram, latency);
    }

    /// Records a request without an answer.
    pub(crate) fn failed(&mut self, error: &anyhow::Error) {
        *self.errors.entry(error.to_string()).or_default() += 1;
    }

    /// Returns the number of requests that were answered with 200 or 201.
    pub(crate) fn good(&self) -> u64 {
        [200, 201].iter().filter_map(|status| self.by_status.get(status)).sum()
    }

    /// Returns the figures.
    pub(crate) fn report(&self) -> Value {
        json!({
            "by_status": self.by_status,
            "errors": self.errors,
            "create_us": quantiles(&self.creations),
            "read_us": quantiles(&self.reads),
        })
    }
}

/// Creates an empty histogram.
///
/// # Errors
/// None that is known.
pub(crate) fn histogram() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, LONGEST_US, 3)?)
}

/// Records a time.
pub(crate) fn record(histogram: &mut Histogram<u64>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_micros()).unwrap_or(LONGEST_US));
}

/// Returns the usual quantiles; null if nothing was recorded.
pub(crate) fn quantiles(histogram: &Histogram<u64>) -> Value {
    if histogram.is_empty() {
        return Value::Null;
    }
    json!({
        "p50": histogram.value_at_quantile(0.5),
        "p90": histogram.value_at_quantile(0.9),
        "p99": histogram.value_at_quantile(0.99),
        "p99.9": histogram.value_at_quantile(0.999),
        "max": histogram.max(),
    })
}
