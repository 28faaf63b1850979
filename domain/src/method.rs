//! Payment methods.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A payment method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Method {
    /// Instant transfer, paid by QR code.
    Pix,
    /// Bank slip, paid by bar code.
    Boleto,
    /// Credit card.
    CreditCard,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 3] = [Self::Pix, Self::Boleto, Self::CreditCard];

    /// Returns the spelling of the payment record: `PIX`, `BOLETO`, `CREDIT_CARD`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pix => "PIX",
            Self::Boleto => "BOLETO",
            Self::CreditCard => "CREDIT_CARD",
        }
    }

    /// Returns the spelling of labels and requests: `pix`, `boleto`, `credit_card`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pix => "pix",
            Self::Boleto => "boleto",
            Self::CreditCard => "credit_card",
        }
    }

    /// Returns true if the payer gets a code to pay with.
    pub const fn has_code(self) -> bool {
        match self {
            Self::Pix | Self::Boleto => true,
            Self::CreditCard => false,
        }
    }

    /// Returns true if money may come in after the time to pay is over, or after the charge was withdrawn.
    pub const fn may_settle_late(self) -> bool {
        match self {
            Self::Pix | Self::Boleto => true,
            Self::CreditCard => false,
        }
    }

    /// Returns true if a charge needs the number of a card, which is kept in memory only.
    pub const fn needs_card_number(self) -> bool {
        match self {
            Self::CreditCard => true,
            Self::Pix | Self::Boleto => false,
        }
    }

    /// Returns true if money may be held first and captured by a separate call.
    pub const fn can_be_captured(self) -> bool {
        match self {
            Self::CreditCard => true,
            Self::Pix | Self::Boleto => false,
        }
    }

    /// Reads a method in any letter case.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str().eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
