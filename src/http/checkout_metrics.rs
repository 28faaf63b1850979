//! Metrics of the pages of payment links.

use prometheus::{IntCounterVec, Opts, Registry};
use quita_domain::method::Method;

use super::links::METHODS_OF_PAGE;

/// Counters of what payers do on these pages.
#[derive(Clone)]
pub(crate) struct CheckoutMetrics {
    payments: IntCounterVec,
}

impl CheckoutMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has one of their names.
    pub(crate) fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let help = "Payments that payers began on the pages of payment links, by method";
        let payments = IntCounterVec::new(Opts::new("quita_checkout_payments_total", help), &["method"])?;
        for method in METHODS_OF_PAGE {
            payments.with_label_values(&[method.label()]);
        }
        registry.register(Box::new(payments.clone()))?;
        Ok(Self { payments })
    }

    /// Counts a payment that was begun.
    pub(super) fn count(&self, method: Method) {
        self.payments.with_label_values(&[method.label()]).inc();
    }
}
