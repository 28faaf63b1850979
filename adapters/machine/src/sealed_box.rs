//! Sealing of data that leaves the service and comes back: ChaCha20-Poly1305 (RFC 8439), under a separate key for each
//! box.

use quita_domain::secret::Secret;
use quita_domain::secret_key::mac;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use crate::random_bytes;

/// Bytes of the random salt before the sealed text.
const SALT_BYTES: usize = 16;

/// Seals bytes for a context, which is not stored and must be the same when the box is opened.
///
/// Each box has a key derived from 128 random bits, so the nonce does not limit the number of boxes under one key.
/// Returns `None` if the machine has no randomness.
pub fn seal(key: &[u8], context: &[u8], mut clear: Secret<Vec<u8>>) -> Option<Vec<u8>> {
    let salt: [u8; SALT_BYTES] = random_bytes().ok()?;
    let cipher = cipher(key, &salt)?;
    let tag = cipher.seal_in_place_separate_tag(nonce(), Aad::from(context), clear.expose_mut()).ok()?;
    Some([&salt[..], clear.expose(), tag.as_ref()].concat())
}

/// Opens a box. Returns `None` if it was sealed under another key or for another context, or was changed.
pub fn open(key: &[u8], context: &[u8], sealed: &[u8]) -> Option<Secret<Vec<u8>>> {
    let (salt, text) = sealed.split_first_chunk::<SALT_BYTES>()?;
    let mut text = Secret::new(text.to_vec());
    let length = cipher(key, salt)?.open_in_place(nonce(), Aad::from(context), text.expose_mut()).ok()?.len();
    text.expose_mut().truncate(length);
    Some(text)
}

fn cipher(key: &[u8], salt: &[u8; SALT_BYTES]) -> Option<LessSafeKey> {
    let own = Secret::new(mac(key, &[salt]));
    Some(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, own.expose()).ok()?))
}

/// Returns the only nonce: no key seals twice.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clear() -> Secret<Vec<u8>> {
        Secret::new(b"4242424242424242".to_vec())
    }

    #[test]
    fn a_box_opens_with_its_key_and_context_alone() {
        let sealed = seal(b"key", b"loja", clear()).unwrap();
        assert_eq!(open(b"key", b"loja", &sealed), Some(clear()));
        assert_eq!(open(b"another", b"loja", &sealed), None);
        assert_eq!(open(b"key", b"outra", &sealed), None);
        assert!(!sealed.windows(16).any(|part| part == b"4242424242424242"));
        assert_ne!(seal(b"key", b"loja", clear()).unwrap(), sealed, "each has a key of its own");
    }

    #[test]
    fn a_box_that_was_changed_or_cut_does_not_open() {
        let sealed = seal(b"key", b"loja", clear()).unwrap();
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(open(b"key", b"loja", &changed), None, "{place}");
            assert_eq!(open(b"key", b"loja", &sealed[..place]), None, "{place}");
        }
    }
}
