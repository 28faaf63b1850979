//! What is kept of secret keys: which one the store works with, and secrets that are sealed.

use async_trait::async_trait;
use quita_domain::access::Application;
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::secret::Secret;
use quita_domain::secret_key::{KeyRecord, SealedSecret, SecretKeyId, SecretPlace, StoredSecret};
use thiserror::Error;

use crate::console::PeopleStore;
use crate::store::{AccessStore, StoreError};

/// Why a secret was not sealed or not opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum VaultError {
    /// With a key that this process was not given.
    #[error(
        "it is sealed with the secret key {0}, which this process was not given: add that key to QUITA_SECRET_KEY or \
         secret-key-file, behind the newest one"
    )]
    NotHeld(SecretKeyId),
    /// The key is right, and what was sealed is not what is there.
    #[error("what is sealed was changed, or is not where it was sealed for")]
    Damaged,
    /// Nothing secret may be made now.
    #[error("the operating system gave no random bytes")]
    NoRandomness,
}

/// Seals secrets for the store, and opens them.
pub trait Vault: Send + Sync + 'static {
    /// The secret keys that this process was given, the newest first. There is at least one.
    fn held(&self) -> &[SecretKeyId];

    /// Whether it opens what is sealed with this key: one that is held, or a public one that seals nothing.
    fn opens(&self, key: &SecretKeyId) -> bool;

    /// Seals a secret with one of these keys, for one place.
    ///
    /// # Errors
    /// [`VaultError::NotHeld`], [`VaultError::NoRandomness`].
    fn seal(
        &self,
        key: &SecretKeyId,
        secret: &Secret<String>,
        place: &SecretPlace,
    ) -> Result<SealedSecret, VaultError>;

    /// Opens what was sealed for this place.
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

/// Where an application stands among all.
pub type ApplicationPlace = (MerchantId, ApplicationName);

/// Which secret key the store works with, and everything that is sealed.
#[async_trait]
pub trait SecretKeyStore: AccessStore + PeopleStore {
    /// Which secret key the store works with; none was noted in a new store, or in one of an earlier version.
    async fn key_record(&self) -> Result<Option<KeyRecord>, StoreError>;

    /// Replaces the record if it is still as `before`, or none if that is `None`; `false` if somebody was faster. Of many
    /// at once one wins, on whichever node.
    async fn replace_key_record(
        &self,
        before: Option<&KeyRecord>,
        after: &KeyRecord,
    ) -> Result<bool, StoreError>;

    /// The key of the audit log, sealed ([`quita_domain::audit::chain::AuditKey::reveal`]); none in a new store.
    async fn audit_key(&self) -> Result<Option<SealedSecret>, StoreError>;

    /// Replaces the key of the audit log if it is still sealed as `before`, or none if that is `None`; `false` if somebody
    /// was faster. Of many at once one wins, on whichever node.
    async fn replace_audit_key(
        &self,
        before: Option<&SealedSecret>,
        after: &SealedSecret,
    ) -> Result<bool, StoreError>;

    /// Applications of all merchants, by merchant and name, after this place, at most `limit`.
    async fn applications_after(
        &self,
        after: Option<&ApplicationPlace>,
        limit: usize,
    ) -> Result<Vec<Application>, StoreError>;

    /// What applications were before they were replaced is taken out of the store's files, as far as the store decides
    /// that: nobody finds it there who copies them.
    async fn forget_replaced(&self) -> Result<(), StoreError>;
}
