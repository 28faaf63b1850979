//! What is said between a payment and its acquirer.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::card::{CardData, MaskedCard};
use crate::identity::{AcquirerName, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::order::{Order, Terms};
use crate::time::Timestamp;

/// What an acquirer handed out for the payer: the code to pay with.
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
        /// Until when it may be paid.
        expires_at: Timestamp,
    },
    /// A boleto.
    Boleto(crate::slip::IssuedBoleto),
}

/// What the issuer answered to a card authorisation.
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
    /// The acquirer's id of this one movement; a notice that repeats carries the same.
    pub id: String,
    /// How much came in.
    pub amount: Money,
    /// The day in Brasília on which the payer paid, if the acquirer says: a boleto that is paid after its due date costs
    /// fine and interest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_on: Option<NaiveDate>,
    /// PIX only: the end-to-end id of the transfer, 32 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_to_end_id: Option<String>,
    /// Card only: the approval that went before, when one answer tells both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// Something that an acquirer states about a payment, in an answer or in a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "fact")]
pub enum Fact {
    /// Created, and waits for the payer.
    #[serde(rename_all = "camelCase")]
    Pending {
        /// The code to pay with.
        issued: Issued,
        /// When the acquirer expects news; it is asked then if no notice came.
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
    /// Withdrawn at the acquirer by somebody else than this service.
    #[serde(rename_all = "camelCase")]
    Removed {
        /// By whom.
        by: RemovedBy,
    },
    /// The acquirer takes no more money for the charge, because it holds what came in for its payment. What came in is
    /// stated besides: if it is not what was asked for, only a person can end the payment.
    Concluded,
    /// Money came in for the charge under a key that is not ours: nothing of it is believed, and an operator sees it.
    #[serde(rename_all = "camelCase")]
    PaidToOthers {
        /// The acquirer's id of this one movement.
        id: String,
    },
    /// Money went back to the payer, without or with our asking.
    #[serde(rename_all = "camelCase")]
    Refunded {
        /// The acquirer's id of this refund, or ours if we asked for it.
        refund_id: String,
        /// How much; all that is left when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Money>,
    },
    /// So much went back to the payer until now, by us or by others: all that an acquirer tells that has no ids for
    /// refunds. What of it is not known to be ours was given back by somebody else.
    #[serde(rename_all = "camelCase")]
    RefundedInTotal {
        /// The id of what others gave back, if this is more than is known: it follows from the sum.
        refund_id: String,
        /// The sum of all that went back.
        total: Money,
    },
    /// The payment was disputed and the money taken back. There may be several, one for each instalment or item.
    ChargedBack {
        /// The acquirer's id of this one movement; a notice that repeats carries the same.
        id: String,
        /// How much; all of it when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        amount: Option<Money>,
    },
    /// A dispute was won: the money of its chargeback is the merchant's again.
    #[serde(rename_all = "camelCase")]
    DisputeWon {
        /// The acquirer's id of this one movement; a notice that repeats carries the same.
        id: String,
        /// Which chargeback it was about; the oldest open one when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chargeback_id: Option<String>,
    },
    /// Beside the charge that counts the acquirer has another one of the payment, which holds something.
    SecondCharge(SecondCharge),
    /// Something that this service does not understand: it changes nothing, and an operator sees it.
    Unclear {
        /// What it is about, and what is stated of that: the same is reported once.
        id: String,
        /// What the acquirer states. Holds no personal data.
        text: String,
    },
    /// Nothing but that something may have happened: the acquirer is asked, and only its answer counts.
    Hint,
}

/// A charge of a payment beside the one that counts: it was sent again, and had arrived all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecondCharge {
    /// The acquirer's id of this charge; one that is stated again carries the same.
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
    /// Money.
    #[serde(rename_all = "camelCase")]
    Money {
        /// Sum that was taken.
        taken: Money,
        /// Part of that which went back.
        given_back: Money,
    },
}

/// Who withdrew a charge at the acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RemovedBy {
    /// The receiver, at the desk of its bank; or this service, if it asked for it.
    Receiver,
    /// The acquirer itself.
    Acquirer,
}

/// Why a card was declined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decline {
    /// The reason as this service names it: `insufficient_funds`.
    pub code: String,
    /// Whether another try may make sense; absent if the code does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<DeclineKind>,
    /// The issuer's code as the acquirer gave it: `51`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_code: Option<String>,
    /// What the brand advises: Mastercard's merchant advice code, such as `03`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

impl Decline {
    /// A decline of which nothing but its reason is known.
    pub fn of(code: impl Into<String>) -> Self {
        Self { code: code.into(), kind: None, network_code: None, advice: None }
    }

    /// The same, of this kind.
    pub fn of_kind(code: impl Into<String>, kind: DeclineKind) -> Self {
        Self { kind: Some(kind), ..Self::of(code) }
    }
}

/// Whether the same card may be charged again after a decline (ABECS, normative instruction of the card brands).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclineKind {
    /// Another try may succeed.
    Reversible,
    /// No other try can; brands fine those who make one.
    Irreversible,
}

/// The provider's own names for a charge: a payment id, a transaction id, an end-to-end id. Opaque here, kept with the
/// attempt, handed back with every later call about it, and shown as `acquirerReference`, but for those that are our own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reference(BTreeMap<String, String>);

impl Reference {
    /// Our own note of the key that receives the charge's money: it stays ours when another key is configured.
    pub const KEY: &str = "_key";

    /// Prefix of our own notes, which nobody else is shown.
    const NOTE: char = '_';

    /// Names that one charge may have, and characters that each may have: a provider can't make a document grow.
    const MAX_NAMES: usize = 16;
    const MAX_CHARACTERS: usize = 255;

    /// No name.
    pub const fn none() -> Self {
        Self(BTreeMap::new())
    }

    /// The same with one more; what is empty or too long is left out.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.insert(name, value);
        self
    }

    /// What the provider calls it under this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Every name of the provider's with its value, without our own notes.
    pub fn shown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(name, _)| !name.starts_with(Self::NOTE))
    }

    /// Every name with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if both have this name, with different values.
    pub fn differs_in(&self, name: &str, other: &Self) -> bool {
        self.get(name).zip(other.get(name)).is_some_and(|(own, theirs)| own != theirs)
    }

    /// Whether all of these are known already.
    pub fn contains(&self, other: &Self) -> bool {
        other.0.iter().all(|(name, value)| self.get(name) == Some(value))
    }

    /// Learns these too. One that is known under another value gets the new one.
    pub(crate) fn learn(&mut self, other: &Self) {
        for (name, value) in &other.0 {
            self.insert(name, value);
        }
    }

    fn insert(&mut self, name: &str, value: &str) {
        let fits = |text: &str| (1..=Self::MAX_CHARACTERS).contains(&text.chars().count());
        let has_room = self.0.len() < Self::MAX_NAMES || self.0.contains_key(name);
        if fits(name) && fits(value) && has_room {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }
}

/// Why a call to an acquirer brought no fact. What is said of it is shown to operators: it holds no personal data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallFailure {
    /// It certainly had no effect: no connection, or an explicit "not now".
    NotDelivered(String),
    /// It may have had an effect: a time-out, a 5xx, an unreadable answer. It must be asked for.
    Unknown(String),
    /// The acquirer wants fewer calls (429) and none before this time is over. No failure of anybody's: what was sent
    /// is asked for then, and nothing goes elsewhere because of it.
    Throttled {
        /// How long to wait, in milliseconds.
        after_ms: u64,
    },
    /// It was not sent, because an operator directed that nothing is sent to this acquirer for now, or because the
    /// acquirer wants fewer calls for longer than it may wait.
    Withheld,
}

/// The answer to a charge, or to the question what became of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChargeAnswer {
    /// The acquirer knows the charge and states this.
    Known(Statement),
    /// The acquirer took the charge and does not say yet what becomes of it: there is no code to pay with. It is asked
    /// until it does.
    Accepted(Reference),
    /// The acquirer took the charge and answered in full, but without any code that a payer could use.
    WithoutCode(Reference),
    /// What the acquirer has under our name of the charge belongs to somebody else: another key receives its money.
    Foreign(String),
    /// The answer is about another charge, or another amount, than the one that was asked for.
    Mismatched(String),
    /// The acquirer explicitly refused to take the charge, which is no word of the issuer: it has none, and never will.
    Refused(String),
    /// The acquirer certainly never saw the charge.
    NotFound,
    /// No answer that could be used.
    Failed(CallFailure),
}

impl ChargeAnswer {
    /// The acquirer states one fact, and names nothing.
    pub fn known(fact: Fact) -> Self {
        Self::Known(Statement { facts: vec![fact], reference: Reference::default() })
    }
}

/// What an acquirer states of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Everything that happened to it, as far as the acquirer tells, in the order in which it happened; at least one.
    /// What is stated again changes nothing.
    pub facts: Vec<Fact>,
    /// What the acquirer calls it.
    pub reference: Reference,
}

/// The answer to a cancellation, a capture or a refund, or to the question what became of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationAnswer {
    /// Done.
    Done,
    /// The acquirer took it and will do it, or refuse it: minutes or days later. It is asked until then.
    Accepted,
    /// Refused for good: the acquirer has not done it and never will.
    Refused(String),
    /// Refused, and perhaps done all the same: what was done may show late. It is asked for, and counts as refused when
    /// the acquirer does not know of it.
    RefusedPerhaps(String),
    /// The acquirer does not know of it.
    NotFound,
    /// The acquirer's sums moved by something else than this operation: whether it was done can't be told.
    Contradicted(String),
    /// No answer that could be used.
    Failed(CallFailure),
}

/// Whose charge a provider's reference names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identified {
    /// The charge of this payment.
    Payment(TransactionId),
    /// The provider does not know the reference, or not yet.
    NotFound,
    /// None of ours, or none at all.
    Unknown,
    /// No answer that could be used.
    Failed(CallFailure),
}

/// What an acquirer is told to charge. Its `query.id` is the idempotency key at the acquirer.
#[derive(Debug, Clone)]
pub struct Charge {
    /// Identifies the payment.
    pub query: ChargeQuery,
    /// What the merchant asked for.
    pub order: Arc<Order>,
    /// The card, for a card payment.
    pub card: Option<CardData>,
}

/// Identifies a payment to its acquirer.
#[derive(Debug, Clone)]
pub struct ChargeQuery {
    /// Our id.
    pub id: TransactionId,
    /// How it is paid.
    pub method: Method,
    /// What is to be paid.
    pub amount: Money,
    /// What was captured or settled, once it was.
    pub paid_amount: Option<Money>,
    /// What was given back for certain.
    pub refunded_amount: Money,
    /// When the payment was created.
    pub created_at: Timestamp,
    /// Moment at which this charge was decided, by our own clock, which is just before it was sent first.
    pub sent_at: Timestamp,
    /// When it expired, if it did.
    pub expired_at: Option<Timestamp>,
    /// When it was cancelled, if it was.
    pub cancelled_at: Option<Timestamp>,
    /// Which of the payment's charges this is or was, from 1.
    pub attempt: u32,
    /// What may be kept of the card.
    pub card: Option<MaskedCard>,
    /// What was issued, if that is known.
    pub issued: Option<Arc<Issued>>,
    /// Whether an authorisation is captured at once.
    pub captures_at_once: bool,
    /// What is particular to the method: an acquirer that keeps nothing can issue the same code again.
    pub terms: Terms,
    /// What the acquirer calls it, as far as it said.
    pub reference: Reference,
    /// Its names for other charges of the payment, as far as they are known.
    pub others: Vec<Reference>,
    /// True if the acquirer may have more charges of the payment than are known.
    pub may_have_others: bool,
    /// Whether an operation may be under way whose effect the acquirer's sums show already.
    pub operation_under_way: bool,
}

/// A notice from an acquirer, as it waits in the inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Unique per acquirer and event: `{acquirer}:{the provider's event id}`. A repeated notice has the same.
    pub id: String,
    /// Who sent it.
    pub acquirer: AcquirerName,
    /// Which payment it is about.
    pub transaction_id: TransactionId,
    /// What it states.
    pub fact: Fact,
    /// When it was received.
    pub received_at: Timestamp,
}

/// What a provider's notice says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoticeContent {
    /// A fact that can be believed without asking.
    Fact(Box<Notice>),
    /// Something may have changed: the acquirer is asked now, and only its answer counts.
    Hint(Subject),
    /// It is about something that is nobody's here.
    Unrelated,
}

/// Whom a hint is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// This payment: the provider uses our id.
    Payment(TransactionId),
    /// The provider's reference of the charge: it has to be asked whose that is.
    Reference(Reference),
}
