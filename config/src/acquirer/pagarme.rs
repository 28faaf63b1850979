//! Configuration of Pagar.me.

use std::collections::BTreeMap;
use std::time::Duration;

use quita_acquirers::pagarme::settings::{BoletoSettings, PagarmeSettings};
use quita_domain::identity::Mode;
use quita_domain::secret::Secret;

use super::Surroundings;
use super::address;
use super::table::AcquirerTable;
use super::tls::TlsConfig;
use crate::duration::parse_duration;

/// Configuration of Pagar.me.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagarmeConfig {
    /// Settings of the adapter.
    pub settings: PagarmeSettings,
    /// Longest time for which a PIX is kept payable.
    pub max_expiry: Option<Duration>,
    /// Authorities that a handshake trusts.
    pub tls: TlsConfig,
}

impl PagarmeConfig {
    /// Returns this configuration with the secrets and certificates of another one, which may change while the service
    /// runs.
    #[must_use]
    pub fn with_secrets_of(&self, other: &Self) -> Self {
        let settings = PagarmeSettings {
            secret_key: other.settings.secret_key.clone(),
            notification_password: other.settings.notification_password.clone(),
            ..self.settings.clone()
        };
        Self { settings, tls: other.tls.clone(), ..self.clone() }
    }
}

/// Address for both modes: the prefix of the key decides (docs.pagar.me, "Autenticação").
const BASE_URL: &str = "https://api.pagar.me/core/v5";

/// Prefix of the keys of test accounts.
const TEST_KEY: &str = "sk_test_";

const DEFAULT_USER: &str = "quita";

const VISIBLE: &str = "visible ASCII characters";

const RECIPIENT: &str = "re_ or rp_ with letters and digits, as Pagar.me names recipients";

impl PagarmeConfig {
    pub(super) fn read(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        mode: Mode,
    ) -> Option<Self> {
        let base_url = address::base(table, "base-url", surroundings.environment);
        let key = table.required_secret("secret-key", VISIBLE, visible);
        let is_of_test = key.as_ref().map(|key| key.expose().starts_with(TEST_KEY));
        if is_of_test.is_some_and(|is_of_test| is_of_test != (mode == Mode::Test)) {
            let why = format!(
                "a key that begins with {TEST_KEY} is for mode test, and any other for live; this acquirer is {}",
                mode.as_str()
            );
            table.refuse("secret-key", &why);
        }
        let notification_user = table.optional("notification-user", "1 to 64 letters, digits and _.-", user);
        let password = table.required_secret("notification-password", VISIBLE, visible);
        let soft_descriptor =
            table.optional("soft-descriptor", "1 to 22 letters, digits and spaces", descriptor);
        let antifraud = table.optional("antifraud", "true or false", |text| text.parse().ok());
        let max_expiry = table.optional("max-expiry", "a duration, such as 1h", |text| {
            parse_duration(text).filter(|length| !length.is_zero())
        });
        let recipient = table.optional("recipient", RECIPIENT, recipient);
        let recipients = recipients(table);
        if !recipients.is_empty() && recipient.is_none() && !table.contains("recipient") {
            let why = format!(
                "it is missing, and receives the rest of each split: the account's own recipient, {RECIPIENT}"
            );
            table.refuse("recipient", &why);
        }
        let boleto = boleto(table);
        let lists = table.optional("lists", "true or false", |text| text.parse().ok());
        let tls = TlsConfig::read_authorities(table);
        let settings = PagarmeSettings {
            base_url: base_url.unwrap_or_else(|| BASE_URL.into()),
            secret_key: key?,
            notification_user: notification_user.unwrap_or_else(|| DEFAULT_USER.into()),
            notification_password: password?,
            soft_descriptor,
            antifraud,
            recipient,
            recipients,
            boleto,
            lists: lists.unwrap_or(true),
        };
        Some(Self { settings, max_expiry, tls })
    }
}

fn recipients(table: &mut AcquirerTable<'_>) -> BTreeMap<String, String> {
    let mut recipients = BTreeMap::new();
    for (ours, theirs) in table.texts("recipients") {
        match recipient(&theirs) {
            Some(theirs) => {
                recipients.insert(ours, theirs);
            }
            None => {
                table.refuse("recipients", &format!("{theirs} is not a recipient id; allowed: {RECIPIENT}"));
            }
        }
    }
    recipients
}

fn boleto(table: &mut AcquirerTable<'_>) -> BoletoSettings {
    if !table.open("boleto") {
        return BoletoSettings::default();
    }
    let text = |most| {
        move |text: &str| {
            let fits = (1..=most).contains(&text.chars().count()) && !text.trim().is_empty();
            fits.then(|| text.to_owned())
        }
    };
    BoletoSettings {
        bank: table.optional("boleto.bank", "three digits, such as 197", |text| {
            let fits = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
            fits.then(|| text.to_owned())
        }),
        instructions: table.optional("boleto.instructions", "1 to 256 characters", text(256)),
        assignor: table.optional("boleto.assignor", "1 to 200 characters", text(200)),
        identification: table.optional("boleto.identification", "a CNPJ of 14 characters", |text| {
            let fits = text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
            fits.then(|| text.to_owned())
        }),
        address: table.optional("boleto.address", "1 to 255 characters", text(255)),
    }
}

fn recipient(text: &str) -> Option<String> {
    let name = text.strip_prefix("re_").or_else(|| text.strip_prefix("rp_"))?;
    let fits = (1..=60).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| text.to_owned())
}

fn descriptor(text: &str) -> Option<String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b' ';
    let fits = (1..=22).contains(&text.len()) && text.bytes().all(is_allowed) && !text.trim().is_empty();
    fits.then(|| text.to_owned())
}

/// Reads a user name for Basic authentication, which has no colon.
fn user(text: &str) -> Option<String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let fits = (1..=64).contains(&text.len()) && text.bytes().all(is_allowed);
    fits.then(|| text.to_owned())
}

fn visible(text: &str) -> Option<Secret<String>> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| Secret::new(text.to_owned()))
}
