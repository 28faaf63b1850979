//! `quita routing`: evaluates payment routing without a service.

mod check;
mod evaluate;
mod replay;

use clap::Subcommand;

use super::failure::Failure;

/// Subcommands of `quita routing`.
#[derive(Debug, Subcommand)]
pub(super) enum RoutingCommand {
    /// Explain the configured routes, and report errors and whatever can never have an effect
    Check(check::CheckRouting),
    /// Show how a payment would be routed, and why
    Evaluate(evaluate::Evaluate),
    /// Show how other routes would have routed the stored payments, and what that would have cost
    Replay(replay::Replay),
}

pub(super) async fn run(command: RoutingCommand) -> Result<(), Failure> {
    match command {
        RoutingCommand::Check(command) => check::run(command),
        RoutingCommand::Evaluate(command) => evaluate::run(command),
        RoutingCommand::Replay(command) => replay::run(command).await,
    }
}
