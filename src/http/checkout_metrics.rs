//! Metrics of the pages of payment links.

use prometheus::{IntCounterVec, Opts, Registry};
use quita_domain::method::Method;

use super::link_methods::METHODS_OF_PAGE;

/// Outcome of a card that a payer tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TryOutcome {
    /// The card was approved.
    Approved,
    /// The card was declined.
    Declined,
    /// The outcome was not known within the time for an answer.
    Unknown,
    /// The card was not sent to an acquirer, because too many had been tried.
    Limited,
}

impl TryOutcome {
    const ALL: [Self; 4] = [Self::Approved, Self::Declined, Self::Unknown, Self::Limited];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::Unknown => "unknown",
            Self::Limited => "limited",
        }
    }
}

/// Counters of what payers do on these pages.
#[derive(Clone)]
pub(crate) struct CheckoutMetrics {
    payments: IntCounterVec,
    tries: IntCounterVec,
}

impl CheckoutMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has one of their names.
    pub(crate) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let help = "Payments that payers started on the pages of payment links, by method";
        let payments = IntCounterVec::new(Opts::new("quita_checkout_payments_total", help), &["method"])?;
        for method in METHODS_OF_PAGE {
            payments.with_label_values(&[method.label()]);
        }
        registry.register(Box::new(payments.clone()))?;
        let help = "Cards that payers tried on the pages of payment links, by outcome";
        let tries = IntCounterVec::new(Opts::new("quita_checkout_tries_total", help), &["outcome"])?;
        for outcome in TryOutcome::ALL {
            tries.with_label_values(&[outcome.as_str()]);
        }
        registry.register(Box::new(tries.clone()))?;
        Ok(Self { payments, tries })
    }

    /// Counts a payment that was begun.
    pub(super) fn count(&self, method: Method) {
        self.payments.with_label_values(&[method.label()]).inc();
    }

    /// Counts a card that was tried.
    pub(super) fn count_try(&self, outcome: TryOutcome) {
        self.tries.with_label_values(&[outcome.as_str()]).inc();
    }
}
