//! Settings of Sicoob.

use quita_domain::boleto::NumberDigit;
use quita_domain::secret::Secret;

use crate::api_pix::settings::{TokenSettings, WebhookSettings};

/// Settings that a Sicoob adapter needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SicoobSettings {
    /// Address with `/cobranca-bancaria/v3`, without a slash at the end.
    pub base_url: String,
    /// Source of access tokens.
    pub token: TokenSettings,
    /// Client, sent with every call.
    pub client_id: String,
    /// `numeroCliente`.
    pub customer: u64,
    /// `numeroContaCorrente`.
    pub account: u64,
    /// `codigoModalidade`.
    pub portfolio: u64,
    /// `codigoEspecieDocumento`, such as `DM`.
    pub document_kind: String,
    /// True if boletos have a PIX code.
    pub has_pix: bool,
    /// First and last number (nosso número) that only this service uses.
    pub our_numbers: (u32, u32),
    /// Rule for the check digit after each number, if the bank requires one.
    pub number_digit: Option<NumberDigit>,
    /// Beneficiary on the slip.
    pub beneficiary: Beneficiary,
    /// Address of the bank's callbacks.
    pub webhook: WebhookSettings,
    /// True if the movements are read for reconciliation.
    pub lists: bool,
    /// Keys for the names that payers see: the current one first, then those of other secret keys.
    pub name_keys: Vec<Secret<String>>,
}

/// Beneficiary as the slip shows it (Law 12.039/2009).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beneficiary {
    /// Name.
    pub name: String,
    /// CPF or CNPJ, with its mask.
    pub document: String,
    /// Address.
    pub address: String,
}
