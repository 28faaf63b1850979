//! Resealing of all secrets, page by page, while the store is in use.

use quita_domain::access::Application;
use quita_domain::identity::Mode;
use quita_domain::secret_key::{SecretKeyId, SecretPlace, StoredSecret};
use quita_ports::ApplicationPlace;

use super::{MAX_RACES, SecretKeyError, Strongbox};

/// Selection of the secrets to reseal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those that anyone could read: in clear text, or sealed with a key that can only open.
    Unprotected,
    /// All that are not sealed with the store's current key.
    All,
}

/// Result of resealing one page of applications.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Secrets examined.
    pub looked_at: u64,
    /// Secrets resealed.
    pub sealed: u64,
    /// Applications that were left as they were, with the reason.
    pub unmoved: Vec<Unmoved>,
    /// Start of the next page; `None` after the last one.
    pub next: Option<ApplicationPlace>,
}

/// An application with a secret that was left as it was.
#[derive(Debug, PartialEq, Eq)]
pub struct Unmoved {
    /// The application.
    pub application: ApplicationPlace,
    /// Reason.
    pub why: SecretKeyError,
}

impl Strongbox {
    /// Reseals the secrets of one page of applications, each application in one guarded write. Idempotent; after an
    /// interruption it can continue from any position.
    ///
    /// # Errors
    /// [`SecretKeyError`], if the page can't be read, or nothing can be sealed.
    pub async fn move_page(
        &self,
        which: Which,
        after: Option<&ApplicationPlace>,
        limit: usize,
    ) -> Result<Moved, SecretKeyError> {
        let page = self.store.applications_after(after, limit).await?;
        let mut moved = Moved::default();
        if page.len() >= limit {
            moved.next = page.last().map(place_of);
        }
        if page.is_empty() {
            return Ok(moved);
        }
        let current = self.current().await?;
        for application in page {
            moved.looked_at = moved.looked_at.saturating_add(count(application.secrets.each()));
            let place = place_of(&application);
            match self.move_one(which, application, &current).await {
                Ok(sealed) => moved.sealed = moved.sealed.saturating_add(sealed),
                Err(SecretKeyError::Store(error)) => return Err(error.into()),
                // A secret that can't be opened does not keep the others from being resealed.
                Err(why) => moved.unmoved.push(Unmoved { application: place, why }),
            }
        }
        Ok(moved)
    }

    /// Removes the replaced secrets from the store's files, as far as the store can do that.
    ///
    /// # Errors
    /// [`SecretKeyError::Store`]; it may be done again.
    pub async fn forget_replaced(&self) -> Result<(), SecretKeyError> {
        Ok(self.store.forget_replaced().await?)
    }

    async fn move_one(
        &self,
        which: Which,
        mut before: Application,
        current: &SecretKeyId,
    ) -> Result<u64, SecretKeyError> {
        for _ in 0..MAX_RACES {
            let mut after = before.clone();
            let mut sealed = 0_u64;
            for (mode, secret) in after.secrets.each_mut() {
                if self.stays(which, &secret.secret, current) {
                    continue;
                }
                let place = place_in(&before, mode);
                let text = self.vault.read(&secret.secret, &place)?;
                secret.secret = StoredSecret::Sealed(self.vault.seal(current, &text, &place)?);
                sealed = sealed.saturating_add(1);
            }
            if sealed == 0 || self.store.replace_application(&before, &after).await? {
                return Ok(sealed);
            }
            let again = self.store.application(&before.merchant, &before.name).await?;
            let Some(again) = again else { return Ok(0) };
            before = again;
        }
        Err(SecretKeyError::Raced)
    }

    pub(super) fn stays(&self, which: Which, stored: &StoredSecret, current: &SecretKeyId) -> bool {
        stored.key().is_some_and(|key| self.key_stays(which, key, current))
    }

    /// Returns true if a secret sealed with this key need not be resealed.
    pub(super) fn key_stays(&self, which: Which, key: &SecretKeyId, current: &SecretKeyId) -> bool {
        match which {
            Which::All => key == current,
            // A secret that can't be opened here is protected, even from this process.
            Which::Unprotected => self.vault.held().contains(key) || !self.vault.opens(key),
        }
    }
}

fn place_of(application: &Application) -> ApplicationPlace {
    (application.merchant.clone(), application.name.clone())
}

fn place_in(application: &Application, mode: Mode) -> SecretPlace {
    SecretPlace::webhook(&application.merchant, &application.name, mode)
}

fn count<T>(all: impl Iterator<Item = T>) -> u64 {
    u64::try_from(all.count()).unwrap_or(u64::MAX)
}
