//! Erasure of the data that identifies the payer (LGPD, law 13.709/2018, articles 16 and 18).
//!
//! Amounts, ids and times stay, and so does everything that late notices, refunds, disputes and replays of a finished
//! payment need. The erased fields are shown as masks. `docs/PRIVACY.md` lists all other places of personal data.

use std::sync::Arc;

use uuid::Uuid;

use super::Payment;
use super::erasure_text::Traces;
use crate::acquiring::Decline;
use crate::event::Event;
use crate::order::{ERASED, Order, Payer, Terms};
use crate::state::State;
use crate::status::Status;
use crate::time::Timestamp;

/// Statuses in which a payment may be finished. A paid one is finished some time after it was paid.
pub const FINISHED_STATUSES: [Status; 5] =
    [Status::Declined, Status::Refund, Status::Cancelled, Status::Expired, Status::Paid];

/// Mask of a card's last digits, with as many asterisks.
const ERASED_LAST_DIGITS: &str = "****";

/// Result of an attempt to erase the payer of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Erasure {
    /// The payment as it is to be stored.
    Erased(Box<Payment>),
    /// The payer was erased before.
    ErasedBefore,
    /// The payment is unchanged: money may still move between it and its payer.
    NotFinished,
}

impl Payment {
    /// Returns true if its payer's data was erased.
    pub const fn is_erased(&self) -> bool {
        self.erased_at.is_some()
    }

    /// Returns true if it is finished: a paid one, if it was paid at this time or earlier.
    pub fn is_finished(&self, paid_until: Timestamp) -> bool {
        match self.status() {
            Status::Declined | Status::Refund | Status::Cancelled | Status::Expired => true,
            Status::Paid => self.state.paid_at.is_some_and(|at| at <= paid_until),
            Status::Initial | Status::Pending | Status::Approved | Status::Chargeback => false,
        }
    }

    /// Returns the time of the last change that its merchant sees. `None` if its payer can't be erased in its current
    /// status, or is already erased.
    pub fn rests_since(&self) -> Option<Timestamp> {
        let may_be_finished = FINISHED_STATUSES.contains(&self.status());
        (may_be_finished && !self.is_erased()).then_some(self.state.updated_at)
    }

    /// Erases the payer's data, if it is finished. Makes no event, and no version that its merchant sees: nothing
    /// happened to the payment.
    #[must_use]
    pub fn erase_payer(&self, paid_until: Timestamp, now: Timestamp, op: Uuid) -> Erasure {
        if self.is_erased() {
            return Erasure::ErasedBefore;
        }
        if !self.is_finished(paid_until) {
            return Erasure::NotFinished;
        }
        let mut erased = self.clone();
        // The traces are read first: once the order is masked, the values to look for in other texts are gone.
        let traces = Traces::of(&self.order);
        erased.cover(&traces);
        erased.erased_at = Some(now);
        erased.keep_erased();
        // The revision rises, so that an actor with the old copy loses the write and reads again. The merchant's
        // version stays.
        erased.revision = erased.revision.saturating_add(1);
        erased.last_op = op;
        Erasure::Erased(Box::new(erased))
    }

    /// Erases data that arrived after the payer was erased, such as a receiver's answer to a redelivered event.
    pub(super) fn keep_erased(&mut self) {
        if !self.is_erased() {
            return;
        }
        Arc::make_mut(&mut self.order).erase();
        // A receiver's answer may quote the event, and with it the payer.
        for attempt in self.outbox.iter_mut().flat_map(|delivery| &mut delivery.attempts) {
            attempt.answer = None;
        }
    }

    /// Masks the payer in texts written by others.
    pub(super) fn cover(&mut self, traces: &Traces) {
        Arc::make_mut(&mut self.order).cover(traces);
        Arc::make_mut(&mut self.state).cover(traces);
        for Event { reason, refund, snapshot, .. } in &mut self.history {
            traces.cover_if_any(reason);
            if let Some(refund) = refund {
                traces.cover_if_any(&mut refund.failure_reason);
            }
            if let Some(snapshot) = snapshot {
                Arc::make_mut(snapshot).cover(traces);
            }
        }
        for operation in &mut self.operations {
            traces.cover_if_any(&mut operation.call.refusal);
        }
        for report in &mut self.reports {
            traces.cover(&mut report.detail);
        }
    }
}

impl Order {
    /// Masks the payer and the merchant's notes, which may contain anything. A repetition changes nothing.
    fn erase(&mut self) {
        self.payer = Payer::erased(self.payer.document.kind());
        for note in self.metadata.values_mut() {
            ERASED.clone_into(note);
        }
        match &mut self.terms {
            Terms::Pix { .. } => {}
            // They may name the payer, or what was bought.
            Terms::DuePix(due) | Terms::Boleto(due) => {
                for text in &mut due.instructions {
                    ERASED.clone_into(text);
                }
            }
            Terms::CreditCard { card, .. } => {
                ERASED.clone_into(&mut card.holder_name);
                ERASED_LAST_DIGITS.clone_into(&mut card.last_digits);
            }
        }
    }

    fn cover(&mut self, traces: &Traces) {
        for item in &mut self.items {
            traces.cover(&mut item.name);
        }
        traces.cover_if_any(&mut self.external_reference);
        traces.cover_if_any(&mut self.postback_url);
        let utm = &mut self.utm;
        for text in [&mut utm.source, &mut utm.medium, &mut utm.campaign, &mut utm.term, &mut utm.content] {
            traces.cover_if_any(text);
        }
        let names = std::mem::take(&mut self.metadata);
        self.metadata = names.into_iter().map(|(name, note)| (traces.covered(name), note)).collect();
    }
}

impl State {
    fn cover(&mut self, traces: &Traces) {
        traces.cover_if_any(&mut self.status_reason);
        if let Some(decline) = &mut self.decline {
            decline.cover(traces);
        }
        for refund in &mut self.refunds {
            traces.cover_if_any(&mut refund.failure_reason);
        }
        for attempt in &mut self.attempts {
            traces.cover_if_any(&mut attempt.call.refusal);
            if let Some(decline) = &mut attempt.decline {
                decline.cover(traces);
            }
        }
    }
}

impl Decline {
    fn cover(&mut self, traces: &Traces) {
        traces.cover(&mut self.code);
        traces.cover_if_any(&mut self.network_code);
        traces.cover_if_any(&mut self.advice);
    }
}
