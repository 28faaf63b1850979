//! Webhook secrets of applications, read from the store and cached briefly.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quita_domain::identity::Owner;
use quita_domain::secret_key::SecretPlace;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{Clock, Store, StoreError, Vault};
use tokio::time::Instant;

/// Time for which secrets are cached.
const KEPT_FOR: Duration = Duration::from_secs(2);

type SecretCache = HashMap<Owner, (Instant, Arc<[WebhookSecret]>)>;

/// Reads and caches secrets by application and mode.
pub(crate) struct Secrets {
    store: Arc<dyn Store>,
    vault: Arc<dyn Vault>,
    clock: Arc<dyn Clock>,
    kept: Mutex<SecretCache>,
}

impl Secrets {
    pub(crate) fn new(store: Arc<dyn Store>, vault: Arc<dyn Vault>, clock: Arc<dyn Clock>) -> Self {
        Self { store, vault, clock, kept: Mutex::default() }
    }

    /// Returns the secrets that sign for this owner now, in the owner's mode, newest first. Fails if any of them can't
    /// be opened, because a receiver may have only that one.
    pub(crate) async fn of(&self, owner: &Owner) -> Result<Arc<[WebhookSecret]>, StoreError> {
        if let Some((read_at, secrets)) = self.lock().get(owner)
            && read_at.elapsed() < KEPT_FOR
        {
            return Ok(Arc::clone(secrets));
        }
        let application = self.store.application(&owner.merchant, &owner.application).await?;
        let now = self.clock.now();
        let place = SecretPlace::webhook(&owner.merchant, &owner.application, owner.mode);
        let live = application.iter().flat_map(|application| application.secrets.live(owner.mode, now));
        let opened: Result<Vec<_>, _> = live.map(|secret| self.vault.read(&secret.secret, &place)).collect();
        let opened = opened.map_err(|why| {
            StoreError::Unreadable(format!("a webhook secret of {}: {why}", owner.application))
        })?;
        let secrets: Arc<[_]> =
            opened.iter().filter_map(|secret| WebhookSecret::parse(secret.expose())).collect();
        self.lock().insert(owner.clone(), (Instant::now(), Arc::clone(&secrets)));
        Ok(secrets)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, SecretCache> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
