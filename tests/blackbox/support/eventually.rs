//! Waiting without fixed sleeps: ask again until the answer is there or the time is over.

use std::time::{Duration, Instant};

/// Longest wait of a test for what should take a moment. A busy machine with two cores is slow, not wrong.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

const STEP: Duration = Duration::from_millis(10);

/// Asks until there is an answer.
///
/// # Panics
/// When there is none in time; `what` says what was waited for.
#[track_caller]
pub(crate) fn eventually<T>(within: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + within;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited {within:?} in vain: {what}");
        pause(STEP);
    }
}

/// Lets some time go by. Only for asking again, and for proving that something does *not* happen.
pub(crate) fn pause(time: Duration) {
    let end = Instant::now() + time;
    // A parked thread may wake up early.
    while let Some(rest) = end.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
        std::thread::park_timeout(rest);
    }
}
