//! Sending charges: the first one, the next one, or the same one again. Giving up when no acquirer is left.

use super::change::AttemptChange;
use super::charges::MAX_ATTEMPTS;
use super::draft::Draft;
use super::schedule::CALL_LEASE_MS;
use super::status_change::{NO_ACQUIRER_AVAILABLE, NO_CODE};
use super::{Change, Effect};
use crate::acquiring::Decline;
use crate::event::Cause;
use crate::identity::AcquirerName;
use crate::outbound_call::{CallChange, Progress};
use crate::routing::ChargeEnd;
use crate::status::Status;

/// Reason why a payment ends without an acquirer that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// No acquirer is left to try.
    NoneAvailable,
    /// The last one explicitly refused to take it.
    Refused,
    /// The card's number is no longer in memory, or too many charges were sent.
    Interrupted,
    /// The acquirer that accepted it has no code to pay with.
    NoCode,
}

impl GivenUp {
    /// Returns the reason's name in the record.
    const fn reason(self) -> &'static str {
        match self {
            Self::NoneAvailable => NO_ACQUIRER_AVAILABLE,
            Self::Refused => "acquirer_refused",
            Self::Interrupted => "interrupted",
            Self::NoCode => NO_CODE,
        }
    }
}

impl Draft {
    /// Begins a charge at this acquirer.
    pub(super) fn start_attempt(&mut self, acquirer: AcquirerName) {
        let inquire_at = self.clock().plus_ms(CALL_LEASE_MS);
        self.make(Change::AttemptStarted { acquirer: acquirer.clone(), inquire_at });
        self.effects.push(Effect::Charge(acquirer));
    }

    /// Sends the first charge, or declines the payment if nobody can take it.
    pub(super) fn charge_first(&mut self) {
        self.charge_elsewhere(GivenUp::NoneAvailable);
    }

    /// Sends the charge to the next acquirer, or declines the payment if none is left.
    pub(super) fn charge_elsewhere(&mut self, if_none_is_left: GivenUp) {
        match self.payment.next_acquirer() {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) => self.give_up(GivenUp::Interrupted),
            None => self.give_up(if_none_is_left),
        }
    }

    /// Declines the payment, with the issuer's decline of an earlier charge if there was one.
    pub(super) fn give_up(&mut self, why: GivenUp) {
        if let Some(decline) = self.payment.declined_before().cloned() {
            // The further acquirer states nothing about the charge: the issuer's decline stays final.
            let code = decline.code.clone();
            self.make(Change::Declined(decline));
            self.become_status(Status::Declined, Some(&code), Cause::Acquirer);
            return;
        }
        let is_card = self.payment.method().needs_card_number();
        let (has_decline_code, cause) = match why {
            GivenUp::NoneAvailable | GivenUp::NoCode => (false, Cause::Service),
            GivenUp::Interrupted => (is_card, Cause::Service),
            GivenUp::Refused => (is_card, Cause::Acquirer),
        };
        if has_decline_code {
            self.make(Change::Declined(Decline::of(why.reason())));
        }
        self.become_status(Status::Declined, Some(why.reason()), cause);
    }

    /// Sends the charge to the same acquirer again, which never received it.
    pub(super) fn send_charge_again(&mut self) {
        let acquirer = self.payment.acquirer().cloned();
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::NotDelivered)));
        match acquirer {
            Some(acquirer) if self.can_charge() => self.start_attempt(acquirer),
            Some(_) | None => self.give_up(GivenUp::Interrupted),
        }
    }

    /// Ends a charge that a person has found to hold no money, now or later.
    pub(super) fn charge_is_known_to_hold_nothing(&mut self) {
        self.make(Change::Attempt(AttemptChange::Ended(ChargeEnd::NotDelivered)));
        self.give_up(GivenUp::Interrupted);
    }

    /// Sends the first charge, which never left, with a lease of its own. Does nothing if its outcome has changed
    /// meanwhile: then another process has taken it over.
    pub(super) fn send_first_charge(&mut self) {
        let is_first = self.payment.state.attempts.len() == 1 && self.payment.last_outcome_is(Progress::Sent);
        let Some(acquirer) = self.payment.acquirer().cloned() else { return };
        if is_first && self.payment.status() == Status::Initial && self.can_charge() {
            // The first lease began with a write whose reply was lost, and may be nearly over.
            self.charge_call(CallChange::Due(self.clock().plus_ms(CALL_LEASE_MS)));
            self.effects.push(Effect::Charge(acquirer));
        }
    }

    /// Returns true if another charge could be sent: a card's number must still be in memory.
    pub(super) fn can_charge(&self) -> bool {
        let has_means = self.context.card_at_hand || !self.payment.method().needs_card_number();
        has_means && self.payment.state.attempts.len() < MAX_ATTEMPTS
    }
}
