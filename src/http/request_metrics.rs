//! Metrics of requests: their number by route, method and status, and their duration.

use std::time::Duration;

use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, Opts, Registry};

use super::routes::ROUTES_OF_PROGRAMS;

/// Route label of requests to unknown addresses.
pub(super) const NO_ROUTE: &str = "none";

/// Statuses that are exported at zero from the start, so that the first one of a kind shows as an increase.
const KNOWN_STATUSES: [&str; 11] =
    ["200", "201", "400", "401", "403", "404", "409", "422", "429", "500", "503"];

/// Bucket bounds in seconds: from a read out of memory to a slow card authorisation.
const BUCKETS: [f64; 11] = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Metrics of the number and the duration of requests.
#[derive(Clone)]
pub struct RequestMetrics {
    requests: IntCounterVec,
    seconds: HistogramVec,
}

impl RequestMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has one of their names.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counted = Opts::new("quita_http_requests_total", "Requests by route, method and status");
        let timed = HistogramOpts::new(
            "quita_http_request_seconds",
            "Time from the head of a request to the head of its answer, by route and method",
        );
        let requests = IntCounterVec::new(counted, &["route", "method", "status"])?;
        let seconds = HistogramVec::new(timed.buckets(BUCKETS.to_vec()), &["route", "method"])?;
        for (route, methods) in ROUTES_OF_PROGRAMS {
            for method in methods.split(", ").filter(|method| *method != "HEAD") {
                seconds.with_label_values(&[route, method]);
                for status in KNOWN_STATUSES {
                    requests.with_label_values(&[route, method, status]);
                }
            }
        }
        registry.register(Box::new(requests.clone()))?;
        registry.register(Box::new(seconds.clone()))?;
        Ok(Self { requests, seconds })
    }

    /// Counts one request.
    pub(super) fn count(&self, route: &str, method: &str, status: u16, took: Duration) {
        self.requests.with_label_values(&[route, method, &status.to_string()]).inc();
        self.seconds.with_label_values(&[route, method]).observe(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_series_of_programs_exist_before_the_first_request() {
        let registry = Registry::new();
        let metrics = RequestMetrics::register(&registry).unwrap();
        let counted = || metrics.requests.with_label_values(&["/pay/payments", "POST", "503"]).get();
        assert_eq!(counted(), 0);
        metrics.count("/pay/payments", "POST", 503, Duration::from_millis(2));
        assert_eq!(counted(), 1);
        let families = registry.gather();
        let series: usize = families.iter().map(|family| family.get_metric().len()).sum();
        metrics.count("/pay/payments", "POST", 503, Duration::from_millis(2));
        let after: usize = registry.gather().iter().map(|family| family.get_metric().len()).sum();
        assert_eq!(series, after, "what was known from the start adds no series");
    }
}
