//! Acquirers: who moves the money.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::acquiring::{
    Charge, ChargeAnswer, ChargeQuery, Fact, Identified, Notice, NoticeContent, OperationAnswer, Reference,
};
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::routing::{Approvals, Candidate, Condition};
use quita_domain::time::Timestamp;
use thiserror::Error;
use tokio::time::Instant;

use crate::reconciliation::ListReader;

/// What is configured of an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerSpec {
    /// Its name.
    pub name: AcquirerName,
    /// Whether it moves real money.
    pub mode: Mode,
    /// What it takes.
    pub methods: Vec<Method>,
    /// Lower is tried first; equal ones share the payments by weight.
    pub priority: u32,
    /// Share among those of equal priority, from 1.
    pub weight: u32,
    /// The least it takes.
    pub min_amount: Money,
    /// The most it takes.
    pub max_amount: Money,
    /// Calls under way at once, per method.
    pub concurrency: usize,
    /// Time-out of one call. Must be shorter than the lease of a call.
    pub time_out_ms: u64,
    /// Calls a second to this provider at most, over all methods.
    pub rate: Option<NonZeroU32>,
    /// The longest time, in seconds, for which it can keep a PIX payable; none if there is no limit.
    pub max_expiry_s: Option<u64>,
    /// How long after an inquiry a hint may lead to the next one about the same charge, in milliseconds, at the earliest.
    pub hint_gap_ms: u64,
}

impl AcquirerSpec {
    /// What a plan has to know of it, when it is so.
    pub const fn candidate(&self, condition: Condition, approvals: Approvals) -> Candidate<'_> {
        Candidate {
            acquirer: &self.name,
            min_amount: self.min_amount,
            max_amount: self.max_amount,
            max_expiry_s: self.max_expiry_s,
            condition,
            approvals,
        }
    }
}

/// A translation between a payment and one provider.
///
/// Runs on the thread of its actor, so its futures need not be `Send`. The caller sets the time-out, which what a call
/// waits for before it leaves does not use up ([`crate::call_time`]); a call that is dropped counts as unknown. What a provider's credential shares (connections, an access token) is made once, by the
/// factory, and shared by what it builds.
#[async_trait(?Send)]
pub trait Acquirer {
    /// Sends a charge. The payment's id is the idempotency key, where the provider has any.
    async fn charge(&self, charge: &Charge) -> ChargeAnswer;

    /// Asks what became of a charge (consulta).
    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer;

    /// Cancels, captures or refunds. The operation's id is the idempotency key, where the provider has any.
    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer;

    /// Asks what became of an operation. A provider without ids for operations is asked for the charge, and its sums
    /// are compared with what there was before ([`Operation::before`]).
    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer;

    /// Asks whose charge the provider means by this reference.
    async fn identify(&self, reference: &Reference) -> Identified;
}

/// Makes an acquirer on the thread where it will live.
pub trait AcquirerFactory: Send + Sync + 'static {
    /// What is configured of it.
    fn spec(&self) -> &AcquirerSpec;

    /// Makes it.
    fn build(&self) -> Rc<dyn Acquirer>;

    /// Preparation of its calls before they can leave, if they need anything.
    fn preparation(&self) -> Option<&dyn Preparation>;

    /// Who reads the notices that its provider sends over HTTP, if it sends any.
    fn notices(&self) -> Option<&dyn NoticeReader>;

    /// Whether its provider knows operations by its sums alone: then a payment has one under way at a time.
    fn operates_in_turn(&self) -> bool;

    /// The name in its references by which its provider tells several charges of one payment apart, if it knows none of our
    /// ids: then it makes another charge whenever one is sent again.
    fn charge_name(&self) -> Option<&'static str>;

    /// How long after a refund's call was over its provider may not show the refund yet, in milliseconds: "not found" is
    /// believed no sooner. 0 where what was taken is shown at once.
    fn refund_shows_after_ms(&self, method: Method) -> u64;

    /// Says whether a charge of this method that was paid is asked for long after, because no list would name what went
    /// back of it since, and a notice may be lost.
    fn looks_at_paid(&self, method: Method) -> bool;

    /// Who reads what its provider lists by time, if it lists anything: with connections of its own.
    fn lists(&self) -> Option<Rc<dyn ListReader>>;

    /// Who issues codes to pay with without any outside effect, if it can.
    fn local_issue(&self) -> Option<&dyn LocalIssue>;
}

/// Preparation of calls before they can leave, such as a token of access: one for all calls of a provider.
#[async_trait(?Send)]
pub trait Preparation: Send + Sync {
    /// Time for which it can't be had, and so no call can leave; none if it is there, or may be had now.
    fn held_for(&self) -> Option<Duration>;

    /// Says whether it is there.
    fn is_ready(&self) -> bool;

    /// Gets it if it is not there, and waits for it until then. Whether a call may try its luck: it may when the provider
    /// refused, which the call is told too, and may not when there was no answer yet.
    async fn prepare(&self, latest: Instant) -> bool;
}

/// Reads what a provider sends.
pub trait NoticeReader: Send + Sync {
    /// Refuses a request whose head shows already that the provider did not send it. Called before its body is read, so
    /// that strangers send none.
    ///
    /// # Errors
    /// If its address or its headers are not the provider's.
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused>;

    /// What one request says, if the provider sent it.
    ///
    /// # Errors
    /// When it is not authentic, or can't be read.
    fn read(&self, notice: &RawNotice<'_>, now: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused>;
}

/// The head of a request to an acquirer's address for notices.
#[derive(Debug, Clone, Copy)]
pub struct NoticeHead<'a> {
    /// Rest of the path behind the acquirer's address: empty, or with a slash at its beginning.
    pub path_tail: &'a str,
    /// Names in lower case, and values that are text.
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> NoticeHead<'a> {
    /// The first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// A request to an acquirer's address for notices, as it came.
#[derive(Debug, Clone, Copy)]
pub struct RawNotice<'a> {
    /// Rest of the path behind the acquirer's address: empty, or with a slash at its beginning.
    pub path_tail: &'a str,
    /// Names in lower case, and values that are text.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, which may be anything.
    pub body: &'a [u8],
}

impl<'a> RawNotice<'a> {
    /// All but the body.
    pub const fn head(&self) -> NoticeHead<'a> {
        NoticeHead { path_tail: self.path_tail, headers: self.headers }
    }

    /// The first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.head().header(name)
    }
}

/// Why a notice is not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoticeRefused {
    /// The address is not one that the provider was given.
    #[error("there is no such address")]
    NoSuchAddress,
    /// Nothing proves that the provider sent it.
    #[error("the notice is not authenticated as this acquirer's notices are")]
    NotAuthentic,
    /// It came to the right address, and can't be read.
    #[error("the notice can't be read: {0}")]
    Unreadable(String),
}

/// A provider, or a part of one, that lives in this process: it issues codes to pay with without any outside effect, so
/// that the answer to a charge may go into the first write.
pub trait LocalIssue: Send + Sync {
    /// Whatever it notices by itself goes there from now on. Called once, before anything else.
    fn connect(&self, sink: Arc<dyn NoticeSink>);

    /// What the charge is answered with, if it needs nobody outside.
    fn issue(&self, query: &ChargeQuery) -> Option<Fact>;

    /// A charge that was answered so is stored now: whatever is to follow from it may begin. If this is lost, the
    /// acquirer is asked when it expects news.
    fn stored(&self, query: &ChargeQuery);
}

/// Why a notice was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SinkError {
    /// Too many are waiting.
    #[error("too many notices are waiting")]
    Busy,
    /// The store did not take it.
    #[error("{0}")]
    Store(#[from] crate::StoreError),
}

/// Takes notices: stores them durably, then has them worked.
#[async_trait]
pub trait NoticeSink: Send + Sync + 'static {
    /// Returns once the notice is stored; `true` if it is new, `false` for a repetition.
    async fn submit(&self, notice: Notice) -> Result<bool, SinkError>;
}
