//! A collector of traces: reads what the service exports with the messages of OpenTelemetry itself.

use std::collections::BTreeMap;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;

use super::receiver::{Received, Reply, TestReceiver};

/// A server on a loopback port that takes traces. Dropping it stops it.
pub(crate) struct Collector(TestReceiver);

/// A span as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArrivedSpan {
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty if it has none.
    pub(crate) parent: String,
    pub(crate) name: String,
    pub(crate) kind: i32,
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) attributes: BTreeMap<String, String>,
    /// The other ends of its links: trace and span.
    pub(crate) links: Vec<(String, String)>,
    pub(crate) is_failure: bool,
}

impl Collector {
    pub(crate) fn start() -> Self {
        Self(TestReceiver::start())
    }

    /// Returns the address that the service is told.
    pub(crate) fn endpoint(&self) -> String {
        self.0.url()
    }

    /// Takes this long to answer from now on.
    pub(crate) fn answer_after(&self, delay: Duration) {
        self.0.answer_with(move |_| Reply::status(200).after(delay));
    }

    /// Refuses everything from now on.
    pub(crate) fn refuse(&self) {
        self.0.answer(503);
    }

    /// Returns the number of requests that came.
    pub(crate) fn requests(&self) -> usize {
        self.0.received().len()
    }

    /// Everything that came, byte by byte, with the heads of the requests.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let whole =
            |request: Received| [format!("{:?}", request.headers).into_bytes(), request.body].concat();
        self.0.received().into_iter().flat_map(whole).collect()
    }

    pub(crate) fn spans(&self) -> Vec<ArrivedSpan> {
        spans_of(&self.0.received())
    }

    /// Waits until the spans are as wanted, and gives all of them.
    #[track_caller]
    pub(crate) fn wait_until(
        &self,
        what: &str,
        mut is_good: impl FnMut(&[ArrivedSpan]) -> bool,
    ) -> Vec<ArrivedSpan> {
        spans_of(&self.0.wait_until(super::PATIENCE, what, |received| is_good(&spans_of(received))))
    }
}

fn spans_of(received: &[Received]) -> Vec<ArrivedSpan> {
    received.iter().flat_map(spans_of_request).collect()
}

fn spans_of_request(request: &Received) -> Vec<ArrivedSpan> {
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/webhooks/v1/traces"));
    assert_eq!(request.header("content-type"), Some("application/x-protobuf"));
    let export = ExportTraceServiceRequest::decode(request.body.as_slice()).unwrap();
    let mut spans = Vec::new();
    for resource in export.resource_spans {
        let about = attributes(&resource.resource.unwrap().attributes);
        assert_eq!(about.get("service.name").map(String::as_str), Some("quita"), "{about:?}");
        spans.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans).map(ArrivedSpan::from));
    }
    spans
}

impl From<Span> for ArrivedSpan {
    fn from(span: Span) -> Self {
        Self {
            trace: hex(&span.trace_id),
            id: hex(&span.span_id),
            parent: hex(&span.parent_span_id),
            name: span.name,
            kind: span.kind,
            began: span.start_time_unix_nano,
            ended: span.end_time_unix_nano,
            attributes: attributes(&span.attributes),
            links: span.links.iter().map(|link| (hex(&link.trace_id), hex(&link.span_id))).collect(),
            is_failure: span.status.is_some_and(|status| status.code == 2),
        }
    }
}

impl ArrivedSpan {
    /// Returns the value of the attribute with this name; empty if there is none.
    pub(crate) fn told(&self, name: &str) -> &str {
        self.attributes.get(name).map_or("", String::as_str)
    }
}

fn attributes(all: &[KeyValue]) -> BTreeMap<String, String> {
    let text = |attribute: &KeyValue| {
        let value = attribute.value.as_ref().unwrap().value.as_ref().unwrap();
        if let any_value::Value::StringValue(text) = value {
            return text.clone();
        }
        let any_value::Value::IntValue(number) = value else { panic!("{} is {value:?}", attribute.key) };
        number.to_string()
    };
    all.iter().map(|attribute| (attribute.key.clone(), text(attribute))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
