//! Keys derived from the secret keys: one for each purpose and each secret key that this node has.
//!
//! New values are derived with the key that the store's record names. Values derived with any of the keys are
//! recognised.

mod heeding;
mod tokens;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use quita_domain::card::{CardData, CardFingerprint};
use quita_domain::identity::{AcquirerName, LinkId, Mode, Owner, TransactionId};
use quita_domain::secret::Secret;
use quita_domain::secret_key::{IdKeys, SecretKeyId, derive, mac};
use quita_domain::text::hex;
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::Vault;
use quita_services::secret_keys::{SecretKeyError, Strongbox};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use quita_config::acquirer::{CallbackTokens, SandboxConfig};
use quita_config::secret_key::SecretKeys;

pub(crate) use heeding::{CURRENT_KEY, CurrentKey, SEALING, Sealing};
pub(crate) use tokens::OwnTokens;

/// Length in bytes of the code that authenticates a page token.
const PROOF_BYTES: usize = 16;

/// Length in bytes of the token in the address that a bank calls back.
const CALLBACK_TOKEN_BYTES: usize = 24;

/// Index that stands for no key at all.
const NONE: usize = usize::MAX;

/// Derived keys of one node.
#[derive(Debug)]
pub(crate) struct Keyring {
    /// Derived keys, newest first.
    held: Vec<Derived>,
    id_keys: IdKeys,
    /// Index of the key with which new values are derived.
    current: AtomicUsize,
}

/// Keys derived from one secret key.
#[derive(Debug)]
struct Derived {
    id: SecretKeyId,
    card: Secret<Vec<u8>>,
    page: Secret<Vec<u8>>,
    link: Secret<Vec<u8>>,
    form: Secret<Vec<u8>>,
    notification: Secret<Vec<u8>>,
    callback: Secret<Vec<u8>>,
    token: Secret<Vec<u8>>,
}

impl Derived {
    fn of(secret_key: &[u8]) -> Self {
        Self {
            id: SecretKeyId::of(secret_key),
            card: derive(secret_key, "quita card 1"),
            page: derive(secret_key, "quita page 1"),
            link: derive(secret_key, "quita link 1"),
            form: derive(secret_key, "quita link form 1"),
            notification: derive(secret_key, "quita notification 1"),
            callback: derive(secret_key, "quita callback 1"),
            token: derive(secret_key, "quita card token 1"),
        }
    }

    fn page_proof(&self, id: TransactionId) -> Vec<u8> {
        let mut proof = mac(self.page.expose(), &[id.uuid().as_bytes()]);
        proof.truncate(PROOF_BYTES);
        proof
    }

    fn link_proof(&self, id: LinkId) -> Vec<u8> {
        let mut proof = mac(self.link.expose(), &[id.uuid().as_bytes()]);
        proof.truncate(PROOF_BYTES);
        proof
    }

    fn form_proof(&self, link: LinkId, number: &[u8]) -> Vec<u8> {
        let mut proof = mac(self.form.expose(), &[link.uuid().as_bytes(), number]);
        proof.truncate(PROOF_BYTES);
        proof
    }

    fn callback_token(&self, name: &AcquirerName, epoch: u32) -> Secret<String> {
        let mut token = mac(self.callback.expose(), &[&epoch.to_be_bytes(), name.as_str().as_bytes()]);
        token.truncate(CALLBACK_TOKEN_BYTES);
        Secret::new(URL_SAFE_NO_PAD.encode(token))
    }
}

impl Keyring {
    /// Creates a keyring according to the store: its keys for ids, and its current key for new values.
    pub(crate) fn new(keys: &SecretKeys, id_keys: IdKeys, current: &SecretKeyId) -> Self {
        let held = keys.each().map(|key| Derived::of(key.expose())).collect();
        let keyring = Self { held, id_keys, current: AtomicUsize::new(NONE) };
        keyring.make_with(Some(current));
        keyring
    }

    /// Creates a keyring according to the store. If the store names no keys yet, these are recorded there.
    ///
    /// # Errors
    /// [`SecretKeyError`] if this node must not derive ids.
    pub(crate) async fn establish(
        strongbox: &Strongbox,
        keys: &SecretKeys,
    ) -> Result<Arc<Self>, SecretKeyError> {
        let (current, id_keys) = strongbox.establish(&keys.id_keys()).await?;
        Ok(Arc::new(Self::new(keys, id_keys, &current)))
    }

    /// Creates a keyring from the configuration alone, for commands that derive no ids. New values are derived with
    /// this one of its keys.
    pub(crate) fn of_configured(keys: &SecretKeys, current: &SecretKeyId) -> Self {
        Self::new(keys, keys.id_keys(), current)
    }

    /// Derives new values with this key from now on, or none if this node does not have it.
    pub(crate) fn make_with(&self, current: Option<&SecretKeyId>) {
        let place = self.held.iter().position(|derived| Some(&derived.id) == current);
        // No key is better than an old one: its values would no longer be recognised once that key is removed.
        self.current.store(place.unwrap_or(NONE), Ordering::Relaxed);
    }

    /// Returns the id of a payment that was requested with an idempotency key: the same on every node, permanently.
    pub(crate) fn transaction_id(&self, owner: &Owner, idempotency_key: &str) -> TransactionId {
        self.id_keys.transaction_id(owner, idempotency_key)
    }

    /// Returns the key for request fingerprints.
    pub(crate) fn fingerprint(&self) -> &[u8] {
        self.id_keys.fingerprint()
    }

    /// Returns the fingerprints of a card in this mode: with the current key, and with the others. They reveal nothing
    /// else about the card.
    pub(crate) fn card_fingerprints(
        &self,
        card: &CardData,
        mode: Mode,
    ) -> (Option<CardFingerprint>, Vec<CardFingerprint>) {
        let of = |derived: &Derived| CardFingerprint::of(&card.number, mode, derived.card.expose());
        (self.now().map(of), self.others().map(of).collect())
    }

    /// Returns the unguessable part of the addresses of a payment's pages. Returns `None` if this node may not derive
    /// new values.
    pub(crate) fn page_token(&self, id: TransactionId) -> Option<String> {
        let mut bytes = id.uuid().as_bytes().to_vec();
        bytes.extend(self.now()?.page_proof(id));
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns the payment of a page token, or `None` if none of the keys created it. The caller must compare it with
    /// the payment's own token, because old keys also create tokens for new payments.
    pub(crate) fn page_payment(&self, token: &str) -> Option<TransactionId> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (id, proof) = bytes.split_first_chunk::<16>()?;
        let id = TransactionId::new(Uuid::from_bytes(*id));
        let is_proven = self.held.iter().any(|derived| derived.page_proof(id).ct_eq(proof).into());
        is_proven.then_some(id)
    }

    /// Returns the id of a link that was requested with an idempotency key. The `Idempotency-Key` of a payment never
    /// contains a line break.
    pub(crate) fn link_id(&self, owner: &Owner, idempotency_key: &str) -> LinkId {
        LinkId::new(self.transaction_id(owner, &format!("link\n{idempotency_key}")).uuid())
    }

    /// Returns the unguessable part of the address of a link's page. Returns `None` if this node may not derive new
    /// values.
    pub(crate) fn link_token(&self, id: LinkId) -> Option<String> {
        let mut bytes = id.uuid().as_bytes().to_vec();
        bytes.extend(self.now()?.link_proof(id));
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns the link of a token, or `None` if none of the keys created the token.
    pub(crate) fn link_of(&self, token: &str) -> Option<LinkId> {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (id, proof) = bytes.split_first_chunk::<16>()?;
        let id = LinkId::new(Uuid::from_bytes(*id));
        let is_proven = self.held.iter().any(|derived| derived.link_proof(id).ct_eq(proof).into());
        is_proven.then_some(id)
    }

    /// Returns a number for one form on a link's page, derived from these random bytes. It proves that this service
    /// created the form.
    pub(crate) fn form_number(&self, link: LinkId, random: [u8; 16]) -> Option<String> {
        let mut bytes = random.to_vec();
        bytes.extend(self.now()?.form_proof(link, &random));
        Some(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Returns true if one of our keys created this number for a form of this link.
    pub(crate) fn is_form_number(&self, link: LinkId, number: &str) -> bool {
        let bytes = URL_SAFE_NO_PAD.decode(number).unwrap_or_default();
        let Some((random, proof)) = bytes.split_first_chunk::<16>() else { return false };
        self.held.iter().any(|derived| derived.form_proof(link, random).ct_eq(proof).into())
    }

    /// Returns the name under which events of a network are counted. It reveals nothing about the network.
    pub(crate) fn event_name(&self, what: &str, network: &str) -> String {
        hex(&mac(self.fingerprint(), &[b"quita page events 1", what.as_bytes(), b"\n", network.as_bytes()]))
    }

    /// Returns the secrets that sign a sandbox's notices: its own, or else those derived on every node, the current
    /// key's first.
    pub(crate) fn notification_secrets(
        &self,
        name: &AcquirerName,
        sandbox: &SandboxConfig,
    ) -> Vec<WebhookSecret> {
        if let Some(own) = &sandbox.notification_secret {
            return vec![own.clone()];
        }
        let of = |derived: &Derived| {
            WebhookSecret::from_bytes(mac(derived.notification.expose(), &[name.as_str().as_bytes()]))
        };
        self.now().into_iter().chain(self.others()).map(of).collect()
    }

    /// Returns the unguessable part of the address that a bank calls back, and the parts that it may still use. They
    /// are the same on every node.
    pub(crate) fn callback_tokens(&self, name: &AcquirerName, epoch: u32) -> CallbackTokens {
        let of = |derived: &Derived| derived.callback_token(name, epoch);
        // Without a current key, the newest one is used: every correctly configured node has it.
        let now = self.now().or(self.held.first()).map(of);
        CallbackTokens {
            now: now.unwrap_or_else(|| Secret::new(String::new())),
            others: self.others().map(of).collect(),
        }
    }

    /// Returns true if this node has the store's current key.
    pub(crate) fn has_key_of_now(&self) -> bool {
        self.now().is_some()
    }

    /// Returns the key that the store uses, if this node has it but these keys can't be used with that store.
    pub(crate) fn missing_in(&self, keys: &SecretKeys) -> Option<&SecretKeyId> {
        let current = self.now().map(|derived| &derived.id)?;
        (!keys.vault().opens(current)).then_some(current)
    }

    fn now(&self) -> Option<&Derived> {
        self.held.get(self.current.load(Ordering::Relaxed))
    }

    fn others(&self) -> impl Iterator<Item = &Derived> {
        let now = self.current.load(Ordering::Relaxed);
        self.held.iter().enumerate().filter(move |(place, _)| *place != now).map(|(_, derived)| derived)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn a_link_is_found_by_its_token_and_a_form_belongs_to_its_link() {
        let ring = keyring(&[OLD], OLD);
        let [link, other] = [1, 2].map(|number| LinkId::new(Uuid::from_u128(number)));
        let token = ring.link_token(link).unwrap();
        assert_eq!(ring.link_of(&token), Some(link));
        for wrong in ["", "AAAA", &ring.link_token(other).unwrap().replace('A', "B"), &token.to_lowercase()] {
            assert_eq!(ring.link_of(wrong), None, "{wrong}");
        }
        assert_eq!(ring.link_of(&ring.page_token(TransactionId::new(link.uuid())).unwrap()), None);
        let number = ring.form_number(link, [7; 16]).unwrap();
        assert!(ring.is_form_number(link, &number) && !ring.is_form_number(other, &number));
        assert!(!ring.is_form_number(link, "") && !ring.is_form_number(link, &token));
    }
    use quita_config::Config;
    use quita_config::settings::Settings;

    pub(super) const OLD: &str = "an-old-secret-key-that-is-long-enough";
    pub(super) const NEW: &str = "a-new-secret-key-that-is-long-enough!";

    fn keys(several: &[&str]) -> SecretKeys {
        let variable = ("QUITA_SECRET_KEY".into(), several.join("\n").into());
        Config::from_settings(Settings::gather([], [variable])).unwrap().secret_keys
    }

    pub(super) fn keyring(several: &[&str], current: &str) -> Keyring {
        let keys = keys(several);
        Keyring::new(&keys, keys.id_keys(), &SecretKeyId::of(current.as_bytes()))
    }

    fn id() -> TransactionId {
        TransactionId::new(Uuid::from_u128(7))
    }

    #[test]
    fn a_page_token_leads_to_its_payment_and_cannot_be_made_up() {
        let keyring = keyring(&[OLD], OLD);
        let token = keyring.page_token(id()).unwrap();
        assert_eq!(keyring.page_payment(&token), Some(id()));
        assert_eq!(self::keyring(&[NEW], NEW).page_payment(&token), None);
        for wrong in [
            "",
            "x",
            &token.replacen(|_: char| true, "B", 1),
            &format!("{token}A"),
            &URL_SAFE_NO_PAD.encode([7; 32]),
        ] {
            assert_eq!(keyring.page_payment(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_was_made_with_any_key_that_is_held_is_known() {
        let old = keyring(&[OLD], OLD);
        let both = keyring(&[NEW, OLD], NEW);
        let name = AcquirerName::new("bank");
        let token = old.page_token(id()).unwrap();
        assert_ne!(both.page_token(id()), Some(token.clone()));
        assert_eq!(both.page_payment(&token), Some(id()));
        let before = old.callback_tokens(&name, 1);
        let now = both.callback_tokens(&name, 1);
        assert_eq!(now.others.as_slice(), std::slice::from_ref(&before.now));
        assert_ne!(now.now, before.now);
    }

    #[test]
    fn new_things_are_made_with_the_key_that_the_store_names_and_not_with_the_newest() {
        let old = keyring(&[OLD], OLD);
        let both = keyring(&[NEW, OLD], OLD);
        assert_eq!(both.page_token(id()), old.page_token(id()));
        both.make_with(Some(&SecretKeyId::of(NEW.as_bytes())));
        assert_eq!(both.page_token(id()), keyring(&[NEW], NEW).page_token(id()));
    }

    #[test]
    fn keys_without_the_one_that_the_store_names_are_told() {
        let [old, new] = [OLD, NEW].map(|key| SecretKeyId::of(key.as_bytes()));
        let both = keyring(&[NEW, OLD], OLD);
        for (given, missing) in [(&[OLD][..], None), (&[NEW, OLD], None), (&[NEW], Some(&old))] {
            assert_eq!(both.missing_in(&keys(given)), missing, "{given:?}");
        }
        both.make_with(Some(&new));
        assert_eq!(both.missing_in(&keys(&[NEW])), None);
        assert_eq!(both.missing_in(&keys(&[OLD])), Some(&new));
        both.make_with(None);
        assert_eq!(both.missing_in(&keys(&[OLD])), None, "this node does not know which one it is");
    }

    #[test]
    fn a_node_without_the_key_of_now_makes_nothing_new_and_knows_what_was() {
        let keyring = keyring(&[OLD], OLD);
        let token = keyring.page_token(id()).unwrap();
        keyring.make_with(Some(&SecretKeyId::of(NEW.as_bytes())));
        assert_eq!(keyring.page_token(id()), None);
        assert_eq!(keyring.page_payment(&token), Some(id()));
    }
}
