//! What somebody was shown and could still use after being removed: API keys and webhook secrets. Each is shown only once,
//! to who makes or rotates it, so who made it is who knows it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId, Mode};
use quita_domain::people::Login;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, KeyringStore, StoreError};

/// What one person knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Holdings {
    /// API keys that work, oldest first.
    pub keys: Vec<ApiKey>,
    /// Webhook secrets that sign, by application.
    pub secrets: Vec<KnownSecret>,
}

/// A webhook secret that somebody was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSecret {
    /// Whose it is.
    pub application: ApplicationName,
    /// What people call the application.
    pub title: String,
    /// Of which mode.
    pub mode: Mode,
}

/// Knows who knows what, and takes it away.
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

    /// What a user of this merchant knows that works now.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn holdings(&self, merchant: &MerchantId, login: &Login) -> Result<Holdings, StoreError> {
        let applications = self.store.applications(merchant).await?;
        let now = self.clock.now();
        let secrets = applications.iter().flat_map(|application| known(application, login, now));
        Ok(Holdings { keys: self.keys(merchant, login).await?, secrets: secrets.collect() })
    }

    /// Revokes every key that this user made and that works, but for those that are kept. Returns what was revoked.
    ///
    /// # Errors
    /// When the store does not answer: some of them may be revoked then, and asking again revokes the others.
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
        let (mut keys, now) = (self.store.keys_of(merchant).await?, self.clock.now());
        keys.retain(|key| key.is_live(now) && key.made_by.as_deref() == Some(login.as_str()));
        Ok(keys)
    }
}

/// The secrets of an application that this user was shown and that sign: one line for each mode.
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
