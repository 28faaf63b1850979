//! `quita sandbox`: moves a sandbox payment manually, through the running service.

use chrono::NaiveDate;
use clap::{Args, Subcommand};
use quita_domain::identity::TransactionId;
use serde_json::{Map, Value, json};

use super::api::{Api, ApiRequest};
use super::failure::Failure;
use super::payments::{cents, print_record, transaction_id};
use super::values::date;

/// Subcommands of `quita sandbox`.
#[derive(Debug, Subcommand)]
pub(super) enum SandboxCommand {
    /// The payer pays
    Pay(Pay),
    /// The payment expires
    Expire(Target),
    /// The payment is refunded
    Refund(Target),
    /// The payer disputes it
    Chargeback(Target),
}

/// Payment and service. The key is a test key with payments:write.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The payment's transactionId
    #[arg(value_parser = transaction_id)]
    transaction_id: TransactionId,
    #[command(flatten)]
    api: Api,
}

/// Day, amount and code of the payment.
#[derive(Debug, Args)]
pub(super) struct Pay {
    /// Day of the payment, of a boleto or a PIX with a due date [default: today]
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    on: Option<NaiveDate>,
    /// Amount in cents [default: what is owed on that day]
    #[arg(long, value_name = "CENTS", value_parser = cents, allow_negative_numbers = true)]
    amount: Option<u64>,
    /// Code of a boleto: barcode or pix [default: barcode]
    #[arg(long, value_name = "CODE", value_parser = ["barcode", "pix"])]
    by: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl Pay {
    fn body(&self) -> String {
        let mut body = Map::new();
        body.extend(self.on.map(|day| (String::from("on"), json!(day.to_string()))));
        body.extend(self.amount.map(|amount| (String::from("amount"), json!(amount))));
        body.extend(self.by.as_ref().map(|by| (String::from("by"), json!(by))));
        Value::Object(body).to_string()
    }
}

impl SandboxCommand {
    fn into_parts(self) -> (&'static str, Target) {
        match self {
            Self::Pay(Pay { target, .. }) => ("pay", target),
            Self::Expire(target) => ("expire", target),
            Self::Refund(target) => ("refund", target),
            Self::Chargeback(target) => ("chargeback", target),
        }
    }
}

pub(super) async fn run(command: SandboxCommand) -> Result<(), Failure> {
    if let SandboxCommand::Pay(pay) = &command {
        let Target { transaction_id, api } = &pay.target;
        let body = pay.body();
        let call = ApiRequest::post(format!("/sandbox/payments/{transaction_id}/pay")).with_body(&body);
        return print_record(&api.call("pay", call).await?, true);
    }
    let (action, Target { transaction_id, api }) = command.into_parts();
    print_record(&moved_by_hand(&api, transaction_id, action).await?, true)
}

/// Moves the payment, and returns its record.
pub(super) async fn moved_by_hand(api: &Api, id: TransactionId, action: &str) -> Result<String, Failure> {
    api.call(action, ApiRequest::post(format!("/sandbox/payments/{id}/{action}"))).await
}
