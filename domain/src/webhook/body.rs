//! Bodies of webhooks.

use serde::Serialize;

use crate::event::{EndedRefund, Event};
use crate::identity::{Mode, TransactionId};
use crate::money::Money;
use crate::numbering::EventSequence;
use crate::payment::Payment;
use crate::record::PaymentRecord;
use crate::record::wire::Printed;
use crate::state::RefundStatus;
use crate::status::Status;
use crate::time::Timestamp;

/// Writes the JSON text of an event, the same in every attempt. It shows the payment as it was right after the event.
///
/// # Errors
/// Never in practice: everything in it has a JSON form.
pub fn body(payment: &Payment, event: &Event, public_url: &str) -> Result<String, serde_json::Error> {
    serde_json::to_string(&EventBody::of(payment, event, public_url, false))
}

/// Writes the JSON text of an event that only tests a receiver, and is marked as a test.
///
/// # Errors
/// As [`body`].
pub fn test_body(payment: &Payment, event: &Event, public_url: &str) -> Result<String, serde_json::Error> {
    serde_json::to_string(&EventBody::of(payment, event, public_url, true))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventBody<'a> {
    transaction_id: Printed<TransactionId>,
    status: Status,
    previous_status: Status,
    event: String,
    sequence: EventSequence,
    occurred_at: Printed<Timestamp>,
    reason: Option<&'a str>,
    mode: Mode,
    /// True if the event only tests a receiver; independent of the mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    test: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    refund: Option<RefundBody<'a>>,
    data: PaymentRecord<'a>,
}

impl<'a> EventBody<'a> {
    fn of(payment: &'a Payment, event: &'a Event, public_url: &str, is_test_event: bool) -> Self {
        Self {
            transaction_id: Printed(payment.id),
            status: event.status,
            previous_status: event.previous_status,
            event: event.name(),
            sequence: event.sequence,
            occurred_at: Printed(event.occurred_at),
            reason: event.reason.as_deref(),
            mode: payment.owner.mode,
            test: is_test_event,
            refund: event.refund.as_ref().map(RefundBody::of),
            data: PaymentRecord::as_of(payment, event, public_url),
        }
    }
}

/// Refund that an event is about.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RefundBody<'a> {
    refund_id: &'a str,
    amount: Printed<Money>,
    status: RefundStatus,
    failure_reason: Option<&'a str>,
}

impl<'a> RefundBody<'a> {
    fn of(refund: &'a EndedRefund) -> Self {
        let EndedRefund { refund_id, amount, status, failure_reason } = refund;
        Self {
            refund_id,
            amount: Printed(*amount),
            status: *status,
            failure_reason: failure_reason.as_deref(),
        }
    }
}
