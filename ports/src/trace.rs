//! Traces: everything that one call causes, across actors and threads, as spans linked to their parents.
//!
//! Without a [`Tracer`] no trace begins, and nothing here has an effect. A span lasts as long as its own work, not as
//! long as the work that it causes. The [`SpanContext`] is passed on, never the span. A span records ids, names and
//! numbers; never text that a person wrote, and no secrets.

mod share;
mod span;
mod span_context;

use std::borrow::Cow;
use std::num::{NonZeroU64, NonZeroU128};
use std::time::SystemTime;

use quita_domain::identity::TransactionId;

pub use share::{TRACE_SHARE_FORM, TraceShare};
pub use span::Span;
pub use span_context::{Entered, SpanContext, TracedFuture, carry, here, within};

/// Receiver of ended spans, which decides which traces are recorded.
pub trait Tracer: Send + Sync + 'static {
    /// Returns an id that no other trace has.
    fn fresh_trace(&self) -> TraceId;

    /// Returns true if a trace with this id is recorded.
    fn takes(&self, trace: TraceId) -> bool;

    /// Returns an id that no other span of the same trace has.
    fn fresh_span(&self) -> SpanId;

    /// Returns the wall-clock time, finer than the millisecond of [`crate::Clock`].
    fn now(&self) -> SystemTime;

    /// Receives an ended span. Never waits: spans beyond its capacity are lost.
    fn ended(&self, span: EndedSpan);
}

/// The id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub NonZeroU128);

/// The id of a span within its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub NonZeroU64);

/// Trace id and span id of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
}

/// Origin of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// None: the trace begins with it.
    None,
    /// Another span of this process.
    Here(SpanId),
    /// A span of the caller.
    Caller(SpanId),
}

/// Role of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Work inside this process.
    Internal,
    /// Work for a caller from outside.
    Server,
    /// A request to an outside service.
    Client,
}

/// Value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A word or an id.
    Text(Cow<'static, str>),
    /// A number.
    Number(i64),
}

/// A span that is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedSpan {
    /// Its ids.
    pub position: Position,
    /// The span that caused it.
    pub parent: Parent,
    /// Name of the work.
    pub name: Cow<'static, str>,
    /// Its role.
    pub kind: SpanKind,
    /// Start time.
    pub began: SystemTime,
    /// End time.
    pub ended: SystemTime,
    /// Attributes.
    pub attributes: Vec<(&'static str, Value)>,
    /// Linked spans, of other traces too.
    pub links: Vec<Position>,
    /// Failure, if the work failed.
    pub failure: Option<&'static str>,
}

impl From<&'static str> for Value {
    fn from(text: &'static str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<TransactionId> for Value {
    fn from(id: TransactionId) -> Self {
        id.to_string().into()
    }
}

impl From<u16> for Value {
    fn from(number: u16) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<std::time::Duration> for Value {
    /// Converts to microseconds.
    fn from(time: std::time::Duration) -> Self {
        Self::Number(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
    }
}
