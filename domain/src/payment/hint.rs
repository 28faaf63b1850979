//! Hints: an acquirer says that something changed, but not what. It is asked, and only its answer counts.

use super::change::{AttemptChange, CheckChange};
use super::decide::Draft;
use super::{Change, Check};
use crate::acquiring::Reference;
use crate::identity::AcquirerName;
use crate::routing::AttemptOutcome;
use crate::time::Timestamp;

impl Draft {
    /// Brings the next inquiry forward, whatever the status. Many hints cause few inquiries. A charge that is named but
    /// unknown is asked about too.
    pub(super) fn hinted(&mut self, acquirer: &AcquirerName, charge: &Reference) {
        // Any status counts: nothing else would find a chargeback whose notice was lost.
        let now = self.clock();
        let gap_ends = self.payment.inquired_at.map_or(now, |at| at.plus_ms(self.context.hint_gap_ms));
        if self.payment.acquirer() != Some(acquirer) {
            self.earlier_charge_hinted(acquirer, gap_ends <= now);
            return;
        }
        self.remember_charge(charge);
        let at = gap_ends.max(now);
        match self.payment.state.attempts.last().map(|attempt| (attempt.outcome, attempt.inquire_at)) {
            Some((AttemptOutcome::Sent, _)) => self.remember_hint(),
            Some((AttemptOutcome::Unknown | AttemptOutcome::Registering, inquire_at)) => {
                self.remember_hint();
                if inquire_at.is_none_or(|scheduled| scheduled > at) {
                    self.make(Change::Attempt(AttemptChange::InquiryBroughtForward(at)));
                }
            }
            Some((AttemptOutcome::Accepted | AttemptOutcome::Declined | AttemptOutcome::NotDelivered, _)) => {
                self.bring_check_forward(at);
            }
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
