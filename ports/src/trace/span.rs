//! One piece of work in a trace, while it goes on.

use std::borrow::Cow;
use std::sync::Arc;
use std::thread;

use super::{EndedSpan, Parent, Place, Position, SpanKind, Tracer, Value};

/// Work that goes on. It is over when this is dropped; nothing, if its trace is not recorded.
#[derive(Default)]
#[must_use = "the span is over when this is dropped"]
pub struct Span(Option<Box<Open>>);

struct Open {
    place: Place,
    /// As it will be told; the end is not known yet.
    told: EndedSpan,
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
        Self::open(Place::new(position, Arc::clone(tracer)), Parent::None, name())
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
        Self::open(Place::new(position, Arc::clone(tracer)), Parent::Caller(caller.span), name())
    }

    /// Work that was brought about at this place.
    pub fn child(place: Option<&Place>, name: impl FnOnce() -> Cow<'static, str>) -> Self {
        let Some(parent) = place else { return Self::none() };
        let Position { trace, span } = parent.position();
        let position = Position { trace, span: parent.tracer().fresh_span() };
        let place = Place::new(position, Arc::clone(parent.tracer()));
        Self::open(place, Parent::Here(span), name())
    }

    /// Work that is done for many at once: it begins a trace, with links to all of these places. None, no span.
    pub fn shared<'a>(
        places: impl Iterator<Item = &'a Place>,
        name: impl FnOnce() -> Cow<'static, str>,
    ) -> Self {
        let mut places = places.peekable();
        let Some(tracer) = places.peek().map(|place| Arc::clone(place.tracer())) else {
            return Self::none();
        };
        let position = Position { trace: tracer.fresh_trace(), span: tracer.fresh_span() };
        let mut shared = Self::open(Place::new(position, tracer), Parent::None, name());
        places.for_each(|place| shared.link(Some(place)));
        shared
    }

    fn open(place: Place, parent: Parent, name: Cow<'static, str>) -> Self {
        let now = place.tracer().now();
        let told = EndedSpan {
            position: place.position(),
            parent,
            name,
            kind: SpanKind::Internal,
            began: now,
            ended: now,
            attributes: Vec::new(),
            links: Vec::new(),
            failure: None,
        };
        Self(Some(Box::new(Open { place, told })))
    }

    /// Of this kind.
    pub fn of_kind(mut self, kind: SpanKind) -> Self {
        if let Some(open) = &mut self.0 {
            open.told.kind = kind;
        }
        self
    }

    /// Tells something of it.
    pub fn tell(&mut self, name: &'static str, value: impl Into<Value>) {
        if let Some(open) = &mut self.0 {
            open.told.attributes.push((name, value.into()));
        }
    }

    /// Tells something of it, with the name and the value worked out only if it is recorded.
    pub fn tell_with(&mut self, tell: impl FnOnce(&mut Self)) {
        if self.0.is_some() {
            tell(self);
        }
    }

    /// Tells that it has to do with another span.
    pub fn link(&mut self, place: Option<&Place>) {
        if let (Some(open), Some(place)) = (&mut self.0, place) {
            open.told.links.push(place.position());
        }
    }

    /// Tells that it went wrong.
    pub fn fail(&mut self, what: &'static str) {
        if let Some(open) = &mut self.0 {
            open.told.failure = Some(what);
        }
    }

    /// Its place, for what it brings about.
    pub fn place(&self) -> Option<&Place> {
        self.0.as_ref().map(|open| &open.place)
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(open) = self.0.take() else { return };
        let Open { place, mut told } = *open;
        if thread::panicking() {
            told.failure = Some("panicked");
        }
        told.ended = place.tracer().now();
        place.tracer().ended(told);
    }
}
