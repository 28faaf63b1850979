//! Report: all measures, all verdicts, and the violations.

use std::collections::BTreeMap;

use serde::Serialize;
use uuid::Uuid;

use super::board::Board;
use super::circumstances::Circumstances;
use super::latency::Latency;
use super::ledger::{Account, Ledger};
use super::limits::{Limits, Pressure};
use super::measures::{Call, Measures, Slice, Webhooks, quantile};
use super::own_cost::OwnCost;
use super::plan::{Mix, Pace};
use super::reply::{NoAnswer, Reply};
use super::schedule::Stage;
use super::threshold::{Facts, Judged, Threshold};
use super::verdict::{Deliveries, Verdict};

/// Version of the JSON format.
pub(super) const FORMAT: u64 = 1;

/// Maximum number of payments shown with their events.
const MAX_EXAMPLES: usize = 20;

/// Parameters of a run.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// Address of the service.
    pub(super) url: String,
    /// `open` or `closed`.
    pub(super) model: &'static str,
    /// Highest rate of creations a second (open), or clients (closed).
    pub(super) pace: u64,
    /// Rates of the open model, one after the other.
    pub(super) stages: Vec<Stage>,
    /// Payments that are due in the open model.
    pub(super) due: Option<u64>,
    /// Requests of the load tester under way at once.
    pub(super) connections: usize,
    /// Time for which payments were created.
    pub(super) duration_ms: u64,
    /// Time after that in which events could arrive.
    pub(super) settle_ms: u64,
    /// Share of each payment method.
    pub(super) mix: Mix,
    /// Share of the events that the receiver refused on their first arrival.
    pub(super) receiver_fail_percent: u8,
    /// True if there was a secret to check signatures with.
    pub(super) are_signatures_checked: bool,
}

/// Course of a run: its progress and its cost.
#[derive(Debug)]
pub(super) struct Course {
    /// Time in which payments were really created, until the last answer.
    pub(super) elapsed_ms: u64,
    /// Cost of the load tester itself.
    pub(super) own_cost: Option<OwnCost>,
    /// Bottlenecks.
    pub(super) limits: Limits,
    /// Reason why it ended early.
    pub(super) stopped: Option<String>,
}

/// Calls with one outcome.
#[derive(Debug, Serialize)]
pub(super) struct Requests {
    /// Kind of call.
    pub(super) call: Call,
    /// Status of the answer; absent if there was none.
    pub(super) status: Option<u16>,
    /// Reason why there was no answer.
    pub(super) error: Option<&'static str>,
    /// Number of such calls.
    pub(super) count: u64,
}

/// Creations of one stage, with latencies in microseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StageResult {
    /// Stage of the schedule.
    pub(super) stage: Stage,
    /// Payments that were created of those due in it.
    pub(super) created: u64,
    /// Median of a creation.
    pub(super) p50: u64,
    /// 99th percentile of a creation.
    pub(super) p99: u64,
}

/// Payment that is not as it should be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Example {
    /// Id of the payment.
    pub(super) transaction_id: Uuid,
    /// Verdict on the payment.
    pub(super) verdict: Verdict,
    /// Sequence and status of each event, in the order of arrival.
    pub(super) told: Vec<String>,
    /// Final state reported by the service.
    pub(super) found: &'static str,
}

/// Complete report of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Version of this report's format.
    pub(super) format: u64,
    /// True if nothing was violated, no threshold was crossed, and the run was complete.
    pub(super) passed: bool,
    /// Violations of the service's promises, as sentences.
    pub(super) violations: Vec<String>,
    /// Shortfalls of the run itself, as sentences.
    pub(super) shortfalls: Vec<String>,
    /// Thresholds, compared with the measures.
    pub(super) thresholds: Vec<Judged>,
    /// Reason why it ended early.
    pub(super) stopped: Option<String>,
    /// Circumstances in which it was made.
    pub(super) circumstances: Circumstances,
    /// Parameters of the run.
    pub(super) plan: Plan,
    /// Time in which payments were really created, until the last answer.
    pub(super) elapsed_ms: u64,
    /// Creations that succeeded, a second.
    pub(super) creates_per_second: u64,
    /// Bottlenecks.
    pub(super) limits: Limits,
    /// Calls by outcome.
    pub(super) requests: Vec<Requests>,
    /// Percentiles.
    pub(super) latencies_us: Vec<Latency>,
    /// Creations by stage, if there is more than one.
    pub(super) stages: Vec<StageResult>,
    /// Webhooks by outcome.
    pub(super) webhooks: Webhooks,
    /// Creations that were due and were not sent.
    pub(super) skipped: u64,
    /// Number of payments.
    pub(super) payments: u64,
    /// Number of payments by verdict.
    pub(super) verdicts: BTreeMap<&'static str, u64>,
    /// Examples of payments that are not as they should be.
    pub(super) examples: Vec<Example>,
    /// Hints for the tester about the verdicts.
    pub(super) hints: Vec<String>,
    /// Cost of the load tester itself.
    pub(super) own_cost: Option<OwnCost>,
    /// Measures over time.
    pub(super) timeline: Vec<Slice>,
}

impl Report {
    /// Creates the report.
    pub(super) fn new(
        plan: Plan,
        circumstances: Circumstances,
        board: &Board,
        course: Course,
        thresholds: &[Threshold],
    ) -> Self {
        let judgement = Judgement::of(&board.ledger(), course.stopped.is_some());
        let measures = board.measures();
        let latencies = Latency::all(&measures);
        let rate = measures.creates().saturating_mul(1_000) / course.elapsed_ms.max(1);
        let facts = Facts {
            latencies: &latencies,
            failed: measures.failures(),
            refused: measures.refusals(),
            requests: measures.count(|call, _| matches!(call, Call::Create | Call::Read)),
            late: judgement.count(Verdict::Late),
            payments: judgement.payments,
            skipped: measures.skipped,
            rate,
        };
        let thresholds: Vec<_> = thresholds.iter().map(|threshold| threshold.judge(&facts)).collect();
        let with_status = |status| measures.count(|_, reply| reply == Reply::Status(status));
        let pressure = Pressure {
            asked_per_second: plan.due.map(|due| due.saturating_mul(1_000) / plan.duration_ms.max(1)),
            reached_per_second: rate,
            connections: plan.connections,
            throttled: with_status(429),
            overloaded: with_status(503),
            latencies: &latencies,
        };
        // A stopped run did not have the time for everything due.
        let limits =
            if course.stopped.is_some() { course.limits } else { course.limits.with_findings(&pressure) };
        let violations = violations(&judgement, &measures);
        let shortfalls = shortfalls(&judgement, &measures);
        let is_within = thresholds.iter().all(|threshold| !threshold.is_crossed);
        Self {
            format: FORMAT,
            passed: violations.is_empty() && shortfalls.is_empty() && is_within && course.stopped.is_none(),
            violations,
            shortfalls,
            thresholds,
            stopped: course.stopped,
            hints: judgement.hints(&plan),
            circumstances,
            elapsed_ms: course.elapsed_ms,
            creates_per_second: rate,
            limits,
            requests: requests(&measures),
            stages: stages(&plan, &measures),
            latencies_us: latencies,
            webhooks: measures.webhooks,
            skipped: measures.skipped,
            payments: judgement.payments,
            verdicts: judgement.verdicts,
            examples: judgement.examples,
            own_cost: course.own_cost,
            timeline: measures.timeline.clone(),
            plan,
        }
    }

    /// Returns the number of payments with each verdict, in the order of the verdicts.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Verdict, u64)> {
        Verdict::ALL
            .into_iter()
            .map(|verdict| (verdict, self.verdicts.get(verdict.as_str()).copied().unwrap_or(0)))
    }

    /// Lists the reasons why the run did not pass, as sentences.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let crossed = self.thresholds.iter().filter(|threshold| threshold.is_crossed);
        let crossed = crossed.map(|threshold| match &threshold.measured {
            Some(measured) => format!("threshold: {} ({measured})", threshold.condition),
            None => format!("threshold: {} (nothing was measured)", threshold.condition),
        });
        self.violations.iter().cloned().chain(crossed).chain(self.shortfalls.iter().cloned())
    }
}

impl Plan {
    /// Creates a plan without durations, in the model of this pace.
    pub(super) fn of_pace(pace: &Pace, url: &str, connections: usize, mix: Mix) -> Self {
        let plan = Self { url: url.into(), connections, mix, ..Self::default() };
        match pace {
            Pace::Schedule(schedule) => Self {
                model: "open",
                pace: schedule.highest_rate(),
                stages: schedule.stages().to_vec(),
                due: Some(schedule.payments()),
                ..plan
            },
            Pace::Concurrency(clients) => Self { model: "closed", pace: count(clients.get()), ..plan },
        }
    }
}

/// Verdicts on all payments.
struct Judgement {
    payments: u64,
    verdicts: BTreeMap<&'static str, u64>,
    examples: Vec<Example>,
    was_forbidden: bool,
    /// True if events came and not one payment has only good signatures.
    does_secret_fit_nothing: bool,
}

impl Judgement {
    fn of(ledger: &Ledger, is_stopped: bool) -> Self {
        let mut verdicts: BTreeMap<_, _> = Verdict::ALL.map(|verdict| (verdict.as_str(), 0)).into();
        let mut examples = Vec::new();
        let (mut was_forbidden, mut fits, mut fits_not) = (false, false, false);
        for (transaction_id, account) in ledger.accounts() {
            let judged = Verdict::of(account);
            // In a complete run every payment was asked about.
            let is_unread = judged == Verdict::Unjudged && !is_stopped;
            let verdict = if is_unread { Verdict::Unread } else { judged };
            *verdicts.entry(verdict.as_str()).or_default() += 1;
            was_forbidden |= account.deliveries == Some(Deliveries::Forbidden);
            fits_not |= account.flaws.bad_signature;
            fits |= !account.flaws.bad_signature && !account.heard.is_empty();
            let is_shown = verdict.is_violation() || verdict == Verdict::Late;
            if is_shown && examples.len() < MAX_EXAMPLES {
                examples.push(Example::new(transaction_id, verdict, account));
            }
        }
        let does_secret_fit_nothing = fits_not && !fits;
        if does_secret_fit_nothing {
            examples.retain(|example| example.verdict != Verdict::BadSignature);
        }
        Self {
            payments: count(ledger.payments()),
            verdicts,
            examples,
            was_forbidden,
            does_secret_fit_nothing,
        }
    }

    fn count(&self, verdict: Verdict) -> u64 {
        self.verdicts.get(verdict.as_str()).copied().unwrap_or(0)
    }

    fn hints(&self, plan: &Plan) -> Vec<String> {
        let mut hints = Vec::new();
        if self.count(Verdict::Late) > 0 {
            hints.push(format!(
                "late is not missing: {} s after the last payment the service still had these events to deliver; \
                 give it longer with --settle",
                plan.settle_ms / 1_000
            ));
        }
        if self.was_forbidden {
            hints.push(
                "late events count as missing: the key lacks the scope webhooks, so deliveries can't be asked for"
                    .into(),
            );
        }
        if !plan.are_signatures_checked {
            hints.push(
                "signatures were not checked: set QUITA_SECRET to what `quita secrets show` prints".into(),
            );
        }
        hints
    }
}

impl Example {
    fn new(transaction_id: Uuid, verdict: Verdict, account: &Account) -> Self {
        let told = account.heard.iter().map(|heard| format!("{} {}", heard.sequence, heard.status));
        let found = account.found.map_or("not asked", |found| found.as_str());
        Self { transaction_id, verdict, told: told.collect(), found }
    }
}

fn requests(measures: &Measures) -> Vec<Requests> {
    let rows = measures.replies.iter().map(|(&(call, reply), &count)| Requests {
        call,
        status: reply.status(),
        error: reply.error(),
        count,
    });
    rows.collect()
}

fn stages(plan: &Plan, measures: &Measures) -> Vec<StageResult> {
    if plan.stages.len() < 2 {
        return Vec::new();
    }
    let results = plan.stages.iter().zip(&measures.create_by_stage).map(|(stage, times)| StageResult {
        stage: *stage,
        created: times.len(),
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
    });
    results.collect()
}

/// Lists the violations of the service's promises, as sentences.
fn violations(judgement: &Judgement, measures: &Measures) -> Vec<String> {
    // Where no signature fits, the secret is the tester's mistake.
    let counts = |verdict: Verdict| verdict != Verdict::BadSignature || !judgement.does_secret_fit_nothing;
    let broken = Verdict::ALL.into_iter().filter(|verdict| verdict.is_violation() && counts(*verdict));
    let counted = broken.map(|verdict| (judgement.count(verdict), verdict));
    let mut violations: Vec<_> = counted
        .filter(|(count, _)| *count > 0)
        .map(|(count, verdict)| format!("payments: {count} {verdict}"))
        .collect();
    // With 429 and 503 the service signals overload: reported, but not a violation.
    let unreached: u64 = NoAnswer::UNREACHED.map(|reason| measures.unreached(reason)).iter().sum();
    let unexpected = measures.failures().saturating_sub(unreached);
    if unexpected > 0 {
        violations.push(format!("requests: {unexpected} without the answer that the contract promises"));
    }
    if measures.webhooks.unreadable > 0 {
        violations.push(format!("webhooks: {} were no event", measures.webhooks.unreadable));
    }
    violations
}

/// Lists the shortfalls of the run itself, as sentences.
fn shortfalls(judgement: &Judgement, measures: &Measures) -> Vec<String> {
    let mut shortfalls = Vec::new();
    if judgement.does_secret_fit_nothing {
        shortfalls.push(
            "webhooks: no signature fits QUITA_SECRET, which is probably of another merchant or mode; set it to what \
             `quita secrets show` prints"
                .into(),
        );
    }
    for reason in NoAnswer::UNREACHED {
        let unreached = measures.unreached(reason);
        if unreached > 0 {
            shortfalls.push(format!("requests: {unreached} reached nobody ({})", reason.as_str()));
        }
    }
    if measures.creates() == 0 {
        shortfalls.push("no payment was made".into());
    }
    if measures.skipped > 0 {
        shortfalls.push(format!(
            "payments: {} were due and were not sent, because too much was under way",
            measures.skipped
        ));
    }
    shortfalls
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::measures::Creation;
    use super::super::plan::Method;
    use super::*;

    #[test]
    fn a_request_that_reached_nobody_is_a_shortfall_and_breaks_no_promise() {
        let judgement = Judgement::of(&Ledger::new(0), false);
        let mut measures = Measures::new(Instant::now(), 1).unwrap();
        let mut creation = |reply| {
            measures.created(Creation { method: Method::Pix, stage: 0 }, reply, Duration::from_millis(5));
        };
        creation(Reply::Status(201));
        creation(Reply::Missing(NoAnswer::ConnectionRefused));
        creation(Reply::Missing(NoAnswer::ConnectionRefused));
        assert_eq!(violations(&judgement, &measures), [""; 0]);
        assert_eq!(shortfalls(&judgement, &measures), ["requests: 2 reached nobody (connection refused)"]);
        assert_eq!(measures.failures(), 2, "a threshold may count them");
        measures.created(
            Creation { method: Method::Pix, stage: 0 },
            Reply::Missing(NoAnswer::ConnectionClosed),
            Duration::from_millis(5),
        );
        assert_eq!(
            violations(&judgement, &measures),
            ["requests: 1 without the answer that the contract promises"]
        );
    }
}
