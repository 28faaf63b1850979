//! Bottlenecks of a run: load tester, processors, store, refusals.

use std::time::Instant;

use serde::Serialize;
use url::Url;

use super::latency::{Latency, LatencyKind};
use super::machine::MachineTime;
use super::own_cost::cpu_us;
use super::progress::time;
use super::service_metrics::{self, ServiceLoad, ServiceMetrics};

/// Share of the requested rate below which the run was saturated, in percent.
const REACHED: u64 = 95;
/// Busy share from which processors, or the load tester's only thread, count as saturated, in percent.
const BUSY: u64 = 90;

/// Snapshot of everything that may limit a run.
#[derive(Debug)]
pub(super) struct Sample {
    at: Instant,
    own_us: Option<u64>,
    machine: Option<MachineTime>,
    service: Option<ServiceMetrics>,
}

/// Resources that a run used, and what follows from it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Limits {
    /// Share of time in which the machine's processors were busy.
    pub(super) machine_busy_percent: Option<u64>,
    /// Processor time of the load tester, in percent of one core. It has one thread for requests.
    pub(super) own_cpu_percent: Option<u64>,
    /// Processor time of the service, in percent of one core.
    pub(super) service_cpu_percent: Option<u64>,
    /// Readings of the service's metrics.
    pub(super) service: Option<ServiceLoad>,
    /// Bottlenecks, as sentences.
    pub(super) findings: Vec<String>,
}

/// Facts of a run besides its samples.
#[derive(Debug)]
pub(super) struct Pressure<'a> {
    /// Requested rate of payments a second; none in the closed model.
    pub(super) asked_per_second: Option<u64>,
    /// Payments a second that were created.
    pub(super) reached_per_second: u64,
    /// Connections of the load tester, which are its clients in the closed model.
    pub(super) connections: usize,
    /// Answers with 429.
    pub(super) throttled: u64,
    /// Answers with 503.
    pub(super) overloaded: u64,
    /// Every latency.
    pub(super) latencies: &'a [Latency],
}

impl Sample {
    /// Takes a snapshot; of the service only if the address of its metrics is known.
    pub(super) async fn take(metrics: Option<&Url>) -> Self {
        let service = match metrics {
            Some(url) => service_metrics::read(url).await,
            None => None,
        };
        Self { at: Instant::now(), own_us: cpu_us(), machine: MachineTime::now(), service }
    }

    /// Returns the service's metrics.
    pub(super) fn service(&self) -> Option<&ServiceMetrics> {
        self.service.as_ref()
    }
}

impl Limits {
    /// Sums up what happened between two snapshots.
    pub(super) fn between(before: &Sample, after: &Sample, metrics: Option<&Url>, payments: u64) -> Self {
        let elapsed = after.at.saturating_duration_since(before.at);
        let elapsed_us = super::measures::micros(elapsed).max(1);
        let percent = |us: u64| us.saturating_mul(100) / elapsed_us;
        let own_us = after.own_us.zip(before.own_us).and_then(|(after, before)| after.checked_sub(before));
        let service = after.service.as_ref().zip(before.service.as_ref()).zip(metrics);
        let service = service.map(|((after, before), url)| after.since(before, url));
        // Metrics of a process that made none of the payments are those of another service.
        let service = service.filter(|load| load.created > 0 || payments == 0);
        let machine = after.machine.zip(before.machine);
        Self {
            machine_busy_percent: machine.and_then(|(after, before)| after.busy_percent_since(before)),
            own_cpu_percent: own_us.map(percent),
            service_cpu_percent: service.as_ref().and_then(|load| load.cpu_us).map(percent),
            service,
            findings: Vec::new(),
        }
    }

    /// Adds the bottlenecks.
    pub(super) fn with_findings(mut self, pressure: &Pressure<'_>) -> Self {
        let saturation = pressure
            .asked_per_second
            .filter(|asked| pressure.reached_per_second.saturating_mul(100) < asked.saturating_mul(REACHED));
        let mut findings: Vec<_> = saturation
            .map(|asked| {
                let reached = pressure.reached_per_second;
                format!("saturated: {reached} payments a second were created of {asked} that were due")
            })
            .into_iter()
            .collect();
        let causes = self.causes(pressure);
        if causes.is_empty() {
            findings.push(match (pressure.asked_per_second, saturation) {
                (None, _) => format!(
                    "{} clients, each of which waits for its answers: more --concurrency may create more",
                    pressure.connections
                ),
                (Some(_), None) => "nothing: the service kept up with the rate".into(),
                (Some(_), Some(_)) => {
                    "no single cause was seen; compare the latencies, and the store's share of them".into()
                }
            });
        }
        findings.extend(causes);
        self.findings = findings;
        self
    }

    fn causes(&self, pressure: &Pressure<'_>) -> Vec<String> {
        let mut causes = Vec::new();
        if pressure.throttled > 0 {
            causes.push(format!(
                "the key's rate limit answered {} requests with 429: see rate-limit in the configuration",
                pressure.throttled
            ));
        }
        if pressure.overloaded > 0 {
            causes.push(format!(
                "the service refused {} requests with 503{}",
                pressure.overloaded,
                self.refusing_actors()
            ));
        }
        if let Some(busy) = self.machine_busy_percent.filter(|busy| *busy >= BUSY) {
            causes.push(format!("the machine's processors: {busy}% of their time was used"));
        }
        if let Some(own) = self.own_cpu_percent.filter(|own| *own >= BUSY) {
            causes.push(format!("the load tester itself: it used {own}% of a core, and it has one thread"));
        }
        causes.extend(connection_wait(pressure));
        causes.extend(own_delay(pressure));
        causes
    }

    fn refusing_actors(&self) -> String {
        let actors = self.service.iter().flat_map(|service| &service.refused_by_actor);
        let actors: Vec<_> = actors.map(|(actor, count)| format!("{actor} {count}")).collect();
        if actors.is_empty() {
            String::new()
        } else {
            format!("; mailboxes that were full: {}", actors.join(", "))
        }
    }
}

fn of_kind<'a>(pressure: &Pressure<'a>, kind: LatencyKind) -> Option<&'a Latency> {
    pressure.latencies.iter().find(|latency| latency.kind == kind && latency.count > 0)
}

/// Reports the wait for a connection if it is at least half of a median creation.
fn connection_wait(pressure: &Pressure<'_>) -> Option<String> {
    let wait = of_kind(pressure, LatencyKind::Connection)?;
    let create = of_kind(pressure, LatencyKind::Create)?;
    (wait.p50.saturating_mul(2) > create.p50).then(|| {
        format!(
            "the load tester's {} connections: a creation waited {} for one (median)",
            pressure.connections,
            time(wait.p50)
        )
    })
}

/// Reports the load tester's own delay if it is at least half of the 99th percentile of a creation.
fn own_delay(pressure: &Pressure<'_>) -> Option<String> {
    let delay = of_kind(pressure, LatencyKind::OwnDelay)?;
    let create = of_kind(pressure, LatencyKind::Create)?;
    (delay.p99.saturating_mul(2) > create.p99).then(|| {
        format!("the load tester's own delay: it started 1 creation in 100 {} late", time(delay.p99))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use hdrhistogram::Histogram;

    use super::*;

    fn latency(kind: LatencyKind, ms: u64) -> Latency {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record(ms * 1_000).unwrap();
        Latency::new(kind, &histogram)
    }

    fn findings(limits: Limits, change: impl FnOnce(&mut Pressure<'_>)) -> Vec<String> {
        let latencies = [latency(LatencyKind::Create, 10), latency(LatencyKind::Connection, 1)];
        let mut pressure = Pressure {
            asked_per_second: Some(100),
            reached_per_second: 99,
            connections: 512,
            throttled: 0,
            overloaded: 0,
            latencies: &latencies,
        };
        change(&mut pressure);
        limits.with_findings(&pressure).findings
    }

    #[test]
    fn a_service_that_keeps_up_is_bound_by_nothing() {
        assert_eq!(findings(Limits::default(), |_| ()), ["nothing: the service kept up with the rate"]);
    }

    #[test]
    fn clients_that_wait_bound_the_closed_model() {
        let found = findings(Limits::default(), |pressure| {
            pressure.asked_per_second = None;
            pressure.connections = 8;
        });
        assert!(found[0].starts_with("8 clients"), "{found:?}");
    }

    #[test]
    fn saturation_stands_before_its_causes() {
        let service = ServiceLoad {
            refused_by_actor: BTreeMap::from([("router".into(), 7)]),
            ..ServiceLoad::default()
        };
        let limits = Limits {
            machine_busy_percent: Some(97),
            own_cpu_percent: Some(30),
            service: Some(service),
            ..Limits::default()
        };
        let found = findings(limits, |pressure| {
            pressure.reached_per_second = 60;
            pressure.overloaded = 7;
        });
        assert_eq!(
            found,
            [
                "saturated: 60 payments a second were created of 100 that were due",
                "the service refused 7 requests with 503; mailboxes that were full: router 7",
                "the machine's processors: 97% of their time was used",
            ]
        );
    }

    #[test]
    fn the_load_testers_own_limits_are_named() {
        let latencies = [
            latency(LatencyKind::Create, 10),
            latency(LatencyKind::Connection, 8),
            latency(LatencyKind::OwnDelay, 9),
        ];
        let pressure = Pressure {
            asked_per_second: Some(100),
            reached_per_second: 100,
            connections: 512,
            throttled: 3,
            overloaded: 0,
            latencies: &latencies,
        };
        let found =
            Limits { own_cpu_percent: Some(99), ..Limits::default() }.with_findings(&pressure).findings;
        for (finding, expected) in found.iter().zip([
            "rate limit answered 3",
            "it used 99% of a core",
            "512 connections",
            "own delay",
        ]) {
            assert!(finding.contains(expected), "{found:?}");
        }
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn metrics_of_another_service_are_left_out() {
        let url = Url::parse("http://127.0.0.1:9090/metrics").unwrap();
        let sample = |created: u64| Sample {
            at: Instant::now(),
            own_us: None,
            machine: None,
            service: Some(ServiceMetrics::parse(&format!("quita_payments_created_total {created}\n"))),
        };
        let service = |before, after| {
            Limits::between(&sample(before), &sample(after), Some(&url), 5).service.map(|load| load.created)
        };
        assert_eq!(service(7, 12), Some(5));
        assert_eq!(service(7, 7), None, "this process made none of the five payments");
    }
}
