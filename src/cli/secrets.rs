//! `quita secrets`: show and rotate the webhook secrets of an application, of one mode.

use clap::{Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;

use super::audited;
use super::failure::Failure;
use super::flags::{ServiceFlags, StoreFlags};
use super::keys::{ApplicationArgs, mode, office};
use super::output;
use crate::acquirers::Site;
use crate::config::Config;
use crate::config::acquirer::AdapterConfig;
use crate::http::Keys;
use crate::service::audit::AuditDraft;

/// What is done with secrets.
#[derive(Debug, Subcommand)]
pub(super) enum SecretsCommand {
    /// Print the secret of a mode, alone; the newest first when several are valid
    Show(SecretArgs),
    /// Make a new secret and print it; those before follow, each valid for 24 hours after it was replaced
    Rotate(SecretArgs),
    /// Print what authenticates an acquirer's notices: the sandbox's signing secret, the whole address to which a bank
    /// calls back, the value of Cielo's header
    Notification(NotificationArgs),
}

/// Which acquirer's secret.
#[derive(Debug, Args)]
pub(super) struct NotificationArgs {
    /// Name of a configured acquirer
    #[arg(id = "name", value_name = "NAME")]
    acquirer: String,
    #[command(flatten)]
    service: ServiceFlags,
}

/// Whose secret.
#[derive(Debug, Args)]
pub(super) struct SecretArgs {
    #[command(flatten)]
    application: ApplicationArgs,
    /// test or live: what one signs never verifies with the secret of the other
    #[arg(long, default_value = "test", value_parser = mode)]
    mode: Mode,
    #[command(flatten)]
    store: StoreFlags,
}

pub(super) async fn run(command: SecretsCommand) -> Result<(), Failure> {
    let secrets = match command {
        SecretsCommand::Notification(NotificationArgs { acquirer, service }) => {
            vec![notification_secret(&acquirer, &Config::from_settings(service.settings())?)?]
        }
        SecretsCommand::Show(SecretArgs { application, mode, store }) => {
            let (merchant, application) = application.names();
            let (access, audit) = office(store).await?;
            let secrets = access.secrets(&merchant, &application, mode).await?;
            let draft =
                AuditDraft::of(&merchant, AuditAction::SecretShown, &application).after(mode.as_str());
            audited::note(&audit, draft).await;
            secrets
        }
        SecretsCommand::Rotate(SecretArgs { application, mode, store }) => {
            let (merchant, application) = application.names();
            let (access, audit) = office(store).await?;
            let secrets = access.rotate_secret(&merchant, &application, mode).await?;
            let draft =
                AuditDraft::of(&merchant, AuditAction::SecretRotated, &application).after(mode.as_str());
            audited::note(&audit, draft).await;
            secrets
        }
    };
    secrets.iter().try_for_each(|secret| output::result(secret))
}

/// What authenticates notices of an acquirer: configured, or derived from the service's secret key. Nothing is stored.
fn notification_secret(acquirer: &str, config: &Config) -> Result<String, Failure> {
    let Some(found) = config.acquirers.iter().find(|known| known.spec.name.as_str() == acquirer) else {
        let known: Vec<_> = config.acquirers.iter().map(|known| known.spec.name.as_str()).collect();
        let known = known.join(", ");
        return Err(Failure::failed(format!("no acquirer {acquirer} is configured; there are: {known}")));
    };
    let site = Site::of(config);
    Ok(match &found.adapter {
        AdapterConfig::Sandbox(sandbox) => {
            Keys::new(config.secret_key.expose()).notification_secret(&found.spec.name, sandbox).reveal()
        }
        AdapterConfig::ApiPix(api_pix) => {
            output::note("The address to which the bank calls back; whoever knows it may send hints:");
            site.callback_address(found, api_pix)
        }
        AdapterConfig::Cielo(cielo) => {
            let (header, address) = (&cielo.settings.notification_header, site.notifications(found));
            output::note(&format!(
                "Cielo sends this in the header {header} of its notifications to {address}:"
            ));
            cielo.settings.notification_secret.expose().clone()
        }
    })
}
