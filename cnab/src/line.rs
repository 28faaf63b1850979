//! One line of a return file, the same for every bank and layout.

use chrono::NaiveDate;
use quita_domain::money::Money;

/// A bank's report on one boleto.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Line number in the file, from 1; of two records about one event, the first.
    pub number: u64,
    /// The bank's number of the boleto (*nosso número*), as in the file, with its digit.
    pub our_number: Option<String>,
    /// The beneficiary's own number of it (*número do documento*).
    pub document_number: Option<String>,
    /// The bank's two-character code of the event.
    pub occurrence: String,
    /// Meaning of the code at this bank.
    pub kind: Kind,
    /// Date of the event.
    pub occurred_on: Option<NaiveDate>,
    /// Due date of the boleto.
    pub due_on: Option<NaiveDate>,
    /// Date on which the money is in the beneficiary's account.
    pub credited_on: Option<NaiveDate>,
    /// Amount of the boleto.
    pub amount: Money,
    /// Amount that was paid.
    pub received: Money,
    /// The bank's fee.
    pub fee: Money,
    /// Interest and fine that were paid.
    pub interest: Money,
    /// Discount that was granted.
    pub discount: Money,
}

/// Kind of event of a boleto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It is registered at the bank, and can be paid.
    Registered,
    /// It was paid, and the money belongs to the beneficiary.
    Settled,
    /// It can no longer be paid, and brought no money.
    WrittenOff,
    /// The bank refused it, or a request about it.
    Rejected,
    /// The bank charges a fee.
    Fee,
    /// Any other event: a changed due date, a notary's step, a cheque that may still bounce.
    Other,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Registered, Self::Settled, Self::WrittenOff, Self::Rejected, Self::Fee, Self::Other];

    /// Returns its name in output.
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
