//! A vault without encryption, for tests of access to secrets.

use quita_domain::secret::Secret;
use quita_domain::secret_key::{SealedSecret, SecretKeyId, SecretPlace};
use quita_domain::text::hex;
use quita_ports::{Vault, VaultError};

/// Seals by writing the context before the secret. Opens what was sealed with one of its keys for that context.
pub struct TestVault(Vec<SecretKeyId>);

impl TestVault {
    /// Creates a vault with these secret keys, newest first.
    pub fn with(secret_keys: &[&[u8]]) -> Self {
        Self(secret_keys.iter().map(|key| SecretKeyId::of(key)).collect())
    }
}

impl Vault for TestVault {
    fn held(&self) -> &[SecretKeyId] {
        &self.0
    }

    fn opens(&self, key: &SecretKeyId) -> bool {
        self.0.contains(key)
    }

    fn seal(
        &self,
        key: &SecretKeyId,
        secret: &Secret<String>,
        place: &SecretPlace,
    ) -> Result<SealedSecret, VaultError> {
        match self.0.contains(key) {
            true => Ok(SealedSecret {
                key: key.clone(),
                text: format!("{}:{}", hex(place.bytes()), secret.expose()),
            }),
            false => Err(VaultError::NotHeld(key.clone())),
        }
    }

    fn open(&self, sealed: &SealedSecret, place: &SecretPlace) -> Result<Secret<String>, VaultError> {
        if !self.0.contains(&sealed.key) {
            return Err(VaultError::NotHeld(sealed.key.clone()));
        }
        let (sealed_for, text) = sealed.text.split_once(':').ok_or(VaultError::Damaged)?;
        let is_here = sealed_for == hex(place.bytes());
        is_here.then(|| Secret::new(text.to_owned())).ok_or(VaultError::Damaged)
    }
}
