//! Lists of payments and deliveries: filters and places in a list.

use crate::delivery::DeliveryState;
use crate::identity::{MerchantId, Mode, TransactionId};
use crate::method::Method;
use crate::status::Status;
use crate::time::Timestamp;

/// Which payments a list shows. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Whose.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Any of these; every status when empty.
    pub statuses: Vec<Status>,
    /// This method.
    pub method: Option<Method>,
    /// The payer's CPF or CNPJ.
    pub document: Option<String>,
    /// The payer's e-mail address.
    pub email: Option<String>,
    /// The merchant's own id.
    pub external_reference: Option<String>,
    /// Created at this time or later.
    pub created_from: Option<Timestamp>,
    /// Created before this time.
    pub created_to: Option<Timestamp>,
}

/// Which deliveries a list shows. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Whose.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Of this payment.
    pub transaction_id: Option<TransactionId>,
    /// In this state.
    pub state: Option<DeliveryState>,
}

/// A place in a list of payments, newest first: everything after this payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// When the last payment shown was created.
    pub created_at: Timestamp,
    /// Its id.
    pub id: TransactionId,
}
