//! Settings of an acquirer that speaks API Pix, with its dialect filled in.

use quita_domain::secret::Secret;

/// Settings of an API Pix adapter. Addresses are whole, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiPixSettings {
    /// Address of the calls, with the version: `https://pix.bank.example/v2`.
    pub base_url: String,
    /// Address of `PATCH`, which one bank has under another version.
    pub revision_base_url: String,
    /// Ways to get an access token.
    pub token: TokenSettings,
    /// The receiver's Pix key: what has another one is not ours.
    pub pix_key: String,
    /// Name and city of the receiver, for a code that is built from a location: ASCII, at most 25 and 15 characters.
    pub receiver: Option<Receiver>,
    /// Headers sent with every call. `{client-id}`, `{app-key}` and `{partner-id}` are already filled in; `{uuid}` is
    /// fresh for each call.
    pub headers: Vec<(String, Secret<String>)>,
    /// Added to the query of every call, filled in likewise.
    pub query: Vec<(String, Secret<String>)>,
    /// Names under which the code to copy may be found in an answer. The first one present counts.
    pub code_fields: Vec<String>,
    /// True if the answer may carry another txid than the requested one (as in one bank's sandbox).
    pub ignores_txid_of_answer: bool,
    /// Handling of the address of the bank's callbacks.
    pub webhook: WebhookSettings,
    /// Availability of `GET /pix` by time.
    pub lists: bool,
}

/// Ways to get an access token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSettings {
    /// This one, for ever.
    Static(Secret<String>),
    /// From an address, by OAuth 2.0 client credentials.
    ClientCredentials {
        /// The address, with a query if the bank wants one.
        url: String,
        /// Form of the request.
        form: TokenForm,
        /// The client's id.
        client_id: String,
        /// The client's secret, which one form can do without.
        client_secret: Option<Secret<String>>,
        /// Scopes, separated by blanks; not sent if empty.
        scope: String,
    },
}

impl TokenSettings {
    /// Returns the client's id; empty for a token that is given.
    pub(crate) fn client_id(&self) -> &str {
        match self {
            Self::Static(_) => "",
            Self::ClientCredentials { client_id, .. } => client_id,
        }
    }
}

/// Forms of a token's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenForm {
    /// HTTP Basic, and a form.
    BasicForm,
    /// HTTP Basic, and a JSON body.
    BasicJson,
    /// A form with id and secret.
    Form,
    /// A form with the id alone: the certificate proves the rest.
    FormNoSecret,
}

/// Receiver that a BR Code names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receiver {
    /// Name, ASCII, at most 25 characters.
    pub name: String,
    /// City, ASCII, at most 15 characters.
    pub city: String,
}

/// Handling of the address of the bank's callbacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookSettings {
    /// Choice of registering it or not.
    pub registration: CallbackRegistration,
    /// Address for callbacks in this bank's form, with the dialect's suffix after the token. Absent if nothing is
    /// registered.
    pub address: Option<Secret<String>>,
    /// Last part of that address, which proves that the caller is the bank.
    pub token: Secret<String>,
    /// Earlier tokens that the bank may have been given, under another secret key.
    pub other_tokens: Vec<Secret<String>>,
    /// Sent with the registration alone.
    pub headers: Vec<(String, String)>,
}

/// Choice of registering the address for callbacks at the bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallbackRegistration {
    /// If none, or ours, is registered.
    Register,
    /// In place of whatever is registered.
    Replace,
    /// Never.
    Off,
}
