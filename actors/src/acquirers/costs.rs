//! Costs that acquirers state, compared with those that the table of routes expects.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use quita_domain::identity::AcquirerName;

/// Number of payments of one acquirer in a row with different costs after which that is reported. A single one may be
/// due to rounding, or a promotion.
pub(crate) const DIFFERENT_IN_A_ROW: u32 = 100;

/// Number of payments in a row whose cost was not the expected one, by acquirer, in this process.
#[derive(Debug, Default)]
pub(crate) struct CostRuns(Mutex<BTreeMap<AcquirerName, u32>>);

impl CostRuns {
    /// Counts a payment. Returns true if the run has become long, and then starts a new one.
    pub(crate) fn differ_for_long(&self, acquirer: &AcquirerName, differs: bool) -> bool {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let run = runs.entry(acquirer.clone()).or_default();
        *run = if differs { run.saturating_add(1) } else { 0 };
        let is_long = *run >= DIFFERENT_IN_A_ROW;
        if is_long {
            *run = 0;
        }
        is_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_hundred_in_a_row_are_reported_and_then_another_hundred() {
        let runs = CostRuns::default();
        let acquirer = AcquirerName::new("pagarme");
        let other = AcquirerName::new("other");
        let reported = |differs: &[bool]| {
            differs.iter().filter(|differs| runs.differ_for_long(&acquirer, **differs)).count()
        };
        assert_eq!(reported(&[true; 99]), 0);
        assert!(!runs.differ_for_long(&other, true));
        assert_eq!(reported(&[false]), 0);
        assert_eq!(reported(&[true; 99]), 0);
        assert_eq!(reported(&[true]), 1);
        assert_eq!(reported(&[true; 200]), 2);
    }
}
