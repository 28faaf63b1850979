//! `quita routing replay`: simulates other routes for stored payments.
//!
//! Payments of all merchants are read page by page, with only the needed fields. Only sums are kept of each page, so a
//! million payments take no more memory than a few thousand.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use futures_util::future::join;
use quita_domain::identity::AcquirerName;
use quita_domain::money::Money;
use quita_domain::routing::{Candidate, PastPayment, Replayed, replay, seen};
use quita_domain::time::{Timestamp, millis_in};
use quita_machine::SystemClock;
use quita_ports::{Clock, PastFilter, PastPage, StoreError, WholeStore};
use serde::Serialize;

use crate::cli::command_store::open_store;
use crate::cli::failure::Failure;
use crate::cli::flags::ServiceFlags;
use crate::cli::output;
use quita_config::Config;
use quita_config::duration::{DURATION_FORM, parse_duration};

/// Number of payments per read.
const PAGE: usize = 4_000;

/// Arguments of `quita routing replay`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Replay {
    /// Time to look back, such as 7d
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Duration,
    /// The configuration with the other routes
    #[arg(long, value_name = "NEW.toml")]
    with: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: ServiceFlags,
}

fn since(text: &str) -> Result<Duration, String> {
    parse_duration(text).ok_or_else(|| format!("must be {DURATION_FORM}"))
}

pub(super) async fn run(command: Replay) -> Result<(), Failure> {
    let with = command.with.to_string_lossy().into_owned();
    let before = Config::from_settings(command.service.clone().settings())?;
    let after = Config::from_settings(command.service.with("config", with).settings())?;
    let store = open_store(&before.store).await?;
    let back = millis_in(command.since);
    let since = Timestamp::from_millis(SystemClock.now().millis().saturating_sub_unsigned(back));
    let mut sums = Sums::default();
    let mut payee = store.next_payee(None).await.map_err(Failure::failed)?;
    while let Some((merchant, mode)) = payee {
        let filter = PastFilter { merchant: merchant.clone(), mode, since };
        let replayed = each_page(store.as_ref(), &filter, |page| sums.add(page, &before, &after)).await;
        replayed.map_err(Failure::failed)?;
        payee = store.next_payee(Some(&(merchant, mode))).await.map_err(Failure::failed)?;
    }
    if command.json {
        let json = serde_json::to_string(&sums.report()).map_err(Failure::failed)?;
        return output::result(&json);
    }
    output::result(&sums.report().told())
}

/// Passes each page to `work`. The next page is read, on the store's threads, while the current one is processed.
async fn each_page(
    store: &dyn WholeStore,
    filter: &PastFilter,
    mut work: impl FnMut(&PastPage),
) -> Result<(), StoreError> {
    let mut page = store.past_payments(filter, None, PAGE).await?;
    while page.next.is_some() {
        // The order matters: the read starts before the work blocks this thread.
        let read = store.past_payments(filter, page.next, PAGE);
        let (read, ()) = join(read, async { work(&page) }).await;
        page = read?;
    }
    work(&page);
    Ok(())
}

/// Totals over all payments.
#[derive(Default)]
struct Sums {
    payments: u64,
    unreadable: u64,
    moved: u64,
    ways: BTreeMap<(Option<AcquirerName>, Option<AcquirerName>), u64>,
    cost_before: Money,
    cost_after: Money,
}

impl Sums {
    fn add(&mut self, page: &PastPage, before: &Config, after: &Config) {
        let unreadable = u64::try_from(page.unreadable).unwrap_or(u64::MAX);
        self.unreadable = self.unreadable.saturating_add(unreadable);
        for payment in &page.payments {
            let candidates = candidates(payment, after);
            self.count(replay(payment, &candidates, &before.routes, &after.routes));
        }
    }

    fn count(&mut self, replayed: Replayed) {
        self.payments = self.payments.saturating_add(1);
        self.cost_before = self.cost_before.plus(replayed.cost_before);
        self.cost_after = self.cost_after.plus(replayed.cost_after);
        if replayed.has_moved() {
            self.moved = self.moved.saturating_add(1);
            let count = self.ways.entry((replayed.from, replayed.to)).or_default();
            *count = count.saturating_add(1);
        }
    }

    fn report(&self) -> ReplayReport<'_> {
        let ways = self.ways.iter();
        let mut ways: Vec<_> = ways
            .map(|((from, to), count)| RouteChange { from: from.as_ref(), to: to.as_ref(), count: *count })
            .collect();
        ways.sort_by_key(|way| std::cmp::Reverse(way.count));
        let cost = Costs { before: self.cost_before.to_string(), after: self.cost_after.to_string() };
        ReplayReport { payments: self.payments, moved: self.moved, ways, cost, unreadable: self.unreadable }
    }
}

/// Returns the acquirers of a configuration that support this payment's method in its mode, in their condition at the
/// time of its routing.
fn candidates<'a>(payment: &PastPayment, config: &'a Config) -> Vec<Candidate<'a>> {
    let specs = config.acquirers.iter().map(|acquirer| &acquirer.spec);
    let takes =
        specs.filter(|spec| spec.mode == payment.owner.mode && spec.methods.contains(&payment.order.method));
    takes
        .map(|spec| {
            let (condition, approvals) = seen(payment, &spec.name);
            spec.candidate(condition, approvals)
        })
        .collect()
}

#[derive(Serialize)]
struct ReplayReport<'a> {
    payments: u64,
    moved: u64,
    ways: Vec<RouteChange<'a>>,
    cost: Costs,
    /// Number of payments that could not be read; omitted if zero.
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct RouteChange<'a> {
    from: Option<&'a AcquirerName>,
    to: Option<&'a AcquirerName>,
    count: u64,
}

#[derive(Serialize)]
struct Costs {
    before: String,
    after: String,
}

impl ReplayReport<'_> {
    /// Formats the report for people.
    fn told(&self) -> String {
        let name = |name: Option<&AcquirerName>| name.map_or("nobody", AcquirerName::as_str).to_owned();
        let mut lines = vec![format!("{} payments, {} would have gone elsewhere", self.payments, self.moved)];
        lines.extend(
            self.ways.iter().map(|way| format!("  {} → {}: {}", name(way.from), name(way.to), way.count)),
        );
        lines.push(format!("cost: {} before, {} after", self.cost.before, self.cost.after));
        if self.unreadable > 0 {
            lines.push(format!("{} payments can't be read and were left out", self.unreadable));
        }
        lines.join("\n")
    }
}
