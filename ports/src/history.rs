//! History of payments for replays: how each stored payment was routed.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode};
use quita_domain::listing::Cursor;
use quita_domain::routing::PastPayment;
use quita_domain::time::Timestamp;

use crate::store::StoreError;

/// Filter for past payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastFilter {
    /// Their merchant.
    pub merchant: MerchantId,
    /// Their mode.
    pub mode: Mode,
    /// Earliest time of creation, included.
    pub since: Timestamp,
}

/// One page of past payments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastPage {
    /// Payments, oldest first.
    pub payments: Vec<PastPayment>,
    /// Number of further payments that can't be read.
    pub unreadable: usize,
    /// Cursor after which the next page begins; none if this is the last.
    pub next: Option<Cursor>,
}

/// All payments, reduced to the fields that a replay needs.
#[async_trait]
pub trait HistoryStore: Send + Sync + 'static {
    /// Returns the first merchant and mode with payments after this one, by their names.
    async fn next_payee(
        &self,
        after: Option<&(MerchantId, Mode)>,
    ) -> Result<Option<(MerchantId, Mode)>, StoreError>;

    /// Returns payments that match, oldest first by creation and id, after the cursor, at most `limit`.
    async fn past_payments(
        &self,
        filter: &PastFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<PastPage, StoreError>;
}
