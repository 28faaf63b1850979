//! `quita routing replay`: what other routes would have done with the stored payments, on paper.
//!
//! Payments are read a page at a time, and of each page only sums are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use quita_adapters::system::SystemClock;
use quita_domain::identity::{AcquirerName, MerchantId, Mode};
use quita_domain::listing::{Cursor, PaymentFilter};
use quita_domain::money::Money;
use quita_domain::payment::Payment;
use quita_domain::routing::{Candidate, replay, seen};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, Listed, StoreError, WholeStore, place_of};
use serde::Serialize;

use crate::cli::failure::Failure;
use crate::cli::flags::ServiceFlags;
use crate::cli::output;
use crate::config::Config;
use crate::config::duration::{DURATION_FORM, parse_duration};
use crate::store::{self, Purpose};

/// Payments that are read at once.
const PAGE: usize = 1_000;

/// Which payments, and which routes.
#[derive(Debug, Args)]
pub(in crate::cli) struct Replay {
    /// How far back, such as 7d
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
    let store = store::open(&before.store, Purpose::Maintenance).await?;
    let back = u64::try_from(command.since.as_millis()).unwrap_or(u64::MAX);
    let since = Timestamp::from_millis(SystemClock.now().millis().saturating_sub_unsigned(back));
    let mut sums = Sums::default();
    for (merchant, mode) in owners(&store).await.map_err(Failure::failed)? {
        let filter = of(merchant, mode, since);
        let mut after_place = None;
        loop {
            let page = store.list(&filter, after_place, PAGE).await.map_err(Failure::failed)?;
            page.iter().for_each(|listed| sums.add(listed, &before, &after));
            after_place = next_place(&page);
            if after_place.is_none() {
                break;
            }
        }
    }
    if command.json {
        let json = serde_json::to_string(&sums.report()).map_err(Failure::failed)?;
        return output::result(&json);
    }
    output::result(&sums.report().told())
}

/// Everybody who may have payments.
async fn owners(store: &Arc<dyn WholeStore>) -> Result<BTreeSet<(MerchantId, Mode)>, StoreError> {
    let keys = store.keys().await?;
    Ok(keys.into_iter().map(|key| (key.owner.merchant, key.owner.mode)).collect())
}

const fn of(merchant: MerchantId, mode: Mode, since: Timestamp) -> PaymentFilter {
    PaymentFilter {
        merchant,
        mode,
        statuses: Vec::new(),
        method: None,
        document: None,
        email: None,
        external_reference: None,
        id: None,
        amount: None,
        created_from: Some(since),
        created_to: None,
    }
}

fn next_place(page: &[Listed]) -> Option<Cursor> {
    page.last().filter(|_| page.len() == PAGE).map(place_of)
}

/// What all payments come to.
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
    fn add(&mut self, listed: &Listed, before: &Config, after: &Config) {
        let Ok(payment) = listed else {
            self.unreadable = self.unreadable.saturating_add(1);
            return;
        };
        let replayed = replay(payment, &candidates(payment, after), &before.routes, &after.routes);
        self.payments = self.payments.saturating_add(1);
        self.cost_before = self.cost_before.plus(replayed.cost_before);
        self.cost_after = self.cost_after.plus(replayed.cost_after);
        if replayed.has_moved() {
            self.moved = self.moved.saturating_add(1);
            let count = self.ways.entry((replayed.from, replayed.to)).or_default();
            *count = count.saturating_add(1);
        }
    }

    fn report(&self) -> Report<'_> {
        let ways = self.ways.iter();
        let mut ways: Vec<_> = ways
            .map(|((from, to), count)| Way { from: from.as_ref(), to: to.as_ref(), count: *count })
            .collect();
        ways.sort_by_key(|way| std::cmp::Reverse(way.count));
        let cost = Costs { before: self.cost_before.to_string(), after: self.cost_after.to_string() };
        Report { payments: self.payments, moved: self.moved, ways, cost, unreadable: self.unreadable }
    }
}

/// The acquirers of a configuration that take this payment's method in its mode, as they were when it was routed.
fn candidates<'a>(payment: &Payment, config: &'a Config) -> Vec<Candidate<'a>> {
    let specs = config.acquirers.iter().map(|acquirer| &acquirer.spec);
    let takes =
        specs.filter(|spec| spec.mode == payment.owner.mode && spec.methods.contains(&payment.method()));
    takes
        .map(|spec| {
            let (condition, approvals) = seen(payment, &spec.name);
            spec.candidate(condition, approvals)
        })
        .collect()
}

#[derive(Serialize)]
struct Report<'a> {
    payments: u64,
    moved: u64,
    ways: Vec<Way<'a>>,
    cost: Costs,
    /// Payments that could not be read; only if there are any.
    #[serde(skip_serializing_if = "is_zero")]
    unreadable: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Serialize)]
struct Way<'a> {
    from: Option<&'a AcquirerName>,
    to: Option<&'a AcquirerName>,
    count: u64,
}

#[derive(Serialize)]
struct Costs {
    before: String,
    after: String,
}

impl Report<'_> {
    /// For people.
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
