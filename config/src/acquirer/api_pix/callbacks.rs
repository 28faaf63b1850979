//! The address to which the bank calls back, and its registration by this service.

use actix_http::header::{HeaderName, HeaderValue};
use quita_acquirers::api_pix::dialect::Dialect;
use quita_acquirers::api_pix::settings::CallbackRegistration;
use quita_domain::identity::Mode;
use quita_domain::secret::Secret;

use super::super::table::AcquirerTable;
use super::super::{Surroundings, number};

/// The address to which the bank calls back, without the part derived from the secret key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackConfig {
    /// Choice of registering it through this service.
    pub registration: CallbackRegistration,
    /// Number of the address: another number gives another address.
    pub epoch: u32,
    /// Suffix after the token, as this bank requires.
    pub suffix: String,
    /// Headers that are only sent with the registration.
    pub headers: Vec<(String, String)>,
}

/// Tokens that authenticate the callbacks of one bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackTokens {
    /// The token that is registered at the bank.
    pub now: Secret<String>,
    /// Tokens of other secret keys, which may be registered at the bank from before.
    pub others: Vec<Secret<String>>,
}

impl CallbackConfig {
    pub(super) fn read(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        dialect: &Dialect,
    ) -> Self {
        let registration = registration(table, surroundings);
        let epoch = epoch(table);
        let suffix =
            table.optional("webhook-suffix", "what follows the token: visible ASCII characters", |text| {
                text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#').then(|| text.to_owned())
            });
        let suffix = suffix.or_else(|| dialect.webhook_suffix.clone()).unwrap_or_default();
        let mut headers: Vec<_> = table.texts("webhook-headers");
        for (name, value) in &headers {
            if HeaderName::try_from(name.as_str()).is_err() || HeaderValue::try_from(value).is_err() {
                table.refuse(&format!("webhook-headers.{name}"), "it is not a valid header");
            }
        }
        let is_own = |name: &str, own: &[(String, String)]| {
            own.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let of_dialect = dialect.webhook_headers.iter().filter(|(name, _)| !is_own(name, &headers));
        let of_dialect: Vec<_> = of_dialect.map(|(name, value)| (name.clone(), value.clone())).collect();
        headers.retain(|(_, value)| !value.is_empty());
        headers.extend(of_dialect);
        Self { registration, epoch, suffix, headers }
    }

    /// Reads the keys of a bank that calls the address without a suffix. A bank's sandbox does not call back.
    pub(in crate::acquirer) fn read_plain(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        mode: Mode,
    ) -> Self {
        let is_set = table.contains("webhook");
        let registered = registration(table, surroundings);
        let registration = if mode == Mode::Test && !is_set { CallbackRegistration::Off } else { registered };
        Self { registration, epoch: epoch(table), suffix: String::new(), headers: Vec::new() }
    }

    /// Returns the whole address in the bank's form.
    pub fn address(&self, token: &Secret<String>, notifications: &str) -> String {
        format!("{notifications}/{}{}", token.expose(), self.suffix)
    }
}

fn registration(table: &mut AcquirerTable<'_>, surroundings: &Surroundings<'_>) -> CallbackRegistration {
    let is_https = surroundings.public_url.is_some_and(|url| url.scheme() == "https");
    let registration = table.optional("webhook", "register, replace, off", |text| match text {
        "register" => Some(CallbackRegistration::Register),
        "replace" => Some(CallbackRegistration::Replace),
        "off" => Some(CallbackRegistration::Off),
        _ => None,
    });
    if matches!(registration, Some(CallbackRegistration::Register | CallbackRegistration::Replace))
        && !is_https
    {
        table.refuse(
            "webhook",
            "a bank calls back only over https; set an https public-url, or webhook = \"off\"",
        );
    }
    registration.unwrap_or(if is_https { CallbackRegistration::Register } else { CallbackRegistration::Off })
}

fn epoch(table: &mut AcquirerTable<'_>) -> u32 {
    table.optional("notification-epoch", "1 to 4294967295", |text| number(text, 1, u32::MAX)).unwrap_or(1)
}
