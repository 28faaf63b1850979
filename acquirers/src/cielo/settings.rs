//! Options of Cielo.

use quita_domain::secret::Secret;

/// Settings of a Cielo adapter. Addresses are whole, without `/1` and without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CieloSettings {
    /// Address where sales are made.
    pub base_url: String,
    /// Address where sales are read.
    pub query_base_url: String,
    /// The merchant's id, a GUID.
    pub merchant_id: String,
    /// The merchant's key, 40 characters.
    pub merchant_key: Secret<String>,
    /// The header that Cielo's notifications carry, in lower case.
    pub notification_header: String,
    /// And its value.
    pub notification_secret: Secret<String>,
    /// Text on the card's bill, at most 13 letters and digits.
    pub soft_descriptor: Option<String>,
    /// Issuer of PIX charges (`Cielo2`); without it they are made in the old form, which lets them live for two hours.
    pub pix_provider: Option<String>,
    /// Settings of boletos, if they are issued.
    pub boleto: Option<BoletoSettings>,
}

/// Settings of the boletos that Cielo issues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoletoSettings {
    /// The bank: `Bradesco2`, `BancoDoBrasil3`, in Cielo's sandbox `Simulado`.
    pub provider: String,
    /// Name of the one who cedes the claim.
    pub assignor: String,
    /// CNPJ of that one.
    pub identification: String,
    /// Address of that one, as the slip shows it: a supplier's must be there (Law 12.039/2009).
    pub address: Option<String>,
    /// Instructions to the cashier on the slip.
    pub instructions: String,
}
