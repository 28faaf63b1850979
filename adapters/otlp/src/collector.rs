//! The connection to a collector.

use std::time::Duration;

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use ureq::Agent;

/// Maximum bytes of an answer that are read: it contains the number of refused spans.
const LONGEST_ANSWER: u64 = 64 * 1024;

/// Posts to a collector, and waits for the answer on the caller's thread: the exporter has its own thread.
#[derive(Debug)]
pub(super) struct Collector(Agent);

impl Collector {
    /// Creates a collector with this time-out for a whole request. No proxy of the environment is used, and no redirect
    /// is followed.
    pub(super) fn new(time_out: Duration) -> Self {
        let settings = Agent::config_builder()
            .timeout_global(Some(time_out))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Self(settings.new_agent())
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let (head, mut answer) = self.0.run(Request::from_parts(head, body.as_ref()))?.into_parts();
        let answer = answer.with_config().limit(LONGEST_ANSWER).read_to_vec()?;
        Ok(Response::from_parts(head, answer.into()))
    }
}
