//! Calls to an acquirer, as messages to its actor.

use std::time::Duration;

use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Identified, OperationAnswer, Reference,
};
use quita_domain::operation::Operation;
use quita_ports::Acquirer;
use quita_ports::trace::Span;
use tokio::time::Instant;

use super::call_outcome::{Answered, CallEnd};
use super::call_queue::Class;
use crate::actor::mailbox::Question;

/// A call to the provider.
pub(crate) trait Call: Question<Answer: Answered> {
    /// The name of its span.
    const SPAN: &'static str;

    /// Makes the call.
    async fn make(&self, acquirer: &dyn Acquirer) -> Self::Answer;

    /// Returns how the call is treated while the provider wants fewer calls.
    fn held(&self) -> Held;

    /// Returns the time by which the call must be over; after that, others may inquire about it. `None` if it changes
    /// nothing.
    fn lease_end(&self) -> Option<Instant> {
        None
    }

    /// Returns true if it moves a payment here that another acquirer could not take. For this acquirer it is a new
    /// payment.
    fn is_failover(&self) -> bool {
        false
    }

    /// Creates the answer for a call that failed in this way.
    fn failed(why: CallFailure) -> Self::Answer {
        Self::Answer::failed(why)
    }

    /// Returns the end of the call.
    fn ended(answer: &Self::Answer) -> CallEnd<'_> {
        answer.ended()
    }
}

/// Treatment of a call while the provider wants fewer calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// It waits as long as its merchant does, then goes to another acquirer. A resent charge that no other acquirer can
    /// take is sent later.
    NewCharge {
        /// Time for which the merchant waits.
        merchant_waits: Duration,
    },
    /// It is sent later.
    Operation,
    /// It is made later.
    Inquiry,
}

impl Held {
    /// Returns the queue it waits in.
    pub(super) const fn class(self) -> Class {
        match self {
            Self::NewCharge { .. } | Self::Operation => Class::Urgent,
            Self::Inquiry => Class::Inquiry,
        }
    }

    /// Returns the failure for a call that found the acquirer's mailbox full.
    pub(crate) fn without_room(self) -> CallFailure {
        match self {
            Self::NewCharge { .. } | Self::Operation => {
                CallFailure::NotDelivered("the acquirer's mailbox is full".into())
            }
            // Nobody was asked: the inquiry never left this process.
            Self::Inquiry => CallFailure::Withheld,
        }
    }
}

/// Sends this charge, if its call can end before its lease does.
pub(crate) struct SendCharge {
    pub(crate) charge: Box<Charge>,
    pub(crate) is_failover: bool,
    pub(crate) lease_end: Instant,
    pub(crate) merchant_waits: Duration,
}

impl Question for SendCharge {
    type Answer = ChargeAnswer;
    const NAME: &'static str = "charge";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.charge.query.id);
    }
}

impl Call for SendCharge {
    const SPAN: &'static str = "call charge";

    async fn make(&self, acquirer: &dyn Acquirer) -> ChargeAnswer {
        acquirer.charge(&self.charge).await
    }

    fn held(&self) -> Held {
        Held::NewCharge { merchant_waits: self.merchant_waits }
    }

    fn lease_end(&self) -> Option<Instant> {
        Some(self.lease_end)
    }

    fn is_failover(&self) -> bool {
        self.is_failover
    }
}

/// Asks for the outcome of this charge.
pub(crate) struct InquireCharge(pub(crate) Box<ChargeQuery>);

impl Question for InquireCharge {
    type Answer = ChargeAnswer;
    const NAME: &'static str = "inquire";

    fn record(&self, span: &mut Span) {
        span.record("transaction.id", self.0.id);
    }
}

impl Call for InquireCharge {
    const SPAN: &'static str = "call inquire";

    async fn make(&self, acquirer: &dyn Acquirer) -> ChargeAnswer {
        acquirer.inquire(&self.0).await
    }

    fn held(&self) -> Held {
        Held::Inquiry
    }
}

/// Cancels, captures or refunds, if the call can end before its lease does.
pub(crate) struct SendOperation {
    pub(crate) query: Box<ChargeQuery>,
    pub(crate) operation: Operation,
    pub(crate) lease_end: Instant,
}

impl Question for SendOperation {
    type Answer = OperationAnswer;
    const NAME: &'static str = "operate";

    fn record(&self, span: &mut Span) {
        record_operation(span, &self.query, &self.operation);
    }
}

impl Call for SendOperation {
    const SPAN: &'static str = "call operate";

    async fn make(&self, acquirer: &dyn Acquirer) -> OperationAnswer {
        acquirer.operate(&self.query, &self.operation).await
    }

    fn held(&self) -> Held {
        Held::Operation
    }

    fn lease_end(&self) -> Option<Instant> {
        Some(self.lease_end)
    }
}

/// Asks for the outcome of this operation.
pub(crate) struct InquireOperation {
    pub(crate) query: Box<ChargeQuery>,
    pub(crate) operation: Operation,
}

impl Question for InquireOperation {
    type Answer = OperationAnswer;
    const NAME: &'static str = "inquire_operation";

    fn record(&self, span: &mut Span) {
        record_operation(span, &self.query, &self.operation);
    }
}

impl Call for InquireOperation {
    const SPAN: &'static str = "call inquire operation";

    async fn make(&self, acquirer: &dyn Acquirer) -> OperationAnswer {
        acquirer.inquire_operation(&self.query, &self.operation).await
    }

    fn held(&self) -> Held {
        Held::Inquiry
    }
}

/// Asks which payment the provider means by this reference.
pub(crate) struct Identify(pub(crate) Reference);

impl Question for Identify {
    type Answer = Identified;
    const NAME: &'static str = "identify";
}

impl Call for Identify {
    const SPAN: &'static str = "call identify";

    async fn make(&self, acquirer: &dyn Acquirer) -> Identified {
        acquirer.identify(&self.0).await
    }

    fn held(&self) -> Held {
        Held::Inquiry
    }
}

fn record_operation(span: &mut Span, query: &ChargeQuery, operation: &Operation) {
    span.record("transaction.id", query.id);
    span.record("operation.id", operation.id.to_string());
}
