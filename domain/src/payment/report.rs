//! What an operator has to see, stored with the change that it is about until its exception is stored.
//!
//! What was found may never be found again: once the change is stored, the same command decides otherwise. So it stands in
//! the payment, as deliveries do, and a lease says when another process brings it on.

use serde::{Deserialize, Serialize};

use super::decide::Draft;
use super::{Change, Command, Discrepancy, DiscrepancyKind, Effect, Payment};
use crate::exception::Exception;
use crate::identity::{AcquirerName, TransactionId};
use crate::time::Timestamp;

/// How long after it was decided, or claimed, a report may be on its way before another process brings it on.
pub const REPORT_LEASE_MS: u64 = 60_000;

/// Reports that one payment may hold: each waits for moments, and the document is bounded.
pub const MAX_REPORTS: usize = 32;

/// A discrepancy on its way to the operators. Whoever brings it on, and however often, it is the same exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Which kind.
    pub kind: DiscrepancyKind,
    /// What tells it from others of its kind.
    pub cause: String,
    /// What was stated and what stood against it, without personal data.
    pub detail: String,
    /// The acquirer that had the charge then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquirer: Option<AcquirerName>,
    /// When it was found.
    pub found_at: Timestamp,
    /// When it is brought on again, if it still stands here.
    pub due_at: Timestamp,
}

impl Report {
    /// The report of a discrepancy of a payment. What it is about, and what was stated of that, tells its cause from
    /// others, whatever stated it and however often; where it is about the payment as a whole, `source` tells apart what
    /// may happen more than once: the first one may be resolved, and would hide the next.
    pub fn of(payment: &Payment, discrepancy: &Discrepancy, source: &str, now: Timestamp) -> Self {
        let about = discrepancy.about.as_deref().unwrap_or(source);
        let cause = match discrepancy.stated {
            "" => about.to_owned(),
            stated => format!("{about} {stated}"),
        };
        Self {
            kind: discrepancy.kind,
            cause,
            detail: discrepancy.detail.clone(),
            acquirer: payment.acquirer().cloned(),
            found_at: now,
            due_at: now.plus_ms(REPORT_LEASE_MS),
        }
    }

    /// What is the same for the same cause, within one payment.
    pub fn key(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.cause)
    }

    /// What operators see of it.
    pub fn exception(&self, payment: TransactionId) -> Exception {
        Exception {
            id: format!("{payment}:{}", self.key()),
            kind: self.kind.as_str().into(),
            transaction_id: Some(payment),
            acquirer: self.acquirer.clone(),
            detail: self.detail.clone(),
            advice: self.kind.advice().into(),
            reported_at: self.found_at,
            resolution: None,
        }
    }
}

/// What a command is to the reports that come of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    source: &'static str,
    /// Whether it is kept elsewhere, and brought again until whatever came of it is stored.
    is_kept: bool,
}

impl Origin {
    pub(super) const CREATION: Self = Self { source: "creation", is_kept: false };

    pub(super) const fn of(command: &Command) -> Self {
        Self { source: command.source(), is_kept: matches!(command, Command::Notified { .. }) }
    }

    /// Whether a discrepancy that was found has to be stored with the payment.
    ///
    /// A notice stays in its inbox until an exception is stored of what changed nothing, and is judged anew each time;
    /// so it is with what came too early, and with what is about no part of the payment: that is the refusal of a whole
    /// fact, which changes nothing. Everything else may be found this once.
    const fn stores(self, discrepancy: &Discrepancy, has_changed: bool) -> bool {
        let is_early = matches!(discrepancy.kind, DiscrepancyKind::TooEarly);
        !self.is_kept || has_changed && !is_early && discrepancy.about.is_some()
    }
}

impl Draft {
    /// Stores what was found with the payment. Gives back what is not: a notice brings it, or too much is waiting.
    pub(super) fn store_reports(&mut self, origin: Origin) -> Vec<Discrepancy> {
        let mut unstored = Vec::new();
        let (mut is_any_new, has_changed) = (false, self.has_changed());
        for discrepancy in self.discrepancies.clone() {
            if !origin.stores(&discrepancy, has_changed) {
                unstored.push(discrepancy);
                continue;
            }
            let source = source_now(origin.source, &self.payment);
            let report = Report::of(&self.payment, &discrepancy, &source, self.clock());
            let is_same = |known: &Report| known.kind == report.kind && known.cause == report.cause;
            if self.payment.reports.iter().any(is_same) {
                continue;
            }
            if self.payment.reports.len() >= MAX_REPORTS {
                unstored.push(discrepancy);
                continue;
            }
            self.make(Change::Reporting(report));
            is_any_new = true;
        }
        if is_any_new {
            self.effects.push(Effect::Report);
        }
        unstored
    }

    /// Brings on what whoever found it did not: it most likely died.
    pub(super) fn claim_due_reports(&mut self) {
        let now = self.clock();
        if self.payment.reports.iter().any(|report| report.due_at <= now) {
            self.make(Change::ReportsClaimed(now.plus_ms(REPORT_LEASE_MS)));
            self.effects.push(Effect::Report);
        }
    }

    /// The exceptions of these reports are stored.
    pub(super) fn reported(&mut self, keys: Vec<String>) {
        if self.payment.reports.iter().any(|report| keys.contains(&report.key())) {
            self.make(Change::Reported(keys));
        }
    }
}

/// What was said by this source about the payment as it is now.
pub fn source_now(source: &str, payment: &Payment) -> String {
    format!("{source} {}", payment.state.version)
}
