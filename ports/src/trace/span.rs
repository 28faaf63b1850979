//! One piece of work in a trace, while it goes on.

use std::borrow::Cow;
use std::sync::Arc;
use std::thread;

use super::{EndedSpan, Parent, Position, SpanContext, SpanKind, Tracer, Value};

/// Work that goes on. It is over when this is dropped; nothing, if its trace is not recorded.
#[derive(Default)]
#[must_use = "the span is over when this is dropped"]
pub struct Span(Option<Box<Open>>);

struct Open {
    context: SpanContext,
    /// As it will be recorded; the end is not known yet.
    record: EndedSpan,
}

impl Span {
    /// No span: of a trace that is not recorded.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Begins a trace, if there is a tracer and it takes this one.
    pub fn begin(tracer: Option<&Arc<dyn Tracer>>, name: impl FnOnce() -> Cow<'static, str>) -> Self {
        let Some(tracer) = tracer else { return Self::none() };
        let trace = tracer.fresh_trace();
        if !tracer.takes(trace) {
            return Self::none();
        }
        let position = Position { trace, span: tracer.fresh_span() };
        Self::open(SpanContext::new(position, Arc::clone(tracer)), Parent::None, name())
    }

    /// Goes on with a caller's trace, if the tracer takes it.
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

    /// Work that was brought about by the span with this context.
    pub fn child(context: Option<&SpanContext>, name: impl FnOnce() -> Cow<'static, str>) -> Self {
        let Some(parent) = context else { return Self::none() };
        let Position { trace, span } = parent.position();
        let position = Position { trace, span: parent.tracer().fresh_span() };
        let context = SpanContext::new(position, Arc::clone(parent.tracer()));
        Self::open(context, Parent::Here(span), name())
    }

    /// Work that is done for many at once: it begins a trace, with links to all of these spans. None, no span.
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

    /// Of this kind.
    pub fn of_kind(mut self, kind: SpanKind) -> Self {
        if let Some(open) = &mut self.0 {
            open.record.kind = kind;
        }
        self
    }

    /// Records something of it.
    pub fn record(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(open) = &mut self.0 {
            open.record.attributes.push((name, value.into()));
        }
    }

    /// Records something of it, with the name and the value worked out only if it is recorded.
    pub fn record_with(&mut self, record: impl FnOnce(&mut Self)) {
        if self.0.is_some() {
            record(self);
        }
    }

    /// Records that it has to do with another span.
    pub fn link(&mut self, context: Option<&SpanContext>) {
        if let (Some(open), Some(context)) = (&mut self.0, context) {
            open.record.links.push(context.position());
        }
    }

    /// Records that it went wrong.
    pub fn fail(&mut self, what: &'static str) {
        if let Some(open) = &mut self.0 {
            open.record.failure = Some(what);
        }
    }

    /// Its context, for what it brings about.
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
