//! Origins of every application, for preflights of browsers, which carry no key.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_ports::{ApplicationPlace, StoreError, WholeStore};
use tokio::time::{Instant, timeout};

/// Age up to which an origin that was found counts as still present.
const FOUND_FOR: Duration = Duration::from_secs(2);

/// Shortest time between two reads of the store, however many requests ask for unknown origins.
const READ_EVERY: Duration = Duration::from_millis(200);

/// Number of applications that are read at once.
const PAGE: usize = 500;

/// Longest time for which a request waits while another one reads the store.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// Origins of the applications of all merchants.
pub struct KnownOrigins {
    store: Arc<dyn WholeStore>,
    last: Mutex<LastRead>,
    /// Held by the one request that reads the store.
    reading: tokio::sync::Mutex<()>,
}

/// Result of the latest reads.
#[derive(Default)]
struct LastRead {
    /// Beginning of the latest one that succeeded.
    read_at: Option<Instant>,
    /// End of the latest one, which may have failed.
    tried_at: Option<Instant>,
    known: HashSet<String>,
}

impl LastRead {
    /// Returns the answer from memory; `None` if the store must be read.
    fn answer(&self, origin: &str) -> Option<bool> {
        let is_known = self.known.contains(origin);
        let is_within = |since: Option<Instant>, age: Duration| since.is_some_and(|at| at.elapsed() < age);
        let is_fresh = is_known && is_within(self.read_at, FOUND_FOR);
        (is_fresh || is_within(self.tried_at, READ_EVERY)).then_some(is_known)
    }
}

impl KnownOrigins {
    /// Reads from this store.
    pub fn new(store: Arc<dyn WholeStore>) -> Self {
        Self { store, last: Mutex::default(), reading: tokio::sync::Mutex::default() }
    }

    /// Returns true if an application has this origin. Strangers may ask, so the store is read only a few times a
    /// second at most, even while it fails. Then the origins of the latest successful read apply.
    pub async fn contains(&self, origin: &str) -> bool {
        if let Some(answer) = self.last().answer(origin) {
            return answer;
        }
        let Ok(_reading) = timeout(LONGEST_WAIT, self.reading.lock()).await else {
            return self.last().known.contains(origin);
        };
        // Another request may have read the store while this one waited.
        if let Some(answer) = self.last().answer(origin) {
            return answer;
        }
        // The time before the read, because a change during the read may be missing from it.
        let read_at = Instant::now();
        let all = self.all().await;
        let mut last = self.last();
        last.tried_at = Some(Instant::now());
        match all {
            Ok(all) => {
                last.read_at = Some(read_at);
                last.known = all;
            }
            Err(error) => tracing::debug!(%error, "the origins of the applications could not be read"),
        }
        last.known.contains(origin)
    }

    fn last(&self) -> MutexGuard<'_, LastRead> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn all(&self) -> Result<HashSet<String>, StoreError> {
        let mut all = HashSet::new();
        let mut after = None::<ApplicationPlace>;
        loop {
            let page = self.store.applications_after(after.as_ref(), PAGE).await?;
            all.extend(page.iter().flat_map(|application| application.origins.iter()).map(str::to_owned));
            match page.last() {
                Some(last) if page.len() >= PAGE => after = Some((last.merchant.clone(), last.name.clone())),
                Some(_) | None => return Ok(all),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::access::Origins;
    use quita_domain::identity::{ApplicationName, MerchantId};
    use quita_embedded::EmbeddedStore;
    use tokio::time::advance;

    use super::super::Access;
    use super::*;
    use quita_memory_store::HandClock;

    #[tokio::test(start_paused = true)]
    async fn the_origins_of_every_application_are_known_soon_after_they_are_set() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
        let clock = Arc::new(HandClock::default());
        let access = Access::new(store.clone(), super::super::tests::strongbox(store.clone()), clock);
        let known = KnownOrigins::new(store);
        let name = ApplicationName::new("shop");
        for (merchant, origin) in [("acme", "https://a.example"), ("zeta", "https://z.example")] {
            let merchant = MerchantId::new(merchant);
            assert!(!known.contains(origin).await);
            access.create_application(merchant.clone(), name.clone()).await.unwrap();
            let origins = Origins::parse([origin], false).unwrap();
            access.set_origins(&merchant, &name, &origins).await.unwrap();
            advance(READ_EVERY).await;
            assert!(known.contains(origin).await);
        }
        access.set_origins(&MerchantId::new("acme"), &name, &Origins::default()).await.unwrap();
        advance(FOUND_FOR).await;
        assert!(!known.contains("https://a.example").await);
        assert!(known.contains("https://z.example").await);
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_failed_reading_the_latest_answer_counts_for_a_moment() {
        let read_at = Some(Instant::now());
        advance(FOUND_FOR).await;
        let known = HashSet::from(["https://a.example".to_owned()]);
        let last = LastRead { read_at, tried_at: Some(Instant::now()), known };
        for (origin, is_known) in [("https://a.example", true), ("https://b.example", false)] {
            assert_eq!(last.answer(origin), Some(is_known), "{origin}");
        }
        advance(READ_EVERY).await;
        assert_eq!(last.answer("https://a.example"), None);
    }
}
