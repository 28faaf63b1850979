//! Statements of acquirers that the table of statuses refuses.

use serde::{Deserialize, Serialize};

use super::Payment;
use super::draft::Draft;

/// A statement of an acquirer that the table refuses. An operator sees it; it is never dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discrepancy {
    /// Its kind.
    pub kind: DiscrepancyKind,
    /// Statement and contradicting state of the payment, without personal data.
    pub detail: String,
    /// Statement in a few fixed words, so that contradictions of one kind do not hide each other. Empty if the kind
    /// says everything.
    pub stated: &'static str,
    /// Subject within the payment, where there may be several: an operation, a settlement. The same subject is reported
    /// once, from any source. Without a subject, a repetition after the payment has changed is reported again.
    pub about: Option<String>,
}

/// The kinds of discrepancies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiscrepancyKind {
    /// Another fact must come first: to be processed again later.
    TooEarly,
    /// The amount that came in differs from the one requested, or is less than was owed on that day.
    AmountMismatch,
    /// More came in than was owed on that day. The payment is paid.
    Overpaid,
    /// A second settlement of one payment.
    PaidTwice,
    /// Another charge of one payment at its acquirer, which holds money or limit, or can be paid.
    SecondCharge,
    /// Money for a payment that was declined.
    PaidAfterDecline,
    /// A refund was done while a chargeback is open.
    RefundExceedsPaid,
    /// A refund was done although a chargeback is open.
    RefundedAndChargedBack,
    /// A card was authorised after its payment had been given up.
    LateAuthorization,
    /// The acquirer has somebody else's charge under our name.
    ForeignCharge,
    /// Anything else that the status does not allow.
    Contradiction,
    /// The outcome of a call is still unknown after a long time.
    UnknownOutcome,
    /// The acquirer has somebody else's slip under a number that is ours alone.
    NumberTaken,
    /// A slip was issued without the PIX code that it should have.
    PixCodeMissing,
    /// Money came in, and the acquirer does not state how much.
    AmountUnknown,
    /// The acquirer stated a Pix that belongs to another payment.
    PixTaken,
}

impl DiscrepancyKind {
    /// Every kind.
    pub const ALL: [Self; 16] = [
        Self::TooEarly,
        Self::AmountMismatch,
        Self::Overpaid,
        Self::PaidTwice,
        Self::SecondCharge,
        Self::PaidAfterDecline,
        Self::RefundExceedsPaid,
        Self::RefundedAndChargedBack,
        Self::LateAuthorization,
        Self::ForeignCharge,
        Self::Contradiction,
        Self::UnknownOutcome,
        Self::NumberTaken,
        Self::PixCodeMissing,
        Self::AmountUnknown,
        Self::PixTaken,
    ];

    /// Reads a kind as `/ops/exceptions` spells it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns the kind as `/ops/exceptions` spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooEarly => "too_early",
            Self::AmountMismatch => "amount_mismatch",
            Self::Overpaid => "overpaid",
            Self::PaidTwice => "paid_twice",
            Self::SecondCharge => "second_charge",
            Self::PaidAfterDecline => "paid_after_decline",
            Self::RefundExceedsPaid => "refund_exceeds_paid",
            Self::RefundedAndChargedBack => "refunded_and_charged_back",
            Self::LateAuthorization => "late_authorization",
            Self::ForeignCharge => "foreign_charge",
            Self::Contradiction => "contradiction",
            Self::UnknownOutcome => "unknown_outcome",
            Self::NumberTaken => "number_taken",
            Self::PixCodeMissing => "pix_code_missing",
            Self::AmountUnknown => "amount_unknown",
            Self::PixTaken => "pix_taken",
        }
    }

    /// Returns advice on what an operator may do next.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::TooEarly => "wait: it is processed again once the payment has progressed",
            Self::AmountMismatch => {
                "compare with the acquirer's statement; refund the payer there, or settle the difference with the merchant"
            }
            Self::Overpaid => {
                "the payment is paid; settle the excess with the merchant or the payer, who may have typed another amount"
            }
            Self::PaidTwice => {
                "verify that the second settlement belongs to no other payment, then refund it at the acquirer"
            }
            Self::SecondCharge => {
                "Quita refunds, voids or withdraws this charge once; verify at the acquirer that it holds neither money nor limit, and can't be paid"
            }
            Self::PaidAfterDecline => {
                "Quita refunds it once; verify at the acquirer that it was refunded, and refund there what the acquirer still holds"
            }
            Self::RefundExceedsPaid => "compare with the acquirer's statement",
            Self::RefundedAndChargedBack => {
                "contest the chargeback at the acquirer with proof of the refund: the payer may have received the money twice"
            }
            Self::LateAuthorization => {
                "Quita voids the authorisation; verify at the acquirer that none of the card's limit is still held"
            }
            Self::ForeignCharge => {
                "find out from the acquirer whose charge it has under this name; Quita trusts nothing about that charge, and still inquires"
            }
            Self::Contradiction => "compare with the acquirer's record of the payment",
            Self::UnknownOutcome => {
                "look the payment up at the acquirer by its transactionId; Quita still inquires about it"
            }
            Self::NumberTaken => {
                "another program of the account uses numbers from our-numbers: configure a range that only this service uses"
            }
            Self::PixCodeMissing => {
                "the boleto can be paid by its bar code; ask the bank why it created no PIX code: often a Pix key is missing"
            }
            Self::AmountUnknown => {
                "compare with the acquirer's statement; Quita still inquires, and the payment becomes paid once the acquirer states the amount"
            }
            Self::PixTaken => {
                "the Pix pays the other payment, and was not applied here; have the bank correct its report; if a Pix was meant for this payment, refund its payer there"
            }
        }
    }
}

impl Payment {
    /// Returns a discrepancy: the status does not allow this fact.
    pub(super) fn contradiction(&self, stated: &'static str, about: Option<String>) -> Discrepancy {
        let detail = format!("{stated}, but the payment is {}", self.status());
        Discrepancy { kind: DiscrepancyKind::Contradiction, detail, stated, about }
    }

    /// Returns a discrepancy: another fact must precede this one.
    pub(super) fn too_early(&self, stated: &'static str, about: Option<String>) -> Discrepancy {
        let detail = format!("{stated}, but the payment is still {}", self.status());
        Discrepancy { kind: DiscrepancyKind::TooEarly, detail, stated, about }
    }
}

impl Draft {
    /// Reports to operators that an acquirer's statement contradicts the payment. `stated` is the statement in a few
    /// words.
    pub(super) fn contradicted(&mut self, what: &str, stated: &'static str, about: Option<String>) {
        let detail = format!("{what}, but the payment is {}", self.payment.status());
        let kind = DiscrepancyKind::Contradiction;
        self.discrepancies.push(Discrepancy { kind, detail, stated, about });
    }

    /// Reports that an outcome stays unknown: a person has to look.
    pub(super) fn outcome_is_unknown(&mut self, detail: String, about: Option<String>) {
        let kind = DiscrepancyKind::UnknownOutcome;
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
    }
}
