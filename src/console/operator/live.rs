//! Live samples, one per second, encoded once for all watchers.

use std::sync::{Arc, Mutex, PoisonError};

use actix_web::HttpResponse;
use actix_web::web::{Bytes, Data};
use futures_util::stream;
use quita_actors::Sample;
use quita_domain::time::Timestamp;
use tokio::sync::watch;

use super::OperatorConsole;
use super::visitor::{self, Operator};
use crate::console::kit::live::{event, event_stream};
use crate::console::kit::page_error::PageError;
use crate::console::kit::stream_permits::StreamPermit;

/// Number of samples between two checks that the operator is still signed in.
const SAMPLES_PER_CHECK: u32 = 10;

/// Newest sample, encoded as an event.
#[derive(Default)]
pub(super) struct Encoded(Mutex<Option<(Timestamp, Bytes)>>);

impl Encoded {
    fn of(&self, sample: &Sample) -> Bytes {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, bytes)) = newest.as_ref()
            && *at == sample.at
        {
            return bytes.clone();
        }
        let bytes = event("sample", &json(sample));
        *newest = Some((sample.at, bytes.clone()));
        bytes
    }
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Handles `GET /live`: streams one sample per second.
pub(super) async fn samples(
    operator: Operator,
    console: Data<OperatorConsole>,
) -> Result<HttpResponse, PageError> {
    let operator = visitor::WatchingOperator::of(operator);
    let permit = console.streams.take_permit(&operator.watcher())?;
    let samples = console.operators.samples();
    let open = SampleStream { console: console.into_inner(), operator, samples, seen: 0, _permit: permit };
    Ok(event_stream(stream::unfold(open, |open| open.next())))
}

/// Handles `GET /live/history`: returns the samples of the last 15 minutes.
pub(super) async fn history(_: Operator, console: Data<OperatorConsole>) -> HttpResponse {
    HttpResponse::Ok().content_type("application/json").body(json(&console.operators.history()))
}

struct SampleStream {
    console: Arc<OperatorConsole>,
    operator: visitor::WatchingOperator,
    samples: watch::Receiver<Arc<Sample>>,
    seen: u32,
    _permit: StreamPermit,
}

impl SampleStream {
    async fn next(mut self) -> Option<(Bytes, Self)> {
        if self.seen > 0 {
            self.samples.changed().await.ok()?;
        }
        let is_check = self.seen > 0 && self.seen.is_multiple_of(SAMPLES_PER_CHECK);
        self.seen = self.seen.wrapping_add(1);
        // An unavailable store does not end a stream: that is when operators need it most.
        if is_check && !self.operator.goes_on(&self.console).await {
            return None;
        }
        let sample = Arc::clone(&self.samples.borrow_and_update());
        let bytes = self.console.samples.of(&sample);
        Some((bytes, self))
    }
}
