//! Hints: an acquirer says that something changed, but not what. It is asked, and only its answer counts.

use super::change::CheckChange;
use super::decide::{Context, Draft};
use super::{Change, Check, Payment};
use crate::acquiring::Reference;
use crate::identity::AcquirerName;
use crate::outbound_call::{CallChange, Progress};
use crate::time::Timestamp;

impl Payment {
    /// Returns true if the acquirer may be asked about the last charge before anything is stored, because it hinted and
    /// waits for the hint to be taken. It must not be told so before its answer is stored. Any other hint is stored
    /// first.
    pub fn may_be_inquired_about(&self, acquirer: &AcquirerName, context: &Context) -> bool {
        let is_known = self.state.attempts.last().is_some_and(|last| !last.call.is_open());
        // What is asked already has its answer to come, and that must not end what this hint asks for.
        let is_asked = self.hinted || self.check.is_some_and(|check| check.planned.is_some());
        // Where sums reveal operations, or names reveal charges, the inquiry itself leaves something to be stored.
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
    /// Brings the next inquiry forward, whatever the status. Many hints cause few inquiries. A charge that is named but
    /// unknown is asked about too.
    pub(super) fn hinted(&mut self, acquirer: &AcquirerName, charge: &Reference) {
        // Any status counts: nothing else would find a chargeback whose notice was lost.
        let now = self.clock();
        let gap_ends = self.payment.hint_gap_ends(&self.context).unwrap_or(now);
        if self.payment.acquirer() != Some(acquirer) {
            self.earlier_charge_hinted(acquirer, gap_ends <= now);
            return;
        }
        self.remember_charge(charge);
        let at = gap_ends.max(now);
        match self.payment.state.attempts.last().map(|last| (last.call.progress, last.call.next_at)) {
            Some((Progress::Ready | Progress::Sent, _)) => self.remember_hint(),
            Some((Progress::Unknown | Progress::Taken, next_at)) => {
                self.remember_hint();
                if next_at.is_none_or(|scheduled| scheduled > at) {
                    self.charge_call(CallChange::Due(at));
                }
            }
            Some((Progress::Ended(_), _)) => self.bring_check_forward(at),
            None => {}
        }
    }

    /// Keeps the hint, because the answer under way may predate it.
    pub(super) fn remember_hint(&mut self) {
        if !self.payment.hinted {
            self.make(Change::Hinted);
        }
    }

    /// Asks an acquirer about an earlier charge, unless it was asked just now. It was believed not to have that charge.
    pub(super) fn earlier_charge_hinted(&mut self, acquirer: &AcquirerName, may_ask: bool) {
        let attempts = self.payment.state.attempts.iter();
        let place = attempts.rev().skip(1).position(|attempt| attempt.acquirer == *acquirer);
        let number =
            place.and_then(|place| self.payment.state.attempts.len().checked_sub(place.saturating_add(1)));
        if let Some(number) = number.and_then(|number| u32::try_from(number).ok()).filter(|_| may_ask) {
            self.push_inquiry_about(acquirer.clone(), number);
        }
    }

    /// Has the charge checked at this time or before, because of a hint. The check survives changes of the status until
    /// it is answered. A check that was brought forward before, and not made yet, is enough.
    pub(super) fn bring_check_forward(&mut self, at: Timestamp) {
        let at = self.payment.check.map_or(at, |check| check.at.min(at));
        let is_it = |check: Check| check.planned.is_some() && check.at <= at && check.asked == 0;
        if !self.payment.check.is_some_and(is_it) {
            self.make(Change::Check(CheckChange::BroughtForward(at)));
        }
    }
}
