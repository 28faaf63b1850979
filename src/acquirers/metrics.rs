//! Metrics of the links to providers, collected at each scrape.

use std::sync::Arc;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};
use quita_acquirers::exchange::watched::TokenOutcome;
use quita_domain::time::Timestamp;

use super::Link;
use super::registration::is_registered;

/// Collector of the states of the links.
pub(crate) struct LinkMetrics {
    links: Vec<Arc<Link>>,
    certificate: IntGaugeVec,
    token: IntGaugeVec,
    registered: IntGaugeVec,
    requests: IntCounterVec,
}

impl LinkMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has one of their names.
    pub(crate) fn register(links: Vec<Arc<Link>>, registry: &Registry) -> Result<(), prometheus::Error> {
        let gauge = |name: &str, help: &str| IntGaugeVec::new(Opts::new(name, help), &["acquirer"]);
        let requests = Opts::new(
            "quita_acquirer_token_requests_total",
            "Access token requests, by outcome: granted, refused, failed",
        );
        let metrics = Self {
            links,
            certificate: gauge(
                "quita_acquirer_certificate_expires_timestamp_seconds",
                "Expiry of our certificate for this acquirer",
            )?,
            token: gauge(
                "quita_acquirer_token_expires_timestamp_seconds",
                "Expiry of the access token in use for this acquirer",
            )?,
            registered: gauge(
                "quita_acquirer_callback_registered",
                "1 if this acquirer calls us back, where this service registers the address",
            )?,
            requests: IntCounterVec::new(requests, &["acquirer", "outcome"])?,
        };
        registry.register(Box::new(metrics))
    }

    fn refresh(&self) {
        for link in &self.links {
            let Some(state) = link.state() else { continue };
            let name = state.acquirer.as_str();
            let label = [name];
            show(&self.certificate, label, state.certificate_until.map(seconds));
            show(&self.token, label, state.token_until.map(seconds));
            let registered = state.registration.as_ref().and_then(is_registered);
            show(&self.registered, label, registered.map(i64::from));
            for outcome in TokenOutcome::ALL {
                if let Some(count) = link.token_requests(outcome) {
                    let counter = self.requests.with_label_values(&[name, outcome.as_str()]);
                    // The link counts by itself, whether or not anyone scrapes. Only the increase since the last scrape
                    // is added.
                    counter.inc_by(count.saturating_sub(counter.get()));
                }
            }
        }
    }
}

impl Collector for LinkMetrics {
    fn desc(&self) -> Vec<&Desc> {
        let gauges = [&self.certificate, &self.token, &self.registered];
        gauges.into_iter().flat_map(|gauge| gauge.desc()).chain(self.requests.desc()).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.refresh();
        let gauges = [&self.certificate, &self.token, &self.registered];
        gauges.into_iter().flat_map(|gauge| gauge.collect()).chain(self.requests.collect()).collect()
    }
}

/// Sets a gauge, or removes it if there is no value.
fn show(gauge: &IntGaugeVec, label: [&str; 1], value: Option<i64>) {
    match value {
        Some(value) => gauge.with_label_values(&label).set(value),
        None => {
            // Removal fails if there is no value, which is the wanted state.
            gauge.remove_label_values(&label).ok();
        }
    }
}

const fn seconds(at: Timestamp) -> i64 {
    at.millis().div_euclid(1_000)
}
