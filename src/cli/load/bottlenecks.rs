//! Bottlenecks of a run: they explain the rate reached by resources, latencies and refusals.

use super::latency::{Latency, LatencyKind};
use super::limits::Limits;
use super::progress::time;
use super::rate::Rate;
use super::troubles::{Absence, Freezes, StoreRefusals};

/// Share of the requested rate below which the run was saturated, in percent.
const REACHED: u64 = 95;
/// Busy share above which processors, or the load tester's only thread, count as saturated, in percent.
const BUSY: u64 = 90;

/// Minimum number, and minimum share in percent, of others' payments or deliveries to be reported.
const MIN_OTHERS: u64 = 5;
const MIN_OTHERS_PERCENT: u64 = 5;

/// Minimum share of the creations, in percent, whose refusal explains a rate that was not reached.
const MIN_REFUSED_PERCENT: u64 = 5;

/// Finding if the service was away.
const ABSENT: &str = "the service's absence: the figure includes time in which it did not answer";

/// Facts of a run besides its samples.
#[derive(Debug)]
pub(super) struct Pressure<'a> {
    /// Requested rate of payments per second; `None` in the closed model.
    pub(super) asked: Option<Rate>,
    /// Creations sent, whatever the answer.
    pub(super) sent: u64,
    /// Webhooks that had been received when the service's metrics were read.
    pub(super) received: u64,
    /// Payments created per second.
    pub(super) reached: Rate,
    /// Payments per second that were due while the service was away, and were not created.
    pub(super) missed: Rate,
    /// Creations that failed, or were refused by the key's rate limit.
    pub(super) failed_creates: u64,
    /// Rate of these failures per second.
    pub(super) failed: Rate,
    /// Absence of the service.
    pub(super) absence: ServiceAbsence,
    /// Times in which the service answered nothing, and then continued.
    pub(super) freezes: Option<Freezes>,
    /// Connections of the load tester, which are its clients in the closed model.
    pub(super) connections: usize,
    /// Answers with 429.
    pub(super) throttled: u64,
    /// Answers with 503.
    pub(super) overloaded: u64,
    /// Answers reporting that the store is out of reach.
    pub(super) store_refusals: Option<StoreRefusals>,
    /// Answers that the contract does not promise.
    pub(super) unexpected: Vec<String>,
    /// Every latency.
    pub(super) latencies: &'a [Latency],
}

/// Absence of the service during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServiceAbsence {
    /// The service was never away.
    None,
    /// The service came back.
    Ended,
    /// The service did not come back.
    Lasting,
}

impl ServiceAbsence {
    /// Summarises the absences. Those that began after the load limited no figure.
    pub(super) fn of(absences: &[Absence]) -> Self {
        match absences.iter().rfind(|absence| !absence.is_after_load) {
            None => Self::None,
            Some(Absence { until_ms: None, .. }) => Self::Lasting,
            Some(Absence { until_ms: Some(_), .. }) => Self::Ended,
        }
    }
}

impl Limits {
    /// Adds the bottlenecks.
    pub(super) fn with_findings(mut self, pressure: &Pressure<'_>) -> Self {
        let rest = [connection_wait(pressure), own_delay(pressure)].into_iter().flatten();
        let refusals = self.refusals(pressure);
        self.findings = match pressure.asked {
            _ if pressure.is_explained_by_absence() => {
                std::iter::once(ABSENT.into()).chain(refusals).collect()
            }
            Some(asked) if pressure.reached.reaches(REACHED, asked) => {
                let finding = "nothing: the requested rate was reached";
                // The following did not limit the rate, but is part of the latencies.
                std::iter::once(finding.into()).chain(refusals).chain(rest).collect()
            }
            Some(asked) if pressure.reached.plus(pressure.failed).reaches(REACHED, asked) => {
                let failed = pressure.failed_creates;
                let sent = pressure.sent;
                let reached = pressure.reached;
                let finding = format!(
                    "{failed} of {sent} creations failed or were refused, and the others were in time: {reached} of \
                     {asked} payments due per second were created"
                );
                std::iter::once(finding).chain(refusals).chain(rest).collect()
            }
            Some(asked) if pressure.is_explained_by_store() => {
                let failed = pressure.failed_creates;
                let sent = pressure.sent;
                let reached = pressure.reached;
                let finding = format!(
                    "{failed} of {sent} creations failed or were refused in a run whose store was unavailable for some \
                     time: {reached} of {asked} payments due per second were created"
                );
                std::iter::once(finding).chain(refusals).chain(rest).collect()
            }
            asked => {
                let causes: Vec<_> = refusals.into_iter().chain(self.busy()).chain(rest).collect();
                let saturation = asked.map(|asked| {
                    let reached = pressure.reached;
                    format!("saturated: {reached} of {asked} payments due per second were created")
                });
                let unknown = causes.is_empty().then(|| unknown_cause(pressure));
                saturation.into_iter().chain(unknown).chain(causes).collect()
            }
        };
        self
    }

    /// Lists what kept requests from being answered: the store, a freeze, the rate limit, full mailboxes.
    fn refusals(&self, pressure: &Pressure<'_>) -> Vec<String> {
        let throttled = (pressure.throttled > 0).then(|| {
            format!(
                "the key's rate limit answered {} requests with 429: see rate-limit in the configuration",
                pressure.throttled
            )
        });
        let by_store = pressure.store_refusals.map_or(0, |refusals| refusals.count);
        let overloaded = pressure.overloaded.saturating_sub(by_store);
        let overloaded = (overloaded > 0).then(|| {
            let actors = self.refusing_actors();
            format!("the service refused {overloaded} requests with 503{actors}")
        });
        let freeze = pressure.freezes.map(|freezes| freezes.to_string());
        let unexpected = (!pressure.unexpected.is_empty()).then(|| {
            format!("answers that the contract does not promise: {}", pressure.unexpected.join(", "))
        });
        let store =
            self.store_trouble().or_else(|| pressure.store_refusals.map(|refusals| refusals.to_string()));
        let events = self.events_of_others(pressure);
        [self.payments_of_others(pressure), events, store, freeze, throttled, overloaded, unexpected]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Reports payments that the service created besides those of this run.
    fn payments_of_others(&self, pressure: &Pressure<'_>) -> Option<String> {
        let created = self.service.as_ref()?.created;
        // Creations without an answer may have succeeded, so they are counted as this run's.
        let others = clearly_of_others(created, pressure.sent)?;
        Some(format!("{others} of the {created} payments that the service created were not part of this run"))
    }

    /// Reports the service's attempts to deliver other events, such as those of an earlier run that was stopped.
    fn events_of_others(&self, pressure: &Pressure<'_>) -> Option<String> {
        let tried = self.service.as_ref()?.deliveries;
        let others = clearly_of_others(tried, pressure.received)?;
        Some(format!(
            "{others} of the {tried} deliveries that the service tried went elsewhere, such as events of a previous run"
        ))
    }

    /// Lists the processors that were busy all the time.
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
            Some(format!("the store: it was unavailable at the end; {failed}"))
        } else {
            (!kinds.is_empty())
                .then(|| format!("the store: it was unavailable or failed for some time; {failed}"))
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
    /// Returns true if the store's unavailability explains the reached rate: it cost a clear share of the creations. The
    /// last ones may have waited for it, and were late.
    fn is_explained_by_store(&self) -> bool {
        let has_refused = self.store_refusals.is_some_and(|refusals| refusals.creations > 0);
        has_refused
            && self.failed_creates.saturating_mul(100) >= self.sent.saturating_mul(MIN_REFUSED_PERCENT)
    }

    /// Returns true if the service's absence explains the reached rate: it never came back, or the missed payments make
    /// up the shortfall.
    fn is_explained_by_absence(&self) -> bool {
        let is_enough = |asked: Rate| self.reached.plus(self.missed).reaches(REACHED, asked);
        match self.absence {
            ServiceAbsence::None => false,
            ServiceAbsence::Lasting => true,
            ServiceAbsence::Ended => self.asked.is_none_or(is_enough),
        }
    }
}

/// Returns the part of a count that does not belong to this run, if it clearly exceeds chance.
fn clearly_of_others(all: u64, own: u64) -> Option<u64> {
    let others = all.checked_sub(own)?;
    let is_clear =
        others >= MIN_OTHERS && others.saturating_mul(100) >= all.saturating_mul(MIN_OTHERS_PERCENT);
    is_clear.then_some(others)
}

fn unknown_cause(pressure: &Pressure<'_>) -> String {
    match pressure.asked {
        None => format!(
            "{} clients, each waiting for its answers: a higher --concurrency may create more",
            pressure.connections
        ),
        Some(_) => "no single cause was found; compare the latencies, and the store's share of them".into(),
    }
}

fn of_kind<'a>(pressure: &Pressure<'a>, kind: LatencyKind) -> Option<&'a Latency> {
    pressure.latencies.iter().find(|latency| latency.kind == kind && latency.count > 0)
}

/// Reports the wait for a connection if it takes at least half of a median creation.
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

/// Reports the load tester's own delay if it takes at least half of a creation's 99th percentile.
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
    use quita_machine::SystemClock;
    use quita_ports::Clock;

    use super::super::reply::NoAnswer;
    use super::super::service_metrics::ServiceLoad;
    use super::*;

    fn latency(kind: LatencyKind, ms: u64) -> Latency {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record(ms * 1_000).unwrap();
        Latency::new(kind, &histogram)
    }

    fn findings(limits: Limits, change: impl FnOnce(&mut Pressure<'_>)) -> Vec<String> {
        let latencies = [latency(LatencyKind::Create, 10), latency(LatencyKind::Connection, 1)];
        let mut pressure = Pressure {
            asked: Some(Rate::of(100, 1_000)),
            reached: Rate::of(99, 1_000),
            missed: Rate::default(),
            failed_creates: 0,
            failed: Rate::default(),
            sent: 100,
            received: 0,
            absence: ServiceAbsence::None,
            freezes: None,
            connections: 512,
            throttled: 0,
            overloaded: 0,
            store_refusals: None,
            unexpected: Vec::new(),
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
            assert_eq!(findings(limits, |_| ()), ["nothing: the requested rate was reached"]);
        }
    }

    #[test]
    fn clients_that_wait_bound_the_closed_model() {
        let found = findings(Limits::default(), |pressure| {
            pressure.asked = None;
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
            pressure.reached = Rate::of(60, 1_000);
            pressure.overloaded = 7;
        });
        assert_eq!(
            found,
            [
                "saturated: 60 of 100 payments due per second were created",
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
            asked: Some(Rate::of(100, 1_000)),
            reached: Rate::of(50, 1_000),
            missed: Rate::default(),
            failed_creates: 0,
            failed: Rate::default(),
            sent: 100,
            received: 0,
            absence: ServiceAbsence::None,
            freezes: None,
            connections: 512,
            throttled: 3,
            overloaded: 0,
            store_refusals: None,
            unexpected: Vec::new(),
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
    fn an_absence_after_the_load_bounds_nothing() {
        let absence = |until_ms, is_after_load| Absence {
            from_ms: 1,
            until_ms,
            since: SystemClock.now(),
            cause: NoAnswer::TimeOut,
            is_after_load,
            is_store_away: false,
        };
        for (absences, expected) in [
            (vec![], ServiceAbsence::None),
            (vec![absence(Some(2), false), absence(None, true)], ServiceAbsence::Ended),
            (vec![absence(None, false)], ServiceAbsence::Lasting),
            (vec![absence(None, true)], ServiceAbsence::None),
        ] {
            assert_eq!(ServiceAbsence::of(&absences), expected, "{absences:?}");
        }
    }

    #[test]
    fn a_service_that_went_away_was_not_saturated() {
        let found = |absence, missed| {
            findings(Limits { machine_busy_percent: Some(97), ..Limits::default() }, |pressure| {
                pressure.reached = Rate::of(30, 1_000);
                pressure.missed = Rate::of(missed, 1_000);
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
                "the store: it was unavailable at the end; calls that failed or were refused: probe 3, write 5",
            ),
            (
                false,
                50,
                "the store: it was unavailable or failed for some time; calls that failed or were refused: probe 3, write 5",
            ),
        ] {
            let kinds = [("probe", 3), ("write", 5)].map(|(kind, count)| (kind.to_owned(), count));
            let store_failures_by_kind = BTreeMap::from(kinds);
            let service = ServiceLoad { is_store_away, store_failures_by_kind, ..ServiceLoad::default() };
            let limits = Limits { service: Some(service), ..Limits::default() };
            let found = findings(limits, |pressure| pressure.reached = Rate::of(reached, 1_000));
            assert_eq!(found[1], expected, "{found:?}");
        }
    }

    #[test]
    fn a_store_out_of_reach_is_named_though_no_metrics_are_known_and_is_no_saturation() {
        let busy = Limits { machine_busy_percent: Some(100), ..Limits::default() };
        let found = findings(busy, |pressure| {
            pressure.reached = Rate::of(24, 1_000);
            pressure.overloaded = 76;
            pressure.store_refusals =
                Some(StoreRefusals { count: 76, creations: 76, from_ms: 3_000, until_ms: 13_000 });
            pressure.failed_creates = 76;
            pressure.failed = Rate::of(76, 1_000);
        });
        assert!(found[0].starts_with("76 of 100 creations failed or were refused"), "{found:?}");
        assert!(found[1].starts_with("the service's store was unavailable: 76 requests"), "{found:?}");
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn creations_that_an_unavailable_store_refused_are_no_saturation_even_if_the_last_ones_waited() {
        for (failed, expected) in [
            (
                129,
                "129 of 160 creations failed or were refused in a run whose store was unavailable for some time: 3 of 40 \
                 payments due per second were created",
            ),
            (7, "saturated: 3 of 40 payments due per second were created"),
        ] {
            let found = findings(Limits::default(), |pressure| {
                pressure.asked = Some(Rate::of(40, 1_000));
                pressure.reached = Rate::of(3, 1_000);
                pressure.sent = 160;
                pressure.store_refusals =
                    Some(StoreRefusals { count: failed, creations: failed, from_ms: 500, until_ms: 9_000 });
                pressure.failed_creates = failed;
                pressure.failed = Rate::of(14, 1_000);
            });
            assert_eq!(found[0], expected, "{found:?}");
        }
    }

    #[test]
    fn answers_that_nobody_expects_are_a_cause() {
        let found = findings(Limits::default(), |pressure| {
            pressure.reached = Rate::of(50, 1_000);
            pressure.unexpected = vec!["create 9 times 500".into(), "read 1 times 404".into()];
        });
        assert_eq!(
            found[1],
            "answers that the contract does not promise: create 9 times 500, read 1 times 404"
        );
    }

    #[test]
    fn creations_that_fail_are_no_saturation() {
        let limits = Limits { machine_busy_percent: Some(100), ..Limits::default() };
        let found = findings(limits, |pressure| {
            pressure.reached = Rate::of(70, 1_000);
            pressure.failed_creates = 30;
            pressure.failed = Rate::of(30, 1_000);
            pressure.unexpected = vec!["create 30 times 500".into()];
        });
        assert_eq!(
            found,
            [
                "30 of 100 creations failed or were refused, and the others were in time: 70 of 100 payments due \
                 per second were created",
                "answers that the contract does not promise: create 30 times 500",
            ]
        );
    }

    #[test]
    fn payments_of_others_are_named_if_they_are_clearly_more() {
        for (created, expected) in [
            (138, Some("58 of the 138 payments that the service created were not part of this run")),
            (84, None),
            (79, None),
        ] {
            let service = ServiceLoad { created, ..ServiceLoad::default() };
            let limits = Limits { service: Some(service), ..Limits::default() };
            let found = findings(limits, |pressure| pressure.sent = 80);
            assert_eq!(found.get(1).map(String::as_str), expected, "{found:?}");
        }
    }

    #[test]
    fn deliveries_elsewhere_are_named_if_they_are_clearly_more() {
        for (deliveries, expected) in [
            (
                138,
                Some(
                    "58 of the 138 deliveries that the service tried went elsewhere, such as events of a previous run",
                ),
            ),
            (84, None),
        ] {
            let service = ServiceLoad { deliveries, ..ServiceLoad::default() };
            let limits = Limits { service: Some(service), ..Limits::default() };
            let found = findings(limits, |pressure| pressure.received = 80);
            assert_eq!(found.get(1).map(String::as_str), expected, "{found:?}");
        }
    }

    #[test]
    fn a_freeze_is_named_whether_the_rate_was_reached_or_not() {
        for (count, reached, expected) in [
            (1, 99, "a freeze: nothing was answered for 4.1 s, from 3.0 s of the run on"),
            (
                2,
                50,
                "a freeze: nothing was answered for 4.1 s, from 3.0 s of the run on, the longest of 2 such times",
            ),
        ] {
            let found = findings(Limits::default(), |pressure| {
                pressure.freezes = Some(Freezes { count, from_ms: 3_010, length_ms: 4_130 });
                pressure.reached = Rate::of(reached, 1_000);
            });
            assert_eq!(found[1], expected, "{found:?}");
        }
    }
}
