//! Commands, and the decisions on them.

use uuid::Uuid;

use super::change::{AttemptChange, OperationChange};
use super::inquire::Inquiring;
use super::report::Origin;
use super::schedule::{HINT_GAP_MS, spread, spread_upwards};
use super::{Change, Discrepancy, Payment, Refusal};
use crate::acquiring::{ChargeAnswer, Fact, OperationAnswer, Reference};
use crate::delivery::{Confirmation, DeliveryAttempt, Lease};
use crate::identity::{AcquirerName, TransactionId};
use crate::operation::{OperationRequest, Verdict};
use crate::outbound_call::CallChange;
use crate::routing::CardTries;
use crate::time::Timestamp;

/// Input to a payment: an answer, a notice, a request or a timer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// The acquirer answered a charge.
    ChargeAnswered {
        /// Number of the charge, from 1.
        attempt: u32,
        /// The answer.
        answer: ChargeAnswer,
    },
    /// The acquirer answered an inquiry about a charge.
    Inquired {
        /// Number of the charge, from 1.
        attempt: u32,
        /// [`Payment::inquired_at`] of the inquiry that this answers.
        asked_at: Option<Timestamp>,
        /// State of the call at the inquiry. `None` if the outcome was known and this was a check of a charge that
        /// waits for its payer.
        inquiring: Option<Inquiring>,
        /// The answer.
        answer: ChargeAnswer,
    },
    /// An acquirer sent a notice.
    Notified {
        /// Its sender: the notice binds only the charge there.
        acquirer: AcquirerName,
        /// The fact that it states.
        fact: Fact,
    },
    /// An acquirer hinted that something changed.
    Hinted {
        /// Its sender.
        acquirer: AcquirerName,
        /// The acquirer's own reference of the charge, if it gave one.
        charge: Reference,
    },
    /// The merchant wants to cancel, capture or refund.
    Operate(OperationRequest),
    /// The acquirer answered an operation.
    OperationAnswered {
        /// Id of the operation.
        operation: Uuid,
        /// Number of the sending, from 1.
        sending: u32,
        /// The answer.
        answer: OperationAnswer,
    },
    /// The acquirer answered an inquiry about an operation.
    OperationInquired {
        /// Id of the operation.
        operation: Uuid,
        /// Number of the sending that was asked about.
        sending: u32,
        /// As in [`Command::Inquired`].
        inquiring: Option<Inquiring>,
        /// The answer.
        answer: OperationAnswer,
    },
    /// A person states the outcome of an operation that is stuck.
    OperationResolved {
        /// Id of the operation.
        operation: Uuid,
        /// Its outcome.
        verdict: Verdict,
    },
    /// A person states the outcome of the last charge, which no answer gives.
    ChargeResolved {
        /// Number of the charge, from 1.
        attempt: u32,
        /// Its outcome.
        verdict: Verdict,
    },
    /// A person ends a payment whose acquirer takes no more money, although what it has is not what was asked for.
    MismatchEnded,
    /// A delivery attempt ended.
    DeliveryAnswered {
        /// Index in the outbox.
        delivery: u32,
        /// Result of the attempt.
        attempt: DeliveryAttempt,
    },
    /// Deliveries that are due can be sent now.
    Deliver {
        /// Leases that the caller holds, and that may still run.
        held: Vec<Lease>,
    },
    /// The merchant wants an event again.
    Redeliver {
        /// Index in the outbox.
        delivery: u32,
    },
    /// Something may be due.
    Wake,
    /// An operator requests inquiries about everything that is open.
    InquireNow,
    /// The exceptions of the reports with these keys are stored.
    Reported(Vec<String>),
    /// A Pix that would have paid the payment, or would have been given back for it, belongs to another payment.
    PixTaken {
        /// Its end-to-end id.
        pix: String,
        /// The other payment.
        other: TransactionId,
    },
    /// The first charge is stored but certainly never left: its creator did not learn that it is stored.
    ChargeNeverLeft,
}

/// Matches a command with a reference to its name, with a prefix.
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
            Command::PixTaken { .. } => &concat!($before, "pix_taken"),
            Command::ChargeNeverLeft => &concat!($before, "charge_never_left"),
        }
    };
}

impl Command {
    /// Returns the command's name: a word or two.
    pub const fn name(&self) -> &'static str {
        let name: &'static &'static str = named!(self, "");
        name
    }

    /// Returns the name of a message that has this command executed.
    pub const fn message_name(&self) -> &'static &'static str {
        // A thin reference: callers keep many of them.
        named!(self, "execute ")
    }

    /// Returns the origin of the command, as in the ids of exceptions. An operator's early inquiry has the timer's
    /// origin.
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
            Self::PixTaken { .. } => "inquiry",
            Self::ChargeNeverLeft => "creation",
        }
    }
}

/// Everything that a decision may depend on besides the payment and the command.
#[derive(Debug, Clone, Copy)]
pub struct Context {
    /// The time.
    pub now: Timestamp,
    /// A random number, for spreading retries.
    pub dice: u64,
    /// A fresh id for the write.
    pub op: Uuid,
    /// True if the card's number is still in memory, so that a charge can be sent.
    pub card_at_hand: bool,
    /// True if the acquirer identifies operations only by sums: then there is one at a time.
    pub operates_in_turn: bool,
    /// Name of the reference by which the acquirer distinguishes several charges of one payment: it makes another one
    /// whenever one is sent again. `None` if it identifies charges by our id.
    pub charge_name: Option<&'static str>,
    /// Time after a refund's call during which the acquirer may not show the refund yet, in milliseconds.
    pub refund_shows_after_ms: u64,
    /// Shortest time between an inquiry and the next one that a hint causes, in milliseconds. Set by the acquirer that
    /// has the charge.
    pub hint_gap_ms: u64,
    /// Time of this process's last inquiry that was made without being stored. See [`Payment::may_be_inquired_about`].
    pub asked_at: Option<Timestamp>,
    /// True if the schedule asks the acquirer about approved cards: somebody may capture or void one at the acquirer
    /// without any notice to us.
    pub reads_approved: bool,
    /// True if the schedule looks at paid charges of this kind long after they were paid. Their acquirer has no list of
    /// later refunds.
    pub looks_at_paid: bool,
    /// True if the acquirer states what a payment cost: it is asked shortly after the payment.
    pub states_cost: bool,
    /// Tries of the payment's card at any acquirer, the charge of this payment included. `None` if they were not
    /// counted: then there is no further try. See [`Payment::card_to_count`].
    pub card_tries: Option<CardTries>,
}

impl Context {
    /// Makes the circumstances of a payment at an acquirer without particulars, and of a process that holds nothing of it
    /// in memory.
    pub const fn plain(now: Timestamp, op: Uuid) -> Self {
        Self {
            now,
            dice: 0,
            op,
            card_at_hand: false,
            operates_in_turn: false,
            charge_name: None,
            refund_shows_after_ms: 0,
            hint_gap_ms: HINT_GAP_MS,
            asked_at: None,
            reads_approved: false,
            looks_at_paid: false,
            states_cost: false,
            card_tries: None,
        }
    }
}

/// Action that follows once the decision is stored, and never before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send the last charge to this acquirer.
    Charge(AcquirerName),
    /// Ask this acquirer for the outcome of the charge with this number, from 1.
    Inquire(AcquirerName, u32),
    /// Send an operation to this acquirer.
    Operate(AcquirerName, Uuid),
    /// Ask this acquirer for the outcome of an operation.
    InquireOperation(AcquirerName, Uuid),
    /// Attempt a delivery that was claimed.
    Deliver(u32),
    /// Store the exceptions of the payment's reports, then remove the reports.
    Report,
}

/// Result of a command.
#[derive(Debug)]
pub struct Decision {
    /// The payment to be stored; `None` if nothing changes.
    pub next: Option<Payment>,
    /// Actions for when it is stored.
    pub effects: Vec<Effect>,
    /// Discrepancies for operators.
    pub discrepancies: Vec<Discrepancy>,
    /// Those of them that are not stored with the payment: the caller must see to them.
    pub unstored: Vec<Discrepancy>,
    /// End-to-end ids of Pix that were stated and are not the payment's: each may belong to another one.
    pub stray_pix: Vec<String>,
    /// The operation that was begun or found, for an operation.
    pub operation: Option<Uuid>,
    /// True if the operation existed before, under the same key.
    pub is_replay: bool,
}

impl Payment {
    /// Decides on a command. Pure: the payment itself is unchanged.
    ///
    /// # Errors
    /// A [`Refusal`] when a merchant asks for what the payment does not allow.
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
        for confirmation in confirmed {
            draft.confirm(confirmation);
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
            Command::PixTaken { pix, other } => draft.pix_is_taken(pix, other),
            Command::ChargeNeverLeft => draft.send_first_charge(),
        }
        draft.send_operation_in_turn();
        draft.ask_again_what_was_hidden();
        Ok(draft.finish(origin))
    }
}

/// A payment while a decision is being made: every change is visible to the steps after it.
pub(super) struct Draft {
    pub(super) payment: Payment,
    pub(super) context: Context,
    pub(super) effects: Vec<Effect>,
    pub(super) discrepancies: Vec<Discrepancy>,
    pub(super) stray_pix: Vec<String>,
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
            stray_pix: Vec::new(),
            operation: None,
            is_replay: false,
            has_changed: false,
            has_unversioned_changes: false,
        }
    }

    /// Returns the wall-clock time, which may have jumped. Due times are computed from it and compared with it.
    pub(super) const fn clock(&self) -> Timestamp {
        self.context.now
    }

    /// Returns the time after a step of a schedule, by the clock.
    pub(super) fn after(&self, step_ms: u64) -> Timestamp {
        self.context.now.plus_ms(spread(step_ms, self.context.dice))
    }

    /// Returns the time after a step of a schedule, but not before a requested wait is over.
    pub(super) fn after_at_least(&self, step_ms: u64, at_least_ms: u64) -> Timestamp {
        self.after(step_ms).max(self.clock().plus_ms(spread_upwards(at_least_ms, self.context.dice)))
    }

    /// Returns the time of record, never earlier than the payment's last change, even if the clock went back.
    pub(super) fn now(&self) -> Timestamp {
        // Nothing is scheduled by it: if the clock was once far ahead, everything would wait that long.
        self.context.now.max(self.payment.state.updated_at)
    }

    /// Applies a change.
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

    /// Changes the call of the last charge.
    pub(super) fn charge_call(&mut self, change: CallChange) {
        self.make(Change::Attempt(AttemptChange::Call(change)));
    }

    /// Changes the call of an operation.
    pub(super) fn operation_call(&mut self, id: Uuid, change: CallChange) {
        self.make(Change::Operation(id, OperationChange::Call(change)));
    }

    fn count_version(&mut self) {
        let state = self.payment.state_mut();
        state.version = state.version.saturating_add(1);
    }

    /// Declares that the changes so far are no reason for a write.
    pub(super) const fn wait_for_a_reason(&mut self) {
        self.has_changed = false;
    }

    /// Notes a change that only we see, and that has to be written.
    pub(super) const fn note_change(&mut self) {
        self.has_changed = true;
    }

    pub(super) const fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Prepares the draft for its write: counts versions, stores reports for operators, claims due deliveries.
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
            stray_pix: self.stray_pix,
            operation: self.operation,
            is_replay: self.is_replay,
        }
    }
}
