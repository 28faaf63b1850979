//! `quita routing`: evaluates payment routing without a service.

mod check;
mod evaluate;
mod replay;

use clap::Subcommand;

use super::failure::Failure;

/// Subcommands of `quita routing`.
#[derive(Debug, Subcommand)]
pub(super) enum RoutingCommand {
    /// Tell what the configured routes mean, and what is wrong with them or can never matter
    Check(check::CheckRouting),
    /// Tell which way a payment would go, and why
    Evaluate(evaluate::Evaluate),
    /// Tell what other routes would have done with the stored payments, and what that would have cost
    Replay(replay::Replay),
}

pub(super) async fn run(command: RoutingCommand) -> Result<(), Failure> {
    match command {
        RoutingCommand::Check(command) => check::run(command),
        RoutingCommand::Evaluate(command) => evaluate::run(command),
        RoutingCommand::Replay(command) => replay::run(command).await,
    }
}
