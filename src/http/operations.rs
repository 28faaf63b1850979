//! Cancelling, capturing and refunding.

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use quita_actors::Operated;
use quita_domain::identity::TransactionId;
use quita_domain::operation::{OperationKind, OperationRequest, OperationState, RequestedOperation};
use quita_domain::payment::{Payment, STATUS_CHANGED};
use quita_domain::request::operation::parse_amount;
use quita_domain::status::Status;
use uuid::Uuid;

use super::answer;
use super::auth::Writer;
use super::body::read_optional_json;
use super::edge::Edge;
use super::errors::ApiError;
use super::idempotency::{REPLAYED, key_of};

/// `POST /pay/payments/{id}/cancel`
pub(crate) async fn cancel(
    caller: Writer,
    edge: Data<Edge>,
    id: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    read_optional_json(&request, payload).await?;
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
    let amount = parse_amount(&read_optional_json(&request, payload).await?)?;
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
    let amount = parse_amount(&read_optional_json(&request, payload).await?)?;
    let operated = operate(&caller, &edge, &id, &request, RequestedOperation::Refund(amount)).await?;
    let mut response = if operated.is_replay { answer_to(&operated) } else { HttpResponse::Created() };
    answer::refund(&mut response, &operated)
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
    let wanted = OperationRequest { id: Uuid::now_v7(), requested, key };
    let operated = edge.payments.operate(id, caller.0.owner.clone(), wanted).await?;
    tracing::info!(transaction.id = %id, operation = requested.verb(), state = ?operated.operation.state, "an operation");
    Ok(operated)
}

/// Cancelling and capturing are answered once they are over: refused is a conflict, unknown is reported as such.
fn ended(operated: &Operated) -> Result<(), ApiError> {
    let verb = operated.operation.kind.verb();
    let was_cancelled = || operated.payment.history.iter().any(|event| event.status == Status::Cancelled);
    match operated.operation.state {
        OperationState::Done if operated.operation.kind == OperationKind::Cancel && !was_cancelled() => {
            let message = format!(
                "the payment became {} while it was being cancelled; {}",
                operated.payment.status(),
                allowed(&operated.payment)
            );
            Err(ApiError::conflict("status_conflict", message))
        }
        OperationState::Done => Ok(()),
        OperationState::Refused if operated.operation.refusal.as_deref() == Some(STATUS_CHANGED) => {
            let status = operated.payment.status();
            let message = format!("the {verb} was not sent: the payment became {status} before it could be");
            Err(ApiError::conflict("status_conflict", message))
        }
        OperationState::Refused => {
            let why = operated.operation.refusal.as_deref().unwrap_or("no reason told");
            let message = format!(
                "the acquirer refused to {verb}: {why}; the payment is {}; {}",
                operated.payment.status(),
                allowed(&operated.payment)
            );
            Err(ApiError::conflict("refused_by_acquirer", message))
        }
        OperationState::Processing => {
            let message =
                format!("the acquirer has not answered the {verb} yet; the same Idempotency-Key will tell");
            Err(ApiError::unavailable("outcome_unknown", message))
        }
    }
}

/// What may be asked of the payment now.
fn allowed(payment: &Payment) -> String {
    match payment.allowed_operations().as_slice() {
        [] => "no operation is allowed now".into(),
        verbs => format!("allowed now: {}", verbs.join(", ")),
    }
}

fn answer_to(operated: &Operated) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    if operated.is_replay {
        response.insert_header(REPLAYED);
    }
    response
}
