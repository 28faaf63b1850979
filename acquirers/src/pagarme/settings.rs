//! Settings of Pagar.me.

use std::collections::BTreeMap;

use quita_domain::secret::Secret;

/// Settings that a Pagar.me adapter needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagarmeSettings {
    /// Address with `/core/v5`, without a slash at the end.
    pub base_url: String,
    /// Secret key of the account.
    pub secret_key: Secret<String>,
    /// User in the Basic authentication of callbacks.
    pub notification_user: String,
    /// Password in the Basic authentication of callbacks.
    pub notification_password: Secret<String>,
    /// Text on the card's bill, at most 22 letters, digits and blanks.
    pub soft_descriptor: Option<String>,
    /// Request for a fraud check; if absent, the account's setting applies.
    pub antifraud: Option<bool>,
    /// The account's own recipient (`re_…`), which gets the amount that no split names, and pays the fees.
    pub recipient: Option<String>,
    /// Pagar.me's recipients by the `recipientId` of splits.
    pub recipients: BTreeMap<String, String>,
    /// Settings of boletos.
    pub boleto: BoletoSettings,
    /// True if payables are read for reconciliation.
    pub lists: bool,
}

/// Settings of Pagar.me's boletos.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoletoSettings {
    /// Code of the bank; if absent, the account's setting applies.
    pub bank: Option<String>,
    /// Text for the cashier.
    pub instructions: Option<String>,
    /// Beneficiary on the slip.
    pub assignor: Option<String>,
    /// CNPJ of the beneficiary.
    pub identification: Option<String>,
    /// Address of the beneficiary (Law 12.039/2009).
    pub address: Option<String>,
}
