//! `quita secrets`: shows and rotates an application's webhook secrets in one mode.

use clap::{Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::identity::Mode;
use quita_domain::secret_key::SecretKeyId;
use quita_services::secret_keys::{MovedPeople, Strongbox, Unmoved, UnmovedPerson, Which};

use super::audited;
use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::{ServiceFlags, StoreAccessFlags};
use super::keys::{ApplicationArgs, mode};
use super::output;
use crate::acquirers::Site;
use crate::store::{self, Purpose};
use quita_config::Config;
use quita_config::acquirer::AdapterConfig;
use quita_services::audit::AuditDraft;

/// Number of applications whose secrets are re-encrypted in one step.
const REWRAPPED_AT_ONCE: usize = 100;

/// Subcommands of `quita secrets`.
#[derive(Debug, Subcommand)]
pub(super) enum SecretsCommand {
    /// Print the secret of a mode, alone; the newest first when several are valid
    Show(SecretArgs),
    /// Create a new secret and print it; earlier ones follow, each valid for 24 hours after it was replaced
    Rotate(SecretArgs),
    /// Print what authenticates an acquirer's notices: the sandbox's signing secret, the full callback address of a
    /// bank, the value of Cielo's header, user and password of Pagar.me's callbacks
    Notification(NotificationArgs),
    /// Encrypt all secrets of the store with the newest secret key, while the service runs: first give every node that
    /// key, in front of the previous one
    Rewrap(RewrapArgs),
}

/// Arguments of `quita secrets rewrap`.
#[derive(Debug, Args)]
pub(super) struct RewrapArgs {
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Arguments of `quita secrets notification`.
#[derive(Debug, Args)]
pub(super) struct NotificationArgs {
    /// Name of a configured acquirer
    #[arg(id = "name", value_name = "NAME")]
    acquirer: String,
    #[command(flatten)]
    service: ServiceFlags,
}

/// Merchant and mode of the secret.
#[derive(Debug, Args)]
pub(super) struct SecretArgs {
    #[command(flatten)]
    application: ApplicationArgs,
    /// test or live: a signature of one mode never verifies with the secret of the other
    #[arg(long, default_value = "test", value_parser = mode)]
    mode: Mode,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: SecretsCommand) -> Result<(), Failure> {
    let secrets = match command {
        SecretsCommand::Notification(NotificationArgs { acquirer, service }) => {
            vec![notification_secret(&acquirer, &Config::from_settings(service.settings())?).await?]
        }
        SecretsCommand::Rewrap(RewrapArgs { store }) => return rewrap(store).await,
        SecretsCommand::Show(SecretArgs { application, mode, store }) => {
            let opened = CommandStore::open(store).await?;
            let (merchant, application) = application.names();
            opened.names().require_application(&merchant, &application).await?;
            let access = opened.access();
            let audit = opened.audit().await?;
            let secrets = access.secrets(&merchant, &application, mode).await?;
            let draft =
                AuditDraft::of(&merchant, AuditAction::SecretShown, &application).after(mode.as_str());
            audited::note(&audit, draft).await;
            secrets
        }
        SecretsCommand::Rotate(SecretArgs { application, mode, store }) => {
            let opened = CommandStore::open(store).await?;
            let (merchant, application) = application.names();
            opened.names().require_application(&merchant, &application).await?;
            let access = opened.access();
            let audit = opened.audit().await?;
            let secrets = access.rotate_secret(&merchant, &application, mode).await?;
            let draft =
                AuditDraft::of(&merchant, AuditAction::SecretRotated, &application).after(mode.as_str());
            audited::note(&audit, draft).await;
            secrets
        }
    };
    secrets.iter().try_for_each(|secret| output::result(secret))
}

/// Switches the store to the newest secret key, then re-encrypts everything that is encrypted with another one. A
/// repeated call continues where the last one ended.
async fn rewrap(flags: StoreAccessFlags) -> Result<(), Failure> {
    let opened = CommandStore::open(flags).await?;
    let strongbox = opened.strongbox();
    // The store switches first: everything sealed during the following walk already uses the newest key.
    strongbox.work_with_newest(&opened.secret_keys.id_keys()).await?;
    let newest = opened.secret_keys.newest().id();
    output::note(&format!("The store now uses the secret key {newest}; every node follows within 2 s."));
    let mut place = None;
    let mut looked_at = 0_u64;
    let mut sealed = 0_u64;
    let mut unmoved = 0_u64;
    loop {
        let moved = strongbox.move_page(Which::All, place.as_ref(), REWRAPPED_AT_ONCE).await?;
        (looked_at, sealed) =
            (looked_at.saturating_add(moved.looked_at), sealed.saturating_add(moved.sealed));
        for Unmoved { application: (merchant, name), why } in moved.unmoved {
            unmoved = unmoved.saturating_add(1);
            let merchant = output::printable(merchant.as_str());
            let name = output::printable(name.as_str());
            output::note(&format!(
                "The secrets of application {name:?} of {merchant:?} were not changed: {why}."
            ));
        }
        place = moved.next;
        if place.is_none() {
            break;
        }
    }
    if strongbox.move_audit_key(Which::All).await? {
        output::note("The key of the audit log was re-encrypted.");
    }
    let people = rewrap_people(&strongbox).await?;
    // Data sealed with the old key is overwritten too, since that key may be the reason for this command.
    strongbox.forget_replaced().await?;
    output::note(&format!("{sealed} of {looked_at} webhook secrets were re-encrypted."));
    output::note(&format!("Of {} secrets of people, {} were re-encrypted.", people.looked_at, people.sealed));
    let unmoved_people = people.unmoved.len();
    match (unmoved, unmoved_people) {
        (0, 0) => Ok(()),
        _ => Err(Failure::failed(format!(
            "The secrets of {unmoved} applications and of {unmoved_people} people were not changed."
        ))),
    }
}

/// Re-encrypts the secrets of users and operators.
async fn rewrap_people(strongbox: &Strongbox) -> Result<MovedPeople, Failure> {
    let mut all = strongbox.move_operators(Which::All).await?;
    let mut place = None;
    loop {
        let moved = strongbox.move_users(Which::All, place.as_ref(), REWRAPPED_AT_ONCE).await?;
        all.looked_at = all.looked_at.saturating_add(moved.looked_at);
        all.sealed = all.sealed.saturating_add(moved.sealed);
        all.unmoved.extend(moved.unmoved);
        place = moved.next;
        if place.is_none() {
            break;
        }
    }
    for UnmovedPerson { login, why } in &all.unmoved {
        let login = output::printable(login.as_str());
        output::note(&format!("The secrets of {login} were not changed: {why}."));
    }
    Ok(all)
}

/// Returns the value that authenticates an acquirer's notices: configured, or derived from the service's secret key. It
/// is never stored.
async fn notification_secret(acquirer: &str, config: &Config) -> Result<String, Failure> {
    let Some(found) = config.acquirers.iter().find(|known| known.spec.name.as_str() == acquirer) else {
        let known: Vec<_> = config.acquirers.iter().map(|known| known.spec.name.as_str()).collect();
        let known = known.join(", ");
        return Err(Failure::failed(format!(
            "no acquirer {acquirer} is configured; configured are: {known}"
        )));
    };
    let site = match &found.adapter {
        AdapterConfig::Sandbox(_) | AdapterConfig::ApiPix(_) | AdapterConfig::Sicoob(_) => {
            Site::with_key(config, &key_of_service(config).await?)
        }
        AdapterConfig::Cielo(_) | AdapterConfig::Pagarme(_) => Site::of(config),
    };
    Ok(match &found.adapter {
        AdapterConfig::Sandbox(sandbox) => {
            let secret = site.notification_secret(&found.spec.name, sandbox);
            secret.map(|secret| secret.reveal()).unwrap_or_default()
        }
        AdapterConfig::ApiPix(api_pix) => {
            output::note(
                "The address to which the bank sends callbacks; anyone who knows it can send notices:",
            );
            site.callback_address(found, &api_pix.callbacks)
        }
        AdapterConfig::Sicoob(sicoob) => {
            output::note(
                "The address to which the bank sends callbacks; anyone who knows it can send notices:",
            );
            site.callback_address(found, &sicoob.callbacks)
        }
        AdapterConfig::Cielo(cielo) => {
            let header = &cielo.settings.notification_header;
            let address = site.notifications(found);
            output::note(&format!(
                "Cielo sends this in the header {header} of its notifications to {address}:"
            ));
            cielo.settings.notification_secret.expose().clone()
        }
        AdapterConfig::Pagarme(pagarme) => {
            let settings = &pagarme.settings;
            let address = site.notifications(found);
            output::note(&format!("Pagar.me authenticates its callbacks to {address} with this (Basic):"));
            format!("{}:{}", settings.notification_user, settings.notification_password.expose())
        }
    })
}

/// Returns the key with which the service seals new data: the one recorded in its store, or the newest before a store
/// exists.
async fn key_of_service(config: &Config) -> Result<SecretKeyId, Failure> {
    let store = match store::open(&config.store, Purpose::Maintenance).await {
        Ok(store) => store,
        Err(error) => {
            let newest = config.secret_keys.newest().id();
            output::note(&format!(
                "The store could not be queried ({error}). This is derived from the secret key {newest}:"
            ));
            return Ok(newest);
        }
    };
    Ok(config.secret_keys.strongbox(store).current().await?)
}
