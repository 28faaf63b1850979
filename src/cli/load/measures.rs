//! What is measured: answers by status, latencies, and both over time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::{CreationError, Histogram};
use serde::Serialize;

/// The longest time that is told apart: ten minutes.
const MAX_US: u64 = 600_000_000;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// A call of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Call {
    /// `POST /pay/payments`.
    Create,
    /// `GET /pay/payments/{id}`, right after.
    Read,
    /// The same, when the run is over.
    Check,
}

impl Call {
    /// As the report spells it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Check => "check",
        }
    }
}

impl Slice {
    /// How many a second, from how many came in this slice.
    pub(super) fn per_second(&self, count: u64) -> u64 {
        count.saturating_mul(1_000) / self.length_ms.max(1)
    }
}

/// The measures of one run.
#[derive(Debug)]
pub(super) struct Measures {
    /// Answers by call and status; no status is no answer.
    pub(super) answers: BTreeMap<(Call, Option<u16>), u64>,
    /// From the intended start of a creation to the end of its answer.
    pub(super) create: Histogram<u64>,
    /// The same of a read.
    pub(super) read: Histogram<u64>,
    /// From the time of an event to its first arrival.
    pub(super) event: Histogram<u64>,
    /// From the intended start of a creation to its start: the load tester's own delay.
    pub(super) late: Histogram<u64>,
    /// Webhooks by what became of them.
    pub(super) webhooks: Webhooks,
    /// Creations that were due while too much was under way.
    pub(super) skipped: u64,
    /// What was measured in each slice of time.
    pub(super) timeline: Vec<Slice>,
    slice: Slice,
    slice_create: Histogram<u64>,
    slice_event: Histogram<u64>,
    slice_began: Instant,
}

/// Webhooks by what became of them.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhooks {
    /// All that came.
    pub(super) received: u64,
    /// Refused on purpose.
    pub(super) refused: u64,
    /// Those that were no event, or had no id.
    pub(super) unreadable: u64,
}

/// What was measured in one slice of time. Latencies in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Slice {
    /// When it ended, from the start of the run.
    pub(super) end_ms: u64,
    /// How long it was.
    pub(super) length_ms: u64,
    /// Payments made.
    pub(super) creates: u64,
    /// Payments read.
    pub(super) reads: u64,
    /// Webhooks received.
    pub(super) events: u64,
    /// Calls with any other outcome.
    pub(super) failures: u64,
    /// Median of the creations.
    pub(super) create_p50: u64,
    /// 99th percentile of the creations.
    pub(super) create_p99: u64,
    /// Median from event to delivery.
    pub(super) event_p50: u64,
    /// 99th percentile from event to delivery.
    pub(super) event_p99: u64,
}

impl Measures {
    pub(super) fn new(start: Instant) -> Result<Self, CreationError> {
        let histogram = || Histogram::new_with_bounds(1, MAX_US, DIGITS);
        Ok(Self {
            answers: BTreeMap::new(),
            create: histogram()?,
            read: histogram()?,
            event: histogram()?,
            late: histogram()?,
            webhooks: Webhooks::default(),
            skipped: 0,
            timeline: Vec::new(),
            slice: Slice::default(),
            slice_create: histogram()?,
            slice_event: histogram()?,
            slice_began: start,
        })
    }

    /// Notes the answer to a call, or that there was none.
    pub(super) fn answered(&mut self, call: Call, status: Option<u16>, latency: Duration) {
        *self.answers.entry((call, status)).or_default() += 1;
        let latency_us = micros(latency);
        match (call, is_good(call, status)) {
            (Call::Create, true) => {
                self.slice.creates += 1;
                self.create.saturating_record(latency_us);
                self.slice_create.saturating_record(latency_us);
            }
            (Call::Read, true) => {
                self.slice.reads += 1;
                self.read.saturating_record(latency_us);
            }
            (Call::Check, true) => {}
            (_, false) => self.slice.failures += 1,
        }
    }

    /// Notes how long an event was on its way.
    pub(super) fn delivered(&mut self, after_ms: u64) {
        let after_us = after_ms.saturating_mul(1_000);
        self.event.saturating_record(after_us);
        self.slice_event.saturating_record(after_us);
    }

    /// Notes a webhook.
    pub(super) fn received(&mut self) {
        self.webhooks.received += 1;
        self.slice.events += 1;
    }

    /// Ends a slice of time, and gives it.
    pub(super) fn end_slice(&mut self, since_start: Duration, now: Instant) -> Slice {
        let length = now.saturating_duration_since(self.slice_began);
        let slice = Slice {
            end_ms: millis(since_start),
            length_ms: millis(length).max(1),
            create_p50: quantile(&self.slice_create, 0.5),
            create_p99: quantile(&self.slice_create, 0.99),
            event_p50: quantile(&self.slice_event, 0.5),
            event_p99: quantile(&self.slice_event, 0.99),
            ..self.slice
        };
        self.timeline.push(slice);
        self.slice = Slice::default();
        self.slice_create.reset();
        self.slice_event.reset();
        self.slice_began = now;
        slice
    }

    /// How many calls had this outcome.
    pub(super) fn count(&self, wanted: impl Fn(Call, Option<u16>) -> bool) -> u64 {
        let matching = self.answers.iter().filter(|((call, status), _)| wanted(*call, *status));
        matching.map(|(_, count)| count).sum()
    }
}

/// Whether a call was answered as it should be.
pub(super) fn is_good(call: Call, status: Option<u16>) -> bool {
    match call {
        Call::Create => matches!(status, Some(200 | 201)),
        Call::Read | Call::Check => status == Some(200),
    }
}

/// The value below which this share lies, in microseconds; 0 if nothing was measured.
pub(super) fn quantile(histogram: &Histogram<u64>, share: f64) -> u64 {
    histogram.value_at_quantile(share).min(histogram.max())
}

/// Whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
