//! Command-line flags of the configuration, generated from the table of options.

use std::convert::identity;
use std::env;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use quita_config::option::{CONFIG_FILE, ConfigOption, OPTIONS, secrets};
use quita_config::option_groups::heading_of;
use quita_config::settings::Settings;

type Values = Vec<(&'static str, String)>;

/// Flags for every option of the service.
#[derive(Debug, Clone, Default)]
pub struct ServiceFlags(Values);

/// Flags of commands that only need the store.
#[derive(Debug, Clone, Default)]
pub struct StoreFlags(Values);

/// Flags of commands that need the store and its secret keys.
#[derive(Debug, Clone, Default)]
pub struct StoreAccessFlags(Values);

impl ServiceFlags {
    /// Replaces the value of one option.
    #[must_use]
    pub fn with(mut self, option: &'static str, value: String) -> Self {
        self.0.retain(|(name, _)| *name != option);
        self.0.push((option, value));
        self
    }
}

fn of_service() -> impl Iterator<Item = ConfigOption> {
    [CONFIG_FILE].into_iter().chain(OPTIONS).filter(|option| !option.is_secret)
}

fn of_store() -> impl Iterator<Item = ConfigOption> {
    of_service().filter(|option| matches!(option.name, "config" | "store"))
}

fn of_store_access() -> impl Iterator<Item = ConfigOption> {
    of_service().filter(|option| matches!(option.name, "config" | "store" | "secret-key-file"))
}

/// Returns the end of the help text: the secrets, which have no flags.
fn secret_variables() -> String {
    let acquirers = "QUITA_ACQUIRER_{NAME}_{KEY}";
    let own = secrets().map(|secret| (secret.variable(), secret.help));
    let others =
        "A secret of an acquirer, such as QUITA_ACQUIRER_BANK_CLIENT_SECRET for [[acquirer]] name = \"bank\"";
    let all = own.chain([(acquirers.into(), others)]);
    let lines: String = all.map(|(variable, help)| format!("\n  {variable}\n          {help}")).collect();
    format!("Secrets, which come from the environment or a file and never from a flag:{lines}")
}

fn augment(command: Command, options: impl Iterator<Item = ConfigOption>) -> Command {
    options.fold(command, |command, option| {
        let help = format!("{} [env: {}]", option.help, option.variable());
        let arg = Arg::new(option.name).long(option.name).value_name(option.value_name).help(help);
        let arg = arg.help_heading(heading_of(option.name));
        command.arg(arg.allow_negative_numbers(true))
    })
}

fn values(matches: &ArgMatches, options: impl Iterator<Item = ConfigOption>) -> Values {
    options
        .filter_map(|option| Some((option.name, matches.get_one::<String>(option.name)?.clone())))
        .collect()
}

fn with_secrets(command: Command) -> Command {
    command.after_help(secret_variables())
}

/// Implements a set of flags from a function that yields its options and one that completes the help.
macro_rules! flags_of {
    ($flags:ident, $options:path, $finish:path) => {
        impl $flags {
            /// Gathers the settings from flags, environment and file.
            pub fn settings(self) -> Settings {
                Settings::gather_among(self.0, env::vars_os(), &super::variables())
            }
        }

        impl Args for $flags {
            fn augment_args(command: Command) -> Command {
                $finish(augment(command, $options()))
            }

            fn augment_args_for_update(command: Command) -> Command {
                $finish(augment(command, $options()))
            }
        }

        impl FromArgMatches for $flags {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                Ok(Self(values(matches, $options())))
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

flags_of!(ServiceFlags, of_service, with_secrets);
flags_of!(StoreFlags, of_store, identity);
flags_of!(StoreAccessFlags, of_store_access, identity);
