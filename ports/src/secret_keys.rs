//! Secret keys in the store: the key in use, and the secrets that are sealed.

use async_trait::async_trait;
use quita_domain::access::Application;
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::secret::Secret;
use quita_domain::secret_key::{KeyRecord, SealedSecret, SecretKeyId, SecretPlace, StoredSecret};
use thiserror::Error;

use crate::console::PeopleStore;
use crate::store::{AccessStore, StoreError};

/// Reason why a secret was not sealed or opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VaultError {
    /// The key is not among those given to this process.
    #[error(
        "it is sealed with the secret key {0}, which this process was not given: if the keys were not changed on \
         purpose, give it that one instead; otherwise add that key to QUITA_SECRET_KEY or secret-key-file, after the \
         newest one"
    )]
    NotHeld(SecretKeyId),
    /// The key is right, but the sealed data was changed or belongs to another location.
    #[error("what is sealed was changed, or is not where it was sealed for")]
    Damaged,
    /// No random bytes: no secret may be created now.
    #[error("the operating system gave no random bytes")]
    NoRandomness,
}

/// Seals secrets for the store, and opens them.
pub trait Vault: Send + Sync + 'static {
    /// Returns the secret keys that were given to this process, newest first. There is at least one.
    fn held(&self) -> &[SecretKeyId];

    /// Returns true if it can open secrets sealed with this key: a held one, or a public one that no longer seals
    /// anything.
    fn opens(&self, key: &SecretKeyId) -> bool;

    /// Seals a secret with one of these keys, bound to one location.
    ///
    /// # Errors
    /// [`VaultError::NotHeld`], [`VaultError::NoRandomness`].
    fn seal(
        &self,
        key: &SecretKeyId,
        secret: &Secret<String>,
        place: &SecretPlace,
    ) -> Result<SealedSecret, VaultError>;

    /// Opens a secret that was sealed for this location.
    ///
    /// # Errors
    /// [`VaultError::NotHeld`], [`VaultError::Damaged`].
    fn open(&self, sealed: &SealedSecret, place: &SecretPlace) -> Result<Secret<String>, VaultError>;

    /// Reads a secret as the store has it.
    ///
    /// # Errors
    /// As [`Vault::open`].
    fn read(&self, stored: &StoredSecret, place: &SecretPlace) -> Result<Secret<String>, VaultError> {
        match stored {
            StoredSecret::Clear(secret) => Ok(secret.clone()),
            StoredSecret::Sealed(sealed) => self.open(sealed, place),
        }
    }
}

/// Cursor in the list of all applications.
pub type ApplicationPlace = (MerchantId, ApplicationName);

/// The secret key that the store works with, and everything that is sealed.
#[async_trait]
pub trait SecretKeyStore: AccessStore + PeopleStore {
    /// Returns the secret key that the store works with; none in a new store, or in one of an earlier version.
    async fn key_record(&self) -> Result<Option<KeyRecord>, StoreError>;

    /// Replaces the record if it is still equal to `before`, where `None` means that there is none; `false` if another
    /// writer was faster. Of concurrent calls, on any nodes, one wins.
    async fn replace_key_record(
        &self,
        before: Option<&KeyRecord>,
        after: &KeyRecord,
    ) -> Result<bool, StoreError>;

    /// Returns the key of the audit log, sealed ([`quita_domain::audit::chain::AuditKey::reveal`]); none in a new
    /// store.
    async fn audit_key(&self) -> Result<Option<SealedSecret>, StoreError>;

    /// Replaces the key of the audit log if it is still sealed as `before`, where `None` means that there is none;
    /// `false` if another writer was faster. Of concurrent calls, on any nodes, one wins.
    async fn replace_audit_key(
        &self,
        before: Option<&SealedSecret>,
        after: &SealedSecret,
    ) -> Result<bool, StoreError>;

    /// Returns applications of all merchants, by merchant and name, after this one, at most `limit`.
    async fn applications_after(
        &self,
        after: Option<&ApplicationPlace>,
        limit: usize,
    ) -> Result<Vec<Application>, StoreError>;

    /// Removes earlier versions of applications from the store's files, as far as the store controls them. A copy of
    /// the files then no longer contains them.
    async fn forget_replaced(&self) -> Result<(), StoreError>;
}
