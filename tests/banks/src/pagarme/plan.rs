//! Plan of an order, for tests that need more than chance and the test cards.

use serde::Deserialize;

/// Outcome of one order's charge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// Outcome of the order; if absent, the test values decide.
    pub outcome: Option<Outcome>,
    /// Failure of a capture; if absent, it does not fail.
    pub capture: Option<Failure>,
    /// Failure of a void or refund; if absent, it does not fail.
    pub cancel: Option<Failure>,
    /// True if a pending refund fails in the end.
    pub refund_fails_later: bool,
    /// Fault of the code of a PIX or boleto.
    pub wrong_code: Option<WrongCode>,
}

/// Outcome of an order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Authorised, or issued.
    Approve,
    /// Refused by the issuer.
    #[serde(rename_all = "camelCase")]
    Decline {
        /// `acquirer_return_code`.
        code: String,
        /// `retry_info.brand_failure_return_code`; without it there is no `retry_info`.
        #[serde(default)]
        brand_code: Option<String>,
    },
    /// Refused by the fraud check.
    Reprove,
    /// In the fraud check until somebody [finishes](super::Pagarme::finish) it.
    Analyze,
    /// In processing until somebody finishes it.
    Process,
    /// `with_error` until somebody finishes it.
    Err,
    /// Failed at the gateway before any issuer was asked: `gateway_response.code`.
    Reject {
        /// The code, such as `400` or `500`.
        code: String,
    },
}

/// Failure of an operation: answered with this status, whether it was done or not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// HTTP status, such as 412.
    pub status: u16,
    /// True if it was done nevertheless.
    #[serde(default)]
    pub was_done: bool,
    /// True if it happens only once.
    #[serde(default)]
    pub is_once: bool,
}

/// Fault in a code to pay with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrongCode {
    /// It has another amount.
    OtherAmount,
    /// Its check digits are wrong.
    WrongCheck,
    /// It is not a code.
    Garbage,
    /// It is missing.
    Missing,
    /// It is due on another day (boletos).
    OtherDay,
}

impl WrongCode {
    /// Each of them.
    pub const ALL: [Self; 5] =
        [Self::OtherAmount, Self::WrongCheck, Self::Garbage, Self::Missing, Self::OtherDay];
}
