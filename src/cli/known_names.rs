//! Names of merchants and applications that a command receives: known, new, or misspelt.

use std::collections::BTreeSet;
use std::sync::Arc;

use quita_domain::identity::{ApplicationName, MerchantId};
use quita_domain::nearest::nearest;
use quita_machine::SystemClock;
use quita_ports::{Clock, StoreError, WholeStore};

use super::failure::Failure;
use super::output;

/// Number of users or applications per read.
const PAGE: usize = 500;

/// Lookup of the names that a store knows.
pub(super) struct KnownNames {
    store: Arc<dyn WholeStore>,
}

/// Notice that a command creates a merchant or an application with a new name, or one without a key in use.
pub(super) struct NewNameNotice {
    what: String,
    /// True if the merchant exists, but none of its keys is in use.
    is_idle: bool,
    /// Similar known name, which may have been meant.
    similar: Option<String>,
}

impl NewNameNotice {
    /// Returns the notice in words. `first` is what created the name, and `undo` says how to undo a misspelt one.
    pub(super) fn in_words(&self, first: &str, undo: &str) -> String {
        let is_new = if self.is_idle {
            format!("{} has no other key in use.", self.what)
        } else {
            format!("{} is new: this is its first {first}.", self.what)
        };
        match &self.similar {
            Some(similar) => format!("{is_new} Did you mean {}? Then {undo}", output::printable(similar)),
            None => is_new,
        }
    }
}

impl KnownNames {
    /// Creates a lookup in this store.
    pub(super) fn of(store: Arc<dyn WholeStore>) -> Self {
        Self { store }
    }

    /// Refuses a merchant that does not exist.
    pub(super) async fn require_merchant(&self, merchant: &MerchantId) -> Result<(), Failure> {
        if self.has_merchant(merchant).await? {
            return Ok(());
        }
        let name = output::printable(merchant.as_str());
        let advice = match self.similar_merchant(merchant).await? {
            Some(similar) => format!("Did you mean {}?", output::printable(&similar)),
            None => "`quita keys create --merchant NAME` or `quita users create` creates one.".into(),
        };
        Err(Failure::failed(format!("There is no merchant {name} in this store. {advice}")))
    }

    /// Refuses an application that does not exist, or whose merchant is unknown.
    pub(super) async fn require_application(
        &self,
        merchant: &MerchantId,
        application: &ApplicationName,
    ) -> Result<(), Failure> {
        self.require_merchant(merchant).await?;
        let known = self.applications(merchant).await?;
        if known.contains(application.as_str()) {
            return Ok(());
        }
        let names = [merchant.as_str(), application.as_str()].map(output::printable);
        let [merchant, name] = names;
        let advice = match nearest(application.as_str(), known.iter().map(String::as_str)) {
            Some(similar) => format!("Did you mean {}?", output::printable(similar)),
            None => "`quita applications list` shows the existing ones.".into(),
        };
        Err(Failure::failed(format!("Merchant {merchant} has no application {name}. {advice}")))
    }

    /// Returns the notice if this merchant does not exist yet.
    pub(super) async fn new_merchant(&self, merchant: &MerchantId) -> Result<Option<NewNameNotice>, Failure> {
        if self.has_merchant(merchant).await? {
            return Ok(None);
        }
        let what = format!("Merchant {}", output::printable(merchant.as_str()));
        Ok(Some(NewNameNotice { what, is_idle: false, similar: self.similar_merchant(merchant).await? }))
    }

    /// Returns the notice if this merchant, or its application with this name, does not exist yet.
    pub(super) async fn new_application(
        &self,
        merchant: &MerchantId,
        application: &ApplicationName,
    ) -> Result<Option<NewNameNotice>, Failure> {
        if let Some(news) = self.new_merchant(merchant).await? {
            return Ok(Some(news));
        }
        if let Some(idle) = self.idle_merchant(merchant).await? {
            return Ok(Some(idle));
        }
        let known = self.applications(merchant).await?;
        if known.contains(application.as_str()) {
            return Ok(None);
        }
        let similar = nearest(application.as_str(), known.iter().map(String::as_str)).map(str::to_owned);
        let [name, merchant] = [application.as_str(), merchant.as_str()].map(output::printable);
        let what = format!("Application {name} of merchant {merchant}");
        Ok(Some(NewNameNotice { what, is_idle: false, similar }))
    }

    /// Returns the notice if this merchant has had keys, but none is in use and nobody signs in for it: the name was
    /// probably misspelt once before.
    async fn idle_merchant(&self, merchant: &MerchantId) -> Result<Option<NewNameNotice>, Failure> {
        let now = SystemClock.now();
        let keys = self.store.keys_of(merchant).await?;
        let is_idle = !keys.is_empty() && !keys.iter().any(|key| key.is_live(now));
        if !is_idle || !self.store.users(merchant).await?.is_empty() {
            return Ok(None);
        }
        let what = format!("Merchant {}", output::printable(merchant.as_str()));
        Ok(Some(NewNameNotice { what, is_idle, similar: self.similar_merchant(merchant).await? }))
    }

    /// Returns true if a merchant has a user, an application or a key.
    async fn has_merchant(&self, merchant: &MerchantId) -> Result<bool, StoreError> {
        Ok(!self.store.applications(merchant).await?.is_empty()
            || !self.store.users(merchant).await?.is_empty()
            || !self.store.keys_of(merchant).await?.is_empty())
    }

    async fn applications(&self, merchant: &MerchantId) -> Result<BTreeSet<String>, StoreError> {
        let applications = self.store.applications(merchant).await?;
        Ok(applications.iter().map(|application| application.name.as_str().to_owned()).collect())
    }

    /// Returns another merchant with the most similar name, if any is similar enough: one with a key in use, or else any.
    async fn similar_merchant(&self, merchant: &MerchantId) -> Result<Option<String>, StoreError> {
        let now = SystemClock.now();
        let keys = self.store.keys().await?;
        let in_use: BTreeSet<String> = keys
            .iter()
            .filter(|key| key.is_live(now))
            .map(|key| key.owner.merchant.as_str().to_owned())
            .collect();
        let of = |known: &BTreeSet<String>| {
            let others = known.iter().map(String::as_str).filter(|name| *name != merchant.as_str());
            nearest(merchant.as_str(), others).map(str::to_owned)
        };
        if let Some(similar) = of(&in_use) {
            return Ok(Some(similar));
        }
        Ok(of(&self.merchants().await?))
    }

    /// Returns the names of all merchants.
    async fn merchants(&self) -> Result<BTreeSet<String>, StoreError> {
        let keys = self.store.keys().await?;
        let mut known: BTreeSet<String> =
            keys.iter().map(|key| key.owner.merchant.as_str().to_owned()).collect();
        let mut place = None;
        loop {
            let page = self.store.applications_after(place.as_ref(), PAGE).await?;
            known.extend(page.iter().map(|application| application.merchant.as_str().to_owned()));
            let Some(last) = page.last() else { break };
            place = Some((last.merchant.clone(), last.name.clone()));
        }
        let mut place = None;
        loop {
            let page = self.store.users_after(place.as_ref(), PAGE).await?;
            known.extend(page.iter().map(|user| user.merchant.as_str().to_owned()));
            let Some(last) = page.last() else { break };
            place = Some(last.login.clone());
        }
        Ok(known)
    }
}
