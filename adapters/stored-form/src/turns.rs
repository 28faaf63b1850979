//! Turns for lists: however many lists one caller requests, only a few of them enter the common queue.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quita_domain::listing::PaymentFilter;
use quita_ports::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Party on whose behalf a list is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lister {
    /// This merchant, in either mode.
    Merchant(String),
    /// Payers at the pages of this merchant's links. They are strangers, so neither they nor the merchant wait in the
    /// other's queue.
    Payers(String),
    /// The operators, or a command.
    Operators,
}

impl Lister {
    /// Returns the party that lists these payments: those of one link are listed for its page.
    pub fn of(filter: &PaymentFilter) -> Self {
        let merchant = filter.merchant.as_str().into();
        if filter.link.is_some() { Self::Payers(merchant) } else { Self::Merchant(merchant) }
    }
}

/// Turns by lister. Each lister may have this many lists under way; its others wait in order for a turn.
#[derive(Debug)]
pub struct Turns {
    at_once: usize,
    lanes: Mutex<HashMap<Lister, Arc<Semaphore>>>,
}

impl Turns {
    /// Allows this many concurrent lists of one lister.
    pub fn new(at_once: usize) -> Self {
        Self { at_once, lanes: Mutex::default() }
    }

    /// Waits for a turn, which lasts as long as the permit. The permit belongs in the work itself: a caller that hangs
    /// up must not get another turn while the work continues.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if there is no turn within this time.
    pub async fn take(&self, lister: Lister, within: Duration) -> Result<OwnedSemaphorePermit, StoreError> {
        let turn = timeout(within, self.lane(lister).acquire_owned()).await;
        // No lane is ever closed.
        turn.ok().and_then(Result::ok).ok_or_else(waited_too_long)
    }

    fn lane(&self, lister: Lister) -> Arc<Semaphore> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        // Permits and tasks that wait for one hold a reference to their lane, too.
        lanes.retain(|_, lane| Arc::strong_count(lane) > 1);
        Arc::clone(lanes.entry(lister).or_insert_with(|| Arc::new(Semaphore::new(self.at_once))))
    }
}

/// Returns the error for a list that had no turn, or no thread, within its time.
pub fn waited_too_long() -> StoreError {
    StoreError::Unavailable("a list waited too long for those before it".into())
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use quita_domain::identity::{LinkId, MerchantId, Mode};
    use uuid::Uuid;

    use super::*;

    const WITHIN: Duration = Duration::from_secs(10);

    fn merchant(name: &str) -> Lister {
        Lister::Merchant(name.into())
    }

    #[test]
    fn payments_of_a_link_are_listed_for_its_payers() {
        let all = PaymentFilter::all_of(MerchantId::new("a"), Mode::Test);
        assert_eq!(Lister::of(&all), merchant("a"));
        let of_link = PaymentFilter { link: Some(LinkId::new(Uuid::nil())), ..all };
        assert_eq!(Lister::of(&of_link), Lister::Payers("a".into()));
    }

    #[tokio::test]
    async fn who_has_enough_under_way_waits_in_order_and_keeps_nobody_else() {
        let turns = Turns::new(2);
        let first = turns.take(merchant("a"), WITHIN).await.unwrap();
        let _second = turns.take(merchant("a"), WITHIN).await.unwrap();
        let (mut third, mut fourth) =
            (Box::pin(turns.take(merchant("a"), WITHIN)), Box::pin(turns.take(merchant("a"), WITHIN)));
        assert!((&mut third).now_or_never().is_none() && (&mut fourth).now_or_never().is_none());
        for other in [merchant("b"), Lister::Payers("a".into()), Lister::Operators] {
            assert!(turns.take(other, WITHIN).now_or_never().is_some());
        }
        drop(first);
        assert!((&mut fourth).now_or_never().is_none(), "the third was there before");
        assert!((&mut third).now_or_never().is_some());
        assert!((&mut fourth).now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_is_told_so() {
        let turns = Turns::new(1);
        let _kept = turns.take(merchant("a"), WITHIN).await.unwrap();
        assert_eq!(turns.take(merchant("a"), WITHIN).await.err(), Some(waited_too_long()));
    }

    #[tokio::test]
    async fn lanes_in_which_nobody_is_are_forgotten() {
        let turns = Turns::new(2);
        for number in 0..100 {
            drop(turns.take(merchant(&number.to_string()), WITHIN).await.unwrap());
        }
        let kept = turns.take(merchant("kept"), WITHIN).await.unwrap();
        drop(turns.take(merchant("a"), WITHIN).await.unwrap());
        assert_eq!(turns.lanes.lock().unwrap().len(), 2);
        drop(kept);
    }
}
