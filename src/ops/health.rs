//! Liveness of the process, and its readiness for payments.

use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::web::Data;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntGauge, Registry};
use quita_actors::{MethodOutage, Payments, Readiness, RouteState, StoreAway, StoreTrouble};
use serde::Serialize;
use tokio::time::timeout;

use crate::build_info::{BuildInfo, build_info};
use crate::console::operator::OperatorConsole;

/// Time limit for the store to answer, long enough for its state to count a failure.
const STORE_TIME_OUT: Duration = Duration::from_millis(2_500);

#[derive(Serialize)]
struct Liveness {
    status: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReadinessView {
    status: &'static str,
    version: &'static str,
    /// Commit of the build; `null` for builds outside a repository.
    commit: Option<&'static str>,
    /// Number of the newest stored form that this program reads and writes.
    stored_form: i64,
    /// Number of the store's form, which this program writes.
    store_form: i64,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    store: HealthCheck,
    mailboxes: HealthCheck,
    /// Check that some acquirer accepts new payments.
    routes: HealthCheck,
    /// Comparison of this node's clock with that of the store's server. It does not decide about readiness: with a wrong
    /// clock on the server every node would refuse payments.
    clock: HealthCheck,
    acquirers: Vec<AcquirerCheck>,
    /// Failing acquirers, as `NAME METHOD`. Payments are accepted as long as any acquirer accepts them.
    failing: Vec<String>,
    /// Methods that no acquirer can take, because every open one is failing. They do not decide about readiness: a
    /// restart or another node would not help.
    unable: Vec<UnableMethod>,
}

#[derive(Serialize)]
struct UnableMethod {
    method: &'static str,
    mode: &'static str,
    since: String,
}

#[derive(Serialize)]
struct HealthCheck {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AcquirerCheck {
    acquirer: String,
    method: &'static str,
    mode: &'static str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failing_since: Option<String>,
    /// Error of the last lost call, while it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Handles `GET /health/live`: responds as long as the process runs.
pub(super) async fn live() -> HttpResponse {
    HttpResponse::Ok().json(Liveness { status: "live" })
}

/// Handles `GET /health/ready`: responds with 200 if payments can be accepted, otherwise with 503 and the reason.
pub(super) async fn ready(payments: Data<Payments>, console: Data<OperatorConsole>) -> HttpResponse {
    // The state of the store already reflects a missing answer.
    drop(timeout(STORE_TIME_OUT, payments.probe_store()).await);
    let readiness = payments.readiness();
    let is_ready = readiness.is_ready();
    let Readiness { store_away, takes_messages, routes, clock_ahead_s } = readiness;
    let store = HealthCheck { ok: store_away.is_none(), message: store_away.as_ref().map(message) };
    let recreated = (!takes_messages).then(|| String::from("an actor is being recreated"));
    let mailboxes = HealthCheck { ok: takes_messages, message: recreated };
    let no_routes = match (routes.is_empty(), routes.iter().any(|route| route.state.takes_new_payments())) {
        (_, true) => None,
        (true, false) => Some(String::from("no acquirer is configured")),
        (false, false) => Some(String::from("every acquirer is paused or drained for every method")),
    };
    let open_routes = HealthCheck { ok: no_routes.is_none(), message: no_routes };
    let clock = HealthCheck { ok: clock_ahead_s.is_none(), message: clock_ahead_s.map(clock_message) };
    let failing = routes.iter().filter(|route| route.state == RouteState::Failing);
    let failing = failing.map(|route| format!("{} {}", route.acquirer, route.method.label())).collect();
    let acquirers = routes.into_iter().map(|route| AcquirerCheck {
        acquirer: route.acquirer.to_string(),
        method: route.method.label(),
        mode: route.mode.as_str(),
        state: route.state.as_str(),
        failing_since: route.failing_since.map(|since| since.to_string()),
        error: route.error,
    });
    let acquirers = acquirers.collect();
    let outages = payments.method_outages().into_iter();
    let unable = outages.map(|MethodOutage { mode, method, since }| UnableMethod {
        method: method.label(),
        mode: mode.as_str(),
        since: since.to_string(),
    });
    let unable = unable.collect();
    let checks = Checks { store, mailboxes, routes: open_routes, clock, acquirers, failing, unable };
    let mut response = if is_ready { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    let status = if is_ready { "ready" } else { "not_ready" };
    let BuildInfo { version, commit, stored_form } = build_info();
    let store_form = console.store_form().number;
    response.json(ReadinessView { status, version, commit, stored_form, store_form, checks })
}

/// Returns the store's trouble in words, with its start, and the error that revealed it.
fn message(StoreAway { since, trouble, why }: &StoreAway) -> String {
    let trouble = match trouble {
        StoreTrouble::Silent => "the store does not answer",
        StoreTrouble::ReadOnly => "the store takes no writes",
        StoreTrouble::Full => "the store's disk is full",
        StoreTrouble::Broken => "the store can't be trusted until it is repaired and the service restarted",
    };
    format!("{trouble} (since {since}): {why}")
}

/// Returns the difference of this node's clock from that of the store's server in words.
fn clock_message(ahead_s: i64) -> String {
    let side = if ahead_s < 0 { "behind" } else { "ahead of" };
    let seconds = ahead_s.unsigned_abs();
    format!("this node's clock is {seconds} s {side} that of the store's server: set the wrong one with NTP")
}

/// Metric of readiness, computed at each scrape.
pub(crate) struct ReadyMetric {
    payments: Payments,
    gauge: IntGauge,
}

impl ReadyMetric {
    /// Registers the metric.
    ///
    /// # Errors
    /// Fails if another metric has its name.
    pub(crate) fn register(payments: Payments, registry: &Registry) -> Result<(), prometheus::Error> {
        let help = "1 while this node takes payments, as /health/ready reports, 0 otherwise";
        registry.register(Box::new(Self { payments, gauge: IntGauge::new("quita_ready", help)? }))
    }
}

impl Collector for ReadyMetric {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.gauge.set(i64::from(self.payments.readiness().is_ready()));
        self.gauge.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_clock_is_named_with_its_side() {
        assert!(
            clock_message(300).starts_with("this node's clock is 300 s ahead of that of the store's server")
        );
        assert!(clock_message(-7).starts_with("this node's clock is 7 s behind that of the store's server"));
    }
}
