//! Measurements: replies by kind, latencies, and both over time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::{CreationError, Histogram};
use serde::Serialize;

use super::contact::Contact;
use super::plan::Method;
use super::reply::{NoAnswer, Reply};
use super::under_way::{CallTicket, CallsUnderWay, LONG_WAIT, PendingCall, UnansweredCalls};

/// Longest time that is recorded exactly: ten minutes.
const MAX_US: u64 = 600_000_000;

/// Maximum number of errors that are kept.
const MAX_ERRORS: usize = 20;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// Call of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CallKind {
    /// Creation: `POST /pay/payments`.
    Create,
    /// Read right after the creation: `GET /pay/payments/{id}`.
    Read,
    /// Read of the same address after the run.
    Check,
    /// Deliveries of a payment that is missing an event: `GET /pay/webhooks/deliveries`.
    Deliveries,
}

impl CallKind {
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

/// Creation, with its method and the stage in which it was due.
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
    pub(super) replies: BTreeMap<(CallKind, Reply), u64>,
    /// Latency from the intended start of a creation to the end of its answer.
    pub(super) create: Histogram<u64>,
    /// Latency of creations for each method.
    pub(super) create_by_method: [Histogram<u64>; Method::ALL.len()],
    /// Latency of creations for each stage of the schedule.
    pub(super) create_by_stage: Vec<Histogram<u64>>,
    /// Payments created for each stage of the schedule.
    pub(super) created_by_stage: Vec<u64>,
    /// Time of the last creation that succeeded.
    pub(super) last_created: Option<Instant>,
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
    /// Reason that the service states for an event that did not arrive.
    pub(super) delivery_error: Option<String>,
    /// Creations that were due but not sent.
    pub(super) skipped: u64,
    /// Measures of each slice of time.
    pub(super) timeline: Vec<Slice>,
    /// Times in which the service did not answer.
    pub(super) contact: Contact,
    /// Creations and reads that have no reply yet.
    pub(super) under_way: CallsUnderWay,
    /// Creations and reads without an answer at the moment when the run was stopped.
    pub(super) unanswered: Option<UnansweredCalls>,
    /// Creations and reads whose connection broke, and whose repeat was answered.
    pub(super) repeated: u64,
    errors: BTreeMap<(CallKind, u16), String>,
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
    /// Number whose signature is genuine, but whose time is not now.
    pub(super) stale: u64,
    /// Largest difference of such a time from now, in seconds.
    pub(super) stale_by_s: u64,
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
    /// Calls that were refused because of overload or a rate limit.
    pub(super) refusals: u64,
    /// Calls with any other failure.
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
    /// Returns the rate per second of a count in this slice.
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
            created_by_stage: vec![0; stages],
            last_created: None,
            read: histogram()?,
            event: histogram()?,
            late: histogram()?,
            connection: histogram()?,
            webhooks: Webhooks::default(),
            delivery_error: None,
            skipped: 0,
            timeline: Vec::new(),
            contact: Contact::new(start),
            under_way: CallsUnderWay::default(),
            unanswered: None,
            repeated: 0,
            errors: BTreeMap::new(),
            slice: Slice::default(),
            slice_create: histogram()?,
            slice_event: histogram()?,
            slice_began: start,
        })
    }

    /// Records the start of a creation or read that was due at this time.
    pub(super) fn begin(&mut self, call: PendingCall, due: Instant) -> CallTicket {
        self.contact.began(Instant::now());
        self.under_way.begin(call, due)
    }

    /// Records that a creation was not sent in time. It counts with the time that it waited for a connection.
    pub(super) fn skip(&mut self, ticket: CallTicket, creation: Creation, waited: Duration) {
        if self.under_way.end(ticket) {
            self.contact.gave_up();
            self.skipped += 1;
            self.waited(creation, micros(waited));
        }
    }

    /// Records that the run is stopped: calls in progress had no answer, and count with their age.
    pub(super) fn stop(&mut self, now: Instant) {
        self.contact.stopped(now);
        let calls = self.under_way.take_all(now);
        self.unanswered = UnansweredCalls::of(&calls);
        // A short wait says nothing about the latency that the call would have had.
        for (call, age) in calls.into_iter().filter(|(_, age)| *age >= LONG_WAIT) {
            match call {
                PendingCall::Create(creation) => self.waited(creation, micros(age)),
                PendingCall::Read => self.read.saturating_record(micros(age)),
            }
        }
    }

    /// Records the reply to a creation.
    pub(super) fn created(&mut self, creation: Creation, reply: Reply, latency: Duration) {
        self.replied(CallKind::Create, reply, latency);
        if is_good(CallKind::Create, reply) {
            self.created_by_stage.get_mut(creation.stage).into_iter().for_each(|count| *count += 1);
            self.last_created = Some(Instant::now());
        }
        if is_timed(CallKind::Create, reply, latency) {
            self.waited(creation, micros(latency));
        }
    }

    /// Records how long a creation took, or has waited so far.
    fn waited(&mut self, creation: Creation, latency_us: u64) {
        let by_method = Method::ALL.into_iter().zip(&mut self.create_by_method);
        let of_method = by_method.filter(|(method, _)| *method == creation.method).map(|(_, times)| times);
        let of_stage = self.create_by_stage.get_mut(creation.stage);
        let all = [&mut self.create, &mut self.slice_create].into_iter();
        all.chain(of_method).chain(of_stage).for_each(|times| times.saturating_record(latency_us));
    }

    /// Records the reply to any other call.
    pub(super) fn replied(&mut self, call: CallKind, reply: Reply, latency: Duration) {
        *self.replies.entry((call, reply)).or_default() += 1;
        let now = Instant::now();
        // A creation's latency counts from its intended start, so the call may seem older than it is, and then proves
        // less.
        let began = now.checked_sub(latency).unwrap_or(now);
        self.contact.replied(reply, began, now, is_of_the_run(call));
        if call == CallKind::Read && is_timed(call, reply, latency) {
            self.read.saturating_record(micros(latency));
        }
        match (call, is_good(call, reply)) {
            (CallKind::Create, true) => self.slice.creates += 1,
            (CallKind::Read, true) => self.slice.reads += 1,
            (CallKind::Check | CallKind::Deliveries, true) => {}
            (_, false) if is_refusal(reply) => self.slice.refusals += 1,
            (_, false) => self.slice.failures += 1,
        }
    }

    /// Keeps the first error of a call with this status.
    pub(super) fn note_error(&mut self, call: CallKind, status: u16, error: impl FnOnce() -> String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.entry((call, status)).or_insert_with(error);
        }
    }

    /// Returns the first error of a call with this status.
    pub(super) fn error(&self, call: CallKind, status: u16) -> Option<&str> {
        self.errors.get(&(call, status)).map(String::as_str)
    }

    /// Returns in words how many creations and reads were refused with this status, with the service's reason.
    pub(super) fn refused_with(&self, status: u16) -> Option<String> {
        let count = Some(self.answered_with(status)).filter(|count| *count > 0)?;
        let error = self.error(CallKind::Create, status).or_else(|| self.error(CallKind::Read, status));
        let error = error.map(|error| format!(": {error}")).unwrap_or_default();
        Some(format!("{count} with {status}{error}"))
    }

    /// Lists the answers to creations and reads that the contract does not promise, each with its first error.
    pub(super) fn unexpected(&self) -> Vec<String> {
        let is_answer = |reply| {
            matches!(reply, Reply::Status(_) | Reply::Missing(NoAnswer::Unreadable)) && !is_refusal(reply)
        };
        let rows = self.replies.iter().filter(|((call, reply), _)| {
            is_of_the_run(*call) && is_answer(*reply) && !is_good(*call, *reply)
        });
        rows.map(|(&(call, reply), count)| {
            let error = reply.status().and_then(|status| self.error(call, status));
            let error = error.map(|error| format!(" ({error})")).unwrap_or_default();
            format!("{} {count} times {reply}{error}", call.as_str())
        })
        .collect()
    }

    /// Records the reply to a probe of whether the service answers at all. Probes are not measured calls.
    pub(super) fn probed(&mut self, reply: Reply, began: Instant) {
        let was_lost = self.contact.is_lost();
        self.contact.replied(reply, began, Instant::now(), false);
        if was_lost
            && !matches!(reply, Reply::Status(_) | Reply::Missing(NoAnswer::Unreadable | NoAnswer::NoSocket))
        {
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

    /// Returns true if webhooks arrived since the last slice ended.
    pub(super) fn has_news(&self) -> bool {
        self.slice.events > 0
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

    /// Returns the number of calls with a matching reply.
    pub(super) fn count(&self, wanted: impl Fn(CallKind, Reply) -> bool) -> u64 {
        let matching = self.replies.iter().filter(|((call, reply), _)| wanted(*call, *reply));
        matching.map(|(_, count)| count).sum()
    }

    /// Counts the payments created.
    pub(super) fn creates(&self) -> u64 {
        self.count(|call, reply| call == CallKind::Create && is_good(call, reply))
    }

    /// Counts the creations that failed, or were refused because of the key's rate limit or an unreachable store. A
    /// more powerful service would not have helped them.
    pub(super) fn failed_creates(&self) -> u64 {
        // With an unreachable store, mailboxes fill up too.
        let is_store_away = self.contact.store_refusals().is_some_and(|refusals| refusals.creations > 0);
        self.count(|call, reply| {
            let is_overload = reply == Reply::Status(503) && !is_store_away;
            call == CallKind::Create && !is_good(call, reply) && !is_overload
        })
    }

    /// Returns the end of the last time in which the service was away, or its store was unavailable. A store is
    /// unavailable until `now` if no creation has succeeded since.
    pub(super) fn trouble_end(&self, now: Instant) -> Option<Instant> {
        let refused_at = self.contact.store_refused_at();
        let is_store_back = self.last_created > refused_at;
        let store = refused_at.map(|refused_at| if is_store_back { refused_at } else { now });
        store.max(self.contact.away_until())
    }

    /// Counts the creations and reads.
    pub(super) fn requests(&self) -> u64 {
        self.count(|call, _| is_of_the_run(call))
    }

    /// Counts the creations and reads refused because of overload or the key's rate limit.
    pub(super) fn refusals(&self) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && is_refusal(reply))
    }

    /// Counts the creations and reads that were answered with this status.
    pub(super) fn answered_with(&self, status: u16) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && reply == Reply::Status(status))
    }

    /// Counts the creations and reads without the answer that the contract promises.
    pub(super) fn failures(&self) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && !is_good(call, reply) && !is_refusal(reply))
    }

    /// Counts the creations and reads that were refused because of the key.
    pub(super) fn key_refusals(&self) -> u64 {
        [401, 403].map(|status| self.answered_with(status)).iter().sum()
    }

    /// Counts the failures explained by the service's absence, the key, or a lack of sockets: they break no promise.
    pub(super) fn excused(&self) -> u64 {
        let unreached: u64 = NoAnswer::UNREACHED.map(|reason| self.unreached(reason)).iter().sum();
        unreached + self.contact.cut() + self.key_refusals()
    }

    /// Counts the creations and reads that did not reach the service for this reason.
    pub(super) fn unreached(&self, reason: NoAnswer) -> u64 {
        self.count(|call, reply| is_of_the_run(call) && reply == Reply::Missing(reason))
    }
}

/// Returns true if a call was answered as expected.
pub(super) fn is_good(call: CallKind, reply: Reply) -> bool {
    match call {
        CallKind::Create => matches!(reply, Reply::Status(200 | 201)),
        CallKind::Read | CallKind::Check | CallKind::Deliveries => reply == Reply::Status(200),
    }
}

/// Returns true if the time of a call counts as a latency. Without the expected answer, it counts if the call waited
/// long: a quick refusal says nothing about the latency of accepted calls.
fn is_timed(call: CallKind, reply: Reply, latency: Duration) -> bool {
    is_good(call, reply) || latency >= LONG_WAIT
}

/// Returns true if the service refused because of overload or a rate limit.
pub(super) fn is_refusal(reply: Reply) -> bool {
    matches!(reply, Reply::Status(429 | 503))
}

/// Returns true if a call belongs to the load rather than to the checks after it.
fn is_of_the_run(call: CallKind) -> bool {
    matches!(call, CallKind::Create | CallKind::Read)
}

/// Returns the value of this quantile in microseconds; 0 if nothing was measured.
pub(super) fn quantile(histogram: &Histogram<u64>, share: f64) -> u64 {
    histogram.value_at_quantile(share).min(histogram.max())
}

/// Converts a duration to whole microseconds.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Converts a duration to whole milliseconds.
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

    #[test]
    fn what_waited_for_long_counts_in_the_latencies_whatever_came_of_it() {
        let mut measures = Measures::new(Instant::now(), 1).unwrap();
        let creation = Creation { method: Method::Pix, stage: 0 };
        measures.created(creation, Reply::Status(201), Duration::from_millis(5));
        for (reply, waited_ms) in [
            (Reply::Missing(NoAnswer::TimeOut), 30_000),
            (Reply::Status(503), 10_000),
            (Reply::Status(503), 2),
            (Reply::Missing(NoAnswer::ConnectionRefused), 1),
        ] {
            measures.created(creation, reply, Duration::from_millis(waited_ms));
            measures.replied(CallKind::Read, reply, Duration::from_millis(waited_ms));
            measures.replied(CallKind::Check, reply, Duration::from_millis(waited_ms));
        }
        for times in [&measures.create, &measures.create_by_method[0], &measures.create_by_stage[0]] {
            assert_eq!(
                (times.len(), quantile(times, 1.0) / 1_000_000),
                (3, 30),
                "a quick refusal is no latency"
            );
        }
        assert_eq!((measures.read.len(), measures.creates(), measures.created_by_stage[0]), (2, 1, 1));
    }

    #[test]
    fn answers_that_are_not_expected_are_listed_with_their_first_error() {
        let mut measures = Measures::new(Instant::now(), 1).unwrap();
        let creation = Creation { method: Method::Pix, stage: 0 };
        for status in [201, 500, 500, 503] {
            measures.created(creation, Reply::Status(status), Duration::ZERO);
        }
        measures.replied(CallKind::Read, Reply::Status(404), Duration::ZERO);
        measures.replied(CallKind::Check, Reply::Status(500), Duration::ZERO);
        measures.replied(CallKind::Read, Reply::Missing(NoAnswer::BadGateway), Duration::ZERO);
        measures.note_error(CallKind::Create, 500, || "internal_error: It failed.".into());
        measures.note_error(CallKind::Create, 500, || "another".into());
        let expected = ["create 2 times 500 (internal_error: It failed.)", "read 1 times 404"];
        assert_eq!(measures.unexpected(), expected);
        for status in 0..100 {
            measures.note_error(CallKind::Read, status, String::new);
        }
        assert_eq!(measures.errors.len(), MAX_ERRORS);
    }

    #[test]
    fn creations_refused_with_503_have_failed_only_if_the_store_was_unavailable() {
        let mut measures = Measures::new(Instant::now(), 1).unwrap();
        for status in [201, 429, 500, 503, 503] {
            let creation = Creation { method: Method::Pix, stage: 0 };
            measures.created(creation, Reply::Status(status), Duration::ZERO);
        }
        assert_eq!(measures.failed_creates(), 2, "a more powerful service may have taken the others");
        measures.contact.store_refused(true, Instant::now(), Instant::now());
        assert_eq!(measures.failed_creates(), 4);
    }

    #[test]
    fn a_trouble_ends_with_the_answer_after_it_and_that_of_a_store_with_the_next_creation() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut measures = Measures::new(start, 1).unwrap();
        assert_eq!(measures.trouble_end(at(9)), None);
        let late = Reply::Missing(NoAnswer::TimeOut);
        measures.contact.replied(late, at(0), at(1), true);
        assert_eq!(measures.trouble_end(at(9)), None, "it may be one slow call");
        measures.contact.replied(Reply::Missing(NoAnswer::ConnectionClosed), at(1), at(2), true);
        assert_eq!(measures.trouble_end(at(9)), Some(at(2)), "a process may have died");
        measures.contact.replied(Reply::Missing(NoAnswer::ConnectionRefused), at(3), at(3), true);
        measures.contact.replied(Reply::Status(200), at(4), at(5), true);
        assert_eq!(measures.trouble_end(at(9)), Some(at(5)), "it came back");
        measures.contact.store_refused(false, at(6), at(7));
        assert_eq!(measures.trouble_end(at(9)), Some(at(9)), "nothing was stored since");
        measures.last_created = Some(at(8));
        assert_eq!(measures.trouble_end(at(9)), Some(at(7)));
    }

    #[test]
    fn questions_after_the_load_are_no_refusals_of_the_load() {
        let mut measures = Measures::new(Instant::now(), 1).unwrap();
        for call in [CallKind::Read, CallKind::Check, CallKind::Check, CallKind::Deliveries] {
            measures.replied(call, Reply::Status(429), Duration::ZERO);
        }
        assert_eq!(measures.answered_with(429), 1);
    }

    #[test]
    fn creations_without_an_answer_count_with_their_age_when_the_run_is_stopped() {
        let start = Instant::now();
        let mut measures = Measures::new(start, 1).unwrap();
        let creation = Creation { method: Method::Pix, stage: 0 };
        measures.created(creation, Reply::Status(201), Duration::from_millis(5));
        for due_ms in [3_000, 16_000, 16_500] {
            measures.begin(PendingCall::Create(creation), start + Duration::from_millis(due_ms));
        }
        let ticket = measures.begin(PendingCall::Read, start);
        assert!(measures.under_way.end(ticket));
        measures.stop(start + Duration::from_secs(17));
        let expected = UnansweredCalls { creations: 3, reads: 0, oldest_ms: 14_000 };
        assert_eq!(measures.unanswered, Some(expected));
        for times in [&measures.create, &measures.create_by_method[0], &measures.create_by_stage[0]] {
            assert_eq!(
                (times.len(), quantile(times, 1.0) / 100_000),
                (3, 140),
                "one had waited for a moment"
            );
        }
        assert_eq!((measures.creates(), measures.created_by_stage[0], measures.failures()), (1, 1, 0));
        assert_eq!(measures.under_way.count(), 0, "a reply that comes later is not counted");
    }
}
