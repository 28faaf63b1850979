//! What the handlers share.

use quita_actors::Payments;
use quita_domain::card::{CardData, CardFingerprint};
use quita_domain::identity::{AcquirerName, Mode, Owner, TransactionId};
use quita_domain::request::RequestLimits;
use quita_domain::secret::Secret;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::Clock;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use uuid::{Builder, Uuid};

use super::rate_limit::RateLimit;
use crate::config::Config;
use crate::config::acquirer::{AcquirerConfig, AdapterKind, SandboxConfig};
use crate::service::access::KeyVerifier;

/// Bytes of the code that proves a page token.
const PROOF_BYTES: usize = 16;

/// Bytes of the token in the address to which a bank calls back.
const CALLBACK_TOKEN_BYTES: usize = 24;

/// What the handlers share.
pub struct Edge {
    pub(crate) payments: Payments,
    pub(crate) verifier: KeyVerifier,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) rate_limit: RateLimit,
    pub(crate) limits: RequestLimits,
    pub(crate) keys: Keys,
    pub(crate) public_url: String,
    /// Whether what `X-Forwarded-For` says is believed.
    pub(crate) is_behind_proxy: bool,
    acquirers: Vec<AcquirerConfig>,
}

impl Edge {
    /// Gathers what the handlers need.
    pub(crate) fn new(
        payments: Payments,
        verifier: KeyVerifier,
        clock: Arc<dyn Clock>,
        public_url: String,
        config: &Config,
    ) -> Self {
        Self {
            payments,
            verifier,
            clock,
            rate_limit: RateLimit::new(config.rate_limit),
            limits: config.request_limits(),
            keys: Keys::new(config.secret_key.expose()),
            public_url,
            is_behind_proxy: config.behind_proxy,
            acquirers: config.acquirers.clone(),
        }
    }

    /// Whether this acquirer only pretends, so that people may move what it holds.
    pub(crate) fn is_sandbox(&self, acquirer: &AcquirerName) -> bool {
        let acquirer = self.acquirers.iter().find(|known| known.spec.name == *acquirer);
        acquirer.is_some_and(|acquirer| acquirer.adapter.kind() == AdapterKind::Sandbox)
    }
}

/// What is derived from the server's secret: one key for each purpose.
pub struct Keys {
    id: Vec<u8>,
    fingerprint: Vec<u8>,
    card: Vec<u8>,
    page: Vec<u8>,
    notification: Vec<u8>,
    callback: Vec<u8>,
}

impl Keys {
    /// Derives the keys.
    pub fn new(secret: &[u8]) -> Self {
        let key = |purpose: &str| mac(secret, &[purpose.as_bytes()]);
        Self {
            id: key("quita transaction id 1"),
            fingerprint: key("quita fingerprint 1"),
            card: key("quita card 1"),
            page: key("quita page 1"),
            notification: key("quita notification 1"),
            callback: key("quita callback 1"),
        }
    }

    /// The id of a payment that was asked for under a key: the same on every node, for ever.
    pub(crate) fn transaction_id(&self, owner: &Owner, idempotency_key: &str) -> TransactionId {
        let parts = [owner.merchant.as_str(), owner.mode.as_str(), idempotency_key];
        let lengths: Vec<u8> = parts.iter().flat_map(|part| part.len().to_be_bytes()).collect();
        let hash = mac(&self.id, &[&lengths, parts.concat().as_bytes()]);
        TransactionId::new(Builder::from_custom_bytes(first_16(&hash)).into_uuid())
    }

    /// The key for fingerprints of requests.
    pub(crate) fn fingerprint(&self) -> &[u8] {
        &self.fingerprint
    }

    /// Tells a card from others in this mode, and nothing else of it: the same on every node.
    pub(crate) fn card_fingerprint(&self, card: &CardData, mode: Mode) -> CardFingerprint {
        CardFingerprint::of(&card.number, mode, &self.card)
    }

    /// The unguessable part of the addresses of a payment's pages.
    pub(crate) fn page_token(&self, id: TransactionId) -> String {
        let mut bytes = id.uuid().as_bytes().to_vec();
        bytes.extend(self.page_proof(id));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The payment of a page token; `None` if the token was not made here.
    pub(crate) fn page_payment(&self, token: &str) -> Option<TransactionId> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (id, proof) = bytes.split_first_chunk::<16>()?;
        let id = TransactionId::new(Uuid::from_bytes(*id));
        let is_proven: bool = self.page_proof(id).ct_eq(proof).into();
        is_proven.then_some(id)
    }

    /// The secret that signs a sandbox's notices: its own, or else one that every node can derive.
    pub(crate) fn notification_secret(&self, name: &AcquirerName, sandbox: &SandboxConfig) -> WebhookSecret {
        let own = sandbox.notification_secret.clone();
        own.unwrap_or_else(|| WebhookSecret::from_bytes(mac(&self.notification, &[name.as_str().as_bytes()])))
    }

    /// The unguessable part of the address to which a bank calls back: the same on every node.
    pub(crate) fn callback_token(&self, name: &AcquirerName, epoch: u32) -> Secret<String> {
        let mut token = mac(&self.callback, &[&epoch.to_be_bytes(), name.as_str().as_bytes()]);
        token.truncate(CALLBACK_TOKEN_BYTES);
        Secret::new(URL_SAFE_NO_PAD.encode(token))
    }

    fn page_proof(&self, id: TransactionId) -> Vec<u8> {
        let mut proof = mac(&self.page, &[id.uuid().as_bytes()]);
        proof.truncate(PROOF_BYTES);
        proof
    }
}

/// HMAC-SHA256 of the parts, one after the other.
fn mac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // A key of any length is valid for HMAC.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

fn first_16(bytes: &[u8]) -> [u8; 16] {
    bytes.first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::identity::{ApplicationName, MerchantId};

    fn owner(merchant: &str, mode: Mode) -> Owner {
        let application = ApplicationName::new("default");
        Owner { merchant: MerchantId::new(merchant), application, mode }
    }

    #[test]
    fn a_key_gives_the_same_id_for_one_merchant_and_mode_only() {
        let keys = Keys::new(b"secret");
        let id = keys.transaction_id(&owner("demo", Mode::Test), "a");
        assert_eq!(id, Keys::new(b"secret").transaction_id(&owner("demo", Mode::Test), "a"));
        assert_eq!(id.uuid().get_version_num(), 8);
        for (other, key) in [("demo", "b"), ("demoa", ""), ("other", "a")] {
            assert_ne!(id, keys.transaction_id(&owner(other, Mode::Test), key));
        }
        assert_ne!(id, keys.transaction_id(&owner("demo", Mode::Live), "a"));
        assert_ne!(id, Keys::new(b"another").transaction_id(&owner("demo", Mode::Test), "a"));
    }

    #[test]
    fn a_page_token_leads_to_its_payment_and_cannot_be_made_up() {
        let keys = Keys::new(b"secret");
        let id = TransactionId::new(Uuid::from_u128(7));
        let token = keys.page_token(id);
        assert_eq!(keys.page_payment(&token), Some(id));
        assert_eq!(Keys::new(b"another").page_payment(&token), None);
        for wrong in [
            "",
            "x",
            &token.replacen(|_: char| true, "B", 1),
            &format!("{token}A"),
            &URL_SAFE_NO_PAD.encode([7; 32]),
        ] {
            assert_eq!(keys.page_payment(wrong), None, "{wrong}");
        }
    }
}
