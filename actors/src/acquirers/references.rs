//! Charges that providers identify by their own references: answers are cached, and questions are rate-limited.
//!
//! Anyone who knows the address may send hints. Each invented or repeated reference would cause a call to the provider.
//! Dropping a hint loses nothing: payments are inquired about without hints too.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::acquiring::Reference;
use quita_domain::identity::{AcquirerName, TransactionId};
use tokio::time::Instant;

/// Lifetime of a cached answer.
const REMEMBERED: Duration = Duration::from_secs(60);
/// Maximum number of cached answers for one acquirer.
const MOST: usize = 4_096;
/// Average interval of calls about references without a payment here: five a second.
const GAP: Duration = Duration::from_millis(200);
/// Burst allowed above that rate: five calls.
const BURST: Duration = Duration::from_secs(1);

/// Result of looking up a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recalled {
    /// The provider answered recently. `None` if the charge belongs to no payment here.
    Told(Option<TransactionId>),
    /// The provider must be asked.
    Unknown,
    /// Too many references belonged to no payment recently: the provider must not be asked.
    TooMany,
}

/// Providers' answers about references in hints, on this node.
#[derive(Debug, Default)]
pub(crate) struct References(Mutex<HashMap<AcquirerName, OfAcquirer>>);

#[derive(Debug, Default)]
struct OfAcquirer {
    told: HashMap<Reference, Option<TransactionId>>,
    /// Oldest first.
    order: VecDeque<(Instant, Reference)>,
    /// Time until which the rate limit is used up.
    used_until: Option<Instant>,
}

impl References {
    /// Looks a reference up.
    pub(crate) fn recall(&self, acquirer: &AcquirerName, reference: &Reference) -> Recalled {
        let now = Instant::now();
        let mut all = self.all();
        let Some(known) = all.get_mut(acquirer) else { return Recalled::Unknown };
        known.forget_before(now);
        if let Some(told) = known.told.get(reference) {
            return Recalled::Told(*told);
        }
        // A call is counted when it has ended, so it needs room for its own gap in the burst.
        let is_used_up = known.used_until.is_some_and(|until| until > now + (BURST - GAP));
        if is_used_up { Recalled::TooMany } else { Recalled::Unknown }
    }

    /// Caches the provider's answer.
    pub(crate) fn learn(&self, acquirer: &AcquirerName, reference: Reference, told: Option<TransactionId>) {
        let now = Instant::now();
        self.all().entry(acquirer.clone()).or_default().learn(now, reference, told);
    }

    /// Counts a call without result: the payment with this reference is not here.
    pub(crate) fn count_nobodys(&self, acquirer: &AcquirerName, reference: Reference) {
        let now = Instant::now();
        let mut all = self.all();
        let known = all.entry(acquirer.clone()).or_default();
        known.learn(now, reference, None);
        known.use_up(now);
    }

    /// Counts a call without result. The reference is not cached: the provider may find it a moment later.
    pub(crate) fn was_not_found(&self, acquirer: &AcquirerName) {
        self.all().entry(acquirer.clone()).or_default().use_up(Instant::now());
    }

    fn all(&self) -> MutexGuard<'_, HashMap<AcquirerName, OfAcquirer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OfAcquirer {
    fn use_up(&mut self, now: Instant) {
        let until = self.used_until.map_or(now, |until| until.max(now)) + GAP;
        // Concurrent calls count too, but for no longer than an answer is cached.
        self.used_until = Some(until.min(now + REMEMBERED));
    }

    fn learn(&mut self, now: Instant, reference: Reference, told: Option<TransactionId>) {
        // It keeps its position: a reference that is hinted at repeatedly must not outlive its cached answer.
        if self.told.insert(reference.clone(), told).is_some() {
            return;
        }
        self.order.push_back((now, reference));
        if self.order.len() > MOST {
            self.forget_oldest();
        }
    }

    fn forget_before(&mut self, now: Instant) {
        while self.order.front().is_some_and(|(learnt_at, _)| now.duration_since(*learnt_at) >= REMEMBERED) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, oldest)) = self.order.pop_front() {
            self.told.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn bank() -> AcquirerName {
        AcquirerName::new("bank")
    }

    fn named(number: usize) -> Reference {
        Reference::none().with("id", &number.to_string())
    }

    /// Counts the references for which the bank is asked, if none belongs to a payment.
    fn asked(references: &References, numbers: std::ops::Range<usize>) -> usize {
        let is_asked = |number: &usize| {
            let is_asked = references.recall(&bank(), &named(*number)) == Recalled::Unknown;
            if is_asked {
                references.count_nobodys(&bank(), named(*number));
            }
            is_asked
        };
        numbers.filter(is_asked).count()
    }

    #[tokio::test(start_paused = true)]
    async fn five_strangers_a_second_are_asked_about_and_no_more() {
        let references = References::default();
        assert_eq!(asked(&references, 0..1_000), 5);
        advance(Duration::from_millis(199)).await;
        assert_eq!(asked(&references, 1_000..2_000), 0);
        advance(Duration::from_millis(1)).await;
        assert_eq!(asked(&references, 2_000..3_000), 1);
        let mut all = 0;
        for second in 0..30 {
            advance(Duration::from_secs(1)).await;
            all += asked(&references, (3 + second) * 1_000..(4 + second) * 1_000);
        }
        assert_eq!(all, 150);
        let other = AcquirerName::new("other");
        assert_eq!(references.recall(&other, &named(1)), Recalled::Unknown, "each has its own pace");
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_were_under_way_at_once_count_too_for_a_minute_at_most() {
        let references = References::default();
        (0..2_000).for_each(|number| references.count_nobodys(&bank(), named(number)));
        advance(REMEMBERED - BURST).await;
        assert_eq!(references.recall(&bank(), &named(9_999)), Recalled::TooMany);
        advance(BURST).await;
        assert_eq!(references.recall(&bank(), &named(9_999)), Recalled::Unknown);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_somebodys_takes_nothing_of_the_pace_and_is_not_asked_about_again() {
        let references = References::default();
        let id = TransactionId::new(uuid::Uuid::from_u128(7));
        for number in 0..100 {
            assert_eq!(references.recall(&bank(), &named(number)), Recalled::Unknown);
            references.learn(&bank(), named(number), Some(id));
            assert_eq!(references.recall(&bank(), &named(number)), Recalled::Told(Some(id)));
        }
        references.count_nobodys(&bank(), named(7));
        assert_eq!(references.recall(&bank(), &named(7)), Recalled::Told(None));
        advance(REMEMBERED).await;
        assert_eq!(references.recall(&bank(), &named(8)), Recalled::Unknown);
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_than_so_many_are_remembered() {
        let references = References::default();
        (0..MOST + 3).for_each(|number| references.learn(&bank(), named(number), None));
        let all = references.all();
        let known = all.get(&bank()).unwrap();
        assert_eq!((known.told.len(), known.order.len()), (MOST, MOST));
        assert!(!known.told.contains_key(&named(2)) && known.told.contains_key(&named(3)));
    }
}
