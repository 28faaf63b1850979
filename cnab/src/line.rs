//! One line of a return file, the same whichever bank and layout it came in.

use chrono::NaiveDate;
use quita_domain::money::Money;

/// What a bank tells of one boleto.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Where in the file it stands, from 1; of two records about one event, the first.
    pub number: u64,
    /// The bank's number of the boleto (*nosso número*), as in the file, with its digit.
    pub our_number: Option<String>,
    /// The beneficiary's own number of it (*número do documento*).
    pub document_number: Option<String>,
    /// The bank's two-character code for what happened.
    pub occurrence: String,
    /// What the code means at this bank.
    pub kind: Kind,
    /// When it happened.
    pub occurred_on: Option<NaiveDate>,
    /// Until when the boleto was to be paid.
    pub due_on: Option<NaiveDate>,
    /// When the money is in the beneficiary's account.
    pub credited_on: Option<NaiveDate>,
    /// What the boleto asks for.
    pub amount: Money,
    /// What was paid.
    pub received: Money,
    /// What the bank takes.
    pub fee: Money,
    /// Interest and fine that were paid.
    pub interest: Money,
    /// By how much less could be paid.
    pub discount: Money,
}

/// What happened to a boleto, in six words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The bank knows it, and it can be paid.
    Registered,
    /// It was paid, and the money is the beneficiary's.
    Settled,
    /// It can't be paid any more, and brought no money.
    WrittenOff,
    /// The bank refused it, or what was asked for it.
    Rejected,
    /// The bank charges for something.
    Fee,
    /// Anything else: a changed due date, a notary's step, a cheque that may still bounce.
    Other,
}

impl Kind {
    /// Every kind, in the order in which they are told.
    pub const ALL: [Self; 6] =
        [Self::Registered, Self::Settled, Self::WrittenOff, Self::Rejected, Self::Fee, Self::Other];

    /// As it is written outside.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Registered => "registered",
            Self::Settled => "settled",
            Self::WrittenOff => "written_off",
            Self::Rejected => "rejected",
            Self::Fee => "fee",
            Self::Other => "other",
        }
    }
}
