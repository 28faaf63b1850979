//! One line of a list or a file, the same whoever told it.

use std::fmt;
use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime};
use serde::{Deserialize, Serialize};

use crate::identity::{AcquirerName, TransactionId};
use crate::money::Money;
use crate::time::Timestamp;

/// Who tells: an acquirer by its list, or a bank by its return files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Source(Arc<str>);

impl Source {
    /// What an acquirer lists.
    pub fn list_of(acquirer: &AcquirerName) -> Self {
        Self(acquirer.as_str().into())
    }

    /// What the return files of the bank with this code say: `cnab 341`, which is no name of an acquirer.
    pub fn files_of(bank: &str) -> Self {
        Self(format!("cnab {bank}").into())
    }

    /// Source of an acquirer's list of money that went back of what came in long ago, which is no name of an acquirer.
    pub fn refunds_of(acquirer: &AcquirerName) -> Self {
        Self(format!("{acquirer} refunds").into())
    }

    /// Nobody tells anything: the name under which erasing personal data is claimed, which is no name of an acquirer.
    pub fn personal_data() -> Self {
        Self("personal data".into())
    }

    /// As a store has it.
    pub fn stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a line tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// A Pix came in.
    Pix,
    /// Money of a Pix went back.
    Refund,
    /// The bank knows a boleto.
    Registered,
    /// A boleto was paid.
    Settled,
    /// A boleto can't be paid any more, and brought no money.
    WrittenOff,
    /// The bank refused a boleto, or what was asked for it.
    Rejected,
    /// The bank charges for something.
    Fee,
    /// Anything else.
    Other,
}

impl LineKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Pix,
        Self::Refund,
        Self::Registered,
        Self::Settled,
        Self::WrittenOff,
        Self::Rejected,
        Self::Fee,
        Self::Other,
    ];

    /// As it is told outside.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pix => "pix",
            Self::Refund => "refund",
            Self::Registered => "registered",
            Self::Settled => "settled",
            Self::WrittenOff => "written_off",
            Self::Rejected => "rejected",
            Self::Fee => "fee",
            Self::Other => "other",
        }
    }
}

/// By which names a line's payment is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Subject {
    /// A Pix that came in.
    #[serde(rename_all = "camelCase")]
    Pix {
        /// The payment whose charge it names, if it names one in our form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transaction_id: Option<TransactionId>,
        /// The transfer's own id.
        end_to_end_id: String,
    },
    /// Money of a Pix that went back.
    #[serde(rename_all = "camelCase")]
    Refund {
        /// The payment whose charge the Pix names, if it names one in our form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transaction_id: Option<TransactionId>,
        /// The Pix that it went back of.
        end_to_end_id: String,
        /// The refund, as the payment knows it.
        refund_id: String,
        /// Whether the banks took it back, so that the payment knows it as a chargeback.
        is_chargeback: bool,
    },
    /// A boleto.
    #[serde(rename_all = "camelCase")]
    Boleto {
        /// The bank's three digits.
        bank: String,
        /// The bank's number of it (nosso número), as in the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        our_number: Option<String>,
        /// The number that the slip shows as nº do documento, as in the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document_number: Option<String>,
        /// Interest and fine that were paid.
        interest: Money,
    },
}

/// One line, as it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatementLine {
    /// The same for the same line, wherever it stood: what is imported twice is there once.
    pub id: String,
    /// Who tells.
    pub source: Source,
    /// The day, in Brasília, under which it is listed. A refund is listed with its Pix.
    pub day: NaiveDate,
    /// What it tells of.
    pub kind: LineKind,
    /// What the other side calls it: the end-to-end id of a Pix, the rtrId of a refund, the nosso número of a boleto.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Whose it is.
    pub subject: Subject,
    /// How much was moved, or is to be.
    pub gross: Money,
    /// What the other side takes, if it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<Money>,
    /// What is left of what was moved, if the other side says what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<Money>,
    /// The day, in Brasília, on which it happened.
    pub on: NaiveDate,
    /// Where it stood: a file with its line, a page of a list.
    pub place: String,
    /// The receiver's key, if it is another one than the one that is configured: it may have been ours before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_key: Option<String>,
}

impl StatementLine {
    /// The id of a Pix in an acquirer's list.
    pub fn pix_id(source: &Source, end_to_end_id: &str) -> String {
        format!("{source}:pix:{end_to_end_id}")
    }

    /// The id of a refund in an acquirer's list, by the payment's name of it.
    pub fn refund_id(source: &Source, end_to_end_id: &str, refund_id: &str) -> String {
        format!("{source}:refund:{end_to_end_id}:{refund_id}")
    }

    /// Where a line stands that was told by nobody: what a list should have had.
    pub const EXPECTED: &str = "not listed";

    /// Whether nobody told it.
    pub fn is_expected(&self) -> bool {
        self.place == Self::EXPECTED
    }

    /// Whether both say the same, wherever they were told.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let is_told_alike = self.is_expected() == other.is_expected();
        let Self { id, source, day, kind, reference, subject, gross, fee, net, on, place: _, other_key } =
            self;
        is_told_alike
            && *other_key == other.other_key
            && (id, source, day, kind, reference)
                == (&other.id, &other.source, &other.day, &other.kind, &other.reference)
            && (subject, gross, fee, net, on)
                == (&other.subject, &other.gross, &other.fee, &other.net, &other.on)
    }

    /// The name of the transfer that it is about.
    pub fn end_to_end_id(&self) -> Option<&str> {
        match &self.subject {
            Subject::Pix { end_to_end_id, .. } | Subject::Refund { end_to_end_id, .. } => Some(end_to_end_id),
            Subject::Boleto { .. } => None,
        }
    }

    /// The day, in Brasília, on which its transfer was made, as the transfer's name tells. It does not depend on the clock
    /// of who lists it.
    pub fn transferred_on(&self) -> Option<NaiveDate> {
        self.end_to_end_id().and_then(transferred_at).map(Timestamp::sao_paulo_date)
    }

    /// The payment that it names by our own id.
    pub fn named_payment(&self) -> Option<TransactionId> {
        match &self.subject {
            Subject::Pix { transaction_id, .. } | Subject::Refund { transaction_id, .. } => *transaction_id,
            Subject::Boleto { .. } => None,
        }
    }
}

/// The minute, in UTC, that the name of a transfer tells: twelve of its 32 characters, after the
/// `E` and eight digits of the bank (Banco Central, Manual das Interfaces de Comunicação do Pix).
pub(super) fn transferred_at(end_to_end_id: &str) -> Option<Timestamp> {
    let minute = end_to_end_id.get(9..21)?;
    let at = NaiveDateTime::parse_from_str(minute, "%Y%m%d%H%M").ok()?;
    Some(Timestamp::from_millis(at.and_utc().timestamp_millis()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_transfer_tells_its_minute() {
        let at = transferred_at("E00000000202611230259abcdefghijk").unwrap();
        assert_eq!(at.to_string(), "2026-11-23T02:59:00.000Z");
        assert_eq!(at.sao_paulo_date().to_string(), "2026-11-22");
        for text in ["", "E1", "E00000000202613230259abcdefghijk", "Eéééééééééééééééé"] {
            assert_eq!(transferred_at(text), None, "{text}");
        }
    }
}
