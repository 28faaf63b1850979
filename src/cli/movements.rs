//! `quita refunds` and `quita disputes`: lists from the running service.

use clap::{Args, Subcommand};
use quita_domain::payment::DisputeStatus;
use quita_domain::state::RefundStatus;
use quita_domain::time::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::api::{Api, ApiRequest};
use super::failure::Failure;
use super::output::printable;
use super::payments::{print_json, unreadable};
use super::{output, table};

/// Commands about refunds.
#[derive(Debug, Subcommand)]
pub(super) enum RefundsCommand {
    /// List refunds of all payments, those of the newest payment first
    List(ListRefunds),
}

/// Commands about disputes.
#[derive(Debug, Subcommand)]
pub(super) enum DisputesCommand {
    /// List disputes about all payments, those of the newest payment first
    List(ListDisputes),
}

/// Arguments of `quita refunds list`.
#[derive(Debug, Args)]
pub(super) struct ListRefunds {
    /// Only these statuses, comma-separated: processing, succeeded, failed
    #[arg(long, value_delimiter = ',', value_parser = refund_status)]
    status: Vec<RefundStatus>,
    #[command(flatten)]
    page: PageOptions,
}

/// Arguments of `quita disputes list`.
#[derive(Debug, Args)]
pub(super) struct ListDisputes {
    /// Only these statuses, comma-separated: open, won
    #[arg(long, value_delimiter = ',', value_parser = dispute_status)]
    status: Vec<DisputeStatus>,
    #[command(flatten)]
    page: PageOptions,
}

/// Part of a list, and the service to read it from.
#[derive(Debug, Args)]
struct PageOptions {
    /// Only of payments that were created at this time or later, such as 2026-11-21T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    created_from: Option<Timestamp>,
    /// Only of payments that were created before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    created_to: Option<Timestamp>,
    /// Number of entries, 1 to 100
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    /// Continue after an earlier page, with its nextCursor
    #[arg(long)]
    cursor: Option<String>,
    /// Print the API's response as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

/// Page in the API's answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListAnswer<T> {
    data: Vec<T>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refund {
    refund_id: String,
    #[serde(flatten)]
    of: Common,
    created_at: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dispute {
    chargeback_id: String,
    #[serde(flatten)]
    of: Common,
    chargeback_at: Option<String>,
}

/// Fields that refunds and disputes have in common.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Common {
    transaction_id: String,
    external_reference: Option<String>,
    payment_method: String,
    amount: String,
    status: String,
}

impl Common {
    fn row(&self, id: &str, at: &str) -> [String; 7] {
        let reference = self.external_reference.as_deref().unwrap_or_default();
        [id, &self.transaction_id, at, &self.payment_method, &self.status, &self.amount, reference]
            .map(printable)
    }
}

/// Runs `quita refunds`.
pub(super) async fn refunds(command: RefundsCommand) -> Result<(), Failure> {
    let RefundsCommand::List(ListRefunds { status, page }) = command;
    let statuses = status.into_iter().map(RefundStatus::as_str);
    let headers = ["REFUND ID", "TRANSACTION ID", "CREATED", "METHOD", "STATUS", "AMOUNT", "REFERENCE"];
    let row = |refund: &Refund| refund.of.row(&refund.refund_id, &refund.created_at);
    page.list("/pay/refunds", statuses, headers, row).await
}

/// Runs `quita disputes`.
pub(super) async fn disputes(command: DisputesCommand) -> Result<(), Failure> {
    let DisputesCommand::List(ListDisputes { status, page }) = command;
    let statuses = status.into_iter().map(DisputeStatus::as_str);
    let headers =
        ["CHARGEBACK ID", "TRANSACTION ID", "CHARGED BACK", "METHOD", "STATUS", "AMOUNT", "REFERENCE"];
    let row = |dispute: &Dispute| {
        dispute.of.row(&dispute.chargeback_id, dispute.chargeback_at.as_deref().unwrap_or_default())
    };
    page.list("/pay/disputes", statuses, headers, row).await
}

impl PageOptions {
    async fn list<T: DeserializeOwned>(
        self,
        path: &str,
        statuses: impl Iterator<Item = &'static str>,
        headers: [&str; 7],
        row: impl Fn(&T) -> [String; 7],
    ) -> Result<(), Failure> {
        let call = ApiRequest::get(path).with_query(self.query(statuses));
        let answer = self.api.call("list", call).await?;
        if self.json {
            return print_json(&answer);
        }
        let page: ListAnswer<T> = serde_json::from_str(&answer).map_err(|error| unreadable(&error))?;
        let rows: Vec<_> = page.data.iter().map(row).collect();
        table::print(headers, &rows)?;
        if rows.is_empty() {
            output::note("None found.");
        }
        if let Some(cursor) = page.next_cursor {
            output::note(&format!("There are more: --cursor {}", printable(&cursor)));
        }
        Ok(())
    }

    fn query(&self, statuses: impl Iterator<Item = &'static str>) -> Vec<(&'static str, String)> {
        let others = [
            ("createdFrom", self.created_from.map(|at| at.to_string())),
            ("createdTo", self.created_to.map(|at| at.to_string())),
            ("cursor", self.cursor.clone()),
            ("limit", Some(self.limit.to_string())),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some((name, value?)));
        statuses.map(|status| ("status", status.to_owned())).chain(others).collect()
    }
}

fn refund_status(text: &str) -> Result<RefundStatus, String> {
    let known = "known statuses are processing, succeeded, failed";
    // Parsed like the API does.
    RefundStatus::parse(&text.to_ascii_lowercase()).ok_or_else(|| known.into())
}

fn dispute_status(text: &str) -> Result<DisputeStatus, String> {
    DisputeStatus::parse(&text.to_ascii_lowercase()).ok_or_else(|| "known statuses are open, won".into())
}

fn time(text: &str) -> Result<Timestamp, String> {
    Timestamp::parse(text)
        .ok_or_else(|| "must be an ISO 8601 time with an offset, such as 2026-11-21T12:00:00Z".into())
}
