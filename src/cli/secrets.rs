//! `quita secrets`: show and rotate the webhook secret of an application.

use clap::{Args, Subcommand};

use super::failure::Failure;
use super::flags::StoreFlags;
use super::keys::{ApplicationArgs, access};
use super::output;

/// What is done with secrets.
#[derive(Debug, Subcommand)]
pub(super) enum SecretsCommand {
    /// Print the secret, alone; the newest first when two are live
    Show(SecretArgs),
    /// Make a new secret and print it; the one before still signs for 24 hours, and follows it
    Rotate(SecretArgs),
}

/// Whose secret.
#[derive(Debug, Args)]
pub(super) struct SecretArgs {
    #[command(flatten)]
    application: ApplicationArgs,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) async fn run(command: SecretsCommand) -> Result<(), Failure> {
    let secrets = match command {
        SecretsCommand::Show(SecretArgs { application, store }) => {
            let (merchant, application) = application.names();
            access(store).await?.secrets(&merchant, &application).await?
        }
        SecretsCommand::Rotate(SecretArgs { application, store }) => {
            let (merchant, application) = application.names();
            access(store).await?.rotate_secret(&merchant, &application).await?
        }
    };
    secrets.iter().try_for_each(|secret| output::result(secret))
}
