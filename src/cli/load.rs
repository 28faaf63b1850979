//! `quita load`: a load tester that also verifies.
//!
//! It makes payments, reads them back, receives their events, and in the end holds every payment against what its
//! merchant was told. Benchmarks use `benches/generator`, which does less and takes less of the machine.

mod board;
mod ledger;
mod measures;
mod merchant;
mod own_cost;
mod pace;
mod page;
mod plan;
mod plot;
mod progress;
mod purchases;
mod receiver;
mod report;
mod settle;
mod terminal;
mod verdict;

use std::fs;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use url::Url;
use uuid::Uuid;

use super::failure::Failure;
use super::http_client::{client_with_connections, server_url};
use super::{listen, output};
use board::Board;
use ledger::Ledger;
use measures::millis;
use merchant::Merchant;
use own_cost::{OwnCost, cpu_us};
use page::Page;
use plan::{Mix, Pace, percentage, some_time};
use purchases::Purchases;
use receiver::Receiver;
use report::{Plan, Report};
use terminal::Terminal;

/// Clients of the closed model, if neither is named.
const DEFAULT_CLIENTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);

/// Connections of the open model. What is due beyond waits for one, and its waiting is measured.
const OPEN_CONNECTIONS: usize = 512;

/// What to do, where, and for how long.
#[derive(Debug, Args)]
#[command(after_help = "Set QUITA_SECRET to what `quita secrets show` prints, and signatures are checked. \
    The payments are made on the sandbox, so a test key is needed. Exit code 1: a promise was broken.")]
pub(super) struct LoadCommand {
    /// Where the service runs
    #[arg(long, env = "QUITA_URL", default_value = "http://127.0.0.1:8080", value_parser = server_url)]
    url: Url,
    /// A test key with payments:write and payments:read
    #[arg(long, env = "QUITA_KEY", hide_env_values = true)]
    key: String,
    /// Open model: this many payments a second, each due at its time, whatever the service answers
    #[arg(long, value_name = "N", env = "QUITA_LOAD_RATE", conflicts_with = "concurrency")]
    rate: Option<NonZeroU32>,
    /// Closed model: this many clients, each of which waits for its answers [default: 8]
    #[arg(long, value_name = "N", env = "QUITA_LOAD_CONCURRENCY")]
    concurrency: Option<NonZeroUsize>,
    /// How long payments are made
    #[arg(long, env = "QUITA_LOAD_DURATION", default_value = "30s", value_parser = some_time)]
    duration: Duration,
    /// Shares of the methods
    #[arg(long, env = "QUITA_LOAD_MIX", default_value = "pix=60,boleto=20,card=20", value_parser = Mix::parse)]
    mix: Mix,
    /// Share of the events that the receiver answers with 500 when they come first
    #[arg(long, value_name = "P%", env = "QUITA_LOAD_RECEIVER_FAIL", default_value = "0%", value_parser = percentage)]
    receiver_fail: u8,
    /// How long, after the last payment, events may take to arrive
    #[arg(long, value_name = "DURATION", env = "QUITA_LOAD_SETTLE", default_value = "30s", value_parser = some_time)]
    settle: Duration,
    /// Writes the report as JSON
    #[arg(long, value_name = "FILE", env = "QUITA_LOAD_JSON")]
    json: Option<PathBuf>,
    /// Writes the report as one page with plots
    #[arg(long, value_name = "FILE", env = "QUITA_LOAD_HTML")]
    html: Option<PathBuf>,
}

pub(super) async fn run(command: LoadCommand) -> Result<(), Failure> {
    let secrets = listen::secrets_of_environment()?;
    let are_signatures_checked = !secrets.is_empty();
    for path in [&command.json, &command.html].into_iter().flatten() {
        // Rather now than after the run.
        write(path, "")?;
    }
    let board = Arc::new(Board::new(Ledger::new(command.receiver_fail)).map_err(Failure::failed)?);
    let run = Uuid::now_v7();
    let receiver = Receiver::start(Arc::clone(&board), secrets, run);
    let receiver =
        receiver.map_err(|error| Failure::failed(format!("webhooks can't be received: {error}")))?;
    let merchant = Rc::new(command.merchant(run, receiver.url.clone(), Arc::clone(&board)));
    let plan = command.plan(are_signatures_checked);
    let report = load(&command, plan, &merchant).await;
    receiver.stop().await;
    output::result(&Terminal(&report).to_string())?;
    if let Some(path) = &command.json {
        let json = serde_json::to_string_pretty(&report).map_err(Failure::failed)?;
        write(path, &json)?;
    }
    if let Some(path) = &command.html {
        write(path, &Page(&report).to_string())?;
    }
    if report.passed { Ok(()) } else { Err(Failure::failed("The service broke a promise.")) }
}

/// The run itself, from the first payment to the last answer about one.
async fn load(command: &LoadCommand, plan: Plan, merchant: &Rc<Merchant>) -> Report {
    let board = Arc::clone(&merchant.board);
    let cpu_before = cpu_us();
    let progress = actix_web::rt::spawn(progress::show(Arc::clone(&board), command.duration));
    pace::run(command.pace(), command.duration, Rc::clone(merchant)).await;
    let elapsed_ms = millis(board.start.elapsed());
    let deadline = Instant::now() + command.settle;
    settle::wait(&board, deadline).await;
    let requests = {
        let measures = board.measures();
        measures.count(|_, _| true) + measures.webhooks.received
    };
    let own_cost = OwnCost::between(cpu_before, cpu_us(), requests);
    progress.abort();
    progress::end_slice(&board);
    progress::end();
    settle::check(merchant, deadline).await;
    Report::new(plan, &board, elapsed_ms, own_cost)
}

impl LoadCommand {
    fn pace(&self) -> Pace {
        let clients = self.concurrency.unwrap_or(DEFAULT_CLIENTS);
        self.rate.map_or(Pace::Concurrency(clients), Pace::Rate)
    }

    fn merchant(&self, run: Uuid, postback_url: String, board: Arc<Board>) -> Merchant {
        let connections = match self.pace() {
            Pace::Rate(_) => OPEN_CONNECTIONS,
            Pace::Concurrency(clients) => clients.get(),
        };
        Merchant {
            client: client_with_connections(connections),
            payments_url: format!("{}/pay/payments", self.url.as_str().trim_end_matches('/')),
            authorization: format!("Bearer {}", self.key),
            purchases: Purchases { run, mix: self.mix, postback_url },
            board,
        }
    }

    fn plan(&self, are_signatures_checked: bool) -> Plan {
        let (model, pace) = Plan::of_pace(self.pace());
        Plan {
            url: self.url.as_str().trim_end_matches('/').into(),
            model,
            pace,
            duration_ms: millis(self.duration),
            mix: self.mix,
            receiver_fail_percent: self.receiver_fail,
            are_signatures_checked,
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::failed(format!("{} can't be written: {error}", path.display())))
}
