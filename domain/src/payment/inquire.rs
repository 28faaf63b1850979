//! Inquiring (consulta): what became of a charge or an operation whose outcome is not known.

use super::change::{AttemptChange, CheckChange, OperationChange};
use super::decide::Draft;
use super::schedule::{
    CALL_LEASE_MS, MANY_INQUIRIES, OPEN_FOR_LONG_MS, accepted_wait_ms, hint_wait_ms, inquiry_wait_ms,
};
use super::{Change, Effect};
use crate::identity::AcquirerName;
use crate::operation::Operation;

/// How often an acquirer has to answer that it does not know something until that is believed.
const NOT_FOUND_TIMES: u32 = 2;

/// How long the acquirer must have been asked before the last of these answers: a request that was cut off may still
/// be worked on behind the acquirer's door, and a provider that does not deduplicate would do it twice.
const NOT_FOUND_AFTER_MS: u64 = 20_000;

/// How long after an answer that is not believed yet the acquirer is asked again, at least.
const INQUIRE_AGAIN_MS: u64 = 1_000;

/// What a process knew of a call whose outcome is unknown, when it asked what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inquiring {
    /// Whether the call was known to be over.
    pub call_is_over: bool,
    /// For how long this process had been asking since it knew that of the call, in milliseconds by a clock that never
    /// jumps. What wall clocks say of it is not believed: those of several nodes differ.
    pub for_ms: u64,
}

/// What an acquirer's "not found" is worth.
pub(super) enum NotFound {
    /// It has none, and none is on its way there.
    Believed,
    /// The call may still be under way there: it is asked again after this time.
    AskAgainAfter(u64),
}

impl NotFound {
    /// Judges one more answer, to an inquiry that was made when this was known: a call that was only heard of later to be
    /// over may have ended just before. What was done is shown after this time at the latest, in milliseconds.
    pub(super) const fn judge(
        call_is_over: bool,
        counted: u32,
        inquiring: Option<Inquiring>,
        shows_after_ms: u64,
    ) -> Self {
        let (was_over, for_ms) = match inquiring {
            Some(inquiring) => (inquiring.call_is_over, inquiring.for_ms),
            None => (false, 0),
        };
        let may_last_ms = if call_is_over && was_over { 0 } else { CALL_LEASE_MS };
        let believed_after_ms =
            if shows_after_ms > NOT_FOUND_AFTER_MS { shows_after_ms } else { NOT_FOUND_AFTER_MS };
        let early_ms = believed_after_ms.saturating_add(may_last_ms).saturating_sub(for_ms);
        if counted.saturating_add(1) >= NOT_FOUND_TIMES && early_ms == 0 {
            Self::Believed
        } else {
            Self::AskAgainAfter(if early_ms > INQUIRE_AGAIN_MS { early_ms } else { INQUIRE_AGAIN_MS })
        }
    }
}

impl Draft {
    /// Asks the acquirer about the last charge.
    pub(super) fn push_inquiry(&mut self) {
        let attempt = u32::try_from(self.payment.state.attempts.len()).unwrap_or(u32::MAX);
        if let Some(acquirer) = self.payment.acquirer().cloned() {
            self.push_inquiry_about(acquirer, attempt);
        }
    }

    /// Asks an acquirer about the charge with this number.
    pub(super) fn push_inquiry_about(&mut self, acquirer: AcquirerName, attempt: u32) {
        let stays_hidden = self.payment.hinted && self.is_hidden_by_an_operation();
        self.make(Change::Inquired);
        if stays_hidden {
            // This question can't be answered either, and may never be.
            self.remember_hint();
        }
        self.effects.push(Effect::Inquire(acquirer, attempt));
    }

    /// Asks what became of the last charge, and schedules the next inquiry first.
    pub(super) fn inquire_about_charge(&mut self, acquirer: AcquirerName, inquiries: u32) {
        if inquiries >= MANY_INQUIRIES {
            let detail = format!("{acquirer} was asked {inquiries} times what became of the charge");
            self.outcome_is_unknown(detail, None);
        }
        let wait_ms = self.attempt_wait_ms(inquiries.saturating_add(1));
        self.make(Change::Attempt(AttemptChange::InquiryScheduled(self.after(wait_ms))));
        self.push_inquiry();
    }

    /// A call failed in a way that may have had an effect. It is never asked for at once: the acquirer may still be
    /// at work.
    pub(super) fn inquire_soon(&mut self, at_least_ms: u64) {
        let inquiries = self.payment.state.attempts.last().map_or(0, |attempt| attempt.inquiries);
        let inquire_at = self.after_at_least(inquiry_wait_ms(inquiries), at_least_ms);
        self.make(Change::Attempt(AttemptChange::Unknown { call_is_over: true, inquire_at }));
    }

    /// The inquiry about the last charge had no answer by nobody's fault, and does not count: it was withheld, or the
    /// acquirer wants fewer. A check of a charge that is answered waits for so long.
    pub(super) fn charge_inquiry_postponed(&mut self, at_least_ms: u64, check_waits_ms: u64) {
        let open = self.payment.state.attempts.last().filter(|attempt| attempt.outcome.is_open());
        if let Some(inquiries) = open.map(|attempt| attempt.inquiries.saturating_sub(1)) {
            let at = self.after_at_least(self.attempt_wait_ms(inquiries), at_least_ms);
            self.make(Change::Attempt(AttemptChange::InquiryPostponed(at)));
        } else if let Some(check) = self.payment.check {
            let wait_ms = match check.planned {
                Some(_) => hint_wait_ms(check.asked.saturating_sub(1)),
                None => check_waits_ms,
            };
            self.make(Change::Check(CheckChange::Withheld(self.after_at_least(wait_ms, at_least_ms))));
        }
    }

    /// An acquirer that never has time for an inquiry leaves an outcome open as one that does not answer. Those inquiries
    /// do not count; how long this process has been asking does.
    pub(super) fn report_throttled_inquiry(
        &mut self,
        verb: &str,
        inquiring: Option<Inquiring>,
        about: Option<String>,
    ) {
        if inquiring.is_some_and(|inquiring| inquiring.for_ms >= OPEN_FOR_LONG_MS) {
            let detail = format!("the acquirer wants fewer calls, and never told what became of a {verb}");
            self.outcome_is_unknown(detail, about);
        }
    }

    /// How long after this many inquiries about the last charge the next one follows.
    fn attempt_wait_ms(&self, inquiries: u32) -> u64 {
        let is_registering = self.last_outcome_is(crate::routing::AttemptOutcome::Registering);
        if is_registering { accepted_wait_ms(inquiries) } else { inquiry_wait_ms(inquiries) }
    }

    /// Asks what became of an operation, and schedules the next inquiry first.
    pub(super) fn inquire_about_operation(&mut self, operation: &Operation) {
        let (id, asked) = (operation.id, operation.inquiries.saturating_add(1));
        let wait_ms = Operation { inquiries: asked, ..operation.clone() }.wait_ms();
        self.make(Change::Operation(id, OperationChange::InquiryScheduled(self.after(wait_ms))));
        if let Some(acquirer) = self.payment.acquirer_of(operation).cloned() {
            self.effects.push(Effect::InquireOperation(acquirer, id));
        }
    }

    /// As much as [`Draft::charge_inquiry_postponed`], for an operation.
    pub(super) fn operation_inquiry_postponed(&mut self, operation: &Operation, at_least_ms: u64) {
        let asked = operation.inquiries.saturating_sub(1);
        let wait_ms = Operation { inquiries: asked, ..operation.clone() }.wait_ms();
        let at = self.after_at_least(wait_ms, at_least_ms);
        self.make(Change::Operation(operation.id, OperationChange::InquiryPostponed(at)));
    }
}
