//! Verdicts: results of comparing a line with its payment, and a person's options.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::line::{LineKind, LineSubject, Source, StatementLine};
use crate::exception::Exception;
use crate::identity::{AcquirerName, TransactionId};
use crate::time::{DAY_MS, Timestamp};

/// Time after the import of a line during which an unanswering acquirer is asked about it. Then it is reported to an
/// operator in any case.
pub const ASKED_FOR_MS: u64 = DAY_MS / 2;

/// Result of comparing a line with its payment, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineVerdict {
    /// Both agree.
    Matched,
    /// There is a payment, but it differs.
    Different,
    /// The payment has the movement, but the list that should contain it does not.
    MissingThere,
    /// No payment here belongs to it.
    UnknownHere,
}

impl LineVerdict {
    /// Every verdict.
    pub const ALL: [Self; 4] = [Self::Matched, Self::Different, Self::MissingThere, Self::UnknownHere];

    /// Returns the spelling in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Matched => "matched",
            Self::Different => "different",
            Self::MissingThere => "missing_there",
            Self::UnknownHere => "unknown_here",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.as_str() == text)
    }
}

/// Property in which both differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferingField {
    /// Status: the money was moved on one side only.
    Status,
    /// Amount that was moved.
    Gross,
    /// Reference of the movement.
    Reference,
}

impl DifferingField {
    /// Returns the spelling in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Gross => "gross",
            Self::Reference => "reference",
        }
    }
}

/// A value of a payment, and the line's other value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The property.
    pub field: DifferingField,
    /// Value in the payment.
    pub here: String,
    /// Value in the line.
    pub there: String,
}

/// A verdict with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "verdict", content = "difference")]
pub enum LineFinding {
    /// See [`LineVerdict::Matched`].
    Matched,
    /// See [`LineVerdict::Different`].
    Different(Difference),
    /// See [`LineVerdict::MissingThere`].
    MissingThere,
    /// See [`LineVerdict::UnknownHere`].
    UnknownHere,
}

impl LineFinding {
    /// Returns the verdict alone.
    pub const fn verdict(&self) -> LineVerdict {
        match self {
            Self::Matched => LineVerdict::Matched,
            Self::Different(_) => LineVerdict::Different,
            Self::MissingThere => LineVerdict::MissingThere,
            Self::UnknownHere => LineVerdict::UnknownHere,
        }
    }

    /// Returns the difference, if that is the verdict.
    pub const fn difference(&self) -> Option<&Difference> {
        match self {
            Self::Different(difference) => Some(difference),
            Self::Matched | Self::MissingThere | Self::UnknownHere => None,
        }
    }
}

/// Judgement of a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// The finding.
    pub finding: LineFinding,
    /// Payment that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transaction_id: Option<TransactionId>,
    /// Acquirer that had that payment's charge then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquirer: Option<AcquirerName>,
    /// True if nobody is left to ask. A difference that is not final has no exception yet, and the next run judges the
    /// line again.
    pub is_final: bool,
}

/// A line as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredLine {
    /// The line as its source has it.
    pub line: StatementLine,
    /// Time of the first import.
    pub imported_at: Timestamp,
    /// Its judgement. Absent until it is judged, and until then the line is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

impl StoredLine {
    /// Returns the kind of movement. A Pix that is no charge of ours counts as something else.
    pub fn kind(&self) -> LineKind {
        let is_unknown = |judged: &Judged| judged.finding == LineFinding::UnknownHere;
        match (self.line.kind, &self.judged) {
            (LineKind::Pix, Some(judged)) if is_unknown(judged) => LineKind::Other,
            (kind, _) => kind,
        }
    }

    /// Returns the verdict, once there is one.
    pub fn verdict(&self) -> Option<LineVerdict> {
        self.judged.as_ref().map(|judged| judged.finding.verdict())
    }

    /// Returns true if its verdict is final.
    pub fn is_settled(&self) -> bool {
        self.judged.as_ref().is_some_and(|judged| judged.is_final)
    }

    /// Returns the exception for operators, if it differs and nobody is left to ask.
    pub fn exception(&self, now: Timestamp) -> Option<Exception> {
        let judged = self.judged.as_ref().filter(|judged| judged.is_final)?;
        let kind = ReconciliationKind::of(&judged.finding)?;
        Some(Exception {
            id: format!("reconciliation:{}:{}", self.line.id, self.digest(&judged.finding)),
            kind: kind.as_str().into(),
            transaction_id: judged.transaction_id,
            acquirer: judged.acquirer.clone(),
            detail: self.detail(&judged.finding),
            advice: kind.advice().into(),
            reported_at: now,
            resolution: None,
        })
    }

    /// Hashes a finding about a line: a new difference is reported again, the same one is not.
    fn digest(&self, finding: &LineFinding) -> String {
        let mut hash = Sha256::new_with_prefix("quita difference 1");
        hash.update(finding.verdict().as_str());
        hash.update(self.line.gross.cents().to_be_bytes());
        if let Some(Difference { field, here, there }) = finding.difference() {
            for text in [field.as_str(), here, there] {
                hash.update([0]);
                hash.update(text);
            }
        }
        let mut bytes = [0; 8];
        bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
        format!("{:016x}", u64::from_be_bytes(bytes))
    }

    fn detail(&self, finding: &LineFinding) -> String {
        let StatementLine { source, on, place, .. } = &self.line;
        let gross = self.line.signed_gross();
        let kind = self.kind().as_str();
        let reference = self.reference();
        let what = format!("{kind} {reference} of {gross} on {on}");
        match finding {
            LineFinding::Matched => format!("{what} ({place})"),
            LineFinding::Different(Difference { field, here, there }) => {
                format!("{what} ({place}): {} is {here} here, and {there} there", field.as_str())
            }
            LineFinding::MissingThere => format!("{what} is known here, and {source} does not list it"),
            LineFinding::UnknownHere => format!("{what} ({place}) belongs to no payment here"),
        }
    }

    /// Returns the other side's reference, for people.
    pub fn reference(&self) -> &str {
        let document = match &self.line.subject {
            LineSubject::Boleto { document_number, .. } => document_number.as_deref(),
            LineSubject::Pix { .. } | LineSubject::Refund { .. } | LineSubject::Charge(_) => None,
        };
        self.line.reference.as_deref().or(document).unwrap_or("without a number")
    }
}

/// The kinds of exceptions that reconciliation creates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReconciliationKind {
    /// The money was moved on one side only.
    StatusDiffers,
    /// The amounts of both sides differ.
    AmountDiffers,
    /// The movement differs from the known one.
    MovementDiffers,
    /// See [`LineVerdict::MissingThere`].
    MissingThere,
    /// See [`LineVerdict::UnknownHere`].
    UnknownHere,
    /// An acquirer's list of a day was not available for longer than a day.
    ListNotCompared,
}

/// Every kind.
pub const RECONCILIATION_KINDS: [ReconciliationKind; 6] = [
    ReconciliationKind::StatusDiffers,
    ReconciliationKind::AmountDiffers,
    ReconciliationKind::MovementDiffers,
    ReconciliationKind::MissingThere,
    ReconciliationKind::UnknownHere,
    ReconciliationKind::ListNotCompared,
];

impl ReconciliationKind {
    /// Returns the kind of a finding; none if nothing differs.
    pub const fn of(finding: &LineFinding) -> Option<Self> {
        match finding {
            LineFinding::Matched => None,
            LineFinding::Different(difference) => Some(match difference.field {
                DifferingField::Status => Self::StatusDiffers,
                DifferingField::Gross => Self::AmountDiffers,
                DifferingField::Reference => Self::MovementDiffers,
            }),
            LineFinding::MissingThere => Some(Self::MissingThere),
            LineFinding::UnknownHere => Some(Self::UnknownHere),
        }
    }

    /// Returns the spelling of `/ops/exceptions`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::StatusDiffers => "status_differs",
            Self::AmountDiffers => "amount_differs",
            Self::MovementDiffers => "movement_differs",
            Self::MissingThere => "missing_there",
            Self::UnknownHere => "unknown_here",
            Self::ListNotCompared => "list_not_compared",
        }
    }

    /// Reads that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        RECONCILIATION_KINDS.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns advice on what an operator may do next.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::StatusDiffers => {
                "ask the acquirer again; if it still denies what its list has, send it both; refund the payer there if the \
                 merchant delivered nothing for the money"
            }
            Self::AmountDiffers => {
                "compare with the acquirer's statement; refund the payer there, or settle the difference with the merchant"
            }
            Self::MovementDiffers => {
                "the payment was paid by another movement: refund this one at the acquirer"
            }
            Self::MissingThere => {
                "ask the acquirer again, and look for the money in the account's statement before anything more is delivered for it"
            }
            Self::UnknownHere => {
                "find out from the acquirer who should have been paid; if nobody, refund the money there"
            }
            Self::ListNotCompared => {
                "find out why the acquirer does not provide its list (quita doctor); Quita retries by itself, and nobody has to \
                 act once the list is compared"
            }
        }
    }
}

/// Creates the exception of a day whose list was not available for longer than a day.
pub fn list_not_compared(
    source: &Source,
    acquirer: &AcquirerName,
    day: NaiveDate,
    why: &str,
    now: Timestamp,
) -> Exception {
    let kind = ReconciliationKind::ListNotCompared;
    Exception {
        id: format!("{}:{source}:{day}", kind.as_str()),
        kind: kind.as_str().into(),
        transaction_id: None,
        acquirer: Some(acquirer.clone()),
        detail: format!("the list of {source} for {day} could not be compared: {why}"),
        advice: kind.advice().into(),
        reported_at: now,
        resolution: None,
    }
}

/// Position of a line in the order of its source: by day and id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineCursor {
    /// Its day.
    pub day: NaiveDate,
    /// Its id.
    pub id: String,
}

impl LineCursor {
    /// Returns the position of a line.
    pub fn of(line: &StatementLine) -> Self {
        Self { day: line.day, id: line.id.clone() }
    }
}

/// Filter of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineFilter {
    /// Their source.
    pub source: Source,
    /// First day.
    pub from: NaiveDate,
    /// Last day, included.
    pub until: NaiveDate,
    /// Verdict; all lines, judged or not, when absent.
    pub verdict: Option<LineVerdict>,
}

/// Number of lines of one day and source with one verdict.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineSum {
    /// The day.
    pub day: NaiveDate,
    /// The source.
    pub source: Source,
    /// The verdict.
    pub verdict: LineVerdict,
    /// Their number.
    pub count: u64,
    /// Sum of the amounts, in cents.
    pub gross_cents: u64,
}
