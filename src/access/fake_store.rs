//! A store of applications and keys in memory that can fail, and a clock that is set by hand.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use async_trait::async_trait;
use quita_domain::access::{ApiKey, Application};
use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::time::Timestamp;
use quita_ports::{AccessStore, Clock, KeyringStore, StoreError};

/// Keys and applications in memory.
#[derive(Default)]
pub(super) struct FakeStore {
    keys: Mutex<Vec<ApiKey>>,
    applications: Mutex<Vec<Application>>,
    is_down: AtomicBool,
    races_to_lose: AtomicUsize,
    lookups: AtomicUsize,
}

impl FakeStore {
    /// Puts it out of reach, or back.
    pub(super) fn set_down(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::SeqCst);
    }

    /// The next so many replacements find that somebody was faster.
    pub(super) fn lose_races(&self, count: usize) {
        self.races_to_lose.store(count, Ordering::SeqCst);
    }

    /// How often a key was looked up.
    pub(super) fn lookups(&self) -> usize {
        self.lookups.load(Ordering::SeqCst)
    }

    fn reach(&self) -> Result<(), StoreError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable("cut off".into()));
        }
        Ok(())
    }

    fn keys(&self) -> MutexGuard<'_, Vec<ApiKey>> {
        self.keys.lock().unwrap()
    }
}

#[async_trait]
impl AccessStore for FakeStore {
    async fn application(
        &self,
        merchant: &MerchantId,
        name: &ApplicationName,
    ) -> Result<Option<Application>, StoreError> {
        self.reach()?;
        let applications = self.applications.lock().unwrap();
        Ok(applications.iter().find(|other| other.merchant == *merchant && other.name == *name).cloned())
    }

    async fn insert_application(&self, application: &Application) -> Result<bool, StoreError> {
        self.reach()?;
        let mut applications = self.applications.lock().unwrap();
        let is_taken = applications
            .iter()
            .any(|other| other.merchant == application.merchant && other.name == application.name);
        if !is_taken {
            applications.push(application.clone());
        }
        Ok(!is_taken)
    }

    async fn replace_application(
        &self,
        before: &Application,
        after: &Application,
    ) -> Result<bool, StoreError> {
        self.reach()?;
        let lose = |count: usize| count.checked_sub(1);
        if self.races_to_lose.fetch_update(Ordering::SeqCst, Ordering::SeqCst, lose).is_ok() {
            return Ok(false);
        }
        let mut applications = self.applications.lock().unwrap();
        let place = applications.iter_mut().find(|application| *application == before);
        Ok(place.map(|place| *place = after.clone()).is_some())
    }

    async fn insert_key(&self, key: &ApiKey) -> Result<(), StoreError> {
        self.reach()?;
        self.keys().push(key.clone());
        Ok(())
    }

    async fn key(&self, id: &str) -> Result<Option<ApiKey>, StoreError> {
        self.lookups.fetch_add(1, Ordering::SeqCst);
        // A real one answers later, and others run in between.
        tokio::task::yield_now().await;
        self.reach()?;
        Ok(self.keys().iter().find(|key| key.id == id).cloned())
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        self.reach()?;
        Ok(self.keys().clone())
    }

    async fn revoke_key(&self, id: &str, now: Timestamp) -> Result<bool, StoreError> {
        self.reach()?;
        let mut keys = self.keys();
        let key = keys.iter_mut().find(|key| key.id == id);
        Ok(key.map(|key| key.revoked_at = key.revoked_at.or(Some(now))).is_some())
    }
}

#[async_trait]
impl KeyringStore for FakeStore {
    async fn applications(&self, merchant: &MerchantId) -> Result<Vec<Application>, StoreError> {
        self.reach()?;
        let applications = self.applications.lock().unwrap();
        Ok(applications.iter().filter(|other| other.merchant == *merchant).cloned().collect())
    }

    async fn keys_of(&self, merchant: &MerchantId) -> Result<Vec<ApiKey>, StoreError> {
        self.reach()?;
        Ok(self.keys().iter().filter(|key| key.owner.merchant == *merchant).cloned().collect())
    }

    async fn limit_key(&self, id: &str, until: Timestamp) -> Result<bool, StoreError> {
        self.reach()?;
        let mut keys = self.keys();
        let key = keys.iter_mut().find(|key| key.id == id);
        let earlier = |key: &ApiKey| key.expires_at.map_or(until, |at| at.min(until));
        Ok(key.map(|key| key.expires_at = Some(earlier(key))).is_some())
    }

    async fn note_key_uses(&self, uses: &[(String, Timestamp)]) -> Result<(), StoreError> {
        self.reach()?;
        let mut keys = self.keys();
        for (id, at) in uses {
            if let Some(key) = keys.iter_mut().find(|key| key.id == *id) {
                key.last_used_at = key.last_used_at.max(Some(*at));
            }
        }
        Ok(())
    }
}

/// A clock that stands still until it is set.
#[derive(Default)]
pub(crate) struct HandClock(AtomicI64);

impl HandClock {
    /// Sets it, in milliseconds since the Unix epoch.
    pub(crate) fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
