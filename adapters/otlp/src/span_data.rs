//! A span in the exporter's form.

use std::num::{NonZeroU64, NonZeroU128};

use opentelemetry::trace::{Link, SpanContext, SpanKind as Kind, Status, TraceFlags, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use quita_ports::trace::{EndedSpan, Parent, Position, SpanId, SpanKind, TraceId, Value};

/// Converts a span to the exporter's form.
pub(super) fn of(span: EndedSpan, scope: &InstrumentationScope) -> SpanData {
    let (parent_span_id, parent_span_is_remote) = match span.parent {
        Parent::None => (opentelemetry::trace::SpanId::INVALID, false),
        Parent::Here(parent) => (from_span_id(parent), false),
        Parent::Caller(parent) => (from_span_id(parent), true),
    };
    let mut links = SpanLinks::default();
    links.links = span.links.into_iter().map(|to| Link::new(context(to), Vec::new(), 0)).collect();
    SpanData {
        span_context: context(span.position),
        parent_span_id,
        parent_span_is_remote,
        span_kind: match span.kind {
            SpanKind::Internal => Kind::Internal,
            SpanKind::Server => Kind::Server,
            SpanKind::Client => Kind::Client,
        },
        name: span.name,
        start_time: span.began,
        end_time: span.ended,
        attributes: span.attributes.into_iter().map(|(name, value)| attribute(name, value)).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links,
        status: span.failure.map_or(Status::Unset, Status::error),
        instrumentation_scope: scope.clone(),
    }
}

fn attribute(name: &'static str, value: Value) -> KeyValue {
    match value {
        Value::Text(text) => KeyValue::new(name, text),
        Value::Number(number) => KeyValue::new(name, number),
    }
}

fn context(position: Position) -> SpanContext {
    let trace = opentelemetry::trace::TraceId::from_bytes(position.trace.0.get().to_be_bytes());
    let span = from_span_id(position.span);
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::NONE)
}

fn from_span_id(id: SpanId) -> opentelemetry::trace::SpanId {
    opentelemetry::trace::SpanId::from_bytes(id.0.get().to_be_bytes())
}

/// Converts a random id. All zeros is not a valid id, and next to impossible.
pub(super) fn trace_id(drawn: opentelemetry::trace::TraceId) -> TraceId {
    TraceId(NonZeroU128::new(u128::from_be_bytes(drawn.to_bytes())).unwrap_or(NonZeroU128::MIN))
}

/// Converts a random id.
pub(super) fn span_id(drawn: opentelemetry::trace::SpanId) -> SpanId {
    SpanId(NonZeroU64::new(u64::from_be_bytes(drawn.to_bytes())).unwrap_or(NonZeroU64::MIN))
}
