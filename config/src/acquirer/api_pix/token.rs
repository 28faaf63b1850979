//! Ways to get an access token.

use quita_acquirers::api_pix::dialect::Dialect;
use quita_acquirers::api_pix::settings::{TokenForm, TokenSettings};
use quita_domain::identity::Mode;
use quita_domain::secret::Secret;

use super::super::table::AcquirerTable;
use super::super::{Surroundings, address};
use super::{missing_host, of_live};

const FORMS: &str = "basic-form, basic-json, form, form-no-secret, static";

/// Kind of authentication as configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenAuth {
    Asked(TokenForm),
    Static,
}

impl TokenAuth {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "basic-form" => Some(Self::Asked(TokenForm::BasicForm)),
            "basic-json" => Some(Self::Asked(TokenForm::BasicJson)),
            "form" => Some(Self::Asked(TokenForm::Form)),
            "form-no-secret" => Some(Self::Asked(TokenForm::FormNoSecret)),
            "static" => Some(Self::Static),
            _ => None,
        }
    }
}

pub(super) fn read(
    table: &mut AcquirerTable<'_>,
    surroundings: &Surroundings<'_>,
    dialect: &Dialect,
    mode: Mode,
    cobv: bool,
    client_id: Option<&str>,
) -> Option<TokenSettings> {
    let is_wrong = |table: &AcquirerTable<'_>| table.contains("token-auth");
    let auth = match table.optional("token-auth", FORMS, TokenAuth::parse) {
        Some(auth) => auth,
        None if is_wrong(table) => return ask_for_all(table),
        None => dialect.token_auth.as_deref().and_then(TokenAuth::parse)?,
    };
    let TokenAuth::Asked(form) = auth else {
        return table.required_secret("static-token", SECRET_FORM, secret).map(TokenSettings::Static);
    };
    let is_set = table.contains("token-url");
    let url = address::with_query(table, "token-url", surroundings.environment);
    let url = url.or_else(|| of_live(dialect.token_url.as_ref(), mode).filter(|_| !is_set));
    if url.is_none() && !is_set {
        table.refuse("token-url", &missing_host(address::form(surroundings.environment), mode));
    }
    if client_id.is_none() && !table.contains("client-id") {
        table.refuse("client-id", "it is missing; allowed: the client id that the bank assigned");
    }
    let client_secret = match form {
        TokenForm::FormNoSecret => None,
        TokenForm::BasicForm | TokenForm::BasicJson | TokenForm::Form => {
            Some(table.required_secret("client-secret", SECRET_FORM, secret))
        }
    };
    let scope = table.optional("scope", "scopes, separated by spaces", scope);
    Some(TokenSettings::ClientCredentials {
        url: url?,
        form,
        client_id: client_id?.to_owned(),
        client_secret: match client_secret {
            None => None,
            Some(given) => Some(given?),
        },
        scope: scope.unwrap_or_else(|| dialect.scope(cobv)),
    })
}

/// Reads all keys that any form may need. The form is unknown, so none of them counts as an unknown key.
fn ask_for_all(table: &mut AcquirerTable<'_>) -> Option<TokenSettings> {
    for key in ["token-url", "scope"] {
        drop(table.optional(key, "any text", |text| Some(text.to_owned())));
    }
    for key in ["client-secret", "static-token"] {
        drop(table.secret(key, SECRET_FORM, secret));
    }
    None
}

/// Returns one with the secret of the other. Another form of token is not just another secret.
pub(in crate::acquirer) fn with_secret_of(one: &TokenSettings, other: &TokenSettings) -> TokenSettings {
    match (one, other) {
        (TokenSettings::Static(_), TokenSettings::Static(secret)) => TokenSettings::Static(secret.clone()),
        (
            TokenSettings::ClientCredentials { url, form, client_id, client_secret: Some(_), scope },
            TokenSettings::ClientCredentials { client_secret: Some(client_secret), .. },
        ) => TokenSettings::ClientCredentials {
            url: url.clone(),
            form: *form,
            client_id: client_id.clone(),
            client_secret: Some(client_secret.clone()),
            scope: scope.clone(),
        },
        (TokenSettings::Static(_) | TokenSettings::ClientCredentials { .. }, _) => one.clone(),
    }
}

pub(in crate::acquirer) fn scope(text: &str) -> Option<String> {
    let is_visible = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    text.bytes().all(is_visible).then(|| text.trim().to_owned())
}

pub(in crate::acquirer) const SECRET_FORM: &str = "visible ASCII characters";

pub(in crate::acquirer) fn secret(text: &str) -> Option<Secret<String>> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| Secret::new(text.to_owned()))
}
