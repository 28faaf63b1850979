//! Reports for operators, stored with the change that they describe until their exceptions are stored.
//!
//! A discrepancy may be found only once: after the change is stored, the same command decides differently. So it is
//! part of the payment, as deliveries are, and a lease determines when another process takes over.

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::{Change, Command, Discrepancy, DiscrepancyKind, Effect, Payment};
use crate::exception::Exception;
use crate::identity::{AcquirerName, TransactionId};
use crate::time::Timestamp;

/// Time after a decision or claim for which a report may be under way before another process takes over.
pub const REPORT_LEASE_MS: u64 = 60_000;

/// Maximum number of reports per payment. Each waits only for moments, and the document must stay bounded.
pub const MAX_REPORTS: usize = 32;

/// A discrepancy on its way to the operators. Any process may store it, any number of times: the exception is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Its kind.
    pub kind: DiscrepancyKind,
    /// Cause, which distinguishes it from others of its kind.
    pub cause: String,
    /// Statement and contradicting state of the payment, without personal data.
    pub detail: String,
    /// The acquirer that had the charge then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquirer: Option<AcquirerName>,
    /// Time at which it was found.
    pub found_at: Timestamp,
    /// Time at which another process takes over, if the report is still present.
    pub due_at: Timestamp,
}

impl Report {
    /// Returns the report of a discrepancy. Its cause is `about` and `stated`, so repetitions from any source are one
    /// exception. Without `about`, the cause contains `source` instead, so that a resolved exception does not hide the
    /// next one.
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

    /// Returns a key that is the same for the same cause, within one payment.
    pub fn key(&self) -> String {
        format!("{}:{}", self.kind.as_str(), self.cause)
    }

    /// Returns the exception that operators see.
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

/// Origin of the reports that come from a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    source: &'static str,
    /// True if the command is stored elsewhere and repeated until its result is stored.
    is_kept: bool,
}

impl Origin {
    pub(super) const CREATION: Self = Self { source: "creation", is_kept: false };

    pub(super) const fn of(command: &Command) -> Self {
        Self { source: command.source(), is_kept: matches!(command, Command::Notified { .. }) }
    }

    /// Returns true if a discrepancy has to be stored with the payment.
    ///
    /// A notice that changes nothing stays in the inbox until its exception is stored, and is judged again each time.
    /// So does a fact that came too early. So does a discrepancy without a subject: it refuses a whole fact, which
    /// changes nothing. Everything else may be found only this once.
    const fn stores(self, discrepancy: &Discrepancy, has_changed: bool) -> bool {
        let is_early = matches!(discrepancy.kind, DiscrepancyKind::TooEarly);
        !self.is_kept || has_changed && !is_early && discrepancy.about.is_some()
    }
}

impl Draft {
    /// Stores discrepancies with the payment. Returns those that are not stored: a notice repeats them, or too many
    /// wait.
    pub(super) fn store_reports(&mut self, origin: Origin) -> Vec<Discrepancy> {
        let mut unstored = Vec::new();
        let mut is_any_new = false;
        let has_changed = self.has_changed();
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

    /// Claims reports whose process did not finish them: it most likely died.
    pub(super) fn claim_due_reports(&mut self) {
        let now = self.clock();
        if self.payment.reports.iter().any(|report| report.due_at <= now) {
            self.make(Change::ReportsClaimed(now.plus_ms(REPORT_LEASE_MS)));
            self.effects.push(Effect::Report);
        }
    }

    /// Removes reports whose exceptions are stored.
    pub(super) fn reported(&mut self, keys: Vec<String>) {
        if self.payment.reports.iter().any(|report| keys.contains(&report.key())) {
            self.make(Change::Reported(keys));
        }
    }
}

/// Returns a source together with the payment's current version.
pub fn source_now(source: &str, payment: &Payment) -> String {
    format!("{source} {}", payment.state.version)
}
