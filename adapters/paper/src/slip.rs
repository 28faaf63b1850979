//! Contents of a boleto, as the printed words and numbers.

use chrono::NaiveDate;

use crate::itf::ItfBarcode;

/// Everything that a boleto shows. Texts are printed unchanged, and cut if they do not fit.
#[derive(Debug, Clone)]
pub struct BoletoSlip {
    /// Bank code with its digit, as in `001-9`.
    pub bank_code: String,
    /// Name of the bank, in place of its logo.
    pub bank_name: String,
    /// Linha digitável with its dots and spaces.
    pub line_formatted: String,
    /// Bars of the 44 digits.
    pub barcode: ItfBarcode,
    /// Beneficiary.
    pub beneficiary: Party,
    /// Agência and code of the beneficiary, as in `0057 / 12345-7`.
    pub agency_and_account: String,
    /// Nosso número as the bank prints it.
    pub our_number: String,
    /// The beneficiary's own number for the document.
    pub document_number: String,
    /// Espécie do documento, as in `DM`.
    pub document_kind: String,
    /// Date of the document.
    pub document_date: NaiveDate,
    /// Date of the slip.
    pub processing_date: NaiveDate,
    /// Vencimento.
    pub due_date: NaiveDate,
    /// Carteira.
    pub portfolio: String,
    /// Valor do documento in cents.
    pub amount_cents: i64,
    /// Places of payment.
    pub payment_place: String,
    /// Discounts, fine and interest, one sentence for each.
    pub terms: Vec<String>,
    /// Instructions of the beneficiary. The receipt prints all; the ficha, with the terms, at most seven lines.
    pub instructions: Vec<String>,
    /// BR Code of the PIX that also pays it.
    pub pix_code: Option<String>,
    /// Payer.
    pub payer: Party,
    /// True for a slip that no bank knows: both parts are marked as worthless.
    pub is_test: bool,
}

/// A person or company on a slip.
#[derive(Debug, Clone)]
pub struct Party {
    /// Full name.
    pub name: String,
    /// CPF or CNPJ with its punctuation and its name, as in `CNPJ 00.000.000/0001-91`.
    pub document_formatted: String,
    /// Address, one entry per printed line.
    pub address: Vec<String>,
}
