//! The report: everything measured, every verdict, and what was broken.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;
use uuid::Uuid;

use super::board::Board;
use super::ledger::Account;
use super::measures::{Call, Measures, Slice, Webhooks, is_good, quantile};
use super::own_cost::OwnCost;
use super::plan::{Mix, Pace};
use super::verdict::Verdict;

/// The most payments that are shown with what was reported of them.
const MAX_EXAMPLES: usize = 20;

/// Upper edges of the distribution within a power of ten, in hundredths: ten equal steps of the logarithm.
const EDGES: [u64; 10] = [126, 158, 200, 251, 316, 398, 501, 631, 794, 1_000];

/// Powers of ten of the distribution, from 10 µs to 1000 s.
const DECADES: u32 = 8;

/// What a run was told to do.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// The service.
    pub(super) url: String,
    /// `open` or `closed`.
    pub(super) model: &'static str,
    /// Creations a second (open), or clients (closed).
    pub(super) pace: u64,
    /// How long payments were made.
    pub(super) duration_ms: u64,
    /// Shares of the methods.
    pub(super) mix: Mix,
    /// Share of the events that the receiver refused when they came first.
    pub(super) receiver_fail_percent: u8,
    /// Whether a secret was there to check signatures with.
    pub(super) are_signatures_checked: bool,
}

/// Calls with one outcome.
#[derive(Debug, Serialize)]
pub(super) struct Requests {
    /// Which call.
    pub(super) call: Call,
    /// The status of the answer; none is no answer.
    pub(super) status: Option<u16>,
    /// How many.
    pub(super) count: u64,
}

/// Percentiles, in microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Latency {
    /// What was measured.
    pub(super) name: &'static str,
    /// How often.
    pub(super) count: u64,
    /// Half of them are below this, and so on.
    pub(super) p50: u64,
    pub(super) p90: u64,
    pub(super) p99: u64,
    pub(super) p999: u64,
    pub(super) max: u64,
    /// How many lie between an upper edge and the one before.
    pub(super) distribution: Vec<Bin>,
}

/// A part of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Bin {
    /// What all in it are below, in microseconds.
    pub(super) below_us: u64,
    /// How many lie in it.
    pub(super) count: u64,
}

/// One payment that is not as it should be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Example {
    /// Which payment.
    pub(super) transaction_id: Uuid,
    /// What is wrong.
    pub(super) verdict: Verdict,
    /// Sequence and status of each event, in the order of arrival.
    pub(super) told: Vec<String>,
    /// What the service said in the end.
    pub(super) found: &'static str,
}

/// Everything.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Whether nothing was broken.
    pub(super) passed: bool,
    /// What was broken, as sentences.
    pub(super) violations: Vec<String>,
    /// What the run was told to do.
    pub(super) plan: Plan,
    /// How long payments were really made, until the last answer.
    pub(super) elapsed_ms: u64,
    /// Creations that succeeded, a second.
    pub(super) creates_per_second: u64,
    /// Calls by outcome.
    pub(super) requests: Vec<Requests>,
    /// Percentiles.
    pub(super) latencies_us: Vec<Latency>,
    /// Webhooks by what became of them.
    pub(super) webhooks: Webhooks,
    /// Creations that were due while too much was under way.
    pub(super) skipped: u64,
    /// How many payments there are.
    pub(super) payments: u64,
    /// One verdict for each payment.
    pub(super) verdicts: BTreeMap<&'static str, u64>,
    /// Some of those that are not as they should be.
    pub(super) examples: Vec<Example>,
    /// What the load tester itself costs.
    pub(super) own_cost: Option<OwnCost>,
    /// What was measured over time.
    pub(super) timeline: Vec<Slice>,
}

impl Report {
    /// Draws the balance.
    pub(super) fn new(plan: Plan, board: &Board, elapsed_ms: u64, own_cost: Option<OwnCost>) -> Self {
        let mut verdicts: BTreeMap<_, _> = Verdict::ALL.map(|verdict| (verdict.as_str(), 0)).into();
        let mut examples = Vec::new();
        let ledger = board.ledger();
        for (transaction_id, account) in ledger.accounts() {
            let verdict = Verdict::of(account);
            *verdicts.entry(verdict.as_str()).or_default() += 1;
            if verdict.is_violation() && examples.len() < MAX_EXAMPLES {
                examples.push(Example::new(transaction_id, verdict, account));
            }
        }
        let payments = count(ledger.payments());
        drop(ledger);
        let measures = board.measures();
        let violations = violations(&verdicts, &measures);
        let creates = measures.count(|call, status| call == Call::Create && is_good(call, status));
        let requests = measures.answers.iter();
        let requests = requests.map(|(&(call, status), &count)| Requests { call, status, count });
        Self {
            passed: violations.is_empty(),
            violations,
            plan,
            elapsed_ms,
            creates_per_second: creates.saturating_mul(1_000) / elapsed_ms.max(1),
            requests: requests.collect(),
            latencies_us: vec![
                Latency::new("create", &measures.create),
                Latency::new("read", &measures.read),
                Latency::new("event to delivery", &measures.event),
                Latency::new("own delay", &measures.late),
            ],
            webhooks: measures.webhooks,
            skipped: measures.skipped,
            payments,
            verdicts,
            examples,
            own_cost,
            timeline: measures.timeline.clone(),
        }
    }
}

impl Report {
    /// How many payments got each verdict, in the order of the verdicts.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Verdict, u64)> {
        Verdict::ALL
            .into_iter()
            .map(|verdict| (verdict, self.verdicts.get(verdict.as_str()).copied().unwrap_or(0)))
    }
}

impl Plan {
    /// How the pace is written.
    pub(super) fn of_pace(pace: Pace) -> (&'static str, u64) {
        match pace {
            Pace::Rate(rate) => ("open", rate.get().into()),
            Pace::Concurrency(clients) => ("closed", count(clients.get())),
        }
    }
}

impl Latency {
    fn new(name: &'static str, histogram: &Histogram<u64>) -> Self {
        let at = |share| quantile(histogram, share);
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(at);
        let max = histogram.max();
        Self { name, count: histogram.len(), p50, p90, p99, p999, max, distribution: distribution(histogram) }
    }
}

impl Example {
    fn new(transaction_id: Uuid, verdict: Verdict, account: &Account) -> Self {
        let told = account.heard.iter().map(|heard| format!("{} {}", heard.sequence, heard.status));
        let found = account.found.map_or("not asked", |found| found.as_str());
        Self { transaction_id, verdict, told: told.collect(), found }
    }
}

/// How many lie in each step of the logarithm, from the first that holds any to the last.
fn distribution(histogram: &Histogram<u64>) -> Vec<Bin> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let edges = (0..DECADES).flat_map(|decade| EDGES.map(|edge| edge * 10_u64.pow(decade) / 10));
    let mut bins: Vec<_> = edges.map(|below_us| Bin { below_us, count: 0 }).collect();
    for value in histogram.iter_recorded() {
        let place = bins.partition_point(|bin| bin.below_us <= value.value_iterated_to());
        if let Some(bin) = bins.get_mut(place) {
            bin.count += value.count_at_value();
        }
    }
    let holds = |bin: &Bin| bin.count > 0;
    let first = bins.iter().position(holds).unwrap_or(0);
    let last = bins.iter().rposition(holds).unwrap_or(0);
    bins.into_iter().take(last + 1).skip(first).collect()
}

/// What was broken, as sentences.
fn violations(verdicts: &BTreeMap<&'static str, u64>, measures: &Measures) -> Vec<String> {
    let broken = Verdict::ALL.into_iter().filter(|verdict| verdict.is_violation());
    let counted = broken.map(|verdict| (verdicts.get(verdict.as_str()).copied().unwrap_or(0), verdict));
    let mut violations: Vec<_> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("payments: {count} {verdict}"))
        .collect();
    // 429 and 503 are how the service says that it is too much: told in the report, and no violation.
    let unexpected = measures.count(|call, status| {
        call != Call::Check && !is_good(call, status) && !matches!(status, Some(429 | 503))
    });
    if unexpected > 0 {
        violations.push(format!("requests: {unexpected} without the answer that the contract promises"));
    }
    if measures.count(|call, status| call == Call::Create && is_good(call, status)) == 0 {
        violations.push("no payment was made".into());
    }
    for (number, what) in [
        (measures.webhooks.unreadable, "webhooks: {} were no event"),
        (measures.skipped, "payments: {} were due and could not be sent, because too much was under way"),
    ] {
        if number > 0 {
            violations.push(what.replace("{}", &number.to_string()));
        }
    }
    violations
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_holds_every_value_once() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 600_000_000, 3).unwrap();
        for value in [1, 12, 126, 1_000, 1_300, 999_999, 600_000_000] {
            histogram.saturating_record(value);
        }
        let bins = distribution(&histogram);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), histogram.len());
        assert!(bins.is_sorted_by_key(|bin| bin.below_us), "{bins:?}");
        histogram.reset();
        assert_eq!(distribution(&histogram), []);
    }
}
