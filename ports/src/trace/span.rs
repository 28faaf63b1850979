//! Spans under way.

use std::borrow::Cow;
use std::sync::Arc;
use std::thread;

use super::{EndedSpan, Parent, Position, SpanContext, SpanKind, Tracer, Value};

/// A span under way, which ends when this is dropped. It is empty if its trace is not recorded.
#[derive(Default)]
#[must_use = "the span is over when this is dropped"]
pub struct Span(Option<Box<Open>>);

struct Open {
    context: SpanContext,
    /// Record of the span so far, without its end.
    record: EndedSpan,
}

impl Span {
    /// Returns an empty span, for a trace that is not recorded.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Begins a trace, if there is a tracer and it records this one.
    pub fn begin(tracer: Option<&Arc<dyn Tracer>>, name: impl FnOnce() -> Cow<'static, str>) -> Self {
        let Some(tracer) = tracer else { return Self::none() };
        let trace = tracer.fresh_trace();
        if !tracer.takes(trace) {
            return Self::none();
        }
        let position = Position { trace, span: tracer.fresh_span() };
        Self::open(SpanContext::new(position, Arc::clone(tracer)), Parent::None, name())
    }

    /// Continues a caller's trace, if the tracer records it.
    pub fn go_on(
        tracer: &Arc<dyn Tracer>,
        caller: Position,
        name: impl FnOnce() -> Cow<'static, str>,
    ) -> Self {
        if !tracer.takes(caller.trace) {
            return Self::none();
        }
        let position = Position { trace: caller.trace, span: tracer.fresh_span() };
        Self::open(SpanContext::new(position, Arc::clone(tracer)), Parent::Caller(caller.span), name())
    }

    /// Begins a span that was caused by the span with this context.
    pub fn child(context: Option<&SpanContext>, name: impl FnOnce() -> Cow<'static, str>) -> Self {
        let Some(parent) = context else { return Self::none() };
        let Position { trace, span } = parent.position();
        let position = Position { trace, span: parent.tracer().fresh_span() };
        let context = SpanContext::new(position, Arc::clone(parent.tracer()));
        Self::open(context, Parent::Here(span), name())
    }

    /// Begins a trace for work that is done for many spans at once, with links to all of them. Without contexts it is
    /// empty.
    pub fn shared<'a>(
        contexts: impl Iterator<Item = &'a SpanContext>,
        name: impl FnOnce() -> Cow<'static, str>,
    ) -> Self {
        let mut contexts = contexts.peekable();
        let Some(tracer) = contexts.peek().map(|context| Arc::clone(context.tracer())) else {
            return Self::none();
        };
        let position = Position { trace: tracer.fresh_trace(), span: tracer.fresh_span() };
        let mut shared = Self::open(SpanContext::new(position, tracer), Parent::None, name());
        contexts.for_each(|context| shared.link(Some(context)));
        shared
    }

    fn open(context: SpanContext, parent: Parent, name: Cow<'static, str>) -> Self {
        let now = context.tracer().now();
        let record = EndedSpan {
            position: context.position(),
            parent,
            name,
            kind: SpanKind::Internal,
            began: now,
            ended: now,
            attributes: Vec::new(),
            links: Vec::new(),
            failure: None,
        };
        Self(Some(Box::new(Open { context, record })))
    }

    /// Sets the span's kind.
    pub fn of_kind(mut self, kind: SpanKind) -> Self {
        if let Some(open) = &mut self.0 {
            open.record.kind = kind;
        }
        self
    }

    /// Adds an attribute.
    pub fn record(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(open) = &mut self.0 {
            open.record.attributes.push((name, value.into()));
        }
    }

    /// Adds attributes that are computed only if the span is recorded.
    pub fn record_with(&mut self, record: impl FnOnce(&mut Self)) {
        if self.0.is_some() {
            record(self);
        }
    }

    /// Links another span, of this trace or another.
    pub fn link(&mut self, context: Option<&SpanContext>) {
        if let (Some(open), Some(context)) = (&mut self.0, context) {
            open.record.links.push(context.position());
        }
    }

    /// Marks the span as failed.
    pub fn fail(&mut self, what: &'static str) {
        if let Some(open) = &mut self.0 {
            open.record.failure = Some(what);
        }
    }

    /// Returns the context for work that the span causes.
    pub fn context(&self) -> Option<&SpanContext> {
        self.0.as_ref().map(|open| &open.context)
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(open) = self.0.take() else { return };
        let Open { context, mut record } = *open;
        if thread::panicking() {
            record.failure = Some("panicked");
        }
        record.ended = context.tracer().now();
        context.tracer().ended(record);
    }
}
