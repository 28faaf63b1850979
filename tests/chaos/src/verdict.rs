//! Comparison of three ledgers with the store: the clients' answers, the banks' books, and the receiver's events.

mod events;

use std::collections::BTreeMap;

use crate::books::{Entry, State};
use crate::store::{self, Stored, text};
use crate::told::{Promise, cents, decimal};
use crate::world::World;

/// Maximum number of violations that are printed; further ones are counted.
const SHOWN: usize = 40;

/// Minimum number of payments: a round with fewer proves nothing.
const FEWEST_PAYMENTS: usize = 30;

/// Result of the comparison.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) violations: Vec<String>,
    /// True if some violations can't resolve themselves in time.
    pub(crate) is_final: bool,
    /// True if the outcome of a charge or a refund is still being inquired about.
    pub(crate) is_open: bool,
    pub(crate) payments: usize,
    pub(crate) events: usize,
    pub(crate) exceptions: Vec<String>,
    pub(crate) by_status: BTreeMap<String, usize>,
}

impl Verdict {
    fn violation(&mut self, text: String) {
        self.violations.push(text);
    }

    /// Returns true if waiting would change nothing.
    pub(crate) const fn is_over(&self) -> bool {
        self.violations.is_empty() || self.is_final
    }

    pub(crate) fn print_violations(&self) {
        for violation in self.violations.iter().take(SHOWN) {
            println!("  VIOLATION {violation}");
        }
        if self.violations.len() > SHOWN {
            println!("  … and {} more", self.violations.len() - SHOWN);
        }
    }
}

/// Compares everything with everything.
pub(crate) async fn compare(world: &World) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::default();
    verdict.violations.extend(world.told.violations.borrow().iter().cloned());
    verdict.violations.extend(world.receiver.violations.borrow().iter().cloned());
    verdict.is_final = !verdict.violations.is_empty();
    let payments = store::all_payments(world).await?;
    verdict.payments = payments.len();
    for (id, stored) in &payments {
        *verdict.by_status.entry(text(&stored.record["status"])).or_default() += 1;
        verdict.events += stored.events.len();
        check_nodes(world, &mut verdict, id, stored).await?;
        events::check_order(&mut verdict, id, stored);
        check_books(world, &mut verdict, id, stored);
        events::check_receiver(world, &mut verdict, id, stored);
        let version = stored.record["version"].as_u64().unwrap_or(0);
        if world.told.highest_version(id).is_some_and(|seen| seen > version) {
            verdict.violation(format!("{id}: its version is {version}, but a higher one was told"));
        }
    }
    if payments.len() < FEWEST_PAYMENTS {
        verdict.violation(format!("only {} payments were made: that proves nothing", payments.len()));
    }
    check_intents(world, &mut verdict, &payments);
    check_promises(world, &mut verdict, &payments);
    check_unknown(world, &mut verdict, &payments);
    check_exceptions(world, &mut verdict, &payments).await?;
    check_leftovers(world, &mut verdict).await?;
    Ok(verdict)
}

/// Checks that every node returns the same.
async fn check_nodes(world: &World, verdict: &mut Verdict, id: &str, stored: &Stored) -> anyhow::Result<()> {
    for node in &world.nodes {
        let found = store::get(world, node, &format!("/pay/payments/{id}")).await?;
        if found != stored.record {
            verdict.violation(format!("{id}: {} has {found}, the list has {}", node.name(), stored.record));
        }
    }
    Ok(())
}

/// Compares the store with the banks' books, which decide about money.
fn check_books(world: &World, verdict: &mut Verdict, id: &str, stored: &Stored) {
    let books = world.bank.books.borrow();
    let entries: Vec<&Entry> =
        books.entries.iter().filter(|((_, known), _)| known == id).map(|(_, entry)| entry).collect();
    let record = &stored.record;
    let status = text(&record["status"]);
    let captures: usize = entries.iter().map(|entry| entry.captures.len()).sum();
    let captured: u64 = entries.iter().map(|entry| entry.captured()).sum();
    let refunded: u64 = entries.iter().map(|entry| entry.refunded()).sum();
    let held = entries.iter().filter(|entry| entry.state == State::Authorized).count();
    let says_captured = matches!(status.as_str(), "paid" | "refund" | "chargeback");
    let mut wrong = Vec::new();
    if captures > 1 {
        wrong.push("captured more than once");
    }
    if says_captured != (captures == 1) {
        wrong.push("captured or not, against its status");
    }
    if (held == 1) != (status == "approved") || held > 1 {
        wrong.push("a limit is held or not, against its status");
    }
    if says_captured && text(&record["capturedAmount"]) != decimal(captured) {
        wrong.push("another amount was captured");
    }
    if refunded > cents(&record["refundedAmount"]) {
        wrong.push("more was given back than was asked for");
    }
    if text(&record["refundedAmount"]) != decimal(refunded) || refunded > captured {
        wrong.push("another amount was refunded");
    }
    if (status == "chargeback") != entries.iter().any(|entry| entry.charged_back) {
        wrong.push("charged back or not, against its status");
    }
    if entries.iter().any(|entry| decimal(entry.amount) != text(&record["amount"])) {
        wrong.push("another amount was charged");
    }
    let mut refunds = record["refunds"].as_array().into_iter().flatten();
    if refunds.any(|refund| refund["status"] == "processing") {
        wrong.push("a refund has no end");
        verdict.is_open = true;
    }
    if status == "initial" {
        wrong.push("no end of its charge");
        verdict.is_open = true;
    }
    if !wrong.is_empty() {
        verdict.violation(format!("{id}: {}: books {entries:?}, record {record}", wrong.join(", ")));
    }
}

/// Checks that each intent has one payment and one authorised charge.
fn check_intents(world: &World, verdict: &mut Verdict, payments: &BTreeMap<String, Stored>) {
    let mut by_reference: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (id, stored) in payments {
        by_reference.entry(text(&stored.record["externalReference"])).or_default().push(id);
    }
    let mut accepted: BTreeMap<&str, u32> = BTreeMap::new();
    let books = world.bank.books.borrow();
    for entry in books.entries.values().filter(|entry| entry.method == "credit_card") {
        *accepted.entry(&entry.reference).or_default() += entry.accepted;
    }
    for (reference, intent) in world.told.intents.borrow().iter() {
        let stored = by_reference.get(reference).cloned().unwrap_or_default();
        if stored.len() > 1 || intent.ids.iter().any(|id| !stored.contains(&id.as_str())) {
            verdict.violation(format!("{reference}: told was {intent:?}, stored is {stored:?}"));
        }
        if accepted.get(reference.as_str()).is_some_and(|count| *count > 1) {
            verdict.violation(format!("{reference}: more than one charge was authorised; {stored:?}"));
        }
        let amount = stored.first().map(|id| text(&payments[*id].record["amount"]));
        if amount.is_some_and(|amount| amount != decimal(intent.cents)) {
            verdict.violation(format!("{reference}: asked for {}, stored {stored:?}", intent.cents));
        }
    }
}

fn check_promises(world: &World, verdict: &mut Verdict, payments: &BTreeMap<String, Stored>) {
    for (id, promise) in world.told.promises.borrow().iter() {
        let is_kept = payments.get(id).is_some_and(|stored| {
            let had = |status: &str| stored.events.iter().any(|event| event["status"] == status);
            match promise {
                Promise::Cancelled => had("cancelled"),
                Promise::Captured => had("paid"),
                // An ended refund does not change any more.
                Promise::Refunded { refund_id, amount, status } => {
                    stored.record["refunds"].as_array().into_iter().flatten().any(|refund| {
                        let is_open = status == "processing";
                        refund["refundId"] == refund_id.as_str()
                            && refund["amount"] == amount.as_str()
                            && (is_open || refund["status"] == status.as_str())
                    })
                }
            }
        });
        if !is_kept {
            verdict.violation(format!("{id}: {promise:?} was told: {:?}", payments.get(id)));
        }
    }
}

/// Checks that there is no effect at a bank and no event without a payment in the store.
fn check_unknown(world: &World, verdict: &mut Verdict, payments: &BTreeMap<String, Stored>) {
    let books = world.bank.books.borrow();
    for ((bank, id), entry) in &books.entries {
        if !payments.contains_key(id) {
            let bank = bank.name();
            verdict.violation(format!("{id}: {bank} was charged, but no payment is stored: {entry:?}"));
        }
    }
    for (id, events) in world.receiver.ledger.borrow().iter() {
        if !payments.contains_key(id) {
            verdict.violation(format!("{id}: events of a payment that is not stored: {events:?}"));
        }
    }
}

/// Checks that no exception needs a person.
async fn check_exceptions(
    world: &World,
    verdict: &mut Verdict,
    payments: &BTreeMap<String, Stored>,
) -> anyhow::Result<()> {
    for exception in store::exceptions(world).await? {
        let kind = text(&exception["kind"]);
        verdict.exceptions.push(kind.clone());
        // An outcome that was inquired about many times is reported by contract. The books show if it was resolved in
        // the end.
        if kind != "unknown_outcome" {
            let id = text(&exception["transactionId"]);
            let books = world.bank.books.borrow();
            let entries: Vec<_> = books.entries.iter().filter(|((_, known), _)| *known == id).collect();
            let stored = payments.get(&id);
            verdict
                .violations
                .push(format!("an exception: {exception}: books {entries:?}, stored {stored:?}"));
            verdict.is_final = true;
        }
    }
    Ok(())
}

/// Checks that no work is left, nothing is exhausted, and no actor died.
async fn check_leftovers(world: &World, verdict: &mut Verdict) -> anyhow::Result<()> {
    for state in ["pending", "exhausted"] {
        for delivery in store::deliveries(world, state).await? {
            verdict.violation(format!("a delivery is {state}: {delivery}"));
        }
    }
    for node in &world.nodes {
        for name in ["quita_webhook_backlog", "quita_timer_backlog", "quita_inbox_backlog"] {
            let waiting = store::metric(node, name).await?;
            if waiting > 0 {
                verdict.violation(format!("{}: {name} is {waiting}", node.name()));
            }
        }
        let restarts = store::metric(node, "quita_actor_restarts_total").await?;
        if restarts > 0 {
            verdict.violation(format!("{}: {restarts} actors died", node.name()));
        }
        if let Some(line) = node.log().lines().find(|line| line.contains("panicked")) {
            verdict.violation(format!("{}: {line}", node.name()));
        }
        if let Some(ended) = node.ended_by_itself() {
            verdict.violation(ended);
        }
    }
    Ok(())
}

/// Remaining work according to the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backlog {
    Empty,
    /// Only deliveries.
    Webhooks,
    Others,
}

/// Returns the kind of work that is left now.
pub(crate) async fn backlog(world: &World) -> anyhow::Result<Backlog> {
    let mut webhooks = 0;
    for node in &world.nodes {
        let timer = store::metric(node, "quita_timer_backlog").await?;
        let inbox = store::metric(node, "quita_inbox_backlog").await?;
        if world.bank.open.get() + timer + inbox > 0 {
            return Ok(Backlog::Others);
        }
        webhooks += store::metric(node, "quita_webhook_backlog").await?;
    }
    Ok(if webhooks > 0 { Backlog::Webhooks } else { Backlog::Empty })
}
