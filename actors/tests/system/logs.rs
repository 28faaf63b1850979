//! A log that remembers warnings and what is said of acquirers, and that can fail: the only outside thing that the
//! front, the pool and the supervisor touch.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Panics once when a line holds the armed text.
#[derive(Clone, Default)]
pub(crate) struct Logs {
    armed: Arc<Mutex<Option<&'static str>>>,
    warnings: Arc<Mutex<Vec<String>>>,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Logs {
    /// The next line that holds this text kills the actor that writes it.
    pub(crate) fn die_at(&self, text: &'static str) {
        *self.armed.lock().unwrap() = Some(text);
    }

    /// Returns true if the death has happened, or was never asked for.
    pub(crate) fn is_unarmed(&self) -> bool {
        self.armed.lock().unwrap().is_none()
    }

    /// The warnings so far.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().unwrap().clone()
    }

    /// Every line so far that tells of acquirers, of any level.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    fn is_fatal(&self, line: &str) -> bool {
        self.armed.lock().unwrap().take_if(|text| line.contains(*text)).is_some()
    }
}

impl Subscriber for Logs {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        assert!(!self.is_fatal(&line.0), "the log fails at: {}", line.0);
        if event.metadata().target().contains("acquirers") {
            self.lines.lock().unwrap().push(line.0.clone());
        }
        if *event.metadata().level() == Level::WARN {
            self.warnings.lock().unwrap().push(line.0);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        use std::fmt::Write;
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}
