//! Access of commands to the store, with or without a running service.

use std::sync::Arc;

use quita_domain::request::PostbackPolicy;
use quita_machine::SystemClock;
use quita_ports::WholeStore;
use quita_services::secret_keys::Strongbox;

use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::known_names::KnownNames;
use super::output;
use crate::store::{self, Purpose};
use quita_config::StoreAccess;
use quita_config::secret_key::SecretKeys;
use quita_config::store_url::StoreUrl;
use quita_services::access::Access;
use quita_services::audit::Audit;
use quita_services::people::People;

/// Opens the store for a command, and prints which one it is.
pub(super) async fn open_store(url: &StoreUrl) -> Result<Arc<dyn WholeStore>, Failure> {
    let store = store::open(url, Purpose::Maintenance).await?;
    // In another directory, or with another variable, it would be a different store.
    note_store(url);
    Ok(store)
}

/// Prints which store a command uses.
pub(super) fn note_store(url: &StoreUrl) {
    output::note(&format!("Store: {}", url.clone().with_whole_path()));
}

/// Store opened by a command, with the keys that seal its secrets.
pub(super) struct CommandStore {
    pub(super) url: StoreUrl,
    pub(super) store: Arc<dyn WholeStore>,
    pub(super) secret_keys: SecretKeys,
    /// Policy for webhook addresses, if the variables and the file name an environment.
    pub(super) postback: PostbackPolicy,
}

impl CommandStore {
    pub(super) async fn open(flags: StoreAccessFlags) -> Result<Self, Failure> {
        let StoreAccess { url, secret_keys, environment } = StoreAccess::from_settings(flags.settings())?;
        let store = open_store(&url).await?;
        Ok(Self { url, store, secret_keys, postback: environment.postback_policy() })
    }

    /// Returns the strongbox that seals and opens secrets. Nothing else needs a secret key.
    pub(super) fn strongbox(&self) -> Strongbox {
        self.secret_keys.strongbox(self.store.clone())
    }

    /// Returns the access to API keys and webhook secrets.
    pub(super) fn access(&self) -> Access {
        Access::new(self.store.clone(), self.strongbox(), Arc::new(SystemClock))
    }

    /// Returns a lookup of the existing merchants and applications.
    pub(super) fn names(&self) -> KnownNames {
        KnownNames::of(self.store.clone())
    }

    /// Returns the access to users and operators.
    pub(super) fn people(&self) -> People {
        People::new(self.store.clone(), Arc::new(SystemClock))
    }

    /// Opens the audit log.
    pub(super) async fn audit(&self) -> Result<Audit, Failure> {
        Ok(Audit::open(self.store.clone(), &self.strongbox(), Arc::new(SystemClock)).await?)
    }
}
