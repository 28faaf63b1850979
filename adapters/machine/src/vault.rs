//! Sealing secrets for the store: ChaCha20-Poly1305 (RFC 8439) under keys that are derived from the secret keys.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quita_domain::secret::Secret;
use quita_domain::secret_key::{SealedSecret, SecretKeyId, SecretPlace, derive};
use quita_ports::{Vault, VaultError};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::random_bytes;

/// Identifies the method of sealing: another method needs another name.
const PURPOSE: &str = "quita sealed secret 1";

/// Seals with one of several keys.
///
/// A nonce has 96 random bits. One key seals a handful of secrets of each application, far below the 2^32 after which a
/// nonce might repeat.
#[derive(Debug)]
pub struct AeadVault {
    held: Vec<SecretKeyId>,
    /// Keys that are held, and keys that only open.
    keys: Vec<(SecretKeyId, LessSafeKey)>,
}

impl AeadVault {
    /// Creates a vault with these secret keys, newest first. The other keys open what was sealed with them, and seal
    /// nothing.
    pub fn new<'a>(
        secret_keys: impl IntoIterator<Item = &'a [u8]>,
        opens: impl IntoIterator<Item = &'a [u8]>,
    ) -> Self {
        let mut keys: Vec<_> = secret_keys.into_iter().filter_map(key_of).collect();
        let held = keys.iter().map(|(id, _)| id.clone()).collect();
        keys.extend(opens.into_iter().filter_map(key_of));
        Self { held, keys }
    }

    fn key(&self, id: &SecretKeyId) -> Option<&LessSafeKey> {
        self.keys.iter().find(|(known, _)| known == id).map(|(_, key)| key)
    }
}

/// Derives a key. The result always has the right length, so it is always a valid key.
fn key_of(secret_key: &[u8]) -> Option<(SecretKeyId, LessSafeKey)> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, derive(secret_key, PURPOSE).expose()).ok()?;
    Some((SecretKeyId::of(secret_key), LessSafeKey::new(key)))
}

impl Vault for AeadVault {
    fn held(&self) -> &[SecretKeyId] {
        &self.held
    }

    fn opens(&self, key: &SecretKeyId) -> bool {
        self.key(key).is_some()
    }

    fn seal(
        &self,
        key: &SecretKeyId,
        secret: &Secret<String>,
        place: &SecretPlace,
    ) -> Result<SealedSecret, VaultError> {
        let not_held = || VaultError::NotHeld(key.clone());
        // The public development key opens what an earlier version sealed with it, but must never seal anything again.
        let cipher = self.key(key).filter(|_| self.held.contains(key)).ok_or_else(not_held)?;
        let nonce: [u8; NONCE_LEN] = random_bytes().map_err(|_| VaultError::NoRandomness)?;
        let mut text = secret.expose().as_bytes().to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        let place = Aad::from(place.bytes());
        cipher.seal_in_place_append_tag(unique, place, &mut text).map_err(|_| VaultError::Damaged)?;
        Ok(SealedSecret { key: key.clone(), text: STANDARD.encode([&nonce[..], &text].concat()) })
    }

    fn open(&self, sealed: &SealedSecret, place: &SecretPlace) -> Result<Secret<String>, VaultError> {
        let cipher = self.key(&sealed.key).ok_or_else(|| VaultError::NotHeld(sealed.key.clone()))?;
        let bytes = STANDARD.decode(&sealed.text).map_err(|_| VaultError::Damaged)?;
        let (nonce, text) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(VaultError::Damaged)?;
        let mut text = Secret::new(text.to_vec());
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let place = Aad::from(place.bytes());
        let opened =
            cipher.open_in_place(nonce, place, text.expose_mut()).map_err(|_| VaultError::Damaged)?;
        let opened = str::from_utf8(opened).map_err(|_| VaultError::Damaged)?;
        Ok(Secret::new(opened.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::identity::{ApplicationName, MerchantId, Mode};

    const OLD: &[u8] = b"an old key";
    const NEW: &[u8] = b"a new key";

    fn place(mode: Mode) -> SecretPlace {
        SecretPlace::webhook(&MerchantId::new("demo"), &ApplicationName::new("shop"), mode)
    }

    fn secret() -> Secret<String> {
        Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into())
    }

    fn sealed(vault: &AeadVault, key: &[u8]) -> SealedSecret {
        vault.seal(&SecretKeyId::of(key), &secret(), &place(Mode::Test)).unwrap()
    }

    #[test]
    fn what_is_sealed_with_any_key_that_is_held_opens_and_shows_nothing() {
        let vault = AeadVault::new([NEW, OLD], []);
        for key in [NEW, OLD] {
            let sealed = sealed(&vault, key);
            assert_eq!(vault.open(&sealed, &place(Mode::Test)), Ok(secret()));
            assert_eq!(sealed.key, SecretKeyId::of(key));
            assert!(!format!("{sealed:?}").contains("whsec"));
        }
        assert_ne!(sealed(&vault, NEW), sealed(&vault, NEW), "a nonce is never used again");
    }

    #[test]
    fn what_was_sealed_for_one_place_does_not_open_at_another() {
        let vault = AeadVault::new([NEW], []);
        assert_eq!(vault.open(&sealed(&vault, NEW), &place(Mode::Live)), Err(VaultError::Damaged));
    }

    #[test]
    fn whatever_was_changed_does_not_open() {
        let vault = AeadVault::new([NEW, OLD], []);
        let genuine = sealed(&vault, NEW);
        let bytes = STANDARD.decode(&genuine.text).unwrap();
        let mut forged: Vec<_> = (0..bytes.len())
            .map(|place| {
                let mut changed = bytes.clone();
                changed[place] ^= 1;
                STANDARD.encode(changed)
            })
            .collect();
        forged.extend([STANDARD.encode(&bytes[1..]), String::new(), "*".into()]);
        for text in forged {
            let forged = SealedSecret { text, ..genuine.clone() };
            assert_eq!(vault.open(&forged, &place(Mode::Test)), Err(VaultError::Damaged));
        }
        let under_another = SealedSecret { key: SecretKeyId::of(OLD), ..genuine };
        assert_eq!(vault.open(&under_another, &place(Mode::Test)), Err(VaultError::Damaged));
    }

    #[test]
    fn a_key_that_is_not_held_is_named() {
        let vault = AeadVault::new([NEW], []);
        let other = AeadVault::new([OLD], []);
        let refused = vault.open(&sealed(&other, OLD), &place(Mode::Test));
        assert_eq!(refused, Err(VaultError::NotHeld(SecretKeyId::of(OLD))));
    }

    #[test]
    fn a_key_that_only_opens_seals_nothing() {
        let vault = AeadVault::new([NEW], [OLD]);
        let other = AeadVault::new([OLD], []);
        assert_eq!(vault.open(&sealed(&other, OLD), &place(Mode::Test)), Ok(secret()));
        let refused = vault.seal(&SecretKeyId::of(OLD), &secret(), &place(Mode::Test));
        assert_eq!(refused, Err(VaultError::NotHeld(SecretKeyId::of(OLD))));
        assert_eq!(vault.held(), [SecretKeyId::of(NEW)]);
    }
}
