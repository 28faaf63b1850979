//! The store as commands use it, beside a running service or without one.

use std::sync::Arc;

use quita_actors::Strongbox;
use quita_machine::SystemClock;
use quita_ports::WholeStore;

use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::output;
use crate::service::access::Access;
use crate::service::audit::Audit;
use crate::service::people::People;
use crate::store::{self, Purpose};
use quita_config::StoreAccess;
use quita_config::secret_key::SecretKeys;
use quita_config::store_url::StoreUrl;

/// Opens the store of a command, and says which it is: in another folder, or with another variable, it is another one.
pub(super) async fn open_store(url: &StoreUrl) -> Result<Arc<dyn WholeStore>, Failure> {
    let store = store::open(url, Purpose::Maintenance).await?;
    note_store(url);
    Ok(store)
}

/// Says which store a command works on.
pub(super) fn note_store(url: &StoreUrl) {
    output::note(&format!("Store: {}", url.clone().with_whole_path()));
}

/// A store that a command opened, and what its secrets are sealed with.
pub(super) struct Beside {
    pub(super) url: StoreUrl,
    pub(super) store: Arc<dyn WholeStore>,
    pub(super) secret_keys: SecretKeys,
}

impl Beside {
    pub(super) async fn open(flags: StoreAccessFlags) -> Result<Self, Failure> {
        let StoreAccess { url, secret_keys } = StoreAccess::from_settings(flags.settings())?;
        let store = open_store(&url).await?;
        Ok(Self { url, store, secret_keys })
    }

    /// What seals and opens secrets; looking at anything else needs no secret key.
    pub(super) fn strongbox(&self) -> Strongbox {
        self.secret_keys.strongbox(self.store.clone())
    }

    /// Keys and webhook secrets.
    pub(super) fn access(&self) -> Access {
        Access::new(self.store.clone(), self.strongbox(), Arc::new(SystemClock))
    }

    /// Users and operators.
    pub(super) fn people(&self) -> People {
        People::new(self.store.clone(), Arc::new(SystemClock))
    }

    /// The log of what is done with them.
    pub(super) async fn audit(&self) -> Result<Audit, Failure> {
        Ok(Audit::open(self.store.clone(), &self.strongbox(), Arc::new(SystemClock)).await?)
    }
}
