//! Acquirers: the providers that move the money.

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
use quita_domain::order::Order;
use quita_domain::routing::{Approvals, Candidate, Condition, DueDates};
use quita_domain::time::Timestamp;
use thiserror::Error;
use tokio::time::Instant;

use crate::numbers::NumberRange;
use crate::reconciliation::ListReader;

/// Configuration of an acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerSpec {
    /// Its name.
    pub name: AcquirerName,
    /// Test or live: only live moves real money.
    pub mode: Mode,
    /// Methods that it takes.
    pub methods: Vec<Method>,
    /// Priority: lower is tried first; acquirers of equal priority share the payments by weight.
    pub priority: u32,
    /// Share among acquirers of equal priority, from 1.
    pub weight: u32,
    /// Smallest amount that it takes.
    pub min_amount: Money,
    /// Largest amount that it takes.
    pub max_amount: Money,
    /// Calls under way at once, per method.
    pub concurrency: usize,
    /// Time-out of one call, in milliseconds. Must be shorter than the lease of a call.
    pub time_out_ms: u64,
    /// Maximum number of calls a second to this provider, over all methods.
    pub rate: Option<NonZeroU32>,
    /// Longest time, in seconds, for which it can keep a PIX payable; none if there is no limit.
    pub max_expiry_s: Option<u64>,
    /// Charges with a due date that it takes.
    pub due_dates: DueDates,
    /// Shortest time between an inquiry and the next one about the same charge that a hint causes, in milliseconds.
    pub hint_gap_ms: u64,
}

impl AcquirerSpec {
    /// Returns the acquirer as a candidate for a plan, in this condition and with these approvals.
    pub const fn candidate(&self, condition: Condition, approvals: Approvals) -> Candidate<'_> {
        Candidate {
            acquirer: &self.name,
            min_amount: self.min_amount,
            max_amount: self.max_amount,
            max_expiry_s: self.max_expiry_s,
            due_dates: self.due_dates,
            objection: None,
            condition,
            approvals,
        }
    }
}

/// A translation between a payment and one provider.
///
/// Runs on the thread of its actor, so its futures need not be `Send`. The caller sets the time-out, which excludes
/// waiting before a request leaves ([`crate::call_time`]). The outcome of a dropped call is unknown. The factory
/// creates the resources of one credential (connections, an access token) once, and the acquirers that it builds share
/// them.
#[async_trait(?Send)]
pub trait Acquirer {
    /// Sends a charge. The payment's id is the idempotency key, if the provider supports one.
    async fn charge(&self, charge: &Charge) -> ChargeAnswer;

    /// Asks for the outcome of a charge (consulta).
    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer;

    /// Cancels, captures or refunds. The operation's id is the idempotency key, if the provider supports one.
    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer;

    /// Asks for the outcome of an operation. A provider without ids for operations is asked about the charge, and its
    /// sums are compared with the earlier ones ([`Operation::before`]).
    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer;

    /// Asks which charge the provider means by this reference.
    async fn identify(&self, reference: &Reference) -> Identified;
}

/// Factory that builds an acquirer on the thread where it will live.
pub trait AcquirerFactory: Send + Sync + 'static {
    /// Returns the acquirer's configuration.
    fn spec(&self) -> &AcquirerSpec;

    /// Builds the acquirer.
    fn build(&self) -> Rc<dyn Acquirer>;

    /// Returns the address and account that calls go to, as configured now. Nodes compare it; it is hashed and never
    /// shown.
    fn account(&self) -> String;

    /// Returns the name of the account that charges belong to. Acquirers with the same name show each other's charges.
    /// `None` if no other configured acquirer can show its charges.
    fn charge_account(&self) -> Option<String>;

    /// Returns the preparation that calls need before they can leave, if any.
    fn preparation(&self) -> Option<&dyn Preparation>;

    /// Returns the reader of the notices that the provider sends over HTTP, if it sends any.
    fn notices(&self) -> Option<&dyn NoticeReader>;

    /// Returns true if the provider identifies operations only by their sums. Then a payment has only one under way at
    /// a time.
    fn operates_in_turn(&self) -> bool;

    /// Returns the name of the reference by which the provider distinguishes several charges of one payment. Present
    /// only if it stores none of our ids: then it makes another charge whenever one is sent again.
    fn charge_name(&self) -> Option<&'static str>;

    /// Returns the time after a refund's call during which the provider may not show the refund yet, in milliseconds.
    /// "Not found" is not believed before that. 0 if refunds are shown at once.
    fn refund_shows_after_ms(&self, method: Method) -> u64;

    /// Returns true if it supports refunds for this method.
    fn refunds(&self, method: Method) -> bool;

    /// Returns true if a paid charge of this method is inquired about long after it was paid. No list contains later
    /// refunds of it, and a notice may be lost.
    fn looks_at_paid(&self, method: Method) -> bool;

    /// Returns true if the acquirer states what a payment cost, once its fees are known.
    fn states_cost(&self) -> bool;

    /// Returns the reason why it can't take an order, whatever its condition: `recipient_unknown`.
    fn objection(&self, order: &Order) -> Option<&'static str>;

    /// Returns the range of slip numbers that the provider leaves to us, if it does. Each charge gets its number before
    /// it is stored.
    fn numbers(&self) -> Option<&NumberRange>;

    /// Returns the reader of the provider's lists, if it has any. It has connections of its own.
    fn lists(&self) -> Option<Rc<dyn ListReader>>;

    /// Returns the issuer of codes without any outside effect, if the provider has one.
    fn local_issue(&self) -> Option<&dyn LocalIssue>;
}

/// Preparation that calls need before they can leave, such as getting an access token. One for all calls to a provider.
#[async_trait(?Send)]
pub trait Preparation: Send + Sync {
    /// Returns the time for which it can't be obtained, so that no call can leave. `None` if it is ready, or may be
    /// obtained now.
    fn held_for(&self) -> Option<Duration>;

    /// Returns true if it is ready.
    fn is_ready(&self) -> bool;

    /// Obtains it if it is missing, waiting until `latest`. Returns true if a call may be tried. That includes a
    /// refusal by the provider, since the call gets the same refusal. False if there was no answer yet.
    async fn prepare(&self, latest: Instant) -> bool;
}

/// Reader of the notices that a provider sends.
pub trait NoticeReader: Send + Sync {
    /// Refuses a request whose head shows that the provider did not send it. Called before the body is read, so that
    /// strangers can't make this service read one.
    ///
    /// # Errors
    /// If its address or its headers are not the provider's.
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused>;

    /// Returns the contents of one request, if the provider sent it.
    ///
    /// # Errors
    /// It is not authentic, or can't be read.
    fn read(&self, notice: &RawNotice<'_>, now: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused>;
}

/// The head of a request to an acquirer's address for notices.
#[derive(Debug, Clone, Copy)]
pub struct NoticeHead<'a> {
    /// Rest of the path after the acquirer's address: empty, or beginning with a slash.
    pub path_tail: &'a str,
    /// Names in lower case, and values that are text.
    pub headers: &'a [(&'a str, &'a str)],
}

impl<'a> NoticeHead<'a> {
    /// Returns the first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }
}

/// A request to an acquirer's address for notices, as received.
#[derive(Debug, Clone, Copy)]
pub struct RawNotice<'a> {
    /// Rest of the path after the acquirer's address: empty, or beginning with a slash.
    pub path_tail: &'a str,
    /// Names in lower case, and values that are text.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, which may be anything.
    pub body: &'a [u8],
}

impl<'a> RawNotice<'a> {
    /// Returns all but the body.
    pub const fn head(&self) -> NoticeHead<'a> {
        NoticeHead { path_tail: self.path_tail, headers: self.headers }
    }

    /// Returns the first header with this name, in lower case.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        self.head().header(name)
    }
}

/// Reason why a notice is not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NoticeRefused {
    /// The address is not one that the provider was given.
    #[error("there is no such address")]
    NoSuchAddress,
    /// There is no proof that the provider sent it.
    #[error("the notice is not authenticated in the way that this acquirer's notices are")]
    NotAuthentic,
    /// It came to the right address, but can't be read.
    #[error("the notice can't be read: {0}")]
    Unreadable(String),
}

/// Local issuer of codes to pay with: a provider, or a part of one, in this process and without outside effects. So the
/// answer to a charge can be part of the first write.
pub trait LocalIssue: Send + Sync {
    /// Sets the sink for notices that the provider sends by itself. Called once, before anything else.
    fn connect(&self, sink: Arc<dyn NoticeSink>);

    /// Returns the answer to a charge, if it can be given locally.
    fn issue(&self, query: &ChargeQuery) -> Option<Fact>;

    /// Reports that a charge answered by [`LocalIssue::issue`] is stored, so that its consequences may begin. If this
    /// call is lost, the acquirer is asked when it expects news.
    fn stored(&self, query: &ChargeQuery);
}

/// Reason why a notice was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SinkError {
    /// Too many are waiting.
    #[error("too many notices are waiting")]
    Busy,
    /// The store did not accept it.
    #[error("{0}")]
    Store(#[from] crate::StoreError),
}

/// Sink for notices: stores them durably, then starts their processing.
#[async_trait]
pub trait NoticeSink: Send + Sync + 'static {
    /// Returns once the notice is stored; `true` if it is new, `false` for a repetition.
    async fn submit(&self, notice: Notice) -> Result<bool, SinkError>;
}
