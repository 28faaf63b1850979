//! `quita logs tail`: prints refused requests of a merchant as they happen.

mod known_requests;
mod logged_request;

use std::collections::BTreeSet;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::api::{Api, ApiRequest, FailedCall};
use super::failure::Failure;
use super::output;
use crate::http::ErrorCode;
use known_requests::KnownRequests;
use logged_request::{LoggedRequest, RequestLog};

/// Time between two polls. A key may make many more requests in the meantime.
const PAUSE: Duration = Duration::from_secs(1);

/// Number of refusals that a node keeps for keys of one kind (`GET /pay/requests`).
const PAGE: usize = 100;

/// Action on the log of refused requests.
#[derive(Debug, Subcommand)]
pub(super) enum LogsCommand {
    /// Print refused requests, and those with unknown names, until Ctrl-C
    Tail(Tail),
}

/// Choice of refusals.
#[derive(Debug, Args)]
#[command(
    after_help = "Shows refusals for all keys of the key's merchant and mode and, with a test key, requests that were \
    accepted although some of their names are unknown. The service keeps the last hundred of each for secret keys, and \
    as many for publishable keys, in the memory of the node that answers. The key needs payments:read."
)]
pub(super) struct Tail {
    /// Number of earlier refusals to print first, 0 to 400
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(0..=400))]
    lines: u16,
    /// Print the earlier refusals and exit
    #[arg(long)]
    once: bool,
    /// Only responses with this status: 2xx (accepted, with unknown names), 4xx, 5xx, or one such as 422
    #[arg(long, value_parser = statuses)]
    status: Option<Statuses>,
    /// Only these error codes, comma-separated
    #[arg(long, value_delimiter = ',', value_parser = codes(), hide_possible_values = true)]
    code: Vec<String>,
    /// Print each refusal as a line of JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    api: Api,
}

/// Filter on the status of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statuses {
    /// All statuses of a class: 4 for every 4xx.
    Class(u16),
    /// One status.
    One(u16),
}

impl Statuses {
    const fn have(self, status: u16) -> bool {
        match self {
            Self::Class(class) => status / 100 == class,
            Self::One(one) => status == one,
        }
    }
}

pub(super) async fn run(command: LogsCommand) -> Result<(), Failure> {
    let LogsCommand::Tail(tail) = command;
    // An error at the start is permanent, so it ends the command.
    let earlier = tail.look().await.map_err(|failed| failed.failure)?;
    let mut seen = KnownRequests::default();
    let mut nodes = BTreeSet::new();
    note_node(&mut nodes, &earlier);
    let chosen: Vec<_> = seen.new_of(earlier.entries).into_iter().filter(|entry| tail.shows(entry)).collect();
    let skipped = chosen.len().saturating_sub(usize::from(tail.lines));
    chosen.iter().skip(skipped).try_for_each(|entry| tail.print(entry))?;
    if tail.once {
        return Ok(());
    }
    output::note("Waiting for refused requests; Ctrl-C stops.");
    tail.follow(seen, nodes).await
}

/// Prints a note, once for each node, that it lists only its own refusals.
fn note_node(nodes: &mut BTreeSet<String>, page: &RequestLog) {
    if let Some(node) = page.node.as_ref().filter(|node| nodes.insert((*node).clone())) {
        let node = output::printable(node);
        output::note(&format!("These are the refusals on node {node} only; every other node keeps its own."));
    }
}

impl Tail {
    /// Prints new refusals. Returns if the service refuses the call.
    async fn follow(&self, mut seen: KnownRequests, mut nodes: BTreeSet<String>) -> Result<(), Failure> {
        let mut is_told = false;
        loop {
            tokio::time::sleep(PAUSE).await;
            match self.look().await {
                Ok(page) => {
                    is_told = false;
                    note_node(&mut nodes, &page);
                    self.print_new(&mut seen, page.entries)?;
                }
                // A restarting service will be back soon; the failure is printed once until it answers.
                Err(failed) if failed.passes => {
                    if !is_told {
                        output::note(&format!("{}\nTrying again until it answers.", failed.failure));
                    }
                    is_told = true;
                }
                Err(failed) => return Err(failed.failure),
            }
        }
    }

    fn print_new(&self, seen: &mut KnownRequests, entries: Vec<LoggedRequest>) -> Result<(), Failure> {
        let new = seen.new_of(entries);
        if new.len() >= PAGE {
            output::note("Some refusals may be missing: more requests were refused than the service keeps.");
        }
        new.iter().filter(|entry| self.shows(entry)).try_for_each(|entry| self.print(entry))
    }

    /// Returns the requests that the answering node kept, oldest first.
    async fn look(&self) -> Result<RequestLog, FailedCall> {
        let answer =
            self.api.exchange("reading the refused requests", ApiRequest::get("/pay/requests")).await?;
        RequestLog::parse(&answer)
    }

    fn shows(&self, entry: &LoggedRequest) -> bool {
        let has_code = || self.code.iter().any(|code| entry.code() == Some(code));
        self.status.is_none_or(|statuses| statuses.have(entry.status_code()))
            && (self.code.is_empty() || has_code())
    }

    fn print(&self, entry: &LoggedRequest) -> Result<(), Failure> {
        output::result(&if self.json { entry.json()? } else { entry.to_string() })
    }
}

fn codes() -> PossibleValuesParser {
    PossibleValuesParser::new(ErrorCode::ALL.iter().map(|code| code.as_str()))
}

fn statuses(text: &str) -> Result<Statuses, String> {
    let one = || text.parse().ok().filter(|status| (200..=599).contains(status)).map(Statuses::One);
    match text {
        "2xx" => Some(Statuses::Class(2)),
        "4xx" => Some(Statuses::Class(4)),
        "5xx" => Some(Statuses::Class(5)),
        _ => one(),
    }
    .ok_or_else(|| "must be 2xx, 4xx, 5xx or a status from 200 to 599".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_or_a_class_of_them_is_chosen() {
        let have = |text: &str, status| statuses(text).unwrap().have(status);
        assert!(have("4xx", 400) && have("4xx", 499) && !have("4xx", 500));
        assert!(have("5xx", 503) && !have("5xx", 422));
        assert!(have("422", 422) && !have("422", 400));
        assert!(have("2xx", 201) && !have("2xx", 400) && have("201", 201));
        for wrong in ["", "199", "600", "3xx", "4XX", "-1", "65536"] {
            assert!(statuses(wrong).is_err(), "{wrong}");
        }
    }
}
