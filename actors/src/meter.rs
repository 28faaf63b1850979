//! The meter: what every mailbox is wrapped in, and the service's other counters.

use std::sync::Arc;

use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

/// Buckets for what takes microseconds to seconds.
const SECONDS: [f64; 14] =
    [0.000_01, 0.000_05, 0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10.0];
/// Buckets for what may take hours.
const LONG_SECONDS: [f64; 12] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0, 300.0, 3_600.0, 86_400.0];
/// Buckets for counts of writes.
const COUNTS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// The kinds of actors, as metrics label them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ActorKind {
    Front,
    Transaction,
    Supervisor,
    Acquirer,
    Journal,
    Reader,
    Timer,
    Inbox,
    WebhookPool,
    WebhookWorker,
}

impl ActorKind {
    const ALL: [Self; 10] = [
        Self::Front,
        Self::Transaction,
        Self::Supervisor,
        Self::Acquirer,
        Self::Journal,
        Self::Reader,
        Self::Timer,
        Self::Inbox,
        Self::WebhookPool,
        Self::WebhookWorker,
    ];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Transaction => "transaction",
            Self::Supervisor => "supervisor",
            Self::Acquirer => "acquirer",
            Self::Journal => "journal",
            Self::Reader => "reader",
            Self::Timer => "timer",
            Self::Inbox => "inbox",
            Self::WebhookPool => "webhook_pool",
            Self::WebhookWorker => "webhook_worker",
        }
    }
}

/// Everything that is counted.
pub(crate) struct Meter {
    live: IntGaugeVec,
    depth: IntGaugeVec,
    wait: HistogramVec,
    handle: HistogramVec,
    started: IntCounterVec,
    restarts: IntCounterVec,
    refused: IntCounterVec,
    pub(crate) payments: IntCounterVec,
    pub(crate) acquirer_requests: HistogramVec,
    pub(crate) webhook_deliveries: IntCounterVec,
    pub(crate) webhook_lag: Histogram,
    pub(crate) webhook_backlog: IntGauge,
    pub(crate) due_backlog: IntGauge,
    pub(crate) inbox_backlog: IntGauge,
    pub(crate) batch_size: Histogram,
    pub(crate) commit_seconds: Histogram,
    pub(crate) conflicts: IntCounter,
    pub(crate) exceptions: IntCounterVec,
}

impl Meter {
    /// Makes the metrics and enters them into the registry.
    pub(crate) fn new(registry: &Registry) -> Result<Arc<Self>, prometheus::Error> {
        let seconds = |name: &str, help: &str| HistogramOpts::new(name, help).buckets(SECONDS.to_vec());
        let actor = &["actor"];
        let meter = Self {
            live: IntGaugeVec::new(Opts::new("quita_actor_live", "Actors that are alive"), actor)?,
            depth: IntGaugeVec::new(
                Opts::new(
                    "quita_actor_mailbox_depth",
                    "Messages that wait in the mailboxes of a kind of actor",
                ),
                actor,
            )?,
            wait: HistogramVec::new(
                seconds("quita_actor_wait_seconds", "Time a message waits in a mailbox"),
                actor,
            )?,
            handle: HistogramVec::new(
                seconds("quita_actor_handle_seconds", "Time an actor takes for a message"),
                &["actor", "message"],
            )?,
            started: IntCounterVec::new(
                Opts::new("quita_actor_started_total", "Actors that were started"),
                actor,
            )?,
            restarts: IntCounterVec::new(
                Opts::new("quita_actor_restarts_total", "Actors that died and were made anew"),
                actor,
            )?,
            refused: IntCounterVec::new(
                Opts::new(
                    "quita_actor_refused_total",
                    "Messages refused because a mailbox or queue was full",
                ),
                actor,
            )?,
            payments: IntCounterVec::new(
                Opts::new("quita_payments_total", "Payments that reached a status"),
                &["method", "acquirer", "status"],
            )?,
            acquirer_requests: HistogramVec::new(
                seconds("quita_acquirer_request_seconds", "Calls to acquirers by outcome"),
                &["acquirer", "outcome"],
            )?,
            webhook_deliveries: IntCounterVec::new(
                Opts::new("quita_webhook_deliveries_total", "Attempts to deliver by outcome"),
                &["outcome"],
            )?,
            webhook_lag: Histogram::with_opts(
                HistogramOpts::new(
                    "quita_webhook_lag_seconds",
                    "Time from an event to its confirmed delivery",
                )
                .buckets(LONG_SECONDS.to_vec()),
            )?,
            webhook_backlog: IntGauge::new(
                "quita_webhook_backlog",
                "Payments with an event that is not confirmed",
            )?,
            due_backlog: IntGauge::new("quita_timer_backlog", "Payments whose time has come and that wait")?,
            inbox_backlog: IntGauge::new(
                "quita_inbox_backlog",
                "Notices of acquirers that wait to be worked",
            )?,
            batch_size: Histogram::with_opts(
                HistogramOpts::new("quita_journal_batch_size", "Writes in one batch")
                    .buckets(COUNTS.to_vec()),
            )?,
            commit_seconds: Histogram::with_opts(seconds(
                "quita_journal_commit_seconds",
                "Time the store takes for a batch",
            ))?,
            conflicts: IntCounter::new(
                "quita_store_conflicts_total",
                "Writes that another writer forestalled",
            )?,
            exceptions: IntCounterVec::new(
                Opts::new("quita_exceptions_total", "Exceptions reported to operators"),
                &["kind"],
            )?,
        };
        meter.enter(registry)?;
        for kind in ActorKind::ALL {
            meter.show_zero(kind);
        }
        Ok(Arc::new(meter))
    }

    fn enter(&self, registry: &Registry) -> Result<(), prometheus::Error> {
        let collectors: [Box<dyn Collector>; 18] = [
            Box::new(self.live.clone()),
            Box::new(self.depth.clone()),
            Box::new(self.wait.clone()),
            Box::new(self.handle.clone()),
            Box::new(self.started.clone()),
            Box::new(self.restarts.clone()),
            Box::new(self.refused.clone()),
            Box::new(self.payments.clone()),
            Box::new(self.acquirer_requests.clone()),
            Box::new(self.webhook_deliveries.clone()),
            Box::new(self.webhook_lag.clone()),
            Box::new(self.webhook_backlog.clone()),
            Box::new(self.due_backlog.clone()),
            Box::new(self.inbox_backlog.clone()),
            Box::new(self.batch_size.clone()),
            Box::new(self.commit_seconds.clone()),
            Box::new(self.conflicts.clone()),
            Box::new(self.exceptions.clone()),
        ];
        collectors.into_iter().try_for_each(|collector| registry.register(collector))
    }

    /// A kind that has done nothing yet shows as zero rather than not at all.
    fn show_zero(&self, kind: ActorKind) {
        let label = [kind.label()];
        self.live.with_label_values(&label);
        self.depth.with_label_values(&label);
        self.started.with_label_values(&label);
        self.restarts.with_label_values(&label);
        self.refused.with_label_values(&label);
    }

    /// The meter of one kind of actor. Its labels are looked up once.
    pub(crate) fn of(self: &Arc<Self>, kind: ActorKind) -> Arc<ActorMeter> {
        let label = [kind.label()];
        Arc::new(ActorMeter {
            kind,
            live: self.live.with_label_values(&label),
            depth: self.depth.with_label_values(&label),
            wait: self.wait.with_label_values(&label),
            handle: self.handle.clone(),
            started: self.started.with_label_values(&label),
            restarts: self.restarts.with_label_values(&label),
            refused: self.refused.with_label_values(&label),
        })
    }
}

/// The meter of one kind of actor.
pub(crate) struct ActorMeter {
    kind: ActorKind,
    live: IntGauge,
    pub(crate) depth: IntGauge,
    pub(crate) wait: Histogram,
    handle: HistogramVec,
    started: IntCounter,
    restarts: IntCounter,
    pub(crate) refused: IntCounter,
}

impl ActorMeter {
    /// Counts an actor as alive until the guard is dropped, which a panic does too.
    pub(crate) fn alive(&self) -> Alive {
        self.started.inc();
        self.live.inc();
        Alive(self.live.clone())
    }

    /// An actor died and was made anew.
    pub(crate) fn restarted(&self) {
        self.restarts.inc();
    }

    /// The time that handling takes, by the message's name.
    pub(crate) fn handling(&self, message: &str) -> Histogram {
        self.handle.with_label_values(&[self.kind.label(), message])
    }
}

/// Counts one actor as alive.
pub(crate) struct Alive(IntGauge);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.dec();
    }
}
