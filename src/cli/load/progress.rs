//! Live rates and percentiles on stderr, while it runs.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::board::Board;
use super::measures::{Slice, millis};

/// Shortest slice of time.
const MIN_SLICE: Duration = Duration::from_secs(1);
/// The most slices of a run, without its end.
const MAX_SLICES: u32 = 600;
/// Between two lines where nobody watches a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Characters of the bar.
const BAR: u64 = 10;

/// Cuts time into slices and shows each; until it is dropped by who runs it.
pub(super) async fn show(board: Arc<Board>, duration: Duration) {
    let length = MIN_SLICE.max(duration / MAX_SLICES);
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + length, length);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let is_terminal = io::stderr().is_terminal();
    let mut shown = Instant::now();
    loop {
        ticks.tick().await;
        let slice = end_slice(&board);
        let line = line(&slice, duration, board.ledger().unsettled());
        let mut stderr = io::stderr().lock();
        // If nobody can see it, nothing is lost.
        if is_terminal {
            // A line wider than the terminal is cut there, or it could not be written over.
            drop(write!(stderr, "\r\x1b[2K\x1b[?7l{line}\x1b[?7h").and_then(|()| stderr.flush()));
        } else if shown.elapsed() + MIN_SLICE / 2 >= LINE_EVERY {
            shown = Instant::now();
            drop(writeln!(stderr, "{line}"));
        }
    }
}

/// Ends the slice under way.
pub(super) fn end_slice(board: &Board) -> Slice {
    board.measures().end_slice(board.start.elapsed(), Instant::now())
}

/// Leaves the line of the progress, so that what follows starts on one of its own.
pub(super) fn end() {
    if io::stderr().is_terminal() {
        drop(writeln!(io::stderr().lock()));
    }
}

fn line(slice: &Slice, duration: Duration, unsettled: usize) -> String {
    let whole_ms = millis(duration).max(1);
    let filled = (slice.end_ms.min(whole_ms) * BAR) / whole_ms;
    let bar: String = (0..BAR).map(|place| if place < filled { '#' } else { '.' }).collect();
    let per_second = |count| slice.per_second(count);
    format!(
        "[{bar}] {} s  {} created/s  {} read/s  {} webhooks/s  p50 {}  p99 {}  event p99 {}  failed {}  open {unsettled}",
        slice.end_ms / 1_000,
        per_second(slice.creates),
        per_second(slice.reads),
        per_second(slice.events),
        measured(slice.create_p50),
        measured(slice.create_p99),
        measured(slice.event_p99),
        slice.failures,
    )
}

/// Microseconds as people read them.
pub(super) fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..100_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        100_000..1_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{}.{:02} s", us / 1_000_000, us % 1_000_000 / 10_000),
    }
}

/// The same, of a slice in which there may have been none.
fn measured(us: u64) -> String {
    if us == 0 { "–".into() } else { time(us) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_a_unit_that_fits() {
        for (us, expected) in
            [(0, "0 µs"), (999, "999 µs"), (1_250, "1.2 ms"), (250_000, "250 ms"), (12_345_678, "12.34 s")]
        {
            assert_eq!(time(us), expected);
        }
    }

    #[test]
    fn a_line_tells_rates_whatever_the_length_of_the_slice() {
        let slice = Slice { end_ms: 5_000, length_ms: 500, creates: 50, ..Slice::default() };
        let line = line(&slice, Duration::from_secs(10), 3);
        assert!(line.starts_with("[#####.....] 5 s  100 created/s"), "{line}");
        assert!(line.ends_with("open 3"), "{line}");
    }
}
