//! Live rates and percentiles on stderr during the run.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::board::{Board, Phase};
use super::measures::{Slice, millis};
use super::under_way::LONG_WAIT;

/// Shortest slice of time.
const MIN_SLICE: Duration = Duration::from_secs(1);
/// Maximum number of slices of a run, not counting its end.
const MAX_SLICES: u32 = 600;
/// Time between two lines if stderr is not a terminal.
const LINE_EVERY: Duration = Duration::from_secs(5);
/// Width of the bar in characters.
const BAR: u64 = 10;
/// Maximum number of characters of a line, on a wider terminal or none.
const MAX_WIDTH: usize = 79;

/// Shows each slice of time, and then the progress of the checks after the run, until dropped.
pub(super) async fn show(board: Arc<Board>, duration: Duration) {
    let length = MIN_SLICE.max(duration / MAX_SLICES);
    let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + length, length);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let is_terminal = io::stderr().is_terminal();
    let mut shown = Instant::now();
    loop {
        ticks.tick().await;
        // The terminal may have been resized.
        let width = width(if is_terminal { columns() } else { None });
        let line = match board.phase() {
            Phase::Making => {
                let waiting = AwaitedCalls::of(&board);
                fitted(making(&end_slice(&board), duration, board.ledger().unsettled(), waiting), width)
            }
            Phase::Settling { until } => {
                let rest = until.saturating_duration_since(Instant::now());
                let away = AwaitedCalls::of(&board).away;
                fitted(settling(&end_slice(&board), rest, board.ledger().unsettled(), away), width)
            }
            Phase::Checking { done, total } => format!("last check: {done} of {total} payments"),
            Phase::Tracing { done, total } => {
                format!("missing events: deliveries of {done} of {total} payments")
            }
        };
        let line: String = line.chars().take(width).collect();
        let mut stderr = io::stderr().lock();
        // Errors are ignored: progress output is not essential.
        if is_terminal {
            drop(write!(stderr, "\r\x1b[2K{line}").and_then(|()| stderr.flush()));
        } else if shown.elapsed() + MIN_SLICE / 2 >= LINE_EVERY {
            shown = Instant::now();
            drop(writeln!(stderr, "{line}"));
        }
    }
}

/// Calls waiting for their answers.
#[derive(Debug, Clone, Copy, Default)]
struct AwaitedCalls {
    /// Creations and reads in progress.
    calls: usize,
    /// Age of the oldest.
    oldest: Option<Duration>,
    /// Time for which the service has not answered, if it is away.
    away: Option<Duration>,
}

impl AwaitedCalls {
    fn of(board: &Board) -> Self {
        let now = Instant::now();
        let measures = board.measures();
        Self {
            calls: measures.under_way.count(),
            oldest: measures.under_way.oldest(now),
            away: measures.contact.away_for(now),
        }
    }
}

/// Ends the current slice.
pub(super) fn end_slice(board: &Board) -> Slice {
    board.measures().end_slice(board.start.elapsed(), Instant::now())
}

/// Ends the progress line, so that further output starts on a new line.
pub(super) fn end() {
    if io::stderr().is_terminal() {
        drop(writeln!(io::stderr().lock()));
    }
}

/// Returns the number of columns of the terminal.
fn columns() -> Option<u16> {
    rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_col)
}

/// Returns the maximum number of characters of a line: one less than the columns, to leave room for the cursor.
fn width(columns: Option<u16>) -> usize {
    let columns = columns.filter(|columns| *columns > 1);
    columns.map_or(MAX_WIDTH, |columns| usize::from(columns - 1).min(MAX_WIDTH))
}

/// Parts of a line by importance, each with its position among the others.
type LineParts = Vec<(u8, String)>;

/// Returns the line while payments are created.
fn making(slice: &Slice, duration: Duration, unsettled: usize, waiting: AwaitedCalls) -> LineParts {
    let whole_ms = millis(duration).max(1);
    let filled = (slice.end_ms.min(whole_ms) * BAR) / whole_ms;
    let bar: String = (0..BAR).map(|place| if place < filled { '#' } else { '.' }).collect();
    let bar = format!("[{bar}] {} s", slice.end_ms / 1_000);
    let failed = failed(slice);
    let per_second = |count| slice.per_second(count);
    let AwaitedCalls { calls, oldest, away } = waiting;
    let created = format!("{} created/s", per_second(slice.creates));
    let p99 = format!("p99 {}", measured(slice.create_p99));
    match (away, oldest.filter(|oldest| *oldest > LONG_WAIT)) {
        (Some(away), _) => {
            let away = format!("the service has not answered for {} s", away.as_secs());
            vec![(1, away), (0, bar), (2, failed), (3, format!("{calls} under way"))]
        }
        (None, Some(oldest)) => {
            let under_way = format!("{calls} under way for up to {} s", oldest.as_secs());
            vec![(0, bar), (1, created), (2, under_way), (4, failed), (3, p99)]
        }
        (None, None) => vec![
            (0, bar),
            (1, created),
            (3, p99),
            (7, failed),
            (2, format!("p50 {}", measured(slice.create_p50))),
            (4, format!("{calls} under way")),
            (5, format!("{} events/s", per_second(slice.events))),
            (8, format!("open {unsettled}")),
            (6, format!("event p99 {}", measured(slice.event_p99))),
        ],
    }
}

/// Returns the words for calls without the expected answer. Refused ones are listed separately if there are any.
fn failed(slice: &Slice) -> String {
    match slice.refusals {
        0 => format!("failed {}", slice.failures),
        refused => format!("failed {}, refused {refused}", slice.failures),
    }
}

/// Returns the line while events may still arrive.
fn settling(slice: &Slice, rest: Duration, unsettled: usize, away: Option<Duration>) -> LineParts {
    let first = match away {
        Some(away) => format!("the service has not answered for {} s", away.as_secs()),
        None => "waiting for events".into(),
    };
    vec![
        (0, first),
        (2, format!("open {unsettled}")),
        (3, format!("at most {} s more", rest.as_secs())),
        (1, format!("{} events/s", slice.per_second(slice.events))),
    ]
}

/// Joins as many parts as fit, in the order of their positions. The least important are left out first.
fn fitted(parts: LineParts, width: usize) -> String {
    const GAP: &str = "  ";
    let mut room = width + GAP.len();
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

/// Formats milliseconds as seconds, to a tenth.
pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
}

/// Formats microseconds; 0 means that nothing was measured.
fn measured(us: u64) -> String {
    if us == 0 { NOTHING.into() } else { time(us) }
}

/// Symbol for a value that was not measured.
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
        let waiting = AwaitedCalls { calls: 2, oldest: Some(Duration::from_millis(900)), away: None };
        let line = fitted(making(&slice, Duration::from_secs(10), 3, waiting), MAX_WIDTH);
        assert!(line.starts_with("[#####.....] 5 s  100 created/s  p50 –  p99 –"), "{line}");
        assert!(line.ends_with("2 under way  failed 0  open 3"), "{line}");
    }

    #[test]
    fn a_line_says_that_the_service_is_away() {
        let slice = Slice { end_ms: 5_000, length_ms: 1_000, failures: 20, ..Slice::default() };
        let waiting =
            AwaitedCalls { calls: 9, away: Some(Duration::from_millis(2_700)), ..AwaitedCalls::default() };
        let line = |width| fitted(making(&slice, Duration::from_secs(10), 3, waiting), width);
        assert_eq!(
            line(MAX_WIDTH),
            "[#####.....] 5 s  the service has not answered for 2 s  failed 20  9 under way"
        );
        assert_eq!(line(39), "the service has not answered for 2 s", "the most important part is kept");
    }

    #[test]
    fn a_line_says_how_long_the_oldest_request_waits() {
        let slice = Slice { end_ms: 5_000, length_ms: 1_000, ..Slice::default() };
        let waiting = AwaitedCalls { calls: 20, oldest: Some(Duration::from_millis(2_300)), away: None };
        let line = fitted(making(&slice, Duration::from_secs(10), 3, waiting), MAX_WIDTH);
        assert_eq!(line, "[#####.....] 5 s  0 created/s  20 under way for up to 2 s  p99 –  failed 0");
    }

    #[test]
    fn a_line_is_narrower_than_its_terminal() {
        for (columns, expected) in
            [(None, 79), (Some(0), 79), (Some(40), 39), (Some(80), 79), (Some(200), 79)]
        {
            assert_eq!(width(columns), expected, "{columns:?}");
        }
        let slice = Slice { end_ms: 5_000, length_ms: 1_000, creates: 50, ..Slice::default() };
        let waiting = AwaitedCalls::default();
        let line = fitted(making(&slice, Duration::from_secs(10), 3, waiting), width(Some(40)));
        assert_eq!(line, "[#####.....] 5 s  50 created/s  p99 –");
        let line = fitted(settling(&slice, Duration::from_secs(30), 3, None), width(Some(40)));
        assert_eq!(line, "waiting for events  0 events/s  open 3");
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
        let line = fitted(
            making(&slice, Duration::from_secs(86_400), 1_234_567, AwaitedCalls::default()),
            MAX_WIDTH,
        );
        assert!(line.chars().count() <= 79, "{line}");
        for part in ["123456 created/s", "p99 123.45 s", "failed 123456"] {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
}
