//! The command line: parse, dispatch, exit code.
//!
//! Stdout carries the result alone (a key, a secret, a record); everything else goes to stderr. Exit codes: 0
//! done, 1 failed, 2 wrong usage.

pub mod failure;
pub mod flags;

mod api;
mod applications;
mod audit;
mod audited;
mod backup;
mod checkout;
mod cnab;
mod command_store;
mod doctor;
mod http_client;
mod json_text;
mod keys;
mod known_names;
mod listen;
mod load;
mod logs;
mod manual;
mod merchants;
mod movements;
mod operators;
mod output;
mod payments;
mod people;
mod privacy;
mod reconcile;
#[cfg(test)]
mod released;
mod routing;
mod sandbox;
mod secrets;
mod start;
mod store;
mod table;
#[cfg(test)]
mod test_server;
mod trigger;
mod users;
mod values;

use std::collections::BTreeSet;
use std::env;
use std::process::ExitCode;

use actix_web::rt::System;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};

use crate::build_info::version_line;
use crate::core_dumps;
use failure::Failure;
use flags::ServiceFlags;
use quita_config::settings::Settings;

/// Payments in Brazil by PIX, boleto and credit card.
#[derive(Debug, Parser)]
#[command(name = "quita", version = version_line(), arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service
    Serve(ServiceFlags),
    /// Create, list and revoke API keys
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// Show a merchant's applications, and set their endpoints and origins
    #[command(subcommand)]
    Applications(applications::ApplicationsCommand),
    /// Create, list and remove users of the merchants' console
    #[command(subcommand)]
    Users(users::UsersCommand),
    /// Show and change the name, contact and logo that a merchant's payers see
    #[command(subcommand)]
    Merchants(merchants::MerchantsCommand),
    /// Show and rotate webhook secrets
    #[command(subcommand)]
    Secrets(secrets::SecretsCommand),
    /// Verify and export the audit log
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Compare the page of a payment link with what this version serves
    #[command(subcommand)]
    Checkout(checkout::CheckoutCommand),
    /// Create, read and list payments, through the running service
    #[command(subcommand)]
    Payments(payments::PaymentsCommand),
    /// List refunds of all payments, through the running service
    #[command(subcommand)]
    Refunds(movements::RefundsCommand),
    /// List disputes about all payments, through the running service
    #[command(subcommand)]
    Disputes(movements::DisputesCommand),
    /// Trigger an event with a sandbox payment, to test a webhook receiver
    Trigger(trigger::TriggerCommand),
    /// Move a sandbox payment by hand, through the running service
    #[command(subcommand)]
    Sandbox(sandbox::SandboxCommand),
    /// Receive webhooks during development, and check their signatures
    Listen(listen::ListenCommand),
    /// Show API requests that were refused, through the running service
    #[command(subcommand)]
    Logs(logs::LogsCommand),
    /// Load-test a running service, verifying every payment and every event
    Load(load::LoadCommand),
    /// Back up the embedded store while the service runs
    Backup(backup::BackupCommand),
    /// Inspect the store, and upgrade its stored form
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Erase the personal data of payers of finished payments
    #[command(subcommand)]
    Privacy(privacy::PrivacyCommand),
    /// Read banks' return files for boletos (CNAB)
    #[command(subcommand)]
    Cnab(cnab::CnabCommand),
    /// Explain which acquirer payments would go to, and why
    #[command(subcommand)]
    Routing(routing::RoutingCommand),
    /// Compare acquirers' lists or banks' return files with the payments
    Reconcile(reconcile::ReconcileCommand),
    /// Check configuration, store, clock, acquirers and secrets, and suggest a fix for each problem
    Doctor(doctor::DoctorCommand),
    /// Print a shell completion script
    Completions(manual::CompletionsCommand),
    /// Print a manual page, or write all of them
    Man(manual::ManCommand),
}

/// Runs the program with the arguments and the environment of this process.
pub fn main() -> ExitCode {
    // Wrong usage, `--help` and `--version` end here, with exit codes 2, 0 and 0.
    let cli = Cli::try_parse()
        .unwrap_or_else(|error| load::with_variables(with_way_to_listen(with_way_to_key(error))).exit());
    if let Err(error) = core_dumps::forbid_files() {
        output::note(&format!(
            "core dumps could not be disabled, and may contain secrets from memory: {error}"
        ));
    }
    match System::new().block_on(run(cli.command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let message = failure.to_string();
            if !message.is_empty() {
                output::note(&message);
            }
            failure.exit_code()
        }
    }
}

/// Extends the error for a missing API key with ways to pass one and to get one.
fn with_way_to_key(mut error: clap::Error) -> clap::Error {
    let is_key = |argument: &String| argument.split(' ').next() == Some("--key");
    let lacks_key = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (_, Some(ContextValue::Strings(missing))) => missing.iter().any(is_key),
        // A variable may be set but empty, for example when the command that should print a key has failed.
        (ErrorKind::InvalidValue, Some(ContextValue::String(empty))) => is_key(empty),
        _ => false,
    };
    if lacks_key {
        let tip = "set QUITA_KEY, or pass --key; `quita keys create --merchant NAME` creates a key";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Extends the error for `--port`, which other services have, with our flag.
fn with_way_to_listen(mut error: clap::Error) -> clap::Error {
    let is_port = |argument: &str| argument.split('=').next() == Some("--port");
    let is_meant =
        matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(name)) if is_port(name));
    if error.kind() == ErrorKind::UnknownArgument && is_meant {
        let tip = "the address and port are one flag: --listen 127.0.0.1:8080";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Variables that commands read and that are no options of the service, such as `QUITA_KEY`.
fn variables() -> Vec<String> {
    let mut found = BTreeSet::from([listen::SECRET_VARIABLE.to_owned()]);
    add_variables(&Cli::command(), &mut found);
    found.into_iter().collect()
}

fn add_variables(command: &clap::Command, found: &mut BTreeSet<String>) {
    let variables = command.get_arguments().filter_map(|argument| argument.get_env()?.to_str());
    found.extend(variables.map(str::to_owned));
    command.get_subcommands().for_each(|command| add_variables(command, found));
}

impl Command {
    /// Returns true if unknown variables are refused before the command runs. Commands that read settings refuse them
    /// with everything else that is wrong. `completions` and `man` print the same in every environment.
    const fn checks_variables_first(&self) -> bool {
        match self {
            Self::Checkout(_)
            | Self::Payments(_)
            | Self::Refunds(_)
            | Self::Disputes(_)
            | Self::Trigger(_)
            | Self::Sandbox(_)
            | Self::Listen(_)
            | Self::Logs(_)
            | Self::Load(_)
            | Self::Cnab(_) => true,
            Self::Serve(_)
            | Self::Keys(_)
            | Self::Applications(_)
            | Self::Users(_)
            | Self::Merchants(_)
            | Self::Secrets(_)
            | Self::Audit(_)
            | Self::Backup(_)
            | Self::Store(_)
            | Self::Privacy(_)
            | Self::Routing(_)
            | Self::Reconcile(_)
            | Self::Doctor(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

async fn run(command: Command) -> Result<(), Failure> {
    if command.checks_variables_first() {
        Settings::refuse_unknown_variables(env::vars_os(), &variables())?;
    }
    match command {
        Command::Serve(flags) => start::run(flags).await,
        Command::Keys(command) => keys::run(command).await,
        Command::Applications(command) => applications::run(command).await,
        Command::Users(command) => users::run(command).await,
        Command::Merchants(command) => merchants::run(command).await,
        Command::Secrets(command) => secrets::run(command).await,
        Command::Audit(command) => audit::run(command).await,
        Command::Checkout(command) => checkout::run(command).await,
        Command::Payments(command) => payments::run(command).await,
        Command::Refunds(command) => movements::refunds(command).await,
        Command::Disputes(command) => movements::disputes(command).await,
        Command::Trigger(command) => trigger::run(command).await,
        Command::Sandbox(command) => sandbox::run(command).await,
        Command::Listen(command) => listen::run(command).await,
        Command::Logs(command) => logs::run(command).await,
        Command::Load(command) => load::run(command).await,
        Command::Backup(command) => backup::run(command).await,
        Command::Store(command) => store::run(command).await,
        Command::Privacy(command) => privacy::run(command).await,
        Command::Cnab(command) => cnab::run(command),
        Command::Routing(command) => routing::run(command).await,
        Command::Reconcile(command) => reconcile::run(command).await,
        Command::Doctor(command) => doctor::run(command).await,
        Command::Completions(command) => manual::completions(command, Cli::command()),
        Command::Man(command) => manual::man(command, Cli::command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_variables_of_every_command_are_known_and_none_is_an_option() {
        let variables = variables();
        for known in ["QUITA_KEY", "QUITA_SECRET", "QUITA_URL", "QUITA_LOAD_RATE", "QUITA_RECEIVER_LISTEN"] {
            assert!(variables.iter().any(|variable| variable == known), "{known} not in {variables:?}");
        }
        for option in quita_config::option::OPTIONS {
            assert!(!variables.contains(&option.variable()), "{}", option.name);
        }
    }

    #[test]
    fn every_option_but_a_secret_is_a_flag_of_serve() {
        let command = Cli::command();
        let serve = command.find_subcommand("serve").unwrap();
        for option in quita_config::option::OPTIONS {
            let is_flag = serve.get_arguments().any(|argument| argument.get_long() == Some(option.name));
            assert_eq!(is_flag, !option.is_secret, "{}", option.name);
        }
    }

    #[test]
    fn usage_is_wrong_without_a_command_or_with_an_unknown_flag() {
        for line in [
            "quita",
            "quita fly",
            "quita backup",
            "quita backup a b",
            "quita store",
            "quita store upgrade --rate 0",
            "quita store upgrade --backup a --i-have-a-backup",
            "quita audit",
            "quita audit verify --continues 7",
            "quita audit export --since yesterday",
            "quita checkout",
            "quita checkout verify",
            "quita checkout verify pay.example.com",
            "quita cnab",
            "quita cnab read",
            "quita routing",
            "quita routing evaluate --file x",
            "quita routing replay --since 7d",
            "quita routing replay --since week --with x",
            "quita routing evaluate --file x --merchant a --mode prod",
            "quita routing evaluate --file x --merchant a --at today",
            "quita routing evaluate --file x --merchant a --dice -1",
            "quita reconcile",
            "quita reconcile --cnab",
            "quita reconcile --acquirer bank --cnab a.ret",
            "quita reconcile --acquirer bank --since yesterday",
            "quita reconcile --cnab a.ret --since 2026-11-22",
            "quita keys",
            "quita keys create",
            "quita keys create --merchant a --mode prod",
            "quita keys create --merchant a --scopes all",
            "quita keys create --merchant a --expires-in 90",
            "quita keys revoke",
            "quita users create --merchant a --email nobody",
            "quita users create --merchant a --email a@b.c --role king",
            "quita payments",
            "quita payments get 7 --key x",
            "quita payments create --key x --method cash",
            "quita payments create --key x --card 4242424242424242",
            "quita payments create --key x --file body.json --amount 1",
            "quita payments list --key x --limit 101",
            "quita payments list --key x --status new",
            "quita trigger payment.refund_failed --key x",
            "quita trigger --key x",
            "quita listen --events payment.initial",
            "quita merchants set-profile --merchant a",
            "quita merchants set-profile --display-name a",
            "quita sandbox explode 00000000-0000-7000-8000-000000000000 --key x",
            "quita sandbox pay not-an-id --key x",
            "quita privacy",
            "quita privacy erase",
            "quita privacy erase --transaction 7",
            "quita privacy erase --document 52998224726",
            "quita privacy erase --document 52998224725 --transaction 00000000-0000-7000-8000-000000000000",
            "quita privacy erase --document 52998224725 --paid-before 180",
            "quita listen --answer 700",
            "quita logs",
            "quita logs tail --key x --lines 401",
            "quita logs tail --key x --status 199",
            "quita logs tail --key x --status 6xx",
            "quita logs tail --key x --code wrong",
            "quita load --key x --mix cash=1",
            "quita load --key x --rate 5 --concurrency 5",
            "quita load --key x --stages 10s",
            "quita load --key x --stages 10s:5 --rate 5",
            "quita load --key x --stages 10s:5 --duration 10s",
            "quita load --key x --fail-if create.p99>50",
            "quita load --rate 5 compare a.json b.json",
            "quita load compare a.json",
            "quita load --key x --rate 0",
            "quita load --key x --receiver-fail 101%",
            "quita load --key x --duration 30",
            "quita serve --secret-key x",
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn a_port_alone_is_told_as_the_flag_that_has_it() {
        for line in ["quita serve --port 9000", "quita serve --port=9000", "quita listen --port 9000"] {
            let error = with_way_to_listen(Cli::try_parse_from(line.split(' ')).unwrap_err());
            assert!(error.to_string().contains("--listen 127.0.0.1:8080"), "{line}: {error}");
        }
        let other = with_way_to_listen(Cli::try_parse_from(["quita", "serve", "--ports"]).unwrap_err());
        assert!(!other.to_string().contains("127.0.0.1:8080"), "{other}");
    }
}
