//! What may be configured of Cielo.

use quita_domain::secret::Secret;

/// What a Cielo adapter needs to know. Addresses are whole, without `/1` and without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CieloSettings {
    /// Where sales are made.
    pub base_url: String,
    /// Where sales are read.
    pub query_base_url: String,
    /// The merchant's id, a GUID.
    pub merchant_id: String,
    /// The merchant's key, 40 characters.
    pub merchant_key: Secret<String>,
    /// The header that Cielo's notifications carry, in lower case.
    pub notification_header: String,
    /// And its value.
    pub notification_secret: Secret<String>,
    /// What the card's bill shows, at most 13 letters and digits.
    pub soft_descriptor: Option<String>,
    /// Who issues PIX charges (`Cielo2`); without it they are made in the old form, which lets them live for two hours.
    pub pix_provider: Option<String>,
    /// How boletos are issued, if they are.
    pub boleto: Option<BoletoSettings>,
}

/// How Cielo issues boletos.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoletoSettings {
    /// The bank: `Bradesco2`, `BancoDoBrasil3`, in Cielo's sandbox `Simulado`.
    pub provider: String,
    /// Who cedes the claim.
    pub assignor: String,
    /// That one's CNPJ.
    pub identification: String,
    /// That one's address, as the slip shows it: a supplier's must be there (Law 12.039/2009).
    pub address: Option<String>,
    /// What the slip tells the cashier.
    pub instructions: String,
}
