//! Evaluation of routes: the acquirers that a payment would be sent to.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_domain::request::evaluation;

use super::auth::Reader;
use super::body::read_json;
use super::edge::Edge;
use super::errors::ApiError;
use super::ignored_names;
use crate::keyring::OwnTokens;

/// `POST /pay/routing/evaluate`
pub(crate) async fn evaluate(
    caller: Reader,
    edge: Data<Edge>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let body = read_json(&request, payload).await?;
    // A dry run does not use up a token.
    let tokens = OwnTokens::new(&edge.keyring, &caller.0.owner);
    let asked = evaluation::parse_with(&tokens, &body, edge.clock.now(), &edge.limits);
    let unknown = asked.as_ref().map_or_else(|rejection| &rejection.unknown, |asked| &asked.unknown);
    ignored_names::note(&request, &caller.0, unknown);
    let asked = asked?;
    let evaluated = edge.payments.evaluate(&asked.order, &caller.0.owner, asked.at, asked.dice)?;
    Ok(HttpResponse::Ok().json(evaluated))
}
