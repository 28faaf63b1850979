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

/// Finding where the service was away.
const ABSENT: &str = "the service's absence: the figure counts time in which it did not answer";

/// Snapshot of everything that may limit a run.
#[derive(Debug)]
pub(super) struct Sample {
    at: Instant,
    own_us: Option<u64>,
    machine: Option<MachineTime>,
    service: Result<ServiceMetrics, String>,
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
    /// Share of the machine's processors that other programs used. The service is one of them if its time is not known.
    pub(super) others_percent: Option<u64>,
    /// Share of the machine's processors that its hypervisor gave to other guests.
    pub(super) stolen_percent: Option<u64>,
    /// Readings of the service's metrics.
    pub(super) service: Option<ServiceLoad>,
    /// Reason why there are none.
    pub(super) metrics_gap: Option<String>,
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
    /// Payments a second that were due while the service was away, and were not created.
    pub(super) missed_per_second: u64,
    /// Absence of the service.
    pub(super) absence: ServiceAbsence,
    /// Connections of the load tester, which are its clients in the closed model.
    pub(super) connections: usize,
    /// Answers with 429.
    pub(super) throttled: u64,
    /// Answers with 503.
    pub(super) overloaded: u64,
    /// Every latency.
    pub(super) latencies: &'a [Latency],
}

/// Absence of the service during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServiceAbsence {
    /// There was none.
    None,
    /// The service came back.
    Ended,
    /// The service did not come back.
    Lasting,
}

impl Sample {
    /// Takes a snapshot; of the service only if the address of its metrics is known.
    pub(super) async fn take(metrics: Option<&Url>) -> Self {
        let service = match metrics {
            Some(url) => service_metrics::read(url).await,
            None => Err("their address is not known".into()),
        };
        Self { at: Instant::now(), own_us: cpu_us(), machine: MachineTime::now(), service }
    }

    /// Returns the service's metrics.
    pub(super) fn service(&self) -> Option<&ServiceMetrics> {
        self.service.as_ref().ok()
    }
}

impl Limits {
    /// Sums up what happened between two snapshots.
    pub(super) fn between(before: &Sample, after: &Sample, metrics: Option<&Url>, payments: u64) -> Self {
        let elapsed = after.at.saturating_duration_since(before.at);
        let elapsed_us = super::measures::micros(elapsed).max(1);
        let percent = |us: u64| us.saturating_mul(100) / elapsed_us;
        let own_us = after.own_us.zip(before.own_us).and_then(|(after, before)| after.checked_sub(before));
        let service = metrics
            .ok_or_else(|| "their address is not known; name it with --metrics URL".into())
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

    /// Adds the bottlenecks.
    pub(super) fn with_findings(mut self, pressure: &Pressure<'_>) -> Self {
        let rest = [connection_wait(pressure), own_delay(pressure)].into_iter().flatten();
        let refusals = self.refusals(pressure);
        self.findings = match pressure.asked_per_second {
            _ if pressure.is_explained_by_absence() => {
                std::iter::once(ABSENT.into()).chain(refusals).collect()
            }
            Some(asked)
                if pressure.reached_per_second.saturating_mul(100) >= asked.saturating_mul(REACHED) =>
            {
                let finding = "nothing: the rate that was asked for was reached";
                // What follows did not bound the rate, but it is part of the latencies.
                std::iter::once(finding.into()).chain(refusals).chain(rest).collect()
            }
            asked => {
                let causes: Vec<_> = refusals.into_iter().chain(self.busy()).chain(rest).collect();
                let saturation = asked.map(|asked| {
                    let reached = pressure.reached_per_second;
                    format!("saturated: {reached} payments a second were created of {asked} that were due")
                });
                let unknown = causes.is_empty().then(|| unknown_cause(pressure));
                saturation.into_iter().chain(unknown).chain(causes).collect()
            }
        };
        self
    }

    /// Lists who refused requests: the store, the rate limit, full mailboxes.
    fn refusals(&self, pressure: &Pressure<'_>) -> Vec<String> {
        let throttled = (pressure.throttled > 0).then(|| {
            format!(
                "the key's rate limit answered {} requests with 429: see rate-limit in the configuration",
                pressure.throttled
            )
        });
        let overloaded = (pressure.overloaded > 0).then(|| {
            let actors = self.refusing_actors();
            format!("the service refused {} requests with 503{actors}", pressure.overloaded)
        });
        [self.store_trouble(), throttled, overloaded].into_iter().flatten().collect()
    }

    /// Returns the words for the programs whose processor time is known only together.
    pub(super) const fn others(&self) -> &'static str {
        if self.service_cpu_percent.is_some() { "other programs" } else { "the service and other programs" }
    }

    /// Lists the processors that were at work all the time.
    fn busy(&self) -> impl Iterator<Item = String> {
        let machine = self.machine_busy_percent.filter(|busy| *busy >= BUSY).map(|busy| {
            let others = self.others_percent.filter(|others| *others > 0);
            let others = others.map(|others| format!(", {others}% by {}", self.others())).unwrap_or_default();
            format!("the machine's processors: {busy}% of their time was used{others}")
        });
        let own = self.own_cpu_percent.filter(|own| *own >= BUSY);
        let own =
            own.map(|own| format!("the load tester itself: it used {own}% of a core, and it has one thread"));
        machine.into_iter().chain(own)
    }

    /// Reports a store that was away or failed.
    fn store_trouble(&self) -> Option<String> {
        let service = self.service.as_ref()?;
        let kinds = service.store_failures_by_kind.iter().map(|(kind, count)| format!("{kind} {count}"));
        let kinds: Vec<_> = kinds.collect();
        let failed = if kinds.is_empty() {
            "its calls did not fail before".into()
        } else {
            format!("calls that failed or were refused: {}", kinds.join(", "))
        };
        if service.is_store_away {
            Some(format!("the store: it was away at the end; {failed}"))
        } else {
            (!kinds.is_empty()).then(|| format!("the store: it was away or failed for a time; {failed}"))
        }
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

impl Pressure<'_> {
    /// Returns true if the service was away, and not even its absence leaves too few payments.
    fn is_explained_by_absence(&self) -> bool {
        let reached = self.reached_per_second.saturating_add(self.missed_per_second);
        let is_enough = |asked: u64| reached.saturating_mul(100) >= asked.saturating_mul(REACHED);
        match self.absence {
            ServiceAbsence::None => false,
            ServiceAbsence::Lasting => true,
            ServiceAbsence::Ended => self.asked_per_second.is_none_or(is_enough),
        }
    }
}

fn unknown_cause(pressure: &Pressure<'_>) -> String {
    match pressure.asked_per_second {
        None => format!(
            "{} clients, each of which waits for its answers: more --concurrency may create more",
            pressure.connections
        ),
        Some(_) => "no single cause was seen; compare the latencies, and the store's share of them".into(),
    }
}

/// Reads what the service did between two snapshots, or why that is not known.
fn service_between(before: &Sample, after: &Sample, url: &Url, payments: u64) -> Result<ServiceLoad, String> {
    let hint = "name the service's with --metrics URL";
    let earlier =
        before.service.as_ref().map_err(|reason| format!("nothing was read at {url} ({reason}); {hint}"))?;
    let later = after.service.as_ref().map_err(|reason| {
        format!("{url} was read before the run, but not after the last payment ({reason})")
    })?;
    if !later.is_of_process_of(earlier) {
        return Err(format!("the service at {url} was started again during the run, and its counts with it"));
    }
    // Metrics of a process that made none of the payments are those of another service.
    let load = later.since(earlier, url);
    if load.created == 0 && payments > 0 {
        return Err(format!("the process at {url} made none of these payments; {hint}"));
    }
    Ok(load)
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
            missed_per_second: 0,
            absence: ServiceAbsence::None,
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
        let busy = Limits {
            machine_busy_percent: Some(100),
            own_cpu_percent: Some(99),
            others_percent: Some(80),
            ..Limits::default()
        };
        for limits in [Limits::default(), busy] {
            assert_eq!(findings(limits, |_| ()), ["nothing: the rate that was asked for was reached"]);
        }
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
            others_percent: Some(42),
            service_cpu_percent: Some(50),
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
                "the machine's processors: 97% of their time was used, 42% by other programs",
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
            reached_per_second: 50,
            missed_per_second: 0,
            absence: ServiceAbsence::None,
            connections: 512,
            throttled: 3,
            overloaded: 0,
            latencies: &latencies,
        };
        let found =
            Limits { own_cpu_percent: Some(99), ..Limits::default() }.with_findings(&pressure).findings;
        for (finding, expected) in found.iter().zip([
            "saturated: 50",
            "rate limit answered 3",
            "it used 99% of a core",
            "512 connections",
            "own delay",
        ]) {
            assert!(finding.contains(expected), "{found:?}");
        }
        assert_eq!(found.len(), 5, "{found:?}");
    }

    #[test]
    fn a_service_that_went_away_was_not_saturated() {
        let found = |absence, missed_per_second| {
            findings(Limits { machine_busy_percent: Some(97), ..Limits::default() }, |pressure| {
                pressure.reached_per_second = 30;
                pressure.missed_per_second = missed_per_second;
                pressure.absence = absence;
            })
        };
        assert_eq!(found(ServiceAbsence::Lasting, 60), [ABSENT]);
        assert_eq!(found(ServiceAbsence::Lasting, 0), [ABSENT], "calls that hang are not all counted");
        assert_eq!(found(ServiceAbsence::Ended, 68), [ABSENT]);
        assert!(found(ServiceAbsence::Ended, 5)[0].starts_with("saturated: 30"), "a moment explains little");
    }

    #[test]
    fn a_store_that_was_away_is_named_whether_the_rate_was_reached_or_not() {
        for (is_store_away, reached, expected) in [
            (
                true,
                99,
                "the store: it was away at the end; calls that failed or were refused: probe 3, write 5",
            ),
            (
                false,
                50,
                "the store: it was away or failed for a time; calls that failed or were refused: probe 3, write 5",
            ),
        ] {
            let kinds = [("probe", 3), ("write", 5)].map(|(kind, count)| (kind.to_owned(), count));
            let store_failures_by_kind = BTreeMap::from(kinds);
            let service = ServiceLoad { is_store_away, store_failures_by_kind, ..ServiceLoad::default() };
            let limits = Limits { service: Some(service), ..Limits::default() };
            let found = findings(limits, |pressure| pressure.reached_per_second = reached);
            assert_eq!(found[1], expected, "{found:?}");
        }
    }

    fn sample(service: Result<&str, &str>) -> Sample {
        let service = service.map(ServiceMetrics::parse).map_err(str::to_owned);
        Sample { at: Instant::now(), own_us: Some(0), machine: None, service }
    }

    #[test]
    fn metrics_that_are_not_known_have_the_true_reason() {
        const FIVE: &str = "quita_payments_created_total 5\nprocess_start_time_seconds 1\n";
        const NINE: &str = "quita_payments_created_total 9\nprocess_start_time_seconds 1\n";
        const AGAIN: &str = "quita_payments_created_total 9\nprocess_start_time_seconds 8\n";
        let url = Url::parse("http://127.0.0.1:9090/metrics").unwrap();
        for (before, after, expected) in [
            (Ok(FIVE), Ok(NINE), None),
            (
                Err("connection refused"),
                Ok(NINE),
                Some("nothing was read at http://127.0.0.1:9090/metrics (con"),
            ),
            (
                Ok(FIVE),
                Err("connection refused"),
                Some("before the run, but not after the last payment (connec"),
            ),
            (Ok(FIVE), Ok(AGAIN), Some("was started again during the run")),
            (Ok(NINE), Ok(NINE), Some("made none of these payments; name the service's with --metrics URL")),
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
