//! Report of the run, in numbers.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::verdict::Verdict;
use crate::world::World;

/// Numbers of one round, or of several.
#[derive(Default)]
pub(crate) struct Report {
    numbers: BTreeMap<&'static str, u64>,
    answers: BTreeMap<u16, u64>,
    statuses: BTreeMap<String, usize>,
    exceptions: BTreeMap<String, u64>,
    ready_ms: Vec<u128>,
    ahead_s: u64,
    lasted: Duration,
    pub(crate) violations: usize,
}

impl Report {
    pub(crate) fn of(world: &World, verdict: &Verdict, ahead_s: u64, lasted: Duration) -> Self {
        let counts = &world.counts;
        let received = world.receiver.ledger.borrow();
        let tries: u32 = world.told.intents.borrow().values().map(|intent| intent.tries).sum();
        let numbers = [
            ("kills of nodes", world.nodes.iter().map(|node| node.kills.get()).sum()),
            ("kills of the primary", counts.member_kills.get()),
            ("stops of the primary", counts.member_stops.get()),
            ("step-downs", counts.step_downs.get()),
            ("elections", counts.elections.get()),
            ("partitions", counts.partitions.get()),
            ("cuts before the answer", counts.cuts.get()),
            ("slow lines", counts.latencies.get()),
            ("changes of version", counts.changes.get()),
            ("kills of the upgrade", counts.upgrade_kills.get()),
            ("creations before their form", counts.without_form.get()),
            ("starts without a store", counts.starts_in_vain.get()),
            ("faults of banks", world.bank.counts.faults.get()),
            ("faults of receivers", world.receiver.faults.get()),
            ("creations sent", tries.into()),
            ("intents", world.told.intents.borrow().len() as u64),
            ("payments", verdict.payments as u64),
            ("operations told", world.told.promises.borrow().len() as u64),
            ("reads", world.told.reads.get()),
            ("stale reads", world.told.stale_reads.get()),
            ("events", verdict.events as u64),
            ("webhooks received", world.receiver.requests.get()),
            ("events received", received.values().map(|events| events.len() as u64).sum()),
            ("notices taken", world.bank.counts.notices.get()),
            ("hints taken", world.bank.counts.hints.get()),
            ("charges identified", world.bank.counts.identified.get()),
            ("operations with ids", world.bank.counts.operations_with_ids.get()),
            ("operations without ids", world.bank.counts.operations_without_ids.get()),
            ("slow refunds", world.bank.counts.slow_refunds.get()),
            ("slow boletos", world.bank.counts.slow_boletos.get()),
            ("requests without an answer", *world.told.no_answer.borrow()),
        ];
        let mut exceptions = BTreeMap::new();
        for kind in &verdict.exceptions {
            *exceptions.entry(kind.clone()).or_default() += 1;
        }
        let ready = world.nodes.iter().flat_map(|node| node.ready_after.borrow().clone());
        Self {
            numbers: numbers.into_iter().collect(),
            answers: world.told.answers.borrow().clone(),
            statuses: verdict.by_status.clone(),
            exceptions,
            ready_ms: ready.map(|after| after.as_millis()).collect(),
            ahead_s,
            lasted,
            violations: verdict.violations.len(),
        }
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (name, number) in other.numbers {
            *self.numbers.entry(name).or_default() += number;
        }
        for (status, count) in other.answers {
            *self.answers.entry(status).or_default() += count;
        }
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        for (kind, count) in other.exceptions {
            *self.exceptions.entry(kind).or_default() += count;
        }
        self.ready_ms.extend(other.ready_ms);
        self.ahead_s = self.ahead_s.max(other.ahead_s);
        self.lasted += other.lasted;
        self.violations += other.violations;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.numbers.iter().map(|(name, number)| format!("{name} {number}")).collect();
        let mut ready = self.ready_ms.clone();
        ready.sort_unstable();
        let median = ready.get(ready.len() / 2).copied().unwrap_or(0);
        let most = ready.last().copied().unwrap_or(0);
        let apart = if f.alternate() { "\n  " } else { "; " };
        write!(f, "{}{apart}", parts.join(if f.alternate() { "\n  " } else { ", " }))?;
        write!(f, "answers {:?}{apart}statuses {:?}{apart}", self.answers, self.statuses)?;
        write!(f, "exceptions {:?}{apart}", self.exceptions)?;
        write!(f, "ready again: median {median} ms, most {most} ms, of {}{apart}", ready.len())?;
        write!(f, "clocks ahead by {} s at most{apart}lasted {:.0?}{apart}", self.ahead_s, self.lasted)?;
        write!(
            f,
            "{} violations: {}",
            self.violations,
            if self.violations == 0 { "PASSED" } else { "FAILED" }
        )
    }
}
