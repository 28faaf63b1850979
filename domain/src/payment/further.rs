//! Further tries: one more acquirer after a decline that need not be final, because the issuer may approve there.

use super::change::AttemptChange;
use super::charges::MAX_ATTEMPTS;
use super::draft::Draft;
use super::{Change, Command, Payment};
use crate::acquiring::{ChargeAnswer, Decline, DeclineKind, Fact};
use crate::card::CardFingerprint;
use crate::identity::AcquirerName;
use crate::numbering::AttemptNumber;
use crate::routing::{TRIES_ARE_COUNTED_FOR_MS, further_try};
use crate::status::Status;
use crate::time::Timestamp;

impl Payment {
    /// Returns the card whose tries must be counted before this command is decided. `None` if no further try depends on
    /// them.
    pub fn card_to_count(&self, command: &Command, card_at_hand: bool) -> Option<&CardFingerprint> {
        let (attempt, answer) = command.answer_about_a_charge()?;
        let ChargeAnswer::Known(statement) = answer else { return None };
        self.further_acquirer(attempt, &statement.facts, card_at_hand)?;
        self.card_fingerprint.as_ref()
    }

    /// Returns the acquirer for a further try, and the issuer's decline. `None` if the statement ends the payment
    /// regardless of the brand's rules.
    ///
    /// A decline leads to a further try only if nothing else is stated: any other fact may mean that the acquirer took
    /// money.
    fn further_acquirer<'a>(
        &self,
        attempt: AttemptNumber,
        facts: &'a [Fact],
        card_at_hand: bool,
    ) -> Option<(&'a Decline, AcquirerName)> {
        let [Fact::Declined(decline)] = facts else { return None };
        let last = self.state.attempts.last().filter(|_| self.is_last_attempt(attempt))?;
        let may_change = match decline.kind {
            Some(DeclineKind::Reversible) => true,
            Some(DeclineKind::Irreversible) | None => false,
        };
        let is_first_word = last.call.is_open() && self.status() == Status::Initial;
        let can_charge = card_at_hand && self.state.attempts.len() < MAX_ATTEMPTS;
        let goes_further = self.routed.retries_declines && self.method().needs_card_number();
        if !(may_change && is_first_word && can_charge && goes_further) {
            return None;
        }
        Some((decline, self.next_acquirer()?))
    }

    /// Returns the time from which tries of its card no longer count.
    pub(super) fn forgets_card_at(&self) -> Option<Timestamp> {
        self.card_fingerprint.as_ref().map(|_| self.created_at.plus_ms(TRIES_ARE_COUNTED_FOR_MS))
    }
}

impl Draft {
    /// Sends the charge to one further acquirer if possible, and returns true if it did. The facts and the payment's
    /// rule must allow it. The card's tries must have been counted, and some must be left.
    pub(super) fn try_further(&mut self, attempt: AttemptNumber, facts: &[Fact]) -> bool {
        let card = self.payment.order.card().zip(self.context.card_tries);
        let further = self.payment.further_acquirer(attempt, facts, self.context.card_at_hand);
        // Without a count nothing goes further: brands charge for tries beyond their limits (decision 28).
        let (Some((card, tries)), Some((decline, acquirer))) = (card, further) else { return false };
        if further_try(card.brand, decline.advice.as_deref(), tries).is_err() {
            return false;
        }
        self.make(Change::Attempt(AttemptChange::DeclinedForNow(decline.clone())));
        self.start_attempt(acquirer);
        true
    }

    /// Forgets the card's fingerprint once tries of it no longer count.
    pub(super) fn forget_card(&mut self, now: Timestamp) {
        if self.payment.forgets_card_at().is_some_and(|at| at <= now) {
            self.make(Change::CardForgotten);
        }
    }
}
