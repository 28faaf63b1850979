//! What the books of a bank say of one payment, of whichever kind the bank is.

use quita_domain::acquiring::{DeclineKind, RemovedBy};
use quita_domain::money::Money;

use crate::bank::Holding;

/// One payment at one bank.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) holding: Holding,
    /// If the issuer declined it: whether that may change, as far as it is said.
    pub(crate) declined_as: Option<Option<DeclineKind>>,
    /// How often a card was authorised; more than once is a payer who was charged twice.
    pub(crate) authorised: u32,
    pub(crate) captured: Money,
    /// What went back for certain.
    pub(crate) given_back: Money,
    /// Whether money that was taken back is still away.
    pub(crate) is_charged_back: bool,
    /// How often it was charged back.
    pub(crate) chargebacks: u32,
    /// Whether what came in was not what was asked for.
    pub(crate) is_odd: bool,
    /// True if the bank's lists alone show what is odd, which not every world reads.
    pub(crate) is_listed_alone: bool,
    /// True if its payer was late and paid interest, for which no merchant of the worlds asks.
    pub(crate) paid_unasked_interest: bool,
    /// Whether what it has under the payment's name is somebody else's.
    pub(crate) is_foreign: bool,
    /// Who withdrew it, if not we.
    pub(crate) removed_by: Option<RemovedBy>,
    /// Whether a card was captured at the bank's desk.
    pub(crate) was_captured_at_the_desk: bool,
    /// Whether others moved money of it where sums are all that tells of operations.
    pub(crate) sums_moved: bool,
    /// Whether it was authorised long after its caller had given it up.
    pub(crate) is_late: bool,
    /// Whether it was paid in time, and came in after that.
    pub(crate) came_after_its_time: bool,
    /// True if its sums are all that tells of operations, and none but the desk moves them.
    pub(crate) tells_by_sums: bool,
    /// The charge that counts there, if the bank may have several.
    pub(crate) counted: Option<Beside>,
    /// Charges of the payment beside the one that counts.
    pub(crate) others: Vec<Beside>,
    /// True if the bank may know a charge minutes later only: a second one may come to be, and is no defect.
    pub(crate) is_blind: bool,
    /// True if the bank never tells what became of the charge.
    pub(crate) is_never_told: bool,
    /// Whether the bank said for a while what was not so, or its payer did what nobody expected.
    pub(crate) may_be_contradicted: bool,
}

/// A charge beside the one that counts.
#[derive(Debug, Clone)]
pub(crate) struct Beside {
    /// The bank's name for it.
    pub(crate) name: String,
    /// True if money came in by it, or was held.
    pub(crate) held: bool,
    /// True if the bank still has that.
    pub(crate) holds: bool,
}
