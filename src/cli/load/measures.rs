//! Measurements: replies by kind, latencies, and both over time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::{CreationError, Histogram};
use serde::Serialize;

use super::contact::Contact;
use super::plan::Method;
use super::reply::{NoAnswer, Reply};

/// Longest time that is recorded exactly: ten minutes.
const MAX_US: u64 = 600_000_000;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// Call of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Call {
    /// Creation: `POST /pay/payments`.
    Create,
    /// Read right after the creation: `GET /pay/payments/{id}`.
    Read,
    /// Read of the same address after the run.
    Check,
    /// Deliveries of a payment that lacks an event: `GET /pay/webhooks/deliveries`.
    Deliveries,
}

impl Call {
    /// Returns the name in the report.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Read => "read",
            Self::Check => "check",
            Self::Deliveries => "deliveries",
        }
    }
}

/// Creation: its method, and the stage in which it was due.
#[derive(Debug, Clone, Copy)]
pub(super) struct Creation {
    /// Method of payment.
    pub(super) method: Method,
    /// Number of the stage, from 0.
    pub(super) stage: usize,
}

/// Measures of one run.
#[derive(Debug)]
pub(super) struct Measures {
    /// Replies by call and kind.
    pub(super) replies: BTreeMap<(Call, Reply), u64>,
    /// Latency from the intended start of a creation to the end of its answer.
    pub(super) create: Histogram<u64>,
    /// Latency of creations for each method.
    pub(super) create_by_method: [Histogram<u64>; Method::ALL.len()],
    /// Latency of creations for each stage of the schedule.
    pub(super) create_by_stage: Vec<Histogram<u64>>,
    /// Latency from the start of a read to the end of its answer.
    pub(super) read: Histogram<u64>,
    /// Time from an event to its first arrival.
    pub(super) event: Histogram<u64>,
    /// Delay from the intended start of a creation to its start: the load tester's own delay.
    pub(super) late: Histogram<u64>,
    /// Time that a creation waited for one of the load tester's connections.
    pub(super) connection: Histogram<u64>,
    /// Webhooks by outcome.
    pub(super) webhooks: Webhooks,
    /// Creations that were due and were not sent.
    pub(super) skipped: u64,
    /// Measures of each slice of time.
    pub(super) timeline: Vec<Slice>,
    /// Times in which the service did not answer.
    pub(super) contact: Contact,
    slice: Slice,
    slice_create: Histogram<u64>,
    slice_event: Histogram<u64>,
    slice_began: Instant,
}

/// Webhooks by outcome.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhooks {
    /// Number received.
    pub(super) received: u64,
    /// Number refused on purpose.
    pub(super) refused: u64,
    /// Number that were not events, or had no id.
    pub(super) unreadable: u64,
}

/// Measures of one slice of time. Latencies are in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Slice {
    /// End of the slice, from the start of the run.
    pub(super) end_ms: u64,
    /// Length of the slice.
    pub(super) length_ms: u64,
    /// Payments created.
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

impl Slice {
    /// Returns the rate a second of a count in this slice.
    pub(super) fn per_second(&self, count: u64) -> u64 {
        count.saturating_mul(1_000) / self.length_ms.max(1)
    }
}

impl Measures {
    /// Creates empty measures of a run with this number of stages.
    pub(super) fn new(start: Instant, stages: usize) -> Result<Self, CreationError> {
        let histogram = || Histogram::new_with_bounds(1, MAX_US, DIGITS);
        Ok(Self {
            replies: BTreeMap::new(),
            create: histogram()?,
            create_by_method: [histogram()?, histogram()?, histogram()?],
            create_by_stage: (0..stages).map(|_| histogram()).collect::<Result<_, _>>()?,
            read: histogram()?,
            event: histogram()?,
            late: histogram()?,
            connection: histogram()?,
            webhooks: Webhooks::default(),
            skipped: 0,
            timeline: Vec::new(),
            contact: Contact::new(start),
            slice: Slice::default(),
            slice_create: histogram()?,
            slice_event: histogram()?,
            slice_began: start,
        })
    }

    /// Records the reply to a creation.
    pub(super) fn created(&mut self, creation: Creation, reply: Reply, latency: Duration) {
        self.replied(Call::Create, reply, latency);
        if !is_good(Call::Create, reply) {
            return;
        }
        let by_method = Method::ALL.into_iter().zip(&mut self.create_by_method);
        let of_method = by_method.filter(|(method, _)| *method == creation.method).map(|(_, times)| times);
        let of_stage = self.create_by_stage.get_mut(creation.stage);
        of_method.chain(of_stage).for_each(|times| times.saturating_record(micros(latency)));
    }

    /// Records the reply to any other call.
    pub(super) fn replied(&mut self, call: Call, reply: Reply, latency: Duration) {
        *self.replies.entry((call, reply)).or_default() += 1;
        let now = Instant::now();
        // A creation's latency counts from its intended start, so it may seem older than it is, and prove less.
        let began = now.checked_sub(latency).unwrap_or(now);
        self.contact.replied(reply, began, now, is_of_the_run(call));
        let latency_us = micros(latency);
        match (call, is_good(call, reply)) {
            (Call::Create, true) => {
                self.slice.creates += 1;
                self.create.saturating_record(latency_us);
                self.slice_create.saturating_record(latency_us);
            }
            (Call::Read, true) => {
                self.slice.reads += 1;
                self.read.saturating_record(latency_us);
            }
            (Call::Check | Call::Deliveries, true) => {}
            (_, false) => self.slice.failures += 1,
        }
    }

    /// Records the reply to a question whether the service answers at all. It is none of the measured calls.
    pub(super) fn probed(&mut self, reply: Reply, began: Instant) {
        self.contact.replied(reply, began, Instant::now(), false);
        if !matches!(reply, Reply::Status(_) | Reply::Missing(NoAnswer::Unreadable | NoAnswer::NoSocket)) {
            self.contact.confirm_loss();
        }
    }

    /// Records the delivery time of an event.
    pub(super) fn delivered(&mut self, after_ms: u64) {
        let after_us = after_ms.saturating_mul(1_000);
        self.event.saturating_record(after_us);
        self.slice_event.saturating_record(after_us);
    }

    /// Records a webhook.
    pub(super) fn received(&mut self) {
        self.webhooks.received += 1;
        self.slice.events += 1;
    }

    /// Ends a slice of time, and returns it.
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

    /// Returns the number of calls with such a reply.
    pub(super) fn count(&self, wanted: impl Fn(Call, Reply) -> bool) -> u64 {
        let matching = self.replies.iter().filter(|((call, reply), _)| wanted(*call, *reply));
        matching.map(|(_, count)| count).sum()
    }

    /// Counts the payments created.
    pub(super) fn creates(&self) -> u64 {
        self.count(|call, reply| call == Call::Create && is_good(call, reply))
    }

    /// Counts the creations and reads refused because of overload or of the key's rate limit.
    pub(super) fn refusals(&self) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && is_refusal(reply))
    }

    /// Counts the creations and reads without the answer that the contract promises.
    pub(super) fn failures(&self) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && !is_good(call, reply) && !is_refusal(reply))
    }

    /// Counts those failures that the service's absence explains, or a lack of sockets: they break no promise.
    pub(super) fn excused(&self) -> u64 {
        let unreached: u64 = NoAnswer::UNREACHED.map(|reason| self.unreached(reason)).iter().sum();
        unreached + self.contact.cut()
    }

    /// Counts the creations and reads that reached nobody for this reason.
    pub(super) fn unreached(&self, reason: NoAnswer) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && reply == Reply::Missing(reason))
    }
}

/// Returns true if a call was answered as expected.
pub(super) fn is_good(call: Call, reply: Reply) -> bool {
    match call {
        Call::Create => matches!(reply, Reply::Status(200 | 201)),
        Call::Read | Call::Check | Call::Deliveries => reply == Reply::Status(200),
    }
}

/// Returns true if the service refused because of overload or a rate limit.
pub(super) fn is_refusal(reply: Reply) -> bool {
    matches!(reply, Reply::Status(429 | 503))
}

/// Returns true if a call belongs to the load, and not to the checks after it.
fn is_of_the_run(call: Call) -> bool {
    matches!(call, Call::Create | Call::Read)
}

/// Returns the value below which this share lies, in microseconds; 0 if nothing was measured.
pub(super) fn quantile(histogram: &Histogram<u64>, share: f64) -> u64 {
    histogram.value_at_quantile(share).min(histogram.max())
}

/// Returns whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Returns whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_creation_is_measured_by_method_and_stage_if_it_succeeded() {
        let mut measures = Measures::new(Instant::now(), 2).unwrap();
        let creation = Creation { method: Method::Boleto, stage: 1 };
        measures.created(creation, Reply::Status(201), Duration::from_millis(5));
        measures.created(creation, Reply::Status(503), Duration::from_millis(5));
        let counts = measures.create_by_method.iter().map(Histogram::len);
        assert_eq!(counts.collect::<Vec<_>>(), [0, 1, 0]);
        assert_eq!(measures.create_by_stage.iter().map(Histogram::len).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((measures.create.len(), measures.refusals(), measures.failures()), (1, 1, 0));
    }
}
