//! Options of an acquirer with API Pix. Its dialect provides the missing ones.

pub(super) mod callbacks;
mod extras;
pub(super) mod token;

use quita_acquirers::api_pix::dialect::{Dialect, Fillings};
use quita_acquirers::api_pix::settings::{
    ApiPixSettings, CallbackRegistration, Receiver, TokenSettings, WebhookSettings,
};
use quita_domain::identity::Mode;
use quita_domain::pix::key::PixKey;
use quita_domain::secret::Secret;
use quita_domain::text::fold_ascii;

use super::table::AcquirerTable;
use super::tls::TlsConfig;
use super::{Surroundings, address};
pub use callbacks::{CallbackConfig, CallbackTokens};
use extras::Templates;

/// Options of an acquirer with API Pix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiPixConfig {
    /// Name of the bank's dialect.
    pub dialect: String,
    /// Addresses of the calls.
    pub base_url: String,
    revision_base_url: String,
    token: TokenSettings,
    pix_key: String,
    receiver: Option<Receiver>,
    headers: Templates,
    query: Templates,
    client_id: Option<String>,
    app_key: Option<Secret<String>>,
    partner_id: Option<Secret<String>>,
    code_fields: Vec<String>,
    answers_other_txid: bool,
    lists: bool,
    /// True if it supports charges with a due date (`/cobv`).
    pub cobv: bool,
    /// Settings of the bank's callbacks.
    pub callbacks: CallbackConfig,
    /// TLS settings.
    pub tls: TlsConfig,
}

impl ApiPixConfig {
    pub(super) fn read(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        mode: Mode,
    ) -> Option<Self> {
        let names = Dialect::names().collect::<Vec<_>>().join(", ");
        let name = table.optional("dialect", &names, |text| Dialect::named(text).map(|_| text.to_owned()));
        let name = name.unwrap_or_else(|| STANDARD.into());
        let dialect = Dialect::named(&name)?;
        let hosts = Hosts::read(table, surroundings, dialect, mode);
        let fillings = extras::fillings(table, dialect);
        let cobv = truth(table, "cobv").unwrap_or(dialect.cobv);
        let token = token::read(table, surroundings, dialect, mode, cobv, fillings.client_id.as_deref());
        let headers = extras::headers(table, dialect, &fillings);
        let query = extras::query(table, dialect, &fillings);
        let pix_key = table.required("pix-key", PIX_KEY_FORM, |text| {
            PixKey::parse(text).ok().map(|key| key.as_str().to_owned())
        });
        let receiver = receiver(table, dialect);
        let code_fields = table.list("code-fields", "field names", field_name);
        let answers_other_txid = truth(table, "answers-other-txid");
        let of_sandbox = mode == Mode::Test && dialect.test_answers_other_txid;
        let lists = truth(table, "lists").or(dialect.lists).unwrap_or(true);
        let callbacks = CallbackConfig::read(table, surroundings, dialect);
        let tls = TlsConfig::read(table);
        Some(Self {
            base_url: hosts.base_url?,
            revision_base_url: hosts.revision_base_url?,
            token: token?,
            pix_key: pix_key?,
            receiver: receiver?,
            headers,
            query,
            client_id: fillings.client_id,
            app_key: fillings.app_key,
            partner_id: fillings.partner_id,
            code_fields: code_fields.unwrap_or_else(|| dialect.code_fields()),
            answers_other_txid: answers_other_txid.unwrap_or(of_sandbox),
            lists,
            cobv,
            callbacks,
            tls,
            dialect: name,
        })
    }

    /// Returns the adapter's settings, given the tokens in the callback address, and the public address of this
    /// acquirer's notices.
    pub fn settings(&self, tokens: CallbackTokens, notifications: &str) -> ApiPixSettings {
        let fillings = Fillings {
            client_id: self.client_id.clone(),
            app_key: self.app_key.clone(),
            partner_id: self.partner_id.clone(),
        };
        let address = Secret::new(self.callbacks.address(&tokens.now, notifications));
        let is_registered = match self.callbacks.registration {
            CallbackRegistration::Register | CallbackRegistration::Replace => true,
            CallbackRegistration::Off => false,
        };
        ApiPixSettings {
            base_url: self.base_url.clone(),
            revision_base_url: self.revision_base_url.clone(),
            token: self.token.clone(),
            pix_key: self.pix_key.clone(),
            receiver: self.receiver.clone(),
            headers: self.headers.filled(&fillings),
            query: self.query.filled(&fillings),
            code_fields: self.code_fields.clone(),
            ignores_txid_of_answer: self.answers_other_txid,
            webhook: WebhookSettings {
                registration: self.callbacks.registration,
                address: is_registered.then_some(address),
                token: tokens.now,
                other_tokens: tokens.others,
                headers: self.callbacks.headers.clone(),
            },
            lists: self.lists,
        }
    }

    /// Returns the address for access tokens, if any are requested.
    pub fn token_url(&self) -> Option<&str> {
        match &self.token {
            TokenSettings::Static(_) => None,
            TokenSettings::ClientCredentials { url, .. } => Some(url),
        }
    }

    /// Returns this configuration with the secrets and certificates of another one, which may change while the service
    /// runs.
    #[must_use]
    pub fn with_secrets_of(&self, other: &Self) -> Self {
        Self {
            token: token::with_secret_of(&self.token, &other.token),
            app_key: other.app_key.clone().or_else(|| self.app_key.clone()),
            partner_id: other.partner_id.clone().or_else(|| self.partner_id.clone()),
            tls: other.tls.clone(),
            ..self.clone()
        }
    }
}

fn truth(table: &mut AcquirerTable<'_>, key: &str) -> Option<bool> {
    table.optional(key, "true or false", |text| text.parse().ok())
}

const STANDARD: &str = "bacen";
const PIX_KEY_FORM: &str = "a Pix key as the directory stores it: a random key in lower case, an e-mail address, +55… or the digits of a document";

/// Addresses of the calls.
struct Hosts {
    base_url: Option<String>,
    revision_base_url: Option<String>,
}

impl Hosts {
    fn read(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        dialect: &Dialect,
        mode: Mode,
    ) -> Self {
        let environment = surroundings.environment;
        let is_set = table.contains("base-url");
        let base_url = address::base(table, "base-url", environment);
        let revision_base_url = address::base(table, "revision-base-url", environment);
        if is_set {
            // A configured address says nothing about the dialect's other one.
            return Self { revision_base_url: revision_base_url.or_else(|| base_url.clone()), base_url };
        }
        let of_dialect = of_live(dialect.base_url.as_ref(), mode);
        if of_dialect.is_none() {
            table.refuse("base-url", &missing_host(address::form(environment), mode));
        }
        let revision = revision_base_url.or_else(|| of_live(dialect.revision_base_url.as_ref(), mode));
        Self { revision_base_url: revision.or_else(|| of_dialect.clone()), base_url: of_dialect }
    }
}

/// Returns a dialect's host in mode `live`, and `None` in `test`.
fn of_live(host: Option<&String>, mode: Mode) -> Option<String> {
    host.filter(|_| mode == Mode::Live).cloned()
}

/// Explains why an address is missing that a dialect may provide.
fn missing_host(form: &str, mode: Mode) -> String {
    let why = match mode {
        Mode::Live => "this dialect has none",
        Mode::Test => "a dialect has addresses only for mode live",
    };
    format!("it is missing, and {why}; allowed: {form}")
}

/// Returns the receiver in a code that is built here. The outer `None` means that it was refused.
fn receiver(table: &mut AcquirerTable<'_>, dialect: &Dialect) -> Option<Option<Receiver>> {
    let is_optional = truth(table, "always-gives-code").unwrap_or(dialect.always_gives_code)
        && !table.contains("receiver-name")
        && !table.contains("receiver-city");
    let part = |most| {
        move |text: &str| Some(fold_ascii(text.trim(), most)).filter(|folded| !folded.trim().is_empty())
    };
    if is_optional {
        let names = ["receiver-name", "receiver-city"];
        names.into_iter().for_each(|key| drop(table.optional(key, "", part(1))));
        return Some(None);
    }
    let name = table.required("receiver-name", "a name, of which 25 characters are shown", part(25));
    let city = table.required("receiver-city", "a city, of which 15 characters are shown", part(15));
    Some(Some(Receiver { name: name?, city: city? }))
}

fn field_name(text: &str) -> Option<String> {
    let is_name = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then(|| text.to_owned())
}
