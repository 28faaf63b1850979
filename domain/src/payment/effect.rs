//! Actions that follow a decision.

use crate::identity::{AcquirerName, OperationId};
use crate::numbering::{AttemptNumber, DeliveryIndex};

/// Action that follows once the decision is stored, and never before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send the last charge to this acquirer.
    Charge(AcquirerName),
    /// Ask this acquirer for the outcome of the charge with this number.
    Inquire(AcquirerName, AttemptNumber),
    /// Send an operation to this acquirer.
    Operate(AcquirerName, OperationId),
    /// Ask this acquirer for the outcome of an operation.
    InquireOperation(AcquirerName, OperationId),
    /// Attempt a delivery that was claimed.
    Deliver(DeliveryIndex),
    /// Store the exceptions of the payment's reports, then remove the reports.
    Report,
}
