//! Addresses of providers.

use url::{Host, Url};

use super::table::AcquirerTable;
use crate::Environment;

const FORM_OF_DEVELOPMENT: &str =
    "an https URL without user or fragment, or an http one on loopback, such as https://pix.bank.example/v2";

const FORM_OF_PRODUCTION: &str = "an https URL without user or fragment, such as https://pix.bank.example/v2";

/// Reads an address; a slash at its end is dropped. `None` if it is not set or was refused.
pub(super) fn base(table: &mut AcquirerTable<'_>, key: &str, environment: Environment) -> Option<String> {
    table.optional(key, form(environment), |text| {
        let url = parse(text, environment).filter(|url| url.query().is_none())?;
        Some(url.as_str().trim_end_matches('/').to_owned())
    })
}

/// Reads an address that may have a query.
pub(super) fn with_query(
    table: &mut AcquirerTable<'_>,
    key: &str,
    environment: Environment,
) -> Option<String> {
    table.optional(key, form(environment), |text| parse(text, environment).map(|_| text.to_owned()))
}

/// Returns the form of an address, for messages.
pub(super) const fn form(environment: Environment) -> &'static str {
    match environment {
        Environment::Development => FORM_OF_DEVELOPMENT,
        Environment::Production => FORM_OF_PRODUCTION,
    }
}

fn parse(text: &str, environment: Environment) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    let is_safe = match (url.scheme(), environment) {
        ("https", _) => url.has_host(),
        ("http", Environment::Development) => is_loopback(&url),
        (_, Environment::Development | Environment::Production) => false,
    };
    (is_plain && is_safe).then_some(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
