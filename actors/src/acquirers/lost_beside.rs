//! Inquiries that are lost while charges are answered.

use quita_domain::time::Timestamp;

use crate::acquirers::call_outcome::CallOutcome;
use crate::acquirers::lost_run::LostRun;

/// Run of lost inquiries, counted from the first answered charge beside them.
#[derive(Debug, Default)]
pub(crate) struct LostBeside {
    run: LostRun,
    /// True once a charge was answered since the last answered inquiry.
    counts: bool,
    /// End of the last lost inquiry that counts.
    last: Option<Timestamp>,
}

impl LostBeside {
    /// Records the end of an inquiry. `why` is the error if it brought no answer.
    pub(crate) fn note(&mut self, outcome: CallOutcome, now: Timestamp, why: Option<&str>) {
        match outcome {
            CallOutcome::Answered | CallOutcome::Refused => *self = Self::default(),
            CallOutcome::Throttled | CallOutcome::NotDelivered | CallOutcome::Unknown => {
                let before = self.run.count;
                self.run.note(outcome, now, why);
                if self.run.count > before {
                    self.last = Some(now);
                }
            }
        }
    }

    /// Records an answered charge. The inquiries lost before it say nothing if `was_away`, or if it is the first: the
    /// acquirer may have been unreachable for both.
    pub(crate) fn charge_answered(&mut self, was_away: bool) {
        if was_away || !self.counts {
            *self = Self { counts: true, ..Self::default() };
        }
    }

    /// Returns the number of lost inquiries.
    pub(crate) const fn count(&self) -> u32 {
        self.run.count
    }

    /// Returns the time at which the first of the lost inquiries ended, if they span a minute.
    pub(crate) fn lasting_since(&self) -> Option<Timestamp> {
        // A pause without inquiries shows nothing, so only the time between two losses counts.
        let last = self.last.filter(|last| self.counts && self.run.lasts(*last))?;
        self.run.since.filter(|since| *since < last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn lose(lost: &mut LostBeside, second: u64) {
        lost.note(CallOutcome::Unknown, NOW.plus_ms(second * 1_000), Some("403"));
    }

    #[test]
    fn only_inquiries_after_an_answered_charge_count_and_only_if_they_span_a_minute() {
        let mut lost = LostBeside::default();
        (0..100).for_each(|second| lose(&mut lost, second));
        assert_eq!(lost.lasting_since(), None, "no charge was answered");
        lost.charge_answered(false);
        assert_eq!(lost.count(), 0);
        (101..=160).for_each(|second| lose(&mut lost, second));
        lost.charge_answered(false);
        assert_eq!(lost.lasting_since(), None, "59 s");
        lose(&mut lost, 161);
        assert_eq!(lost.lasting_since(), Some(NOW.plus_ms(101_000)));
        lost.charge_answered(true);
        assert_eq!(lost.lasting_since(), None, "charges had been lost too");
    }

    #[test]
    fn an_answered_inquiry_ends_them() {
        let mut lost = LostBeside::default();
        lost.charge_answered(false);
        (1..=61).for_each(|second| lose(&mut lost, second));
        assert!(lost.lasting_since().is_some());
        lost.note(CallOutcome::Answered, NOW.plus_ms(62_000), None);
        assert_eq!((lost.lasting_since(), lost.count()), (None, 0));
    }
}
