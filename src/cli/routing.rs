//! `quita routing`: which way payments would go, without a service.

mod evaluate;

use clap::Subcommand;

use super::failure::Failure;

/// What is done with routes.
#[derive(Debug, Subcommand)]
pub(super) enum RoutingCommand {
    /// Tell which way a payment would go, and why
    Evaluate(evaluate::Evaluate),
}

pub(super) fn run(command: RoutingCommand) -> Result<(), Failure> {
    match command {
        RoutingCommand::Evaluate(command) => evaluate::run(command),
    }
}
