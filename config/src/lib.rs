//! The configuration: flags override environment variables, which override the TOML file.
//!
//! Every option is listed once in [`option::OPTIONS`] and has the same name everywhere: `--ops-listen`,
//! `QUITA_OPS_LISTEN`, `ops-listen`. Unknown and invalid settings are refused, all at once, with their origin. Secrets
//! come from the environment or a file, never from a flag.

pub mod acquirer;
pub mod duration;
pub mod listen_address;
pub mod mail;
pub mod option;
pub mod option_groups;
pub mod problem;
pub mod route;
pub mod secret_key;
pub mod settings;
pub mod store_url;

mod file;
mod kubernetes;
mod nearest;
pub mod operator_password;
pub mod ops_hosts;
pub mod otlp;
mod safety;
pub mod secret_file;
mod secret_text;
mod table;
pub mod written;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use chrono::NaiveTime;
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::payment::ARCHIVED_AFTER_AT_LEAST_MS;
use quita_domain::people::DEFAULT_IDLE_MS;
use quita_domain::request::{PostbackPolicy, RequestLimits};
use quita_domain::routing::RoutingTable;
use quita_domain::secret::Secret;
use quita_machine::SystemClock;
use quita_ports::Clock;
use url::Url;

use acquirer::{AcquirerConfig, SandboxDefaults, Surroundings, TIME_OUT_FORM, number, parse_time_out};
use duration::{DURATION_FORM, parse_duration, parse_long_duration};
use listen_address::parse_listen_address;
use mail::MailConfig;
use otlp::OtlpConfig;
use problem::{ConfigError, Origin};
use secret_file::SecretFile;
use secret_key::SecretKeys;
use settings::Settings;
use store_url::{STORE_FORM, StoreUrl};
use written::Written;

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Address where merchants and payers are served.
    pub listen: SocketAddr,
    /// Address where operators are served.
    pub ops_listen: SocketAddr,
    /// Host names that serve the operator's pages besides those of this machine: in lower case, without port.
    pub ops_hosts: Vec<String>,
    /// Address by which the outside reaches this service, if it is configured; see [`Config::public_url_at`].
    pub public_url: Option<Url>,
    /// Store of the payments.
    pub store: StoreUrl,
    /// Environment, which decides how strict the checks are.
    pub environment: Environment,
    /// Requests a second for each key; `None` for no limit.
    pub rate_limit: Option<u32>,
    /// Settings of the log.
    pub log: LogConfig,
    /// Time for accepted work to finish once the service is told to stop.
    pub shutdown_time: Duration,
    /// Time for which a transaction's actor stays in memory after its last message.
    pub idle_after: Duration,
    /// Time after which a console session ends if nothing is done in it.
    pub session_idle: Duration,
    /// True if operators without a second factor must set one up before anything else.
    pub operators_need_second_factor: bool,
    /// Maximum number of instalments of a card payment.
    pub max_installments: u8,
    /// Limits of the pages of payment links.
    pub checkout: CheckoutConfig,
    /// Time after which the payer of a sandbox pays, if the sandbox has no setting of its own.
    pub sandbox_settle_after: Duration,
    /// Acquirers, which move the money.
    pub acquirers: Vec<AcquirerConfig>,
    /// Routes of new payments.
    pub routes: RoutingTable,
    /// The keys behind ids, page addresses, and secrets in the store.
    pub secret_keys: SecretKeys,
    /// Password that opens the operator's console; `None` closes it.
    pub operator_password: Option<Secret<String>>,
    /// Time of day in Brasília at which acquirers' lists are compared with the payments; `None` for never.
    pub reconcile_at: Option<NaiveTime>,
    /// Time for which a finished payment rests before its payer is erased; `None` for never.
    pub retain_personal_data: Option<Duration>,
    /// Time for which a finished payment rests before it is archived. `None` for never.
    pub archive_after: Option<Duration>,
    /// True if every connection comes through a proxy that adds the client's address to `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Destination of traces, if any.
    pub otlp: Option<OtlpConfig>,
    /// Server for e-mail messages; `None` if none are sent.
    pub mail: Option<MailConfig>,
    /// Files from which secrets were read.
    pub secret_files: Vec<SecretFile>,
    /// Warnings about settings that are allowed.
    pub warnings: Vec<String>,
    /// Options that require a restart, as they were written.
    pub written: Written,
}

/// Limits of the pages of payment links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckoutConfig {
    /// Smallest instalment that a payer may choose.
    pub min_installment: Money,
    /// Cards that may be tried at one link within an hour.
    pub tries_per_link: u32,
    /// Cards that one network may try at all links within an hour.
    pub tries_per_network: u32,
}

/// Environment, which decides how strict the checks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// For trials: plain HTTP, loopback receivers, a demo merchant.
    Development,
    /// For real operation: unsafe settings are refused.
    Production,
}

/// Settings of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogConfig {
    /// Format of its lines.
    pub format: LogFormat,
    /// Level of the log.
    pub level: LogLevel,
    /// True if each refused API request is logged.
    pub refusals: bool,
}

/// Format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Human,
    /// One JSON object a line.
    Json,
}

/// Levels of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Events that require action.
    Error,
    /// Events that may come to require action.
    Warn,
    /// Events for operators.
    Info,
    /// Events for developers.
    Debug,
    /// Everything.
    Trace,
}

impl Config {
    /// Returns the limits of creation requests.
    pub const fn request_limits(&self) -> RequestLimits {
        RequestLimits {
            max_installments: self.max_installments,
            postback: self.environment.postback_policy(),
        }
    }

    /// Returns the labels of the methods that no acquirer takes for keys of this mode.
    pub fn methods_without_acquirer(&self, mode: Mode) -> Vec<&'static str> {
        let takes = |method: Method| {
            self.acquirers.iter().any(|it| it.spec.mode == mode && it.spec.methods.contains(&method))
        };
        Method::ALL.into_iter().filter(|method| !takes(*method)).map(Method::label).collect()
    }

    /// Reads all settings; missing ones have their defaults.
    ///
    /// # Errors
    /// [`ConfigError`] with everything that can't be understood, together with the unsafe settings. If everything is
    /// understood, unsafe settings pass: see [`Config::refuse_unsafe`].
    pub fn from_settings(mut settings: Settings) -> Result<Self, ConfigError> {
        let written = settings.written();
        let environment = Environment::read(&mut settings);
        let is_development = environment == Environment::Development;
        let store_is_flag =
            settings.given("store").is_some_and(|given| matches!(given.origin, Origin::Flag(_)));
        let default_rate = if is_development { 0 } else { DEFAULT_RATE_LIMIT };
        let rate = settings
            .read("rate-limit", "0 to 1000000 requests a second", |text| number(text, 0, 1_000_000))
            .unwrap_or(default_rate);
        let sandbox = sandbox_defaults(&mut settings);
        let public_url = settings.read("public-url", PUBLIC_URL_FORM, parse_plain_url);
        let surroundings = Surroundings { environment, public_url: public_url.as_ref(), sandbox: &sandbox };
        let acquirers = acquirer::read(&mut settings, &surroundings);
        let (routes, doubts) = route::read(&mut settings, &acquirers);
        let ops_listen = address(&mut settings, "ops-listen", 9090);
        let mut config = Self {
            listen: address(&mut settings, "listen", 8080),
            ops_listen,
            ops_hosts: ops_hosts::read(&mut settings),
            public_url,
            store: store(&mut settings),
            environment,
            rate_limit: (rate > 0).then_some(rate),
            log: log(&mut settings, environment),
            shutdown_time: settings
                .read("shutdown-time", DURATION_FORM, parse_duration)
                .unwrap_or(DEFAULT_SHUTDOWN_TIME),
            idle_after: settings
                .read("idle-after", IDLE_AFTER_FORM, parse_idle_after)
                .unwrap_or(DEFAULT_IDLE_AFTER),
            session_idle: settings
                .read("session-idle", SESSION_IDLE_FORM, parse_session_idle)
                .unwrap_or(Duration::from_millis(DEFAULT_IDLE_MS)),
            operators_need_second_factor: settings
                .read("operators-need-second-factor", "true or false", |text| text.parse().ok())
                .unwrap_or(!is_development),
            max_installments: settings
                .read("max-installments", "1 to 12", |text| number(text, 1, MAX_INSTALLMENTS))
                .unwrap_or(MAX_INSTALLMENTS),
            checkout: checkout(&mut settings),
            sandbox_settle_after: sandbox.settle_after,
            acquirers,
            routes,
            secret_keys: SecretKeys::read(&mut settings),
            operator_password: operator_password::read(&mut settings, environment, ops_listen),
            reconcile_at: settings
                .read("reconcile-at", RECONCILE_AT_FORM, parse_reconcile_at)
                .unwrap_or_else(default_reconcile_at),
            retain_personal_data: settings.read("retain-personal-data", RETAIN_FORM, parse_retention),
            archive_after: settings.read("archive-after", ARCHIVE_FORM, parse_archive_after).flatten(),
            behind_proxy: settings
                .read("behind-proxy", "true or false", |text| text.parse().ok())
                .unwrap_or_default(),
            otlp: otlp::read(&mut settings),
            mail: mail::read(&mut settings),
            secret_files: Vec::new(),
            warnings: Vec::new(),
            written,
        };
        if safety::are_one_address(config.listen, config.ops_listen) {
            let message = format!(
                "it is {}, and listen is {}: they must differ, because each has its own port",
                config.ops_listen, config.listen
            );
            settings.refuse("ops-listen", message);
        }
        config.secret_files = secret_files(&mut settings, &config.store);
        let beside = safety::problems_beside(settings.problems(), &config);
        settings.finish().map_err(|ConfigError(refused)| ConfigError([refused, beside].concat()))?;
        config.warnings = safety::warnings(&config, store_is_flag, SystemClock.now());
        config.warnings.extend(doubts);
        Ok(config)
    }

    /// Fails with all unsafe settings, if there are any.
    ///
    /// # Errors
    /// [`ConfigError`] with all of them.
    pub fn refuse_unsafe(&self) -> Result<(), ConfigError> {
        let problems = safety::problems(self);
        if problems.is_empty() { Ok(()) } else { Err(ConfigError(problems)) }
    }

    /// Returns a warning if nobody can open the operators' console while there is no operator.
    pub fn closed_console(&self) -> Option<&'static str> {
        self.operator_password.is_none().then_some(
            "operator-password: none is set, and there is no operator, so the operators' console stays closed; make the \
             first one with `quita users operators create`, or set QUITA_OPERATOR_PASSWORD or operator-password-file",
        )
    }

    /// Returns the address by which the outside reaches this service, without a slash at the end; `bound` is the actual
    /// listening address.
    pub fn public_url_at(&self, bound: SocketAddr) -> String {
        let url = self.public_url.as_ref().map_or_else(|| format!("http://{bound}"), Url::to_string);
        url.trim_end_matches('/').to_owned()
    }
}

impl LogConfig {
    /// Reads only the settings of the log. Invalid ones have their defaults, because this log is needed to report them.
    pub fn from_settings(mut settings: Settings) -> Self {
        let environment = Environment::read(&mut settings);
        log(&mut settings, environment)
    }
}

impl StoreUrl {
    /// Reads only the store, for commands that need nothing else. Unknown options are still refused.
    ///
    /// # Errors
    /// [`ConfigError`] with everything that was refused.
    pub fn from_settings(mut settings: Settings) -> Result<Self, ConfigError> {
        let store = store(&mut settings);
        settings.finish().map(|()| store)
    }
}

/// A store and the keys for its secrets, for commands that need nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreAccess {
    /// Address of the store.
    pub url: StoreUrl,
    /// Keys with which its secrets may be sealed.
    pub secret_keys: SecretKeys,
    /// Environment according to the variables and the file.
    pub environment: Environment,
}

impl StoreAccess {
    /// Reads only these settings. Unknown options are still refused.
    ///
    /// # Errors
    /// [`ConfigError`] with everything that was refused.
    pub fn from_settings(mut settings: Settings) -> Result<Self, ConfigError> {
        let access = Self {
            url: store(&mut settings),
            secret_keys: SecretKeys::read(&mut settings),
            environment: Environment::read(&mut settings),
        };
        settings.finish().map(|()| access)
    }
}

impl Environment {
    /// Returns the spelling in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::Production => "production",
        }
    }

    /// Returns the policy for addresses of webhooks.
    pub const fn postback_policy(self) -> PostbackPolicy {
        match self {
            Self::Development => PostbackPolicy::AllowAnything,
            Self::Production => PostbackPolicy::HttpsPublicOnly,
        }
    }

    fn read(settings: &mut Settings) -> Self {
        settings.read("environment", "development or production", Self::parse).unwrap_or(Self::Development)
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Development, Self::Production].into_iter().find(|environment| environment.as_str() == text)
    }
}

const DEFAULT_RATE_LIMIT: u32 = 200;
const DEFAULT_SHUTDOWN_TIME: Duration = Duration::from_secs(10);
const DEFAULT_IDLE_AFTER: Duration = Duration::from_secs(3);
const IDLE_AFTER_FORM: &str = "100ms to 1h";
const SESSION_IDLE_FORM: &str = "1s to 12h";
const DEFAULT_SETTLE_AFTER: Duration = Duration::from_secs(2);
const DEFAULT_SANDBOX_TIME_OUT: Duration = Duration::from_secs(2);
const MAX_INSTALLMENTS: u8 = 12;
const DEFAULT_MIN_INSTALLMENT: u64 = 500;
const DEFAULT_TRIES_PER_LINK: u32 = 5;
const DEFAULT_TRIES_PER_NETWORK: u32 = 10;
const A_DAY: Duration = Duration::from_secs(24 * 3_600);

const RETAIN_FORM: &str = "a whole number with a unit, a day at least: 180d, 5y";

const ARCHIVE_FORM: &str = "a whole number with a unit, 90 days at least: 180d, 1y; or 0";

const RECONCILE_AT_FORM: &str = "a time of day, such as 05:00, or off";

const PUBLIC_URL_FORM: &str =
    "an http or https URL without user, query or fragment, such as https://pay.example.com";

fn address(settings: &mut Settings, name: &str, default_port: u16) -> SocketAddr {
    let form =
        format!("an IP address and a port, such as 127.0.0.1:{default_port}, or a port alone for loopback");
    settings
        .read(name, &form, parse_listen_address)
        .unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, default_port)))
}

fn store(settings: &mut Settings) -> StoreUrl {
    settings.read("store", STORE_FORM, StoreUrl::parse).unwrap_or_default()
}

/// Returns the files that options name, the file of the store's client certificate, and the configuration file if it
/// contains the store's password.
fn secret_files(settings: &mut Settings, store: &StoreUrl) -> Vec<SecretFile> {
    if let Some(path) = store.key_file() {
        settings.note_secret_file("store", path);
    }
    if let Some(Origin::File { path, .. }) = settings.given("store").map(|given| given.origin.clone())
        && store.has_credentials()
    {
        settings.note_secret_file("config", path);
    }
    settings.take_secret_files()
}

fn parse_idle_after(text: &str) -> Option<Duration> {
    let bounds = Duration::from_millis(100)..=Duration::from_secs(3_600);
    parse_duration(text).filter(|duration| bounds.contains(duration))
}

fn parse_retention(text: &str) -> Option<Duration> {
    parse_long_duration(text).filter(|duration| *duration >= A_DAY)
}

fn parse_archive_after(text: &str) -> Option<Option<Duration>> {
    if text == "0" {
        return Some(None);
    }
    let least = Duration::from_millis(ARCHIVED_AFTER_AT_LEAST_MS);
    parse_long_duration(text).filter(|duration| *duration >= least).map(Some)
}

fn parse_session_idle(text: &str) -> Option<Duration> {
    let bounds = Duration::from_secs(1)..=Duration::from_secs(12 * 3_600);
    parse_duration(text).filter(|duration| bounds.contains(duration))
}

const fn default_reconcile_at() -> Option<NaiveTime> {
    NaiveTime::from_hms_opt(5, 0, 0)
}

fn parse_reconcile_at(text: &str) -> Option<Option<NaiveTime>> {
    if text == "off" {
        return Some(None);
    }
    NaiveTime::parse_from_str(text, "%H:%M").ok().map(Some)
}

fn parse_plain_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    (matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain && url.fragment().is_none())
        .then_some(url)
}

fn log(settings: &mut Settings, environment: Environment) -> LogConfig {
    let format = settings.read("log-format", "human or json", |text| match text {
        "human" => Some(LogFormat::Human),
        "json" => Some(LogFormat::Json),
        _ => None,
    });
    let level = settings.read("log-level", "off, error, warn, info, debug or trace", |text| match text {
        "off" => Some(LogLevel::Off),
        "error" => Some(LogLevel::Error),
        "warn" => Some(LogLevel::Warn),
        "info" => Some(LogLevel::Info),
        "debug" => Some(LogLevel::Debug),
        "trace" => Some(LogLevel::Trace),
        _ => None,
    });
    let default_format = match environment {
        Environment::Development => LogFormat::Human,
        Environment::Production => LogFormat::Json,
    };
    let refusals = settings.read("log-refusals", "true or false", |text| text.parse().ok());
    LogConfig {
        format: format.unwrap_or(default_format),
        level: level.unwrap_or(LogLevel::Info),
        refusals: refusals.unwrap_or(environment == Environment::Development),
    }
}

fn checkout(settings: &mut Settings) -> CheckoutConfig {
    let least =
        settings.read("min-installment", "1 to 9999999999 cents", |text| number(text, 1, Money::MAX.cents()));
    let mut tries = |name, default| {
        settings.read(name, "1 to 1000 cards an hour", |text| number(text, 1, 1_000)).unwrap_or(default)
    };
    CheckoutConfig {
        tries_per_link: tries("checkout-tries-per-link", DEFAULT_TRIES_PER_LINK),
        tries_per_network: tries("checkout-tries-per-network", DEFAULT_TRIES_PER_NETWORK),
        min_installment: Money::from_cents(least.unwrap_or(DEFAULT_MIN_INSTALLMENT)),
    }
}

fn sandbox_defaults(settings: &mut Settings) -> SandboxDefaults {
    let settle_after = settings.read("sandbox-settle-after", DURATION_FORM, parse_duration);
    let time_out = settings.read("sandbox-time-out", TIME_OUT_FORM, parse_time_out);
    SandboxDefaults {
        settle_after: settle_after.unwrap_or(DEFAULT_SETTLE_AFTER),
        time_out: time_out.unwrap_or(DEFAULT_SANDBOX_TIME_OUT),
    }
}

#[cfg(test)]
mod released;
#[cfg(test)]
mod tests;
