//! `quita sandbox`: moves a sandbox payment by hand, through the running service.

use clap::{Args, Subcommand};
use quita_domain::identity::TransactionId;

use super::api::{Api, Call};
use super::failure::Failure;
use super::payments::{print_record, transaction_id};

/// What happens to the payment.
#[derive(Debug, Subcommand)]
pub(super) enum SandboxCommand {
    /// The payer pays
    Pay(Target),
    /// The time to pay runs out
    Expire(Target),
    /// The money goes back
    Refund(Target),
    /// The payer disputes it
    Chargeback(Target),
}

/// Which payment, and where. The key is a test key with payments:write.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The payment's transactionId
    #[arg(value_parser = transaction_id)]
    transaction_id: TransactionId,
    #[command(flatten)]
    api: Api,
}

impl SandboxCommand {
    fn into_parts(self) -> (&'static str, Target) {
        match self {
            Self::Pay(target) => ("pay", target),
            Self::Expire(target) => ("expire", target),
            Self::Refund(target) => ("refund", target),
            Self::Chargeback(target) => ("chargeback", target),
        }
    }
}

pub(super) async fn run(command: SandboxCommand) -> Result<(), Failure> {
    let (action, Target { transaction_id, api }) = command.into_parts();
    print_record(&moved_by_hand(&api, transaction_id, action).await?, true)
}

/// Moves the payment, and returns its record.
pub(super) async fn moved_by_hand(api: &Api, id: TransactionId, action: &str) -> Result<String, Failure> {
    api.call(action, Call::post(format!("/sandbox/payments/{id}/{action}"))).await
}
