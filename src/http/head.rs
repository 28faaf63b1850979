//! HEAD: supported wherever GET is, with the same headers and no body (RFC 9110, section 9.3.2).

use actix_web::body::{self, BodySize, BoxBody, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::middleware::Next;

use super::pipeline::Answer;

/// Handles HEAD as GET. The server omits the body, but still sends its length.
pub(crate) async fn with_head_as_get(mut request: ServiceRequest, next: Next<BoxBody>) -> Answer {
    let wants_head = *request.method() == Method::HEAD;
    if wants_head {
        request.head_mut().method = Method::GET;
    }
    let response = next.call(request).await?;
    // The server would wait for the end of a stream, which may never come.
    let is_stream = matches!(response.response().body().size(), BodySize::Stream);
    if wants_head && is_stream {
        return Ok(response.map_body(|_, _| BoxBody::new(body::None::new())));
    }
    Ok(response)
}
