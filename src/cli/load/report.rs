//! Report: all measures, all verdicts, and the violations.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use uuid::Uuid;

use super::board::Board;
use super::bottlenecks::{Pressure, ServiceAbsence};
use super::circumstances::Circumstances;
use super::faults::{shortfalls, violations};
use super::latency::Latency;
use super::ledger::{Account, Ledger};
use super::limits::Limits;
use super::measures::{CallKind, Measures, Slice, Webhooks, millis, quantile};
use super::own_cost::OwnCost;
use super::plan::{Mix, Pace};
use super::rate::{Rate, ScheduleTimes, time_of_schedule};
use super::reply::{NoAnswer, Reply};
use super::schedule::Stage;
use super::stop::Stop;
use super::threshold::{Facts, Judged, Threshold};
use super::troubles::{Absence, Freezes, OwnPauses, StoreRefusals};
use super::under_way::UnansweredCalls;
use super::verdict::{ReportedDeliveries, ReportedStatus, Verdict, is_declined};

/// Version of the JSON format. Version 1 had latencies only of successful answers.
pub(super) const FORMAT: u64 = 2;

/// Maximum number of payments shown with their events.
const MAX_EXAMPLES: usize = 20;

/// Share of the requested rate, in percent, below which the load was not the requested one.
const FAR_BELOW: u64 = 67;

/// Delay after the planned end from which the last payment counts as clearly late, in milliseconds.
const CLEARLY_LATE_MS: u64 = 5_000;

/// Parameters of a run.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Plan {
    /// Address of the service.
    pub(super) url: String,
    /// `open` or `closed`.
    pub(super) model: &'static str,
    /// Highest rate of creations per second (open), or number of clients (closed).
    pub(super) pace: u64,
    /// Rates of the open model, in order.
    pub(super) stages: Vec<Stage>,
    /// Payments due in the open model.
    pub(super) due: Option<u64>,
    /// Concurrent requests of the load tester.
    pub(super) connections: usize,
    /// Time for which payments were created.
    pub(super) duration_ms: u64,
    /// Time after that within which events could arrive.
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
    /// Time in which payments were actually created, until the last answer.
    pub(super) elapsed_ms: u64,
    /// Webhooks received by then.
    pub(super) received: u64,
    /// Cost of the load tester itself.
    pub(super) own_cost: Option<OwnCost>,
    /// Bottlenecks.
    pub(super) limits: Limits,
    /// Early end.
    pub(super) stopped: Option<Stop>,
}

/// Calls with one outcome.
#[derive(Debug, Serialize)]
pub(super) struct CallCount {
    /// Kind of call.
    pub(super) call: CallKind,
    /// Status of the answer; absent if there was none.
    pub(super) status: Option<u16>,
    /// Reason why there was no answer.
    pub(super) error: Option<&'static str>,
    /// Number of these calls.
    pub(super) count: u64,
}

/// Creations of one stage, with latencies in microseconds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StageResult {
    /// Stage of the schedule.
    pub(super) stage: Stage,
    /// Payments created out of those due in this stage.
    pub(super) created: u64,
    /// Median of a creation.
    pub(super) p50: u64,
    /// 99th percentile of a creation.
    pub(super) p99: u64,
}

/// Payment that is not as expected.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Example {
    /// Id of the payment.
    pub(super) transaction_id: Uuid,
    /// Verdict on the payment.
    pub(super) verdict: Verdict,
    /// Sequence and status of each event, in the order of arrival, and which were only refused.
    pub(super) told: Vec<String>,
    /// Final state reported by the service.
    pub(super) found: String,
    /// Answer that is not part of the contract.
    #[serde(skip)]
    unusable: Option<(CallKind, Reply)>,
}

/// Complete report of a run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadReport {
    /// Version of this report's format.
    pub(super) format: u64,
    /// True if there was no violation, no threshold was crossed, and the run was complete.
    pub(super) passed: bool,
    /// Times in which the service did not answer.
    pub(super) absences: Vec<Absence>,
    /// Number of absences that are not listed because there were too many.
    pub(super) absences_left_out: u64,
    /// Times in which nothing was answered, and then everything.
    pub(super) freezes: Option<Freezes>,
    /// Times in which the load tester itself stood still.
    pub(super) own_pauses: Option<OwnPauses>,
    /// Answers reporting that the service's store was out of reach.
    pub(super) store_refusals: Option<StoreRefusals>,
    /// Violations of the service's promises, as sentences.
    pub(super) violations: Vec<String>,
    /// Shortfalls of the run itself, as sentences.
    pub(super) shortfalls: Vec<String>,
    /// Thresholds and their results.
    pub(super) thresholds: Vec<Judged>,
    /// Early end.
    pub(super) stopped: Option<Stop>,
    /// Creations and reads without an answer at that moment, if one of them had waited long.
    pub(super) unanswered: Option<UnansweredCalls>,
    /// Circumstances of the run.
    pub(super) circumstances: Circumstances,
    /// Parameters of the run.
    pub(super) plan: Plan,
    /// Time in which payments were actually created, until the last answer.
    pub(super) elapsed_ms: u64,
    /// Time on which the rate is based. It excludes final waits that brought no answer.
    pub(super) made_in_ms: u64,
    /// Successful creations per second.
    pub(super) creates_per_second: u64,
    /// The same rate, exact to a hundredth.
    pub(super) rate: Rate,
    /// Bottlenecks.
    pub(super) limits: Limits,
    /// Calls by outcome.
    pub(super) requests: Vec<CallCount>,
    /// Percentiles.
    pub(super) latencies_us: Vec<Latency>,
    /// Creations by stage, if there is more than one.
    pub(super) stages: Vec<StageResult>,
    /// Webhooks by outcome.
    pub(super) webhooks: Webhooks,
    /// Creations that were due but not sent.
    pub(super) skipped: u64,
    /// Number of payments.
    pub(super) payments: u64,
    /// Number of payments by verdict.
    pub(super) verdicts: BTreeMap<&'static str, u64>,
    /// Number of declined payments, by the service's reason. All of them should have been paid.
    pub(super) declined: BTreeMap<String, u64>,
    /// Examples of payments that are not as expected.
    pub(super) examples: Vec<Example>,
    /// Hints for the tester about the verdicts.
    pub(super) hints: Vec<String>,
    /// Cost of the load tester itself.
    pub(super) own_cost: Option<OwnCost>,
    /// Measures over time.
    pub(super) timeline: Vec<Slice>,
}

impl LoadReport {
    /// Creates the report.
    pub(super) fn new(
        plan: Plan,
        circumstances: Circumstances,
        board: &Board,
        course: Course,
        thresholds: &[Threshold],
    ) -> Self {
        let mut judgement = PaymentVerdicts::of(&board.ledger(), course.stopped.is_some());
        let measures = board.measures();
        judgement.examples.iter_mut().for_each(|example| example.explain(&measures));
        let latencies = Latency::all(&measures);
        let is_load_cut = course.stopped.as_ref().is_some_and(|stopped| !stopped.is_load_whole);
        let last_created = measures.last_created.map(|at| millis(at.saturating_duration_since(board.start)));
        let last_created = last_created.unwrap_or(0);
        let made_in_ms = match plan.due {
            // A load that was stopped did not last for the planned time.
            _ if is_load_cut => course.elapsed_ms,
            Some(_) => time_of_schedule(ScheduleTimes {
                planned: plan.duration_ms,
                last_created,
                median: quantile(&measures.create, 0.5) / 1_000,
            }),
            // A client's final wait that brought no answer created no payment.
            None => course.elapsed_ms.min(last_created.max(plan.duration_ms)),
        };
        let rate = Rate::of(measures.creates(), made_in_ms);
        let facts = Facts {
            latencies: &latencies,
            failed: measures.failures(),
            refused: measures.refusals(),
            requests: measures.requests(),
            late: judgement.count(Verdict::Late),
            payments: judgement.payments,
            judged: judgement.payments.saturating_sub(judgement.count(Verdict::Unjudged)),
            skipped: measures.skipped,
            rate,
        };
        let thresholds: Vec<_> = thresholds.iter().map(|threshold| threshold.judge(&facts)).collect();
        let mut absences = measures.contact.absences();
        if course.limits.service.as_ref().is_some_and(|service| service.is_store_away) {
            // The metrics were read when the last payment was created.
            absences.iter_mut().for_each(|absence| absence.explain_by_store(course.elapsed_ms));
        }
        let missed = measures.excused().saturating_add(measures.skipped);
        let pressure = Pressure {
            asked: plan.due.map(|due| Rate::of(due, plan.duration_ms)),
            reached: rate,
            missed: Rate::of(missed, made_in_ms),
            failed_creates: measures.failed_creates(),
            failed: Rate::of(measures.failed_creates(), made_in_ms),
            received: course.received,
            sent: measures.count(|call, _| call == CallKind::Create),
            absence: ServiceAbsence::of(&absences),
            freezes: measures.contact.freezes(),
            connections: plan.connections,
            throttled: measures.answered_with(429),
            overloaded: measures.answered_with(503),
            store_refusals: measures.contact.store_refusals(),
            unexpected: measures.unexpected(),
            latencies: &latencies,
        };
        // A load that was stopped had no time for all due payments.
        let limits = if is_load_cut { course.limits } else { course.limits.with_findings(&pressure) };
        let violations = violations(&judgement, &measures);
        let mut shortfalls = shortfalls(&judgement, &measures);
        if !is_load_cut && absences.is_empty() {
            shortfalls.extend(missed_rate(&plan, rate, made_in_ms));
        }
        let is_within = thresholds.iter().all(|threshold| !threshold.is_crossed);
        Self {
            format: FORMAT,
            passed: [&violations, &shortfalls].iter().all(|faults| faults.is_empty())
                && absences.is_empty()
                && is_within
                && course.stopped.is_none(),
            absences,
            absences_left_out: measures.contact.left_out(),
            freezes: measures.contact.freezes(),
            store_refusals: measures.contact.store_refusals(),
            own_pauses: measures.contact.own_pauses(),
            violations,
            shortfalls,
            thresholds,
            stopped: course.stopped,
            unanswered: measures.unanswered,
            hints: judgement.hints(&plan),
            circumstances,
            elapsed_ms: course.elapsed_ms,
            made_in_ms,
            creates_per_second: rate.rounded(),
            rate,
            limits,
            requests: requests(&measures),
            stages: stages(&plan, &measures),
            latencies_us: latencies,
            webhooks: measures.webhooks,
            skipped: measures.skipped,
            payments: judgement.payments,
            verdicts: judgement.verdicts,
            declined: judgement.declined,
            examples: judgement.examples,
            own_cost: course.own_cost,
            timeline: measures.timeline.clone(),
            plan,
        }
    }

    /// Describes the payments that were declined, with the service's reasons. `None` if there are none.
    pub(super) fn declined_line(&self) -> Option<String> {
        declined_count(&self.declined).map(|(count, reasons)| format!("{count} ({reasons})"))
    }

    /// Returns the number of payments with each verdict, in the order of the verdicts.
    pub(super) fn counts(&self) -> impl Iterator<Item = (Verdict, u64)> {
        Verdict::ALL
            .into_iter()
            .map(|verdict| (verdict, self.verdicts.get(verdict.as_str()).copied().unwrap_or(0)))
    }

    /// Lists the points that readers of the report must know first: an early end, and the service's absence.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let stopped = self.stopped.iter().map(ToString::to_string);
        let stopped = stopped.chain(self.unanswered.iter().map(ToString::to_string));
        let freezes = self.freezes.iter().map(ToString::to_string);
        let own = self.own_pauses.iter().map(ToString::to_string);
        let store = self.store_refusals.iter().map(ToString::to_string);
        stopped.chain(self.absence_lines()).chain(store).chain(freezes).chain(own)
    }

    fn absence_lines(&self) -> impl Iterator<Item = String> {
        let more = Some(self.absences_left_out).filter(|count| *count > 0);
        let more = more.map(|count| format!("the service did not answer {count} more times"));
        self.absences.iter().map(ToString::to_string).chain(more)
    }

    /// Lists the reasons for which the run did not pass, as sentences.
    pub(super) fn faults(&self) -> impl Iterator<Item = String> {
        let absences = self.absence_lines();
        let crossed = self.thresholds.iter().filter(|threshold| threshold.is_crossed);
        let crossed = crossed.map(|threshold| match &threshold.measured {
            Some(measured) => format!("threshold: {} ({measured})", threshold.condition),
            None => format!("threshold: {} (nothing was measured)", threshold.condition),
        });
        absences.chain(self.violations.iter().cloned()).chain(crossed).chain(self.shortfalls.iter().cloned())
    }
}

impl Plan {
    /// Creates a plan for the model of this pace, without durations.
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
pub(super) struct PaymentVerdicts {
    pub(super) payments: u64,
    verdicts: BTreeMap<&'static str, u64>,
    pub(super) examples: Vec<Example>,
    /// Declined payments, by the service's reason.
    pub(super) declined: BTreeMap<String, u64>,
    /// Payments that are missing an event, but whose deliveries the key may not query.
    pub(super) untraced: u64,
    /// Payments still open that existed while the service was away, or its store was unavailable.
    pub(super) open_in_trouble: u64,
    /// Payments that could not be judged because of the service, by reason.
    pub(super) unjudged: BTreeMap<String, u64>,
    /// Payments that could not be judged because of the load tester or its key, by reason.
    pub(super) unjudged_by_tester: BTreeMap<&'static str, u64>,
    /// True if the run was stopped, so the status of its payments was never queried.
    pub(super) is_stopped: bool,
    /// True if events arrived, but no payment has only valid signatures.
    pub(super) does_secret_fit_nothing: bool,
}

impl PaymentVerdicts {
    pub(super) fn of(ledger: &Ledger, is_stopped: bool) -> Self {
        let mut verdicts: BTreeMap<_, _> = Verdict::ALL.map(|verdict| (verdict.as_str(), 0)).into();
        let mut examples = Vec::new();
        let mut unknown = Vec::new();
        let mut unjudged = BTreeMap::new();
        let mut unjudged_by_tester = BTreeMap::new();
        let mut declined = BTreeMap::new();
        let mut untraced = 0;
        let mut open_in_trouble = 0;
        let mut fits = false;
        let mut fits_not = false;
        for (transaction_id, account) in ledger.accounts() {
            let verdict = Verdict::of(account);
            *verdicts.entry(verdict.as_str()).or_default() += 1;
            if is_declined(account) {
                let reason = account.status_reason.as_deref().unwrap_or("for no known reason");
                *declined.entry(reason.to_owned()).or_default() += 1;
            }
            let is_untraced = account.deliveries == Some(ReportedDeliveries::Forbidden);
            untraced += u64::from(is_untraced && verdict == Verdict::Unjudged);
            open_in_trouble += u64::from(verdict == Verdict::StillOpen && account.was_in_trouble);
            fits_not |= account.flaws.bad_signature;
            fits |= !account.flaws.bad_signature && !account.heard.is_empty();
            let is_shown = verdict.is_violation() || matches!(verdict, Verdict::Late | Verdict::StillOpen);
            if is_shown && examples.len() < MAX_EXAMPLES {
                examples.push(Example::new(transaction_id, verdict, account));
            }
            if verdict == Verdict::Unjudged {
                match testers_reason(account) {
                    Some(own) => *unjudged_by_tester.entry(own).or_default() += 1,
                    None => *unjudged.entry(reason(account)).or_default() += 1,
                }
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
            declined,
            untraced,
            open_in_trouble,
            unjudged,
            unjudged_by_tester,
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
                "late events are not missing: {} s after the last payment the service still had to deliver them; use a \
                 longer --settle",
                plan.settle_ms / 1_000
            ));
        }
        if self.count(Verdict::StillOpen) > self.open_in_trouble {
            hints.push(format!(
                "open payments are not lost: {} s after the last payment the sandbox's payers had not paid; use a \
                 longer --settle than the service's sandbox-settle-after",
                plan.settle_ms / 1_000
            ));
        }
        if self.is_stopped && self.payments > 0 {
            hints.push(
                "the service may retry for days to deliver this run's events to a port that is now closed, which adds \
                 to the load of later runs"
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

/// Returns the number of declined payments, and their reasons in words. `None` if there are none.
pub(super) fn declined_count(declined: &BTreeMap<String, u64>) -> Option<(u64, String)> {
    let count: u64 = declined.values().sum();
    let reasons: Vec<_> = match declined.first_key_value() {
        Some((reason, _)) if declined.len() == 1 => vec![reason.clone()],
        _ => declined.iter().map(|(reason, count)| format!("{count} {reason}")).collect(),
    };
    (count > 0).then(|| (count, reasons.join(", ")))
}

/// Returns the reason why a payment could not be judged, if the load tester or its key is the cause.
fn testers_reason(account: &Account) -> Option<&'static str> {
    let no_socket = Reply::Missing(NoAnswer::NoSocket);
    match (account.found, account.deliveries) {
        (Some(ReportedStatus::KeyRefused(_)), _) | (_, Some(ReportedDeliveries::KeyRefused)) => {
            Some("the key is no longer accepted")
        }
        (_, Some(ReportedDeliveries::Forbidden)) => Some(
            "the key lacks the scope webhooks, so a late event can't be distinguished from a missing one",
        ),
        (Some(ReportedStatus::Unanswered(reply)), _) | (_, Some(ReportedDeliveries::Unanswered(reply)))
            if reply == no_socket =>
        {
            Some("the load tester had no socket left; allow it more open files (ulimit -n)")
        }
        _ => None,
    }
}

/// Returns the reason why a payment could not be judged.
fn reason(account: &Account) -> String {
    match (account.found, account.deliveries) {
        (Some(ReportedStatus::Unanswered(Reply::Status(status))), _)
        | (_, Some(ReportedDeliveries::Unanswered(Reply::Status(status)))) => format!("answered {status}"),
        (Some(ReportedStatus::Unanswered(Reply::Missing(reason))), _)
        | (_, Some(ReportedDeliveries::Unanswered(Reply::Missing(reason)))) => reason.as_str().into(),
        (Some(ReportedStatus::Is(_)), _) => "answered before its last event".into(),
        (
            Some(
                ReportedStatus::Nothing
                | ReportedStatus::NotAsked
                | ReportedStatus::KeyRefused(_)
                | ReportedStatus::Unusable(_),
            )
            | None,
            _,
        ) => "not asked".into(),
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = if self.told.is_empty() { "nothing".into() } else { self.told.join(", ") };
        let id = self.transaction_id;
        let verdict = self.verdict;
        let found = &self.found;
        write!(f, "{id}  {verdict}: received {told}; the service reports {found}")
    }
}

impl Example {
    fn new(transaction_id: Uuid, verdict: Verdict, account: &Account) -> Self {
        let told = account.heard.iter().map(|heard| {
            let refused = if heard.is_confirmed { "" } else { " (refused)" };
            format!("{} {}{refused}", heard.sequence, heard.status)
        });
        let found = account.found.map_or_else(|| "nothing (not asked)".into(), |found| found.to_string());
        let (unusable, found) = match (account.found, account.deliveries) {
            (Some(ReportedStatus::Unusable(reply)), _) => (Some((CallKind::Check, reply)), found),
            (_, Some(ReportedDeliveries::Unusable(reply))) if verdict == Verdict::Unread => {
                let found =
                    format!("{found}, and for its deliveries an answer outside the contract ({reply})");
                (Some((CallKind::Deliveries, reply)), found)
            }
            _ => (None, found),
        };
        Self { transaction_id, verdict, told: told.collect(), found, unusable }
    }

    /// Adds the error of the unusable answer.
    fn explain(&mut self, measures: &Measures) {
        let Some((call, Reply::Status(status))) = self.unusable else { return };
        if let Some(error) = measures.error(call, status) {
            self.found = format!("{}: {error}", self.found);
        }
    }
}

/// Returns the shortfall of an open model whose payments were created far too slowly. Small delays are expected: a
/// machine is busy for a moment, and the last answers take their time.
fn missed_rate(plan: &Plan, reached: Rate, made_in_ms: u64) -> Option<String> {
    let asked = Rate::of(plan.due?, plan.duration_ms);
    let is_late = made_in_ms > plan.duration_ms.saturating_add(CLEARLY_LATE_MS);
    (is_late && !reached.reaches(FAR_BELOW, asked))
        .then(|| format!("rate: {reached} of {asked} payments due per second were created"))
}

fn requests(measures: &Measures) -> Vec<CallCount> {
    let rows = measures.replies.iter().map(|(&(call, reply), &count)| CallCount {
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
    let counted = measures.created_by_stage.iter().zip(&measures.create_by_stage);
    let results = plan.stages.iter().zip(counted).map(|(stage, (created, times))| StageResult {
        stage: *stage,
        created: *created,
        p50: quantile(times, 0.5),
        p99: quantile(times, 0.99),
    });
    results.collect()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::super::interrupts::Interrupt;
    use super::super::measures::Creation;
    use super::super::plan::Method;
    use super::super::service_metrics::ServiceBuild;
    use super::super::stop::StopCause;
    use super::*;

    #[test]
    fn a_load_is_divided_by_its_planned_time_unless_it_was_cut_itself() {
        for (is_load_whole, expected, is_crossed) in [(true, "1", false), (false, "1.96", true)] {
            let board = Board::new(Ledger::new(0), 1).unwrap();
            for _ in 0..2 {
                let creation = Creation { method: Method::Pix, stage: 0 };
                board.measures().created(creation, Reply::Status(201), Duration::from_millis(5));
            }
            let cause = StopCause::Interrupt(Interrupt::Interrupt);
            let stopped = Some(Stop { cause, after_ms: 3_000, of_ms: 2_000, is_load_whole });
            let limits = Limits::default();
            let course = Course { elapsed_ms: 1_019, received: 0, own_cost: None, limits, stopped };
            let plan = Plan { model: "open", due: Some(2), duration_ms: 2_000, ..Plan::default() };
            let circumstances = Circumstances::now(ServiceBuild::default(), None);
            let threshold = Threshold::parse("rate>1").unwrap();
            let report = LoadReport::new(plan, circumstances, &board, course, &[threshold]);
            assert_eq!(report.rate.to_string(), expected, "{is_load_whole}");
            assert!(!report.passed && report.thresholds[0].is_crossed == is_crossed, "{is_load_whole}");
            assert_eq!(report.limits.findings.is_empty(), !is_load_whole);
        }
    }

    #[test]
    fn a_load_that_has_ended_is_whole_even_if_the_metrics_were_not_read_yet() {
        let board = Board::new(Ledger::new(0), 1).unwrap();
        assert!(!board.measures().contact.has_load_ended());
        board.measures().contact.load_ended(Instant::now());
        assert!(board.measures().contact.has_load_ended());
    }
}
