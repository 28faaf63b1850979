//! Reasons why a boleto was refused.

use thiserror::Error;

/// Reason why a bar code or a line was refused, or could not be composed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BoletoError {
    /// Characters other than digits; in a line other than digits, dots and blanks.
    #[error("only digits are accepted, in a line also dots and blanks")]
    Character,
    /// Neither 44 nor 47 digits.
    #[error("a bar code has 44 digits, a line 47")]
    Length,
    /// A slip of utilities or taxes, which begins with 8 and has another layout.
    #[error("slips of utilities and taxes are not accepted")]
    UtilitySlip,
    /// The fourth digit is not 9.
    #[error("the currency is not the real")]
    Currency,
    /// The digit of this field of the line (1 to 3) is wrong.
    #[error("the check digit of field {0} is wrong")]
    FieldDigit(u8),
    /// The general check digit is wrong.
    #[error("the general check digit is wrong")]
    GeneralDigit,
    /// More than R$ 99.999.999,99, which would overflow into the due-date factor.
    #[error("a boleto has at most ten digits for its amount")]
    Amount,
    /// Before 2000-07-03, when there were no factors of four digits.
    #[error("the due date has no factor")]
    DueDate,
    /// A part of the free field is too long or not digits.
    #[error("a part of the free field is too long or not digits")]
    FreeField,
}

impl BoletoError {
    /// Returns a stable name of the reason.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Character => "character",
            Self::Length => "length",
            Self::UtilitySlip => "utility_slip",
            Self::Currency => "currency",
            Self::FieldDigit(_) | Self::GeneralDigit => "check_digit",
            Self::Amount => "amount",
            Self::DueDate => "due_date",
            Self::FreeField => "free_field",
        }
    }
}
