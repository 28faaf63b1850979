//! Options of Cielo.

use quita_domain::secret::Secret;

/// Settings of a Cielo adapter. Addresses are complete, but without `/1` and without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CieloSettings {
    /// Address for creating sales.
    pub base_url: String,
    /// Address for reading sales.
    pub query_base_url: String,
    /// The merchant's id, a GUID.
    pub merchant_id: String,
    /// The merchant's key, 40 characters.
    pub merchant_key: Secret<String>,
    /// The header of Cielo's notifications, in lower case.
    pub notification_header: String,
    /// Value of that header.
    pub notification_secret: Secret<String>,
    /// Text on the card's bill, at most 13 letters and digits.
    pub soft_descriptor: Option<String>,
    /// Issuer of PIX charges (`Cielo2`). Without it they are created in the old form, whose codes live for two hours.
    pub pix_provider: Option<String>,
    /// Settings of boletos, if they are issued.
    pub boleto: Option<BoletoSettings>,
}

/// Settings of the boletos that Cielo issues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoletoSettings {
    /// The bank: `Bradesco2`, `BancoDoBrasil3`, or `Simulado` in Cielo's sandbox.
    pub provider: String,
    /// Name of the assignor, who is the beneficiary.
    pub assignor: String,
    /// CNPJ of the assignor.
    pub identification: String,
    /// Address of the assignor, as the slip shows it: a supplier's address is required (Law 12.039/2009).
    pub address: Option<String>,
    /// Instructions to the cashier on the slip.
    pub instructions: String,
}
