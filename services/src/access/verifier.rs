//! Authentication of callers by the `Authorization` header.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use quita_domain::access::{ApiKey, KeyKind, PresentedKey, Scope};
use quita_domain::identity::Owner;
use quita_domain::time::Timestamp;
use quita_ports::{Clock, KeyringStore, StoreError};
use thiserror::Error;
use tokio::time::Instant;

use super::last_uses::LastUses;
use super::short_cache::ShortCache;
use crate::limiter::{Limiter, Pace};
use crate::network::network_of;
use crate::refused_requests::{RefusedRequest, RefusedRequests};

/// Rate at which one network may cause lookups of keys that this node has not seen.
///
/// After a start, many of a platform's shops may call from one address. A stranger who guesses keys costs the store no
/// more than they do.
const UNSEEN: Pace = Pace { burst: 500, period: Duration::from_millis(20) };

/// Authenticated caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Owner for whom it acts.
    pub owner: Owner,
    /// Id of the key that it used.
    pub key_id: String,
    /// Secret or publishable.
    pub kind: KeyKind,
    /// Scopes of the key.
    pub scopes: Vec<Scope>,
    /// Expiry of the key, if it is soon.
    pub ends_soon: Option<Timestamp>,
}

impl Caller {
    /// Returns true if the caller has this scope.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

/// Key that is no longer valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedKey {
    /// Owner of the key.
    pub owner: Owner,
    /// Id of the key.
    pub key_id: String,
    /// True if it was revoked; otherwise it has expired.
    pub is_revoked: bool,
}

/// Reason why a caller was not authenticated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AccessError {
    /// Not a Bearer header, a key that is unknown, or a wrong secret.
    #[error("invalid or missing API key")]
    Invalid,
    /// The right secret of a key that was revoked or has expired. Its caller learns no more than for another wrong key;
    /// its merchant may.
    #[error("invalid or missing API key")]
    Ended(EndedKey),
    /// Too many unseen keys came from this network. Holds the seconds until one more is allowed.
    #[error("too many unknown API keys from this network")]
    TooMany(u64),
    /// The key could not be looked up.
    #[error("{0}")]
    StoreUnavailable(#[from] StoreError),
}

/// Verifier of keys against the store, with a short-lived cache of those that exist.
pub struct KeyVerifier {
    store: Arc<dyn KeyringStore>,
    clock: Arc<dyn Clock>,
    kept: ShortCache<String, Arc<ApiKey>>,
    unseen: Limiter<IpAddr>,
    last_uses: LastUses,
    refused: Arc<RefusedRequests>,
}

impl KeyVerifier {
    /// Verifies against this store.
    pub fn new(store: Arc<dyn KeyringStore>, clock: Arc<dyn Clock>) -> Self {
        let unseen = Limiter::new(UNSEEN);
        let last_uses = LastUses::default();
        Self { store, clock, kept: ShortCache::default(), unseen, last_uses, refused: Arc::default() }
    }

    /// Counts refused callers here.
    #[must_use]
    pub fn with_refused(self, refused: Arc<RefusedRequests>) -> Self {
        Self { refused, ..self }
    }

    /// Returns the counter of refused callers.
    pub fn refused(&self) -> &RefusedRequests {
        &self.refused
    }

    /// Authenticates the caller that presents this value of `Authorization` from this address.
    ///
    /// # Errors
    /// [`AccessError::Invalid`] and [`AccessError::Ended`] for a 401, [`AccessError::TooMany`] for a 429, [`AccessError::StoreUnavailable`] for a
    /// 503.
    pub async fn verify(&self, authorization: &str, from: IpAddr) -> Result<Caller, AccessError> {
        let presented = bearer(authorization).and_then(PresentedKey::parse);
        let Some(presented) = presented else {
            self.refused.count(RefusedRequest::NoKey);
            return Err(AccessError::Invalid);
        };
        // A caller with a cached key is not slowed down by a neighbour who guesses.
        if !self.kept.contains(&presented.id) {
            self.unseen.count(&network_of(from)).map_err(AccessError::TooMany)?;
        }
        let Some(key) = self.key(&presented.id).await? else {
            self.refused.count(RefusedRequest::UnknownKey);
            return Err(AccessError::Invalid);
        };
        let now = self.clock.now();
        if let Some(why) = refusal(&key, &presented, now) {
            self.refused.count_key(why, &key.id);
            return Err(if why == RefusedRequest::WrongSecret { AccessError::Invalid } else { ended(&key) });
        }
        self.last_uses.note(&key.id, now);
        Ok(Caller {
            owner: key.owner.clone(),
            key_id: key.id.clone(),
            kind: key.kind,
            scopes: key.scopes.clone(),
            ends_soon: key.ends_soon(now),
        })
    }

    /// Stores when keys were last used. To be called periodically.
    ///
    /// # Errors
    /// Fails if the store does not answer. Nothing is lost: it is stored the next time.
    pub async fn store_last_uses(&self) -> Result<(), StoreError> {
        self.last_uses.store(self.store.as_ref()).await
    }

    async fn key(&self, id: &str) -> Result<Option<Arc<ApiKey>>, StoreError> {
        if let Some(key) = self.kept.recall(id) {
            return Ok(Some(key));
        }
        let asked_at = Instant::now();
        match self.store.key(id).await {
            Ok(Some(key)) => {
                let key = Arc::new(key);
                self.kept.keep(id.into(), Arc::clone(&key), asked_at);
                Ok(Some(key))
            }
            Ok(None) => {
                self.kept.forget(id);
                Ok(None)
            }
            Err(error) => self.kept.kept(id).map(Some).ok_or(error),
        }
    }
}

/// Returns the reason why an existing key does not admit the caller. The caller does not learn it.
fn refusal(key: &ApiKey, presented: &PresentedKey, now: Timestamp) -> Option<RefusedRequest> {
    if !key.matches(presented) {
        return Some(RefusedRequest::WrongSecret);
    }
    if key.is_live(now) {
        return None;
    }
    let is_revoked = key.revoked_at.is_some();
    Some(if is_revoked { RefusedRequest::RevokedKey } else { RefusedRequest::ExpiredKey })
}

fn ended(key: &ApiKey) -> AccessError {
    let owner = key.owner.clone();
    let key_id = key.id.clone();
    let is_revoked = key.revoked_at.is_some();
    AccessError::Ended(EndedKey { owner, key_id, is_revoked })
}

/// Returns the key in a value of `Authorization`, if its scheme is Bearer. The scheme's name is case-insensitive (RFC
/// 9110, section 11.1).
pub fn bearer(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim_start())
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use quita_domain::access::KeyKind;
    use quita_domain::identity::{ApplicationName, MerchantId, Mode};
    use quita_embedded::EmbeddedStore;
    use rusqlite::Connection;
    use tempfile::TempDir;
    use tokio::time::advance;

    use super::super::short_cache::{KEPT_FOR, MAX_KEPT};
    use super::super::{Access, NewKey};
    use super::*;
    use quita_memory_store::HandClock;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    struct Setting {
        verifier: KeyVerifier,
        access: Access,
        clock: Arc<HandClock>,
        header: String,
        key_id: String,
        folder: TempDir,
    }

    impl Setting {
        /// Takes the keys away from the store, or gives them back.
        fn set_down(&self, is_down: bool) {
            let (from, to) = if is_down { ("api_keys", "away") } else { ("away", "api_keys") };
            let meddler = Connection::open(self.folder.path().join("quita.db")).unwrap();
            meddler.execute_batch(&format!("ALTER TABLE {from} RENAME TO {to}")).unwrap();
        }

        /// Returns the refusal of the right secret of this key, once it has ended.
        fn ended(&self, is_revoked: bool) -> AccessError {
            let owner = self.verifier.kept.kept(self.key_id.as_str()).unwrap().owner.clone();
            AccessError::Ended(EndedKey { owner, key_id: self.key_id.clone(), is_revoked })
        }

        /// Counts the callers out of a hundred that would look the key up now.
        fn lookups_of_a_hundred(&self) -> usize {
            (0..100).filter(|_| self.verifier.kept.recall(self.key_id.as_str()).is_none()).count()
        }
    }

    async fn setting() -> Setting {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
        let clock = Arc::new(HandClock::default());
        let access = Access::new(store.clone(), super::super::tests::strongbox(store.clone()), clock.clone());
        let owner = Owner {
            merchant: MerchantId::new("acme"),
            application: ApplicationName::new("shop"),
            mode: Mode::Test,
        };
        let expires_in = Some(Duration::from_secs(60));
        let wanted = NewKey { owner, kind: KeyKind::Secret, scopes: vec![Scope::PaymentsRead], expires_in };
        let key = access.create_key(wanted).await.unwrap();
        let verifier = KeyVerifier::new(store.clone(), clock.clone());
        let header = format!("Bearer {}", key.reveal());
        Setting { verifier, access, clock, header, key_id: key.id, folder }
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_tells_who_calls_and_what_it_may() {
        let set = setting().await;
        let caller = set.verifier.verify(&set.header, HERE).await.unwrap();
        assert_eq!((caller.owner.merchant.as_str(), &caller.key_id), ("acme", &set.key_id));
        assert!(caller.may(Scope::PaymentsRead) && !caller.may(Scope::PaymentsWrite));
        let shouted = set.header.replace("Bearer ", "BEARER  ");
        assert!(set.verifier.verify(&shouted, HERE).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_use_of_a_key_is_stored_once_the_store_is_there() {
        let set = setting().await;
        let last_use = async || set.access.keys().await.unwrap()[0].last_used_at;
        set.clock.set(7_000);
        set.verifier.verify(&set.header, HERE).await.unwrap();
        assert_eq!(last_use().await, None, "nothing is written for each call");
        set.set_down(true);
        assert!(set.verifier.store_last_uses().await.is_err());
        set.set_down(false);
        set.verifier.store_last_uses().await.unwrap();
        assert_eq!(last_use().await.map(quita_domain::time::Timestamp::millis), Some(7_000));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_key_of_ours_is_invalid() {
        let set = setting().await;
        let of_another = PresentedKey::from_random(KeyKind::Secret, Mode::Test, [9; 8], [9; 32]).reveal();
        let token = set.header.trim_start_matches("Bearer ");
        let live = set.header.replace("qk_test", "qk_live");
        let mut wrong_secret = set.header.clone();
        let last = wrong_secret.split_off(set.header.len() - 4);
        wrong_secret.push_str(if last == "AAAA" { "AAAE" } else { "AAAA" });
        set.verifier.verify(&set.header, HERE).await.unwrap();
        let basic = format!("Basic {token}");
        let unknown = format!("Bearer {of_another}");
        let headers = ["", "Bearer", "Bearer ", token, &basic, &unknown, &live, &wrong_secret];
        for header in headers {
            assert_eq!(set.verifier.verify(header, HERE).await, Err(AccessError::Invalid), "{header:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_revoked_key_stops_within_five_seconds_and_a_busy_one_too() {
        let set = setting().await;
        set.verifier.verify(&set.header, HERE).await.unwrap();
        set.access.revoke_key(&set.key_id).await.unwrap();
        let mut refused_after = None;
        for step in 0..50 {
            if set.verifier.verify(&set.header, HERE).await.is_err() {
                refused_after = Some(step * 100);
                break;
            }
            advance(Duration::from_millis(100)).await;
        }
        assert!(refused_after.is_some_and(|ms| ms <= 2_000), "{refused_after:?}");
        assert_eq!(set.verifier.verify(&set.header, HERE).await, Err(set.ended(true)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_expired_key_stops_at_once_though_it_is_kept() {
        let set = setting().await;
        set.verifier.verify(&set.header, HERE).await.unwrap();
        set.clock.set(60_000);
        assert_eq!(set.verifier.verify(&set.header, HERE).await, Err(set.ended(false)));
        assert_eq!(set.lookups_of_a_hundred(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_read_once_a_second_however_many_use_it() {
        let set = setting().await;
        set.verifier.verify(&set.header, HERE).await.unwrap();
        let key = set.verifier.kept.kept(set.key_id.as_str()).unwrap();
        set.access.revoke_key(&set.key_id).await.unwrap();
        for _ in 0..3 {
            let callers = (0..100).map(|_| set.verifier.verify(&set.header, HERE));
            assert!(join_all(callers).await.iter().all(Result::is_ok), "nobody has looked it up");
            advance(Duration::from_millis(1_500)).await;
            assert_eq!(set.lookups_of_a_hundred(), 1);
            set.verifier.kept.keep(set.key_id.clone(), Arc::clone(&key), Instant::now());
        }
        advance(Duration::from_millis(1_500)).await;
        assert_eq!(set.verifier.verify(&set.header, HERE).await, Err(set.ended(true)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_unknown_key_is_looked_up_each_time_and_never_kept() {
        let set = setting().await;
        let unknown = PresentedKey::from_random(KeyKind::Secret, Mode::Test, [9; 8], [9; 32]);
        let header = format!("Bearer {}", unknown.reveal());
        for _ in 0..3 {
            assert_eq!(set.verifier.verify(&header, HERE).await, Err(AccessError::Invalid));
            assert_eq!(set.verifier.kept.len(), 0);
        }
        let known = set.access.keys().await.unwrap().remove(0);
        let made = ApiKey { id: unknown.id.clone(), secret_hash: unknown.secret_hash(), ..known };
        set.verifier.store.insert_key(&made).await.unwrap();
        assert!(set.verifier.verify(&header, HERE).await.is_ok(), "looked up once more");
    }

    #[tokio::test(start_paused = true)]
    async fn an_outage_is_reported_as_such_once_nothing_kept_is_fresh() {
        let set = setting().await;
        set.verifier.verify(&set.header, HERE).await.unwrap();
        set.set_down(true);
        advance(Duration::from_millis(1_500)).await;
        assert!(set.verifier.verify(&set.header, HERE).await.is_ok(), "kept for up to two seconds");
        advance(Duration::from_millis(500)).await;
        let outage = set.verifier.verify(&set.header, HERE).await;
        assert!(matches!(outage, Err(AccessError::StoreUnavailable(_))), "{outage:?}");
        set.set_down(false);
        assert!(set.verifier.verify(&set.header, HERE).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_keys_are_kept_than_allowed() {
        let set = setting().await;
        set.verifier.verify(&set.header, HERE).await.unwrap();
        let key = set.verifier.kept.kept(set.key_id.as_str()).unwrap();
        for number in 0..MAX_KEPT + 10 {
            set.verifier.kept.keep(number.to_string(), Arc::clone(&key), Instant::now());
        }
        assert!(set.verifier.kept.len() <= MAX_KEPT);
        assert!(set.verifier.verify(&set.header, HERE).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn guesses_from_one_network_cost_the_store_so_much_and_keep_out_nobody_who_was_seen() {
        let set = setting().await;
        set.verifier.verify(&set.header, HERE).await.unwrap();
        let invented = |number: usize| format!("Bearer qk_test_{number:016x}_{}", "A".repeat(43));
        let mut refused = None;
        for number in 0..2_000 {
            match set.verifier.verify(&invented(number), HERE).await {
                Err(AccessError::Invalid) => {}
                other => {
                    refused = Some(other);
                    break;
                }
            }
        }
        assert_eq!(refused, Some(Err(AccessError::TooMany(1))), "somebody may guess without end");
        // The cached key is too old to be trusted, so the store is asked.
        advance(KEPT_FOR * 2).await;
        assert!(set.verifier.verify(&set.header, HERE).await.is_ok());
        let elsewhere = IpAddr::from([198, 51, 100, 7]);
        assert_eq!(set.verifier.verify(&invented(0), elsewhere).await, Err(AccessError::Invalid));
    }
}
