//! Hints: notices that something changed, without saying what. The acquirer is asked, and only its answer counts.

use super::draft::Draft;
use super::second::SecondLook;
use super::{Context, Payment};
use crate::acquiring::Reference;
use crate::identity::AcquirerName;
use crate::outbound_call::{CallChange, Progress};
use crate::time::Timestamp;

impl Payment {
    /// Returns true if the acquirer may be asked about the last charge before its hint is stored. The acquirer waits
    /// for the hint to be confirmed, which must not happen before its answer is stored. Any other hint is stored first.
    pub fn may_be_inquired_about(&self, acquirer: &AcquirerName, context: &Context) -> bool {
        let is_known = self.state.attempts.last().is_some_and(|last| !last.call.is_open());
        // An inquiry already under way must not close this hint with its answer.
        let is_asked = self.hinted || self.check.is_some_and(|check| check.planned.is_some());
        // If sums reveal operations, or names reveal charges, the inquiry itself changes state that must be stored.
        let is_plain = !context.operates_in_turn && context.charge_name.is_none();
        let is_in_gap = self.hint_gap_ends(context).is_some_and(|at| at > context.now);
        self.acquirer() == Some(acquirer) && is_known && !is_asked && is_plain && !is_in_gap
    }

    /// Returns the time from which a hint may cause an inquiry. `None` if none was made before.
    fn hint_gap_ends(&self, context: &Context) -> Option<Timestamp> {
        self.inquired_at.max(context.asked_at).map(|at| at.plus_ms(context.hint_gap_ms))
    }
}

impl Draft {
    /// Brings the next inquiry forward, whatever the status. Many hints cause few inquiries. A charge that the hint
    /// names but that is unknown here is asked about too.
    pub(super) fn hinted(&mut self, acquirer: &AcquirerName, charge: &Reference) {
        // Done in any status: nothing else would find a chargeback whose notice was lost.
        let now = self.clock();
        let gap_ends = self.payment.hint_gap_ends(&self.context).unwrap_or(now);
        if self.payment.has_left(acquirer) && !self.context.is_one_account {
            self.name_charge_elsewhere(acquirer, charge);
            if gap_ends <= now {
                self.inquire_about_earlier_charge(acquirer);
                // The answer may be lost with the process, or may not show the charge yet.
                self.look_elsewhere_at(acquirer, self.after(SecondLook::FIRST_STEP_MS));
            } else {
                self.look_elsewhere_at(acquirer, gap_ends);
            }
            return;
        }
        self.remember_charge(charge);
        let at = gap_ends.max(now);
        match self.payment.state.attempts.last().map(|last| (last.call.progress, last.call.next_at)) {
            Some((Progress::Ready | Progress::Sent, _)) => self.remember_hint(),
            Some((Progress::Unknown | Progress::Taken, next_at)) => {
                self.remember_hint();
                // A hint brings an inquiry forward, and never postpones it.
                if next_at.is_none_or(|scheduled| scheduled > at) {
                    self.charge_call(CallChange::Due(at));
                }
            }
            Some((Progress::Ended(_), _)) => self.bring_check_forward(at),
            None => {}
        }
    }
}
