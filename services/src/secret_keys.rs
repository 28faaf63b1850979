//! Secret keys: the key that a store uses, and the migration of everything to another.
//!
//! Not an actor: the service and the commands do the same. The record in the store determines the key, not the
//! configuration of a process. So two nodes in the middle of a change derive the same id from one `Idempotency-Key`.

mod audit_key;
mod moving;
mod moving_people;

use std::sync::Arc;

use quita_domain::secret::Secret;
use quita_domain::secret_key::{IdKeys, KeyRecord, SealedSecret, SecretKeyId, SecretPlace, StoredSecret};
use quita_ports::{SecretKeyStore, StoreError, Vault, VaultError};
use thiserror::Error;

pub use moving::{Moved, Unmoved, Which};
pub use moving_people::{MovedPeople, UnmovedPerson};

/// Lost races in a row after which an attempt is given up.
const MAX_RACES: usize = 8;

/// Reason why a secret key could not be used or changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SecretKeyError {
    /// The store works with a key that this process does not hold.
    #[error(
        "the store uses the secret key {current}, but this process was given {}: if the keys were not changed on purpose, \
         give it that one instead; otherwise add that key to QUITA_SECRET_KEY or secret-key-file, one key a line, after \
         the newest one",
        listed(.held)
    )]
    NotHeld {
        /// Key that is missing.
        current: SecretKeyId,
        /// Keys that this process holds.
        held: Vec<SecretKeyId>,
    },
    /// The store works with the public key of development, with which this process may open and not seal.
    #[error(
        "the store uses the public key of development, but this process was given {}: start the service with that key \
         first, which moves the store to it, or do this without a key",
        listed(.held)
    )]
    StillPublic {
        /// Keys that this process holds.
        held: Vec<SecretKeyId>,
    },
    /// A secret can't be opened.
    #[error("a secret of the store can't be used: {0}")]
    Vault(#[from] VaultError),
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Other writers were faster each time.
    #[error("others change the secret key at the same time; do it again")]
    Raced,
}

fn listed(keys: &[SecretKeyId]) -> String {
    if keys.is_empty() {
        return "none".into();
    }
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The secrets of one store, sealed and opened with the key that its record names.
#[derive(Clone)]
pub struct Strongbox {
    store: Arc<dyn SecretKeyStore>,
    vault: Arc<dyn Vault>,
}

impl Strongbox {
    /// Creates a strongbox over this store, with the keys of this vault.
    pub fn new(store: Arc<dyn SecretKeyStore>, vault: Arc<dyn Vault>) -> Self {
        Self { store, vault }
    }

    /// Returns the key that the store uses, and the keys that derive ids. If the store has no record yet, the first
    /// caller writes one with `oldest`, which derives from the oldest key held. Without a record, the store was served
    /// with that key or with none.
    ///
    /// If the record names a key that can only open, the newest held key replaces it at once.
    ///
    /// # Errors
    /// [`SecretKeyError`]; then no id may be derived.
    pub async fn establish(&self, oldest: &IdKeys) -> Result<(SecretKeyId, IdKeys), SecretKeyError> {
        for _ in 0..MAX_RACES {
            let Some(record) = self.store.key_record().await? else {
                let Some(key) = self.vault.held().last() else { break };
                let first = self.record_of(key, oldest)?;
                // If another process was faster, its record counts: the stored record is read next.
                self.store.replace_key_record(None, &first).await?;
                continue;
            };
            let id_keys = self.id_keys(&record)?;
            if self.vault.held().contains(&record.current) {
                return Ok((record.current, id_keys));
            }
            self.replace(&record, &id_keys).await?;
        }
        Err(SecretKeyError::Raced)
    }

    /// Makes the store use the newest key held; the keys that derive ids stay. Returns true if it used another before.
    ///
    /// # Errors
    /// [`SecretKeyError`]; the store keeps working with its key.
    pub async fn work_with_newest(&self, oldest: &IdKeys) -> Result<bool, SecretKeyError> {
        for _ in 0..MAX_RACES {
            self.establish(oldest).await?;
            let record = self.store.key_record().await?;
            let Some(record) = record else { continue };
            if self.vault.held().first() == Some(&record.current) {
                return Ok(false);
            }
            if self.replace(&record, &self.id_keys(&record)?).await? {
                return Ok(true);
            }
        }
        Err(SecretKeyError::Raced)
    }

    /// Returns the key for new secrets: the one in the record, or the newest held while there is no record.
    ///
    /// # Errors
    /// [`SecretKeyError`], if it is not held.
    pub async fn current(&self) -> Result<SecretKeyId, SecretKeyError> {
        let held = self.vault.held();
        let noted = self.store.key_record().await?.map(|record| record.current);
        let Some(newest) = held.first() else { return Err(SecretKeyError::Raced) };
        match noted {
            None => Ok(newest.clone()),
            Some(current) if held.contains(&current) => Ok(current),
            // A service that runs on it could not open what another key seals.
            Some(current) if self.vault.opens(&current) => {
                Err(SecretKeyError::StillPublic { held: held.to_vec() })
            }
            Some(current) => Err(SecretKeyError::NotHeld { current, held: held.to_vec() }),
        }
    }

    /// Returns true if the store derives ids from these keys, and false if it has no record yet.
    ///
    /// # Errors
    /// [`SecretKeyError`], if the store's own keys can't be read.
    pub async fn derives_ids_from(&self, keys: &IdKeys) -> Result<bool, SecretKeyError> {
        let record = self.store.key_record().await?;
        record.map_or(Ok(false), |record| Ok(self.id_keys(&record)? == *keys))
    }

    /// Seals a secret for a place, with the key that the store works with.
    ///
    /// # Errors
    /// [`SecretKeyError`].
    pub async fn seal(
        &self,
        secret: &Secret<String>,
        place: &SecretPlace,
    ) -> Result<StoredSecret, SecretKeyError> {
        self.seal_secret(secret, place).await.map(StoredSecret::Sealed)
    }

    /// Seals a secret that was never in clear text in any store.
    ///
    /// # Errors
    /// [`SecretKeyError`].
    pub async fn seal_secret(
        &self,
        secret: &Secret<String>,
        place: &SecretPlace,
    ) -> Result<SealedSecret, SecretKeyError> {
        let current = self.current().await?;
        Ok(self.vault.seal(&current, secret, place)?)
    }

    /// Reads a stored secret.
    ///
    /// # Errors
    /// [`SecretKeyError::Vault`].
    pub fn open(&self, stored: &StoredSecret, place: &SecretPlace) -> Result<Secret<String>, SecretKeyError> {
        Ok(self.vault.read(stored, place)?)
    }

    fn id_keys(&self, record: &KeyRecord) -> Result<IdKeys, SecretKeyError> {
        let opened = self.vault.open(&record.id_keys, &SecretPlace::id_keys());
        let text = opened.map_err(|error| match error {
            VaultError::NotHeld(current) => {
                SecretKeyError::NotHeld { current, held: self.vault.held().to_vec() }
            }
            VaultError::Damaged | VaultError::NoRandomness => error.into(),
        })?;
        IdKeys::parse(&text).ok_or(SecretKeyError::Vault(VaultError::Damaged))
    }

    fn record_of(&self, key: &SecretKeyId, id_keys: &IdKeys) -> Result<KeyRecord, SecretKeyError> {
        let id_keys = self.vault.seal(key, &id_keys.reveal(), &SecretPlace::id_keys())?;
        Ok(KeyRecord { current: key.clone(), id_keys })
    }

    /// Makes the store work with the newest key. Returns false if another writer was faster.
    async fn replace(&self, record: &KeyRecord, id_keys: &IdKeys) -> Result<bool, SecretKeyError> {
        let Some(newest) = self.vault.held().first() else { return Err(SecretKeyError::Raced) };
        let next = self.record_of(newest, id_keys)?;
        Ok(self.store.replace_key_record(Some(record), &next).await?)
    }
}
