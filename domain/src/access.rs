//! Access to the API: applications, API keys and their scopes.

mod endpoints;
mod origins;
mod signing;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::identity::{ApplicationName, MerchantId, Mode, Owner};
use crate::secret::Secret;
use crate::text::hex;
use crate::time::{DAY_MS, Timestamp};

pub use endpoints::Endpoints;
pub use origins::{BadOrigins, MAX_ORIGINS, Origins};
pub use signing::{MAX_LIVE_SECRETS, SECRET_OVERLAP_MS, SigningSecret, SigningSecrets, TooManySecrets};

/// A program of a merchant: it has API keys, and secrets that sign its webhooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Application {
    /// Merchant that owns it.
    pub merchant: MerchantId,
    /// Its name, unique within the merchant.
    pub name: ApplicationName,
    /// Its webhook secrets.
    pub secrets: SigningSecrets,
    /// Title for people, if it differs from the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// URLs that receive the events of payments that name none.
    #[serde(default, skip_serializing_if = "Endpoints::is_empty")]
    pub endpoints: Endpoints,
    /// Origins of the pages that may request tokens with its publishable keys.
    #[serde(default, skip_serializing_if = "Origins::is_empty")]
    pub origins: Origins,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl Application {
    /// Returns the title for people; the name if it has none.
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(self.name.as_str())
    }
}

/// Permission of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Scope {
    /// Create, cancel, capture, refund.
    #[serde(rename = "payments:write")]
    PaymentsWrite,
    /// Read and list payments and their events.
    #[serde(rename = "payments:read")]
    PaymentsRead,
    /// Read deliveries and redeliver.
    #[serde(rename = "webhooks")]
    Webhooks,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::PaymentsWrite, Self::PaymentsRead, Self::Webhooks];

    /// Returns the spelling of the command line and the errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PaymentsWrite => "payments:write",
            Self::PaymentsRead => "payments:read",
            Self::Webhooks => "webhooks",
        }
    }

    /// Reads the spelling of the command line.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text)
    }
}

/// Kind of an API key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// Key of a program, to be kept secret: `qk_test_…`, `qk_live_…`.
    #[default]
    Secret,
    /// Key of a page, which anyone may see: `qk_pub_test_…`, `qk_pub_live_…`. It can request card tokens and do nothing
    /// else.
    Publishable,
}

impl KeyKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Secret, Self::Publishable];

    /// Returns the prefix of keys of this kind and mode, up to the id.
    pub const fn prefix(self, mode: Mode) -> &'static str {
        match (self, mode) {
            (Self::Secret, Mode::Test) => "qk_test_",
            (Self::Secret, Mode::Live) => "qk_live_",
            (Self::Publishable, Mode::Test) => "qk_pub_test_",
            (Self::Publishable, Mode::Live) => "qk_pub_live_",
        }
    }

    /// Returns every kind and mode with the prefix of its keys.
    pub fn prefixes() -> impl Iterator<Item = (Self, Mode, &'static str)> {
        let of = |kind: Self| [Mode::Test, Mode::Live].map(|mode| (kind, mode, kind.prefix(mode)));
        Self::ALL.into_iter().flat_map(of)
    }

    fn is_secret(&self) -> bool {
        *self == Self::Secret
    }
}

/// Time before a key's end at which warnings begin.
pub const KEY_WARNING_MS: u64 = 30 * DAY_MS;

/// Age from which a key should be replaced (PCI DSS 4.0.1, 8.6.3): the default lifetime of a key.
pub const KEY_OLD_AFTER_MS: u64 = 365 * DAY_MS;

/// An API key as it is stored: never the secret, only its SHA-256.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApiKey {
    /// The part before the secret: 16 hexadecimal digits.
    pub id: String,
    /// Secret or publishable.
    #[serde(default, skip_serializing_if = "KeyKind::is_secret")]
    pub kind: KeyKind,
    /// Owner for whom it acts.
    pub owner: Owner,
    /// SHA-256 of the secret part, in hexadecimal.
    pub secret_hash: String,
    /// Its permissions.
    pub scopes: Vec<Scope>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Creator, who was shown the secret: a user's e-mail address, `command line` or `first start`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// Time at which it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Time at which it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Time at which it was first sent by a browser, although it is secret. It is compromised from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed_at: Option<Timestamp>,
    /// Time of the last use, to the minute or so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

impl ApiKey {
    /// Returns the key up to its secret, which identifies it for people.
    pub fn beginning(&self) -> String {
        format!("{}{}", self.kind.prefix(self.owner.mode), self.id)
    }

    /// Returns true if it still works although a browser has exposed it.
    pub fn is_exposed(&self, now: Timestamp) -> bool {
        self.exposed_at.is_some() && self.is_live(now)
    }

    /// Returns true if it is valid at this time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| at > now)
    }

    /// Returns the time at which it ends or ended: the revocation or the expiry, whichever is first.
    pub fn ended_at(&self) -> Option<Timestamp> {
        self.revoked_at.into_iter().chain(self.expires_at).min()
    }

    /// Returns the time at which it ends, if it is valid and the end is near enough for a warning.
    pub fn ends_soon(&self, now: Timestamp) -> Option<Timestamp> {
        self.expires_at.filter(|at| self.is_live(now) && *at <= now.plus_ms(KEY_WARNING_MS))
    }

    /// Returns its age.
    pub fn age_ms(&self, now: Timestamp) -> u64 {
        now.ms_since(self.created_at)
    }

    /// Returns true if it works, is secret, and is so old that it should be replaced.
    pub fn is_old(&self, now: Timestamp) -> bool {
        self.kind == KeyKind::Secret && self.is_live(now) && self.age_ms(now) >= KEY_OLD_AFTER_MS
    }

    /// Returns true if `presented` is this key. Takes constant time, regardless of where they differ.
    pub fn matches(&self, presented: &PresentedKey) -> bool {
        let hash = hash(presented.secret.expose());
        // In constant time, so that response times reveal nothing about the stored hash.
        let same: bool = hash.as_bytes().ct_eq(self.secret_hash.as_bytes()).into();
        same && presented.mode == self.owner.mode && presented.kind == self.kind
    }
}

/// A key as a caller presents it: `qk_test_KEYID_SECRET`, or `qk_pub_test_KEYID_SECRET` if it is publishable.
#[derive(Debug, Clone)]
pub struct PresentedKey {
    /// Secret or publishable, by its prefix.
    pub kind: KeyKind,
    /// Test or live, by its prefix.
    pub mode: Mode,
    /// Its id.
    pub id: String,
    secret: Secret<String>,
}

/// Bytes of randomness in a key's secret.
pub const KEY_SECRET_BYTES: usize = 32;
/// Bytes of randomness in a key's id.
pub const KEY_ID_BYTES: usize = 8;

impl PresentedKey {
    /// Creates a key from random bytes.
    pub fn from_random(
        kind: KeyKind,
        mode: Mode,
        id: [u8; KEY_ID_BYTES],
        secret: [u8; KEY_SECRET_BYTES],
    ) -> Self {
        let id = hex(&id);
        Self { kind, mode, id, secret: Secret::new(URL_SAFE_NO_PAD.encode(secret)) }
    }

    /// Reads a key. `None` for anything that this service can't have issued.
    pub fn parse(text: &str) -> Option<Self> {
        let known = |(kind, mode, prefix)| Some((kind, mode, text.strip_prefix(prefix)?));
        let (kind, mode, rest) = KeyKind::prefixes().find_map(known)?;
        let (id, secret) = rest.split_once('_')?;
        let is_id = id.len() == KEY_ID_BYTES * 2 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_secret = URL_SAFE_NO_PAD.decode(secret).is_ok_and(|bytes| bytes.len() == KEY_SECRET_BYTES);
        (is_id && is_secret).then(|| Self { kind, mode, id: id.into(), secret: Secret::new(secret.into()) })
    }

    /// Returns the whole key in clear text, to be shown once.
    pub fn reveal(&self) -> String {
        format!("{}{}_{}", self.kind.prefix(self.mode), self.id, self.secret.expose())
    }

    /// Returns the hash to be stored.
    pub fn secret_hash(&self) -> String {
        hash(self.secret.expose())
    }
}

fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(presented: &PresentedKey) -> ApiKey {
        ApiKey {
            id: presented.id.clone(),
            kind: presented.kind,
            owner: Owner {
                merchant: MerchantId::new("demo"),
                application: ApplicationName::new("default"),
                mode: presented.mode,
            },
            secret_hash: presented.secret_hash(),
            scopes: Scope::ALL.to_vec(),
            created_at: Timestamp::default(),
            made_by: None,
            expires_at: None,
            revoked_at: None,
            exposed_at: None,
            last_used_at: None,
        }
    }

    #[test]
    fn a_key_reads_back_and_matches_only_itself() {
        let presented = PresentedKey::from_random(KeyKind::Secret, Mode::Test, [1; 8], [0xfb; 32]);
        let text = presented.reveal();
        assert!(text.starts_with("qk_test_0101010101010101_"), "{text}");
        let again = PresentedKey::parse(&text).unwrap();
        assert!(key(&presented).matches(&again));
        let other = PresentedKey::from_random(KeyKind::Secret, Mode::Test, [1; 8], [0xfa; 32]);
        assert!(!key(&presented).matches(&other));
        let live = PresentedKey::parse(&text.replace("test", "live")).unwrap();
        assert!(!key(&presented).matches(&live));
    }

    #[test]
    fn a_publishable_key_is_no_secret_key() {
        let of = |kind: KeyKind| PresentedKey::from_random(kind, Mode::Live, [1; 8], [2; 32]);
        let text = of(KeyKind::Publishable).reveal();
        assert!(text.starts_with("qk_pub_live_0101010101010101_"), "{text}");
        let again = PresentedKey::parse(&text).unwrap();
        assert_eq!((again.kind, again.mode), (KeyKind::Publishable, Mode::Live));
        assert!(key(&of(KeyKind::Publishable)).matches(&again));
        assert!(!key(&of(KeyKind::Secret)).matches(&again), "its id and secret are the same");
        assert!(PresentedKey::parse(&text.replace("pub_live", "pub_prod")).is_none());
    }

    #[test]
    fn what_is_not_a_key_is_refused() {
        for text in
            ["", "qk_", "qk_test_", "qk_test_0101010101010101_", "qk_prod_0101010101010101_AAAA", "Bearer x"]
        {
            assert!(PresentedKey::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_key_stops_at_its_expiry_and_when_revoked() {
        let at = Timestamp::from_millis(1_000);
        let mut key = key(&PresentedKey::from_random(KeyKind::Secret, Mode::Test, [1; 8], [2; 32]));
        assert!(key.is_live(at));
        key.expires_at = Some(at);
        assert!(!key.is_live(at) && key.is_live(Timestamp::from_millis(999)));
        key.expires_at = None;
        key.revoked_at = Some(at);
        assert!(!key.is_live(at));
    }

    #[test]
    fn a_secret_key_is_old_after_a_year_while_it_works() {
        let year = Timestamp::from_millis(365 * 86_400_000);
        let of = |kind: KeyKind| key(&PresentedKey::from_random(kind, Mode::Live, [1; 8], [2; 32]));
        let mut secret = of(KeyKind::Secret);
        assert!(secret.is_old(year) && !secret.is_old(year.minus_ms(1)));
        assert!(!of(KeyKind::Publishable).is_old(year), "it is no secret");
        secret.revoked_at = Some(year);
        assert!(!secret.is_old(year));
    }

    #[test]
    fn a_key_is_warned_of_for_thirty_days_before_its_end_while_it_works() {
        let end = Timestamp::from_millis(100 * 86_400_000);
        let mut key = key(&PresentedKey::from_random(KeyKind::Secret, Mode::Test, [1; 8], [2; 32]));
        let days_before = |days: i64| Timestamp::from_millis(end.millis() - days * 86_400_000);
        assert_eq!(key.ends_soon(days_before(1)), None, "it never ends");
        key.expires_at = Some(end);
        assert_eq!(
            [31, 30, 1, 0].map(|days| key.ends_soon(days_before(days)).is_some()),
            [false, true, true, false]
        );
        key.revoked_at = Some(days_before(9));
        assert_eq!(key.ends_soon(days_before(1)), None);
    }
}
