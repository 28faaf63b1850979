//! Notices that providers send over HTTP. Adapters parse and authenticate them; this module forwards bytes.

use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::NoticeDenied;
use quita_ports::{NoticeHead, RawNotice};

use super::body::read;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};

/// `POST /acquirers/{name}/notifications{/…}`
///
/// Answers once the notice is accepted or stored. An unreadable notice gets 200 too: otherwise the provider would only
/// send it again.
pub(crate) async fn receive(
    edge: Data<Edge>,
    path: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let (name, path_tail) = path.into_inner();
    let headers: Vec<_> = request
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    // No body is read before the head is admitted.
    edge.payments.admit_notice(&name, &NoticeHead { path_tail: &path_tail, headers: &headers })?;
    let body = read(&request, payload).await?;
    let notice = RawNotice { path_tail: &path_tail, headers: &headers, body: &body };
    // The 200 comes after this: until then the provider keeps the notice and sends it again if the process dies.
    edge.payments.take_notice(&name, &notice).await?;
    Ok(HttpResponse::Ok().finish())
}

impl From<NoticeDenied> for ApiError {
    fn from(denied: NoticeDenied) -> Self {
        match denied {
            NoticeDenied::NoSuchAddress => Self::new(ErrorCode::NotFound, wordings::no_notice_address()),
            NoticeDenied::NotAuthentic => {
                let message = wordings::notice_not_authentic(&denied.to_string());
                Self::new(ErrorCode::Unauthorized, message)
            }
            NoticeDenied::NotTaken(denied) => denied.into(),
        }
    }
}
