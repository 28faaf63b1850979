//! Traces, sent to a collector: OTLP over HTTP, in protobuf.
//!
//! Ended spans wait in a bounded queue for a dedicated thread, which sends them in batches. A slow or unavailable
//! collector costs spans, never time. Spans that find no room or can't be sent are lost, counted, and logged once a
//! minute.

mod collector;
mod counted;
mod span_data;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use opentelemetry::InstrumentationScope;
use opentelemetry_otlp::{RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, IdGenerator, RandomIdGenerator, SpanProcessor,
};
use quita_ports::trace::{EndedSpan, SpanId, TraceId, TraceShare, Tracer};
use thiserror::Error;
use url::Url;
use uuid::Uuid;

pub use counted::Fate;

use collector::Collector;
use counted::{Counted, Queue};

/// Path of a collector's traces, below its address.
const PATH: &str = "v1/traces";

/// Maximum number of spans that wait or are being sent.
const QUEUE: usize = 8_192;

/// Maximum number of spans in a request, and the longest time for which they are gathered.
const BATCH: usize = 512;
const GATHERED_FOR: Duration = Duration::from_secs(1);

/// Time limit of a request.
const TIME_OUT: Duration = Duration::from_secs(5);

/// Time limit for the last spans when the service stops.
const FLUSH_WITHIN: Duration = Duration::from_secs(2);

/// Error of an exporter that can't be created from these settings.
#[derive(Debug, Error)]
#[error("traces can't be exported: {0}")]
pub struct OtlpError(String);

/// Sends spans to a collector.
pub struct OtlpTracer {
    share: TraceShare,
    ids: RandomIdGenerator,
    scope: InstrumentationScope,
    queue: Arc<Queue>,
    processor: BatchSpanProcessor,
}

impl OtlpTracer {
    /// Starts to send this share of the traces to the collector at this address; reports the fate of every span.
    ///
    /// # Errors
    /// Fails if the exporter rejects the address, or one of the standard `OTEL_…` variables.
    pub fn start(
        endpoint: &Url,
        share: TraceShare,
        version: &'static str,
        tell: impl Fn(Fate, usize) + Send + Sync + 'static,
    ) -> Result<Self, OtlpError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(TIME_OUT))
            .with_endpoint(address(endpoint))
            .with_timeout(TIME_OUT)
            // Traces do not justify a queue for an unavailable collector: spans that it does not accept are lost and
            // counted.
            .with_retry_policy(RetryPolicy::disabled())
            .build()
            .map_err(|error| OtlpError(error.to_string()))?;
        let queue = Arc::new(Queue::new(QUEUE, tell));
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(GATHERED_FOR)
            .build();
        let mut processor = BatchSpanProcessor::new(Counted::new(exporter, Arc::clone(&queue)), batches);
        let attribute = |name, value: String| opentelemetry::KeyValue::new(name, value);
        let resource = Resource::builder()
            .with_service_name("quita")
            .with_attribute(attribute("service.version", version.into()))
            .with_attribute(attribute("service.instance.id", Uuid::now_v7().to_string()))
            .build();
        processor.set_resource(&resource);
        let scope = InstrumentationScope::builder("quita").with_version(version).build();
        Ok(Self { share, ids: RandomIdGenerator::default(), scope, queue, processor })
    }

    /// Sends waiting spans, and stops. It blocks its thread for at most two seconds; spans that were not sent by then
    /// are lost.
    pub fn stop(&self) {
        // A failure here only means lost spans, which are reported.
        let flushed = self.processor.shutdown_with_timeout(FLUSH_WITHIN);
        self.queue.close(flushed.is_ok());
    }
}

impl Tracer for OtlpTracer {
    fn fresh_trace(&self) -> TraceId {
        span_data::trace_id(self.ids.new_trace_id())
    }

    fn takes(&self, trace: TraceId) -> bool {
        self.share.takes(trace)
    }

    fn fresh_span(&self) -> SpanId {
        span_data::span_id(self.ids.new_span_id())
    }

    #[allow(clippy::disallowed_methods, reason = "this is the port's one real implementation")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn ended(&self, span: EndedSpan) {
        // Counted here, because the processor drops excess spans without reporting their number.
        if self.queue.has_room() {
            self.processor.on_end(span_data::of(span, &self.scope));
        }
    }
}

/// Returns the address to which traces are posted. An address that contains the path already is used unchanged.
fn address(endpoint: &Url) -> String {
    let base = endpoint.as_str().trim_end_matches('/');
    if base.ends_with(PATH) { base.to_owned() } else { format!("{base}/{PATH}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_go_below_the_collectors_address() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://collector.example/otlp", "https://collector.example/otlp/v1/traces"),
            ("https://collector.example/v1/traces", "https://collector.example/v1/traces"),
        ] {
            assert_eq!(address(&Url::parse(endpoint).unwrap()), expected);
        }
    }
}
