//! The BR Code: the text of a PIX QR code, also called "copia e cola".
//!
//! A sequence of objects, each an ID of two digits, a length of two digits and a value (EMV merchant-presented
//! QR; BR Code manual 2.0.1). Objects stand in ascending order, the checksum (63) at the end.

mod error;
mod object;
mod reading;
mod writing;

pub use error::BrCodeError;

use crate::pix::key::PixKey;
use crate::pix::txid::StaticTxid;
use crate::postal::Cep;

/// The most characters of a BR Code: the Pix API's limit for `pixCopiaECola`.
pub const MAX_LENGTH: usize = 512;

/// The GUI that marks a template as Pix; read without letter case, written like this.
const GUI: &str = "br.gov.bcb.pix";

/// A BR Code that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrCode {
    /// Holds a key: payable any number of times.
    Static(StaticBrCode),
    /// Holds the location of a charge.
    Dynamic(DynamicBrCode),
    /// Holds neither, only the location of a Pix Automático recurrence (template 80).
    Recurrence(RecurrenceBrCode),
}

impl BrCode {
    /// Reads and verifies a whole BR Code.
    ///
    /// # Errors
    /// A [`BrCodeError`] that names the first rule broken.
    pub fn parse(payload: &str) -> Result<Self, BrCodeError> {
        reading::read(payload)
    }
}

/// Reads and verifies a whole BR Code; the same as [`BrCode::parse`].
///
/// # Errors
/// A [`BrCodeError`] that names the first rule broken.
pub fn parse(payload: &str) -> Result<BrCode, BrCodeError> {
    BrCode::parse(payload)
}

/// The amount in cents that a code states in object 54, if it does. That of a dynamic code binds nobody, because its
/// location decides; one that contradicts the charge tells that the code is another charge's.
///
/// # Errors
/// A [`BrCodeError`] when the objects can't be read or the amount is none.
pub fn stated_amount(payload: &str) -> Result<Option<u64>, BrCodeError> {
    reading::stated_amount(payload)
}

/// A code with a key in it, composed without any PSP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaticBrCode {
    /// The receiver's key.
    pub key: PixKey,
    /// Folded to ASCII and cut to 25 characters when written.
    pub merchant_name: String,
    /// Folded to ASCII and cut to 15 characters when written.
    pub merchant_city: String,
    /// In cents; the payer chooses when absent.
    pub amount_cents: Option<u64>,
    /// Comes back with the received Pix; `***` is written when absent.
    pub txid: Option<StaticTxid>,
    /// Shown to the payer; folded and cut to [`StaticBrCode::info_room`] when written.
    pub info: Option<String>,
    /// Of the receiver; when reading, only one of eight digits is kept.
    pub postal_code: Option<Cep>,
    /// Normally absent in a static code.
    pub point_of_initiation: Option<PointOfInitiation>,
}

impl StaticBrCode {
    /// A code without amount, txid, information and postal code.
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

    /// How many characters of `info` fit beside this key: 73 less its length, at most 72.
    pub fn info_room(&self) -> usize {
        73_usize.saturating_sub(self.key.as_str().len()).min(72)
    }

    /// Writes the code.
    ///
    /// # Errors
    /// [`BrCodeError`] when a name or the city folds to nothing or the amount is zero or too large.
    pub fn build(&self) -> Result<String, BrCodeError> {
        writing::write_static(self)
    }
}

/// A code with the location of a charge in it, which the payer's app fetches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicBrCode {
    /// Host and path without scheme, 1 to 77 characters; its last segment is a secret capability.
    pub url: String,
    /// Folded to ASCII and cut to 25 characters when written.
    pub merchant_name: String,
    /// Folded to ASCII and cut to 15 characters when written.
    pub merchant_city: String,
    /// Written as single use whatever stands here; what was found when reading.
    pub point_of_initiation: Option<PointOfInitiation>,
}

impl DynamicBrCode {
    /// A code for a location as a PSP returns it.
    pub const fn new(url: String, merchant_name: String, merchant_city: String) -> Self {
        let point_of_initiation = Some(PointOfInitiation::SingleUse);
        Self { url, merchant_name, merchant_city, point_of_initiation }
    }

    /// Writes the code; amount and txid are in the charge, not here.
    ///
    /// # Errors
    /// [`BrCodeError`] when the location is no location or a name folds to nothing.
    pub fn build(&self) -> Result<String, BrCodeError> {
        writing::write_dynamic(self)
    }
}

/// A code for a Pix Automático recurrence without a charge. It is recognised, never written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecurrenceBrCode {
    /// Host and path of the recurrence, without scheme.
    pub url: String,
    /// As it stands in the code.
    pub merchant_name: String,
    /// As it stands in the code.
    pub merchant_city: String,
}

/// How often a code may be used (object 01).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointOfInitiation {
    /// `11`.
    Reusable,
    /// `12`.
    SingleUse,
}

impl PointOfInitiation {
    /// `11` or `12`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reusable => "11",
            Self::SingleUse => "12",
        }
    }
}

/// Whether a text can stand in 26-25 or 80-25: host and path, no scheme, no blank.
fn is_location(url: &str) -> bool {
    (1..=77).contains(&url.len())
        && url.bytes().all(|byte| byte.is_ascii_graphic())
        && !url.contains("://")
        && !url.starts_with('/')
}
