//! `quita load`: a load tester that also verifies.
//!
//! It creates payments, reads them back, receives their events, and finally compares every payment with the events that
//! its merchant received. Benchmarks use `benches/generator`, which does less and takes less of the machine.

mod board;
mod bottlenecks;
mod check_pace;
mod circumstances;
mod compare;
mod contact;
mod faults;
mod html_report;
mod interrupts;
mod latency;
mod ledger;
mod limits;
mod machine;
mod measures;
mod merchant;
mod open_sockets;
mod own_cost;
mod pace;
mod plan;
mod plot;
mod preflight;
mod progress;
mod purchases;
mod rate;
mod receiver;
mod reply;
mod report;
mod report_file;
mod report_files;
mod run;
mod schedule;
mod service_metrics;
mod service_url;
mod settle;
mod stop;
mod terminal;
#[cfg(test)]
mod test_report;
mod threshold;
mod troubles;
mod under_way;
mod usage;
mod verdict;

use std::env;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use tokio::sync::Semaphore;
use url::Url;
use uuid::Uuid;

use super::failure::Failure;
use super::http_client::client_with_connections;
use super::{listen, output};
use crate::listener::open_files;
use board::Board;
use check_pace::CheckPace;
use circumstances::Circumstances;
use compare::CompareCommand;
use interrupts::Interrupts;
use ledger::Ledger;
use limits::Sample;
use measures::millis;
use merchant::{LastingRefusal, Merchant};
use plan::{Mix, Pace, percentage, some_time};
use purchases::Purchases;
use receiver::LocalReceiver;
use report::{LoadReport, Plan};
use report_files::{ReportFiles, as_one};
use run::{Run, RunEnd};
use schedule::Schedule;
use service_metrics::ServiceMetrics;
use service_url::ServiceUrlParser;
use terminal::{Outcome, Terminal};
use threshold::Threshold;
use verdict::Verdict;

/// Default number of clients in the closed model.
const DEFAULT_CLIENTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Number of connections in the open model. Creations beyond it wait for one, and that wait is measured.
const OPEN_CONNECTIONS: usize = 512;

/// Arguments of `quita load`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
The payments are created in the sandbox, so a test key is required. With the scope webhooks, late events are \
distinguished from missing ones. To check signatures, set QUITA_SECRET to what `quita secrets show` prints. Ctrl-C \
ends the run with its report, a second Ctrl-C without it.

Exit code 0: every promise was kept, and no threshold was crossed; 1: a promise was broken, a threshold was crossed, \
the planned load was not reached, payments were declined, or could not be judged because the service went away, the \
run was not started (service unreachable or not ready, another program, key refused), or a report could not be \
written; 2: wrong usage; 130: Ctrl-C; 143: SIGTERM.

Examples:
  quita load --rate 200 --duration 60s --json load.json --html load.html
  quita load --stages 10s:50,20s:50-200,30s:200 --fail-if 'create.p99>50ms' --fail-if 'failed>0'
  quita load compare before.json after.json"
)]
pub(super) struct LoadCommand {
    #[command(subcommand)]
    instead: Option<LoadSubcommand>,
    /// Address of the service
    #[arg(
        long,
        env = "QUITA_URL",
        hide_env_values = true,
        default_value = "http://127.0.0.1:8080",
        value_parser = ServiceUrlParser
    )]
    url: Url,
    /// A test key with payments:write, payments:read and webhooks
    #[arg(long, env = "QUITA_KEY", hide_env_values = true)]
    key: Option<String>,
    /// Open model: this many payments a second, each due at its time, whatever the service answers
    #[arg(
        long,
        value_name = "N",
        env = "QUITA_LOAD_RATE",
        value_parser = schedule::rate,
        conflicts_with = "concurrency"
    )]
    rate: Option<NonZeroU32>,
    /// Closed model: this many clients, each waiting for its answers [default: 8]
    #[arg(long, value_name = "N", env = "QUITA_LOAD_CONCURRENCY", value_parser = plan::clients)]
    concurrency: Option<NonZeroUsize>,
    /// Open model in stages: DURATION:RATE or, for a ramp, DURATION:FROM-TO, with commas between
    #[arg(
        long,
        value_name = "STAGES",
        env = "QUITA_LOAD_STAGES",
        value_parser = Schedule::parse,
        conflicts_with_all = ["rate", "concurrency", "duration"]
    )]
    stages: Option<Schedule>,
    /// Duration of the load; stages have their own durations
    #[arg(long, env = "QUITA_LOAD_DURATION", default_value = "30s", value_parser = some_time)]
    duration: Duration,
    /// Share of each payment method
    #[arg(long, env = "QUITA_LOAD_MIX", default_value = "pix=60,boleto=20,card=20", value_parser = Mix::parse)]
    mix: Mix,
    /// Share of the events that the receiver answers with 500 when they first arrive
    #[arg(long, value_name = "P%", env = "QUITA_LOAD_RECEIVER_FAIL", default_value = "0%", value_parser = percentage)]
    receiver_fail: u8,
    /// Time after the last payment in which events may still arrive
    #[arg(long, value_name = "DURATION", env = "QUITA_LOAD_SETTLE", default_value = "30s", value_parser = some_time)]
    settle: Duration,
    /// Fail the run on a condition such as 'create.p99>50ms'; may be repeated
    #[arg(
        long,
        value_name = "CONDITION",
        env = "QUITA_LOAD_FAIL_IF",
        value_parser = Threshold::parse,
        value_delimiter = ','
    )]
    fail_if: Vec<Threshold>,
    /// URL of the service's metrics [default: /metrics on port 9090 of its host]
    #[arg(
        long,
        value_name = "URL",
        env = "QUITA_LOAD_METRICS",
        hide_env_values = true,
        value_parser = ServiceUrlParser
    )]
    metrics: Option<Url>,
    /// Note to show in every report
    #[arg(long, value_name = "TEXT", env = "QUITA_LOAD_NOTE")]
    note: Option<String>,
    /// Write the report as JSON
    #[arg(long, value_name = "FILE", env = "QUITA_LOAD_JSON")]
    json: Option<PathBuf>,
    /// Write the report as one HTML page with plots
    #[arg(long, value_name = "FILE", env = "QUITA_LOAD_HTML")]
    html: Option<PathBuf>,
}

/// Commands instead of a run.
#[derive(Debug, Subcommand)]
enum LoadSubcommand {
    /// Show two reports of --json side by side
    Compare(CompareCommand),
}

/// Adds the variables behind a `quita load` error about mutually exclusive options.
pub(super) fn with_variables(error: clap::Error) -> clap::Error {
    let given: Vec<_> = env::args_os().collect();
    if given.get(1).is_none_or(|command| command != "load") {
        return error;
    }
    let command = LoadCommand::augment_args(clap::Command::new("load"));
    usage::with_variables(error, &command, &given, |variable| env::var_os(variable).is_some())
}

pub(super) async fn run(command: LoadCommand) -> Result<(), Failure> {
    if let Some(LoadSubcommand::Compare(compare)) = &command.instead {
        return compare::run(compare);
    }
    let key = command.key.as_deref().ok_or_else(|| {
        Failure::usage("A test key is required: pass it with --key or QUITA_KEY. See `quita load --help`.")
    })?;
    preflight::check_key(key)?;
    let secrets = listen::secrets_of_environment()?;
    let files = ReportFiles::prepare(command.json.as_deref(), command.html.as_deref())?;
    let connections = command.connections(open_files::raise())?;
    let client = client_with_connections(connections);
    preflight::ask(&client, &command.url, key).await?;
    if preflight::lacks_webhooks(&client, &command.url, key).await {
        output::note(
            "The key lacks the scope webhooks: payments whose events do not arrive in time can't be judged.",
        );
    }
    let plan = command.plan(connections, !secrets.is_empty());
    let metrics = command.metrics();
    let before = Sample::take(metrics.as_ref()).await;
    let service = before.service().map(ServiceMetrics::build).unwrap_or_default();
    let circumstances = Circumstances::now(service, command.note.clone());
    let ledger = Ledger::new(command.receiver_fail);
    let board = Arc::new(Board::new(ledger, plan.stages.len()).map_err(Failure::failed)?);
    let run = Uuid::now_v7();
    let receiver = LocalReceiver::start(Arc::clone(&board), secrets, run);
    let receiver =
        receiver.map_err(|error| Failure::failed(format!("webhooks can't be received: {error}")))?;
    let interrupts = Interrupts::new();
    let interrupts =
        interrupts.map_err(|error| Failure::failed(format!("signals can't be received: {error}")))?;
    let merchant = Merchant {
        client,
        connections: Semaphore::new(connections),
        base_url: plan.url.clone(),
        authorization: format!("Bearer {key}"),
        purchases: Purchases { run, mix: command.mix, postback_url: receiver.url.clone() },
        board,
        refusal: LastingRefusal::default(),
        check_pace: CheckPace::default(),
    };
    let run = Run {
        merchant: Rc::new(merchant),
        pace: command.pace(),
        duration: Duration::from_millis(plan.duration_ms),
        settle: command.settle,
        metrics,
        before,
        circumstances,
    };
    let (ended, report) = run.run_to_its_end(plan, &command.fail_if, interrupts).await;
    receiver.stop().await;
    finish(&ended, &report, &files)
}

/// Prints and writes the report, and returns the command's result.
fn finish(ended: &RunEnd, report: &LoadReport, files: &ReportFiles) -> Result<(), Failure> {
    if let RunEnd::Refused(cause) = ended
        && report.payments == 0
    {
        // Nothing was measured, so only the cause is reported.
        return Err(Failure::failed(cause));
    }
    // Printed first: a file may be a pipe that nobody reads.
    let outcome = |unwritten: &[String]| output::result(&Outcome { report, unwritten }.to_string());
    let mut printed = output::result(&Terminal(report).to_string());
    if !report.passed {
        printed = printed.and_then(|()| outcome(&[]));
    }
    let written = files.write(report);
    if report.passed {
        // Only this outcome depends on the files.
        let unwritten: Vec<_> = written.iter().filter_map(|file| file.as_ref().err()).collect();
        let unwritten: Vec<_> = unwritten.iter().map(ToString::to_string).collect();
        printed = printed.and_then(|()| outcome(&unwritten));
    }
    as_one([printed].into_iter().chain(written))?;
    match ended {
        RunEnd::Interrupted(signal) => Err(Failure::interrupted(signal.exit_code(), interrupted(report))),
        RunEnd::Refused(cause) => Err(Failure::failed(cause)),
        RunEnd::Whole if report.passed => Ok(()),
        RunEnd::Whole => Err(Failure::failed(worst_reason(report))),
    }
}

/// Returns the last line of a run that a signal ended.
fn interrupted(report: &LoadReport) -> String {
    let stopped = report.stopped.as_ref().map(ToString::to_string).unwrap_or_default();
    format!("The run was {stopped}.")
}

/// Returns the last line of a complete run that did not pass: the worst reason.
fn worst_reason(report: &LoadReport) -> String {
    let is_store_away = report.absences.iter().any(|absence| absence.is_store_away);
    let lasts = report.absences.iter().any(|absence| absence.until_ms.is_none());
    if !report.violations.is_empty() {
        "The service broke a promise.".into()
    } else if lasts {
        let unjudged = report.verdicts.get(Verdict::Unjudged.as_str()).copied().unwrap_or(0);
        let away =
            if is_store_away { "The service's store was unavailable" } else { "The service went away" };
        format!("{away} during the run: {unjudged} of {} payments were not judged.", report.payments)
    } else if !report.absences.is_empty() {
        let away = if is_store_away { "The service's store was unavailable" } else { "The service was away" };
        format!("{away} for part of the run.")
    } else {
        // The list starts with the cause of the others.
        report.shortfalls.first().map_or_else(
            || "A threshold was crossed.".into(),
            |shortfall| format!("The run fell short of its plan: {}.", shortfall.trim_end_matches('.')),
        )
    }
}

impl LoadCommand {
    fn pace(&self) -> Pace {
        match (&self.stages, self.rate) {
            (Some(schedule), _) => Pace::Schedule(schedule.clone()),
            (None, Some(rate)) => Pace::Schedule(Schedule::steady(rate, self.duration)),
            (None, None) => Pace::Concurrency(self.concurrency.unwrap_or(DEFAULT_CLIENTS)),
        }
    }

    /// Returns the number of connections of a run that may open this many files.
    fn connections(&self, files: u64) -> Result<usize, Failure> {
        match self.pace() {
            Pace::Schedule(_) => open_sockets::connections(OPEN_CONNECTIONS, true, files),
            Pace::Concurrency(clients) => open_sockets::connections(clients.get(), false, files),
        }
    }

    fn metrics(&self) -> Option<Url> {
        self.metrics
            .clone()
            .map(service_metrics::with_path)
            .or_else(|| service_metrics::default_url(&self.url))
    }

    fn plan(&self, connections: usize, are_signatures_checked: bool) -> Plan {
        let pace = self.pace();
        let duration = match &pace {
            Pace::Schedule(schedule) => schedule.length(),
            Pace::Concurrency(_) => self.duration,
        };
        Plan {
            duration_ms: millis(duration),
            settle_ms: millis(self.settle),
            receiver_fail_percent: self.receiver_fail,
            are_signatures_checked,
            ..Plan::of_pace(&pace, self.url.as_str().trim_end_matches('/'), connections, self.mix)
        }
    }
}
