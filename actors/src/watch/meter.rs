//! The meter: the service's counters. Each kind of actor also has its own meter.

use std::sync::Arc;
use std::time::Duration;

use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry,
};
use quita_domain::exception::{CARD_TESTING, NUMBERS_LOW, UNKNOWN_PAYMENT, UNREADABLE};
use quita_domain::identity::AcquirerName;
use quita_domain::method::Method;
use quita_domain::payment::DiscrepancyKind;
use quita_domain::reconciliation::{RECONCILIATION_KINDS, ReconciliationKind};
use quita_domain::routing::Version;
use quita_ports::Clock;

use crate::acquirers::call_outcome::CallOutcome;
use crate::actor::kind::ActorKind;
use crate::actor::meter::{ActorMeter, ActorMeters};
use crate::watch::metric::{COUNTS, LONG_SECONDS, enter, seconds};

/// All metrics of the service.
pub(crate) struct Meter {
    pub(crate) actors: ActorMeters,
    pub(crate) created: IntCounterVec,
    pub(crate) payments: IntCounterVec,
    pub(crate) acquirer_requests: HistogramVec,
    pub(crate) routing_version: IntGaugeVec,
    pub(crate) approval: GaugeVec,
    pub(crate) approval_tries: IntGaugeVec,
    pub(crate) numbers_left: IntGaugeVec,
    pub(crate) notices: IntCounterVec,
    pub(crate) webhook_deliveries: IntCounterVec,
    pub(crate) webhook_lag: Histogram,
    pub(crate) webhook_exhausted: IntCounter,
    pub(crate) webhook_backlog: IntGauge,
    pub(crate) webhooks_failing: IntGauge,
    pub(crate) due_backlog: IntGauge,
    pub(crate) inbox_backlog: IntGauge,
    /// Time of the last count of the backlogs, in seconds.
    pub(crate) backlogs_counted_at: IntGauge,
    pub(crate) batch_size: Histogram,
    pub(crate) commit_seconds: Histogram,
    pub(crate) conflicts: IntCounter,
    pub(crate) exceptions: IntCounterVec,
}

impl Meter {
    /// Creates and registers the metrics.
    pub(crate) fn new(registry: &Registry, clock: &Arc<dyn Clock>) -> Result<Arc<Self>, prometheus::Error> {
        let counters = |name: &str, help: &str, labels: &[&str]| {
            enter(registry, IntCounterVec::new(Opts::new(name, help), labels)?)
        };
        let counter = |name: &str, help: &str| enter(registry, IntCounter::new(name, help)?);
        let gauge = |name: &str, help: &str| enter(registry, IntGauge::new(name, help)?);
        let histogram = |options: HistogramOpts| enter(registry, Histogram::with_opts(options)?);
        let lag = "Time from an event to its confirmed delivery";
        let lag = HistogramOpts::new("quita_webhook_lag_seconds", lag).buckets(LONG_SECONDS.to_vec());
        let writes = HistogramOpts::new("quita_journal_batch_size", "Writes in one batch");
        let calls = seconds(
            "quita_acquirer_request_seconds",
            "Duration of calls to acquirers, by method and outcome",
        );
        let approval = "Approval rate of the last tries on this node: (approved + 1) / (tries + 2)";
        let approval = Opts::new("quita_acquirer_approval", approval);
        let tries = "Tries from which quita_acquirer_approval is computed, at most 200";
        let tries = Opts::new("quita_acquirer_approval_tries", tries);
        let numbers = "Boleto numbers left in our-numbers, as far as this node knows";
        let numbers = Opts::new("quita_acquirer_numbers_left", numbers);
        let routing =
            Opts::new("quita_routing_version", "1 for the version of the routes in use for new payments");
        let meter = Self {
            actors: ActorMeters::new(registry, clock)?,
            created: counters("quita_payments_created_total", "Payments created", &["method"])?,
            payments: counters(
                "quita_payments_total",
                "Payments that reached a status",
                &["method", "acquirer", "status"],
            )?,
            acquirer_requests: enter(
                registry,
                HistogramVec::new(calls, &["acquirer", "method", "outcome"])?,
            )?,
            routing_version: enter(registry, IntGaugeVec::new(routing, &["version"])?)?,
            approval: enter(registry, GaugeVec::new(approval, &["acquirer", "method", "brand"])?)?,
            approval_tries: enter(registry, IntGaugeVec::new(tries, &["acquirer", "method", "brand"])?)?,
            numbers_left: enter(registry, IntGaugeVec::new(numbers, &["acquirer"])?)?,
            notices: counters(
                "quita_notices_total",
                "Notices that acquirers sent over HTTP, by outcome",
                &["acquirer", "outcome"],
            )?,
            webhook_deliveries: counters(
                "quita_webhook_deliveries_total",
                "Webhook delivery attempts, by outcome",
                &["outcome"],
            )?,
            webhook_lag: histogram(lag)?,
            webhook_exhausted: counter("quita_webhook_exhausted_total", "Webhook deliveries given up")?,
            webhook_backlog: gauge("quita_webhook_backlog", "Payments with an unconfirmed event")?,
            webhooks_failing: gauge(
                "quita_webhooks_failing",
                "1 if webhooks are waiting and no attempt by this node has been confirmed for 15 minutes",
            )?,
            due_backlog: gauge("quita_timer_backlog", "Payments that are due and waiting")?,
            inbox_backlog: gauge(
                "quita_inbox_backlog",
                "Notices from acquirers that are waiting to be processed",
            )?,
            backlogs_counted_at: gauge(
                "quita_backlog_counted_timestamp_seconds",
                "Time of the last count of the backlogs; 0 before the first one",
            )?,
            batch_size: histogram(writes.buckets(COUNTS.to_vec()))?,
            commit_seconds: histogram(seconds(
                "quita_journal_commit_seconds",
                "Time the store takes to commit a batch",
            ))?,
            conflicts: counter("quita_store_conflicts_total", "Writes that lost against another writer")?,
            exceptions: counters("quita_exceptions_total", "Exceptions reported to operators", &["kind"])?,
        };
        // Created with zero, because an alert does not see an increase in a series that did not exist.
        let kinds = DiscrepancyKind::ALL.map(DiscrepancyKind::as_str).into_iter();
        let kinds = kinds.chain(RECONCILIATION_KINDS.map(ReconciliationKind::as_str));
        for kind in kinds.chain([UNKNOWN_PAYMENT, UNREADABLE, NUMBERS_LOW, CARD_TESTING]) {
            meter.exceptions.with_label_values(&[kind]);
        }
        for method in Method::ALL {
            meter.created.with_label_values(&[method.label()]);
        }
        Ok(Arc::new(meter))
    }

    /// Exports the version of the routing table in use, replacing the previous one.
    pub(crate) fn show_routing(&self, before: &Version, now: &Version) {
        if before != now {
            self.routing_version.remove_label_values(&[before.as_str()]).ok();
        }
        self.routing_version.with_label_values(&[now.as_str()]).set(1);
    }

    /// Counts a call to an acquirer.
    pub(crate) fn count_call(
        &self,
        acquirer: &AcquirerName,
        method: Method,
        outcome: CallOutcome,
        took: Duration,
    ) {
        let labels = [acquirer.as_str(), method.label(), outcome.label()];
        self.acquirer_requests.with_label_values(&labels).observe(took.as_secs_f64());
    }

    /// Returns the meter of one kind of actor.
    pub(crate) fn of(&self, kind: ActorKind) -> Arc<ActorMeter> {
        self.actors.of(kind)
    }
}
