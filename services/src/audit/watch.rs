//! Watch of the end of the audit log from outside the store. It detects a log that was truncated or restored from a
//! copy.
//!
//! Each entry leaves one line in the program's log, on every running node. A node remembers the last positions that it
//! saw. If the store no longer has them, the node reports it at ERROR, in a metric, and in an entry.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use prometheus::{IntCounter, IntGauge, Registry};
use quita_domain::audit::AuditAction;
use quita_domain::audit::chain::{ChainCheck, ChainFault, ChainHead, ChainPlace, ChainedEntry};
use quita_ports::{AuditRead, StoreError};
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use super::{Audit, AuditDraft, Initiator};

/// Longest time until an entry of another process is noticed. Own entries are noticed at once.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Maximum number of entries read at once.
const PAGE: usize = 100;
/// Number of positions that are remembered.
const REMEMBERED: usize = 100;
/// Digits of the last hash in its metric: a number of 48 bits is exact in Prometheus.
const HASH_DIGITS: usize = 12;

/// Metrics of the end of the log.
#[derive(Clone)]
pub struct AuditMetrics {
    end: IntGauge,
    hash: IntGauge,
    faults: IntCounter,
}

impl AuditMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has one of the names.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let end = IntGauge::new("quita_audit_log_end", "Number of the last entry of the audit log")?;
        let hash = IntGauge::new(
            "quita_audit_log_end_hash",
            "First 12 hexadecimal digits of the hash of the last entry of the audit log, as a number",
        )?;
        let faults = IntCounter::new(
            "quita_audit_log_faults_total",
            "Times that this node found the audit log cut, rolled back or changed",
        )?;
        registry.register(Box::new(end.clone()))?;
        registry.register(Box::new(hash.clone()))?;
        registry.register(Box::new(faults.clone()))?;
        Ok(Self { end, hash, faults })
    }

    fn show_end(&self, place: &ChainPlace) {
        self.end.set(i64::try_from(place.sequence).unwrap_or(i64::MAX));
        self.hash.set(shown_hash(&place.hash));
    }
}

/// Returns the number by which the metrics show a hash.
pub fn shown_hash(hash: &str) -> i64 {
    let digits = hash.get(..HASH_DIGITS).unwrap_or_default();
    i64::from_str_radix(digits, 16).unwrap_or(0)
}

/// Watch of the end of the log.
pub struct AuditWatch {
    audit: Audit,
    node: Initiator,
    metrics: AuditMetrics,
    over: Arc<Notify>,
    /// Check of the chain, positioned after the last entry that was seen.
    check: ChainCheck,
    /// Positions seen before, the newest last.
    seen: VecDeque<ChainPlace>,
    /// Position from which the log no longer continues, if no entry about that was written yet.
    untold: Option<ChainPlace>,
    /// Last position about which this node wrote an entry.
    told: Option<ChainPlace>,
    /// Fault of the head that was reported, once, as long as it stays the same.
    head_fault: Option<ChainFault>,
}

impl AuditWatch {
    /// Begins at the current end of the log.
    ///
    /// # Errors
    /// [`StoreError`] if that can't be read.
    pub async fn begin(audit: Audit, node: Initiator, metrics: AuditMetrics) -> Result<Self, StoreError> {
        let head = audit.store.audit_head().await?;
        let end = head.unwrap_or_else(|| ChainHead::beginning(&audit.key)).position();
        metrics.show_end(&end);
        tracing::info!("audit log ends at {} {}", end.sequence, end.hash);
        let check = ChainCheck::going_on(audit.key.clone(), end.clone());
        let seen = VecDeque::from([end]);
        Ok(Self {
            audit,
            node,
            metrics,
            over: Arc::default(),
            check,
            seen,
            untold: None,
            told: None,
            head_fault: None,
        })
    }

    /// Returns a handle that ends [`AuditWatch::run`] when notified, after one more look.
    pub fn over(&self) -> Arc<Notify> {
        Arc::clone(&self.over)
    }

    /// Looks after each entry of this node, and every few seconds.
    pub async fn run(mut self) {
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let appended = Arc::clone(&self.audit.appended);
        let over = self.over();
        loop {
            let is_over = tokio::select! {
                _ = ticks.tick() => false,
                () = appended.notified() => false,
                () = over.notified() => true,
            };
            if let Err(error) = self.look().await {
                tracing::debug!(%error, "the end of the audit log could not be checked; the next check will retry");
            }
            if is_over {
                return;
            }
        }
    }

    /// Reads new entries, and reports them and their faults.
    ///
    /// # Errors
    /// [`StoreError`]; the next look continues.
    pub async fn look(&mut self) -> Result<(), StoreError> {
        loop {
            let last = self.check.last().clone();
            // Read before the page: if no entry follows, this is the head of what was read.
            let head = self.audit.store.audit_head().await?;
            let page = self.audit.store.chained_audit(last.sequence.saturating_sub(1), PAGE).await?;
            let mut page = page.into_iter();
            if last.sequence > 0 && !page.next().is_some_and(|first| is_at(&first, &last)) {
                self.go_back(last).await?;
                continue;
            }
            let mut is_at_end = true;
            for (sequence, read) in page {
                is_at_end = false;
                self.take(sequence, &read);
            }
            if !is_at_end {
                continue;
            }
            if !self.tell_cut().await? {
                self.look_at_head(head.as_ref());
                return Ok(());
            }
        }
    }

    /// Logs the line of an entry, and its faults.
    fn take(&mut self, sequence: u64, read: &Result<ChainedEntry, StoreError>) {
        let faults = match read {
            Ok(entry) => {
                tracing::info!(action = entry.action.as_str(), "audit entry {sequence} {}", entry.links.hash);
                self.check.next(entry)
            }
            Err(_) => self.check.unreadable(sequence),
        };
        for fault in faults {
            self.cry(&fault);
        }
        let last = self.check.last().clone();
        self.metrics.show_end(&last);
        self.seen.push_back(last);
        if self.seen.len() > REMEMBERED {
            self.seen.pop_front();
        }
    }

    /// Reports that the log was cut or replaced, and goes back to the newest position that it still has.
    async fn go_back(&mut self, lost: ChainPlace) -> Result<(), StoreError> {
        let oldest = self.seen.front().map_or(0, |place| place.sequence);
        let page = self.audit.store.chained_audit(oldest.saturating_sub(1), REMEMBERED).await?;
        let there: BTreeMap<_, _> = page.into_iter().map(|read| (read.0, read)).collect();
        let is_there = |place: &ChainPlace| there.get(&place.sequence).is_some_and(|read| is_at(read, place));
        while self.seen.pop_back_if(|place| !is_there(place)).is_some() {}
        let beginning = || ChainHead::beginning(&self.audit.key).position();
        let end = self.seen.back().cloned().unwrap_or_else(beginning);
        tracing::error!(
            "the audit log no longer continues from {lost}, which this node saw: everything after {end} was removed, \
             replaced or rolled back"
        );
        self.metrics.faults.inc();
        self.metrics.show_end(&end);
        self.check = ChainCheck::going_on(self.audit.key.clone(), end);
        // Of several lost positions, the highest one is the most informative.
        if self.untold.as_ref().is_none_or(|untold| untold.sequence < lost.sequence) {
            self.untold = Some(lost);
        }
        Ok(())
    }

    /// Writes an entry about a cut that has none yet. Returns true if there was one.
    async fn tell_cut(&mut self) -> Result<bool, StoreError> {
        let Some(lost) = self.untold.clone() else { return Ok(false) };
        let draft = AuditDraft::of_operators(AuditAction::LogCutFound, &lost);
        self.audit.append(&self.node, draft).await.map_err(|(_, error)| error)?;
        self.untold = None;
        self.told = Some(lost);
        Ok(true)
    }

    fn look_at_head(&mut self, head: Option<&ChainHead>) {
        let fault = self.check.at_end(head);
        if fault != self.head_fault
            && let Some(fault) = &fault
        {
            self.cry(fault);
        }
        self.head_fault = fault;
    }

    fn cry(&self, fault: &ChainFault) {
        let is_own = match fault {
            ChainFault::CutFound { seen, .. } => {
                self.told.as_ref().is_some_and(|told| told.to_string() == *seen)
            }
            ChainFault::Changed { .. }
            | ChainFault::Moved { .. }
            | ChainFault::Unreadable { .. }
            | ChainFault::Missing { .. }
            | ChainFault::NoHead
            | ChainFault::WrongHead
            | ChainFault::NotContinued(_)
            | ChainFault::Unaccounted { .. } => false,
        };
        if !is_own {
            tracing::error!("the audit log differs from what was written: {fault}");
            self.metrics.faults.inc();
        }
    }
}

/// Returns true for the entry of that position. One that can't be read has no hash.
fn is_at(read: &AuditRead, place: &ChainPlace) -> bool {
    let (sequence, entry) = read;
    let hash = entry.as_ref().map_or("", |entry| entry.links.hash.as_str());
    *sequence == place.sequence && hash == place.hash
}

#[cfg(test)]
mod tests;
