//! Current applications, read by many requests at once.

use std::sync::Arc;

use quita_domain::access::Application;
use quita_domain::identity::{ApplicationName, MerchantId, Owner};
use quita_ports::{KeyringStore, StoreError};
use tokio::time::{Instant, sleep};

use super::short_cache::{KEPT_FOR, ShortCache};

type Lookup = Result<Option<Arc<Application>>, StoreError>;

/// Waits until every node reads a change of an application that was just stored.
pub async fn until_read_everywhere() {
    sleep(KEPT_FOR).await;
}

/// Reader of applications, with a short-lived cache: almost every creation needs one. A change counts on every node
/// after [`until_read_everywhere`].
pub struct ApplicationReader {
    store: Arc<dyn KeyringStore>,
    kept: ShortCache<(MerchantId, ApplicationName), Option<Arc<Application>>>,
}

impl ApplicationReader {
    /// Reads from this store.
    pub fn new(store: Arc<dyn KeyringStore>) -> Self {
        Self { store, kept: ShortCache::default() }
    }

    /// Returns the application of an owner, if there is one.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn of(&self, owner: &Owner) -> Lookup {
        let name = (owner.merchant.clone(), owner.application.clone());
        if let Some(known) = self.kept.recall(&name) {
            return Ok(known);
        }
        let asked_at = Instant::now();
        match self.store.application(&owner.merchant, &owner.application).await {
            Ok(found) => {
                let found = found.map(Arc::new);
                self.kept.keep(name, found.clone(), asked_at);
                Ok(found)
            }
            Err(error) => self.kept.kept(&name).ok_or(error),
        }
    }

    /// Returns the URL that receives the events of an owner's payments if they name none.
    ///
    /// # Errors
    /// As [`ApplicationReader::of`].
    pub async fn endpoint(&self, owner: &Owner) -> Result<Option<String>, StoreError> {
        let application = self.of(owner).await?;
        Ok(application.and_then(|application| application.endpoints.of(owner.mode).map(str::to_owned)))
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

    #[tokio::test(start_paused = true)]
    async fn a_changed_endpoint_counts_in_its_mode_once_every_node_has_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
        let clock = Arc::new(HandClock::default());
        let access = Access::new(store.clone(), super::super::tests::strongbox(store.clone()), clock);
        let reader = ApplicationReader::new(store);
        let test = owner(Mode::Test);
        assert_eq!(reader.endpoint(&test).await, Ok(None), "there is no such application");
        access.create_application(test.merchant.clone(), test.application.clone()).await.unwrap();
        assert_eq!(reader.endpoint(&test).await, Ok(None));
        for url in [Some("https://a.example/"), Some("https://b.example/"), None] {
            access.set_endpoint(&test, url.map(str::to_owned)).await.unwrap();
            until_read_everywhere().await;
            let answers = join_all((0..10).map(|_| reader.endpoint(&test))).await;
            assert!(answers.iter().all(|answer| answer.as_ref().unwrap().as_deref() == url), "{answers:?}");
            assert_eq!(reader.endpoint(&owner(Mode::Live)).await, Ok(None));
        }
    }
}
