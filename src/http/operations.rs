//! Cancelling, capturing and refunding.

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use quita_actors::Operated;
use quita_domain::identity::{OperationId, TransactionId};
use quita_domain::money::Money;
use quita_domain::operation::{OperationKind, OperationRequest, OperationState, RequestedOperation};
use quita_domain::payment::{Payment, STATUS_CHANGED};
use quita_domain::request::operation;
use quita_domain::status::Status;
use quita_domain::wording::Wording;
use uuid::Uuid;

use super::answer;
use super::auth::Writer;
use super::body::read_optional_json;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::idempotency::{REPLAYED, key_of};
use super::ignored_names;

/// `POST /pay/payments/{id}/cancel`
pub(crate) async fn cancel(
    caller: Writer,
    edge: Data<Edge>,
    id: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let read = operation::parse_cancellation(&read_optional_json(&request, payload).await?);
    let unknown = read.as_ref().unwrap_or_else(|rejection| &rejection.unknown);
    ignored_names::note(&request, &caller.0, unknown);
    read?;
    let operated = operate(&caller, &edge, &id, &request, RequestedOperation::Cancel).await?;
    ended(&operated)?;
    Ok(answer::record(&mut answer_to(&operated), &edge, &operated.payment))
}

/// `POST /pay/payments/{id}/capture`
pub(crate) async fn capture(
    caller: Writer,
    edge: Data<Edge>,
    id: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let amount = read_amount(&caller, &request, payload).await?;
    let operated = operate(&caller, &edge, &id, &request, RequestedOperation::Capture(amount)).await?;
    ended(&operated)?;
    Ok(answer::record(&mut answer_to(&operated), &edge, &operated.payment))
}

/// `POST /pay/payments/{id}/refunds`
pub(crate) async fn refund(
    caller: Writer,
    edge: Data<Edge>,
    id: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let amount = read_amount(&caller, &request, payload).await?;
    let operated = operate(&caller, &edge, &id, &request, RequestedOperation::Refund(amount)).await?;
    let mut response = if operated.is_replay { answer_to(&operated) } else { HttpResponse::Created() };
    answer::refund(&mut response, &operated)
}

/// Returns the amount in the body, if there is one.
async fn read_amount(
    caller: &Writer,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Option<Money>, ApiError> {
    let read = operation::parse(&read_optional_json(request, payload).await?);
    let unknown = read.as_ref().map_or_else(|rejection| &rejection.unknown, |read| &read.unknown);
    ignored_names::note(request, &caller.0, unknown);
    Ok(read?.amount)
}

async fn operate(
    caller: &Writer,
    edge: &Edge,
    id: &str,
    request: &HttpRequest,
    requested: RequestedOperation,
) -> Result<Operated, ApiError> {
    let key = key_of(request)?;
    let id = TransactionId::parse(id).ok_or_else(ApiError::unreadable_id)?;
    let wanted = OperationRequest { id: OperationId::new(Uuid::now_v7()), requested, key };
    let operated = edge.payments.operate(id, caller.0.owner.clone(), wanted).await?;
    tracing::info!(transaction.id = %id, operation = requested.verb(), state = ?operated.operation.state(), "an operation was requested");
    Ok(operated)
}

/// Maps the end of a cancellation or capture to a response: a refusal is a conflict, an unknown outcome is reported as
/// such.
fn ended(operated: &Operated) -> Result<(), ApiError> {
    let verb = operated.operation.kind.verb();
    let verbo = wordings::in_portuguese(verb);
    let was_cancelled = || operated.payment.history.iter().any(|event| event.status == Status::Cancelled);
    let status = operated.payment.status();
    let refusal = operated.operation.call.refusal.as_deref();
    match operated.operation.state() {
        // The withdrawal ended, but the payment did not become cancelled: its payer was faster.
        OperationState::Done if operated.operation.kind == OperationKind::Cancel && !was_cancelled() => {
            let message = wordings::became_while_cancelled(status).then(&allowed(&operated.payment));
            Err(ApiError::new(ErrorCode::StatusConflict, message))
        }
        OperationState::Done => Ok(()),
        OperationState::Refused if refusal == Some(STATUS_CHANGED) => {
            Err(ApiError::new(ErrorCode::StatusConflict, wordings::not_sent(verb, verbo, status)))
        }
        OperationState::Refused => {
            let why = refusal.unwrap_or("no reason given");
            let message = wordings::refused_by_acquirer(verb, verbo, why, status);
            let message = message.then(&allowed(&operated.payment));
            Err(ApiError::new(ErrorCode::RefusedByAcquirer, message))
        }
        // Not an error of the operation: it is stored and continues. Repeating the request with the same key does not
        // send it twice.
        OperationState::Processing => {
            Err(ApiError::unavailable(ErrorCode::OutcomeUnknown, wordings::no_answer_yet(verb, verbo)))
        }
    }
}

/// Returns the operations that the payment allows now, as a sentence.
fn allowed(payment: &Payment) -> Wording {
    match payment.allowed_operations().as_slice() {
        [] => wordings::nothing_allowed(),
        verbs => wordings::allowed_now(&verbs.join(", ")),
    }
}

fn answer_to(operated: &Operated) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    if operated.is_replay {
        response.insert_header(REPLAYED);
    }
    response
}
