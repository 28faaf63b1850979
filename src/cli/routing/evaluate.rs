//! `quita routing evaluate`: the answer of `POST /pay/routing/evaluate`, assuming that every acquirer is healthy and
//! has an unknown approval rate.

use std::fs;
use std::path::PathBuf;

use clap::Args;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::request::{Rejection, evaluation};
use quita_domain::routing::{Approvals, Condition, Evaluated, RouteInputs, plan};
use quita_domain::time::Timestamp;
use quita_machine::{SystemClock, SystemDice};
use quita_ports::{Clock, Dice};

use crate::cli::failure::Failure;
use crate::cli::flags::ServiceFlags;
use crate::cli::output;
use quita_config::Config;

/// Arguments of `quita routing evaluate`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Evaluate {
    /// The body of a creation; of the card, number alone or bin and brand are enough
    #[arg(long, value_name = "BODY.json")]
    file: PathBuf,
    /// Merchant whose payment it would be
    #[arg(long, value_name = "NAME")]
    merchant: String,
    /// Mode of the payment: test or live
    #[arg(long, default_value = "test", value_parser = mode)]
    mode: Mode,
    /// Time, instead of the body's `at` or now; such as 2026-11-21T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    at: Option<Timestamp>,
    /// Number used for random choices, instead of the body's `dice`: 0 to 18446744073709551615
    #[arg(long, value_name = "N")]
    dice: Option<u64>,
    #[command(flatten)]
    service: ServiceFlags,
}

fn mode(text: &str) -> Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "must be test or live".into())
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text).ok_or_else(|| "must be a time with an offset, such as 2026-11-21T12:00:00Z".into())
}

pub(super) fn run(command: Evaluate) -> Result<(), Failure> {
    let config = Config::from_settings(command.service.settings())?;
    let named = |why: String| {
        Failure::failed(format!("{}: {why}", output::printable(&command.file.to_string_lossy())))
    };
    let body = fs::read(&command.file).map_err(|error| named(format!("it can't be read: {error}")))?;
    let now = command.at.unwrap_or_else(|| SystemClock.now());
    let asked = evaluation::parse(&body, now, &config.request_limits())
        .map_err(|rejection| named(told(&rejection)))?;
    let order = &asked.order;
    let at = command.at.unwrap_or(asked.at);
    let takes =
        |spec: &&quita_ports::AcquirerSpec| spec.mode == command.mode && spec.methods.contains(&order.method);
    let specs = config.acquirers.iter().map(|acquirer| &acquirer.spec).filter(takes);
    let candidates: Vec<_> =
        specs.map(|spec| spec.candidate(Condition::Healthy, Approvals::default())).collect();
    let merchant = MerchantId::new(command.merchant);
    let inputs = RouteInputs::of(order, &merchant, at);
    let dice = command.dice.or(asked.dice).unwrap_or_else(|| SystemDice.roll());
    let planned = plan(&inputs, &candidates, &config.routes, dice);
    let evaluated = Evaluated::of(&planned, &inputs, &config.routes, config.routes.version());
    let json = serde_json::to_string(&evaluated).map_err(Failure::failed)?;
    output::result(&json)
}

/// Lists everything that is wrong with a body, one violation per line.
fn told(rejection: &Rejection) -> String {
    let each = rejection.violations.iter();
    let lines =
        each.map(|violation| format!("\n  {}: {}", output::printable(&violation.field), violation.message));
    format!("no payment could be created from this:{}", lines.collect::<String>())
}
