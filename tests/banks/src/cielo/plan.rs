//! Plan of a sale, for tests that need more than chance and the card's last digit.

use serde::Deserialize;

/// Plan of one order's sales.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {
    /// Outcome of the authorisation; if absent, the card's last digit decides.
    pub outcome: Option<Outcome>,
    /// Failure of a capture; if absent, it does not fail.
    pub capture: Option<Failure>,
    /// Failure of a void; if absent, it does not fail.
    pub void: Option<Failure>,
    /// True if a delayed refund of a PIX fails in the end, because the balance does not suffice.
    pub refund_fails_later: bool,
    /// Fault in the code of a PIX or boleto.
    pub wrong_code: Option<WrongCode>,
}

/// Outcome of an authorisation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Authorised.
    Approve,
    /// Status 3.
    Decline {
        /// `ReturnCode`.
        code: String,
        /// `MerchantAdviceCode`, which only Mastercard gives.
        advice: Option<String>,
    },
    /// Status 13, as after a fraud check.
    Abort,
    /// Status 0, until somebody [finishes](super::Cielo::finish) it.
    NotFinish,
}

/// Failure of a capture or void: answered 200 with an unchanged status and a code.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Failure {
    /// `ReturnCode`.
    pub code: String,
    /// True if it was done nevertheless, as with the codes that leave it open (10, 223, 98, 475, 504).
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
