//! Maintenance of secret keys on a running node: it seals secrets that anyone could read, and follows the key that the
//! store names.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::secret_key::SecretKeyId;
use quita_ports::StoreError;
use quita_services::secret_keys::{MovedPeople, SecretKeyError, Strongbox, Unmoved, UnmovedPerson, Which};

use super::Keyring;
use crate::jobs::{JobName, JobOutcome, Pass, Rhythm};

/// Schedule of querying the store's current key. A node may use the previous key until the next query.
pub(crate) const CURRENT_KEY: Rhythm =
    Rhythm { name: JobName::CurrentSecretKey, every: Duration::from_secs(2), first_after: Duration::ZERO };
/// Schedule of sealing once everything is sealed: then there is nothing to do.
pub(crate) const SEALING: Rhythm =
    Rhythm { name: JobName::Sealing, every: Duration::from_secs(3_600), first_after: Duration::ZERO };
/// Wait before sealing is retried.
const SEAL_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Wait before sealing is retried after the store was unavailable: it may be back at any moment.
const TRY_STORE_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// Maximum number of applications or users per step.
const PAGE: usize = 100;

/// Sealing of secrets that anyone could read, once for each start of the node.
pub(crate) struct Sealing {
    strongbox: Strongbox,
    is_done: bool,
}

impl Sealing {
    /// Creates the sealing of secrets in this store.
    pub(crate) const fn new(strongbox: Strongbox) -> Self {
        Self { strongbox, is_done: false }
    }

    /// Seals readable secrets, unless that has been done.
    pub(crate) async fn pass(&mut self) -> Pass {
        if self.is_done {
            return Pass::from(Ok(()));
        }
        let Err(error) = seal_unprotected(&self.strongbox).await else {
            // Once sealed, a secret stays sealed, and every later one is sealed when it is stored.
            self.is_done = true;
            return Pass::from(Ok(()));
        };
        if needs_a_person(&error) {
            tracing::error!(%error, "some secrets in the store are still readable; sealing them will be retried");
            return Pass::again_in(Err(error.to_string()), SEAL_AGAIN_AFTER);
        }
        // What watches the store warns of an outage, once.
        if matches!(error, SecretKeyError::Store(StoreError::Unavailable(_))) {
            tracing::info!(%error, "some secrets in the store may still be readable; sealing them will be retried");
        } else {
            tracing::warn!(%error, "some secrets in the store may still be readable; sealing them will be retried");
        }
        Pass::again_in(Err(error.to_string()), TRY_STORE_AGAIN_AFTER)
    }
}

/// Returns true if sealing failed for a reason that does not pass by itself, unlike an unavailable store.
const fn needs_a_person(error: &SecretKeyError) -> bool {
    match error {
        SecretKeyError::Store(StoreError::Unavailable(_) | StoreError::Full(_) | StoreError::Broken(_))
        | SecretKeyError::Raced => false,
        SecretKeyError::Store(StoreError::Unreadable(_))
        | SecretKeyError::NotHeld { .. }
        | SecretKeyError::StillPublic { .. }
        | SecretKeyError::Vault(_) => true,
    }
}

/// Seals the secrets that earlier versions stored in clear text, or with the publicly known key.
async fn seal_unprotected(strongbox: &Strongbox) -> Result<(), SecretKeyError> {
    let mut place = None;
    let mut sealed = 0_u64;
    loop {
        let moved = strongbox.move_page(Which::Unprotected, place.as_ref(), PAGE).await?;
        sealed = sealed.saturating_add(moved.sealed);
        for Unmoved { application: (merchant, name), why } in moved.unmoved {
            tracing::error!(%merchant, application = %name, %why, "a webhook secret is still readable");
        }
        place = moved.next;
        if place.is_none() {
            break;
        }
    }
    let of_people = seal_unprotected_of_people(strongbox).await?;
    sealed = sealed.saturating_add(of_people);
    let is_audit_key_moved = strongbox.move_audit_key(Which::Unprotected).await?;
    if sealed > 0 || is_audit_key_moved {
        // The old ciphertext or clear text remains in the write-ahead log until the log is emptied.
        strongbox.forget_replaced().await?;
        tracing::info!(sealed, "secrets that were readable in the store are now encrypted");
    }
    Ok(())
}

/// Seals readable secrets of people, which were never stored in clear text. Returns how many there were.
async fn seal_unprotected_of_people(strongbox: &Strongbox) -> Result<u64, SecretKeyError> {
    let mut place = None;
    let mut sealed = 0_u64;
    loop {
        let moved = strongbox.move_users(Which::Unprotected, place.as_ref(), PAGE).await?;
        sealed = sealed.saturating_add(moved.sealed);
        log_readable(&moved);
        place = moved.next;
        if place.is_none() {
            break;
        }
    }
    let moved = strongbox.move_operators(Which::Unprotected).await?;
    log_readable(&moved);
    Ok(sealed.saturating_add(moved.sealed))
}

/// Logs secrets of people that are still readable.
fn log_readable(moved: &MovedPeople) {
    // A person's address must not appear in a log.
    for UnmovedPerson { why, .. } in &moved.unmoved {
        tracing::error!(%why, "a person's secret is still readable");
    }
}

/// Tracking of the secret key that the store names.
pub(crate) struct CurrentKey {
    strongbox: Strongbox,
    keyring: Arc<Keyring>,
    /// True if this node did not have the key at the last query.
    is_missing: bool,
}

impl CurrentKey {
    /// Creates the tracking, which derives new values with the key that the store names.
    pub(crate) const fn new(strongbox: Strongbox, keyring: Arc<Keyring>) -> Self {
        Self { strongbox, keyring, is_missing: false }
    }

    /// Queries the store once.
    pub(crate) async fn pass(&mut self) -> JobOutcome {
        let followed = follow(&self.strongbox, &self.keyring).await;
        match &followed {
            Ok(current) => {
                if std::mem::take(&mut self.is_missing) {
                    tracing::info!(%current, "this node has the store's secret key again");
                }
            }
            Err(SecretKeyError::Store(error)) => {
                tracing::debug!(%error, "which secret key the store uses could not be read");
            }
            Err(error) => {
                // The job runs every two seconds, so one line at the change is enough.
                if !std::mem::replace(&mut self.is_missing, true) {
                    tracing::error!(%error, "new payments are refused on this node");
                }
            }
        }
        followed.map(drop).map_err(|error| error.to_string())
    }
}

/// Derives new values with the store's current key, and none if this node does not have it. While the store does not
/// answer, the previous key remains in use.
async fn follow(strongbox: &Strongbox, keyring: &Keyring) -> Result<SecretKeyId, SecretKeyError> {
    let current = strongbox.current().await;
    match &current {
        Ok(current) => keyring.make_with(Some(current)),
        Err(SecretKeyError::Store(_)) => {}
        Err(
            SecretKeyError::NotHeld { .. }
            | SecretKeyError::StillPublic { .. }
            | SecretKeyError::Vault(_)
            | SecretKeyError::Raced,
        ) => keyring.make_with(None),
    }
    current
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner, TransactionId};
    use quita_embedded::EmbeddedStore;

    use super::*;
    use quita_config::Config;
    use quita_config::secret_key::SecretKeys;
    use quita_config::settings::Settings;

    const OLD: &str = "an-old-secret-key-that-is-long-enough";
    const NEW: &str = "a-new-secret-key-that-is-long-enough!";

    /// Node with these secret keys, the newest first.
    struct TestNode {
        keys: SecretKeys,
        strongbox: Strongbox,
    }

    impl TestNode {
        fn new(store: &Arc<EmbeddedStore>, keys: &[&str]) -> Self {
            let variable = ("QUITA_SECRET_KEY".into(), keys.join("\n").into());
            let keys = Config::from_settings(Settings::gather([], [variable])).unwrap().secret_keys;
            let strongbox = Strongbox::new(store.clone(), Arc::new(keys.vault()));
            Self { keys, strongbox }
        }

        async fn start(&self) -> Result<Keyring, SecretKeyError> {
            let (current, id_keys) = self.strongbox.establish(&self.keys.id_keys()).await?;
            Ok(Keyring::new(&self.keys, id_keys, &current))
        }
    }

    fn store() -> (Arc<EmbeddedStore>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = EmbeddedStore::open(folder.path().join("quita.db")).unwrap();
        (Arc::new(store), folder)
    }

    fn id(keyring: &Keyring) -> TransactionId {
        let merchant = MerchantId::new("shop");
        let application = ApplicationName::new("default");
        keyring.transaction_id(&Owner { merchant, application, mode: Mode::Test }, "order-1")
    }

    #[tokio::test]
    async fn nodes_with_different_configurations_derive_one_id_before_in_and_after_a_change() {
        let (store, _folder) = store();
        let before = TestNode::new(&store, &[OLD]).start().await.unwrap();
        let middle = TestNode::new(&store, &[NEW, OLD]);
        let in_it = middle.start().await.unwrap();
        assert!(middle.strongbox.work_with_newest(&middle.keys.id_keys()).await.unwrap());
        let after = TestNode::new(&store, &[NEW]);
        let own = Keyring::of_configured(&after.keys, &after.keys.newest().id());
        let after = after.start().await.unwrap();
        assert_eq!([id(&in_it), id(&after)], [id(&before); 2]);
        // A node that followed its own configuration would derive another id.
        assert_ne!(id(&own), id(&before));
    }

    #[tokio::test]
    async fn a_node_follows_the_key_of_the_store_and_makes_nothing_new_without_it() {
        let (store, _folder) = store();
        let old = TestNode::new(&store, &[OLD]);
        let both = TestNode::new(&store, &[NEW, OLD]);
        let without = old.start().await.unwrap();
        let with = both.start().await.unwrap();
        let payment = id(&with);
        assert_eq!(with.page_token(payment), without.page_token(payment));
        both.strongbox.work_with_newest(&both.keys.id_keys()).await.unwrap();
        follow(&both.strongbox, &with).await.unwrap();
        follow(&old.strongbox, &without).await.unwrap_err();
        assert_ne!(with.page_token(payment), None);
        assert_eq!(without.page_token(payment), None);
        assert!(matches!(old.start().await, Err(SecretKeyError::NotHeld { .. })));
    }
}
