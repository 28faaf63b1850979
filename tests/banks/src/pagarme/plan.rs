//! Plan of an order, where a test wants more than chance and the test cards.

use serde::Deserialize;

/// Future of one order's charge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// Outcome of the order; none: the test values decide.
    pub outcome: Option<Outcome>,
    /// Failure of a capture; none: it works.
    pub capture: Option<Failure>,
    /// Failure of a void or refund; none: it works.
    pub cancel: Option<Failure>,
    /// True if a refund that is pending fails in the end.
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
    /// Refused by the check against fraud.
    Reprove,
    /// Checked against fraud until somebody [finishes](super::Pagarme::finish) it.
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

/// Failure of an operation: answered with this status, and done all the same or not.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// HTTP status, such as 412.
    pub status: u16,
    /// True if it was done all the same.
    #[serde(default)]
    pub was_done: bool,
    /// True if it happens once only.
    #[serde(default)]
    pub is_once: bool,
}

/// Fault of a code that a payer is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrongCode {
    /// It is of another amount.
    OtherAmount,
    /// Its check digits are wrong.
    WrongCheck,
    /// It is no code at all.
    Garbage,
    /// It is not there.
    Missing,
    /// It is due on another day (boletos).
    OtherDay,
}

impl WrongCode {
    /// Each of them.
    pub const ALL: [Self; 5] =
        [Self::OtherAmount, Self::WrongCheck, Self::Garbage, Self::Missing, Self::OtherDay];
}
