//! Moving sandbox payments by hand.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_acquirers::sandbox::{SandboxAction, manual_notice};
use quita_domain::identity::Mode;

use super::answer;
use super::auth::Writer;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::payments::own;

/// `POST /sandbox/payments/{id}/{pay|expire|refund|chargeback}`
pub(crate) async fn act(
    caller: Writer,
    edge: Data<Edge>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (id, action) = path.into_inner();
    let Some(action) = SandboxAction::parse(&action) else {
        return Err(ApiError::new(ErrorCode::NotFound, wordings::no_sandbox_action()));
    };
    if caller.0.owner.mode != Mode::Test {
        return Err(ApiError::forbidden(wordings::live_by_hand()));
    }
    let payment = own(&edge, &id, &caller.0.owner).await?;
    // An acquirer's test keys reach its homologation, and there money moves only as the acquirer says.
    if !payment.acquirer().is_some_and(|acquirer| edge.is_sandbox(acquirer)) {
        return Err(ApiError::new(ErrorCode::NotASandboxPayment, wordings::no_sandbox_payment()));
    }
    let (status, target) = (payment.status(), action.target());
    if !status.allows(target) {
        return Err(ApiError::new(ErrorCode::StatusConflict, wordings::no_such_step(status, target)));
    }
    let notice = manual_notice(action, &payment, edge.clock.now());
    let moved = edge.payments.submit_and_await(notice, &payment).await?;
    Ok(answer::record(&mut HttpResponse::Ok(), &edge, &moved))
}
