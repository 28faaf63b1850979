//! Messages to a transaction, and its answers.

use std::sync::Arc;

use quita_domain::card::CardFingerprint;
use quita_domain::card::token::UsedToken;
use quita_domain::identity::{AcquirerName, LinkId, OperationId, Owner, TransactionId};
use quita_domain::operation::{Operation, OperationKind, OperationState};
use quita_domain::order::Purchase;
use quita_domain::payment::{Command, Discrepancy, Payment};
use quita_domain::status::Status;
use quita_ports::trace::Span;
use tokio::time::Instant;

use crate::actor::mailbox::Question;
use crate::denied::Denied;

/// Data for the creation of a payment.
#[derive(Debug)]
pub struct CreatePayment {
    /// Id, derived from the caller's key or fresh.
    pub id: TransactionId,
    /// Owner of the payment.
    pub owner: Owner,
    /// Order and card.
    pub purchase: Purchase,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    pub fingerprint: Option<String>,
    /// Fingerprint of the card. Stored only if the routes count tries per card.
    pub card_fingerprint: Option<CardFingerprint>,
    /// Fingerprints of that card under the other secret keys in use, as it may have been tried under them.
    pub other_card_fingerprints: Vec<CardFingerprint>,
    /// Unguessable part of the addresses of its public pages.
    pub page_token: String,
    /// Use of the payment link through which it is created.
    pub link: Option<LinkUse>,
    /// Mark of the card token that it uses up.
    pub used_token: Option<UsedToken>,
}

/// A use of a payment link that was taken for a payment.
#[derive(Debug, Clone, Copy)]
pub struct LinkUse {
    /// The link.
    pub link: LinkId,
    /// Time from which the payment may no longer be stored, long before the use is free again.
    pub stored_before: Instant,
}

/// A payment that was created, or found under its key.
#[derive(Debug, Clone)]
pub struct Created {
    /// The payment as it is now.
    pub payment: Arc<Payment>,
    /// True if it existed before.
    pub is_replay: bool,
}

/// A question to one payment.
pub(crate) trait Addressed: Question {
    /// Returns the payment's id.
    fn id(&self) -> TransactionId;
}

/// Creates the payment, or finds it under its key.
pub(crate) struct Create(pub(crate) Box<CreatePayment>);

impl Question for Create {
    type Answer = Result<Created, Denied>;
    const NAME: &'static str = "create";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.id());
    }
}

impl Addressed for Create {
    fn id(&self) -> TransactionId {
        self.0.id
    }
}

/// Executes a command.
pub(crate) struct Execute {
    pub(crate) id: TransactionId,
    /// Origin of the command.
    pub(crate) asker: Asker,
    pub(crate) command: Command,
}

/// Origin of a command, which decides whether it may see the payment. To anyone else the payment does not exist.
#[derive(Debug, Clone)]
pub(crate) enum Asker {
    /// The service itself.
    Service,
    /// A merchant, for its own payments.
    Owner(Owner),
    /// An acquirer, for payments charged there.
    Acquirer(AcquirerName),
}

impl Asker {
    pub(crate) fn may_see(&self, payment: &Payment) -> bool {
        match self {
            Self::Service => true,
            Self::Owner(owner) => owner.may_see(&payment.owner),
            Self::Acquirer(name) => payment.state.attempts.iter().any(|attempt| attempt.acquirer == *name),
        }
    }
}

impl Question for Execute {
    type Answer = Result<Executed, Denied>;
    const NAME: &'static str = "execute";

    fn step_name(&self) -> &'static &'static str {
        self.command.message_name()
    }

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.id);
        span.record("command", self.command.name());
    }
}

impl Addressed for Execute {
    fn id(&self) -> TransactionId {
        self.id
    }
}

/// Result of a command.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub(crate) payment: Arc<Payment>,
    /// Discrepancies for an operator that are not stored with the payment.
    pub(crate) unstored: Vec<Discrepancy>,
    /// Source of the statement behind the command.
    pub(crate) source: &'static str,
    pub(crate) operation: Option<OperationId>,
    pub(crate) is_replay: bool,
    /// True if it made a write.
    pub(crate) is_changed: bool,
    /// True if it causes a call to an acquirer.
    pub(crate) calls_acquirer: bool,
}

impl Executed {
    /// Result of a command that needed no write.
    pub(crate) const fn without_change(payment: Arc<Payment>, source: &'static str) -> Self {
        Self {
            payment,
            unstored: Vec::new(),
            source,
            operation: None,
            is_replay: false,
            is_changed: false,
            calls_acquirer: false,
        }
    }
}

/// Asks whether the acquirer that hinted may be asked about the payment now, without a prior write. The answer is the
/// payment if so.
pub(crate) struct MayInquire {
    pub(crate) id: TransactionId,
    pub(crate) acquirer: AcquirerName,
}

impl Question for MayInquire {
    type Answer = Result<Option<Arc<Payment>>, Denied>;
    const NAME: &'static str = "may_inquire";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.id());
    }
}

impl Addressed for MayInquire {
    fn id(&self) -> TransactionId {
        self.id
    }
}

/// Stores the confirmations that wait for another write, as far as the store accepts them before this time. The answer
/// is the number of those not stored.
#[derive(Clone, Copy)]
pub(crate) struct StoreConfirmed {
    pub(crate) until: Instant,
}

impl Question for StoreConfirmed {
    type Answer = u64;
    const NAME: &'static str = "store_confirmed";
}

/// Answers once the condition holds.
pub(crate) struct Await {
    pub(crate) id: TransactionId,
    pub(crate) until: Until,
}

impl Question for Await {
    type Answer = Result<Arc<Payment>, Denied>;
    const NAME: &'static str = "await";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.id());
    }
}

impl Addressed for Await {
    fn id(&self) -> TransactionId {
        self.id
    }
}

/// Condition that a caller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The acquirer has answered, or its call is known to be lost. For a method with a code to pay with, a notice that
    /// overtakes the answer does not suffice, because it has no code.
    Answered,
    /// The operation was done or refused, or the acquirer accepted it and will take some time.
    Ended(OperationId),
    /// Something changed that the merchant can see.
    ChangedSince(u32),
}

impl Until {
    pub(crate) fn has_come(self, payment: &Payment) -> bool {
        match self {
            Self::Answered => payment.status() != Status::Initial && !payment.awaits_code(),
            Self::ChangedSince(version) => payment.state.version > version,
            Self::Ended(id) => payment
                .operations
                .iter()
                .find(|operation| operation.id == id)
                .is_some_and(|operation| operation.is_answered() && !is_looked_into(payment, operation)),
        }
    }
}

/// Returns true if the acquirer is being asked why it refused to withdraw a charge: it most likely has the money.
fn is_looked_into(payment: &Payment, operation: &Operation) -> bool {
    let is_refused = match operation.state() {
        OperationState::Refused => true,
        OperationState::Processing | OperationState::Done => false,
    };
    let asks = payment.check.is_some_and(|check| check.planned.is_some());
    operation.kind == OperationKind::Cancel && is_refused && asks && payment.status() == Status::Pending
}

/// Drops the copy in memory, because another process erased the payer of the payment.
pub(crate) struct Forget(pub(crate) TransactionId);

impl Question for Forget {
    type Answer = Result<(), Denied>;
    const NAME: &'static str = "forget";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.id());
    }
}

impl Addressed for Forget {
    fn id(&self) -> TransactionId {
        self.0
    }
}

/// Reads the current payment.
pub(crate) struct Read(pub(crate) TransactionId);

impl Question for Read {
    type Answer = Result<Option<Arc<Payment>>, Denied>;
    const NAME: &'static str = "read";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.id());
    }
}

impl Addressed for Read {
    fn id(&self) -> TransactionId {
        self.0
    }
}
