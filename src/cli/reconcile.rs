//! `quita reconcile`: compares acquirers' lists and banks' return files with the payments.
//!
//! It works alongside the service, which asks the acquirers about differences. Findings are stored for the operators'
//! console. Repeated runs update only what has changed meanwhile.

mod files;
mod line_printer;
mod lists;

use std::path::PathBuf;
use std::sync::Arc;

use chrono::NaiveDate;
use clap::{ArgGroup, Args};
use quita_domain::identity::Mode;
use quita_machine::SystemClock;
use quita_ports::Clock;
use quita_services::reconciliation::{NotReconciled, Reconciler};

use super::command_store::open_store;
use super::failure::Failure;
use super::flags::StoreFlags;
use super::output;
use super::values::date;
use line_printer::LinePrinter;
use quita_config::Config;

/// Arguments of `quita reconcile`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit code 0: everything matches. 1: something differs, or can't be compared. 2: wrong usage, or an \
                  acquirer without lists."
)]
#[command(group(ArgGroup::new("compared").args(["acquirer", "cnab"]).required(true)))]
pub(super) struct ReconcileCommand {
    /// List of this acquirer
    #[arg(long, value_name = "NAME")]
    acquirer: Option<String>,
    /// First day, in Brasília [default: the last one]
    #[arg(long, value_name = "DATE", conflicts_with = "cnab", value_parser = date)]
    since: Option<NaiveDate>,
    /// Last day, in Brasília, included [default: yesterday]
    #[arg(long, value_name = "DATE", conflicts_with = "cnab", value_parser = date)]
    until: Option<NaiveDate>,
    /// Return files of banks
    #[arg(long, value_name = "FILE", num_args = 1..)]
    cnab: Vec<PathBuf>,
    /// Compare files with the payments of this mode: live or test. An acquirer's list uses its acquirer's mode
    #[arg(long, value_name = "MODE", default_value = "live", conflicts_with = "acquirer", value_parser = mode)]
    mode: Mode,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: StoreFlags,
}

pub(super) async fn run(command: ReconcileCommand) -> Result<(), Failure> {
    let ReconcileCommand { acquirer, since, until, cnab, mode, json, flags } = command;
    let config = Config::from_settings(flags.settings())?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // Usage errors, and errors in a file, are reported before the store is touched.
    let compared = match acquirer {
        Some(name) => Compared::List(lists::ListComparison::of(&config, &clock, &name, since, until)?),
        None => Compared::Files(files::CheckedFiles::all(&cnab)?),
    };
    let mode = match &compared {
        Compared::List(wanted) => wanted.mode(),
        Compared::Files(_) => mode,
    };
    let reconciler = reconciler(&config, &clock).await?.of_mode(mode);
    let printer = match compared {
        Compared::List(wanted) => wanted.reconcile(&reconciler, json).await?,
        Compared::Files(checked) => checked.reconcile(&reconciler, clock.now(), json).await?,
    };
    judgement(&printer, &reconciler).await
}

enum Compared {
    List(lists::ListComparison),
    Files(files::CheckedFiles),
}

async fn reconciler(config: &Config, clock: &Arc<dyn Clock>) -> Result<Reconciler, Failure> {
    let store = open_store(&config.store).await?;
    let askable = config.acquirers.iter().map(|acquirer| acquirer.spec.name.clone());
    Ok(Reconciler::new(store, Arc::clone(clock), askable))
}

/// Prints what else a person should know, and fails unless everything matches.
async fn judgement(printer: &LinePrinter, reconciler: &Reconciler) -> Result<(), Failure> {
    if printer.open() > 0 {
        let is_served = reconciler.is_served().await.map_err(|error| failed(error.into()))?;
        let why = match is_served {
            true => "The acquirers have not answered",
            false => "No service runs on this store, so the acquirers can't be queried",
        };
        let (about, were) = match printer.open() {
            1 => ("1 line".to_owned(), "It was"),
            count => (format!("{count} lines"), "They were"),
        };
        output::note(&format!("{why} about {about}. {were} judged by the stored data; run it again later."));
    }
    match printer.differing() {
        0 => Ok(()),
        1 => Err(Failure::failed("1 line differs.")),
        count => Err(Failure::failed(format!("{count} lines differ."))),
    }
}

fn failed(why: NotReconciled) -> Failure {
    match why {
        NotReconciled::Unwritten(kind) => output::unwritten(kind),
        NotReconciled::NoList(_) | NotReconciled::Store(_) => Failure::failed(why),
    }
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "must be live or test".into())
}
