//! What reconciliation needs: lists of acquirers, and a place where lines are kept with their verdicts.

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_domain::acquiring::CallFailure;
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::reconciliation::{
    LineCursor, LineFilter, LineSum, SlipNumber, Source, StatementLine, StoredLine,
};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::StoreError;

/// Which of the Pix that came in are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedPix {
    /// All of them.
    Received,
    /// Those alone of which money went back, whenever that was.
    Returned,
}

/// A page of what an acquirer lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// What came in, each followed by what went back of it.
    pub lines: Vec<StatementLine>,
    /// How many entries the page has, whatever they say.
    pub entries: u64,
    /// How many the whole list has, if the acquirer says.
    pub total: Option<u64>,
    /// Whether none follows.
    pub is_last: bool,
}

/// Reads what an acquirer received, page by page.
///
/// Runs on the thread of its caller, one page at a time. A call that is dropped has no effect.
#[async_trait(?Send)]
pub trait ListReader {
    /// A page, from 0, of these of what came in from this time until that one, both included. There may be others among
    /// them.
    ///
    /// # Errors
    /// Why there is none.
    async fn page(
        &self,
        listed: ListedPix,
        period: (Timestamp, Timestamp),
        page: u32,
    ) -> Result<ListPage, CallFailure>;
}

/// A claim to one day's run of one source, so that of several nodes one does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunClaim {
    /// Of whom.
    pub source: Source,
    /// Which day.
    pub day: NaiveDate,
    /// Who claims it.
    pub node: Uuid,
    /// When.
    pub now: Timestamp,
    /// Until when it is nobody else's.
    pub until: Timestamp,
}

/// A day's run of one source that somebody claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Which day.
    pub day: NaiveDate,
    /// Says whether it is done.
    pub is_finished: bool,
}

/// A payment that was paid, and when it was learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaidPlace {
    /// Its `paid_at`.
    pub at: Timestamp,
    /// The payment.
    pub id: TransactionId,
}

/// Lines with their verdicts, runs, and payments by what others call them.
#[async_trait]
pub trait ReconciliationStore: Send + Sync + 'static {
    /// Stores lines, each in the place of the one with its id. No two of a call have one id.
    async fn put_lines(&self, lines: &[StoredLine]) -> Result<(), StoreError>;

    /// The lines with these ids, in any order; absent ones are left out.
    async fn lines_with_ids(&self, ids: &[String]) -> Result<Vec<StoredLine>, StoreError>;

    /// Lines that match, by day and id, after the cursor, at most `limit`.
    async fn lines(
        &self,
        filter: &LineFilter,
        after: Option<&LineCursor>,
        limit: usize,
    ) -> Result<Vec<StoredLine>, StoreError>;

    /// How many lines of these days, the last included, have which verdict, by day and source.
    async fn line_sums(&self, from: NaiveDate, until: NaiveDate) -> Result<Vec<LineSum>, StoreError>;

    /// Claims a run, or goes on claiming it; `false` if it is done, or another node's for now.
    async fn claim_run(&self, claim: &RunClaim) -> Result<bool, StoreError>;

    /// A run that was claimed is done: nobody claims it again.
    async fn finish_run(&self, claim: &RunClaim) -> Result<(), StoreError>;

    /// The runs of a source that were ever claimed, of these days, the last included, by day.
    async fn runs(&self, source: &Source, from: NaiveDate, until: NaiveDate) -> Result<Vec<Run>, StoreError>;

    /// Boletos of this mode with this number, in any order, at most `limit`.
    async fn payments_numbered(
        &self,
        mode: Mode,
        number: &SlipNumber,
        limit: usize,
    ) -> Result<Vec<TransactionId>, StoreError>;

    /// Payments of this mode that were paid from this time until before that one, by time and id, after this place, at most
    /// `limit`.
    async fn paid_between(
        &self,
        mode: Mode,
        period: (Timestamp, Timestamp),
        after: Option<PaidPlace>,
        limit: usize,
    ) -> Result<Vec<PaidPlace>, StoreError>;
}
