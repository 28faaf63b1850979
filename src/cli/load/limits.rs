//! Resources that a run used: processors on both sides, and the service's own metrics.

use std::time::Instant;

use quita_domain::time::Timestamp;
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde::Serialize;
use url::Url;

use super::machine::MachineTime;
use super::own_cost::cpu_us;
use super::service_metrics::{self, ServiceLoad, ServiceMetrics};

/// Snapshot of all resources that may limit a run.
#[derive(Debug)]
pub(super) struct Sample {
    at: Instant,
    /// The same by the wall clock.
    taken_at: Timestamp,
    own_us: Option<u64>,
    machine: Option<MachineTime>,
    service: Result<ServiceMetrics, String>,
}

/// Resources that a run used, and the conclusions from them.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Limits {
    /// Share of time in which the machine's processors were busy.
    pub(super) machine_busy_percent: Option<u64>,
    /// Processor time of the load tester, in percent of one core. It has one thread for requests.
    pub(super) own_cpu_percent: Option<u64>,
    /// Processor time of the service, in percent of one core.
    pub(super) service_cpu_percent: Option<u64>,
    /// Share of the machine's processors used by other programs. They include the service if its own time is not known.
    pub(super) others_percent: Option<u64>,
    /// Share of the machine's processors that its hypervisor gave to other guests.
    pub(super) stolen_percent: Option<u64>,
    /// Readings of the service's metrics.
    pub(super) service: Option<ServiceLoad>,
    /// Reason for missing readings.
    pub(super) metrics_gap: Option<String>,
    /// Bottlenecks, as sentences.
    pub(super) findings: Vec<String>,
}

impl Sample {
    /// Takes a snapshot. It includes the service only if the address of its metrics is known.
    pub(super) async fn take(metrics: Option<&Url>) -> Self {
        let service = match metrics {
            Some(url) => service_metrics::read(url).await,
            None => Err("their address is not known".into()),
        };
        Self {
            at: Instant::now(),
            taken_at: SystemClock.now(),
            own_us: cpu_us(),
            machine: MachineTime::now(),
            service,
        }
    }

    /// Returns the service's metrics.
    pub(super) fn service(&self) -> Option<&ServiceMetrics> {
        self.service.as_ref().ok()
    }
}

impl Limits {
    /// Summarises the changes between two snapshots.
    pub(super) fn between(before: &Sample, after: &Sample, metrics: Option<&Url>, payments: u64) -> Self {
        let elapsed = after.at.saturating_duration_since(before.at);
        let elapsed_us = super::measures::micros(elapsed).max(1);
        let percent = |us: u64| us.saturating_mul(100) / elapsed_us;
        let own_us = after.own_us.zip(before.own_us).and_then(|(after, before)| after.checked_sub(before));
        let service = metrics
            .ok_or_else(|| "their address is not known; pass it with --metrics URL".into())
            .and_then(|url| service_between(before, after, url, payments));
        let service_us = service.as_ref().ok().and_then(|load| load.cpu_us);
        let machine = after.machine.zip(before.machine);
        let others = machine.zip(own_us).and_then(|((after, before), own)| {
            after.others_percent_since(before, own.saturating_add(service_us.unwrap_or(0)))
        });
        Self {
            machine_busy_percent: machine.and_then(|(after, before)| after.busy_percent_since(before)),
            own_cpu_percent: own_us.map(percent),
            service_cpu_percent: service_us.map(percent),
            others_percent: others,
            stolen_percent: machine.and_then(|(after, before)| after.stolen_percent_since(before)),
            metrics_gap: service.as_ref().err().cloned(),
            service: service.ok(),
            findings: Vec::new(),
        }
    }

    /// Returns the words for the programs whose processor time is only known as a total.
    pub(super) const fn others(&self) -> &'static str {
        if self.service_cpu_percent.is_some() { "other programs" } else { "the service and other programs" }
    }
}

/// Advice for an address behind which several nodes answer.
const ONE_NODE: &str = "behind a load balancer, pass the address of one node with --metrics URL";

/// Reads what the service did between two snapshots, or the reason why that is not known.
fn service_between(before: &Sample, after: &Sample, url: &Url, payments: u64) -> Result<ServiceLoad, String> {
    let hint = "pass the service's address with --metrics URL";
    let earlier = before
        .service
        .as_ref()
        .map_err(|reason| format!("no metrics were read at {url} ({reason}); {hint}"))?;
    let later = after.service.as_ref().map_err(|reason| {
        format!("{url} was read before the run, but not after the last payment ({reason})")
    })?;
    if !later.is_of_process_of(earlier) {
        // A process that ran before the run is no successor, but another node.
        return Err(if later.began_after(before.taken_at) {
            format!("the service at {url} was restarted during the run, which reset its counters")
        } else {
            format!("{url} was answered by one process before the run and by another after it; {ONE_NODE}")
        });
    }
    // Metrics of a process that created none of the payments belong to another service.
    let load = later.since(earlier, url);
    if load.created == 0 && payments > 0 {
        return Err(format!("the process at {url} created none of these payments; {hint}"));
    }
    Ok(load)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(service: Result<&str, &str>) -> Sample {
        let service = service.map(ServiceMetrics::parse).map_err(str::to_owned);
        let taken_at = Timestamp::from_millis(5_000);
        Sample { at: Instant::now(), taken_at, own_us: Some(0), machine: None, service }
    }

    #[test]
    fn metrics_that_are_not_known_have_the_true_reason() {
        const FIVE: &str = "quita_payments_created_total 5\nprocess_start_time_seconds 1\n";
        const NINE: &str = "quita_payments_created_total 9\nprocess_start_time_seconds 1\n";
        const AGAIN: &str = "quita_payments_created_total 9\nprocess_start_time_seconds 8\n";
        const OTHER: &str = "quita_payments_created_total 9\nprocess_start_time_seconds 2\n";
        let url = Url::parse("http://127.0.0.1:9090/metrics").unwrap();
        for (before, after, expected) in [
            (Ok(FIVE), Ok(NINE), None),
            (
                Err("connection refused"),
                Ok(NINE),
                Some("no metrics were read at http://127.0.0.1:9090/metrics (con"),
            ),
            (
                Ok(FIVE),
                Err("connection refused"),
                Some("before the run, but not after the last payment (connec"),
            ),
            (Ok(FIVE), Ok(AGAIN), Some("was restarted during the run")),
            (
                Ok(FIVE),
                Ok(OTHER),
                Some("by one process before the run and by another after it; behind a load balancer"),
            ),
            (
                Ok(NINE),
                Ok(NINE),
                Some("created none of these payments; pass the service's address with --metrics URL"),
            ),
        ] {
            let limits = Limits::between(&sample(before), &sample(after), Some(&url), 4);
            assert_eq!(limits.service.is_some(), expected.is_none(), "{limits:?}");
            let gap = limits.metrics_gap.unwrap_or_default();
            assert!(gap.contains(expected.unwrap_or_default()), "{expected:?}: {gap}");
        }
        let limits = Limits::between(&sample(Ok(FIVE)), &sample(Ok(NINE)), None, 4);
        assert!(limits.metrics_gap.unwrap().contains("--metrics URL"));
    }

    #[test]
    fn other_programs_are_told_from_both_sides() {
        let url = Url::parse("http://127.0.0.1:9090/metrics").unwrap();
        let at = |own_us, cpu: &str, stat: &str| Sample {
            own_us: Some(own_us),
            machine: MachineTime::parse(stat),
            ..sample(Ok(&format!("quita_payments_created_total {own_us}\nprocess_cpu_seconds_total {cpu}\n")))
        };
        let before = at(0, "1.5", "cpu  0 0 0 0 0 0 0 0\n");
        let after = at(200_000, "1.9", "cpu  90 0 10 100 0 0 0 0\n");
        let limits = Limits::between(&before, &after, Some(&url), 4);
        assert_eq!(limits.machine_busy_percent, Some(50));
        assert_eq!(limits.others_percent, Some(20), "40 of 200 ticks are neither's");
        assert_eq!(limits.others(), "other programs");
        let unread = Sample { service: Err("time-out".into()), ..after };
        let unknown = Limits::between(&before, &unread, Some(&url), 4);
        assert_eq!((unknown.others_percent, unknown.others()), (Some(40), "the service and other programs"));
        let unknown = Limits::between(&before, &sample(Err("time-out")), Some(&url), 4);
        assert_eq!(unknown.others_percent, None);
    }
}
