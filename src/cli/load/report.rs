//! Report: all measures, all verdicts, and the violations.

use std::collections::BTreeMap;

use serde::Serialize;
use uuid::Uuid;

use super::board::Board;
use super::circumstances::Circumstances;
use super::contact::Absence;
use super::faults::{shortfalls, violations};
use super::latency::Latency;
use super::ledger::{Account, Ledger};
use super::limits::{Limits, Pressure, ServiceAbsence};
use super::measures::{Call, Measures, Slice, Webhooks, quantile};
use super::own_cost::OwnCost;
use super::plan::{Mix, Pace};
use super::reply::Reply;
use super::schedule::Stage;
use super::stop::Stop;
use super::threshold::{Facts, Judged, Threshold};
use super::verdict::{Deliveries, Found, Verdict};

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
    /// Early end.
    pub(super) stopped: Option<Stop>,
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
    pub(super) found: String,
}

/// Complete report of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Version of this report's format.
    pub(super) format: u64,
    /// True if nothing was violated, no threshold was crossed, and the run was complete.
    pub(super) passed: bool,
    /// Times in which the service did not answer.
    pub(super) absences: Vec<Absence>,
    /// Violations of the service's promises, as sentences.
    pub(super) violations: Vec<String>,
    /// Shortfalls of the run itself, as sentences.
    pub(super) shortfalls: Vec<String>,
    /// Thresholds, compared with the measures.
    pub(super) thresholds: Vec<Judged>,
    /// Early end.
    pub(super) stopped: Option<Stop>,
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
        let absences = measures.contact.absences();
        let missed = measures.excused().saturating_add(measures.skipped);
        let pressure = Pressure {
            asked_per_second: plan.due.map(|due| due.saturating_mul(1_000) / plan.duration_ms.max(1)),
            reached_per_second: rate,
            missed_per_second: missed.saturating_mul(1_000) / course.elapsed_ms.max(1),
            absence: match absences.last() {
                None => ServiceAbsence::None,
                Some(Absence { until_ms: None, .. }) => ServiceAbsence::Lasting,
                Some(Absence { until_ms: Some(_), .. }) => ServiceAbsence::Ended,
            },
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
            passed: [&violations, &shortfalls].iter().all(|faults| faults.is_empty())
                && absences.is_empty()
                && is_within
                && course.stopped.is_none(),
            absences,
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

    /// Lists what whoever reads the report must know first: an early end, and the service's absence.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let stopped = self.stopped.iter().map(ToString::to_string);
        stopped.chain(self.absences.iter().map(ToString::to_string))
    }

    /// Lists the reasons why the run did not pass, as sentences.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let absences = self.absences.iter().map(ToString::to_string);
        let crossed = self.thresholds.iter().filter(|threshold| threshold.is_crossed);
        let crossed = crossed.map(|threshold| match &threshold.measured {
            Some(measured) => format!("threshold: {} ({measured})", threshold.condition),
            None => format!("threshold: {} (nothing was measured)", threshold.condition),
        });
        absences.chain(self.violations.iter().cloned()).chain(crossed).chain(self.shortfalls.iter().cloned())
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
pub(super) struct Judgement {
    payments: u64,
    verdicts: BTreeMap<&'static str, u64>,
    pub(super) examples: Vec<Example>,
    was_forbidden: bool,
    /// Payments that are not judged, by the reason.
    pub(super) unjudged: BTreeMap<String, u64>,
    /// True if the run was stopped, so that nobody asked about its payments.
    pub(super) is_stopped: bool,
    /// True if events came and not one payment has only good signatures.
    pub(super) does_secret_fit_nothing: bool,
}

impl Judgement {
    pub(super) fn of(ledger: &Ledger, is_stopped: bool) -> Self {
        let mut verdicts: BTreeMap<_, _> = Verdict::ALL.map(|verdict| (verdict.as_str(), 0)).into();
        let (mut examples, mut unknown) = (Vec::new(), Vec::new());
        let mut unjudged = BTreeMap::new();
        let (mut was_forbidden, mut fits, mut fits_not) = (false, false, false);
        for (transaction_id, account) in ledger.accounts() {
            let verdict = Verdict::of(account);
            *verdicts.entry(verdict.as_str()).or_default() += 1;
            was_forbidden |= account.deliveries == Some(Deliveries::Forbidden);
            fits_not |= account.flaws.bad_signature;
            fits |= !account.flaws.bad_signature && !account.heard.is_empty();
            let is_shown = verdict.is_violation() || verdict == Verdict::Late;
            if is_shown && examples.len() < MAX_EXAMPLES {
                examples.push(Example::new(transaction_id, verdict, account));
            }
            if verdict == Verdict::Unjudged {
                *unjudged.entry(reason(account)).or_default() += 1;
                if !is_stopped && unknown.len() < MAX_EXAMPLES {
                    unknown.push(Example::new(transaction_id, verdict, account));
                }
            }
        }
        let room = MAX_EXAMPLES - examples.len();
        examples.extend(unknown.into_iter().take(room));
        let does_secret_fit_nothing = fits_not && !fits;
        if does_secret_fit_nothing {
            examples.retain(|example| example.verdict != Verdict::BadSignature);
        }
        Self {
            payments: count(ledger.payments()),
            verdicts,
            examples,
            was_forbidden,
            unjudged,
            is_stopped,
            does_secret_fit_nothing,
        }
    }

    /// Returns the number of payments with this verdict.
    pub(super) fn count(&self, verdict: Verdict) -> u64 {
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

/// Returns the reason why a payment is not judged.
fn reason(account: &Account) -> String {
    match (account.found, account.deliveries) {
        (Some(Found::Unanswered(Reply::Status(status))), _)
        | (_, Some(Deliveries::Unanswered(Reply::Status(status)))) => format!("answered {status}"),
        (Some(Found::Unanswered(Reply::Missing(reason))), _)
        | (_, Some(Deliveries::Unanswered(Reply::Missing(reason)))) => reason.as_str().into(),
        (Some(Found::Is(_) | Found::Nothing | Found::Unusable) | None, _) => "not asked".into(),
    }
}

impl Example {
    fn new(transaction_id: Uuid, verdict: Verdict, account: &Account) -> Self {
        let told = account.heard.iter().map(|heard| format!("{} {}", heard.sequence, heard.status));
        let found = account.found.map_or_else(|| "nothing (not asked)".into(), |found| found.to_string());
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

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
