//! Acquirers: who moves the money.

use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::{Charge, ChargeAnswer, ChargeQuery, Notice, OperationAnswer};
use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::Operation;
use quita_domain::order::Order;
use thiserror::Error;

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
}

/// A stateless translation between a payment and one provider.
///
/// Runs on the thread of its actor, so its futures need not be `Send`. The caller sets the time-out; a call that
/// is dropped counts as unknown.
#[async_trait(?Send)]
pub trait Acquirer {
    /// Sends a charge. The payment's id is the idempotency key.
    async fn charge(&self, charge: &Charge) -> ChargeAnswer;

    /// A charge that was answered locally is stored now: whatever is to follow from it may begin.
    async fn begun(&self, query: &ChargeQuery);

    /// Asks what became of a charge.
    async fn find(&self, query: &ChargeQuery) -> ChargeAnswer;

    /// Cancels, captures or refunds. The operation's id is the idempotency key.
    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer;
}

/// Makes an acquirer on the thread where it will live.
pub trait AcquirerFactory: Send + Sync + 'static {
    /// What is configured of it.
    fn spec(&self) -> &AcquirerSpec;

    /// Whether a charge for this order is answered without any outside effect, so that the answer may come before
    /// the first write.
    fn answers_locally(&self, order: &Order) -> bool;

    /// Makes it. Notices that it receives in this process go to the sink.
    fn build(&self, sink: Arc<dyn NoticeSink>) -> Rc<dyn Acquirer>;
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
    /// Returns once the notice is stored.
    async fn submit(&self, notice: Notice) -> Result<(), SinkError>;
}
