//! A boleto as its acquirer issued it.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::acquiring::Reference;
use crate::identity::TransactionId;
use crate::payment::Payment;

/// Maximum number of characters of a slip's document number.
const DOCUMENT_NUMBER_LENGTH: usize = 15;

/// Characters of the transaction's id that a slip shows if the merchant gave no number.
const SHORT_ID_LENGTH: usize = 10;

/// Returns a slip's document number (nº do documento): the merchant's own reference if it is short enough, otherwise
/// the beginning of the transaction's id.
pub fn document_number(id: TransactionId, external_reference: Option<&str>) -> String {
    let reference =
        external_reference.filter(|reference| reference.chars().count() <= DOCUMENT_NUMBER_LENGTH);
    let short_id = || id.uuid().simple().to_string().chars().take(SHORT_ID_LENGTH).collect();
    reference.map_or_else(short_id, str::to_owned)
}

/// Returns the document number (nº do documento) of a payment's slip: the acquirer's, if it differs from the usual one.
pub fn document_number_of(payment: &Payment) -> String {
    let noted = payment.state.attempts.last().and_then(|last| last.reference.get(Reference::DOCUMENT_NUMBER));
    let usual = || document_number(payment.id, payment.order.external_reference.as_deref());
    noted.map_or_else(usual, str::to_owned)
}

/// Data for showing and printing a registered boleto.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedBoleto {
    /// Bar code, 44 digits.
    pub barcode: String,
    /// Linha digitável, 47 digits.
    pub digitable_line: String,
    /// Last date on which it is payable without surcharge.
    pub due_date: NaiveDate,
    /// Nosso número, as printed.
    pub our_number: String,
    /// Carteira.
    pub portfolio: String,
    /// Agência and código do beneficiário, as printed.
    pub agency_and_account: String,
    /// Bank code with its digit: `001-9`.
    pub bank_code: String,
    /// Name of the bank.
    pub bank_name: String,
    /// Name of the beneficiary.
    pub beneficiary_name: String,
    /// CPF or CNPJ of the beneficiary, with its mask.
    pub beneficiary_document: String,
    /// Address of the beneficiary.
    pub beneficiary_address: String,
    /// BR Code of the PIX that pays it as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pix_code: Option<String>,
}
