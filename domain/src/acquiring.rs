//! Messages between a payment and its acquirer.

mod reference;

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::card::{CardData, MaskedCard};
use crate::identity::{AcquirerName, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::numbering::AttemptNumber;
use crate::order::{Order, Split, Terms};
use crate::time::Timestamp;

pub use reference::Reference;

/// The code to pay with, as the acquirer issued it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Issued {
    /// A PIX charge.
    #[serde(rename_all = "camelCase")]
    Pix {
        /// The charge's identifier at the acquirer, 26–35 letters and digits.
        txid: String,
        /// The BR Code: text of the QR code and code to copy.
        code: String,
        /// End of the time in which it may be paid.
        expires_at: Timestamp,
    },
    /// A boleto.
    Boleto(Box<crate::slip::IssuedBoleto>),
}

/// Issuer's approval of a card authorisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The issuer's authorisation code.
    pub authorization_code: String,
}

/// Money that the acquirer received for the merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Settlement {
    /// The acquirer's id of this movement. A repeated notice has the same id.
    pub id: String,
    /// Amount that came in.
    pub amount: Money,
    /// Date of the payment in Brasília, if the acquirer states it. A boleto paid after its due date incurs a fine and
    /// interest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_on: Option<NaiveDate>,
    /// PIX only: the end-to-end id of the transfer, 32 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end_id: Option<String>,
    /// Card only: the approval before it, when one answer states both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// Statement of an acquirer about a payment, in an answer or in a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "fact")]
pub enum Fact {
    /// Created, and waits for the payer.
    #[serde(rename_all = "camelCase")]
    Pending {
        /// The code to pay with.
        issued: Issued,
        /// Time at which the acquirer expects news; it is asked then if no notice came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        news_at: Option<Timestamp>,
    },
    /// A card's limit is held.
    Authorized(Approval),
    /// The money came in; a card was captured.
    Settled(Settlement),
    /// Refused by the issuer for good.
    Declined(Decline),
    /// Can no longer be paid.
    Expired,
    /// Withdrawn, or voided.
    Cancelled,
    /// Withdrawn at the acquirer by someone other than this service.
    #[serde(rename_all = "camelCase")]
    Removed {
        /// Party that withdrew it.
        by: RemovedBy,
    },
    /// The acquirer takes no more money for the charge, because it has received money for it. That money is stated
    /// separately: if the amount is not the requested one, only a person can end the payment.
    Concluded,
    /// Money came in for the charge under a key that is not ours. None of it is trusted, and an operator sees it.
    #[serde(rename_all = "camelCase")]
    PaidToOthers {
        /// The acquirer's id of this one movement.
        id: String,
    },
    /// Money went back to the payer, with or without our request.
    #[serde(rename_all = "camelCase")]
    Refunded {
        /// The acquirer's id of this refund, or ours if we asked for it.
        refund_id: String,
        /// Amount. If absent, everything that is left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Money>,
    },
    /// Sum refunded to the payer so far, by us or by others: an acquirer without refund ids states nothing else.
    /// Whatever is not known to be ours was refunded by others.
    #[serde(rename_all = "camelCase")]
    RefundedInTotal {
        /// Id for the part that others refunded, if the sum is larger than known. It is derived from the sum.
        refund_id: String,
        /// The sum of all refunds.
        total: Money,
    },
    /// The payment was disputed and the money taken back. There may be several, one for each instalment or item.
    ChargedBack {
        /// The acquirer's id of this movement. A repeated notice has the same id.
        id: String,
        /// Amount. If absent, all of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Money>,
    },
    /// A dispute was won: the money of its chargeback is the merchant's again.
    #[serde(rename_all = "camelCase")]
    DisputeWon {
        /// The acquirer's id of this movement. A repeated notice has the same id.
        id: String,
        /// The chargeback that it was about. If absent, the oldest open one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chargeback_id: Option<String>,
    },
    /// The acquirer has another charge of the payment besides the one that counts, with money or a limit.
    SecondCharge(SecondCharge),
    /// A statement that this service does not understand: it changes nothing, and an operator sees it.
    Unclear {
        /// Subject and statement in short, so that the same one is reported once.
        id: String,
        /// Statement of the acquirer. Contains no personal data.
        text: String,
    },
    /// The slip can be paid, but the acquirer could not create the PIX code that it should have.
    PixCodeMissing,
    /// The acquirer has kept this much of the money: the sum of the fees known so far.
    Cost {
        /// The sum.
        amount: Money,
    },
    /// Money came in for the charge, but the answer does not state how much. No amount is assumed, and the acquirer is
    /// asked again.
    AmountUnknown,
    /// Something may have happened: the acquirer is asked, and only its answer counts.
    Hint,
}

/// A charge of a payment besides the one that counts: it was sent again, but the first sending had arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondCharge {
    /// The acquirer's id of this charge, the same in every statement.
    pub id: String,
    /// The acquirer's own names for it.
    pub reference: Reference,
    /// Money, or a limit.
    pub holds: Holding,
}

/// Holding of a charge: money of its payer, or a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Holding {
    /// A card's limit.
    Limit,
    /// A code that can be paid.
    Code,
    /// Money.
    #[serde(rename_all = "camelCase")]
    Money {
        /// Sum that was taken.
        taken: Money,
        /// Part of it that was given back.
        given_back: Money,
    },
}

impl Display for Holding {
    /// Writes a predicate of the charge, for operators.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limit => f.write_str("holds the card's limit"),
            Self::Code => f.write_str("can be paid"),
            Self::Money { taken, given_back } => write!(f, "holds {}", taken.minus(*given_back)),
        }
    }
}

/// Party that withdrew a charge at the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RemovedBy {
    /// The receiver, at its bank; or this service, if it requested it.
    Receiver,
    /// The acquirer itself.
    Acquirer,
}

/// Reason of a card's decline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decline {
    /// The reason as this service names it: `insufficient_funds`.
    pub code: String,
    /// Reversibility of the decline; absent if the code does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DeclineKind>,
    /// The issuer's code as the acquirer gave it: `51`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_code: Option<String>,
    /// The brand's advice: Mastercard's merchant advice code, such as `03`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Decline {
    /// Code of a card that was refused by a fraud check, not by its issuer. It is the payment's `statusReason`.
    pub const ANTIFRAUD: &str = "antifraud";

    /// Code of a card that was refused by an acquirer, not by its issuer.
    pub const ACQUIRER_REFUSED: &str = "acquirer_refused";

    /// Returns the `declineCode`. A fraud check belongs to the acquirer, so its refusal reveals no more than that.
    pub fn shown_code(&self) -> &str {
        if self.code == Self::ANTIFRAUD { Self::ACQUIRER_REFUSED } else { &self.code }
    }

    /// Returns a decline with only a reason.
    pub fn of(code: impl Into<String>) -> Self {
        Self { code: code.into(), kind: None, network_code: None, advice: None }
    }

    /// Returns a decline of this kind.
    pub fn of_kind(code: impl Into<String>, kind: DeclineKind) -> Self {
        Self { kind: Some(kind), ..Self::of(code) }
    }
}

/// Reversibility of a decline: whether the same card may be charged again (ABECS, normative instruction of the card
/// brands).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclineKind {
    /// Another try may succeed.
    Reversible,
    /// No other try can succeed; brands fine those who make one.
    Irreversible,
}

/// Reason why a call to an acquirer brought no fact. Its text is shown to operators and has no personal data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// It certainly had no effect: no connection, or an explicit "not now".
    NotDelivered(String),
    /// It may have had an effect: a time-out, a 5xx, an unreadable answer. An inquiry must follow.
    Unknown(String),
    /// The acquirer asked for fewer calls (429), and for none before this wait is over. This is not a failure: an
    /// inquiry follows after the wait, and no other acquirer is tried because of it.
    Throttled {
        /// Requested wait, in milliseconds.
        after_ms: u64,
    },
    /// It was not sent. Either an operator's directive forbids calls to this acquirer for now, or the requested wait is
    /// longer than the call may wait.
    Withheld,
}

/// Answer to a charge, or to an inquiry about one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeAnswer {
    /// The acquirer has the charge and states facts about it.
    Known(Statement),
    /// The acquirer accepted the charge but has not reported an outcome or a code to pay with. It is asked until it
    /// does.
    Accepted(Reference),
    /// As [`Accepted`](Self::Accepted), but the acquirer examines the charge for fraud, which may involve people and
    /// take days.
    UnderReview(Reference),
    /// The acquirer accepted the charge and answered in full, but without any code that a payer could use.
    WithoutCode(Reference),
    /// The acquirer's charge under our name belongs to somebody else: another key receives its money.
    Foreign(String),
    /// The answer is about a different charge or amount than the requested one.
    Mismatched(String),
    /// The acquirer has somebody else's slip under the charge's number, so it has no charge of ours. The number is
    /// skipped.
    NumberTaken(String),
    /// The acquirer, not the issuer, explicitly refused the charge: the acquirer has none, and never will.
    Refused(String),
    /// The acquirer certainly never received the charge.
    NotFound,
    /// No usable answer.
    Failed(CallFailure),
}

impl ChargeAnswer {
    /// Returns an answer that states one fact, without ids.
    pub fn known(fact: Fact) -> Self {
        Self::Known(Statement { facts: vec![fact], reference: Reference::default() })
    }
}

/// Statement of an acquirer about a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Everything that happened to it according to the acquirer, in order; at least one fact. A repetition changes
    /// nothing.
    pub facts: Vec<Fact>,
    /// The acquirer's ids of it.
    pub reference: Reference,
}

/// Answer to a cancellation, a capture or a refund, or to an inquiry about one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationAnswer {
    /// Done.
    Done,
    /// The acquirer accepted it, and will do or refuse it minutes or days later. It is asked until then.
    Accepted,
    /// Refused for good: the acquirer has not done it and never will.
    Refused(String),
    /// Refused, but perhaps done: the acquirer may show a completed operation late. Inquiries follow, and it counts as
    /// refused if the acquirer does not have it.
    RefusedPerhaps(String),
    /// The acquirer does not have it.
    NotFound,
    /// The acquirer's sums were changed by something other than this operation, so they do not show whether it was
    /// done.
    Contradicted(String),
    /// No usable answer.
    Failed(CallFailure),
}

/// Payment to which a provider's reference belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identified {
    /// The charge of this payment.
    Payment(TransactionId),
    /// The provider does not have the reference, or not yet.
    NotFound,
    /// Not ours, or not the reference of a charge.
    Unknown,
    /// No usable answer.
    Failed(CallFailure),
}

/// Request for a charge. Its `query.id` is the idempotency key at the acquirer.
#[derive(Debug, Clone)]
pub struct Charge {
    /// Identifies the payment.
    pub query: ChargeQuery,
    /// The merchant's order.
    pub order: Arc<Order>,
    /// The card, for a card payment.
    pub card: Option<CardData>,
}

/// Identifies a payment to its acquirer.
#[derive(Debug, Clone)]
pub struct ChargeQuery {
    /// Our id.
    pub id: TransactionId,
    /// Its method.
    pub method: Method,
    /// The requested amount.
    pub amount: Money,
    /// Amount that was captured or settled, once it was.
    pub paid_amount: Option<Money>,
    /// Amount that was certainly refunded.
    pub refunded_amount: Money,
    /// Time of the payment's creation.
    pub created_at: Timestamp,
    /// Time at which this charge was decided, by our own clock: just before it was first sent.
    pub sent_at: Timestamp,
    /// Time of expiry, if it expired.
    pub expired_at: Option<Timestamp>,
    /// Time of the cancellation, if it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// Number of this charge within the payment.
    pub attempt: AttemptNumber,
    /// Masked card data.
    pub card: Option<MaskedCard>,
    /// The issued code, if known.
    pub issued: Option<Arc<Issued>>,
    /// True if an authorisation is captured at once.
    pub captures_at_once: bool,
    /// Terms of the method: an acquirer without storage can issue the same code again.
    pub terms: Terms,
    /// Shares of recipients.
    pub splits: Vec<Split>,
    /// The acquirer's ids of it, as far as the acquirer stated them.
    pub reference: Reference,
    /// Number of its slip, if the acquirer leaves that to us.
    pub our_number: Option<u32>,
    /// The acquirer's ids of other charges of the payment, as far as they are known.
    pub others: Vec<Reference>,
    /// True if the acquirer may have more charges of the payment than are known.
    pub may_have_others: bool,
    /// End-to-end ids that the acquirer stated for it, and that belong to other payments.
    pub foreign_pix: Vec<String>,
    /// True if an operation may be under way whose effect the acquirer's sums show already.
    pub operation_under_way: bool,
}

/// A notice from an acquirer, as it waits in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Unique per acquirer and event: `{acquirer}:{the provider's event id}`. A repeated notice has the same id.
    pub id: String,
    /// Acquirer that sent it.
    pub acquirer: AcquirerName,
    /// Payment that it is about.
    pub transaction_id: TransactionId,
    /// The fact that it states.
    pub fact: Fact,
    /// Time of receipt.
    pub received_at: Timestamp,
}

/// Content of a provider's notice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeContent {
    /// A fact that can be believed without an inquiry.
    Fact(Box<Notice>),
    /// Something may have changed: the acquirer is asked now, and only its answer counts.
    Hint(HintSubject),
    /// It is about nothing of ours.
    Unrelated,
}

/// Subject of a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HintSubject {
    /// This payment: the provider uses our id.
    Payment(TransactionId),
    /// This payment, and the provider's reference of the charge: it may have made more than one.
    Charge(TransactionId, Reference),
    /// The provider's reference of the charge. The provider must be asked which payment it belongs to.
    Reference(Reference),
}
