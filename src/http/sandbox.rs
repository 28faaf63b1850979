//! Moving sandbox payments by hand.

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_acquirers::sandbox::{SandboxAction, manual_notice};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::request::by_hand::{self, PaidBy, PayByHand};
use quita_domain::status::Status;
use quita_domain::wording::Wording;

use super::answer;
use super::auth::Writer;
use super::body::read_optional_json;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::ignored_names;
use super::payments::own;

/// Handles `POST /sandbox/payments/{id}/{pay|expire|refund|chargeback}`. Only `pay` has a body.
pub(crate) async fn act(
    caller: Writer,
    edge: Data<Edge>,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let (id, action) = path.into_inner();
    let Some(action) = SandboxAction::parse(&action) else {
        return Err(ApiError::new(ErrorCode::NotFound, wordings::no_sandbox_action()));
    };
    if caller.0.owner.mode != Mode::Test {
        return Err(ApiError::forbidden(wordings::live_by_hand()));
    }
    let payment = own(&edge, &id, &caller.0.owner).await?;
    // An acquirer's test keys reach its homologation environment, where money moves only as the acquirer decides.
    if !payment.acquirer().is_some_and(|acquirer| edge.is_sandbox(acquirer)) {
        let why = already_declined(&payment).unwrap_or_else(wordings::no_sandbox_payment);
        return Err(ApiError::new(ErrorCode::NotASandboxPayment, why));
    }
    let body = read_optional_json(&request, payload).await?;
    let pay = match action {
        SandboxAction::Pay => {
            let read = by_hand::parse(&body, &payment, edge.clock.now());
            let unknown = read.as_ref().map_or_else(|rejection| &rejection.unknown, |read| &read.unknown);
            ignored_names::note(&request, &caller.0, unknown);
            read?
        }
        SandboxAction::Expire | SandboxAction::Refund | SandboxAction::Chargeback => PayByHand::default(),
    };
    let status = payment.status();
    let target = action.target();
    let crosses = action == SandboxAction::Pay && is_paid_by_other_code(&payment, &pay);
    if !status.allows(target) && !crosses {
        let why = match status == target {
            true => wordings::is_already(status),
            false => already_declined(&payment).unwrap_or_else(|| wordings::no_such_step(status, target)),
        };
        return Err(ApiError::new(ErrorCode::StatusConflict, why));
    }
    let notice = manual_notice(action, &pay, &payment, edge.clock.now());
    let moved = edge.payments.submit_and_await(notice, &payment).await?;
    Ok(answer::record(&mut HttpResponse::Ok(), &edge, &moved))
}

/// Returns the message for a payment that was declined, with its reason; `None` for any other.
fn already_declined(payment: &Payment) -> Option<Wording> {
    let reason = payment.state.status_reason.as_deref().filter(|_| payment.status() == Status::Declined);
    reason.map(wordings::is_already_declined)
}

/// Returns true if a boleto was paid by one of its codes, and its payer now pays by the other one too.
fn is_paid_by_other_code(payment: &Payment, pay: &PayByHand) -> bool {
    let is_paid_boleto = payment.method() == Method::Boleto && payment.status() == Status::Paid;
    is_paid_boleto && pay.by != PaidBy::of_paid(payment)
}
