//! Signatures as in Standard Webhooks 1.0.0 ("Signature scheme", symmetric).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::secret::Secret;

const PREFIX: &str = "whsec_";

/// Secret of an application: written as `whsec_` and base64, but only by [`WebhookSecret::reveal`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSecret(Secret<Vec<u8>>);

impl WebhookSecret {
    /// Number of random bytes in a secret of ours.
    pub const BYTES: usize = 32;

    /// Creates a secret from random bytes.
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(Secret::new(bytes))
    }

    /// Reads `whsec_…`; 24 to 64 bytes, as the specification demands.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        (24..=64).contains(&bytes.len()).then(|| Self::from_bytes(bytes))
    }

    /// Returns the form that a merchant puts into its configuration.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0.expose()))
    }

    fn mac(&self, id: &str, timestamp_s: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.expose()).ok()?;
        mac.update(format!("{id}.{timestamp_s}.").as_bytes());
        mac.update(body);
        Some(mac)
    }
}

/// Returns the value of `webhook-signature`: one `v1,…` for each secret, blank-separated.
pub fn sign(secrets: &[WebhookSecret], id: &str, timestamp_s: i64, body: &[u8]) -> String {
    let signatures = secrets.iter().filter_map(|secret| secret.mac(id, timestamp_s, body));
    let texts: Vec<_> =
        signatures.map(|mac| format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))).collect();
    texts.join(" ")
}

/// Returns true if any of the signatures in a `webhook-signature` header was made with `secret`.
pub fn verify(secret: &WebhookSecret, id: &str, timestamp_s: i64, body: &[u8], header: &str) -> bool {
    header.split(' ').filter_map(|part| part.strip_prefix("v1,")).any(|text| {
        let Ok(signature) = STANDARD.decode(text) else { return false };
        secret.mac(id, timestamp_s, body).is_some_and(|mac| mac.verify_slice(&signature).is_ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_as_the_specifications_example() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            sign(&[secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, br#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_signature_of_either_secret_verifies_while_one_is_rotated() {
        let [old, new, other] = [1, 2, 3].map(|byte| WebhookSecret::from_bytes(vec![byte; 32]));
        let header = sign(&[new.clone(), old.clone()], "evt_1", 5, b"{}");
        assert!(verify(&old, "evt_1", 5, b"{}", &header) && verify(&new, "evt_1", 5, b"{}", &header));
        assert!(!verify(&other, "evt_1", 5, b"{}", &header));
        assert!(!verify(&old, "evt_2", 5, b"{}", &header));
        assert!(!verify(&old, "evt_1", 6, b"{}", &header));
        assert!(!verify(&old, "evt_1", 5, b"{ }", &header));
    }

    #[test]
    fn a_secret_of_another_size_or_form_is_refused() {
        for text in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_*"] {
            assert!(WebhookSecret::parse(text).is_none(), "{text}");
        }
    }
}
