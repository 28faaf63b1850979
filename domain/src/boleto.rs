//! Boleto: bar code, linha digitável and the due-date factor.
//!
//! Sources: FEBRABAN's bar code and linha digitável, its communiqué 082/2012 on the factor, and the boleto
//! manuals of Itaú, Banco do Brasil (2016), Bradesco and Santander (2017). Dates are calendar dates; "today"
//! is always a parameter.

pub mod bank;
pub mod barcode;
pub mod business_day;
mod check_digit;
pub mod due_factor;
pub mod error;
pub mod free_field;
pub mod interleaved;
pub mod line;
pub mod number_digit;

pub use bank::Bank;
pub use barcode::Barcode;
pub use error::BoletoError;
pub use free_field::{CollectionAccount, FreeField};
pub use line::Line;
pub use number_digit::NumberDigit;

/// Reads the code that a payer may have: the 44 digits of a bar code, or a line with or without punctuation.
///
/// # Errors
/// A [`BoletoError`] that names the first rule broken.
pub fn parse(code: &str) -> Result<Barcode, BoletoError> {
    if code.len() == barcode::LENGTH {
        Barcode::parse(code)
    } else {
        Line::parse(code).map(Line::into_barcode)
    }
}
