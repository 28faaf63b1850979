//! QR codes within pages.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quita_paper::qr::QrImage;

use super::page_error::PageError;

/// Returns the QR code of a text as a `data:` URL of an image.
///
/// # Errors
/// [`PageError::Defect`] if the text is too long for a QR code.
pub(crate) fn data_address(text: &str) -> Result<String, PageError> {
    let image = QrImage::new(text).map_err(|error| PageError::Defect(error.to_string()))?;
    Ok(format!("data:image/svg+xml;base64,{}", STANDARD.encode(image.svg())))
}
