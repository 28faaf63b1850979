//! A payment: one document that holds everything about it.
//!
//! `open` creates it, `decide` answers a command with changes and effects (and may refuse), `apply` makes the changes
//! (and may not refuse). Nothing else changes a payment.
//!
//! A decision is made on a `Draft`. Its files depend on each other in one direction. From the bottom up they are:
//! `draft`; queries (`charges`, `operations`, `permit`); scheduling and sending (`check`, `inquire`, `operate`,
//! `charge`); learning facts (`second`, `dispute`, `refunded`, `learn`); answers (`answer`, `outcome`, `resolve`) and
//! timed steps (`due`); `decide`.

mod answer;
mod apply;
mod archive;
mod change;
mod charge;
mod charges;
mod check;
mod command;
mod context;
mod decide;
mod discrepancy;
mod dispute;
mod draft;
mod due;
mod effect;
mod elsewhere;
mod erase;
mod erasure_text;
mod further;
mod hint;
mod inquire;
mod learn;
mod open;
mod operate;
mod operations;
mod outcome;
mod permit;
mod pix_taken;
mod refunded;
mod refusal;
mod report;
mod resolve;
mod room;
mod schedule;
mod second;
mod status_change;
mod tell;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::acquiring::{ChargeQuery, Reference};
use crate::card::CardFingerprint;
use crate::card::token::UsedToken;
use crate::delivery::{Delivery, DeliveryState, Receiver, address_of};
use crate::event::Event;
use crate::identity::{AcquirerName, LinkId, Owner, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::numbering::{AttemptNumber, DeliveryIndex, EventSequence};
use crate::operation::{Operation, OperationKind};
use crate::order::Order;
use crate::routing::{Considered, Routed};
use crate::state::State;
use crate::status::Status;
use crate::time::Timestamp;

pub use archive::ARCHIVED_AFTER_AT_LEAST_MS;
use change::Change;
pub use command::Command;
pub use context::Context;
pub use decide::Decision;
pub use discrepancy::{Discrepancy, DiscrepancyKind};
pub use dispute::{Chargeback, DisputeStatus, WonDispute};
pub use effect::Effect;
pub use erase::{Erasure, FINISHED_STATUSES};
pub use inquire::Inquiring;
pub use open::NewPayment;
pub use operate::STATUS_CHANGED;
pub use refusal::Refusal;
pub use report::{MAX_REPORTS, REPORT_LEASE_MS, Report, source_now};
pub use resolve::RESOLVED_BY_OPERATOR;
pub use schedule::{CALL_LEASE_MS, HINT_GAP_MS};
pub use second::SecondLook;
pub use status_change::{AMOUNT_MISMATCH, NO_ACQUIRER_AVAILABLE};
pub use tell::MayWait;

/// Everything about one payment. Cheap to clone: large parts are shared until they change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Payment {
    /// Its id.
    pub id: TransactionId,
    /// Number of writes so far: the guard that lets only one writer win.
    pub revision: u64,
    /// Id that is fresh for every write. After a lost reply it shows whether our write won.
    pub last_op: Uuid,
    /// Its owner.
    pub owner: Owner,
    /// The order, as requested.
    pub order: Arc<Order>,
    /// Keyed hash of the request, if it came with an `Idempotency-Key`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Fingerprint of the card, if tries per card are counted. Removed when they no longer count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_fingerprint: Option<CardFingerprint>,
    /// Mark of the card token that this payment used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_token: Option<UsedToken>,
    /// The unguessable part of its public pages' addresses.
    pub page_token: String,
    /// Payment link through which it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkId>,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Acquirers that were considered; the eligible ones are in the order in which they are tried.
    pub considered: Arc<[Considered]>,
    /// Routing rule and table of routes that decided this.
    #[serde(default)]
    pub routed: Arc<Routed>,
    /// Random number that chose between equal acquirers. With it the same plan can be reproduced.
    #[serde(with = "dice")]
    pub dice: u64,
    /// Current state.
    pub state: Arc<State>,
    /// Changes of status, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Event>,
    /// Deliveries of events, in the order of their creation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<Delivery>,
    /// Next inquiry about a charge whose outcome is known, and the number of earlier ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Time of the last inquiry about one of its charges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inquired_at: Option<Timestamp>,
    /// True if a hint came since the last inquiry, while the outcome of the charge was open. The acquirer is asked as
    /// soon as the outcome is known, since the hint may be newer than the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hinted: bool,
    /// True if an operation may have been under way at the last inquiry about the charge. If only sums reveal
    /// operations, it hid movements by others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// True if the acquirer takes no more money for the charge, but has another amount than requested. It is no longer
    /// asked, and only a person can end the payment.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub concluded: bool,
    /// Time at which the acquirer first stated that it takes no more money for the charge, without showing any. The
    /// money may follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concluded_since: Option<Timestamp>,
    /// Number of answers about a different charge or amount than the requested one.
    #[serde(default, skip_serializing_if = "crate::outbound_call::is_zero")]
    pub mismatches: u32,
    /// The acquirer's names for the payment's charges other than its last one, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Reference>,
    /// End-to-end ids of the Pix that paid it, or that came in for it and are given back. Within one mode a Pix belongs
    /// to one payment: the store refuses a second one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_pix: Vec<String>,
    /// End-to-end ids that its acquirer stated for it but that belong to other payments: the last 64. Nothing stated
    /// about them is trusted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_pix: Vec<String>,
    /// Next inquiry for all charges of the payment at an acquirer that was believed to have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_look: Option<SecondLook>,
    /// Chargebacks learnt so far, oldest first, with the disputes that were won. With them repetitions have no effect,
    /// in whatever order they arrive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chargebacks: Vec<Chargeback>,
    /// Cancellations, captures and refunds, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<Operation>,
    /// Discrepancies for operators that are not known to be stored as exceptions yet, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<Report>,
    /// Time at which all personal data of its payer was erased. Such data is not kept if it comes later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_at: Option<Timestamp>,
}

/// The next inquiry about a charge. The charge waits for its payer or ended unpaid a short while ago, or the acquirer
/// hinted that something changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// Time of the inquiry.
    pub at: Timestamp,
    /// Number of earlier checks made by the schedule.
    pub made: u32,
    /// True if an operator's directive withheld the previous check: it had no answer because nobody was asked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
    /// Scheduled check, if a hint brought this one forward. Until this one is answered it does not count as one of the
    /// schedule's checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<Planned>,
    /// Number of inquiries without an answer since the last hint.
    #[serde(default, skip_serializing_if = "crate::outbound_call::is_zero")]
    pub asked: u32,
}

/// Plan of the schedule for a check that was brought forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Planned {
    /// A check at this time.
    At(Timestamp),
    /// No check.
    Never,
}

/// Serde form of 64 bits, as the stores keep them: a signed integer.
pub(crate) mod dice {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
    pub(crate) fn serialize<S: Serializer>(dice: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(dice.cast_signed())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        i64::deserialize(deserializer).map(i64::cast_unsigned)
    }
}

impl Payment {
    /// Returns the status.
    pub fn status(&self) -> Status {
        self.state.status
    }

    /// Returns the state for a change. The last event keeps a snapshot of the state that it reported.
    fn state_mut(&mut self) -> &mut State {
        // A webhook shows the state right after its event, however late it is sent. The copy is made only when the
        // state changes.
        if let Some(event) = self.history.last_mut()
            && event.snapshot.is_none()
        {
            event.snapshot = Some(Arc::clone(&self.state));
        }
        Arc::make_mut(&mut self.state)
    }

    /// Returns the payment method.
    pub fn method(&self) -> Method {
        self.order.method
    }

    /// Returns true if it is a card payment that no issuer is known to have approved.
    pub(crate) fn was_never_approved(&self) -> bool {
        self.method().can_be_captured() && self.state.authorization_code.is_none()
    }

    /// Returns the state right after an event of its history, which the webhook shows in every attempt.
    pub fn as_of<'a>(&'a self, event: &'a Event) -> &'a State {
        event.snapshot.as_deref().unwrap_or(&self.state)
    }

    /// Returns true if the last charge has no number of a slip.
    pub fn lacks_number(&self) -> bool {
        self.state.attempts.last().is_some_and(|attempt| attempt.our_number.is_none())
    }

    /// Gives the last charge the number of its slip. To be called before the charge is stored.
    pub fn allot(&mut self, our_number: u32) {
        if let Some(attempt) = self.state_mut().attempts.last_mut() {
            attempt.our_number = Some(our_number);
        }
    }

    /// Returns the query by which its acquirer identifies the payment's charge.
    pub fn query(&self) -> ChargeQuery {
        let last = self.state.attempts.last();
        ChargeQuery {
            id: self.id,
            method: self.order.method,
            amount: self.order.amount,
            paid_amount: self.state.captured_amount,
            refunded_amount: self.state.refunded_amount(),
            created_at: self.created_at,
            sent_at: last.map_or(self.created_at, |attempt| attempt.at),
            expired_at: self.state.expired_at,
            cancelled_at: self.state.cancelled_at,
            attempt: self.last_attempt(),
            card: self.order.card().cloned(),
            issued: self.state.issued.clone(),
            captures_at_once: self.order.captures_at_once(),
            terms: self.order.terms.clone(),
            splits: self.order.splits.clone(),
            reference: last.map(|attempt| attempt.reference.clone()).unwrap_or_default(),
            our_number: last.and_then(|attempt| attempt.our_number),
            others: self.others.clone(),
            may_have_others: self.may_have_others(),
            foreign_pix: self.foreign_pix.clone(),
            operation_under_way: self.own_operations().any(Operation::may_have_an_effect),
        }
    }

    /// Returns the query by which the acquirer identifies the charge of an operation.
    pub fn query_for(&self, operation: &Operation) -> ChargeQuery {
        let Some(surplus) = &operation.surplus else { return self.query() };
        let own = self.query_of(self.newest_attempt_at(&surplus.acquirer));
        let is_of_money = matches!(operation.kind, OperationKind::Refund(_));
        // Besides the charge that counts, its acquirer has others under unknown numbers.
        let our_number = own.our_number.filter(|_| self.has_left(&surplus.acquirer));
        ChargeQuery {
            reference: surplus.reference.clone(),
            our_number,
            others: Vec::new(),
            may_have_others: false,
            paid_amount: is_of_money.then_some(surplus.taken),
            refunded_amount: surplus.given_back,
            operation_under_way: false,
            ..own
        }
    }

    /// Returns the acquirer that an operation is sent to, and that is asked about it.
    pub fn acquirer_of<'a>(&'a self, operation: &'a Operation) -> Option<&'a AcquirerName> {
        operation.surplus.as_ref().map(|surplus| &surplus.acquirer).or_else(|| self.acquirer())
    }

    /// Returns the operations on the payment's own charge.
    pub fn own_operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter().filter(|operation| operation.is_own())
    }

    /// Returns the query for the charge with this number. The acquirer may have more charges than are known for an
    /// earlier one.
    pub fn query_of(&self, attempt: AttemptNumber) -> ChargeQuery {
        let own = self.query();
        if self.is_last_attempt(attempt) {
            return own;
        }
        let meant = self.attempt(attempt);
        let own = if meant.is_some_and(|meant| self.has_left(&meant.acquirer)) {
            // Later changes of the payment belong to another acquirer's charge.
            ChargeQuery {
                paid_amount: None,
                refunded_amount: Money::ZERO,
                expired_at: None,
                cancelled_at: None,
                issued: None,
                operation_under_way: false,
                ..own
            }
        } else {
            own
        };
        ChargeQuery {
            attempt,
            sent_at: meant.map_or(self.created_at, |attempt| attempt.at),
            reference: meant.map(|attempt| attempt.reference.clone()).unwrap_or_default(),
            our_number: meant.and_then(|attempt| attempt.our_number),
            others: Vec::new(),
            may_have_others: true,
            ..own
        }
    }

    /// Returns true if an inquiry made after this one answered every hint, and the answer could be learnt. While an
    /// operation of ours is under way, movements by others can't always be learnt.
    pub fn was_answered_since(&self, inquired_at: Option<Timestamp>) -> bool {
        let is_open = self.state.attempts.last().is_some_and(|attempt| attempt.call.is_open());
        let is_hinted = self.hinted || self.check.is_some_and(|check| check.planned.is_some());
        let is_beside_ours = self.own_operations().any(Operation::is_processing);
        self.inquired_at != inquired_at && !is_open && !is_hinted && !is_beside_ours
    }

    /// Returns the time at which the timer must wake it: the earliest of all open steps. `None` if nothing is open.
    pub fn due_at(&self) -> Option<Timestamp> {
        // Only the last charge can be open: each earlier one was ended in the write that began its successor.
        let attempt = self.state.attempts.last().filter(|attempt| attempt.call.is_open());
        let operations = self.operations.iter().filter_map(|operation| operation.call.next_at);
        let reports = self.reports.iter().map(|report| report.due_at);
        let check = self.check.map(|check| check.at);
        let inquiry = attempt.and_then(|attempt| attempt.call.next_at);
        let card = self.forgets_card_at();
        let look = self.second_look.as_ref().map(|look| look.at);
        inquiry.into_iter().chain(look).chain(check).chain(operations).chain(reports).chain(card).min()
    }

    /// Returns the acquirers that its next steps call.
    pub fn acquirers_of_next_steps(&self) -> impl Iterator<Item = &AcquirerName> {
        let is_open = self.state.attempts.last().is_some_and(|attempt| attempt.call.is_open());
        let of_charge = self.acquirer().filter(|_| is_open || self.check.is_some());
        let operations = self.operations.iter().filter(|operation| operation.call.next_at.is_some());
        let of_operations = operations.filter_map(|operation| self.acquirer_of(operation));
        let of_look = self.second_look.iter().map(|look| &look.acquirer);
        of_charge.into_iter().chain(of_operations).chain(of_look)
    }

    /// Returns the time at which the next delivery may be attempted. `None` if nothing is left to deliver.
    pub fn outbox_at(&self) -> Option<Timestamp> {
        self.deliverable().filter_map(|(_, delivery)| delivery.next_attempt_at).min()
    }

    /// Returns the receiver of its events, if it has one.
    pub fn receiver(&self) -> Option<Receiver> {
        let Owner { merchant, mode, .. } = &self.owner;
        let address = address_of(self.order.postback_url.as_deref()?);
        Some(Receiver { mode: *mode, merchant: merchant.clone(), address })
    }

    /// Returns the deliveries that may be sent: the first unfinished one, and every redelivery requested by hand.
    pub(crate) fn deliverable(&self) -> impl Iterator<Item = (DeliveryIndex, &Delivery)> {
        let pending = |delivery: &Delivery| delivery.state == DeliveryState::Pending;
        // Events reach their receiver in order: the next one waits until this one is confirmed or exhausted.
        let first = self.outbox.iter().position(|delivery| pending(delivery) && delivery.repeats.is_none());
        let may_go = move |&(index, delivery): &(usize, &Delivery)| {
            pending(delivery) && (delivery.repeats.is_some() || Some(index) == first)
        };
        let deliveries = self.outbox.iter().enumerate().filter(may_go);
        deliveries.map(|(index, delivery)| (DeliveryIndex::at(index), delivery))
    }

    /// Returns the delivery with this index.
    pub fn delivery(&self, index: DeliveryIndex) -> Option<&Delivery> {
        self.outbox.get(index.place())
    }

    /// Returns the event with this number.
    pub fn event(&self, sequence: EventSequence) -> Option<&Event> {
        self.history.iter().find(|event| event.sequence == sequence)
    }
}
