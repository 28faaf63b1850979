//! Charges beside the one that counts.
//!
//! An acquirer that stores none of our ids creates another charge whenever one is sent again. A request that was
//! believed lost may have arrived, or may arrive minutes later. So every charge that the acquirer names is stored.
//! Minutes after "not found" was believed, the acquirer is asked for all of them. The money or limit of a second charge
//! is given back, once.

use serde::{Deserialize, Serialize};

use super::change::OperationChange;
use super::draft::Draft;
use super::schedule::{spread, step};
use super::{Change, Discrepancy, DiscrepancyKind, Payment};
use crate::acquiring::{Fact, Holding, Reference, SecondCharge, Settlement};
use crate::identity::AcquirerName;
use crate::money::Money;
use crate::numbering::AttemptNumber;
use crate::operation::{
    Operation, OperationKind, OperationRequest, OperationState, RequestedOperation, Surplus,
};
use crate::time::Timestamp;

/// Waits before an acquirer is asked again for all its charges of a payment.
///
/// Gateways keep processing a sale for minutes after its caller gave up, and their queries lag by about as much.
const SECOND_LOOK_STEPS_MS: [u64; 2] = [10 * 60_000, 60 * 60_000];

/// Maximum number of charges besides the last one that are stored and given back, so that the document stays bounded.
const MAX_OTHERS: usize = 8;

/// The next look for all charges of a payment at one acquirer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondLook {
    /// The acquirer that is asked.
    pub acquirer: AcquirerName,
    /// Time of the look.
    pub at: Timestamp,
    /// Time of the scheduled look, if a hint has caused an additional, earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<Timestamp>,
    /// Number of looks before this one.
    #[serde(default, skip_serializing_if = "crate::outbound_call::is_zero")]
    pub made: u32,
}

impl SecondLook {
    /// Returns the longest wait of its schedule, before it is spread.
    pub(super) const fn longest_wait_ms(&self) -> u64 {
        step(&SECOND_LOOK_STEPS_MS, self.made)
    }

    /// First wait of the schedule.
    pub(super) const FIRST_STEP_MS: u64 = SECOND_LOOK_STEPS_MS[0];

    /// Last wait of the schedule, the longest.
    pub(super) const LAST_STEP_MS: u64 = SECOND_LOOK_STEPS_MS[1];

    /// Creates a look that no other follows.
    pub(super) const fn last(acquirer: AcquirerName, at: Timestamp) -> Self {
        Self { acquirer, at, planned: None, made: 1 }
    }

    /// Returns true if another look follows this one.
    pub(super) fn is_followed(&self) -> bool {
        self.planned.is_some() || !Self::is_over(self.made.saturating_add(1))
    }

    /// Returns true if the schedule has no look after this many.
    fn is_over(made: u32) -> bool {
        usize::try_from(made).is_ok_and(|made| made >= SECOND_LOOK_STEPS_MS.len())
    }
}

impl Payment {
    /// Returns true if its acquirer may have more of its charges than are known.
    pub(super) fn may_have_others(&self) -> bool {
        let mut before = self.state.attempts.iter().rev();
        let last = before.next().map(|attempt| &attempt.acquirer);
        !self.others.is_empty() || before.any(|attempt| Some(&attempt.acquirer) == last)
    }

    /// Returns true if a surplus belongs to the last charge: money of a declined payment. `charge_name` is the
    /// reference name under which the acquirer names its charges, if it does.
    fn is_of_last_charge(&self, surplus: &Surplus, charge_name: Option<&str>) -> bool {
        if self.has_left(&surplus.acquirer) {
            return false;
        }
        let Some(last) = self.state.attempts.last().map(|attempt| &attempt.reference) else { return false };
        // Other names in a reference change with each step of the charge.
        match charge_name.and_then(|name| surplus.reference.get(name).map(|given| (name, given))) {
            Some((name, given)) => last.get(name) == Some(given),
            None => last.contains(&surplus.reference),
        }
    }

    /// Returns true if an operation moves the sums of the last charge.
    pub(super) fn is_about_last_charge(&self, operation: &Operation, charge_name: Option<&str>) -> bool {
        operation.surplus.as_ref().is_none_or(|surplus| self.is_of_last_charge(surplus, charge_name))
    }

    /// Returns the sum given back of money that had come in for a declined payment.
    pub(super) fn given_back_after_decline(&self, charge_name: Option<&str>) -> Money {
        let done = |operation: &&Operation| {
            let is_of_it =
                operation.surplus.as_ref().is_some_and(|known| self.is_of_last_charge(known, charge_name));
            is_of_it && operation.state() == OperationState::Done
        };
        let amounts = self.operations.iter().filter(done).map(|operation| match operation.kind {
            OperationKind::Refund(amount) => amount,
            OperationKind::Cancel | OperationKind::Capture(_) => Money::ZERO,
        });
        amounts.sum()
    }
}

impl Draft {
    pub(super) fn learn_reference(&mut self, attempt: AttemptNumber, reference: Reference) {
        let known = self.payment.attempt(attempt);
        if known.is_some_and(|known| !known.reference.contains(&reference)) {
            self.make(Change::ReferenceLearnt(attempt, reference));
        }
    }

    pub(super) fn earlier_charge_was_accepted(&mut self, attempt: AttemptNumber) {
        let what = format!("charge {attempt} was accepted although another one followed it");
        self.contradicted(&what, "accepted", Some(format!("charge {attempt}")));
    }

    /// Stores a charge that its acquirer named. Returns true if it was not known.
    pub(super) fn remember_charge(&mut self, reference: &Reference) -> bool {
        let Some(name) = self.context.charge_name else { return false };
        let Some(given) = reference.get(name) else { return false };
        let is_it = |known: &Reference| known.get(name) == Some(given);
        let is_last = self.payment.state.attempts.last().is_some_and(|last| is_it(&last.reference));
        if is_last || self.payment.others.iter().any(is_it) || self.payment.others.len() >= MAX_OTHERS {
            return false;
        }
        self.make(Change::OtherCharge(Reference::none().with(name, given)));
        true
    }

    /// Returns true if this is not the charge that counts. A paid charge replaces one that was never paid: the payer
    /// used the other code.
    pub(super) fn is_of_another_charge(&self, reference: &Reference, facts: &[Fact]) -> bool {
        let Some(name) = self.context.charge_name else { return false };
        let Some(last) = self.payment.state.attempts.last() else { return false };
        let is_paid = self.payment.state.captured_amount.is_some();
        let has_money = facts.iter().any(|fact| matches!(fact, Fact::Settled(_)));
        let takes_its_place = has_money && !is_paid && self.payment.method().has_code();
        last.reference.differs_in(name, reference) && !last.call.is_open() && !takes_its_place
    }

    /// Inquires again about both charges, because the inquiry was made before it was known which one counts.
    pub(super) fn find_another_charge(&mut self, reference: &Reference) {
        if self.remember_charge(reference) {
            self.bring_check_forward(self.clock());
        }
    }

    /// Makes this charge the one that counts. The one that counted before is kept among the others.
    pub(super) fn count_this_charge(&mut self, attempt: AttemptNumber, reference: Reference) {
        let last = self.payment.state.attempts.last().map(|last| last.reference.clone()).unwrap_or_default();
        let is_another = self.context.charge_name.is_some_and(|name| last.differs_in(name, &reference));
        self.learn_reference(attempt, reference);
        if is_another {
            self.remember_charge(&last);
        }
    }

    /// Stores the charge that an answer about an earlier charge names: the acquirer may have it in addition to the last
    /// one.
    pub(super) fn look_for_earlier_charge(&mut self, attempt: AttemptNumber, reference: &Reference) {
        let acquirer = self.payment.attempt(attempt).map(|attempt| &attempt.acquirer);
        if acquirer == self.payment.acquirer() && self.remember_charge(reference) {
            self.ask_about_last_charge();
        }
    }

    /// Inquires about the last charge at its acquirer, now or with the next scheduled inquiry.
    pub(super) fn ask_about_last_charge(&mut self) {
        if self.payment.last_outcome_is_open() {
            self.remember_hint();
        } else {
            self.bring_check_forward(self.clock());
        }
    }

    /// Schedules one more inquiry about a charge that the acquirer was believed not to have, late enough for delayed
    /// requests to have arrived.
    pub(super) fn look_again_later(&mut self) {
        if self.context.charge_name.is_some() {
            self.look_again_at_this_acquirer();
        }
    }

    /// Schedules that inquiry even if the acquirer does not name charges, because no other charge goes there.
    pub(super) fn look_again_at_this_acquirer(&mut self) {
        if let Some(acquirer) = self.payment.acquirer().cloned() {
            self.schedule_look(acquirer, 0);
        }
    }

    fn schedule_look(&mut self, acquirer: AcquirerName, made: u32) {
        let at = self.clock().plus_ms(spread(step(&SECOND_LOOK_STEPS_MS, made), self.context.dice));
        let next = (!SecondLook::is_over(made)).then_some(SecondLook { acquirer, at, planned: None, made });
        self.make(Change::SecondLook(next));
    }

    /// Asks an acquirer for all its charges of the payment, if that is due.
    pub(super) fn look_again(&mut self, now: Timestamp) {
        let Some(look) = self.payment.second_look.clone().filter(|look| look.at <= now) else { return };
        match look.planned {
            Some(at) => self.make(Change::SecondLook(Some(SecondLook { at, planned: None, ..look.clone() }))),
            None => self.schedule_look(look.acquirer.clone(), look.made.saturating_add(1)),
        }
        // Only one look is stored, so it covers every acquirer that the payment has left in doubt.
        let mut left = self.payment.left_in_doubt();
        if self.payment.has_left(&look.acquirer) && !left.contains(&look.acquirer) {
            left.push(look.acquirer.clone());
        }
        for acquirer in &left {
            self.inquire_about_earlier_charge(acquirer);
        }
        let is_in_doubt = !self.payment.has_left(&look.acquirer) || self.payment.is_sent_again();
        if is_in_doubt && !self.payment.last_outcome_is_open() {
            // As after a hint, inquiries continue until there is an answer.
            self.bring_check_forward(now);
        }
    }

    /// Gives back the money or limit of a charge besides the one that counts, and reports it. While it is undecided
    /// which one counts, the charge is only stored.
    pub(super) fn learn_second_charge(&mut self, second: SecondCharge) -> Result<(), Discrepancy> {
        self.remember_charge(&second.reference);
        let Some(acquirer) = self.payment.acquirer().cloned() else { return Ok(()) };
        if self.payment.last_outcome_is_open() {
            return Ok(());
        }
        Err(self.give_back_second(second, acquirer))
    }

    /// Gives back the money or limit of a charge besides the one that counts, and returns the exception that reports
    /// it.
    pub(super) fn give_back_second(&mut self, second: SecondCharge, acquirer: AcquirerName) -> Discrepancy {
        let SecondCharge { id, reference, holds } = second;
        let (kind, taken, given_back) = match holds {
            Holding::Limit | Holding::Code => (OperationKind::Cancel, Money::ZERO, Money::ZERO),
            Holding::Money { taken, given_back } => {
                (OperationKind::Refund(taken.minus(given_back)), taken, given_back)
            }
        };
        let place = if self.payment.has_left(&acquirer) { format!(" at {acquirer}") } else { String::new() };
        self.give_back(Surplus { id: id.clone(), acquirer, reference, taken, given_back }, kind);
        Discrepancy {
            kind: DiscrepancyKind::SecondCharge,
            detail: format!(
                "a second charge of the payment{place}, {id}, {holds}; it is given back by that id, and the payment is {}",
                self.payment.status()
            ),
            stated: "",
            about: Some(id),
        }
    }

    /// Gives back money that came in for a declined payment.
    pub(super) fn give_back_after_decline(&mut self, settlement: &Settlement) {
        self.bind_pix_to_give_back(settlement.end_to_end_id.as_ref());
        let Some(last) = self.payment.state.attempts.last() else { return };
        let surplus = Surplus {
            id: settlement.id.clone(),
            acquirer: last.acquirer.clone(),
            reference: last.reference.clone(),
            taken: settlement.amount,
            given_back: Money::ZERO,
        };
        self.give_back(surplus, OperationKind::Refund(settlement.amount));
    }

    /// Gives back the money or releases the limit of a charge, once.
    fn give_back(&mut self, surplus: Surplus, kind: OperationKind) {
        let of_surplus = self.payment.operations.iter().filter(|operation| !operation.is_own());
        let is_same = |operation: &Operation| {
            let known = operation.surplus.as_ref().map(|known| (&known.acquirer, &known.id));
            known == Some((&surplus.acquirer, &surplus.id)) && operation.kind.verb() == kind.verb()
        };
        let was_begun = of_surplus.clone().any(is_same);
        // A charge may need a void, and a refund if its capture was faster: two operations for each one.
        if was_begun || of_surplus.count() >= MAX_OTHERS.saturating_mul(2) {
            return;
        }
        let requested = match kind {
            OperationKind::Cancel => RequestedOperation::Cancel,
            OperationKind::Capture(_) => RequestedOperation::Capture(None),
            OperationKind::Refund(_) => RequestedOperation::Refund(None),
        };
        let asked_for = self.operation;
        let request = OperationRequest { id: self.fresh_operation_id(), requested, key: None };
        self.begin(request, kind, Some(surplus));
        // The operation that the caller requested remains the result.
        self.operation = asked_for;
    }

    /// Ends the operation that gave back a surplus under this id, if there is one: the acquirer states that it was
    /// done.
    pub(super) fn surplus_was_given_back(&mut self, id: &str) -> bool {
        let of_surplus = |operation: &&Operation| !operation.is_own() && operation.id.to_string() == id;
        let Some(operation) = self.payment.operations.iter().find(of_surplus) else { return false };
        // Money that was given back as surplus but counts after all is missing from the payment.
        let is_of_own_money = operation
            .surplus
            .as_ref()
            .is_some_and(|surplus| self.payment.state.settlement_id.as_deref() == Some(surplus.id.as_str()));
        let id = operation.id;
        let is_processing = operation.is_processing();
        if is_processing {
            self.make(Change::Operation(id, OperationChange::Done));
        }
        !is_of_own_money
    }
}
