//! Conditions that make a run fail: `create.p99>50ms`.

use quita_domain::nearest::nearest;
use serde::Serialize;

use super::latency::{Latency, LatencyKind};
use super::progress::time;
use super::rate::Rate;

/// Allowed conditions, for messages.
const FORM: &str = "must be LATENCY.STATISTIC, COUNT or rate, then > >= < or <=, then a value:\n  \
    LATENCY: create, create.pix, create.boleto, create.card, read, delivery, delay, connection\n  \
    STATISTIC: p50, p90, p99, p99.9, max, with a time such as 800us, 50ms, 2s\n  \
    COUNT: failed, refused, late, skipped, with a whole number or a share such as 5, 0.1%\n  \
    rate: payments created a second, such as 4.5\nsuch as 'create.p99>50ms', 'failed>0', 'rate<1000'";

/// Comparisons, the longer ones first, because the shorter ones are prefixes of them.
const COMPARISONS: [(&str, Comparator); 4] = [
    (">=", Comparator::AtLeast),
    ("<=", Comparator::AtMost),
    (">", Comparator::Above),
    ("<", Comparator::Below),
];

/// Units of time, in microseconds. `ms` and `us` end in `s`, so they come first.
const UNITS: [(&str, u64); 4] = [("us", 1), ("µs", 1), ("ms", 1_000), ("s", 1_000_000)];

/// Statistics of a latency.
const STATISTICS: [(&str, Statistic); 5] = [
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p99", Statistic::P99),
    ("p99.9", Statistic::P999),
    ("max", Statistic::Max),
];

/// Subjects of a condition other than latencies.
const COUNTS: [&str; 5] = ["failed", "refused", "late", "skipped", "rate"];

/// Hundredths of a percent in 100 percent.
const WHOLE: u64 = 10_000;

/// Condition that must not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Threshold {
    text: String,
    quantity: Quantity,
    comparison: Comparator,
    limit: u64,
}

/// Subject of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Percentile in microseconds.
    Latency(LatencyKind, Statistic),
    /// Count.
    Count(Counted),
    /// Count in hundredths of a percent of its maximum.
    Share(Counted),
    /// Payments created per second, in hundredths.
    Rate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Statistic {
    P50,
    P90,
    P99,
    P999,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Failed,
    Refused,
    Late,
    Skipped,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparator {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Figures with which thresholds are compared.
#[derive(Debug)]
pub(super) struct Facts<'a> {
    /// Every latency.
    pub(super) latencies: &'a [Latency],
    /// Creations and reads without the answer that the contract promises.
    pub(super) failed: u64,
    /// Creations and reads answered with 429 or 503.
    pub(super) refused: u64,
    /// Number of creations and reads.
    pub(super) requests: u64,
    /// Payments with a late event.
    pub(super) late: u64,
    /// Number of payments.
    pub(super) payments: u64,
    /// Number of payments that were judged.
    pub(super) judged: u64,
    /// Creations that were due but not sent.
    pub(super) skipped: u64,
    /// Payments created per second.
    pub(super) rate: Rate,
}

/// Result of a threshold after the run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Judged {
    /// Condition as it was given.
    pub(super) condition: String,
    /// Measured value; absent if nothing was measured.
    pub(super) measured: Option<String>,
    /// True if the condition holds, or nothing was measured: then the run fails.
    pub(super) is_crossed: bool,
}

impl Threshold {
    /// Parses one condition.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wrong = |part: String| format!("{part}\na condition {FORM}");
        let (name, comparison, value) = COMPARISONS
            .into_iter()
            .find_map(|(sign, comparison)| {
                let (name, value) = text.split_once(sign)?;
                Some((name.trim(), comparison, value.trim()))
            })
            .ok_or_else(|| wrong(format!("{:?} has no comparison: > >= < or <=", text.trim())))?;
        let (quantity, limit) = quantity(name, value).map_err(wrong)?;
        Ok(Self { text: text.trim().into(), quantity, comparison, limit })
    }

    /// Compares the condition with the measures. If nothing was measured, it counts as crossed, because that proves
    /// nothing.
    pub(super) fn judge(&self, facts: &Facts<'_>) -> Judged {
        let measured = self.measure(facts);
        let is_crossed = measured.as_ref().is_none_or(|(value, _)| match self.comparison {
            Comparator::Above => *value > self.limit,
            Comparator::AtLeast => *value >= self.limit,
            Comparator::Below => *value < self.limit,
            Comparator::AtMost => *value <= self.limit,
        });
        Judged { condition: self.text.clone(), measured: measured.map(|(_, shown)| shown), is_crossed }
    }

    /// Returns the value, and its text.
    fn measure(&self, facts: &Facts<'_>) -> Option<(u64, String)> {
        let counted = |counted| match counted {
            Counted::Failed => (facts.failed, facts.requests),
            Counted::Refused => (facts.refused, facts.requests),
            Counted::Late => (facts.late, facts.judged),
            Counted::Skipped => (facts.skipped, facts.payments.saturating_add(facts.skipped)),
        };
        match self.quantity {
            Quantity::Latency(kind, statistic) => {
                let latency = facts.latencies.iter().find(|latency| latency.kind == kind)?;
                let value = Some(statistic.of(latency)).filter(|_| latency.count > 0)?;
                Some((value, time(value)))
            }
            Quantity::Count(what) => {
                let (count, all) = counted(what);
                Some((count, count.to_string())).filter(|_| all > 0)
            }
            Quantity::Share(what) => {
                let (count, all) = counted(what);
                // Rounded up, so that a share above the limit never looks as if it were within it.
                let share = count.saturating_mul(WHOLE).div_ceil(Some(all).filter(|all| *all > 0)?);
                Some((share, format!("{}.{:02}%", share / 100, share % 100)))
            }
            Quantity::Rate => Some((facts.rate.hundredths(), format!("{} a second", facts.rate))),
        }
    }
}

impl Statistic {
    fn parse(text: &str) -> Option<Self> {
        STATISTICS.into_iter().find(|(name, _)| *name == text).map(|(_, statistic)| statistic)
    }

    fn of(self, latency: &Latency) -> u64 {
        match self {
            Self::P50 => latency.p50,
            Self::P90 => latency.p90,
            Self::P99 => latency.p99,
            Self::P999 => latency.p999,
            Self::Max => latency.max,
        }
    }
}

/// Returns the subject and the limit of a condition, or the part that is wrong.
fn quantity(name: &str, value: &str) -> Result<(Quantity, u64), String> {
    let counted = match name {
        "rate" => {
            let limit = decimal(value);
            let limit = limit.ok_or_else(|| {
                format!("{value:?} is not a rate; it must be a number with at most two decimals, such as 4.5")
            })?;
            return Ok((Quantity::Rate, limit));
        }
        "failed" => Some(Counted::Failed),
        "refused" => Some(Counted::Refused),
        "late" => Some(Counted::Late),
        "skipped" => Some(Counted::Skipped),
        _ => None,
    };
    if let Some(counted) = counted {
        let read = match value.strip_suffix('%') {
            Some(share) => {
                decimal(share).filter(|share| *share <= WHOLE).map(|limit| (Quantity::Share(counted), limit))
            }
            None => whole(value).map(|limit| (Quantity::Count(counted), limit)),
        };
        return read.ok_or_else(|| {
            format!("{value:?} is not a count; it must be a whole number, or a share up to 100% such as 0.1%")
        });
    }
    let latency = LatencyKind::ALL.into_iter().find_map(|kind| {
        let statistic = Statistic::parse(name.strip_prefix(kind.id())?.strip_prefix('.')?)?;
        Some(Quantity::Latency(kind, statistic))
    });
    Ok((latency.ok_or_else(|| unknown_name(name))?, microseconds(value)?))
}

/// Parses a time with its unit, or returns what is wrong with it.
fn microseconds(value: &str) -> Result<u64, String> {
    if whole(value).is_some() {
        return Err(format!("{value:?} has no unit; write {value}ms or {value}s"));
    }
    let unit = UNITS.into_iter().find_map(|(unit, us)| Some((value.strip_suffix(unit)?, us)));
    let limit = unit.and_then(|(number, us)| whole(number)?.checked_mul(us));
    limit.ok_or_else(|| {
        format!("{value:?} is not a time; it must be a whole number with us, ms or s, such as 50ms")
    })
}

/// Returns the error of a name that is no subject of a condition, with the one that was probably meant.
fn unknown_name(name: &str) -> String {
    let latencies = LatencyKind::ALL.into_iter().flat_map(|kind| {
        STATISTICS.into_iter().map(move |(statistic, _)| format!("{}.{statistic}", kind.id()))
    });
    let known: Vec<_> = latencies.chain(COUNTS.map(str::to_owned)).collect();
    let meant = nearest(name, known.iter().map(String::as_str));
    let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    format!("{name:?} is not measured{meant}")
}

fn whole(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

/// Parses a number with at most two decimals, in hundredths.
fn decimal(text: &str) -> Option<u64> {
    let (units, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let decimals = Some(decimals).filter(|decimals| (1..=2).contains(&decimals.len()))?;
    let hundredths = whole(&format!("{decimals:0<2}"))?;
    whole(units)?.checked_mul(100)?.checked_add(hundredths)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::*;

    fn judge(text: &str) -> (Option<String>, bool) {
        judge_run(text, 1_000)
    }

    /// Judges a run of 1,000 payments of which so many were judged.
    fn judge_run(text: &str, judged: u64) -> (Option<String>, bool) {
        let mut create = Histogram::<u64>::new_with_bounds(1, 600_000_000, 3).unwrap();
        (1..=100).for_each(|ms| create.saturating_record(ms * 1_000));
        let latencies = [
            Latency::new(LatencyKind::Create, &create),
            Latency::new(LatencyKind::CreatePix, &create),
            Latency::new(LatencyKind::Read, &Histogram::new(3).unwrap()),
        ];
        let facts = Facts {
            latencies: &latencies,
            failed: 1,
            refused: 0,
            requests: 2_000,
            late: 3,
            payments: 1_000,
            judged,
            skipped: 0,
            rate: Rate::of(250, 1_000),
        };
        let judged = Threshold::parse(text).unwrap().judge(&facts);
        (judged.measured, judged.is_crossed)
    }

    #[test]
    fn a_condition_that_holds_is_crossed() {
        for (text, is_crossed) in [
            ("create.p99>50ms", true),
            ("create.p50>100ms", false),
            ("create.p99.9>=1s", false),
            ("create.pix.max > 99000us", true),
            ("failed>0", true),
            ("failed>1", false),
            ("failed>=0.05%", true),
            ("failed>0.05%", false),
            ("late>1%", false),
            ("refused>0", false),
            ("rate<250", false),
            ("rate<=250", true),
            ("rate<250.01", true),
            ("rate<249.5", false),
        ] {
            assert_eq!(judge(text).1, is_crossed, "{text}");
        }
    }

    #[test]
    fn what_was_measured_is_shown() {
        for (text, shown) in
            [("create.max>1s", "100 ms"), ("failed>5%", "0.05%"), ("late>9", "3"), ("rate<1", "250 a second")]
        {
            assert_eq!(judge(text).0.as_deref(), Some(shown), "{text}");
        }
    }

    #[test]
    fn nothing_measured_proves_nothing() {
        assert_eq!(judge("read.p99>1s"), (None, true));
        assert_eq!(judge("delivery.p99>1s"), (None, true));
        for text in ["late>1%", "late>5"] {
            assert_eq!(judge_run(text, 0), (None, true), "no payment was judged: {text}");
        }
        assert_eq!(judge_run("skipped>0", 0), (Some("0".into()), false));
    }

    #[test]
    fn what_is_no_condition_is_refused_with_what_is_allowed() {
        for text in [
            "",
            "create",
            "create.p99",
            "create.p99=5ms",
            "create.p99>",
            "create.p99>50",
            "create.p98>5ms",
            "create.cash.p99>5ms",
            "createp99>5ms",
            "create.p99>5.5ms",
            "create.p99>-5ms",
            "failed>5ms",
            "failed>101%",
            "failed>0.001%",
            "failed>1.%",
            "rate<5%",
            "read>5ms",
        ] {
            let message = Threshold::parse(text).unwrap_err();
            assert!(message.contains("create.p99>50ms") && message.contains("p99.9"), "{text}: {message}");
        }
    }

    #[test]
    fn the_part_of_a_condition_that_is_wrong_is_named() {
        for (text, expected) in [
            ("creat.p99>5ms", "\"creat.p99\" is not measured; did you mean create.p99?"),
            ("create.p98 > 5ms", "\"create.p98\" is not measured; did you mean create.p90?"),
            ("fialed>0", "\"fialed\" is not measured; did you mean failed?"),
            ("xyz>5", "\"xyz\" is not measured"),
            ("create.p99>5", "\"5\" has no unit; write 5ms or 5s"),
            (
                "create.p99>5.5ms",
                "\"5.5ms\" is not a time; it must be a whole number with us, ms or s, such as 50ms",
            ),
            ("create.p99=5ms", "\"create.p99=5ms\" has no comparison: > >= < or <="),
            (
                "late>101%",
                "\"101%\" is not a count; it must be a whole number, or a share up to 100% such as 0.1%",
            ),
            (
                "rate<4.555",
                "\"4.555\" is not a rate; it must be a number with at most two decimals, such as 4.5",
            ),
        ] {
            let message = Threshold::parse(text).unwrap_err();
            assert_eq!(message.lines().next(), Some(expected), "{text}");
        }
    }
}
