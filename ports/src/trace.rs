//! Traces: what one call brings about, across actors and threads, as spans that know what began them.
//!
//! Without a [`Tracer`] no trace begins, and then nothing here does anything. A span lasts as long as its own work and
//! not as long as what it began: what is handed on is its [`SpanContext`], never the span. A span records ids, names
//! and numbers; never what a person wrote, and nothing that is secret.

mod share;
mod span;
mod span_context;

use std::borrow::Cow;
use std::num::{NonZeroU64, NonZeroU128};
use std::time::SystemTime;

use quita_domain::identity::TransactionId;

pub use share::{TRACE_SHARE_FORM, TraceShare};
pub use span::Span;
pub use span_context::{Entered, SpanContext, Within, carry, here, within};

/// Takes spans that are over, and says which traces are recorded.
pub trait Tracer: Send + Sync + 'static {
    /// An id that no other trace has.
    fn fresh_trace(&self) -> TraceId;

    /// Whether a trace with this id is recorded.
    fn takes(&self, trace: TraceId) -> bool;

    /// An id that no other span of the same trace has.
    fn fresh_span(&self) -> SpanId;

    /// The wall clock, finer than that of payments.
    fn now(&self) -> SystemTime;

    /// Takes a span that is over. Never waits: what it has no room for is lost.
    fn ended(&self, span: EndedSpan);
}

/// The id of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TraceId(pub NonZeroU128);

/// The id of a span within its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanId(pub NonZeroU64);

/// A span of a trace, by its ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The trace.
    pub trace: TraceId,
    /// The span.
    pub span: SpanId,
}

/// What began a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// Nothing: the trace begins with it.
    None,
    /// Another span of this process.
    Here(SpanId),
    /// A caller's span.
    Caller(SpanId),
}

/// Whose work a span is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    /// Done here.
    Internal,
    /// Done here for a caller from outside.
    Server,
    /// Asked of somebody outside.
    Client,
}

/// What a span records under one name.
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
    /// Which one.
    pub position: Position,
    /// What began it.
    pub parent: Parent,
    /// What was done.
    pub name: Cow<'static, str>,
    /// Whose work it was.
    pub kind: SpanKind,
    /// When it began.
    pub began: SystemTime,
    /// When it was over.
    pub ended: SystemTime,
    /// What it recorded.
    pub attributes: Vec<(&'static str, Value)>,
    /// Spans that it has to do with, of other traces too.
    pub links: Vec<Position>,
    /// What went wrong, if anything did.
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
    /// In microseconds.
    fn from(time: std::time::Duration) -> Self {
        Self::Number(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
    }
}
