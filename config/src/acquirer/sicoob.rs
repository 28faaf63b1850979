//! Configuration of boletos registered at Sicoob.

use quita_acquirers::api_pix::settings::{CallbackRegistration, TokenForm, TokenSettings, WebhookSettings};
use quita_acquirers::sicoob::settings::{Beneficiary, SicoobSettings};
use quita_domain::boleto::NumberDigit;
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::Mode;
use quita_domain::secret::Secret;
use quita_domain::text::is_digits;

use super::api_pix::callbacks::{CallbackConfig, CallbackTokens};
use super::api_pix::token::{SECRET_FORM, scope, secret, with_secret_of};
use super::table::AcquirerTable;
use super::tls::TlsConfig;
use super::{Surroundings, address, number};

/// Configuration of boletos registered at Sicoob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SicoobConfig {
    /// Address of calls.
    pub base_url: String,
    token: TokenSettings,
    client_id: String,
    /// Customer at the bank (`numeroCliente`).
    pub customer: u64,
    account: u64,
    /// Portfolio of the titles (`codigoModalidade`).
    pub portfolio: u64,
    document_kind: String,
    has_pix: bool,
    /// First and last number of titles that only this service assigns.
    pub our_numbers: (u32, u32),
    number_digit: Option<NumberDigit>,
    beneficiary: Beneficiary,
    lists: bool,
    /// Address of the bank's callbacks.
    pub callbacks: CallbackConfig,
    /// Certificates for the handshake.
    pub tls: TlsConfig,
}

/// Addresses in production and of the sandbox (developers' portal, Cobrança Bancária v3).
const LIVE_URL: &str = "https://api.sicoob.com.br/cobranca-bancaria/v3";
const TEST_URL: &str = "https://sandbox.sicoob.com.br/sicoob/sandbox/cobranca-bancaria/v3";
const LIVE_TOKEN_URL: &str = "https://auth.sicoob.com.br/auth/realms/cooperado/protocol/openid-connect/token";

/// Scopes of every call.
const SCOPE: &str = "boletos_inclusao boletos_consulta boletos_alteracao boletos_webhook";

const RANGE: &str = "FIRST-LAST with whole numbers from 1 to 2147483647, such as \"1-2147483647\"";

/// Largest number: the bank stores it as a signed 32-bit integer.
const MAX_NUMBER: u32 = 2_147_483_647;

impl SicoobConfig {
    pub(super) fn read(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        mode: Mode,
    ) -> Option<Self> {
        let has_base_url = table.contains("base-url");
        let base_url = address::base(table, "base-url", surroundings.environment);
        let client_id = table.required("client-id", "the client id that the bank assigned", visible);
        let token = token(table, surroundings, mode, client_id.as_deref());
        let whole = "a whole number from 1";
        let customer = table.required("customer", whole, |text| number(text, 1, u64::MAX));
        let account = table.required("account", whole, |text| number(text, 1, u64::MAX));
        let portfolio = table.optional("portfolio", "1 to 99", |text| number(text, 1, 99));
        let kind = table.optional("document-kind", "1 to 3 capitals, such as DM or DS", document_kind);
        let has_pix = truth(table, "pix");
        let our_numbers = table.required("our-numbers", RANGE, range);
        let number_digit = number_digit(table, customer, our_numbers);
        table.optional("protest", "none", |text| (text == "none").then_some(()));
        let beneficiary = beneficiary(table);
        let lists = truth(table, "lists").unwrap_or(true);
        let callbacks = CallbackConfig::read_plain(table, surroundings, mode);
        let tls = TlsConfig::read(table);
        if mode == Mode::Live && !has_base_url && !table.contains(CERTIFICATE) && tls.identity.is_none() {
            table.refuse(
                CERTIFICATE,
                "it is missing; the bank identifies its customer only by the certificate",
            );
        }
        let default_url = match mode {
            Mode::Live => LIVE_URL,
            Mode::Test => TEST_URL,
        };
        Some(Self {
            base_url: base_url.unwrap_or_else(|| default_url.to_owned()),
            token: token?,
            client_id: client_id?,
            customer: customer?,
            account: account?,
            portfolio: portfolio.unwrap_or(1),
            document_kind: kind.unwrap_or_else(|| "DM".to_owned()),
            has_pix: has_pix.unwrap_or(true),
            our_numbers: our_numbers?,
            number_digit,
            beneficiary,
            lists,
            callbacks,
            tls,
        })
    }

    /// Returns the settings of the adapter, given the tokens in the callback address, the keys for the names that
    /// payers see, and the address of this acquirer's notices.
    pub fn settings(
        &self,
        tokens: CallbackTokens,
        name_keys: CallbackTokens,
        notifications: &str,
    ) -> SicoobSettings {
        let address = Secret::new(self.callbacks.address(&tokens.now, notifications));
        let is_registered = match self.callbacks.registration {
            CallbackRegistration::Register | CallbackRegistration::Replace => true,
            CallbackRegistration::Off => false,
        };
        SicoobSettings {
            base_url: self.base_url.clone(),
            token: self.token.clone(),
            client_id: self.client_id.clone(),
            customer: self.customer,
            account: self.account,
            portfolio: self.portfolio,
            document_kind: self.document_kind.clone(),
            has_pix: self.has_pix,
            our_numbers: self.our_numbers,
            number_digit: self.number_digit.clone(),
            beneficiary: self.beneficiary.clone(),
            webhook: WebhookSettings {
                registration: self.callbacks.registration,
                address: is_registered.then_some(address),
                token: tokens.now,
                other_tokens: tokens.others,
                headers: Vec::new(),
            },
            lists: self.lists,
            name_keys: std::iter::once(name_keys.now).chain(name_keys.others).collect(),
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
        let token = with_secret_of(&self.token, &other.token);
        Self { token, tls: other.tls.clone(), ..self.clone() }
    }

    /// Returns the first and the last number that the bank may get. With check digits, not all numbers in between are
    /// assigned.
    fn written_numbers(&self) -> (u32, u32) {
        let written = |number| self.number_digit.as_ref().map_or(number, |digit| digit.appended(number));
        let (first, last) = self.our_numbers;
        (written(first), written(last))
    }

    /// Returns true if both assign numbers under the same contract, and their ranges overlap.
    pub(super) fn shares_numbers_with(&self, other: &Self) -> bool {
        let (first, last) = self.written_numbers();
        let (other_first, other_last) = other.written_numbers();
        let is_same_contract = self.customer == other.customer && self.portfolio == other.portfolio;
        is_same_contract && first <= other_last && other_first <= last
    }
}

/// Reads the rule of check digits; none without `our-number-digit = true`.
fn number_digit(
    table: &mut AcquirerTable<'_>,
    customer: Option<u64>,
    our_numbers: Option<(u32, u32)>,
) -> Option<NumberDigit> {
    const COOPERATIVE: &str = "the four digits of your cooperative, such as 4027";
    let read = |text: &str| number(text, 1, 9_999);
    if !truth(table, "our-number-digit").unwrap_or_default() {
        if table.optional("cooperative", COOPERATIVE, read).is_some() {
            table.refuse("cooperative", "it is needed only with our-number-digit = true");
        }
        return None;
    }
    let cooperative = table.required("cooperative", COOPERATIVE, read);
    if our_numbers.is_some_and(|(_, last)| last > NumberDigit::MAX_NUMBER) {
        table.refuse("our-numbers", "numbers before a check digit go up to 9999999");
    }
    let digit = NumberDigit::sicoob(cooperative?, customer?).ok();
    if digit.is_none() {
        table.refuse("customer", "with our-number-digit = true it has at most 10 digits");
    }
    digit
}

const CERTIFICATE: &str = "certificate-file";

/// Reads the source of tokens. The client has no secret at this bank: the certificate proves its identity.
fn token(
    table: &mut AcquirerTable<'_>,
    surroundings: &Surroundings<'_>,
    mode: Mode,
    client_id: Option<&str>,
) -> Option<TokenSettings> {
    let is_static = table.optional("token-auth", "form-no-secret or static", |text| match text {
        "form-no-secret" => Some(false),
        "static" => Some(true),
        _ => None,
    });
    if is_static == Some(true) {
        if mode == Mode::Live {
            table.refuse(
                "token-auth",
                "a static token is for the bank's sandbox; mode live needs form-no-secret",
            );
        }
        return table.required_secret("static-token", SECRET_FORM, secret).map(TokenSettings::Static);
    }
    let is_set = table.contains("token-url");
    let url = address::with_query(table, "token-url", surroundings.environment);
    let url = url.or_else(|| (mode == Mode::Live && !is_set).then(|| LIVE_TOKEN_URL.to_owned()));
    if url.is_none() && !is_set {
        let form = address::form(surroundings.environment);
        let why = format!(
            "it is missing: the bank's sandbox has none, and needs token-auth = \"static\"; allowed: {form}"
        );
        table.refuse("token-url", &why);
    }
    let scope = table.optional("scope", "scopes, separated by spaces", scope);
    Some(TokenSettings::ClientCredentials {
        url: url?,
        form: TokenForm::FormNoSecret,
        client_id: client_id?.to_owned(),
        client_secret: None,
        scope: scope.unwrap_or_else(|| SCOPE.to_owned()),
    })
}

fn beneficiary(table: &mut AcquirerTable<'_>) -> Beneficiary {
    if !table.open("boleto") {
        return Beneficiary::default();
    }
    let text = |most| {
        move |text: &str| {
            let fits = (1..=most).contains(&text.chars().count()) && !text.trim().is_empty();
            fits.then(|| text.to_owned())
        }
    };
    let document = table.optional("boleto.identification", "a CPF or CNPJ without punctuation", |text| {
        let kind = if text.len() == 11 { DocumentType::Cpf } else { DocumentType::Cnpj };
        Document::parse(text, kind).ok().map(|document| document.formatted())
    });
    Beneficiary {
        name: table.optional("boleto.assignor", "1 to 200 characters", text(200)).unwrap_or_default(),
        document: document.unwrap_or_default(),
        address: table.optional("boleto.address", "1 to 255 characters", text(255)).unwrap_or_default(),
    }
}

fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-')?;
    let parse = |text: &str| Some(text.trim()).filter(|text| is_digits(text))?.parse().ok();
    let (first, last): (u32, u32) = (parse(first)?, parse(last)?);
    (1 <= first && first <= last && last <= MAX_NUMBER).then_some((first, last))
}

fn document_kind(text: &str) -> Option<String> {
    let fits = (1..=3).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_uppercase());
    fits.then(|| text.to_owned())
}

fn visible(text: &str) -> Option<String> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| text.to_owned())
}

fn truth(table: &mut AcquirerTable<'_>, key: &str) -> Option<bool> {
    table.optional(key, "true or false", |text| text.parse().ok())
}
