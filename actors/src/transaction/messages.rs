//! What a transaction is asked, and what it answers.

use std::sync::Arc;

use quita_domain::card::CardFingerprint;
use quita_domain::identity::{AcquirerName, Owner, TransactionId};
use quita_domain::operation::{Operation, OperationKind, OperationState};
use quita_domain::order::Purchase;
use quita_domain::payment::{Command, Discrepancy, Payment};
use quita_domain::status::Status;
use quita_ports::trace::Span;
use tokio::time::Instant;
use uuid::Uuid;

use crate::actor::mailbox::Question;
use crate::denied::Denied;

/// What a payment is created with.
#[derive(Debug)]
pub struct CreatePayment {
    /// Its id: derived from the caller's key, or fresh.
    pub id: TransactionId,
    /// To whom it belongs.
    pub owner: Owner,
    /// What was asked for, and the card.
    pub purchase: Purchase,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    pub fingerprint: Option<String>,
    /// Tells by which card it is to be paid. It is kept only if the routes count tries of one card.
    pub card_fingerprint: Option<CardFingerprint>,
    /// What tells that card under the other secret keys that are in use: it may have been tried under them.
    pub other_card_fingerprints: Vec<CardFingerprint>,
    /// The unguessable part of its public pages' addresses.
    pub page_token: String,
}

/// A payment that was created, or found under its key.
#[derive(Debug, Clone)]
pub struct Created {
    /// The payment as it is now.
    pub payment: Arc<Payment>,
    /// Whether it was there before.
    pub is_replay: bool,
}

/// A question that is for one payment.
pub(crate) trait Addressed: Question {
    /// Which.
    fn id(&self) -> TransactionId;
}

/// Create the payment, or find it under its key.
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

/// Execute a command.
pub(crate) struct Execute {
    pub(crate) id: TransactionId,
    /// Who asks.
    pub(crate) asker: Asker,
    pub(crate) command: Command,
}

/// Who asks, which decides what the payment is to them. To anybody else it does not exist.
#[derive(Debug, Clone)]
pub(crate) enum Asker {
    /// The service itself.
    Service,
    /// A merchant, of the payments of its own.
    Owner(Owner),
    /// An acquirer, of the payments that were charged there.
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

/// What came of a command.
#[derive(Debug, Clone)]
pub(crate) struct Executed {
    pub(crate) payment: Arc<Payment>,
    /// What an operator has to see and is not stored with the payment.
    pub(crate) unstored: Vec<Discrepancy>,
    /// Who said what that came of.
    pub(crate) source: &'static str,
    pub(crate) operation: Option<Uuid>,
    pub(crate) is_replay: bool,
    /// Whether it made a write.
    pub(crate) is_changed: bool,
    /// Whether an acquirer is called because of it.
    pub(crate) calls_acquirer: bool,
}

impl Executed {
    /// Nothing was to be written for it.
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

/// Store now the confirmations that wait for another write, as far as the store takes them until this time. Answered with
/// the number of those that are not stored.
#[derive(Clone, Copy)]
pub(crate) struct StoreConfirmed {
    pub(crate) until: Instant,
}

impl Question for StoreConfirmed {
    type Answer = u64;
    const NAME: &'static str = "store_confirmed";
}

/// Answer when this has come true.
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

/// What a caller waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// The acquirer has answered, or its call is known to be lost. A notice that overtakes the answer is not enough for
    /// a method that has a code to pay with: it brings none.
    Answered,
    /// The operation was done or refused, or the acquirer took it and will take its time.
    Ended(Uuid),
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

/// Whether the acquirer is just being asked why it refused to withdraw a charge: most likely it has the money.
fn is_looked_into(payment: &Payment, operation: &Operation) -> bool {
    let is_refused = match operation.state {
        OperationState::Refused => true,
        OperationState::Processing | OperationState::Done => false,
    };
    let asks = payment.check.is_some_and(|check| check.planned.is_some());
    operation.kind == OperationKind::Cancel && is_refused && asks && payment.status() == Status::Pending
}

/// Another process took the payer out of the payment: what is known of it here may not be told any more.
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

/// Tell what the payment is now.
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
