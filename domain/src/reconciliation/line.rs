//! One line of a list or a file, the same from every source.

use std::fmt;
use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime};
use serde::{Deserialize, Serialize};

use super::charge_line::{ChargeLine, Movement};
use super::number::SlipNumber;
use crate::identity::{AcquirerName, TransactionId};
use crate::money::{Money, SignedMoney};
use crate::time::Timestamp;

/// Source of lines: an acquirer's list, or a bank's return files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Source(Arc<str>);

impl Source {
    /// Names an acquirer's list.
    pub fn list_of(acquirer: &AcquirerName) -> Self {
        Self(acquirer.as_str().into())
    }

    /// Names the return files of the bank with this code: `cnab 341`, which is not the name of any acquirer.
    pub fn files_of(bank: &str) -> Self {
        Self(format!("cnab {bank}").into())
    }

    /// Names an acquirer's list of refunds of older money. This is not the name of any acquirer.
    pub fn refunds_of(acquirer: &AcquirerName) -> Self {
        Self(format!("{acquirer} refunds").into())
    }

    /// Returns the name under which the erasing of personal data is claimed. It has no lines, and is not an acquirer's
    /// name.
    pub fn personal_data() -> Self {
        Self("personal data".into())
    }

    /// Returns the name under which archiving is claimed. It has no lines, and is not an acquirer's name.
    pub fn archive() -> Self {
        Self("finished payments".into())
    }

    /// Reads the text from a store.
    pub fn stored(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Kind of movement in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// A Pix came in.
    Pix,
    /// A recipient gets an instalment of a charge.
    Receivable,
    /// Money of a Pix or a charge went back.
    Refund,
    /// A holder took money of a charge back.
    Chargeback,
    /// A boleto is registered at the bank.
    Registered,
    /// A boleto was paid, by a bank's file.
    Settled,
    /// A boleto was paid, by a bank's list.
    Boleto,
    /// A boleto can no longer be paid, and brought no money.
    WrittenOff,
    /// The bank refused a boleto, or a request about it.
    Rejected,
    /// The bank charges a fee.
    Fee,
    /// Anything else.
    Other,
}

impl LineKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Pix,
        Self::Receivable,
        Self::Refund,
        Self::Chargeback,
        Self::Registered,
        Self::Settled,
        Self::Boleto,
        Self::WrittenOff,
        Self::Rejected,
        Self::Fee,
        Self::Other,
    ];

    /// Returns true if a boleto was paid.
    pub const fn settles_boleto(self) -> bool {
        matches!(self, Self::Settled | Self::Boleto)
    }

    /// Returns the spelling in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pix => "pix",
            Self::Receivable => "receivable",
            Self::Refund => "refund",
            Self::Chargeback => "chargeback",
            Self::Registered => "registered",
            Self::Settled => "settled",
            Self::Boleto => "boleto",
            Self::WrittenOff => "written_off",
            Self::Rejected => "rejected",
            Self::Fee => "fee",
            Self::Other => "other",
        }
    }
}

/// Identifiers by which a line's payment is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LineSubject {
    /// A Pix that came in.
    #[serde(rename_all = "camelCase")]
    Pix {
        /// Payment whose charge it names, if it names one in our form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transaction_id: Option<TransactionId>,
        /// The transfer's own id.
        end_to_end_id: String,
    },
    /// Money of a Pix that was given back.
    #[serde(rename_all = "camelCase")]
    Refund {
        /// Payment whose charge the Pix names, if it names one in our form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        transaction_id: Option<TransactionId>,
        /// End-to-end id of the Pix that it was given back from.
        end_to_end_id: String,
        /// Id of the refund in the payment.
        refund_id: String,
        /// True if the banks took it back, so that it is a chargeback in the payment.
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
        /// Document number on the slip (nº do documento), as in the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        document_number: Option<String>,
        /// Interest and fine that were paid.
        interest: Money,
        /// Day in Brasília on which the bank will credit it, if it names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        credited_on: Option<NaiveDate>,
    },
    /// A movement of a charge, or of the account, at a provider that lists both.
    Charge(Box<ChargeLine>),
}

/// One line of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatementLine {
    /// Id that is the same for the same line, wherever it was found: a line that is imported twice is stored once.
    pub id: String,
    /// Its source.
    pub source: Source,
    /// Date, in Brasília, under which it is listed. A refund is listed with its Pix.
    pub day: NaiveDate,
    /// Kind of movement.
    pub kind: LineKind,
    /// The other side's reference: the end-to-end id of a Pix, the rtrId of a refund, the nosso número of a boleto, the
    /// id of a charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Names of its payment.
    pub subject: LineSubject,
    /// Amount that was moved, or is to be, without a sign; see [`StatementLine::signed_gross`].
    pub gross: Money,
    /// Fee of the other side, if it states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<SignedMoney>,
    /// Amount less the fee, if the other side states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub net: Option<SignedMoney>,
    /// Date, in Brasília, of the movement.
    pub on: NaiveDate,
    /// Position in the source: a file with its line, a page of a list.
    pub place: String,
    /// Receiver's key, if it is not the configured one. It may have been ours earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_key: Option<String>,
}

impl StatementLine {
    /// Returns the id of a Pix in an acquirer's list.
    pub fn pix_id(source: &Source, end_to_end_id: &str) -> String {
        format!("{source}:pix:{end_to_end_id}")
    }

    /// Returns the id of a refund in an acquirer's list, by the payment's id of it.
    pub fn refund_id(source: &Source, end_to_end_id: &str, refund_id: &str) -> String {
        format!("{source}:refund:{end_to_end_id}:{refund_id}")
    }

    /// Returns the common prefix of the ids of all lines about one boleto in a bank's files. It is made from the bank's
    /// number, or else the document's; `None` without either.
    pub fn beginning_of_slip(
        source: &Source,
        our_number: Option<&str>,
        document_number: Option<&str>,
    ) -> Option<String> {
        let ours = our_number.and_then(SlipNumber::ours);
        let number = ours.or_else(|| document_number.and_then(SlipNumber::document))?;
        let kind = match number {
            SlipNumber::Ours(_) => "ours",
            SlipNumber::Document(_) => "document",
        };
        Some(format!("{source}:{kind}:{}:", number.as_str()))
    }

    /// Returns the common prefix of the ids of all settlements of the boleto that this line settles; `None` for other
    /// lines.
    pub fn settlements_begin_with(&self) -> Option<String> {
        match &self.subject {
            LineSubject::Boleto { our_number, document_number, .. } if self.kind.settles_boleto() => {
                Self::beginning_of_slip(&self.source, our_number.as_deref(), document_number.as_deref())
            }
            LineSubject::Boleto { .. }
            | LineSubject::Pix { .. }
            | LineSubject::Refund { .. }
            | LineSubject::Charge(_) => None,
        }
    }

    /// Returns the amount with the sign that the other side gives it: negative if a recipient's balance falls.
    pub fn signed_gross(&self) -> SignedMoney {
        let gross = SignedMoney::from(self.gross);
        match &self.subject {
            LineSubject::Charge(charge) if charge.is_taken => SignedMoney::default().minus(gross),
            LineSubject::Charge(_)
            | LineSubject::Pix { .. }
            | LineSubject::Refund { .. }
            | LineSubject::Boleto { .. } => gross,
        }
    }

    /// Returns the movement of a charge, if the line is one.
    pub fn charge(&self) -> Option<&ChargeLine> {
        match &self.subject {
            LineSubject::Charge(charge) => Some(charge),
            LineSubject::Pix { .. } | LineSubject::Refund { .. } | LineSubject::Boleto { .. } => None,
        }
    }

    /// Returns the day in Brasília on which its money is to be paid out or credited, if the other side names one.
    pub fn expected_on(&self) -> Option<NaiveDate> {
        match &self.subject {
            LineSubject::Charge(charge) => charge.expected_on,
            LineSubject::Boleto { credited_on, .. } => *credited_on,
            LineSubject::Pix { .. } | LineSubject::Refund { .. } => None,
        }
    }

    /// Returns the common prefix of the ids of all lines of one charge.
    pub fn beginning_of_charge(source: &Source, charge: &str) -> String {
        format!("{source}:charge:{charge}:")
    }

    /// Returns the common prefix of the ids of all lines of one charge with this movement.
    pub fn beginning_of_movement(source: &Source, charge: &str, movement: Movement) -> String {
        format!("{}{}:", Self::beginning_of_charge(source, charge), movement.as_str())
    }

    /// Returns the common prefix of the ids of this line and of those added to it before comparison; `None` for lines
    /// that are compared alone.
    pub fn added_up_with(&self) -> Option<String> {
        let charge = self.charge()?;
        let name = charge.name()?;
        charge
            .movement
            .is_added_up()
            .then(|| Self::beginning_of_movement(&self.source, name, charge.movement))
    }

    /// Position of an expected line, which a list should contain.
    pub const EXPECTED: &str = "not listed";

    /// Returns true if it is an expected line, which no source contains.
    pub fn is_expected(&self) -> bool {
        self.place == Self::EXPECTED
    }

    /// Returns true if both have the same content, whatever their positions.
    pub fn says_the_same(&self, other: &Self) -> bool {
        // A line that now appears in a list replaces the expected one with its id, and is judged again.
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

    /// Returns the end-to-end id of the transfer that it is about.
    pub fn end_to_end_id(&self) -> Option<&str> {
        match &self.subject {
            LineSubject::Pix { end_to_end_id, .. } | LineSubject::Refund { end_to_end_id, .. } => {
                Some(end_to_end_id)
            }
            LineSubject::Boleto { .. } | LineSubject::Charge(_) => None,
        }
    }

    /// Returns the date, in Brasília, of its transfer, from the transfer's end-to-end id. It does not depend on the
    /// lister's clock.
    pub fn transferred_on(&self) -> Option<NaiveDate> {
        self.end_to_end_id().and_then(transferred_at).map(Timestamp::sao_paulo_date)
    }

    /// Returns the payment that it names by our own id.
    pub fn named_payment(&self) -> Option<TransactionId> {
        match &self.subject {
            LineSubject::Pix { transaction_id, .. } | LineSubject::Refund { transaction_id, .. } => {
                *transaction_id
            }
            LineSubject::Charge(charge) => charge.transaction_id,
            LineSubject::Boleto { .. } => None,
        }
    }
}

/// Returns the minute, in UTC, of a transfer from its end-to-end id. It is twelve of the 32 characters, after the `E`
/// and eight digits of the bank (Banco Central, Manual das Interfaces de Comunicação do Pix).
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
