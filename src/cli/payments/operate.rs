//! `quita payments cancel`, `capture` and `refund`: operations on a payment.

use std::fmt;

use clap::Args;
use quita_domain::identity::TransactionId;
use serde::Deserialize;
use serde_json::json;

use super::record::unreadable;
use super::{cents, print_json, print_record, transaction_id};
use crate::cli::api::{Api, ApiRequest};
use crate::cli::failure::Failure;
use crate::cli::output::{self, printable};

/// The payment of an operation, and how it is requested and printed.
#[derive(Debug, Args)]
pub(in crate::cli) struct Operate {
    /// Its transactionId
    #[arg(value_parser = transaction_id)]
    transaction_id: TransactionId,
    /// Idempotency key: repeated requests with one key act only once
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print the API's response as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

/// Arguments of `quita payments capture` and `refund`.
#[derive(Debug, Args)]
pub(in crate::cli) struct OperateAmount {
    /// Amount in cents, such as 1000 for R$ 10,00 [default: all of it]
    #[arg(long, value_name = "CENTS", value_parser = cents, allow_negative_numbers = true)]
    amount: Option<u64>,
    #[command(flatten)]
    operate: Operate,
}

pub(super) async fn cancel(operate: Operate) -> Result<(), Failure> {
    print_record(&operate.request("cancel", "cancel", None).await?, operate.json)
}

pub(super) async fn capture(OperateAmount { amount, operate }: OperateAmount) -> Result<(), Failure> {
    print_record(&operate.request("capture", "capture", amount).await?, operate.json)
}

/// Refunds a payment. The command fails if the acquirer refused the refund.
pub(super) async fn refund(OperateAmount { amount, operate }: OperateAmount) -> Result<(), Failure> {
    let answer = operate.request("refund", "refunds", amount).await?;
    let refund: RefundAnswer = serde_json::from_str(&answer).map_err(|error| unreadable(&error))?;
    if operate.json {
        print_json(&answer)?
    } else {
        output::result(&refund.to_string())?
    }
    match refund.status.as_str() {
        "failed" => Err(Failure::failed("the refund failed")),
        "processing" => {
            output::note(
                "The acquirer is still processing it; `quita payments get` shows the refunded amount later.",
            );
            Ok(())
        }
        _ => Ok(()),
    }
}

impl Operate {
    async fn request(&self, what: &str, path: &str, amount: Option<u64>) -> Result<String, Failure> {
        let body = amount.map(|cents| json!({"amount": cents}).to_string());
        let mut call = ApiRequest::post(format!("/pay/payments/{}/{path}", self.transaction_id));
        if let Some(body) = &body {
            call = call.with_body(body);
        }
        self.api.call(what, call.with_idempotency_key(self.idempotency_key.as_deref())).await
    }
}

/// Parts of a refund that are shown.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RefundAnswer {
    refund_id: String,
    amount: String,
    status: String,
    failure_reason: Option<String>,
}

impl fmt::Display for RefundAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { refund_id, amount, status, failure_reason } = self;
        let [id, amount, status] = [refund_id, amount, status].map(|text| printable(text));
        write!(f, "refund     {id}\namount     {amount}\nstatus     {status}")?;
        match failure_reason {
            Some(reason) => write!(f, "\nreason     {}", printable(reason)),
            None => Ok(()),
        }
    }
}
