//! Metrics of each kind of actor.

use std::sync::Arc;
use std::time::Duration;

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, proto,
};
use quita_domain::identity::TransactionId;
use quita_ports::Clock;
use tokio::time::Instant;

use crate::actor::crash_cause::LastCause;
use crate::actor::kind::ActorKind;
use crate::watch::metric::{enter, seconds};

/// The meters of all kinds.
pub(crate) struct ActorMeters {
    all: Vec<Arc<ActorMeter>>,
    vectors: Vectors,
    clock: Arc<dyn Clock>,
}

impl ActorMeters {
    /// Creates and registers the metrics.
    pub(crate) fn new(registry: &Registry, clock: &Arc<dyn Clock>) -> Result<Self, prometheus::Error> {
        let vectors = Vectors::new(registry)?;
        // Created at once, so that a kind that has done nothing yet is exported as zero.
        let all = ActorKind::ALL.map(|kind| Arc::new(vectors.of(kind, clock))).into();
        Ok(Self { all, vectors, clock: Arc::clone(clock) })
    }

    /// Returns the shared meter of one kind.
    pub(crate) fn of(&self, kind: ActorKind) -> Arc<ActorMeter> {
        let known = self.all.iter().find(|meter| meter.kind == kind).map(Arc::clone);
        known.unwrap_or_else(|| Arc::new(self.vectors.of(kind, &self.clock)))
    }

    /// Returns the meters of all kinds.
    pub(crate) fn all(&self) -> &[Arc<ActorMeter>] {
        &self.all
    }

    /// Returns the handling times of each message, by kind.
    pub(crate) fn handled(&self) -> Vec<proto::MetricFamily> {
        self.vectors.handle.collect()
    }
}

/// The metrics, labelled by kind.
struct Vectors {
    live: IntGaugeVec,
    depth: IntGaugeVec,
    wait: HistogramVec,
    handle: HistogramVec,
    started: IntCounterVec,
    restarts: IntCounterVec,
    refused: IntCounterVec,
}

impl Vectors {
    fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let gauge = |name: &str, help: &str| IntGaugeVec::new(Opts::new(name, help), &["actor"]);
        let counter = |name: &str, help: &str| IntCounterVec::new(Opts::new(name, help), &["actor"]);
        let times = |name: &str, help: &str, labels: &[&str]| HistogramVec::new(seconds(name, help), labels);
        let depth = "Messages waiting in the mailboxes of a kind of actor";
        let refused = "Messages refused because a mailbox or queue was full";
        let taken = "Time an actor takes to handle a message";
        Ok(Self {
            live: enter(registry, gauge("quita_actor_live", "Live actors")?)?,
            depth: enter(registry, gauge("quita_actor_mailbox_depth", depth)?)?,
            wait: enter(
                registry,
                times("quita_actor_wait_seconds", "Time a message waits in a mailbox", &["actor"])?,
            )?,
            handle: enter(registry, times("quita_actor_handle_seconds", taken, &["actor", "message"])?)?,
            started: enter(registry, counter("quita_actor_started_total", "Actors started")?)?,
            restarts: enter(
                registry,
                counter("quita_actor_restarts_total", "Actors that died and were recreated")?,
            )?,
            refused: enter(registry, counter("quita_actor_refused_total", refused)?)?,
        })
    }

    fn of(&self, kind: ActorKind, clock: &Arc<dyn Clock>) -> ActorMeter {
        let label = [kind.label()];
        ActorMeter {
            kind,
            live: self.live.with_label_values(&label),
            depth: self.depth.with_label_values(&label),
            wait: self.wait.with_label_values(&label),
            handle: self.handle.clone(),
            started: self.started.with_label_values(&label),
            restarts: self.restarts.with_label_values(&label),
            refused: self.refused.with_label_values(&label),
            last_cause: LastCause::default(),
            clock: Arc::clone(clock),
            base: Instant::now(),
        }
    }
}

/// The meter of one kind of actor.
pub(crate) struct ActorMeter {
    pub(crate) kind: ActorKind,
    pub(crate) live: IntGauge,
    pub(crate) depth: IntGauge,
    pub(crate) wait: Histogram,
    handle: HistogramVec,
    started: IntCounter,
    pub(crate) restarts: IntCounter,
    pub(crate) refused: IntCounter,
    pub(crate) last_cause: LastCause,
    clock: Arc<dyn Clock>,
    /// Start of the times in trails.
    base: Instant,
}

impl ActorMeter {
    /// Counts an actor as alive until the guard is dropped, which a panic does too.
    pub(crate) fn alive(self: &Arc<Self>) -> Alive {
        self.alive_as(None)
    }

    /// Counts the actor of a transaction as alive.
    pub(crate) fn alive_for(self: &Arc<Self>, id: TransactionId) -> Alive {
        self.alive_as(Some(id))
    }

    fn alive_as(self: &Arc<Self>, transaction: Option<TransactionId>) -> Alive {
        self.started.inc();
        self.live.inc();
        Alive { meter: Arc::clone(self), transaction }
    }

    /// Counts an actor that died and was recreated.
    pub(crate) fn restarted(&self) {
        self.restarts.inc();
    }

    /// Returns the histogram of handling times for a message.
    pub(crate) fn handling(&self, message: &str) -> Histogram {
        self.handle.with_label_values(&[self.kind.label(), message])
    }

    /// Keeps the cause if this thread is panicking: a guard may be dropped because its actor is dying.
    pub(crate) fn keep_cause(&self, message: Option<&'static str>, transaction: Option<TransactionId>) {
        if std::thread::panicking() {
            self.last_cause.keep(self.clock.now(), message, transaction);
        }
    }

    /// Converts a time into the form that trails store.
    pub(crate) fn trail_time(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.base)
    }
}

/// Counts one actor as alive.
pub(crate) struct Alive {
    meter: Arc<ActorMeter>,
    transaction: Option<TransactionId>,
}

impl Alive {
    /// Returns a gauge for messages waiting inside the actor, beyond its mailbox.
    pub(crate) fn level(&self) -> Level {
        Level::of(self.meter.depth.clone())
    }

    /// Counts a message refused because too many wait inside the actor.
    pub(crate) fn refused(&self) {
        self.meter.refused.inc();
    }
}

/// Number of messages that an actor took out of its mailbox but holds back. For their callers they are still waiting.
pub(crate) struct Level {
    depth: IntGauge,
    waiting: i64,
}

impl Level {
    /// Creates a level that is counted in this gauge.
    pub(crate) const fn of(depth: IntGauge) -> Self {
        Self { depth, waiting: 0 }
    }

    /// Sets how many are waiting now.
    pub(crate) fn set(&mut self, waiting: usize) {
        let waiting = i64::try_from(waiting).unwrap_or(i64::MAX);
        if waiting != self.waiting {
            self.depth.add(waiting.saturating_sub(self.waiting));
            self.waiting = waiting;
        }
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        self.depth.sub(self.waiting);
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.meter.live.dec();
        self.meter.keep_cause(None, self.transaction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_inside_counts_until_its_actor_is_gone() {
        let depth = IntGauge::new("depth", "depth").unwrap();
        depth.set(2);
        let mut level = Level::of(depth.clone());
        for waiting in [5, 5, 1] {
            level.set(waiting);
        }
        assert_eq!(depth.get(), 3);
        drop(level);
        assert_eq!(depth.get(), 2);
    }
}
