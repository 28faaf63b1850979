//! Applications as they are at a request, read by many requests at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use quita_domain::access::Application;
use quita_domain::identity::{ApplicationName, MerchantId, Owner};
use quita_ports::{KeyringStore, StoreError};
use tokio::time::Instant;

/// Maximum number of applications that are remembered. Only those of authenticated callers are read.
const MAX_KEPT: usize = 10_000;

type Name = (MerchantId, ApplicationName);
type Lookup = Result<Option<Arc<Application>>, StoreError>;

/// Reader of applications. No answer is older than the request for it, so a change counts from the next request.
///
/// Requests that arrive during a lookup share the next one, so the store is asked by one request at a time for each
/// application.
pub struct ApplicationReader {
    store: Arc<dyn KeyringStore>,
    slots: Mutex<HashMap<Name, Arc<tokio::sync::Mutex<Option<Answer>>>>>,
}

struct Answer {
    asked_at: Instant,
    found: Lookup,
}

impl ApplicationReader {
    /// Reads from this store.
    pub fn new(store: Arc<dyn KeyringStore>) -> Self {
        Self { store, slots: Mutex::default() }
    }

    /// Returns the application of an owner, if there is one.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn of(&self, owner: &Owner) -> Lookup {
        let arrived = Instant::now();
        let slot = self.slot(owner);
        let mut answer = slot.lock().await;
        if let Some(known) = answer.as_ref().filter(|known| known.asked_at > arrived) {
            return known.found.clone();
        }
        let asked_at = Instant::now();
        let found = self.store.application(&owner.merchant, &owner.application).await;
        let found = found.map(|application| application.map(Arc::new));
        *answer = Some(Answer { asked_at, found: found.clone() });
        found
    }

    /// Returns the URL that receives the events of an owner's payments if they name none.
    ///
    /// # Errors
    /// As [`ApplicationReader::of`].
    pub async fn endpoint(&self, owner: &Owner) -> Result<Option<String>, StoreError> {
        let application = self.of(owner).await?;
        Ok(application.and_then(|application| application.endpoints.of(owner.mode).map(str::to_owned)))
    }

    fn slot(&self, owner: &Owner) -> Arc<tokio::sync::Mutex<Option<Answer>>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let name = (owner.merchant.clone(), owner.application.clone());
        if slots.len() >= MAX_KEPT && !slots.contains_key(&name) {
            // Answers in memory only spare questions, so nothing else is lost with them.
            slots.clear();
        }
        Arc::clone(slots.entry(name).or_default())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use quita_domain::identity::Mode;
    use quita_embedded::EmbeddedStore;

    use super::super::Access;
    use super::*;
    use quita_memory_store::HandClock;

    fn owner(mode: Mode) -> Owner {
        Owner { merchant: MerchantId::new("acme"), application: ApplicationName::new("shop"), mode }
    }

    #[tokio::test]
    async fn a_changed_endpoint_counts_from_the_next_request_in_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
        let clock = Arc::new(HandClock::default());
        let access = Access::new(store.clone(), super::super::tests::strongbox(store.clone()), clock);
        let reader = ApplicationReader::new(store);
        let test = owner(Mode::Test);
        assert_eq!(reader.endpoint(&test).await, Ok(None), "there is no such application");
        access.create_application(test.merchant.clone(), test.application.clone()).await.unwrap();
        for url in [Some("https://a.example/"), Some("https://b.example/"), None] {
            access.set_endpoint(&test, url.map(str::to_owned)).await.unwrap();
            let answers = join_all((0..10).map(|_| reader.endpoint(&test))).await;
            assert!(answers.iter().all(|answer| answer.as_ref().unwrap().as_deref() == url), "{answers:?}");
            assert_eq!(reader.endpoint(&owner(Mode::Live)).await, Ok(None));
        }
    }
}
