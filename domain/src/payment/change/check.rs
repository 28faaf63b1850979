//! Changes of a charge's next check.

use crate::payment::{Check, Planned};
use crate::time::Timestamp;

/// One change of the next check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::payment) enum CheckChange {
    /// The next check is made at this time, or never if absent. The one before it counts as made.
    Scheduled(Option<Timestamp>),
    /// It is made at this time, before the schedule's.
    BroughtForward(Timestamp),
    /// The inquiry for a hint is made now, and again at this time if there is no answer.
    Asked(Timestamp),
    /// The inquiry for a hint was answered: the schedule goes on at this time.
    Resumed(Timestamp),
    /// The last check was not sent: its missing answer proves nothing, and it does not count. It is made at this time
    /// instead.
    Withheld(Timestamp),
}

impl Check {
    /// Returns the next check after a change.
    pub(in crate::payment) fn after(before: Option<Self>, change: CheckChange) -> Option<Self> {
        let first = |at, planned| Self { at, made: 0, withheld: false, planned, asked: 0 };
        match (change, before) {
            (CheckChange::Scheduled(at), before) => at.map(|at| Self {
                made: before.map_or(0, |check| check.made.saturating_add(1)),
                ..first(at, None)
            }),
            (CheckChange::BroughtForward(at), None) => Some(first(at, Some(Planned::Never))),
            (CheckChange::BroughtForward(at), Some(check)) => {
                let planned = check.planned.unwrap_or(Planned::At(check.at));
                Some(Self { at, planned: Some(planned), asked: 0, ..check })
            }
            (CheckChange::Asked(again_at), check) => {
                check.map(|check| Self { at: again_at, asked: check.asked.saturating_add(1), ..check })
            }
            (CheckChange::Resumed(at), check) => {
                check.map(|check| Self { at, planned: None, asked: 0, ..check })
            }
            (CheckChange::Withheld(at), check) => check.map(|check| match check.planned {
                Some(_) => Self { at, withheld: true, asked: check.asked.saturating_sub(1), ..check },
                None => Self { at, withheld: true, made: check.made.saturating_sub(1), ..check },
            }),
        }
    }

    /// Keeps a hint's check across a change of the status, and the new status's check as its plan.
    pub(in crate::payment) fn kept(hinted: Self, scheduled: Option<Self>) -> Self {
        let planned =
            scheduled.map_or(Planned::Never, |check| check.planned.unwrap_or(Planned::At(check.at)));
        Self { planned: Some(planned), made: scheduled.map_or(0, |check| check.made), ..hinted }
    }
}
