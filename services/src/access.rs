//! Merchants' applications, their API keys and webhook secrets.

mod applications;
mod ending;
mod last_uses;
mod origins;
mod reach;
mod short_cache;
#[cfg(test)]
pub mod tests;
mod verifier;

use std::sync::Arc;
use std::time::Duration;

use crate::secret_keys::{SecretKeyError, Strongbox};
use quita_domain::access::{
    ApiKey, Application, Endpoints, KeyKind, Origins, PresentedKey, Scope, SigningSecret, SigningSecrets,
    TooManySecrets,
};
use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
use quita_domain::secret::Secret;
use quita_domain::secret_key::SecretPlace;
use quita_domain::text::hex;
use quita_domain::time::{DAY_MS, Timestamp, millis_in};
use quita_domain::webhook::signature::WebhookSecret;
use quita_machine::{NoRandomness, random_bytes};
use quita_ports::{Clock, KeyringStore, StoreError};
use sha2::{Digest, Sha256};
use thiserror::Error;

pub use applications::{ApplicationReader, until_read_everywhere};
pub use ending::{EndingKeyCount, EndingKeys};
pub use origins::KnownOrigins;
pub use reach::{origins_in_words, url_in_words};
pub use verifier::bearer;
pub use verifier::{AccessError, Caller, EndedKey, KeyVerifier};

use crate::audit::Initiator;

/// Application of a merchant that named none.
pub const DEFAULT_APPLICATION: &str = "default";

/// Name recorded as the creator of the keys and secrets of the first start.
const FIRST_START: &str = "first start";

/// Merchant that the first start in development creates.
pub const DEMO_MERCHANT: &str = "demo";

/// Default lifetime of a key.
pub const DEFAULT_KEY_LIFE: Duration = Duration::from_secs(365 * 86_400);

/// Time for which a key still works after its successor was created.
const KEY_OVERLAP_MS: u64 = DAY_MS;

/// Maximum number of keys of one application that may work at one time. Each key may send as many requests as the rate
/// limit allows.
const MAX_APPLICATION_KEYS: usize = 100;

/// Maximum number of keys of one merchant that work, or have worked within [`COUNTED_FOR_MS`]. This also bounds
/// repeated creation and revocation.
const MAX_MERCHANT_KEYS: usize = 1_000;

/// Time for which a key that ended still counts among its merchant's.
const COUNTED_FOR_MS: u64 = 30 * DAY_MS;

/// Lost races in a row after which a change is given up.
const MAX_RACES: usize = 8;

/// Management of keys and secrets: creates, lists, revokes, shows, rotates.
#[derive(Clone)]
pub struct Access {
    store: Arc<dyn KeyringStore>,
    strongbox: Strongbox,
    clock: Arc<dyn Clock>,
    /// Name of the person who creates keys and secrets.
    who: String,
}

/// Webhook secret in clear text, with the time until which it signs.
pub struct OpenSecret {
    /// `whsec_…`
    pub secret: Secret<String>,
    /// Time at which it stops signing. If absent, never.
    pub expires_at: Option<Timestamp>,
}

/// Terms of a new key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    /// Owner for whom it acts. The application is created if it is missing.
    pub owner: Owner,
    /// Secret or publishable.
    pub kind: KeyKind,
    /// Scopes of the key; a publishable one has none.
    pub scopes: Vec<Scope>,
    /// Time after which it stops working. If absent, never.
    pub expires_in: Option<Duration>,
}

/// Reason why a request was not carried out.
#[derive(Debug, Clone, Error)]
pub enum ManageError {
    /// The store failed.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// No secret could be generated.
    #[error("{0}")]
    NoRandomness(#[from] NoRandomness),
    /// There is no such key.
    #[error("there is no key with the id {0:?}; `quita keys list` shows them all")]
    NoSuchKey(String),
    /// The key ends before its overlap with a successor would.
    #[error("the key {0:?} expires within a day; create a new one instead")]
    EndsSoon(String),
    /// The application has as many working keys as it may.
    #[error(
        "application {0:?} has {MAX_APPLICATION_KEYS} active keys, which is the maximum; revoke unused ones"
    )]
    TooManyKeys(String),
    /// The merchant has as many keys as it may that work or ended within 30 days.
    #[error(
        "merchant {0:?} has {MAX_MERCHANT_KEYS} keys that are active, or that expired or were revoked within 30 days, \
         which is the maximum; revoke unused ones, and create no more for now"
    )]
    TooManyMerchantKeys(String),
    /// The maximum number of secrets of that mode is in use.
    #[error("{0}")]
    TooManySecrets(#[from] TooManySecrets),
    /// The newest secret is no longer the one to be replaced.
    #[error("the secret was rotated meanwhile")]
    RotatedMeanwhile,
    /// A secret can't be sealed or opened: the right secret key is missing.
    #[error("{0}")]
    SecretKey(#[from] SecretKeyError),
    /// The merchant has no such application.
    #[error(
        "merchant {merchant:?} has no application {application:?}; `quita keys create --merchant …` makes it"
    )]
    NoSuchApplication {
        /// Merchant of the application.
        merchant: String,
        /// Name of the application.
        application: String,
    },
    /// Other writers kept changing the application.
    #[error("the application was changed by others {MAX_RACES} times in a row; try again")]
    Raced,
}

impl Access {
    /// Works on this store. An `Arc` of a whole store coerces to an `Arc<dyn KeyringStore>`.
    pub fn new(store: Arc<dyn KeyringStore>, strongbox: Strongbox, clock: Arc<dyn Clock>) -> Self {
        Self { store, strongbox, clock, who: Initiator::COMMAND_LINE.into() }
    }

    /// Works on behalf of a person, whose name is stored with each key and secret created, because that person is shown
    /// it.
    #[must_use]
    pub fn by(&self, who: impl Into<String>) -> Self {
        Self { who: who.into(), ..self.clone() }
    }

    /// Creates a key, and the application with its first webhook secrets if it is missing.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoRandomness`], [`ManageError::TooManyKeys`],
    /// [`ManageError::TooManyMerchantKeys`].
    pub async fn create_key(&self, wanted: NewKey) -> Result<PresentedKey, ManageError> {
        let now = self.clock.now();
        self.refuse_too_many_keys(&wanted.owner, now).await?;
        self.ensure_application(&wanted.owner).await?;
        let presented = {
            let kind = wanted.kind;
            let mode = wanted.owner.mode;
            PresentedKey::from_random(kind, mode, random_bytes()?, random_bytes()?)
        };
        let expires_in_ms = wanted.expires_in.map(millis_in);
        let key = ApiKey {
            id: presented.id.clone(),
            kind: presented.kind,
            secret_hash: presented.secret_hash(),
            owner: wanted.owner,
            scopes: wanted.scopes,
            created_at: now,
            made_by: Some(self.who.clone()),
            expires_at: expires_in_ms.map(|ms| now.plus_ms(ms)),
            revoked_at: None,
            exposed_at: None,
            last_used_at: None,
        };
        self.store.insert_key(&key).await?;
        Ok(presented)
    }

    /// Creates merchant `demo` with a test key if there is no key at all, at the first start in development.
    ///
    /// # Errors
    /// As [`Access::create_key`].
    pub async fn create_demo_if_empty(&self) -> Result<Option<PresentedKey>, ManageError> {
        if !self.store.keys().await?.is_empty() {
            return Ok(None);
        }
        let owner = Owner {
            merchant: MerchantId::new(DEMO_MERCHANT),
            application: ApplicationName::new(DEFAULT_APPLICATION),
            mode: Mode::Test,
        };
        let kind = KeyKind::Secret;
        let scopes = Scope::ALL.to_vec();
        let wanted = NewKey { owner, kind, scopes, expires_in: Some(DEFAULT_KEY_LIFE) };
        self.by(FIRST_START).create_key(wanted).await.map(Some)
    }

    /// Returns every key, oldest first.
    ///
    /// # Errors
    /// [`ManageError::Store`].
    pub async fn keys(&self) -> Result<Vec<ApiKey>, ManageError> {
        Ok(self.store.keys().await?)
    }

    /// Returns a merchant's keys, oldest first.
    ///
    /// # Errors
    /// [`ManageError::Store`].
    pub async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, ManageError> {
        Ok(self.store.keys_of(merchant).await?)
    }

    /// Returns the key with this id, if it belongs to this merchant.
    ///
    /// # Errors
    /// [`ManageError::NoSuchKey`] for another merchant's too, [`ManageError::Store`].
    pub async fn key_of(&self, merchant: &MerchantId, id: &str) -> Result<ApiKey, ManageError> {
        let key = self.store.key(id).await?.filter(|key| key.owner.merchant == *merchant);
        key.ok_or_else(|| ManageError::NoSuchKey(id.into()))
    }

    /// Creates a successor of a key, with the same owner, scopes and lifetime. The old key still works for a day, so
    /// that programs can switch over.
    ///
    /// # Errors
    /// [`ManageError::NoSuchKey`] if it is not this merchant's or no longer works, [`ManageError::EndsSoon`], and as
    /// [`Access::create_key`].
    pub async fn rotate_key(&self, merchant: &MerchantId, id: &str) -> Result<PresentedKey, ManageError> {
        let now = self.clock.now();
        let key = self.key_of(merchant, id).await?;
        if !key.is_live(now) {
            return Err(ManageError::NoSuchKey(id.into()));
        }
        let overlap_ends = now.plus_ms(KEY_OVERLAP_MS);
        // This covers a key that was already rotated: its original lifetime is no longer known.
        if key.expires_at.is_some_and(|at| at <= overlap_ends) {
            return Err(ManageError::EndsSoon(id.into()));
        }
        let life = key.expires_at.map(|at| Duration::from_millis(at.ms_since(key.created_at)));
        let wanted = NewKey { owner: key.owner, kind: key.kind, scopes: key.scopes, expires_in: life };
        let successor = self.create_key(wanted).await?;
        self.store.limit_key(id, overlap_ends).await?;
        Ok(successor)
    }

    /// Returns a merchant's applications, by name.
    ///
    /// # Errors
    /// [`ManageError::Store`].
    pub async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, ManageError> {
        Ok(self.store.applications(merchant).await?)
    }

    /// Creates an application with its first webhook secret of each mode. Returns false if the name is taken.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoRandomness`].
    pub async fn create_application(
        &self,
        merchant: MerchantId,
        name: ApplicationName,
    ) -> Result<bool, ManageError> {
        let [test, live] = [Mode::Test, Mode::Live].map(|mode| SecretPlace::webhook(&merchant, &name, mode));
        let secrets = SigningSecrets::new(self.fresh_secret(&test).await?, self.fresh_secret(&live).await?);
        let created_at = self.clock.now();
        let application = Application {
            merchant,
            name,
            secrets,
            title: None,
            endpoints: Endpoints::default(),
            origins: Origins::default(),
            created_at,
        };
        Ok(self.store.insert_application(&application).await?)
    }

    /// Gives an application another title, and returns the previous one. Its name, which payments and keys carry, does
    /// not change.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchApplication`], [`ManageError::Raced`].
    pub async fn rename_application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        title: &str,
    ) -> Result<String, ManageError> {
        let set_title = |application: &mut Application| {
            application.title = Some(title.to_owned()).filter(|title| title != name.as_str());
        };
        Ok(self.change(merchant, name, set_title).await?.title().to_owned())
    }

    /// Sets the URL that receives the events of an application's payments that name none, in the mode of the owner.
    /// Returns the previous one. The caller must check the URL. Existing payments keep theirs.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchApplication`], [`ManageError::Raced`].
    pub async fn set_endpoint(
        &self,
        owner: &Owner,
        url: Option<String>,
    ) -> Result<Option<String>, ManageError> {
        let set = |application: &mut Application| application.endpoints.set(owner.mode, url.clone());
        let before = self.change(&owner.merchant, &owner.application, set).await?;
        Ok(before.endpoints.of(owner.mode).map(str::to_owned))
    }

    /// Sets the origins of the pages that may request tokens with the publishable keys of an application. Returns the
    /// previous ones.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchApplication`], [`ManageError::Raced`].
    pub async fn set_origins(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        origins: &Origins,
    ) -> Result<Origins, ManageError> {
        let set = |application: &mut Application| application.origins = origins.clone();
        Ok(self.change(merchant, name, set).await?.origins)
    }

    /// Changes an application, and returns it as it was before.
    async fn change(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        change: impl Fn(&mut Application),
    ) -> Result<Application, ManageError> {
        for _ in 0..MAX_RACES {
            let before = self.application(merchant, name).await?;
            let mut after = before.clone();
            change(&mut after);
            if after == before || self.store.replace_application(&before, &after).await? {
                return Ok(before);
            }
        }
        Err(ManageError::Raced)
    }

    /// Revokes a key and returns it. The key stops working within 5 s on every node.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchKey`].
    pub async fn revoke_key(&self, id: &str) -> Result<ApiKey, ManageError> {
        self.store.revoke_key(id, self.clock.now()).await?;
        let key = self.store.key(id).await?;
        key.ok_or_else(|| ManageError::NoSuchKey(id.into()))
    }

    /// Returns the webhook secrets that sign in this mode now, newest first.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchApplication`].
    pub async fn secrets(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        mode: Mode,
    ) -> Result<Vec<String>, ManageError> {
        let application = self.application(merchant, name).await?;
        self.live_secrets(&application, mode, self.clock.now())
    }

    /// Returns an application's secrets that sign in this mode now, newest first, with their expiry times.
    ///
    /// # Errors
    /// [`ManageError::SecretKey`].
    pub fn open_secrets(
        &self,
        application: &Application,
        mode: Mode,
        now: Timestamp,
    ) -> Result<Vec<OpenSecret>, ManageError> {
        let place = SecretPlace::webhook(&application.merchant, &application.name, mode);
        let open = |stored: &SigningSecret| {
            let secret = self.strongbox.open(&stored.secret, &place)?;
            Ok(OpenSecret { secret, expires_at: stored.expires_at })
        };
        application.secrets.live(mode, now).map(open).collect()
    }

    /// Creates a new webhook secret for this mode. Each earlier one still signs for a day after it was replaced.
    /// Returns those that sign, newest first.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchApplication`], [`ManageError::NoRandomness`],
    /// [`ManageError::TooManySecrets`], [`ManageError::Raced`].
    pub async fn rotate_secret(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        mode: Mode,
    ) -> Result<Vec<String>, ManageError> {
        self.replace_secret(merchant, name, mode, |_| Ok(())).await
    }

    /// Rotates as [`Access::rotate_secret`], but only while `newest` is the newest. A form that is sent twice rotates
    /// once.
    ///
    /// # Errors
    /// As [`Access::rotate_secret`], and [`ManageError::RotatedMeanwhile`].
    pub async fn rotate_secret_after(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        mode: Mode,
        newest: &str,
    ) -> Result<Vec<String>, ManageError> {
        let is_newest = |live: &[String]| live.first().is_some_and(|secret| fingerprint(secret) == newest);
        let check = |live: &[String]| is_newest(live).then_some(()).ok_or(ManageError::RotatedMeanwhile);
        self.replace_secret(merchant, name, mode, check).await
    }

    async fn replace_secret(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
        mode: Mode,
        check: impl Fn(&[String]) -> Result<(), ManageError>,
    ) -> Result<Vec<String>, ManageError> {
        for _ in 0..MAX_RACES {
            let before = self.application(merchant, name).await?;
            let now = self.clock.now();
            check(&self.live_secrets(&before, mode, now)?)?;
            let mut after = before.clone();
            let fresh = self.fresh_secret(&SecretPlace::webhook(merchant, name, mode)).await?;
            after.secrets.rotate(mode, fresh, now)?;
            if self.store.replace_application(&before, &after).await? {
                return self.live_secrets(&after, mode, now);
            }
        }
        Err(ManageError::Raced)
    }

    /// Returns the application of this name.
    ///
    /// # Errors
    /// [`ManageError::Store`], [`ManageError::NoSuchApplication`].
    pub async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Application, ManageError> {
        let application = self.store.application(merchant, name).await?;
        application.ok_or_else(|| ManageError::NoSuchApplication {
            merchant: merchant.as_str().into(),
            application: name.as_str().into(),
        })
    }

    /// Refuses a new key if the application or the merchant has too many.
    async fn refuse_too_many_keys(&self, owner: &Owner, now: Timestamp) -> Result<(), ManageError> {
        // Concurrent callers may together exceed the limits, by at most their number.
        let keys = self.store.keys_of(&owner.merchant).await?;
        let of_application = keys.iter().filter(|key| key.owner.application == owner.application);
        if of_application.filter(|key| key.is_live(now)).count() >= MAX_APPLICATION_KEYS {
            return Err(ManageError::TooManyKeys(owner.application.as_str().into()));
        }
        let since = now.minus_ms(COUNTED_FOR_MS);
        let recent = keys.iter().filter(|key| key.ended_at().is_none_or(|ended| ended > since));
        if recent.count() >= MAX_MERCHANT_KEYS {
            return Err(ManageError::TooManyMerchantKeys(owner.merchant.as_str().into()));
        }
        Ok(())
    }

    async fn ensure_application(&self, owner: &Owner) -> Result<(), ManageError> {
        if self.store.application(&owner.merchant, &owner.application).await?.is_some() {
            return Ok(());
        }
        // If another process was faster, its application will do.
        self.create_application(owner.merchant.clone(), owner.application.clone()).await?;
        Ok(())
    }

    fn live_secrets(
        &self,
        application: &Application,
        mode: Mode,
        now: Timestamp,
    ) -> Result<Vec<String>, ManageError> {
        let open = self.open_secrets(application, mode, now)?;
        Ok(open.into_iter().map(|open| open.secret.expose().clone()).collect())
    }

    async fn fresh_secret(&self, place: &SecretPlace) -> Result<SigningSecret, ManageError> {
        let bytes: [u8; WebhookSecret::BYTES] = random_bytes()?;
        let secret = Secret::new(WebhookSecret::from_bytes(bytes.to_vec()).reveal());
        Ok(SigningSecret::from(self.strongbox.seal(&secret, place).await?).made_by(&self.who))
    }
}

/// Returns a hash that distinguishes secrets and reveals nothing of them.
pub fn fingerprint(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}
