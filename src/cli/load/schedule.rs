//! Schedule of the open model: payments due per second, stage by stage.

use std::fmt::{self, Display};
use std::num::NonZeroU32;
use std::time::Duration;

use quita_config::duration::{DURATION_FORM, parse_duration};
use serde::{Serialize, Serializer};

use super::measures::micros;

/// Maximum number of stages of a run: each has its own histogram.
const MAX_STAGES: usize = 20;
/// Maximum rate in payments per second.
const MAX_RATE: u32 = 1_000_000;
/// Maximum length of a stage, and of a run with a single rate. It keeps all products below within 128 bits.
pub(super) const MAX_STAGE: Duration = Duration::from_secs(24 * 3_600);
/// Counting unit: payments are counted in millionths, so a rate of 1 per second is one millionth per microsecond.
const PAYMENT: u128 = 1_000_000;

/// Payments per second over some time: a constant rate, or a ramp between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stage {
    from: u64,
    to: u64,
    length: Duration,
}

/// Stages in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Schedule {
    stages: Vec<Stage>,
}

/// Time at which one payment is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    /// Number of the payment, from 0.
    pub(super) number: u64,
    /// Number of its stage, from 0.
    pub(super) stage: usize,
    /// Time since the start of the run.
    pub(super) at: Duration,
}

/// Reads the rate of a run that has a single one.
pub(super) fn rate(text: &str) -> Result<NonZeroU32, String> {
    let rate = text.parse().ok().filter(|rate: &NonZeroU32| rate.get() <= MAX_RATE);
    rate.ok_or_else(|| format!("must be a whole number of payments a second from 1 to {MAX_RATE}"))
}

impl Schedule {
    /// Creates a schedule with a single rate.
    pub(super) fn steady(rate: NonZeroU32, length: Duration) -> Self {
        let rate = rate.get().into();
        Self { stages: vec![Stage { from: rate, to: rate, length }] }
    }

    /// Reads `10s:50,20s:50-200,30s:200`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.trim_end().strip_suffix(',').is_some_and(|stages| !stages.is_empty()) {
            return Err("no stage follows the last comma; remove it".into());
        }
        let stages: Result<Vec<_>, _> = text.split(',').map(Stage::parse).collect();
        let schedule = Self { stages: stages? };
        if schedule.stages.len() > MAX_STAGES {
            Err(format!("at most {MAX_STAGES} stages are allowed"))
        } else if schedule.payments() == 0 {
            Err("no payment is due in these stages; use a rate above 0".into())
        } else {
            Ok(schedule)
        }
    }

    /// Returns the stages.
    pub(super) fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// Returns the total length of all stages.
    pub(super) fn length(&self) -> Duration {
        self.stages.iter().map(|stage| stage.length).sum()
    }

    /// Returns the number of payments that come due.
    pub(super) fn payments(&self) -> u64 {
        let millionths: u128 = self.stages.iter().map(|stage| stage.due_until(micros(stage.length))).sum();
        u64::try_from(millionths.div_ceil(PAYMENT)).unwrap_or(u64::MAX)
    }

    /// Returns the highest rate.
    pub(super) fn highest_rate(&self) -> u64 {
        self.stages.iter().map(|stage| stage.from.max(stage.to)).max().unwrap_or(0)
    }

    /// Lists the due time of each payment, in order.
    pub(super) fn due(&self) -> impl Iterator<Item = Due> {
        let mut number = 0;
        let mut millionths_before = 0;
        let mut start = Duration::ZERO;
        let stages = self.stages.clone().into_iter().enumerate();
        stages.flat_map(move |(index, stage)| {
            let first = number;
            let began = start;
            let before = millionths_before;
            start += stage.length;
            millionths_before += stage.due_until(micros(stage.length));
            number = u64::try_from(millionths_before.div_ceil(PAYMENT)).unwrap_or(u64::MAX);
            (first..number).map(move |number| {
                // Counted from the start of the run: rounding at each stage would lose or add payments.
                let wanted = (u128::from(number) * PAYMENT).saturating_sub(before);
                Due { number, stage: index, at: began + Duration::from_micros(stage.time_of(wanted)) }
            })
        })
    }
}

impl Stage {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a stage; it must be DURATION:RATE or DURATION:FROM-TO with at most {MAX_RATE} \
                 payments a second, such as 10s:50,20s:50-200,30s:200; a duration is {DURATION_FORM}, up to a day"
            )
        };
        let (length, rates) = text.trim().split_once(':').ok_or_else(wrong)?;
        let is_allowed = |length: &Duration| !length.is_zero() && *length <= MAX_STAGE;
        let length = parse_duration(length).filter(is_allowed).ok_or_else(wrong)?;
        let rate =
            |text: &str| text.parse().ok().filter(|rate| *rate <= u64::from(MAX_RATE)).ok_or_else(wrong);
        let (from, to) = rates.split_once('-').unwrap_or((rates, rates));
        Ok(Self { from: rate(from)?, to: rate(to)?, length })
    }

    /// Returns the millionths of payments that are due this long after the stage's start.
    fn due_until(&self, us: u64) -> u128 {
        let [from, to, us] = [self.from, self.to, us].map(u128::from);
        let twice = 2 * u128::from(micros(self.length)).max(1);
        // Area below the ramp.
        let slope = us * us * from.abs_diff(to) / twice;
        if from <= to { from * us + slope } else { (from * us).saturating_sub(slope) }
    }

    /// Returns the first microsecond at which this many millionths are due.
    fn time_of(&self, millionths: u128) -> u64 {
        let mut early = 0;
        let mut late = micros(self.length);
        while early < late {
            let middle = early + (late - early) / 2;
            if self.due_until(middle) >= millionths {
                late = middle;
            } else {
                early = middle + 1;
            }
        }
        early
    }
}

impl Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = self.length.as_millis();
        if ms.is_multiple_of(1_000) {
            write!(f, "{}s:", ms / 1_000)?
        } else {
            write!(f, "{ms}ms:")?
        }
        if self.from == self.to { write!(f, "{}", self.to) } else { write!(f, "{}-{}", self.from, self.to) }
    }
}

impl Serialize for Stage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times_ms(text: &str) -> Vec<u128> {
        Schedule::parse(text).unwrap().due().map(|due| due.at.as_millis()).collect()
    }

    #[test]
    fn a_rate_is_spread_evenly() {
        assert_eq!(times_ms("2s:2"), [0, 500, 1_000, 1_500]);
        let rate = NonZeroU32::new(20).unwrap();
        let steady = Schedule::steady(rate, Duration::from_secs(3));
        assert_eq!((steady.payments(), steady.due().count()), (60, 60));
    }

    #[test]
    fn a_rate_has_the_bounds_of_a_stage() {
        assert_eq!(["1", "1000000"].map(|text| rate(text).map(NonZeroU32::get)), [Ok(1), Ok(1_000_000)]);
        for text in ["0", "1000001", "4294967295", "4294967296", "-5", "2.5", "fast", ""] {
            let error = rate(text).unwrap_err();
            assert_eq!(error, "must be a whole number of payments a second from 1 to 1000000", "{text}");
        }
    }

    #[test]
    fn a_ramp_comes_due_ever_faster_or_slower() {
        let up = Schedule::parse("10s:0-100").unwrap();
        assert_eq!(up.payments(), 500, "the mean of both rates");
        let in_half =
            |schedule: &Schedule| schedule.due().filter(|due| due.at < Duration::from_secs(5)).count();
        assert_eq!([in_half(&up), in_half(&Schedule::parse("10s:100-0").unwrap())], [125, 375]);
    }

    #[test]
    fn stages_follow_each_other_and_number_their_payments_on() {
        let due: Vec<_> = Schedule::parse("1s:2,1s:0,1s:1-3").unwrap().due().collect();
        assert_eq!(due.iter().map(|due| due.stage).collect::<Vec<_>>(), [0, 0, 2, 2]);
        assert!(due.iter().zip(0..).all(|(due, number)| due.number == number));
        assert!(due.is_sorted_by_key(|due| due.at));
        assert!(due[2].at >= Duration::from_secs(2));
        assert_eq!(Schedule::parse("1s:2,1s:0").unwrap().length(), Duration::from_secs(2));
    }

    #[test]
    fn a_payment_that_begins_in_one_stage_may_come_due_in_the_next() {
        let due: Vec<_> = Schedule::parse("500ms:3,1s:1").unwrap().due().collect();
        assert_eq!(due.iter().map(|due| due.stage).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(due[2].at, Duration::from_secs(1), "half of it was due before");
    }

    #[test]
    fn stages_are_written_as_they_were_read() {
        let text = "10s:50,20s:50-200,500ms:7";
        let stages: Vec<_> = Schedule::parse(text).unwrap().stages().iter().map(Stage::to_string).collect();
        assert_eq!(stages.join(","), text);
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_what_is_allowed() {
        for text in
            ["", "10s", "10s:", "0s:5", "10:5", "10s:-5", "10s:5-", "10s:1000001", "2d:5", "10s:5,,1s:1"]
        {
            let error = Schedule::parse(text).unwrap_err();
            assert!(error.contains("10s:50,20s:50-200,30s:200"), "{text}: {error}");
            assert!(error.starts_with('"'), "even nothing is seen: {error}");
        }
        assert!(Schedule::parse("10s:0").unwrap_err().contains("above 0"));
        assert!(Schedule::parse("10s:5,").unwrap_err().contains("the last comma"));
        let many = vec!["1s:1"; MAX_STAGES + 1].join(",");
        assert!(Schedule::parse(&many).unwrap_err().contains("at most 20"));
    }
}
