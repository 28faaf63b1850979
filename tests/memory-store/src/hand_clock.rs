//! Clock that is set by hand.

use std::sync::atomic::{AtomicI64, Ordering};

use quita_domain::time::Timestamp;
use quita_ports::Clock;

/// Clock that does not advance until it is set.
#[derive(Default)]
pub struct HandClock(AtomicI64);

impl HandClock {
    /// Sets it, in milliseconds since the Unix epoch.
    pub fn set(&self, millis: i64) {
        self.0.store(millis, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst))
    }
}
