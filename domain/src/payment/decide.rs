//! Commands, and what is decided on them.

use uuid::Uuid;

use super::inquire::Inquiring;
use super::report::Origin;
use super::schedule::{spread, spread_upwards};
use super::{Change, Discrepancy, Payment, Refusal};
use crate::acquiring::{ChargeAnswer, Fact, OperationAnswer, Reference};
use crate::delivery::{Confirmation, DeliveryAttempt, Lease};
use crate::identity::AcquirerName;
use crate::operation::{OperationRequest, Verdict};
use crate::routing::CardTries;
use crate::time::Timestamp;

/// What a payment is told or asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// The acquirer answered a charge.
    ChargeAnswered {
        /// Which of the payment's charges, from 1.
        attempt: u32,
        /// The answer.
        answer: ChargeAnswer,
    },
    /// The acquirer answered what became of a charge.
    Inquired {
        /// Which of the payment's charges, from 1.
        attempt: u32,
        /// [`Payment::inquired_at`] when it was asked: which inquiry this answers.
        asked_at: Option<Timestamp>,
        /// What was known of the call when it was asked. `None` when the outcome was known and this was a check of a
        /// charge that waits for its payer.
        inquiring: Option<Inquiring>,
        /// The answer.
        answer: ChargeAnswer,
    },
    /// An acquirer sent a notice.
    Notified {
        /// Who: it binds nobody but the charge there.
        acquirer: AcquirerName,
        /// What it states.
        fact: Fact,
    },
    /// An acquirer hinted that something changed.
    Hinted {
        /// Login of the person.
        acquirer: AcquirerName,
        /// Its own name for the charge, if it named one.
        charge: Reference,
    },
    /// The merchant wants to cancel, capture or refund.
    Operate(OperationRequest),
    /// The acquirer answered an operation.
    OperationAnswered {
        /// Which.
        operation: Uuid,
        /// Which sending of it, from 1.
        sending: u32,
        /// The answer.
        answer: OperationAnswer,
    },
    /// The acquirer answered what became of an operation.
    OperationInquired {
        /// Which.
        operation: Uuid,
        /// Which sending of it was asked about.
        sending: u32,
        /// As in [`Command::Inquired`].
        inquiring: Option<Inquiring>,
        /// The answer.
        answer: OperationAnswer,
    },
    /// A person says what became of an operation that is stuck.
    OperationResolved {
        /// Which.
        operation: Uuid,
        /// Its outcome.
        verdict: Verdict,
    },
    /// A person says what became of the last charge, which no answer tells.
    ChargeResolved {
        /// Which of the payment's charges, from 1.
        attempt: u32,
        /// Its outcome.
        verdict: Verdict,
    },
    /// A person ends a payment whose acquirer takes no more money, although what it has is not what was asked for.
    MismatchEnded,
    /// An attempt to deliver ended.
    DeliveryAnswered {
        /// Place in the outbox.
        delivery: u32,
        /// How it went.
        attempt: DeliveryAttempt,
    },
    /// What is due for delivery can be sent now.
    Deliver {
        /// Leases that the caller holds itself, and that may still run.
        held: Vec<Lease>,
    },
    /// The merchant wants an event again.
    Redeliver {
        /// Place in the outbox.
        delivery: u32,
    },
    /// Something may be due.
    Wake,
    /// An operator wants the acquirer asked now what became of whatever is open.
    InquireNow,
    /// The exceptions of the reports with these keys are stored.
    Reported(Vec<String>),
    /// The first charge is stored, and certainly never left: its creator did not learn that it is stored.
    ChargeNeverLeft,
}

/// Matches a command with a reference to its name, behind some other text.
macro_rules! named {
    ($command:expr, $before:literal) => {
        match $command {
            Command::ChargeAnswered { .. } => &concat!($before, "charge_answered"),
            Command::Inquired { .. } => &concat!($before, "inquired"),
            Command::Notified { .. } => &concat!($before, "notified"),
            Command::Hinted { .. } => &concat!($before, "hinted"),
            Command::Operate(_) => &concat!($before, "operate"),
            Command::OperationAnswered { .. } => &concat!($before, "operation_answered"),
            Command::OperationInquired { .. } => &concat!($before, "operation_inquired"),
            Command::OperationResolved { .. } => &concat!($before, "operation_resolved"),
            Command::ChargeResolved { .. } => &concat!($before, "charge_resolved"),
            Command::MismatchEnded => &concat!($before, "mismatch_ended"),
            Command::DeliveryAnswered { .. } => &concat!($before, "delivery_answered"),
            Command::Redeliver { .. } => &concat!($before, "redeliver"),
            Command::Deliver { .. } => &concat!($before, "deliver"),
            Command::Wake => &concat!($before, "wake"),
            Command::InquireNow => &concat!($before, "inquire_now"),
            Command::Reported(_) => &concat!($before, "reported"),
            Command::ChargeNeverLeft => &concat!($before, "charge_never_left"),
        }
    };
}

impl Command {
    /// What is to be done, in a word or two.
    pub const fn name(&self) -> &'static str {
        let name: &'static &'static str = named!(self, "");
        name
    }

    /// The name of a message that has this command executed. A thin reference: who remembers many has that.
    pub const fn message_name(&self) -> &'static &'static str {
        named!(self, "execute ")
    }

    /// Who says it, in the ids of exceptions. An operator who asks early finds what the timer would have found.
    pub const fn source(&self) -> &'static str {
        match self {
            Self::ChargeAnswered { .. } => "charge",
            Self::Inquired { .. } => "inquiry",
            Self::Notified { .. } => "notice",
            Self::Hinted { .. } => "hint",
            Self::Operate(_) | Self::Redeliver { .. } => "merchant",
            Self::OperationAnswered { .. } => "operation",
            Self::OperationInquired { .. } => "operation inquiry",
            Self::OperationResolved { .. } | Self::ChargeResolved { .. } | Self::MismatchEnded => "operator",
            Self::DeliveryAnswered { .. } | Self::Deliver { .. } => "delivery",
            Self::Wake | Self::InquireNow => "timer",
            Self::Reported(_) => "report",
            Self::ChargeNeverLeft => "creation",
        }
    }
}

/// What a decision may depend on besides the payment and the command.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// The time.
    pub now: Timestamp,
    /// A random number, for spreading retries.
    pub dice: u64,
    /// A fresh id for the write.
    pub op: Uuid,
    /// Whether the card's number is still in memory, so that a charge can be sent.
    pub card_at_hand: bool,
    /// Whether the acquirer knows operations by its sums alone: then there is one at a time.
    pub operates_in_turn: bool,
    /// By which name of its references the acquirer tells several charges of one payment apart: it makes another one
    /// whenever one is sent again. `None` where our id is the charge's.
    pub charge_name: Option<&'static str>,
    /// How long after a refund's call was over the acquirer may not show it yet, in milliseconds.
    pub refund_shows_after_ms: u64,
    /// How long after an inquiry a hint may lead to the next one, in milliseconds, at the earliest: what the acquirer that
    /// has the charge wants.
    pub hint_gap_ms: u64,
    /// Whether the acquirer is asked about an approved card by the schedule: somebody may capture or void it at its desk
    /// without our hearing of it.
    pub reads_approved: bool,
    /// Says whether a charge of this kind that was paid is looked at by the schedule, long after: its acquirer has no
    /// list that would name what went back of it since.
    pub looks_at_paid: bool,
    /// How often the payment's card was tried at any acquirer, the charge of this payment included; `None` if it was not
    /// counted, and then nothing goes further. See [`Payment::card_to_count`].
    pub card_tries: Option<CardTries>,
}

/// What must happen after the decision is stored, and never before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send the last charge to this acquirer.
    Charge(AcquirerName),
    /// Ask this acquirer what became of the charge with this number, from 1.
    Inquire(AcquirerName, u32),
    /// Send an operation to this acquirer.
    Operate(AcquirerName, Uuid),
    /// Ask this acquirer what became of an operation.
    InquireOperation(AcquirerName, Uuid),
    /// Attempt a delivery that was claimed.
    Deliver(u32),
    /// Store the exceptions of the payment's reports, and then take these off it.
    Report,
}

/// What was decided.
#[derive(Debug)]
pub struct Decision {
    /// The payment as it is to be stored; `None` if nothing changes.
    pub next: Option<Payment>,
    /// What is to be done once that is stored.
    pub effects: Vec<Effect>,
    /// What an operator has to see.
    pub discrepancies: Vec<Discrepancy>,
    /// What of that is not stored with the payment: whoever executes this sees to it.
    pub unstored: Vec<Discrepancy>,
    /// The operation that was begun or found, for an operation.
    pub operation: Option<Uuid>,
    /// Whether the operation was there before, under the same key.
    pub is_replay: bool,
}

impl Payment {
    /// Decides on a command: pure, and the payment stays as it is.
    ///
    /// # Errors
    /// A [`Refusal`] when a merchant asks for what the payment does not allow.
    pub fn decide(&self, command: Command, context: &Context) -> Result<Decision, Refusal> {
        self.decide_with(None, command, context)
    }

    /// The same, knowing of a confirmation that is not stored yet. It goes into the write that follows from the command; a
    /// command that changes nothing makes none for it.
    ///
    /// # Errors
    /// As [`Payment::decide`].
    pub fn decide_with(
        &self,
        confirmed: Option<&Confirmation>,
        command: Command,
        context: &Context,
    ) -> Result<Decision, Refusal> {
        let mut draft = Draft::new(self.clone(), *context);
        if let Some(confirmed) = confirmed {
            draft.confirm(confirmed);
        }
        draft.pull_due_times_in();
        let origin = Origin::of(&command);
        match command {
            Command::ChargeAnswered { attempt, answer } => draft.charge_answered(attempt, answer),
            Command::Inquired { attempt, asked_at, inquiring, answer } => {
                draft.charge_inquired((attempt, asked_at), inquiring, answer);
            }
            Command::Notified { acquirer, fact } => draft.notified(&acquirer, fact),
            Command::Hinted { acquirer, charge } => draft.hinted(&acquirer, &charge),
            Command::Operate(request) => draft.operate(request)?,
            Command::OperationAnswered { operation, sending, answer } => {
                draft.operation_answered(operation, sending, answer);
            }
            Command::OperationInquired { operation, sending, inquiring, answer } => {
                draft.operation_inquired((operation, sending), inquiring, answer);
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
            Command::ChargeNeverLeft => draft.send_first_charge(),
        }
        draft.send_operation_in_turn();
        draft.ask_again_what_was_hidden();
        Ok(draft.finish(origin))
    }
}

/// A payment while a decision is being made: every change shows at once to what is decided next.
pub(super) struct Draft {
    pub(super) payment: Payment,
    pub(super) context: Context,
    pub(super) effects: Vec<Effect>,
    pub(super) discrepancies: Vec<Discrepancy>,
    pub(super) operation: Option<Uuid>,
    pub(super) is_replay: bool,
    has_changed: bool,
    has_unversioned_changes: bool,
}

impl Draft {
    pub(super) const fn new(payment: Payment, context: Context) -> Self {
        Self {
            payment,
            context,
            effects: Vec::new(),
            discrepancies: Vec::new(),
            operation: None,
            is_replay: false,
            has_changed: false,
            has_unversioned_changes: false,
        }
    }

    /// The time by the clock, which may have jumped: what is due is computed from it and compared with it.
    pub(super) const fn clock(&self) -> Timestamp {
        self.context.now
    }

    /// After a step of a schedule, by the clock.
    pub(super) fn after(&self, step_ms: u64) -> Timestamp {
        self.context.now.plus_ms(spread(step_ms, self.context.dice))
    }

    /// After a step of a schedule, but not before somebody's wait is over.
    pub(super) fn after_at_least(&self, step_ms: u64, at_least_ms: u64) -> Timestamp {
        self.after(step_ms).max(self.clock().plus_ms(spread_upwards(at_least_ms, self.context.dice)))
    }

    /// The time of record, never earlier than the payment's last change, whatever the clock did. Nothing is scheduled
    /// by it: after the clock went ahead and back, everything would wait for as long.
    pub(super) fn now(&self) -> Timestamp {
        self.context.now.max(self.payment.state.updated_at)
    }

    /// Makes a change.
    pub(super) fn make(&mut self, change: Change) {
        let now = self.now();
        self.has_changed = true;
        self.has_unversioned_changes |= change.shows();
        if change.makes_event() {
            self.count_version();
            self.has_unversioned_changes = false;
        }
        if change.shows() {
            self.payment.state_mut().updated_at = now;
        }
        self.payment.apply(change, now, self.clock());
    }

    fn count_version(&mut self) {
        let state = self.payment.state_mut();
        state.version = state.version.saturating_add(1);
    }

    /// What changed until now is no reason for a write.
    pub(super) const fn wait_for_a_reason(&mut self) {
        self.has_changed = false;
    }

    /// Something changed that is only ours: it has to be written.
    pub(super) const fn note_change(&mut self) {
        self.has_changed = true;
    }

    pub(super) const fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Puts the draft in order for its write: counts the versions, stores what an operator has to see, claims what is to
    /// be delivered.
    pub(super) fn finish(mut self, origin: Origin) -> Decision {
        if self.has_unversioned_changes {
            self.count_version();
        }
        let unstored = self.store_reports(origin);
        if self.has_changed {
            self.claim_due_deliveries(&[]);
            self.payment.keep_erased();
            self.payment.revision = self.payment.revision.saturating_add(1);
            self.payment.last_op = self.context.op;
        }
        Decision {
            next: self.has_changed.then_some(self.payment),
            effects: self.effects,
            discrepancies: self.discrepancies,
            unstored,
            operation: self.operation,
            is_replay: self.is_replay,
        }
    }
}
