//! Queries of requests. Callers of the API get a refusal that names each unknown parameter.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::web::Query;
use quita_domain::listing::query::refuse_all;

use super::errors::{ApiError, ErrorCode, wordings};

/// Marker of an address whose GET has parameters, which its handler reads. All other addresses have none.
pub(super) struct HasParameters;

/// Reads the query as pairs, in order.
pub(super) fn read(request: &HttpRequest) -> Result<Vec<(String, String)>, ApiError> {
    Query::<Vec<(String, String)>>::from_query(request.query_string())
        .map(Query::into_inner)
        .map_err(|_| ApiError::new(ErrorCode::UnreadableQuery, wordings::no_query()))
}

/// Refuses a query at an address without parameters.
pub(crate) fn refuse(request: &HttpRequest) -> Result<(), ApiError> {
    Ok(refuse_all(&read(request)?)?)
}

/// Refuses a query unless the handler of this address reads it.
pub(super) fn refuse_unread(request: &HttpRequest) -> Result<(), ApiError> {
    let is_read = *request.method() == Method::GET && request.app_data::<HasParameters>().is_some();
    if is_read { Ok(()) } else { refuse(request) }
}
