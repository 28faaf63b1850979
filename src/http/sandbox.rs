//! Moving sandbox payments by hand.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use quita_acquirers::sandbox::{SandboxAction, manual_notice};
use quita_domain::identity::Mode;

use super::answer;
use super::auth::Writer;
use super::edge::Edge;
use super::errors::ApiError;
use super::payments::own;

/// `POST /sandbox/payments/{id}/{pay|expire|refund|chargeback}`
pub(crate) async fn act(
    caller: Writer,
    edge: Data<Edge>,
    path: Path<(String, String)>,
) -> Result<HttpResponse, ApiError> {
    let (id, action) = path.into_inner();
    let Some(action) = SandboxAction::parse(&action) else {
        let message = "the sandbox knows pay, expire, refund and chargeback";
        return Err(ApiError::new(actix_web::http::StatusCode::NOT_FOUND, "not_found", message));
    };
    if caller.0.owner.mode != Mode::Test {
        return Err(ApiError::forbidden("only payments made with a test key can be moved by hand"));
    }
    let payment = own(&edge, &id, &caller.0.owner).await?;
    // An acquirer's test keys reach its homologation, and there money moves only as the acquirer says.
    if !payment.acquirer().is_some_and(|acquirer| edge.is_sandbox(acquirer)) {
        let message = "no sandbox took this payment: only its acquirer can move it";
        return Err(ApiError::conflict("not_a_sandbox_payment", message));
    }
    let (status, target) = (payment.status(), action.target());
    if !status.allows(target) {
        let message = format!("a payment that is {status} cannot become {target}");
        return Err(ApiError::conflict("status_conflict", message));
    }
    let notice = manual_notice(action, &payment, edge.clock.now());
    let moved = edge.payments.submit_and_await(notice, &payment).await?;
    Ok(answer::record(&mut HttpResponse::Ok(), &edge, &moved))
}
