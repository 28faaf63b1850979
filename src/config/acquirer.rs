//! One `[[acquirer]]` of the configuration.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use quita_domain::identity::{AcquirerName, Mode};
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::payment::CALL_LEASE_MS;
use quita_ports::AcquirerSpec;
use toml::{Table, Value};

use super::duration::parse_duration;
use super::file;
use super::problem::Origin;
use super::settings::{Given, Settings, scalar};

/// The option that holds them.
const OPTION: &str = "acquirer";

const FORM: &str = "an array of tables, such as [{ name = \"sandbox\", adapter = \"sandbox\" }]";

const KEYS: [&str; 10] = [
    "name",
    "adapter",
    "mode",
    "methods",
    "priority",
    "weight",
    "min-amount",
    "max-amount",
    "concurrency",
    "time-out",
];

const DEFAULT_CONCURRENCY: usize = 256;
const MAX_CONCURRENCY: usize = 10_000;

/// What speaks to an acquirer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdapterKind {
    /// Pretends, in this process.
    Sandbox,
}

impl AdapterKind {
    /// Every adapter.
    pub const ALL: [Self; 1] = [Self::Sandbox];

    /// As the configuration spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
        }
    }

    /// Reads the spelling of the configuration.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The mode of the keys that may reach it: test keys only ever reach sandboxes, live keys never do.
    pub const fn mode(self) -> Mode {
        match self {
            Self::Sandbox => Mode::Test,
        }
    }
}

/// A configured acquirer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcquirerConfig {
    /// What speaks to it.
    pub adapter: AdapterKind,
    /// What the actors need to know of it.
    pub spec: AcquirerSpec,
}

impl AcquirerConfig {
    /// A sandbox for every method and amount.
    pub fn sandbox(name: &str, priority: u32, time_out: Duration) -> Self {
        let spec = AcquirerSpec {
            name: AcquirerName::new(name),
            mode: AdapterKind::Sandbox.mode(),
            methods: Method::ALL.to_vec(),
            priority,
            weight: 1,
            min_amount: Money::from_cents(1),
            max_amount: Money::MAX,
            concurrency: DEFAULT_CONCURRENCY,
            time_out_ms: millis(time_out),
        };
        Self { adapter: AdapterKind::Sandbox, spec }
    }
}

/// Reads all acquirers. `None` if the option is not set; those that were refused are left out.
pub(super) fn read(settings: &mut Settings, sandbox_time_out: Duration) -> Option<Vec<AcquirerConfig>> {
    let Given { value, origin } = settings.given(OPTION)?.clone();
    let array = match array(value) {
        Ok(array) => array,
        Err(why) => {
            settings.refuse(OPTION, format!("{why} ({origin}); allowed is {FORM}"));
            return Some(Vec::new());
        }
    };
    let mut acquirers: Vec<AcquirerConfig> = Vec::new();
    for (index, table) in array.into_iter().enumerate() {
        let mut reading = Reading::of(settings, &origin, index, table);
        let Some(acquirer) = reading.acquirer(sandbox_time_out) else { continue };
        if acquirers.iter().any(|other| other.spec.name == acquirer.spec.name) {
            reading.refuse("name", "another acquirer has this name");
        } else {
            acquirers.push(acquirer);
        }
    }
    Some(acquirers)
}

fn array(value: Value) -> Result<Vec<Table>, String> {
    let value = match value {
        Value::String(text) => file::parse_array(&text)?,
        other @ (Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_)
        | Value::Table(_)) => other,
    };
    value.try_into().map_err(|_| "it is no array of tables".into())
}

/// One table while it is read.
struct Reading<'a> {
    settings: &'a mut Settings,
    origin: &'a Origin,
    index: usize,
    entries: BTreeMap<String, Value>,
    is_refused: bool,
}

impl<'a> Reading<'a> {
    fn of(settings: &'a mut Settings, origin: &'a Origin, index: usize, table: Table) -> Self {
        let entries = table.into_iter().map(|(key, value)| (key.replace('_', "-"), value)).collect();
        Self { settings, origin, index, entries, is_refused: false }
    }

    fn acquirer(&mut self, sandbox_time_out: Duration) -> Option<AcquirerConfig> {
        let unknown: Vec<_> =
            self.entries.keys().filter(|key| !KEYS.contains(&key.as_str())).cloned().collect();
        for key in unknown {
            self.refuse(&key, &format!("there is no such key; known are {}", KEYS.join(", ")));
        }
        let name = self.required("name", "1 to 40 of a–z, 0–9, - and _", acquirer_name);
        let adapter = self.required("adapter", "sandbox", AdapterKind::parse);
        let mode = self.optional("mode", "test or live", Mode::parse);
        if let (Some(adapter), Some(mode)) = (adapter, mode)
            && adapter.mode() != mode
        {
            let name = adapter.as_str();
            let why = format!("a {name} moves no money: live keys never reach it; allowed is test");
            self.refuse("mode", &why);
        }
        let methods = self.methods();
        let priority = self.optional("priority", "a whole number from 0", |text| text.parse().ok());
        let weight = self.optional("weight", "1 to 1000", |text| number(text, 1, 1_000));
        let cents = |text: &str| number(text, 1, Money::MAX.cents()).map(Money::from_cents);
        let min_amount = self.optional("min-amount", "1 to 9999999999 cents", cents);
        let max_amount = self.optional("max-amount", "1 to 9999999999 cents", cents);
        if min_amount.unwrap_or(Money::ZERO) > max_amount.unwrap_or(Money::MAX) {
            self.refuse("min-amount", "it is more than max-amount");
        }
        let concurrency = self.optional("concurrency", "1 to 10000", |text| number(text, 1, MAX_CONCURRENCY));
        let time_out = self.optional("time-out", TIME_OUT_FORM, parse_time_out);
        let defaults = AcquirerConfig::sandbox(name?.as_str(), 1, sandbox_time_out);
        let spec = AcquirerSpec {
            mode: adapter?.mode(),
            methods: methods.unwrap_or(defaults.spec.methods),
            priority: priority.unwrap_or(defaults.spec.priority),
            weight: weight.unwrap_or(defaults.spec.weight),
            min_amount: min_amount.unwrap_or(defaults.spec.min_amount),
            max_amount: max_amount.unwrap_or(defaults.spec.max_amount),
            concurrency: concurrency.unwrap_or(defaults.spec.concurrency),
            time_out_ms: time_out.map_or(defaults.spec.time_out_ms, millis),
            name: defaults.spec.name,
        };
        (!self.is_refused).then_some(AcquirerConfig { adapter: adapter?, spec })
    }

    fn methods(&mut self) -> Option<Vec<Method>> {
        let value = self.entries.get("methods")?;
        let methods: Option<Vec<Method>> = value
            .as_array()
            .and_then(|values| values.iter().map(|value| value.as_str().and_then(Method::parse)).collect());
        let methods = methods.filter(|methods| !methods.is_empty());
        if methods.is_none() {
            self.refuse("methods", "allowed is an array of pix, boleto, credit_card, with at least one");
        }
        methods.map(|mut methods| {
            methods.sort_unstable();
            methods.dedup();
            methods
        })
    }

    fn required<T>(&mut self, key: &str, allowed: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        if !self.entries.contains_key(key) {
            self.refuse(key, &format!("it is missing; allowed is {allowed}"));
        }
        self.optional(key, allowed, parse)
    }

    fn optional<T>(&mut self, key: &str, allowed: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let text = scalar(self.entries.get(key)?);
        let parsed = text.as_deref().and_then(parse);
        if parsed.is_none() {
            let shown = text.map_or("its value".into(), |text| format!("{text:?}"));
            self.refuse(key, &format!("{shown} is not allowed; allowed is {allowed}"));
        }
        parsed
    }

    fn refuse(&mut self, key: &str, why: &str) {
        self.is_refused = true;
        let place = format!("{OPTION}[{}].{key}", self.index);
        let origin = match self.origin {
            Origin::File { path, .. } => Origin::File { path: path.clone(), key: place.clone() },
            Origin::Flag(_) | Origin::Variable(_) => self.origin.clone(),
        };
        self.settings.refuse(&place, format!("{why} ({origin})"));
    }
}

/// What the time-out of a call may be, for messages.
pub(super) const TIME_OUT_FORM: &str = "1ms up to less than 30s, the lease of a call, such as 500ms or 5s";

/// Reads the time-out of a call, which must end before its lease does: else two nodes could send one charge.
pub(super) fn parse_time_out(text: &str) -> Option<Duration> {
    parse_duration(text)
        .filter(|time_out| !time_out.is_zero() && *time_out < Duration::from_millis(CALL_LEASE_MS))
}

fn acquirer_name(text: &str) -> Option<AcquirerName> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    let fits = (1..=40).contains(&text.len()) && text.bytes().all(is_allowed);
    fits.then(|| AcquirerName::new(text))
}

/// Reads a whole number within bounds.
pub(super) fn number<T: FromStr + PartialOrd>(text: &str, least: T, most: T) -> Option<T> {
    text.parse().ok().filter(|number| *number >= least && *number <= most)
}

/// A duration in milliseconds, for what counts in them.
fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
