//! Inquiries (consulta) about charges and operations whose outcome is unknown.

use super::change::CheckChange;
use super::draft::Draft;
use super::schedule::{CALL_LEASE_MS, MANY_INQUIRIES, OPEN_FOR_LONG_MS, hint_wait_ms, inquiry_wait_ms};
use super::{Change, Effect};
use crate::identity::AcquirerName;
use crate::numbering::AttemptNumber;
use crate::operation::Operation;
use crate::outbound_call::{CallChange, OutboundCall};

/// Number of "not found" answers before they are believed.
const NOT_FOUND_TIMES: u32 = 2;

/// Time for which the acquirer must have been asked before the last of these answers. It may still be processing a
/// request that was cut off, and a provider without deduplication would execute it twice.
const NOT_FOUND_AFTER_MS: u64 = 20_000;

/// Shortest wait before the next inquiry after an answer that is not believed yet.
const INQUIRE_AGAIN_MS: u64 = 1_000;

/// Time for which an acquirer may examine a charge for fraud before it is reported to operators. Source: the contract,
/// Pagar.me, "Antifraud".
const REVIEWED_WITHIN_MS: u64 = 48 * 3_600_000;

/// State of a call with unknown outcome, as known to this process when an inquiry was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inquiring {
    /// True if the call was known to be over.
    pub call_is_over: bool,
    /// Time since this process began to ask in that state, in milliseconds of the monotonic clock. Wall clocks are not
    /// trusted here, because those of several nodes differ.
    pub for_ms: u64,
}

/// Weight of an acquirer's "not found".
pub(super) enum NotFound {
    /// Believed: the acquirer has no charge, and none is on its way there.
    Believed,
    /// Not believed: the call may still be under way there. The next inquiry follows after this time.
    AskAgainAfter(u64),
}

impl NotFound {
    /// Judges one more "not found". `shows_after_ms` is the longest time before the acquirer shows what was done.
    pub(super) const fn judge<E: Copy>(
        call: &OutboundCall<E>,
        inquiring: Option<Inquiring>,
        shows_after_ms: u64,
    ) -> Self {
        // If the call was known to be over only after the inquiry was made, it may have ended just before.
        let (was_over, for_ms) = match inquiring {
            Some(inquiring) => (inquiring.call_is_over, inquiring.for_ms),
            None => (false, 0),
        };
        // If nobody reported the end of the call, another process may be making it
        // until its lease is over (decision 9).
        let may_last_ms = if call.is_over && was_over { 0 } else { CALL_LEASE_MS };
        let believed_after_ms =
            if shows_after_ms > NOT_FOUND_AFTER_MS { shows_after_ms } else { NOT_FOUND_AFTER_MS };
        let early_ms = believed_after_ms.saturating_add(may_last_ms).saturating_sub(for_ms);
        if call.not_found.saturating_add(1) >= NOT_FOUND_TIMES && early_ms == 0 {
            Self::Believed
        } else {
            Self::AskAgainAfter(if early_ms > INQUIRE_AGAIN_MS { early_ms } else { INQUIRE_AGAIN_MS })
        }
    }
}

impl Draft {
    /// Sends an inquiry about a charge to its acquirer, which the payment has left, if that acquirer was sent one.
    pub(super) fn inquire_about_earlier_charge(&mut self, acquirer: &AcquirerName) {
        let attempt = self.payment.newest_attempt_at(acquirer);
        if attempt != AttemptNumber::NONE {
            self.push_inquiry_about(acquirer.clone(), attempt);
        }
    }

    /// Sends an inquiry about the last charge.
    pub(super) fn push_inquiry(&mut self) {
        if let Some(acquirer) = self.payment.acquirer().cloned() {
            self.push_inquiry_about(acquirer, self.payment.last_attempt());
        }
    }

    /// Sends an inquiry about the charge with this number.
    fn push_inquiry_about(&mut self, acquirer: AcquirerName, attempt: AttemptNumber) {
        let stays_hidden = self.payment.hinted && self.is_hidden_by_an_operation();
        self.make(Change::Inquired);
        if stays_hidden {
            // The operation hides the answer to this inquiry too, and that answer may be lost.
            self.remember_hint();
        }
        self.effects.push(Effect::Inquire(acquirer, attempt));
    }

    /// Schedules the next inquiry about the last charge, then sends one now.
    pub(super) fn inquire_about_charge(&mut self, acquirer: AcquirerName, inquiries: u32) {
        if inquiries >= MANY_INQUIRIES && !self.may_be_under_review() {
            let detail = format!("{acquirer} was asked {inquiries} times for the outcome of the charge");
            self.outcome_is_unknown(detail, None);
        }
        if let Some(attempt) = self.payment.state.attempts.last() {
            self.charge_call(self.inquiry_scheduled(&attempt.call));
        }
        self.push_inquiry();
    }

    /// Returns true while the acquirer may still be examining the last charge for fraud.
    fn may_be_under_review(&self) -> bool {
        let under_review = self.payment.state.attempts.last().filter(|attempt| attempt.under_review);
        under_review.is_some_and(|attempt| self.clock().ms_since(attempt.at) < REVIEWED_WITHIN_MS)
    }

    /// Schedules an inquiry after a call that may have had an effect. Never immediately, because the acquirer may still
    /// be processing it.
    pub(super) fn inquire_soon(&mut self, at_least_ms: u64) {
        if let Some(attempt) = self.payment.state.attempts.last() {
            self.charge_call(self.call_is_lost(&attempt.call, at_least_ms));
        }
    }

    /// Returns the change to a call that is over and may have had an effect.
    pub(super) fn call_is_lost<E>(&self, call: &OutboundCall<E>, at_least_ms: u64) -> CallChange {
        let next_at = self.after_at_least(inquiry_wait_ms(call.inquiries), at_least_ms);
        CallChange::Unknown { is_over: true, next_at }
    }

    /// Postpones the last charge's unanswered inquiry without counting it. It was withheld, or the acquirer asked for
    /// fewer calls. A check of a charge whose outcome is known waits for `check_waits_ms`.
    pub(super) fn charge_inquiry_postponed(&mut self, at_least_ms: u64, check_waits_ms: u64) {
        let open = self.payment.state.attempts.last().filter(|attempt| attempt.call.is_open());
        if let Some(attempt) = open {
            self.charge_call(self.inquiry_postponed(&attempt.call, at_least_ms));
        } else if let Some(check) = self.payment.check {
            let wait_ms = match check.planned {
                Some(_) => hint_wait_ms(check.asked.saturating_sub(1)),
                None => check_waits_ms,
            };
            self.make(Change::Check(CheckChange::Withheld(self.after_at_least(wait_ms, at_least_ms))));
        }
    }

    /// Reports an outcome that stays open because the acquirer throttles every inquiry. Those inquiries do not count;
    /// the time for which this process has been asking does.
    pub(super) fn report_throttled_inquiry(
        &mut self,
        verb: &str,
        inquiring: Option<Inquiring>,
        about: Option<String>,
    ) {
        if inquiring.is_some_and(|inquiring| inquiring.for_ms >= OPEN_FOR_LONG_MS) {
            let detail =
                format!("the acquirer asks for fewer calls, and has not reported the outcome of a {verb}");
            self.outcome_is_unknown(detail, about);
        }
    }

    /// Returns the change to a call that schedules the inquiry after the one made now.
    fn inquiry_scheduled<E: Copy>(&self, call: &OutboundCall<E>) -> CallChange {
        CallChange::InquiryScheduled(self.after(call.wait_ms(call.inquiries.saturating_add(1))))
    }

    /// Returns the change to a call whose last inquiry does not count.
    fn inquiry_postponed<E: Copy>(&self, call: &OutboundCall<E>, at_least_ms: u64) -> CallChange {
        let wait_ms = call.wait_ms(call.inquiries.saturating_sub(1));
        CallChange::InquiryPostponed(self.after_at_least(wait_ms, at_least_ms))
    }

    /// Schedules the next inquiry about an operation, then sends one now.
    pub(super) fn inquire_about_operation(&mut self, operation: &Operation) {
        self.operation_call(operation.id, self.inquiry_scheduled(&operation.call));
        if let Some(acquirer) = self.payment.acquirer_of(operation).cloned() {
            self.effects.push(Effect::InquireOperation(acquirer, operation.id));
        }
    }

    /// Postpones an operation's inquiry, as [`Draft::charge_inquiry_postponed`] does a charge's.
    pub(super) fn operation_inquiry_postponed(&mut self, operation: &Operation, at_least_ms: u64) {
        self.operation_call(operation.id, self.inquiry_postponed(&operation.call, at_least_ms));
    }
}
