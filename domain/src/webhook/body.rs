//! What a webhook says.

use serde::Serialize;

use crate::event::Event;
use crate::identity::TransactionId;
use crate::payment::Payment;
use crate::record::PaymentRecord;
use crate::record::wire::Printed;
use crate::status::Status;
use crate::time::Timestamp;

/// The JSON text of an event, the same in every attempt: the payment is shown as it was right after it.
///
/// # Errors
/// None that is known: nothing in it lacks a JSON form.
pub fn body(payment: &Payment, event: &Event, public_url: &str) -> Result<String, serde_json::Error> {
    serde_json::to_string(&Body {
        transaction_id: Printed(payment.id),
        status: event.status,
        previous_status: event.previous_status,
        event: event.name(),
        sequence: event.sequence,
        occurred_at: Printed(event.occurred_at),
        reason: event.reason.as_deref(),
        data: PaymentRecord::as_of(payment, event, public_url),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    transaction_id: Printed<TransactionId>,
    status: Status,
    previous_status: Status,
    event: String,
    sequence: u32,
    occurred_at: Printed<Timestamp>,
    reason: Option<&'a str>,
    data: PaymentRecord<'a>,
}
