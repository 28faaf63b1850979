//! Payment codes for payers: checked, and shown with the receiver of the money.
//!
//! They are the only part of the page that this program's version does not determine. A page that directs payers to
//! somebody else's account may differ in nothing else.

use quita_domain::boleto::Line;
use quita_domain::pix::br_code::BrCode;

/// Payment code on the page, and the receiver that it states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PaymentCode {
    /// Code of a PIX, and the address of its picture.
    Pix { code: String, picture: String },
    /// Number of a boleto.
    Boleto { line: String },
}

impl PaymentCode {
    /// Returns a sentence about the receiver of the money.
    ///
    /// # Errors
    /// Returns a difference if no bank accepts the code.
    pub(super) fn receiver(&self) -> Result<String, String> {
        match self {
            Self::Pix { code, .. } => {
                let code =
                    BrCode::parse(code).map_err(|error| format!("the PIX code is invalid: {error}"))?;
                match code {
                    BrCode::Static(code) => Ok(format!(
                        "A payer's PIX goes to the key {}, {} in {}: check that they are the shop's.",
                        code.key.as_str(),
                        code.merchant_name,
                        code.merchant_city
                    )),
                    BrCode::Dynamic(code) => Ok(format!(
                        "A payer's PIX goes to {} in {}, by {}: check that they are the shop's.",
                        code.merchant_name,
                        code.merchant_city,
                        host_of(&code.url)
                    )),
                    BrCode::Recurrence(_) => Err("the PIX code is for recurring payments".to_owned()),
                }
            }
            Self::Boleto { line } => {
                let line =
                    Line::parse(line).map_err(|error| format!("the slip's number is invalid: {error}"))?;
                let barcode = line.barcode();
                Ok(format!(
                    "A payer's boleto is of bank {}, with the free field {}: check that they are the shop's.",
                    barcode.bank(),
                    barcode.free_field()
                ))
            }
        }
    }
}

/// Returns the host of a charge's location, which has no scheme.
fn host_of(location: &str) -> &str {
    location.split('/').next().unwrap_or(location)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed in the central bank's manual.
    const STATIC: &str = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-426655440000\
         5204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D";

    #[test]
    fn the_receiver_of_a_code_is_named() {
        let pix = |code: &str| PaymentCode::Pix { code: code.to_owned(), picture: String::new() };
        let boleto = |line: &str| PaymentCode::Boleto { line: line.to_owned() };
        let receiver = pix(STATIC).receiver().unwrap();
        assert!(receiver.contains("Fulano de Tal in BRASILIA"), "{receiver}");
        let changed = STATIC.replace("Fulano", "Fulana");
        assert!(pix(&changed).receiver().unwrap_err().contains("the PIX code is invalid"));
        let slip = boleto("34191.09008 00000.016003 57123.457000 3 16470000010000");
        assert!(slip.receiver().is_err_and(|why| why.contains("the slip's number is invalid")));
    }
}
