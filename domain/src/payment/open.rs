//! Opening a payment: the intent, stored before anything leaves the process.

use std::sync::Arc;

use super::decide::Draft;
use super::report::Origin;
use super::schedule::CALL_LEASE_MS;
use super::{Change, Context, Decision, Payment};
use crate::card::CardFingerprint;
use crate::card::token::UsedToken;
use crate::identity::{AcquirerName, LinkId, Owner, TransactionId};
use crate::order::Order;
use crate::outbound_call::{CallChange, Progress};
use crate::routing::{Considered, Routed};
use crate::state::State;
use crate::status::Status;

/// Input from which a payment is opened.
#[derive(Debug, Clone)]
pub struct NewPayment {
    /// Its id.
    pub id: TransactionId,
    /// Its owner.
    pub owner: Owner,
    /// The order, as requested.
    pub order: Order,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    pub fingerprint: Option<String>,
    /// Fingerprint of the card, if tries of one card are counted.
    pub card_fingerprint: Option<CardFingerprint>,
    /// Mark of the card's token that it uses up.
    pub used_token: Option<UsedToken>,
    /// The unguessable part of its public pages' addresses.
    pub page_token: String,
    /// Payment link that it comes by.
    pub link: Option<LinkId>,
    /// Acquirers that were considered; the eligible ones are in the order in which they are tried.
    pub considered: Vec<Considered>,
    /// Rule and table of routes that decided about them.
    pub routed: Routed,
}

impl Payment {
    /// Opens a payment as `initial` with its first acquirer chosen, or as `declined` if there is none.
    pub fn open(new: NewPayment, context: &Context) -> Decision {
        let payment = Self {
            id: new.id,
            revision: 0,
            last_op: context.op,
            owner: new.owner,
            order: Arc::new(new.order),
            fingerprint: new.fingerprint,
            card_fingerprint: new.card_fingerprint,
            used_token: new.used_token,
            page_token: new.page_token,
            link: new.link,
            created_at: context.now,
            considered: new.considered.into(),
            routed: Arc::new(new.routed),
            dice: context.dice,
            state: Arc::new(State::opened(context.now)),
            check: None,
            inquired_at: None,
            hinted: false,
            hidden: false,
            concluded: false,
            concluded_since: None,
            mismatches: 0,
            others: Vec::new(),
            bound_pix: Vec::new(),
            foreign_pix: Vec::new(),
            second_look: None,
            chargebacks: Vec::new(),
            operations: Vec::new(),
            history: Vec::new(),
            outbox: Vec::new(),
            reports: Vec::new(),
            erased_at: None,
        };
        let mut draft = Draft::new(payment, *context);
        draft.charge_first();
        draft.finish(Origin::CREATION)
    }

    /// Returns the next acquirer: the first eligible one that got no charge yet. After a further try there is none.
    pub(super) fn next_acquirer(&self) -> Option<AcquirerName> {
        if self.declined_before().is_some() {
            return None;
        }
        let was_tried =
            |name: &AcquirerName| self.state.attempts.iter().any(|attempt| attempt.acquirer == *name);
        let eligible = self.considered.iter().filter(|considered| considered.eligible);
        eligible.map(|considered| &considered.acquirer).find(|name| !was_tried(name)).cloned()
    }
}

impl Draft {
    /// Sends the first charge, which never left, with a lease of its own. Does nothing if its outcome has changed
    /// meanwhile: then another process has taken it over.
    pub(super) fn send_first_charge(&mut self) {
        let is_first = self.payment.state.attempts.len() == 1 && self.last_outcome_is(Progress::Sent);
        let Some(acquirer) = self.payment.acquirer().cloned() else { return };
        if is_first && self.payment.status() == Status::Initial && self.can_charge() {
            self.charge_call(CallChange::Due(self.clock().plus_ms(CALL_LEASE_MS)));
            self.effects.push(super::Effect::Charge(acquirer));
        }
    }

    /// Begins a charge at this acquirer.
    pub(super) fn start_attempt(&mut self, acquirer: AcquirerName) {
        let inquire_at = self.clock().plus_ms(CALL_LEASE_MS);
        self.make(Change::AttemptStarted { acquirer: acquirer.clone(), inquire_at });
        self.effects.push(super::Effect::Charge(acquirer));
    }
}
