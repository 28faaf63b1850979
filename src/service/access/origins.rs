//! Origins of every application, for preflights of browsers, which carry no key.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use quita_ports::{ApplicationPlace, StoreError, WholeStore};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Age up to which an origin that was found is taken as still there.
const FOUND_FOR: Duration = Duration::from_secs(2);

/// Shortest time between two readings of the store, whoever asks for an origin that was not found.
const READ_EVERY: Duration = Duration::from_millis(200);

/// Number of applications that are read at once.
const PAGE: usize = 500;

/// Origins of the applications of all merchants.
pub struct KnownOrigins {
    store: Arc<dyn WholeStore>,
    read: Mutex<Option<Origins>>,
}

struct Origins {
    read_at: Instant,
    known: HashSet<String>,
}

impl KnownOrigins {
    /// Reads from this store.
    pub fn new(store: Arc<dyn WholeStore>) -> Self {
        Self { store, read: Mutex::default() }
    }

    /// Returns true if an application has this origin. Strangers may ask, so the store is read a few times a second at
    /// most.
    pub async fn contains(&self, origin: &str) -> bool {
        let mut read = self.read.lock().await;
        let known = read.as_ref().map(|origins| (origins.read_at.elapsed(), origins.known.contains(origin)));
        match known {
            Some((age, true)) if age < FOUND_FOR => return true,
            Some((age, false)) if age < READ_EVERY => return false,
            Some(_) | None => {}
        }
        let read_at = Instant::now();
        match self.all().await {
            Ok(all) => read.insert(Origins { read_at, known: all }).known.contains(origin),
            Err(error) => {
                tracing::debug!(%error, "the origins of the applications could not be read");
                known.is_some_and(|(_, is_known)| is_known)
            }
        }
    }

    async fn all(&self) -> Result<HashSet<String>, StoreError> {
        let (mut all, mut after) = (HashSet::new(), None::<ApplicationPlace>);
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
    use crate::service::hand_clock::HandClock;

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
}
