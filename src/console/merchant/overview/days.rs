//! Cache of daily figures: a month with many payments takes time to sum up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::NaiveDate;
use quita_domain::figures::{Figure, FiguresFilter};
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::time::Timestamp;
use quita_ports::{FiguresStore, StoreError};
use tokio::time::Instant;

/// Number of days shown.
const DAYS: u64 = 30;
/// Cache lifetime of today's figures, and of those of earlier days, which change little.
const TODAY_KEPT: Duration = Duration::from_secs(10);
const EARLIER_KEPT: Duration = Duration::from_secs(600);
/// Maximum number of cached days, across all merchants.
const KEPT: usize = 20_000;

type Key = (MerchantId, Mode, NaiveDate);

/// Figures of one day in Brasília's time zone.
pub(super) struct Day {
    pub(super) date: NaiveDate,
    pub(super) figures: Arc<[Figure]>,
}

/// Figures, with the time at which they were calculated.
type CachedFigures = (Instant, Arc<[Figure]>);

/// Recently calculated figures.
#[derive(Default)]
pub(crate) struct Days(Mutex<HashMap<Key, CachedFigures>>);

impl Days {
    /// Returns the last thirty days, today last.
    pub(super) async fn last_thirty(
        &self,
        store: &(impl FiguresStore + ?Sized),
        merchant: &MerchantId,
        mode: Mode,
        now: Timestamp,
    ) -> Result<Vec<Day>, StoreError> {
        let today = now.sao_paulo_date();
        let mut days = Vec::new();
        for ago in (0..DAYS).rev() {
            let date = today.checked_sub_days(chrono::Days::new(ago)).unwrap_or(today);
            let kept_for = if ago == 0 { TODAY_KEPT } else { EARLIER_KEPT };
            let key = (merchant.clone(), mode, date);
            let figures = match self.recall(&key, kept_for) {
                Some(figures) => figures,
                None => {
                    let figures: Arc<[Figure]> = store.figures(&filter_of(&key)).await?.into();
                    self.keep(key, &figures);
                    figures
                }
            };
            days.push(Day { date, figures });
        }
        Ok(days)
    }

    fn recall(&self, key: &Key, kept_for: Duration) -> Option<Arc<[Figure]>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, figures) = kept.get(key).filter(|(at, _)| at.elapsed() < kept_for)?;
        Some(Arc::clone(figures))
    }

    fn keep(&self, key: Key, figures: &Arc<[Figure]>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.retain(|_, (at, _)| at.elapsed() < EARLIER_KEPT);
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key, (Instant::now(), Arc::clone(figures)));
    }
}

fn filter_of(key: &Key) -> FiguresFilter {
    let (merchant, mode, date) = key;
    let to = Timestamp::end_of_sao_paulo_day(*date).plus_ms(1);
    let from = Timestamp::from_sao_paulo((*date).into()).unwrap_or(to);
    FiguresFilter { merchant: merchant.clone(), mode: *mode, from, to }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;

    use super::*;

    #[derive(Default)]
    struct Counting(AtomicUsize);

    #[async_trait]
    impl FiguresStore for Counting {
        async fn figures(&self, filter: &FiguresFilter) -> Result<Vec<Figure>, StoreError> {
            assert_eq!(filter.to.ms_since(filter.from), 86_400_000);
            self.0.fetch_add(1, Ordering::SeqCst);
            Ok(Vec::new())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_month_is_added_up_once_and_today_again_soon() {
        let days = Days::default();
        let store = Counting::default();
        let merchant = MerchantId::new("demo");
        let now = Timestamp::parse("2026-11-21T02:00:00Z").unwrap();
        let month = days.last_thirty(&store, &merchant, Mode::Test, now).await.unwrap();
        let bounds = [month[0].date.to_string(), month[29].date.to_string()];
        assert_eq!(bounds, ["2026-10-22", "2026-11-20"], "it is still yesterday in Brasília");
        assert_eq!(store.0.load(Ordering::SeqCst), 30);
        days.last_thirty(&store, &merchant, Mode::Test, now).await.unwrap();
        assert_eq!(store.0.load(Ordering::SeqCst), 30);
        tokio::time::advance(TODAY_KEPT).await;
        days.last_thirty(&store, &merchant, Mode::Test, now).await.unwrap();
        assert_eq!(store.0.load(Ordering::SeqCst), 31);
    }
}
