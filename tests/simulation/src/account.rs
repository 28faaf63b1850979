//! Account of one payment in the books of a bank of any kind.

use quita_domain::acquiring::{DeclineKind, RemovedBy};
use quita_domain::money::Money;

use crate::bank::Holding;

/// Account of one payment at one bank.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) holding: Holding,
    /// Kind of the issuer's decline, if it declined. It says whether that may change, as far as that is reported.
    pub(crate) declined_as: Option<Option<DeclineKind>>,
    /// Number of times that a card was authorised; more than one means that the payer was charged twice.
    pub(crate) authorised: u32,
    pub(crate) captured: Money,
    /// Amount that was returned for certain.
    pub(crate) given_back: Money,
    /// True if money that was charged back has not come back.
    pub(crate) is_charged_back: bool,
    /// Number of its chargebacks.
    pub(crate) chargebacks: u32,
    /// True if the amount that came in differs from the amount asked for.
    pub(crate) is_odd: bool,
    /// True if only the bank's lists, which not every world reads, show the discrepancy.
    pub(crate) is_listed_alone: bool,
    /// True if its payer was late and paid interest, which no merchant of the worlds asks for.
    pub(crate) paid_unasked_interest: bool,
    /// True if the charge under the payment's name belongs to another merchant or program.
    pub(crate) is_foreign: bool,
    /// Party that withdrew it, unless the service did.
    pub(crate) removed_by: Option<RemovedBy>,
    /// True if a card was captured at the bank's desk.
    pub(crate) was_captured_at_the_desk: bool,
    /// True if others moved its money at a bank where only sums show the outcome of operations.
    pub(crate) sums_moved: bool,
    /// True if it was authorised long after its caller gave it up.
    pub(crate) is_late: bool,
    /// True if it was paid in time, but the money came in after the time to pay.
    pub(crate) came_after_its_time: bool,
    /// True if only its sums show the outcome of operations. Besides the service, only the desk changes those sums.
    pub(crate) tells_by_sums: bool,
    /// Charge that counts there, if the bank may have several.
    pub(crate) counted: Option<Beside>,
    /// Charges of the payment beside the one that counts.
    pub(crate) others: Vec<Beside>,
    /// True if the bank may not know a charge until minutes later. A second charge may then arise, and is no defect.
    pub(crate) is_blind: bool,
    /// True if the bank never reports what became of the charge.
    pub(crate) is_never_told: bool,
    /// True if the bank's statements were untrue for a while, or its payer did something unexpected.
    pub(crate) may_be_contradicted: bool,
}

/// Charge beside the one that counts.
#[derive(Debug, Clone)]
pub(crate) struct Beside {
    /// Name that the bank gave it.
    pub(crate) name: String,
    /// True if it brought in money, or held a limit.
    pub(crate) held: bool,
    /// True if the bank still has the money or holds the limit.
    pub(crate) holds: bool,
}
