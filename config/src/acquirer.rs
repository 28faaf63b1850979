//! One `[[acquirer]]` table of the configuration.
//!
//! The keys that all acquirers have are read here; those of an adapter are read by the adapter's own struct, from the
//! same `AcquirerTable`.

mod adapter;
mod address;
mod api_pix;
mod cielo;
mod pagarme;
mod sandbox;
mod sicoob;
mod table;
mod tls;

use std::str::FromStr;
use std::time::Duration;

use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::payment::CALL_LEASE_MS;
use quita_domain::time::millis_in;
use quita_ports::AcquirerSpec;
use toml::Value;
use url::Url;

pub use adapter::{AdapterConfig, AdapterKind};
pub use api_pix::{ApiPixConfig, CallbackConfig, CallbackTokens};
pub use cielo::CieloConfig;
pub use pagarme::PagarmeConfig;
pub use sandbox::SandboxConfig;
pub(super) use sandbox::SandboxDefaults;
pub use sicoob::SicoobConfig;

use super::Environment;
use super::duration::parse_duration;
use super::problem::Origin;
use super::settings::{Given, Settings};
use super::table::tables_of;
use super::written::Written;
use table::{AcquirerTable, variable_prefix};
pub use tls::TlsConfig;

/// Name of the option.
pub(super) const OPTION: &str = "acquirer";

const FORM: &str = "an array of tables, such as [{ name = \"sandbox\", adapter = \"sandbox\" }]";

/// Two, so that a payment that the first one can't take has another route.
const OF_DEVELOPMENT: &str = "[{ name = 'sandbox', adapter = 'sandbox' }, \
     { name = 'sandbox-backup', adapter = 'sandbox', priority = 2 }]";

const OF_PRODUCTION: &str = "[]";

const DEFAULT_CONCURRENCY: usize = 256;
const MAX_CONCURRENCY: usize = 10_000;

/// A configured acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerConfig {
    /// Adapter of the acquirer, with its settings.
    pub adapter: AdapterConfig,
    /// Settings that the actors need.
    pub spec: AcquirerSpec,
    /// The table as it was written, key by key.
    pub written: Written,
}

/// Other settings that matter to acquirers.
pub(super) struct Surroundings<'a> {
    pub(super) environment: Environment,
    /// Address by which the outside reaches this service, if it is configured.
    pub(super) public_url: Option<&'a Url>,
    pub(super) sandbox: &'a SandboxDefaults,
}

/// Reads all acquirers. Refused ones are left out.
pub(super) fn read(settings: &mut Settings, surroundings: &Surroundings<'_>) -> Vec<AcquirerConfig> {
    let given = settings.given(OPTION).cloned().unwrap_or_else(|| default_of(surroundings.environment));
    let Some((tables, origin)) = tables_of(settings, OPTION, Some(given), FORM) else { return Vec::new() };
    let mut reader =
        Reader { surroundings, names: Vec::new(), banks: Vec::new(), is_every_adapter_known: true };
    let mut acquirers = Vec::new();
    for (index, table) in tables.into_iter().enumerate() {
        acquirers.extend(reader.acquirer(&mut AcquirerTable::new(settings, &origin, OPTION, index, table)));
    }
    // A misunderstood acquirer may have secrets of any name.
    if reader.is_every_adapter_known {
        settings.refuse_other_acquirer_secrets();
    }
    acquirers
}

fn default_of(environment: Environment) -> Given {
    let text = match environment {
        Environment::Development => OF_DEVELOPMENT,
        Environment::Production => OF_PRODUCTION,
    };
    Given { value: Value::String(text.into()), origin: Origin::Default }
}

/// Reads the tables one after the other.
struct Reader<'a> {
    surroundings: &'a Surroundings<'a>,
    names: Vec<AcquirerName>,
    /// Customers of banks for which this service assigns numbers.
    banks: Vec<SicoobConfig>,
    is_every_adapter_known: bool,
}

impl Reader<'_> {
    fn acquirer(&mut self, table: &mut AcquirerTable<'_>) -> Option<AcquirerConfig> {
        let written = Written::of(table.entries.iter().map(|(key, value)| (key.as_str(), value)));
        let name = self.name(table);
        let adapters = AdapterKind::ALL.map(AdapterKind::as_str).join(" or ");
        let kind = table.required("adapter", &adapters, AdapterKind::parse);
        self.is_every_adapter_known &= name.is_some() && kind.is_some();
        let mode = mode(table, kind);
        let methods = methods(table, kind);
        let priority = table.optional("priority", "a whole number from 0", |text| text.parse().ok());
        let weight = table.optional("weight", "1 to 1000", |text| number(text, 1, 1_000));
        let cents = |text: &str| number(text, 1, Money::MAX.cents()).map(Money::from_cents);
        let min_amount =
            table.optional("min-amount", "1 to 9999999999 cents", cents).unwrap_or(Money::from_cents(1));
        let max_amount = table.optional("max-amount", "1 to 9999999999 cents", cents).unwrap_or(Money::MAX);
        if min_amount > max_amount {
            table.refuse("min-amount", "it is more than max-amount");
        }
        let concurrency =
            table.optional("concurrency", "1 to 10000", |text| number(text, 1, MAX_CONCURRENCY));
        let time_out = table.optional("time-out", TIME_OUT_FORM, parse_time_out);
        let rate =
            table.optional("rate", "a whole number of calls a second, from 1", |text| text.parse().ok());
        // Without the adapter, neither its capabilities nor its keys are known.
        let kind = kind?;
        let (mode, methods) =
            (mode.unwrap_or(kind.default_mode()), methods.unwrap_or_else(|| kind.methods().to_vec()));
        let adapter = AdapterConfig::read(kind, table, self.surroundings, mode, &methods);
        self.refuse_shared_numbers(table, adapter.as_ref());
        table.refuse_unknown();
        if table.is_refused() {
            return None;
        }
        let adapter = adapter?;
        let spec = AcquirerSpec {
            name: name?,
            mode,
            methods,
            priority: priority.unwrap_or(1),
            weight: weight.unwrap_or(1),
            min_amount,
            max_amount,
            concurrency: concurrency.unwrap_or(DEFAULT_CONCURRENCY),
            time_out_ms: millis_in(
                time_out.unwrap_or_else(|| kind.default_time_out(self.surroundings.sandbox)),
            ),
            rate,
            max_expiry_s: adapter.max_expiry_s(),
            due_dates: adapter.due_dates(),
            hint_gap_ms: kind.hint_gap_ms(),
        };
        Some(AcquirerConfig { adapter, spec, written })
    }

    /// Refuses numbers that another table also assigns: the bank would get the same number for two boletos.
    fn refuse_shared_numbers(&mut self, table: &mut AcquirerTable<'_>, adapter: Option<&AdapterConfig>) {
        let Some(AdapterConfig::Sicoob(sicoob)) = adapter else { return };
        if self.banks.iter().any(|other| other.shares_numbers_with(sicoob)) {
            table.refuse(
                "our-numbers",
                "another acquirer of this customer and portfolio has some of these numbers; divide them",
            );
        }
        self.banks.push(SicoobConfig::clone(sicoob));
    }

    /// Reads the name. It must be unique, and so must the variables derived from it.
    fn name(&mut self, table: &mut AcquirerTable<'_>) -> Option<AcquirerName> {
        let name = table.required("name", "1 to 40 of a–z, 0–9, - and _", acquirer_name)?;
        let prefix = variable_prefix(name.as_str());
        match self.names.iter().find(|other| variable_prefix(other.as_str()) == prefix) {
            None => {
                table.set_name(name.as_str());
                self.names.push(name.clone());
                return Some(name);
            }
            Some(other) if *other == name => table.refuse("name", "another acquirer has this name"),
            Some(other) => {
                let name = name.as_str();
                let other = other.as_str();
                let why = format!(
                    "{name} and {other} both become {prefix}… in the environment; rename one of the two"
                );
                table.refuse("name", &why);
            }
        }
        None
    }
}

fn mode(table: &mut AcquirerTable<'_>, kind: Option<AdapterKind>) -> Option<Mode> {
    let mode = table.optional("mode", "test or live", Mode::parse)?;
    if let Some(kind) = kind.filter(|kind| mode == Mode::Live && !kind.moves_money()) {
        let kind = kind.as_str();
        let why = format!("a {kind} moves no money: live keys never reach it; allowed: test");
        table.refuse("mode", &why);
    }
    Some(mode)
}

fn methods(table: &mut AcquirerTable<'_>, kind: Option<AdapterKind>) -> Option<Vec<Method>> {
    let able = kind.map_or(&Method::ALL[..], AdapterKind::methods);
    let allowed: Vec<_> = able.iter().map(|method| method.label()).collect();
    let parse = |text: &str| Method::parse(text).filter(|method| able.contains(method));
    let mut methods = table.list("methods", &allowed.join(", "), parse)?;
    methods.sort_unstable();
    methods.dedup();
    Some(methods)
}

/// Form of the time-out of a call, for messages.
pub(super) const TIME_OUT_FORM: &str = "1ms up to less than 30s, the lease of a call, such as 500ms or 5s";

/// Reads the time-out of a call, which must end before its lease does. Otherwise two nodes could send the same charge.
pub(super) fn parse_time_out(text: &str) -> Option<Duration> {
    parse_duration(text)
        .filter(|time_out| !time_out.is_zero() && *time_out < Duration::from_millis(CALL_LEASE_MS))
}

pub(super) fn acquirer_name(text: &str) -> Option<AcquirerName> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let fits = (1..=40).contains(&text.len()) && text.bytes().all(is_allowed);
    fits.then(|| AcquirerName::new(text))
}

/// Reads a whole number within limits.
pub(super) fn number<T: FromStr + PartialOrd>(text: &str, least: T, most: T) -> Option<T> {
    text.parse().ok().filter(|number| *number >= least && *number <= most)
}

#[cfg(test)]
pub(crate) mod provider_tests;
#[cfg(test)]
mod tests;
