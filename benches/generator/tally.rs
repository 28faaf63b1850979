//! Tally of answers, and of their latencies.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::connection::Answer;
use crate::plan::Step;

/// Latencies from a microsecond to two minutes, to three digits.
const LONGEST_US: u64 = 120_000_000;

/// Counts and latencies of one run.
pub(crate) struct Tally {
    creations: Histogram<u64>,
    reads: Histogram<u64>,
    by_status: BTreeMap<u16, u64>,
    errors: BTreeMap<String, u64>,
}

impl Tally {
    /// Nothing yet.
    ///
    /// # Errors
    /// None that is known.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let creations = histogram()?;
        let reads = histogram()?;
        Ok(Self { creations, reads, by_status: BTreeMap::new(), errors: BTreeMap::new() })
    }

    /// Notes an answer.
    pub(crate) fn answered(&mut self, step: Step, answer: &Answer, latency: Duration) {
        *self.by_status.entry(answer.status).or_default() += 1;
        let histogram = match step {
            Step::Create(_) => &mut self.creations,
            Step::Read(_) => &mut self.reads,
        };
        record(histogram, latency);
    }

    /// Notes a request without an answer.
    pub(crate) fn failed(&mut self, error: &anyhow::Error) {
        *self.errors.entry(error.to_string()).or_default() += 1;
    }

    /// Returns the number of requests that were answered with 200 or 201.
    pub(crate) fn good(&self) -> u64 {
        [200, 201].iter().filter_map(|status| self.by_status.get(status)).sum()
    }

    /// The figures.
    pub(crate) fn report(&self) -> Value {
        json!({
            "by_status": self.by_status,
            "errors": self.errors,
            "create_us": quantiles(&self.creations),
            "read_us": quantiles(&self.reads),
        })
    }
}

/// An empty histogram.
///
/// # Errors
/// None that is known.
pub(crate) fn histogram() -> anyhow::Result<Histogram<u64>> {
    Ok(Histogram::new_with_bounds(1, LONGEST_US, 3)?)
}

/// Notes a time.
pub(crate) fn record(histogram: &mut Histogram<u64>, time: Duration) {
    histogram.saturating_record(u64::try_from(time.as_micros()).unwrap_or(LONGEST_US));
}

/// The usual quantiles, or nothing if nothing was noted.
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
