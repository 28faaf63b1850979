//! Account of one payment in the books of a bank, of whichever kind the bank is.

use quita_domain::acquiring::{DeclineKind, RemovedBy};
use quita_domain::money::Money;

use crate::bank::Holding;

/// One payment at one bank.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) holding: Holding,
    /// If the issuer declined it: whether that may change, as far as it is said.
    pub(crate) declined_as: Option<Option<DeclineKind>>,
    /// Number of times that a card was authorised; after more than one the payer was charged twice.
    pub(crate) authorised: u32,
    pub(crate) captured: Money,
    /// Amount that went back for certain.
    pub(crate) given_back: Money,
    /// True if money that was taken back is still away.
    pub(crate) is_charged_back: bool,
    /// Number of its chargebacks.
    pub(crate) chargebacks: u32,
    /// True if what came in was not what was asked for.
    pub(crate) is_odd: bool,
    /// True if the bank's lists alone show what is odd, which not every world reads.
    pub(crate) is_listed_alone: bool,
    /// True if its payer was late and paid interest, for which no merchant of the worlds asks.
    pub(crate) paid_unasked_interest: bool,
    /// True if the charge under the payment's name is somebody else's.
    pub(crate) is_foreign: bool,
    /// Party that withdrew it, unless we did.
    pub(crate) removed_by: Option<RemovedBy>,
    /// True if a card was captured at the bank's desk.
    pub(crate) was_captured_at_the_desk: bool,
    /// True if others moved money of it where sums are all that tells of operations.
    pub(crate) sums_moved: bool,
    /// True if it was authorised long after its caller had given it up.
    pub(crate) is_late: bool,
    /// True if it was paid in time, and the money came in after that.
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
    /// True if the bank said something untrue for a while, or its payer did something unexpected.
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
