//! Circumstances of a decision.

use uuid::Uuid;

use super::schedule::HINT_GAP_MS;
use crate::routing::CardTries;
use crate::time::Timestamp;

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
    /// Name of the reference by which the acquirer distinguishes several charges of one payment. Such an acquirer makes
    /// another charge whenever one is sent again. `None` if it identifies charges by our id.
    pub charge_name: Option<&'static str>,
    /// The same for the acquirer that the command is from, which the payment may have left.
    pub charge_name_there: Option<&'static str>,
    /// True if that acquirer is not the payment's, but shows the charges of the same account.
    pub is_one_account: bool,
    /// Time after a refund's call during which the acquirer may not show the refund yet, in milliseconds.
    pub refund_shows_after_ms: u64,
    /// Shortest time between an inquiry and the next one that a hint causes, in milliseconds. Set by the acquirer that
    /// has the charge.
    pub hint_gap_ms: u64,
    /// Time of this process's last inquiry that was made without being stored. See
    /// [`Payment::may_be_inquired_about`](super::Payment::may_be_inquired_about).
    pub asked_at: Option<Timestamp>,
    /// True if the schedule inquires about approved cards, because others may capture or void them at the acquirer
    /// without any notice to us.
    pub reads_approved: bool,
    /// True if the schedule looks at paid charges of this kind long after they were paid. Their acquirer has no list of
    /// later refunds.
    pub looks_at_paid: bool,
    /// True if the acquirer states what a payment cost: it is asked shortly after the payment.
    pub states_cost: bool,
    /// Tries of the payment's card at any acquirer, including this payment's charge. `None` if they were not counted:
    /// then there is no further try. See [`Payment::card_to_count`](super::Payment::card_to_count).
    pub card_tries: Option<CardTries>,
}

impl Context {
    /// Creates the context of an acquirer without special needs, in a process that holds nothing of the payment in
    /// memory.
    pub const fn plain(now: Timestamp, op: Uuid) -> Self {
        Self {
            now,
            dice: 0,
            op,
            card_at_hand: false,
            operates_in_turn: false,
            charge_name: None,
            charge_name_there: None,
            is_one_account: false,
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
