//! What stored payments tell of their routes, for somebody who goes over all of them.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_domain::routing::PastPayment;
use quita_domain::time::Timestamp;

use crate::store::StoreError;

/// Whose payments are gone over, and from when on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFilter {
    /// Whose.
    pub merchant: MerchantId,
    /// In which mode.
    pub mode: Mode,
    /// Created at this time or later.
    pub since: Timestamp,
}

/// Some of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastPage {
    /// The oldest first.
    pub payments: Vec<PastPayment>,
    /// How many more there are that can't be read.
    pub unreadable: usize,
    /// After what the next page begins; none if this is the last.
    pub next: Option<Cursor>,
}

/// Every payment, with no more of it than a replay needs.
#[async_trait]
pub trait HistoryStore: Send + Sync + 'static {
    /// Who has payments: the first merchant and mode after this one, by their names.
    async fn next_payee(
        &self,
        after: Option<&(MerchantId, Mode)>,
    ) -> Result<Option<(MerchantId, Mode)>, StoreError>;

    /// Payments that match, the oldest first by creation and id, after the cursor, at most `limit`.
    async fn past_payments(
        &self,
        filter: &PastFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<PastPage, StoreError>;
}
