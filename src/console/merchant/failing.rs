//! Number of a merchant's failing deliveries, shown in the navigation of every page.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use quita_domain::identity::{MerchantId, Mode};
use tokio::time::{Instant, timeout};

use super::{MerchantConsole, deliveries};

/// Time for which a count is reused on all pages.
const FRESH_FOR: Duration = Duration::from_secs(5);
/// Time limit for the store to list them: a page must not wait for a number next to its title.
const TIME_OUT: Duration = Duration::from_secs(1);
/// Maximum number of cached counts.
const KEPT: usize = 1_000;

type MerchantMode = (MerchantId, Mode);

/// Latest counts, by merchant and mode.
#[derive(Default)]
pub(super) struct FailingDeliveries(Mutex<HashMap<MerchantMode, (Instant, usize)>>);

impl FailingDeliveries {
    /// Counts this merchant's deliveries that failed and will be retried; 0 while the store is unavailable.
    pub(super) async fn count(&self, of: MerchantMode, console: &MerchantConsole) -> usize {
        if let Some(count) = self.fresh(&of) {
            return count;
        }
        if console.edge.payments.store_away().is_some() {
            return 0;
        }
        let (merchant, mode) = &of;
        let Ok(Ok(trouble)) = timeout(TIME_OUT, deliveries::trouble(merchant, *mode, console)).await else {
            return 0;
        };
        let count = usize::try_from(trouble.failing).unwrap_or(usize::MAX);
        self.keep(of, count);
        count
    }

    fn fresh(&self, of: &MerchantMode) -> Option<usize> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, count) = counts.get(of).filter(|(at, _)| at.elapsed() < FRESH_FOR)?;
        Some(*count)
    }

    fn keep(&self, of: MerchantMode, count: usize) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= KEPT {
            counts.retain(|_, (at, _)| at.elapsed() < FRESH_FOR);
        }
        if counts.len() < KEPT || counts.contains_key(&of) {
            counts.insert(of, (Instant::now(), count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop(number: usize) -> MerchantMode {
        (MerchantId::new(format!("shop{number}")), Mode::Test)
    }

    #[tokio::test(start_paused = true)]
    async fn a_count_serves_its_merchant_and_mode_for_a_while() {
        let counts = FailingDeliveries::default();
        counts.keep(shop(1), 3);
        assert_eq!(counts.fresh(&shop(1)), Some(3));
        assert_eq!(counts.fresh(&shop(2)), None);
        assert_eq!(counts.fresh(&(shop(1).0, Mode::Live)), None);
        tokio::time::advance(FRESH_FOR).await;
        assert_eq!(counts.fresh(&shop(1)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn counts_that_are_old_make_room() {
        let counts = FailingDeliveries::default();
        (0..=KEPT).for_each(|number| counts.keep(shop(number), 1));
        assert_eq!(counts.fresh(&shop(KEPT)), None, "there is no room");
        tokio::time::advance(FRESH_FOR).await;
        counts.keep(shop(KEPT), 1);
        assert_eq!((counts.fresh(&shop(KEPT)), counts.fresh(&shop(0))), (Some(1), None));
    }
}
