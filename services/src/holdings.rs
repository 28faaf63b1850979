//! Secrets that a person was shown and could still use after being removed: API keys and webhook secrets. Each is shown
//! once, to the person who creates or rotates it, so its creator is the one who has it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId, Mode};
use quita_domain::people::Login;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, KeyringStore, StoreError};

/// Secrets that one person has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holdings {
    /// API keys that work, oldest first.
    pub keys: Vec<ApiKey>,
    /// Webhook secrets that sign, by application.
    pub secrets: Vec<KnownSecret>,
}

/// Webhook secret that a person was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSecret {
    /// Application whose secret it is.
    pub application: ApplicationName,
    /// Title of the application.
    pub title: String,
    /// Mode of the secret.
    pub mode: Mode,
}

/// Service that finds the secrets a person has, and revokes their keys.
#[derive(Clone)]
pub struct Keyholders {
    store: Arc<dyn KeyringStore>,
    clock: Arc<dyn Clock>,
}

impl Keyholders {
    /// Works on this store.
    pub fn new(store: Arc<dyn KeyringStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Returns the working secrets that a user of this merchant has.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn holdings(&self, merchant: &MerchantId, login: &Login) -> Result<Holdings, StoreError> {
        let applications = self.store.applications(merchant).await?;
        let now = self.clock.now();
        let secrets = applications.iter().flat_map(|application| known(application, login, now));
        Ok(Holdings { keys: self.keys(merchant, login).await?, secrets: secrets.collect() })
    }

    /// Revokes every working key that this user made, except those that are kept. Returns the revoked keys.
    ///
    /// # Errors
    /// Fails if the store does not answer. Some keys may be revoked then; a repetition revokes the others.
    pub async fn revoke(
        &self,
        merchant: &MerchantId,
        login: &Login,
        is_kept: impl Fn(&ApiKey) -> bool,
    ) -> Result<Vec<ApiKey>, StoreError> {
        let mut revoked = self.keys(merchant, login).await?;
        revoked.retain(|key| !is_kept(key));
        for key in &revoked {
            self.store.revoke_key(&key.id, self.clock.now()).await?;
        }
        Ok(revoked)
    }

    async fn keys(&self, merchant: &MerchantId, login: &Login) -> Result<Vec<ApiKey>, StoreError> {
        let mut keys = self.store.keys_of(merchant).await?;
        let now = self.clock.now();
        keys.retain(|key| key.is_live(now) && key.made_by.as_deref() == Some(login.as_str()));
        Ok(keys)
    }
}

/// Returns the signing secrets of an application that this user was shown: one line for each mode.
fn known(application: &Application, login: &Login, now: Timestamp) -> Vec<KnownSecret> {
    let is_known = |mode: &Mode| {
        let mut live = application.secrets.live(*mode, now);
        live.any(|secret| secret.made_by.as_deref() == Some(login.as_str()))
    };
    let of = |mode| KnownSecret {
        application: application.name.clone(),
        title: application.title().to_owned(),
        mode,
    };
    [Mode::Test, Mode::Live].into_iter().filter(is_known).map(of).collect()
}
