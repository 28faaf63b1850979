//! Recorder of the spans of traces, which shows each trace as a tree.

use std::fmt::Write;
use std::num::{NonZeroU64, NonZeroU128};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use quita_ports::trace::{EndedSpan, Parent, Position, SpanId, TraceId, Tracer, Value};

use crate::chance::TestClock;

/// Keeps every span, with ids that count up.
pub(crate) struct Recorder {
    clock: Arc<TestClock>,
    next: AtomicU64,
    is_idle: AtomicBool,
    spans: Mutex<Vec<EndedSpan>>,
}

impl Recorder {
    pub(crate) fn new(clock: Arc<TestClock>) -> Self {
        Self { clock, next: AtomicU64::new(1), is_idle: AtomicBool::new(false), spans: Mutex::default() }
    }

    /// From now on no trace is recorded that begins.
    pub(crate) fn take_no_more(&self) {
        self.is_idle.store(true, Ordering::SeqCst);
    }

    /// The spans with this name, in the order in which they began.
    pub(crate) fn named(&self, name: &str) -> Vec<EndedSpan> {
        let mut spans = self.spans.lock().unwrap().clone();
        spans.retain(|span| span.name == name);
        spans.sort_by_key(|span| span.position.span);
        spans
    }

    /// Returns the number of recorded spans.
    pub(crate) fn count(&self) -> usize {
        self.spans.lock().unwrap().len()
    }

    /// A trace as a tree of names, one a line, in the order in which they began.
    pub(crate) fn tree(&self, trace: TraceId) -> String {
        let mut spans = self.spans.lock().unwrap().clone();
        spans.retain(|span| span.position.trace == trace);
        spans.sort_by_key(|span| span.position.span);
        let mut tree = String::new();
        draw(&spans, None, 0, &mut tree);
        assert_eq!(tree.lines().count(), spans.len(), "some have no parent:\n{spans:#?}");
        tree
    }
}

fn draw(spans: &[EndedSpan], parent: Option<SpanId>, depth: usize, tree: &mut String) {
    let parent_of = |span: &EndedSpan| match span.parent {
        Parent::Here(parent) => Some(parent),
        Parent::None | Parent::Caller(_) => None,
    };
    for span in spans.iter().filter(|span| parent_of(span) == parent) {
        writeln!(tree, "{}{}", "  ".repeat(depth), span.name).unwrap();
        draw(spans, Some(span.position.span), depth + 1, tree);
    }
}

/// Returns the value of a span's attribute with this name, as text.
pub(crate) fn told(span: &EndedSpan, name: &str) -> Option<String> {
    let (_, value) = span.attributes.iter().find(|(known, _)| *known == name)?;
    Some(match value {
        Value::Text(text) => text.to_string(),
        Value::Number(number) => number.to_string(),
    })
}

/// Returns the duration of a span, in milliseconds.
pub(crate) fn lasted_ms(span: &EndedSpan) -> u128 {
    span.ended.duration_since(span.began).unwrap().as_millis()
}

/// Returns true if a span has a link to another one.
pub(crate) fn is_linked(span: &EndedSpan, to: Position) -> bool {
    span.links.contains(&to)
}

impl Tracer for Recorder {
    fn fresh_trace(&self) -> TraceId {
        let next = self.next.fetch_add(1, Ordering::SeqCst);
        TraceId(NonZeroU128::new(next.into()).unwrap())
    }

    fn takes(&self, _: TraceId) -> bool {
        !self.is_idle.load(Ordering::SeqCst)
    }

    fn fresh_span(&self) -> SpanId {
        SpanId(NonZeroU64::new(self.next.fetch_add(1, Ordering::SeqCst)).unwrap())
    }

    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.clock.elapsed_ms())
    }

    fn ended(&self, span: EndedSpan) {
        self.spans.lock().unwrap().push(span);
    }
}
