//! Trace of a world: everything that happened in it, line by line.

use std::fmt::Write;
use std::sync::Mutex;

/// Lines of the trace, if they are wanted.
pub(crate) struct Trace(Option<Mutex<String>>);

impl Trace {
    pub(crate) fn new(is_wanted: bool) -> Self {
        Self(is_wanted.then(Mutex::default))
    }

    /// Notes what happened at this time.
    pub(crate) fn note(&self, at_ms: u64, line: impl FnOnce() -> String) {
        if let Some(lines) = &self.0 {
            writeln!(lines.lock().unwrap(), "{at_ms:>8} {}", line()).unwrap();
        }
    }

    /// Returns the whole trace.
    pub(crate) fn text(&self) -> String {
        self.0.as_ref().map(|lines| lines.lock().unwrap().clone()).unwrap_or_default()
    }
}
