//! Outcome of a capture or a void, read from its answer or from the sale's sums.
//!
//! Source of the codes: E-commerce API 3.0, "Cancelamento e estorno", return codes.

use quita_domain::acquiring::{CallFailure, ChargeQuery, OperationAnswer};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::operation::{Operation, OperationKind};
use serde_json::Value;

use super::call::Reply;
use super::sale::{Sale, Status};
use crate::field::Object;
use crate::reason;

/// Codes after which the outcome is unknown: the same operation is already under way, or it timed out.
const UNCLEAR_CODES: [&str; 5] = ["10", "223", "98", "475", "504"];

/// Time, in milliseconds, for which unchanged sums prove nothing after an unclear answer to the refund of a PIX. It is
/// refunded some time after the request, and would otherwise be refunded twice.
pub(super) const PIX_REFUND_SHOWS_AFTER_MS: u64 = 3_600_000;

/// Reads the answer to a capture or a void. A refusal is checked against the sums before it counts ([`by_sums`]).
pub(super) fn answer(query: &ChargeQuery, operation: &Operation, reply: Reply) -> OperationAnswer {
    let body = match reply {
        Reply::Body(body) => body,
        Reply::NotFound(refusal) | Reply::Refused(refusal) => {
            return OperationAnswer::Refused(refusal.reason);
        }
        Reply::Failed(failure) => return OperationAnswer::Failed(failure),
    };
    let value: Value = serde_json::from_slice(&body).unwrap_or_default();
    let Some(outcome) = Object::of(&value).and_then(Outcome::read) else {
        return unclear("Cielo's answer can't be read");
    };
    match operation.kind {
        OperationKind::Capture(_) => outcome.of_capture(),
        OperationKind::Cancel | OperationKind::Refund(_) => outcome.of_void(query, operation),
    }
}

/// Returns true if the request was refused as a whole, before anything could be done.
pub(super) const fn refuses_the_request(reply: &Reply) -> bool {
    match reply {
        Reply::NotFound(_) | Reply::Refused(_) => true,
        Reply::Body(_) | Reply::Failed(_) => false,
    }
}

/// Status and code of the sale in an answer.
struct Outcome {
    status: Option<Status>,
    /// Code without leading zeros.
    code: Option<String>,
    why: String,
}

impl Outcome {
    fn read(answer: Object<'_>) -> Option<Self> {
        // Some samples wrap it as a sale is wrapped.
        let answer = answer.object("Payment").unwrap_or(answer);
        let given = answer.text("ReturnCode");
        let message = answer.text("ReturnMessage").or_else(|| answer.text("ReasonMessage"));
        let why = reason::explained(&given, &message).map(|said| reason::clean(&said)).unwrap_or_default();
        let code = given.map(|code| {
            let bare = code.trim_start_matches('0');
            if bare.is_empty() { "0".to_owned() } else { bare.to_ascii_uppercase() }
        });
        let status = answer.number("Status").ok()?.map(Status::of);
        (status.is_some() || code.is_some()).then_some(Self { status, code, why })
    }

    fn is_unclear(&self) -> bool {
        self.code.as_deref().is_some_and(|code| UNCLEAR_CODES.contains(&code))
    }

    /// Decides by the status: a sale that is not captured and has no success code was refused.
    fn of_capture(self) -> OperationAnswer {
        let is_success = self.code.as_deref().is_none_or(|code| matches!(code, "0" | "4" | "6" | "9" | "11"));
        match self.status {
            Some(Status::Paid) if is_success => OperationAnswer::Done,
            Some(
                Status::Authorized | Status::Denied | Status::Voided | Status::Refunded | Status::Aborted,
            ) if !is_success && !self.is_unclear() => OperationAnswer::Refused(self.why),
            Some(
                Status::Authorized
                | Status::Denied
                | Status::Voided
                | Status::Refunded
                | Status::Aborted
                | Status::Paid
                | Status::NotFinished
                | Status::Pending
                | Status::Other(_),
            )
            | None => unclear("Cielo's answer does not say whether it was captured"),
        }
    }

    /// Decides by the code: 0 means done, and so does 9 if the status agrees.
    fn of_void(self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        let is_partial = match operation.kind {
            OperationKind::Refund(amount) => {
                query.paid_amount.unwrap_or(query.amount) > operation.before.plus(amount)
            }
            OperationKind::Cancel | OperationKind::Capture(_) => false,
        };
        match (self.code.as_deref(), self.status) {
            (Some(code), _) if UNCLEAR_CODES.contains(&code) => {
                unclear(&format!("code {code}: it is under way"))
            }
            (Some("0"), Some(Status::Pending)) => OperationAnswer::Accepted,
            (Some("0"), Some(Status::Voided | Status::Refunded | Status::Paid) | None) => {
                OperationAnswer::Done
            }
            (Some("9"), Some(Status::Voided | Status::Refunded)) => OperationAnswer::Done,
            // The status applies to the whole sale: after a partial refund it would prove the wrong amount.
            (None, Some(Status::Voided | Status::Refunded)) if !is_partial => OperationAnswer::Done,
            // The code is no success, but the status is.
            (Some(_), Some(Status::Voided | Status::Refunded)) | (Some("0" | "9") | None, _) => {
                unclear("status and code of Cielo's answer do not fit")
            }
            (Some(_), _) => OperationAnswer::Refused(self.why),
        }
    }
}

/// Reads the operation's outcome from the sale's sums. A difference of exactly its amount means that it was done, no
/// difference that it was not. Any other difference means that something else changed them.
pub(super) fn by_sums(query: &ChargeQuery, operation: &Operation, sale: &Sale) -> OperationAnswer {
    match operation.kind {
        OperationKind::Capture(amount) => capture(operation, amount, sale),
        OperationKind::Cancel => cancellation(query, sale),
        OperationKind::Refund(amount) => refund(query, operation, amount, sale),
    }
}

fn capture(operation: &Operation, amount: Money, sale: &Sale) -> OperationAnswer {
    let captured = match sale.status {
        Status::Paid => sale.taken(),
        Status::Authorized | Status::Denied | Status::Voided | Status::Refunded | Status::Aborted => {
            sale.captured.unwrap_or_default()
        }
        Status::NotFinished | Status::Pending | Status::Other(_) => {
            return unclear("the sale is not finished");
        }
    };
    let is_gone = sale.status != Status::Paid && sale.status != Status::Authorized;
    if captured == operation.before.plus(amount) {
        OperationAnswer::Done
    // A sum that changed by another amount was changed by somebody else. Sending again would then take or return too
    // much.
    } else if captured != operation.before {
        let before = operation.before;
        OperationAnswer::Contradicted(format!(
            "{captured} is captured; it was {before}, and {amount} was asked for"
        ))
    } else if is_gone {
        OperationAnswer::Refused("the authorisation is gone at Cielo".to_owned())
    } else {
        OperationAnswer::NotFound
    }
}

fn cancellation(query: &ChargeQuery, sale: &Sale) -> OperationAnswer {
    let captured = sale.captured.unwrap_or_default();
    match sale.status {
        Status::Voided | Status::Refunded if captured.is_zero() => OperationAnswer::Done,
        Status::Authorized if captured.is_zero() => OperationAnswer::NotFound,
        Status::NotFinished | Status::Pending | Status::Other(_) => unclear("the sale is not finished"),
        Status::Paid | Status::Authorized | Status::Voided | Status::Refunded => {
            OperationAnswer::Contradicted(format!(
                "of {} to be voided {} is captured",
                query.amount,
                sale.taken()
            ))
        }
        Status::Denied | Status::Aborted => {
            OperationAnswer::Contradicted("what was to be voided is refused at Cielo".to_owned())
        }
    }
}

fn refund(query: &ChargeQuery, operation: &Operation, amount: Money, sale: &Sale) -> OperationAnswer {
    let is_readable = match sale.status {
        Status::Paid | Status::Voided | Status::Refunded => true,
        // A PIX whose refund is under way.
        Status::Pending => query.method == Method::Pix,
        Status::NotFinished | Status::Authorized | Status::Denied | Status::Aborted | Status::Other(_) => {
            false
        }
    };
    if !is_readable {
        return unclear("the sale's status says nothing of a refund");
    }
    let given_back = sale.given_back();
    if given_back == operation.before.plus(amount) {
        OperationAnswer::Done
    } else if given_back != operation.before {
        let before = operation.before;
        OperationAnswer::Contradicted(format!(
            "{given_back} is given back; it was {before}, and {amount} was asked for"
        ))
    // Unchanged sums prove nothing while a refund is scheduled at Cielo, or was already accepted by it.
    } else if is_on_its_way(operation, sale) {
        OperationAnswer::Accepted
    } else {
        OperationAnswer::NotFound
    }
}

fn is_on_its_way(operation: &Operation, sale: &Sale) -> bool {
    sale.status == Status::Pending || sale.refund_is_scheduled || operation.call.is_taken()
}

pub(super) fn unclear(why: &str) -> OperationAnswer {
    OperationAnswer::Failed(CallFailure::Unknown(why.to_owned()))
}
