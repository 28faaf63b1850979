//! The BR Code: the text of a PIX QR code, also called "copia e cola".
//!
//! A sequence of objects, each an ID of two digits, a length of two digits and a value (EMV merchant-presented QR; BR
//! Code manual 2.0.1). Objects are in ascending order, with the checksum (63) at the end.

mod error;
mod object;
mod reading;
mod writing;

pub use error::BrCodeError;

use crate::pix::key::PixKey;
use crate::pix::txid::StaticTxid;
use crate::postal::Cep;

/// Longest BR Code, in characters: the Pix API's limit for `pixCopiaECola`.
pub const MAX_LENGTH: usize = 512;

/// The GUI that marks a template as Pix; read without letter case, written like this.
const GUI: &str = "br.gov.bcb.pix";

/// A BR Code that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrCode {
    /// With a key: payable any number of times.
    Static(StaticBrCode),
    /// With the location of a charge.
    Dynamic(DynamicBrCode),
    /// With neither, but with the location of a Pix Automático recurrence (template 80).
    Recurrence(RecurrenceBrCode),
}

impl BrCode {
    /// Reads and verifies a whole BR Code.
    ///
    /// # Errors
    /// A [`BrCodeError`] that names the first broken rule.
    pub fn parse(payload: &str) -> Result<Self, BrCodeError> {
        reading::read(payload)
    }
}

/// Reads and verifies a whole BR Code; the same as [`BrCode::parse`].
///
/// # Errors
/// A [`BrCodeError`] that names the first broken rule.
pub fn parse(payload: &str) -> Result<BrCode, BrCodeError> {
    BrCode::parse(payload)
}

/// Returns the amount in cents that a code states in object 54, if it does. In a dynamic code it is not binding,
/// because the location decides. If it contradicts the charge, the code belongs to another charge.
///
/// # Errors
/// A [`BrCodeError`] if the objects can't be read or the amount is invalid.
pub fn stated_amount(payload: &str) -> Result<Option<u64>, BrCodeError> {
    reading::stated_amount(payload)
}

/// A code with a key, composed without any PSP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticBrCode {
    /// The receiver's key.
    pub key: PixKey,
    /// Name, folded to ASCII and cut to 25 characters when written.
    pub merchant_name: String,
    /// City, folded to ASCII and cut to 15 characters when written.
    pub merchant_city: String,
    /// Amount in cents; the payer chooses it when absent.
    pub amount_cents: Option<u64>,
    /// Identifier that is returned with the received Pix. If absent, `***` is written.
    pub txid: Option<StaticTxid>,
    /// Text for the payer; folded and cut to [`StaticBrCode::info_room`] when written.
    pub info: Option<String>,
    /// Postal code of the receiver. When reading, only one with eight digits is kept.
    pub postal_code: Option<Cep>,
    /// Use of the code; normally absent in a static code.
    pub point_of_initiation: Option<PointOfInitiation>,
}

impl StaticBrCode {
    /// Creates a code without amount, txid, information and postal code.
    pub const fn new(key: PixKey, merchant_name: String, merchant_city: String) -> Self {
        Self {
            key,
            merchant_name,
            merchant_city,
            amount_cents: None,
            txid: None,
            info: None,
            postal_code: None,
            point_of_initiation: None,
        }
    }

    /// Returns the number of characters of `info` that fit along with this key: 73 less its length, at most 72.
    pub fn info_room(&self) -> usize {
        73_usize.saturating_sub(self.key.as_str().len()).min(72)
    }

    /// Writes the code.
    ///
    /// # Errors
    /// [`BrCodeError`] if a name or the city folds to nothing, or the amount is zero or too large.
    pub fn build(&self) -> Result<String, BrCodeError> {
        writing::write_static(self)
    }
}

/// A code with the location of a charge, which the payer's app fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicBrCode {
    /// Host and path without scheme, 1 to 77 characters; its last segment is a secret capability.
    pub url: String,
    /// Name, folded to ASCII and cut to 25 characters when written.
    pub merchant_name: String,
    /// City, folded to ASCII and cut to 15 characters when written.
    pub merchant_city: String,
    /// Use of the code as it was read; always written as single use.
    pub point_of_initiation: Option<PointOfInitiation>,
}

impl DynamicBrCode {
    /// Creates a code for a location that a PSP returned.
    pub const fn new(url: String, merchant_name: String, merchant_city: String) -> Self {
        let point_of_initiation = Some(PointOfInitiation::SingleUse);
        Self { url, merchant_name, merchant_city, point_of_initiation }
    }

    /// Writes the code; amount and txid are in the charge, not here.
    ///
    /// # Errors
    /// [`BrCodeError`] if the location is invalid or a name folds to nothing.
    pub fn build(&self) -> Result<String, BrCodeError> {
        writing::write_dynamic(self)
    }
}

/// A code for a Pix Automático recurrence without a charge. It is recognised, never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecurrenceBrCode {
    /// Host and path of the recurrence, without scheme.
    pub url: String,
    /// Name, as in the code.
    pub merchant_name: String,
    /// City, as in the code.
    pub merchant_city: String,
}

/// Number of uses of a code (object 01).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointOfInitiation {
    /// `11`.
    Reusable,
    /// `12`.
    SingleUse,
}

impl PointOfInitiation {
    /// Returns `11` or `12`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reusable => "11",
            Self::SingleUse => "12",
        }
    }
}

/// Returns true if a text is allowed in 26-25 or 80-25: host and path, no scheme, no blank.
fn is_location(url: &str) -> bool {
    (1..=77).contains(&url.len())
        && url.bytes().all(|byte| byte.is_ascii_graphic())
        && !url.contains("://")
        && !url.starts_with('/')
}
