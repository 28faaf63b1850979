//! Key of the audit log: random, sealed like every secret, and constant for the life of the store.

use quita_domain::audit::chain::{AuditKey, ChainKey};
use quita_domain::secret_key::{SealedSecret, SecretPlace, StoredSecret};
use quita_ports::VaultError;

use super::{MAX_RACES, SecretKeyError, Strongbox, Which};

impl Strongbox {
    /// Returns the key of the audit log; `None` if no log was ever written.
    ///
    /// # Errors
    /// [`SecretKeyError`], if it can't be opened.
    pub async fn audit_key(&self) -> Result<Option<AuditKey>, SecretKeyError> {
        let sealed = self.store.audit_key().await?;
        sealed.map(|sealed| self.open_audit_key(&sealed)).transpose()
    }

    /// Returns the key of the audit log. The first caller stores `fresh` as that key.
    ///
    /// # Errors
    /// [`SecretKeyError`]; then nothing may be written to the log.
    pub async fn establish_audit_key(&self, fresh: ChainKey) -> Result<AuditKey, SecretKeyError> {
        let fresh = AuditKey { key: fresh, has_begun: false };
        for _ in 0..MAX_RACES {
            if let Some(key) = self.audit_key().await? {
                return Ok(key);
            }
            let sealed = self.seal_audit_key(&fresh).await?;
            // Whichever caller is first, the next read finds the one key of the log.
            self.store.replace_audit_key(None, &sealed).await?;
        }
        Err(SecretKeyError::Raced)
    }

    /// Records that the log has begun. From now on an empty log is reported as missing.
    ///
    /// # Errors
    /// [`SecretKeyError`]; the call may be repeated.
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

    /// Reseals the key of the audit log. Returns true if it was sealed with another key.
    ///
    /// # Errors
    /// [`SecretKeyError`]; the sealed key is unchanged.
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
