//! `quita payments`: create, read, list, cancel, capture and refund payments through the running service.

mod create;
mod operate;
mod record;

use chrono::NaiveDate;
use clap::{Args, Subcommand};
use quita_domain::identity::TransactionId;
use quita_domain::method::Method;
use quita_domain::status::Status;
use serde::Deserialize;

use super::api::{Api, ApiRequest};
use super::failure::Failure;
use super::json_text::JsonText;
use super::values::date;
use super::{output, table};
use create::PaymentArgs;
pub(super) use create::card;
use operate::{Operate, OperateAmount};
use record::ShownRecord;
pub(super) use record::unreadable;

/// Commands about payments.
#[derive(Debug, Subcommand)]
pub(super) enum PaymentsCommand {
    /// Create a payment, and print it. Without options: a PIX of R$ 100,00, which the sandbox pays after 2 s
    Create(PaymentArgs),
    /// Print a payment
    Get(Get),
    /// List payments, the newest first
    List(ListPayments),
    /// Withdraw a PIX or boleto, or void an authorized card
    Cancel(Operate),
    /// Capture an authorized card, in whole or in part
    Capture(OperateAmount),
    /// Refund a paid payment, in whole or in part
    Refund(OperateAmount),
}

/// Arguments of `quita payments get`.
#[derive(Debug, Args)]
pub(super) struct Get {
    /// Its transactionId
    #[arg(value_parser = transaction_id)]
    transaction_id: TransactionId,
    /// Print the API's response as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

/// Arguments of `quita payments list`.
#[derive(Debug, Args)]
pub(super) struct ListPayments {
    /// Only these statuses, comma-separated: initial, pending, approved, paid, declined, expired, cancelled, refund,
    /// chargeback
    #[arg(long, value_delimiter = ',', value_parser = status)]
    status: Vec<Status>,
    /// Only this method: pix, boleto or credit_card
    #[arg(long, value_parser = method)]
    method: Option<Method>,
    /// Only payments with this externalReference
    #[arg(long, value_name = "TEXT")]
    external_reference: Option<String>,
    /// Number of payments, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    /// Only payments that are due on this day or later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    due_from: Option<NaiveDate>,
    /// Only payments that are due on this day or earlier
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = date)]
    due_to: Option<NaiveDate>,
    /// Continue after an earlier page, with its nextCursor
    #[arg(long)]
    cursor: Option<String>,
    /// Print the API's response as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

/// Page of payments in the API's answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PaymentList {
    data: Vec<ShownRecord>,
    next_cursor: Option<String>,
}

pub(super) async fn run(command: PaymentsCommand) -> Result<(), Failure> {
    match command {
        PaymentsCommand::Create(create) => create::run(create).await,
        PaymentsCommand::Get(Get { transaction_id, json, api }) => print_record(
            &api.call("get", ApiRequest::get(format!("/pay/payments/{transaction_id}"))).await?,
            json,
        ),
        PaymentsCommand::List(list) => {
            let answer =
                list.api.call("list", ApiRequest::get("/pay/payments").with_query(list.query())).await?;
            if list.json { print_json(&answer) } else { print_page(&answer) }
        }
        PaymentsCommand::Cancel(operate) => operate::cancel(operate).await,
        PaymentsCommand::Capture(operate) => operate::capture(operate).await,
        PaymentsCommand::Refund(operate) => operate::refund(operate).await,
    }
}

impl ListPayments {
    fn query(&self) -> Vec<(&'static str, String)> {
        let statuses = self.status.iter().map(|status| ("status", status.to_string()));
        let others = [
            ("paymentMethod", self.method.map(|method| method.as_str().to_owned())),
            ("externalReference", self.external_reference.clone()),
            ("dueFrom", self.due_from.map(|day| day.to_string())),
            ("dueTo", self.due_to.map(|day| day.to_string())),
            ("cursor", self.cursor.clone()),
            ("limit", Some(self.limit.to_string())),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
        statuses.chain(others).collect()
    }
}

/// Prints a payment record: its main values, or with `json` the API's complete answer.
pub(super) fn print_record(answer: &str, json: bool) -> Result<(), Failure> {
    if json {
        return print_json(answer);
    }
    output::result(&ShownRecord::parse(answer)?.to_string())
}

fn print_page(answer: &str) -> Result<(), Failure> {
    let page: PaymentList = serde_json::from_str(answer).map_err(|error| record::unreadable(&error))?;
    let headers = ["TRANSACTION ID", "CREATED", "METHOD", "STATUS", "AMOUNT", "REFERENCE"];
    let rows: Vec<_> = page.data.iter().map(ShownRecord::row).collect();
    table::print(headers, &rows)?;
    if rows.is_empty() {
        output::note("No payments found.");
    }
    if let Some(cursor) = page.next_cursor {
        output::note(&format!("There are more: --cursor {}", output::printable(&cursor)));
    }
    Ok(())
}

/// Prints an answer in the API's field order.
pub(super) fn print_json(answer: &str) -> Result<(), Failure> {
    let json = JsonText::parse(answer).ok_or_else(|| Failure::failed("the answer is not JSON"))?;
    output::result(&json.indented())
}

pub(super) fn transaction_id(text: &str) -> Result<TransactionId, String> {
    TransactionId::parse(text).ok_or_else(|| "a transactionId is a UUID with hyphens".into())
}

/// Parses an amount in cents. For a decimal number, the message states the cents that were probably meant.
pub(super) fn cents(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        let advice = "an amount is a whole number of cents, such as 10000 for R$ 100,00";
        match reais(text) {
            Some(cents) => format!("{advice}; did you mean {cents}?"),
            None => advice.into(),
        }
    })
}

/// Parses an amount in reais, with its cents after the last point or comma. Returns it in cents.
fn reais(text: &str) -> Option<u64> {
    let text = text.trim().trim_start_matches("R$").trim_start();
    let (whole, cents) = text.rsplit_once(['.', ','])?;
    let whole: String = whole.chars().filter(|character| !['.', ','].contains(character)).collect();
    let cents: u64 = (cents.len() == 2).then(|| cents.parse().ok())??;
    whole.parse::<u64>().ok()?.checked_mul(100)?.checked_add(cents)
}

fn status(text: &str) -> Result<Status, String> {
    let known = Status::ALL.map(|status| status.to_string()).join(", ");
    // Parsed like the API does.
    Status::parse(&text.to_ascii_lowercase()).ok_or_else(|| format!("known statuses are {known}"))
}

fn method(text: &str) -> Result<Method, String> {
    Method::parse(text).ok_or_else(|| "must be pix, boleto or credit_card".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_in_reais_is_answered_with_its_cents() {
        assert_eq!(cents("10000"), Ok(10_000));
        for (text, meant) in
            [("100.00", "10000"), ("100,00", "10000"), ("R$ 1.234,56", "123456"), ("0.05", "5")]
        {
            let refused = cents(text).unwrap_err();
            assert!(refused.contains(&format!("did you mean {meant}?")), "{text}: {refused}");
        }
        for text in ["", "-1", "ten", "1.5", "1.000", "99999999999999999999,00"] {
            let refused = cents(text).unwrap_err();
            assert!(
                refused.contains("whole number of cents") && !refused.contains("did you mean"),
                "{text}: {refused}"
            );
        }
    }
}
