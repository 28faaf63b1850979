//! A reading of all meters at one moment. The difference between two readings is a sample.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use prometheus::core::{Collector, Metric};
use prometheus::{Histogram, IntCounterVec, proto};
use quita_domain::time::Timestamp;
use tokio::time::Instant;

use crate::actor::crash_cause::CrashCause;
use crate::actor::kind::ActorKind;
use crate::actor::meter::ActorMeter;
use crate::store::state::StoreAway;
use crate::watch::meter::Meter;
use crate::watch::metric::{COUNTS, LONG_SECONDS, SECONDS};
use crate::watch::sample::{KindSample, MessageSample, PaymentSample, Sample, StoreSample, WebhookSample};
use crate::watch::tally::{Bounds, Tally, per_second};

/// Bucket bounds of the meters' histograms.
pub(crate) struct Scales {
    times: Bounds,
    long_times: Bounds,
    counts: Bounds,
}

impl Default for Scales {
    fn default() -> Self {
        Self {
            times: Bounds::of_seconds(&SECONDS),
            long_times: Bounds::of_seconds(&LONG_SECONDS),
            counts: Bounds::of_counts(&COUNTS),
        }
    }
}

/// All counters since the start of the process.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    at: Timestamp,
    taken_at: Instant,
    kinds: BTreeMap<ActorKind, KindReading>,
    away: Option<StoreAway>,
    batch: Tally,
    commit: Tally,
    conflicts: u64,
    backlogs: [i64; 3],
    backlogs_counted_at: Timestamp,
    created: u64,
    events: u64,
    delivered: u64,
    refused: u64,
    failed: u64,
    undelivered_since: Option<Timestamp>,
    lag: Tally,
}

#[derive(Debug, Clone, Default)]
struct KindReading {
    live: i64,
    depth: i64,
    wait: Tally,
    messages: BTreeMap<String, Tally>,
    restarts: u64,
    refused: u64,
    last_cause: Option<Arc<CrashCause>>,
}

impl Reading {
    /// Reads every meter.
    pub(crate) fn take(meter: &Meter, away: Option<StoreAway>, at: Timestamp) -> Self {
        let mut kinds: BTreeMap<_, _> =
            meter.actors.all().iter().map(|actor| (actor.kind, KindReading::of(actor))).collect();
        for family in meter.actors.handled() {
            for metric in family.get_metric() {
                let kind = label(metric, "actor").and_then(ActorKind::parse);
                let reading = kind.and_then(|kind| kinds.get_mut(&kind));
                if let Some((reading, name)) = reading.zip(label(metric, "message")) {
                    reading.messages.insert(name.to_owned(), Tally::of(metric.get_histogram()));
                }
            }
        }
        let deliveries = |outcome| meter.webhook_deliveries.with_label_values(&[outcome]).get();
        Self {
            at,
            taken_at: Instant::now(),
            kinds,
            away,
            batch: tally(&meter.batch_size),
            commit: tally(&meter.commit_seconds),
            conflicts: meter.conflicts.get(),
            backlogs: [meter.webhook_backlog.get(), meter.due_backlog.get(), meter.inbox_backlog.get()],
            backlogs_counted_at: Timestamp::from_millis(
                meter.backlogs_counted_at.get().saturating_mul(1_000),
            ),
            created: total(&meter.created),
            events: total(&meter.payments),
            delivered: deliveries("delivered"),
            refused: deliveries("refused"),
            failed: deliveries("failed"),
            undelivered_since: None,
            lag: tally(&meter.webhook_lag),
        }
    }

    /// Carries over, from the previous reading, the time since which no webhook attempt was confirmed.
    pub(crate) fn after(mut self, before: Option<&Self>) -> Self {
        let attempts_before = before.map_or(0, Self::unconfirmed_attempts);
        let has_attempts = self.unconfirmed_attempts() > attempts_before;
        let since_before = before.and_then(|before| before.undelivered_since);
        let was_delivered = self.delivered > before.map_or(0, |before| before.delivered);
        if !was_delivered {
            self.undelivered_since = since_before.or_else(|| has_attempts.then_some(self.at));
        }
        self
    }

    const fn unconfirmed_attempts(&self) -> u64 {
        self.refused.saturating_add(self.failed)
    }

    /// Returns the sample for the time since an earlier reading.
    pub(crate) fn since(&self, earlier: &Self, scales: &Scales) -> Sample {
        let within = self.within(earlier);
        let rate = |now: u64, before: u64| per_second(now.saturating_sub(before), within);
        let none = KindReading::default();
        let kind = |(kind, now): (&ActorKind, &KindReading)| {
            (*kind, now.since(earlier.kinds.get(kind).unwrap_or(&none), within, scales))
        };
        let commit = self.commit.since(&earlier.commit);
        let lag = self.lag.since(&earlier.lag);
        let [webhook_backlog, timer_backlog, inbox_backlog] = self.backlogs;
        Sample {
            at: self.at,
            kinds: self.kinds.iter().map(kind).collect(),
            store: StoreSample {
                away: self.away.clone(),
                batch_median: self.batch.since(&earlier.batch).median(&scales.counts),
                commit_median_ms: commit.median(&scales.times),
                commit_p99_ms: commit.p99(&scales.times),
                conflicts: self.conflicts,
                webhook_backlog,
                timer_backlog,
                inbox_backlog,
                backlogs_counted_at: self.backlogs_counted_at,
            },
            payments: PaymentSample {
                per_second: rate(self.created, earlier.created),
                events_per_second: rate(self.events, earlier.events),
            },
            webhooks: WebhookSample {
                delivered_per_second: rate(self.delivered, earlier.delivered),
                refused_per_second: rate(self.refused, earlier.refused),
                failed_per_second: rate(self.failed, earlier.failed),
                undelivered_since: self.undelivered_since,
                lag_median_ms: lag.median(&scales.long_times),
                lag_p99_ms: lag.p99(&scales.long_times),
            },
        }
    }

    /// Returns the figures of each message of one kind of actor since an earlier reading, by name.
    pub(crate) fn messages(&self, earlier: &Self, kind: ActorKind, scales: &Scales) -> Vec<MessageSample> {
        let none = Tally::default();
        let within = self.within(earlier);
        let before = earlier.kinds.get(&kind);
        let messages = self.kinds.get(&kind).into_iter().flat_map(|reading| &reading.messages);
        let sample = |(name, now): (&String, &Tally)| {
            let before = before.and_then(|reading| reading.messages.get(name)).unwrap_or(&none);
            let times = now.since(before);
            MessageSample {
                name: name.clone(),
                per_second: times.per_second(within),
                handle_median_ms: times.median(&scales.times),
                handle_p99_ms: times.p99(&scales.times),
            }
        };
        messages.map(sample).collect()
    }

    fn within(&self, earlier: &Self) -> Duration {
        self.taken_at.saturating_duration_since(earlier.taken_at)
    }
}

impl KindReading {
    fn of(meter: &ActorMeter) -> Self {
        Self {
            live: meter.live.get(),
            depth: meter.depth.get(),
            wait: tally(&meter.wait),
            messages: BTreeMap::new(),
            restarts: meter.restarts.get(),
            refused: meter.refused.get(),
            last_cause: meter.last_cause.get(),
        }
    }

    fn since(&self, earlier: &Self, within: Duration, scales: &Scales) -> KindSample {
        let wait = self.wait.since(&earlier.wait);
        let none = Tally::default();
        let mut handle = Tally::default();
        for (name, now) in &self.messages {
            handle.add(&now.since(earlier.messages.get(name).unwrap_or(&none)));
        }
        KindSample {
            live: self.live,
            depth: self.depth,
            per_second: wait.per_second(within),
            wait_median_ms: wait.median(&scales.times),
            wait_p99_ms: wait.p99(&scales.times),
            handle_median_ms: handle.median(&scales.times),
            handle_p99_ms: handle.p99(&scales.times),
            restarts: self.restarts,
            refused: self.refused,
            last_cause: self.last_cause.clone(),
        }
    }
}

fn tally(histogram: &Histogram) -> Tally {
    Tally::of(histogram.metric().get_histogram())
}

fn label<'a>(metric: &'a proto::Metric, name: &str) -> Option<&'a str> {
    metric.get_label().iter().find(|label| label.name() == name).map(proto::LabelPair::value)
}

/// Sums a counter over all labels.
fn total(counters: &IntCounterVec) -> u64 {
    let families = counters.collect();
    let values = families.iter().flat_map(|family| family.get_metric());
    values.map(|metric| whole(metric.get_counter().get_value())).fold(0, u64::saturating_add)
}

/// Converts a whole number that the library stores as a float.
fn whole(number: f64) -> u64 {
    Duration::try_from_secs_f64(number).map_or(0, |number| number.as_secs())
}
