//! Secret keys: with which one a store works, and how everything moves to another.
//!
//! No actor: the service and the commands beside it do the same. The record in the store decides, never what one process
//! was given: so two nodes in the middle of a change derive the same id from one `Idempotency-Key`.

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

/// Writers that may be faster in a row before something is given up.
const MAX_RACES: usize = 8;

/// Why a secret key could not be used or changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SecretKeyError {
    /// The store works with a key that this process was not given.
    #[error(
        "the store works with the secret key {current}, and this process was given {}: add that key to \
         QUITA_SECRET_KEY or secret-key-file, a line for each key, behind the newest one",
        listed(.held)
    )]
    NotHeld {
        /// The key that is missing.
        current: SecretKeyId,
        /// Those that are there.
        held: Vec<SecretKeyId>,
    },
    /// A secret does not open.
    #[error("a secret of the store can't be used: {0}")]
    Vault(#[from] VaultError),
    /// The store did not do its part.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Others changed the same again and again.
    #[error("others change the secret key at the same time; do it again")]
    Raced,
}

fn listed(keys: &[SecretKeyId]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// The secrets of one store, sealed and opened with the key that its record names.
#[derive(Clone)]
pub struct Strongbox {
    store: Arc<dyn SecretKeyStore>,
    vault: Arc<dyn Vault>,
}

impl Strongbox {
    /// Over this store, with the keys of this vault.
    pub fn new(store: Arc<dyn SecretKeyStore>, vault: Arc<dyn Vault>) -> Self {
        Self { store, vault }
    }

    /// Which key the store works with, and what derives ids. The first who asks notes `oldest`, which follows from the
    /// oldest key that is held: a store that has no record yet was served with that one, or with none.
    ///
    /// A key that only opens is left at once for the newest that is held.
    ///
    /// # Errors
    /// [`SecretKeyError`]; nobody may derive an id then.
    pub async fn establish(&self, oldest: &IdKeys) -> Result<(SecretKeyId, IdKeys), SecretKeyError> {
        for _ in 0..MAX_RACES {
            let Some(record) = self.store.key_record().await? else {
                let Some(key) = self.vault.held().last() else { break };
                let first = self.record_of(key, oldest)?;
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

    /// Has the store work with the newest key that is held; what derives ids stays. Says whether it did with another.
    ///
    /// # Errors
    /// [`SecretKeyError`]; the store works with the key with which it worked.
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

    /// The key that everything new is made with: what the record names, or the newest that is held while there is none.
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
            // The next start leaves it for this one.
            Some(current) if self.vault.opens(&current) => Ok(newest.clone()),
            Some(current) => Err(SecretKeyError::NotHeld { current, held: held.to_vec() }),
        }
    }

    /// Seals a secret for a place, with the key that the store works with now.
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

    /// The same, of what never was in clear in any store.
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

    /// Reads a secret as the store has it.
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

    /// Has the store work with the newest key. Says whether nobody was faster.
    async fn replace(&self, record: &KeyRecord, id_keys: &IdKeys) -> Result<bool, SecretKeyError> {
        let Some(newest) = self.vault.held().first() else { return Err(SecretKeyError::Raced) };
        let next = self.record_of(newest, id_keys)?;
        Ok(self.store.replace_key_record(Some(record), &next).await?)
    }
}
