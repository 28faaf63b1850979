//! Live rates and percentiles on stderr, while it runs.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::board::{Board, Phase};
use super::measures::{Slice, millis};

/// Shortest slice of time.
const MIN_SLICE: Duration = Duration::from_secs(1);
/// Maximum number of slices of a run, without its end.
const MAX_SLICES: u32 = 600;
/// Time between two lines if stderr is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Width of the bar in characters.
const BAR: u64 = 10;
/// Maximum number of characters of a line: one less than the columns of the narrowest terminal in use.
const WIDTH: usize = 79;

/// Shows each slice of time, and then the progress of the checks after the run, until it is dropped.
pub(super) async fn show(board: Arc<Board>, duration: Duration) {
    let length = MIN_SLICE.max(duration / MAX_SLICES);
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + length, length);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let is_terminal = io::stderr().is_terminal();
    let mut shown = Instant::now();
    loop {
        ticks.tick().await;
        let line = match board.phase() {
            Phase::Making => {
                let away = board.measures().contact.away_for(Instant::now());
                making(&end_slice(&board), duration, board.ledger().unsettled(), away)
            }
            Phase::Settling { until } => {
                settling(&end_slice(&board), until.saturating_duration_since(Instant::now()), &board)
            }
            Phase::Checking { done, total } => format!("last check: {done} of {total} payments"),
            Phase::Tracing { done, total } => {
                format!("missing events: deliveries of {done} of {total} payments")
            }
        };
        let mut stderr = io::stderr().lock();
        // Errors are ignored: the progress is only for show.
        if is_terminal {
            drop(write!(stderr, "\r\x1b[2K{line}").and_then(|()| stderr.flush()));
        } else if shown.elapsed() + MIN_SLICE / 2 >= LINE_EVERY {
            shown = Instant::now();
            drop(writeln!(stderr, "{line}"));
        }
    }
}

/// Ends the current slice.
pub(super) fn end_slice(board: &Board) -> Slice {
    board.measures().end_slice(board.start.elapsed(), Instant::now())
}

/// Ends the progress line, so that further output starts on its own line.
pub(super) fn end() {
    if io::stderr().is_terminal() {
        drop(writeln!(io::stderr().lock()));
    }
}

/// Returns the line while payments are created. Parts that do not fit are left out, the least important first.
fn making(slice: &Slice, duration: Duration, unsettled: usize, away: Option<Duration>) -> String {
    let whole_ms = millis(duration).max(1);
    let filled = (slice.end_ms.min(whole_ms) * BAR) / whole_ms;
    let bar: String = (0..BAR).map(|place| if place < filled { '#' } else { '.' }).collect();
    let per_second = |count| slice.per_second(count);
    // Ordered by importance; shown in the order of the number.
    let parts = [
        (0, format!("[{bar}] {} s", slice.end_ms / 1_000)),
        (1, format!("{} created/s", per_second(slice.creates))),
        (3, format!("p99 {}", measured(slice.create_p99))),
        (6, format!("failed {}", slice.failures)),
        (2, format!("p50 {}", measured(slice.create_p50))),
        (4, format!("{} events/s", per_second(slice.events))),
        (7, format!("open {unsettled}")),
        (5, format!("event p99 {}", measured(slice.event_p99))),
    ];
    match away {
        Some(away) => {
            let [bar, ..] = parts;
            let failed = format!("failed {}", slice.failures);
            fitted([bar, (1, format!("the service has not answered for {} s", away.as_secs())), (2, failed)])
        }
        None => fitted(parts),
    }
}

/// Returns the line while events may still arrive.
fn settling(slice: &Slice, rest: Duration, board: &Board) -> String {
    let unsettled = board.ledger().unsettled();
    let events = slice.per_second(slice.events);
    format!("waiting for events: {events} events/s  open {unsettled}  at most {} s more", rest.as_secs())
}

/// Joins as many parts as fit, in the order of their numbers.
fn fitted<const N: usize>(parts: [(u8, String); N]) -> String {
    const GAP: &str = "  ";
    let mut room = WIDTH + GAP.len();
    let mut taken: Vec<_> = parts
        .into_iter()
        .filter(|(_, part)| {
            let width = part.chars().count() + GAP.len();
            let fits = width <= room;
            room = room.saturating_sub(if fits { width } else { 0 });
            fits
        })
        .collect();
    taken.sort_unstable();
    taken.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(GAP)
}

/// Formats microseconds for people.
pub(super) fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..100_000 => format!("{}.{} ms", us / 1_000, us % 1_000 / 100),
        100_000..1_000_000 => format!("{} ms", us / 1_000),
        _ => format!("{}.{:02} s", us / 1_000_000, us % 1_000_000 / 10_000),
    }
}

/// Formats microseconds; 0 means that nothing was measured.
fn measured(us: u64) -> String {
    if us == 0 { NOTHING.into() } else { time(us) }
}

/// Sign for a value that was not measured.
pub(super) const NOTHING: &str = "–";

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
        let line = making(&slice, Duration::from_secs(10), 3, None);
        assert!(line.starts_with("[#####.....] 5 s  100 created/s  p50 –  p99 –"), "{line}");
        assert!(line.ends_with("failed 0  open 3"), "{line}");
    }

    #[test]
    fn a_line_says_that_the_service_is_away() {
        let slice = Slice { end_ms: 5_000, length_ms: 1_000, failures: 20, ..Slice::default() };
        let line = making(&slice, Duration::from_secs(10), 3, Some(Duration::from_millis(2_700)));
        assert_eq!(line, "[#####.....] 5 s  the service has not answered for 2 s  failed 20");
    }

    #[test]
    fn a_line_fits_the_narrowest_terminal_and_keeps_what_matters() {
        let slice = Slice {
            end_ms: 86_400_000,
            length_ms: 1_000,
            creates: 123_456,
            events: 246_912,
            failures: 123_456,
            create_p50: 12_345_678,
            create_p99: 123_456_789,
            event_p99: 123_456_789,
            ..Slice::default()
        };
        let line = making(&slice, Duration::from_secs(86_400), 1_234_567, None);
        assert!(line.chars().count() <= 79, "{line}");
        for part in ["123456 created/s", "p99 123.45 s", "failed 123456"] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}
