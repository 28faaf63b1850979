//! Puts load on a service over HTTP, receives its webhooks, and reads back what was made.
//!
//! Far cheaper for each request than what it measures: one thread, one task for each connection that stays open,
//! requests as prepared bytes, answers read only as far as needed. Bodies need a `Content-Length`. What it found out
//! is one JSON object on stdout.
#![allow(clippy::float_arithmetic, reason = "it computes rates")]

mod address;
mod book;
mod check;
mod connection;
mod load;
mod metronome;
mod outcome;
mod plan;
mod receiver;
mod seen;
mod tally;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::task::LocalSet;

/// Load for measurements.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sends requests.
    Load(load::LoadOptions),
    /// Reads every id back, and fails if one is missing.
    Check(check::CheckOptions),
    /// Answers webhooks with 200 and remembers them.
    Receiver(receiver::ReceiverOptions),
}

fn main() -> anyhow::Result<ExitCode> {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    LocalSet::new().block_on(&runtime, async {
        match options.command {
            Command::Load(options) => load::run(options).await,
            Command::Check(options) => check::run(options).await,
            Command::Receiver(options) => receiver::run(options).await,
        }
    })
}
