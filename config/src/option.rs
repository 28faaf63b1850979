//! Every option, listed once: flags, environment and file all read this table.

/// One option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigOption {
    /// Its name: `--name` as a flag, `QUITA_NAME` in the environment, `name` in the file.
    pub name: &'static str,
    /// Placeholder of its value in the help.
    pub value_name: &'static str,
    /// Sentence for the help.
    pub help: &'static str,
    /// True if its value may only come from the environment.
    pub is_secret: bool,
    /// True if its value may contain a password, so that no message repeats it.
    pub is_confidential: bool,
}

impl ConfigOption {
    /// Returns the variable that sets it.
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name.to_ascii_uppercase().replace('-', "_"))
    }

    /// Returns true if its value is an array of tables: `[[name]]` in the file.
    pub fn is_array_of_tables(&self) -> bool {
        self.value_name == TABLES
    }
}

/// Placeholder for the value of an option that contains tables.
const TABLES: &str = "TOML";

/// Prefix of every variable of ours.
pub const VARIABLE_PREFIX: &str = "QUITA_";

/// The file itself: a flag and a variable, but not a key of the file.
pub const CONFIG_FILE: ConfigOption =
    option("config", "FILE", "TOML file with any of the other options [default: none]");

/// Every option of the service.
pub const OPTIONS: [ConfigOption; 40] = [
    option("listen", "ADDRESS", "Where merchants and payers are served [default: 127.0.0.1:8080]"),
    option(
        "ops-listen",
        "ADDRESS",
        "Where operators are served: health, metrics, console [default: 127.0.0.1:9090]",
    ),
    option(
        "ops-hosts",
        "NAMES",
        "Host names under which the operator's pages are served, besides loopback [default: none]",
    ),
    option("public-url", "URL", "Public address of this service [default: http://LISTEN]"),
    ConfigOption {
        is_confidential: true,
        ..option(
            "store",
            "URL",
            "sqlite:PATH or mongodb://…/DATABASE?replicaSet=… [default: sqlite:data/quita.db]",
        )
    },
    option("environment", "NAME", "development or production [default: development]"),
    option(
        "rate-limit",
        "N",
        "Requests a second for each key, 0 for no limit [default: 0 in development, 200 in production]",
    ),
    option("log-format", "NAME", "human or json [default: human in development, json in production]"),
    option("log-level", "LEVEL", "off, error, warn, info, debug or trace [default: info]"),
    option(
        "log-refusals",
        "BOOL",
        "true to log each refused request of the API [default: true in development, false in production]",
    ),
    option(
        "shutdown-time",
        "DURATION",
        "How long accepted work may take to finish after SIGTERM [default: 10s]",
    ),
    option(
        "idle-after",
        "DURATION",
        "How long a transaction's actor stays in memory after its last message [default: 3s]",
    ),
    option(
        "session-idle",
        "DURATION",
        "How long a console session lasts without an action, 1s to 12h [default: 15m]",
    ),
    option(
        "operators-need-second-factor",
        "BOOL",
        "true if operators without a second factor set one up before anything else [default: false in development, true \
         in production]",
    ),
    option("max-installments", "N", "Maximum number of instalments of a card payment, 1 to 12 [default: 12]"),
    option(
        "min-installment",
        "CENTS",
        "Smallest instalment that the page of a payment link offers, in cents [default: 500]",
    ),
    option(
        "checkout-tries-per-link",
        "N",
        "Cards that may be tried at one payment link within an hour without approval [default: 5]",
    ),
    option(
        "checkout-tries-per-network",
        "N",
        "Cards that one network may try at all payment links within an hour without approval [default: 10]",
    ),
    option(
        "sandbox-settle-after",
        "DURATION",
        "Time until the payer of a sandbox pays, if the sandbox has no setting of its own [default: 2s]",
    ),
    option(
        "sandbox-time-out",
        "DURATION",
        "Time-out of a call to a sandbox that has none of its own [default: 2s]",
    ),
    option(
        "acquirer",
        TABLES,
        "Acquirers as a TOML array of tables; [[acquirer]] in the file [default: two sandboxes in \
         development, none in production]",
    ),
    option(
        "route",
        TABLES,
        "Rules that decide which acquirer is tried first, as a TOML array of tables; [[route]] in the file \
         [default: none]",
    ),
    option(
        "cost",
        TABLES,
        "What acquirers charge for a payment, as a TOML array of tables; [[cost]] in the file [default: none]",
    ),
    option(
        "routing-prefer",
        "NAME",
        "What decides among acquirers of equal priority: priority (their weights), or net (what is left after \
         costs, by how often each approves) [default: priority]",
    ),
    option(
        "routing-sticky",
        "BOOL",
        "true to send the same payer's document to the same acquirer where weights decide [default: false]",
    ),
    option(
        "reconcile-at",
        "TIME",
        "Time of day in Brasília at which yesterday's acquirer lists are compared with the payments; off for never \
         [default: 05:00]",
    ),
    option(
        "retain-personal-data",
        "DURATION",
        "How long the payer is kept after a payment has finished, such as 5y; then it is erased [default: for ever]",
    ),
    option(
        "archive-after",
        "DURATION",
        "How long a payment rests before it is archived, once nothing more is expected of it, such as 1y; 0 for never \
         [default: never]",
    ),
    option(
        "behind-proxy",
        "BOOL",
        "true if every connection comes through a proxy that adds the client's address to X-Forwarded-For \
         [default: false]",
    ),
    ConfigOption {
        is_confidential: true,
        ..option(
            "otlp-endpoint",
            "URL",
            "Collector that traces are sent to, by OTLP over HTTP [default: none]",
        )
    },
    option("otlp-sample", "PERCENT", "Share of traces that is recorded [default: 100%]"),
    ConfigOption {
        is_confidential: true,
        ..option(
            "mail-server",
            "URL",
            "Mail server for messages to owners and operators: smtp://HOST:PORT with STARTTLS, or smtps://HOST:PORT \
             [default: none, and no messages]",
        )
    },
    option("mail-from", "ADDRESS", "Sender of these messages; needed with mail-server [default: none]"),
    option("mail-user", "NAME", "User at the mail server, if it asks for a password [default: MAIL-FROM]"),
    option(
        "mail-password-file",
        "FILE",
        "File that holds the password for the mail server, instead of QUITA_MAIL_PASSWORD",
    ),
    secret("mail-password", "Password for the mail server"),
    option(
        "operator-password-file",
        "FILE",
        "File that holds the password of the operator's console, instead of QUITA_OPERATOR_PASSWORD",
    ),
    secret("operator-password", "Password of the operator's console, at least 15 characters"),
    option("secret-key-file", "FILE", "File that holds the secret keys, instead of QUITA_SECRET_KEY"),
    secret(
        "secret-key",
        "Key behind payment ids, page addresses and secrets in the store, at least 32 characters; several while it is \
         changed: one a line, newest first",
    ),
];

/// Returns all secrets that only come from the environment.
pub fn secrets() -> impl Iterator<Item = &'static ConfigOption> {
    OPTIONS.iter().filter(|option| option.is_secret)
}

/// Returns the option with this name.
pub fn find(name: &str) -> Option<&'static ConfigOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

const fn option(name: &'static str, value_name: &'static str, help: &'static str) -> ConfigOption {
    ConfigOption { name, value_name, help, is_secret: false, is_confidential: false }
}

const fn secret(name: &'static str, help: &'static str) -> ConfigOption {
    ConfigOption { name, value_name: "", help, is_secret: true, is_confidential: true }
}
