//! One request to the counterparty and its answer.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};

use super::Shared;
use crate::{Counterparty, Reply, Request, Response};

/// Maximum length of a body.
const LONGEST_BODY: usize = 1024 * 1024;

/// Error that cuts the connection.
#[derive(Debug)]
pub(super) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the counterparty cuts the connection")
    }
}

impl std::error::Error for Cut {}

pub(super) async fn answer<C: Counterparty>(
    shared: Arc<Shared<C>>,
    certificate: Option<String>,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Cut> {
    let request = read(request, certificate).await?;
    let reply = {
        let now_ms = shared.now_ms();
        shared.counterparty().handle(&request, now_ms)
    };
    shared.done.notify_one();
    match reply {
        Reply::Answer { response, after_ms } => {
            let after_ms = after_ms.saturating_add(shared.delay_ms.load(Ordering::SeqCst));
            if after_ms > 0 {
                tokio::time::sleep(Duration::from_millis(after_ms)).await;
            }
            Ok(write(response))
        }
        Reply::Reset => Err(Cut),
        // Waits until the client disconnects.
        Reply::Silence => std::future::pending().await,
    }
}

pub(super) async fn body(body: Incoming) -> Result<Vec<u8>, Cut> {
    let body = Limited::new(body, LONGEST_BODY).collect().await.map_err(|_| Cut)?;
    Ok(body.to_bytes().to_vec())
}

async fn read(request: hyper::Request<Incoming>, certificate: Option<String>) -> Result<Request, Cut> {
    let (head, incoming) = request.into_parts();
    let headers = head
        .headers
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect();
    Ok(Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers,
        body: body(incoming).await?,
        certificate,
    })
}

pub(super) fn write(response: Response) -> hyper::Response<Full<Bytes>> {
    let mut builder = hyper::Response::builder().status(response.status);
    for (name, value) in response.headers {
        builder = builder.header(name, value);
    }
    let mut broken = hyper::Response::new(Full::default());
    *broken.status_mut() = hyper::StatusCode::INTERNAL_SERVER_ERROR;
    builder.body(Full::from(response.body)).unwrap_or(broken)
}
