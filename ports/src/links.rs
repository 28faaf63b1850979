//! Payment links in the store, and the events counted on their pages.

use async_trait::async_trait;
use quita_domain::document::Document;
use quita_domain::identity::LinkId;
use quita_domain::link::{Link, LinkFilter, LinkUses};
use quita_domain::listing::Cursor;
use quita_domain::time::Timestamp;

use crate::store::{PaymentStore, StoreError};

/// Limit on events within a sliding period, such as payments that one network begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventLimit {
    /// Name under which they are counted. Contains no address that could be recovered.
    pub name: String,
    /// Number of events.
    pub most: u32,
    /// Length of the period, in milliseconds.
    pub within_ms: u64,
}

/// Payment links.
#[async_trait]
pub trait LinkStore: PaymentStore {
    /// Stores a new link; `false` if there is one with its id, which stays unchanged.
    async fn insert_link(&self, link: &Link) -> Result<bool, StoreError>;

    /// Returns the link with this id.
    async fn link(&self, id: LinkId) -> Result<Option<Link>, StoreError>;

    /// Replaces the link with this id if the stored one has the preceding revision; `false` if another writer was
    /// faster. Of concurrent calls, on any nodes, one wins.
    async fn replace_link(&self, link: &Link) -> Result<bool, StoreError>;

    /// Returns links that match, newest first by creation and id, after the cursor, at most `limit`.
    async fn links(
        &self,
        filter: &LinkFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError>;

    /// Returns links that have ended by this time and have a payer whom their merchant entered, at most `limit`. They
    /// are those of one document, or the longest ended first.
    async fn links_with_customer(
        &self,
        document: Option<&Document>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError>;

    /// Counts the uses of a link in its payments, including all that were stored before the call.
    async fn link_uses(&self, link: &Link) -> Result<LinkUses, StoreError>;

    /// Counts an event and returns `None` if the limit allows it. Otherwise returns the time from which it may be tried
    /// again, and counts nothing. Of concurrent calls, on any nodes, no more than the limit are counted.
    async fn count_event(&self, limit: &EventLimit, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;

    /// Returns the number of events that were counted under this name after this time, of the last 24 hours.
    async fn counted_events(&self, name: &str, since: Timestamp) -> Result<u64, StoreError>;

    /// Takes back one event that was counted under this name at this time. Changes nothing if there is none.
    async fn uncount_event(&self, name: &str, at: Timestamp) -> Result<(), StoreError>;
}
