//! Storage and sources for reconciliation: acquirers' lists, and statement lines with their verdicts.

use async_trait::async_trait;
use chrono::NaiveDate;
use quita_domain::acquiring::{CallFailure, Identified, Reference};
use quita_domain::identity::{Mode, TransactionId};
use quita_domain::reconciliation::{
    LineCursor, LineFilter, LineSum, SlipNumber, Source, StatementLine, StoredLine,
};
use quita_domain::time::Timestamp;
use uuid::Uuid;

use crate::store::StoreError;

/// Part of an acquirer's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListPart {
    /// All of it.
    All,
    /// Only movements from which money was given back, at any time.
    Returned,
}

/// Period between two instants. Each user defines whether the end is included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// First instant.
    pub from: Timestamp,
    /// End.
    pub until: Timestamp,
}

/// Position of a page in its list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageCursor {
    /// Number of the page, from 0.
    pub number: u32,
    /// The acquirer's own name of the page, if it names pages. The first page has none.
    pub name: Option<String>,
}

impl PageCursor {
    /// Returns the position of the page that follows, under this name.
    #[must_use]
    pub fn next(&self, name: Option<String>) -> Self {
        Self { number: self.number.saturating_add(1), name }
    }
}

/// A page of an acquirer's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListPage {
    /// Movements. In a list of Pix, each Pix is followed by the lines of its refunds.
    pub lines: Vec<StatementLine>,
    /// Number of entries on the page, of any kind.
    pub entries: u64,
    /// Number of entries in the whole list, if the acquirer states it.
    pub total: Option<u64>,
    /// Position of the page that follows, if one does.
    pub next: Option<PageCursor>,
}

/// Reads the list of money that an acquirer moved, page by page.
///
/// Runs on the thread of its caller, one page at a time. A call that is dropped has no effect.
#[async_trait(?Send)]
pub trait ListReader {
    /// Returns true if refunded money is listed with its original movement, on that movement's day. Then
    /// [`ListPart::Returned`] finds later refunds.
    fn has_returned(&self) -> bool;

    /// Returns the number of past months that the acquirer lists, if its history is limited.
    fn history_months(&self) -> Option<u32>;

    /// Returns the reader of single charges, if the list has movements of charges, each on its own day.
    fn charges(&self) -> Option<&dyn ChargeReader>;

    /// Returns a page of the movements of this period, both ends included. It may contain others.
    ///
    /// # Errors
    /// The reason why there is no page.
    async fn page(
        &self,
        part: ListPart,
        period: Period,
        cursor: &PageCursor,
    ) -> Result<ListPage, CallFailure>;
}

/// Reads single charges of an acquirer whose list has their movements.
#[async_trait(?Send)]
pub trait ChargeReader {
    /// Returns the name under which references of payments have the acquirer's name of a charge.
    fn name(&self) -> &'static str;

    /// Returns the lines of one charge, of any day.
    ///
    /// # Errors
    /// The reason why they are not available.
    async fn lines_of(&self, charge: &Reference) -> Result<Vec<StatementLine>, CallFailure>;

    /// Returns the payment of a charge.
    async fn identify(&self, charge: &Reference) -> Identified;
}

/// A claim to one day's run of one source, so that only one of several nodes does it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunClaim {
    /// Source of the lines.
    pub source: Source,
    /// Day of the run.
    pub day: NaiveDate,
    /// Node that claims it.
    pub node: Uuid,
    /// Time of the claim.
    pub now: Timestamp,
    /// End of the claim: until then no other node can claim the run.
    pub until: Timestamp,
}

/// A claimed run: one day of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Day of the run.
    pub day: NaiveDate,
    /// True if it is done.
    pub is_finished: bool,
}

/// A paid payment and the time at which that was learnt, as a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaidPlace {
    /// Its `paid_at`.
    pub at: Timestamp,
    /// The payment.
    pub id: TransactionId,
}

/// Lines with their verdicts, runs, and payments by the numbers that banks give them.
#[async_trait]
pub trait ReconciliationStore: Send + Sync + 'static {
    /// Stores lines, each replacing the one with its id. No two lines of a call have the same id.
    async fn put_lines(&self, lines: &[StoredLine]) -> Result<(), StoreError>;

    /// Returns the lines with these ids, in any order; absent ones are left out.
    async fn lines_with_ids(&self, ids: &[String]) -> Result<Vec<StoredLine>, StoreError>;

    /// Returns the lines whose ids have this prefix, by id, at most `limit`. The prefix is ASCII and ends with a colon.
    async fn lines_beginning(&self, beginning: &str, limit: usize) -> Result<Vec<StoredLine>, StoreError>;

    /// Returns lines that match, by day and id, after the cursor, at most `limit`.
    async fn lines(
        &self,
        filter: &LineFilter,
        after: Option<&LineCursor>,
        limit: usize,
    ) -> Result<Vec<StoredLine>, StoreError>;

    /// Counts the lines of these days, the last included, by day, source and verdict.
    async fn line_sums(&self, from: NaiveDate, until: NaiveDate) -> Result<Vec<LineSum>, StoreError>;

    /// Claims a run, or extends the claim; `false` if the run is done, or claimed by another node.
    async fn claim_run(&self, claim: &RunClaim) -> Result<bool, StoreError>;

    /// Marks a claimed run as done: it can't be claimed again.
    async fn finish_run(&self, claim: &RunClaim) -> Result<(), StoreError>;

    /// Returns the runs of a source that were ever claimed for these days, the last included, by day.
    async fn runs(&self, source: &Source, from: NaiveDate, until: NaiveDate) -> Result<Vec<Run>, StoreError>;

    /// Returns boletos of this mode with this number, in any order, at most `limit`.
    async fn payments_numbered(
        &self,
        mode: Mode,
        number: &SlipNumber,
        limit: usize,
    ) -> Result<Vec<TransactionId>, StoreError>;

    /// Returns payments of this mode that were paid in this period, its end excluded, by time and id. Begins after the
    /// cursor, at most `limit`.
    async fn paid_between(
        &self,
        mode: Mode,
        period: Period,
        after: Option<PaidPlace>,
        limit: usize,
    ) -> Result<Vec<PaidPlace>, StoreError>;
}
