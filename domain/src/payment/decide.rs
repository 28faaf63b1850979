//! Decisions on commands.

use super::draft::Draft;
use super::report::Origin;
use super::{Command, Context, Discrepancy, Effect, Payment, Refusal};
use crate::delivery::Confirmation;
use crate::identity::OperationId;

/// Result of a command.
#[derive(Debug)]
pub struct Decision {
    /// The payment to be stored; `None` if nothing changes.
    pub next: Option<Payment>,
    /// Actions for when it is stored.
    pub effects: Vec<Effect>,
    /// Discrepancies for operators.
    pub discrepancies: Vec<Discrepancy>,
    /// Discrepancies that are not stored with the payment: the caller must handle them.
    pub unstored: Vec<Discrepancy>,
    /// End-to-end ids of reported Pix that are not this payment's: each may belong to another one.
    pub stray_pix: Vec<String>,
    /// The operation that was begun or found, for an operation.
    pub operation: Option<OperationId>,
    /// True if the operation existed before, under the same key.
    pub is_replay: bool,
}

impl Payment {
    /// Decides on a command. Pure: the payment itself is unchanged.
    ///
    /// # Errors
    /// A [`Refusal`] if a merchant requests something that the payment does not allow.
    pub fn decide(&self, command: Command, context: &Context) -> Result<Decision, Refusal> {
        self.decide_with(&[], command, context)
    }

    /// Decides on a command together with confirmations that are not stored yet. The confirmations go into the write
    /// that the command causes; a command without changes causes no write for them.
    ///
    /// # Errors
    /// As [`Payment::decide`].
    pub fn decide_with(
        &self,
        confirmed: &[Confirmation],
        command: Command,
        context: &Context,
    ) -> Result<Decision, Refusal> {
        let mut draft = Draft::new(self.clone(), *context);
        // They come first, so that the command can claim the event behind a confirmed one.
        for confirmation in confirmed {
            draft.confirm(confirmation);
        }
        // Before the command, which compares due times with the clock: after a clock jump they would be far in the
        // future.
        draft.pull_due_times_in();
        let origin = Origin::of(&command);
        match command {
            Command::ChargeAnswered { attempt, answer } => draft.charge_answered(attempt, answer),
            Command::Inquired { attempt, asked_at, inquiring, answer } => {
                draft.charge_inquired(attempt, asked_at, inquiring, answer);
            }
            Command::Notified { acquirer, fact } => draft.notified(&acquirer, fact),
            Command::Hinted { acquirer, charge } => draft.hinted(&acquirer, &charge),
            Command::Operate(request) => draft.operate(request)?,
            Command::OperationAnswered { operation, sending, answer } => {
                draft.operation_answered(operation, sending, answer);
            }
            Command::OperationInquired { operation, sending, inquiring, answer } => {
                draft.operation_inquired(operation, sending, inquiring, answer);
            }
            Command::OperationResolved { operation, verdict } => {
                draft.operation_resolved(operation, verdict)?;
            }
            Command::ChargeResolved { attempt, verdict } => draft.charge_resolved(attempt, verdict)?,
            Command::MismatchEnded => draft.end_mismatch()?,
            Command::DeliveryAnswered { delivery, attempt } => draft.delivery_answered(delivery, attempt),
            Command::Redeliver { delivery } => draft.redeliver(delivery)?,
            Command::Deliver { held } => draft.claim_due_deliveries(&held),
            Command::Wake => draft.wake(),
            Command::InquireNow => draft.inquire_now(),
            Command::Reported(keys) => draft.reported(keys),
            Command::PixTaken { pix, other } => draft.pix_is_taken(pix, other),
            Command::ChargeNeverLeft => draft.send_first_charge(),
        }
        // The command may have ended an operation that the next one was waiting for.
        draft.send_operation_in_turn();
        draft.ask_again_what_was_hidden();
        Ok(draft.finish(origin))
    }
}

impl Draft {
    /// Prepares the draft for its write: counts versions, stores reports for operators, claims due deliveries.
    pub(super) fn finish(mut self, origin: Origin) -> Decision {
        // Versions are counted first, because a report's source contains the version in which it was found.
        self.count_unversioned_changes();
        let unstored = self.store_reports(origin);
        if self.has_changed() {
            // The write that adds an event also claims its delivery, which saves a separate write for the claim
            // (decision 22).
            self.claim_due_deliveries(&[]);
            // Last, since any change above may have brought the payer's data back.
            self.payment.keep_erased();
            self.payment.revision = self.payment.revision.saturating_add(1);
            self.payment.last_op = self.context.op;
        }
        Decision {
            next: self.has_changed().then_some(self.payment),
            effects: self.effects,
            discrepancies: self.discrepancies,
            unstored,
            stray_pix: self.stray_pix,
            operation: self.operation,
            is_replay: self.is_replay,
        }
    }
}
