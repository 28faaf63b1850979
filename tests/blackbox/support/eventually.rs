//! Waiting without fixed sleeps: ask again until the answer is there or the time is over.

use std::time::{Duration, Instant};

/// Longest wait of a test for what should take a moment. A busy machine with two cores is slow, not wrong.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Shortest and longest pause between two questions.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(250));

/// Asks until there is an answer, the less often the longer it takes: each question takes time from what it waits for.
///
/// # Panics
/// When there is none in time; `what` says what was waited for.
#[track_caller]
pub(crate) fn eventually<T>(within: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        let waited = begun.elapsed();
        assert!(waited < within, "waited {within:?} in vain: {what}");
        pause((waited / 10).clamp(PAUSES.0, PAUSES.1));
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
