//! The key of the audit log: random, sealed like every secret, and the same for as long as the store lives.

use quita_domain::audit::chain::{AuditKey, ChainKey};
use quita_domain::secret_key::{SealedSecret, SecretPlace, StoredSecret};
use quita_ports::VaultError;

use super::{MAX_RACES, SecretKeyError, Strongbox, Which};

impl Strongbox {
    /// The key of the audit log; none if nobody ever wrote to one.
    ///
    /// # Errors
    /// [`SecretKeyError`], if it does not open.
    pub async fn audit_key(&self) -> Result<Option<AuditKey>, SecretKeyError> {
        let sealed = self.store.audit_key().await?;
        sealed.map(|sealed| self.open_audit_key(&sealed)).transpose()
    }

    /// The key of the audit log: the first who asks makes it this one.
    ///
    /// # Errors
    /// [`SecretKeyError`]; nothing may be written to the log then.
    pub async fn establish_audit_key(&self, fresh: ChainKey) -> Result<AuditKey, SecretKeyError> {
        let fresh = AuditKey { key: fresh, has_begun: false };
        for _ in 0..MAX_RACES {
            if let Some(key) = self.audit_key().await? {
                return Ok(key);
            }
            let sealed = self.seal_audit_key(&fresh).await?;
            self.store.replace_audit_key(None, &sealed).await?;
        }
        Err(SecretKeyError::Raced)
    }

    /// From now on a log of which nothing is left is missed.
    ///
    /// # Errors
    /// [`SecretKeyError`]; it may be said again.
    pub async fn note_audit_begun(&self) -> Result<(), SecretKeyError> {
        for _ in 0..MAX_RACES {
            let Some(before) = self.store.audit_key().await? else { break };
            let key = self.open_audit_key(&before)?;
            if key.has_begun {
                return Ok(());
            }
            let after = self.seal_audit_key(&AuditKey { has_begun: true, ..key }).await?;
            if self.store.replace_audit_key(Some(&before), &after).await? {
                return Ok(());
            }
        }
        Err(SecretKeyError::Raced)
    }

    /// Seals the key of the audit log anew. Says whether it was sealed otherwise.
    ///
    /// # Errors
    /// [`SecretKeyError`]; it stays as it is.
    pub async fn move_audit_key(&self, which: Which) -> Result<bool, SecretKeyError> {
        for _ in 0..MAX_RACES {
            let Some(before) = self.store.audit_key().await? else { return Ok(false) };
            let current = self.current().await?;
            if self.stays(which, &StoredSecret::Sealed(before.clone()), &current) {
                return Ok(false);
            }
            let key = self.open_audit_key(&before)?;
            let after = self.vault.seal(&current, &key.reveal(), &SecretPlace::audit_key())?;
            if self.store.replace_audit_key(Some(&before), &after).await? {
                return Ok(true);
            }
        }
        Err(SecretKeyError::Raced)
    }

    fn open_audit_key(&self, sealed: &SealedSecret) -> Result<AuditKey, SecretKeyError> {
        let text = self.vault.open(sealed, &SecretPlace::audit_key())?;
        AuditKey::parse(&text).ok_or(SecretKeyError::Vault(VaultError::Damaged))
    }

    async fn seal_audit_key(&self, key: &AuditKey) -> Result<SealedSecret, SecretKeyError> {
        let current = self.current().await?;
        Ok(self.vault.seal(&current, &key.reveal(), &SecretPlace::audit_key())?)
    }
}
