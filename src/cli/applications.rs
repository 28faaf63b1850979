//! `quita applications`: webhook endpoints, and page origins.

use clap::{Args, Subcommand};
use quita_domain::access::{Application, Origins};
use quita_domain::audit::AuditAction;
use quita_domain::card::holds_card_number;
use quita_domain::identity::{MerchantId, Mode, Owner};
use quita_domain::request::PostbackPolicy;
use serde::Serialize;

use super::audited;
use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::keys::{ApplicationArgs, mode, name};
use super::people::BAD_WEBHOOK_URL;
use super::{output, table};
use quita_services::access::{origins_in_words, until_read_everywhere, url_in_words};
use quita_services::audit::AuditDraft;

/// Commands about applications.
#[derive(Debug, Subcommand)]
pub(super) enum ApplicationsCommand {
    /// List a merchant's applications, with the endpoints of their webhooks and the origins of their pages
    List(ListApplications),
    /// Set the webhook URL of payments created without postbackUrl; existing payments keep theirs
    SetWebhook(SetWebhook),
    /// Print or set the origins of the pages that may request card tokens
    Origins(SetOrigins),
}

/// Merchant of the applications.
#[derive(Debug, Args)]
pub(super) struct ListApplications {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Application, and its new endpoint.
#[derive(Debug, Args)]
pub(super) struct SetWebhook {
    #[command(flatten)]
    application: ApplicationArgs,
    /// URL that receives the events, or none
    #[arg(long, value_name = "URL|none")]
    url: String,
    /// test or live
    #[arg(long, default_value = "test", value_parser = mode)]
    mode: Mode,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Application, and its new origins.
#[derive(Debug, Args)]
pub(super) struct SetOrigins {
    #[command(flatten)]
    application: ApplicationArgs,
    /// All origins, comma-separated, such as https://shop.example.com; empty removes all
    #[arg(long, value_name = "ORIGIN,…")]
    set: Option<String>,
    #[command(flatten)]
    store: StoreAccessFlags,
}

pub(super) async fn run(command: ApplicationsCommand) -> Result<(), Failure> {
    match command {
        ApplicationsCommand::List(command) => list(command).await,
        ApplicationsCommand::SetWebhook(command) => set_webhook(command).await,
        ApplicationsCommand::Origins(command) => origins(command).await,
    }
}

async fn list(ListApplications { merchant, json, store }: ListApplications) -> Result<(), Failure> {
    let opened = CommandStore::open(store).await?;
    let merchant = MerchantId::new(merchant);
    opened.names().require_merchant(&merchant).await?;
    let applications = opened.access().applications(&merchant).await?;
    if applications.is_empty() {
        output::note("The merchant has no application; `quita keys create --merchant NAME` creates one.");
    }
    if json {
        return output::json(&applications.iter().map(ListedApplication::of).collect::<Vec<_>>());
    }
    let headers = ["APPLICATION", "TITLE", "CREATED", "WEBHOOK TEST", "WEBHOOK LIVE", "ORIGINS"];
    table::print(headers, &applications.iter().map(row).collect::<Vec<_>>())
}

async fn set_webhook(command: SetWebhook) -> Result<(), Failure> {
    let SetWebhook { application, url, mode, store } = command;
    let opened = CommandStore::open(store).await?;
    let url = if url == "none" { None } else { Some(read_url(url, opened.postback)?) };
    let (merchant, application) = application.names();
    opened.names().require_application(&merchant, &application).await?;
    let owner = Owner { merchant, application, mode };
    let access = opened.access();
    let audit = opened.audit().await?;
    let before = access.set_endpoint(&owner, url.clone()).await?;
    if before != url {
        let [was, is] =
            [&before, &url].map(|url| format!("{} {}", mode.as_str(), url_in_words(url.as_deref())));
        let draft = AuditDraft::of(&owner.merchant, AuditAction::EndpointChanged, &owner.application);
        audited::note(&audit, draft.before(was).after(is)).await;
        until_read_everywhere().await;
    }
    let shown = url.as_deref().map_or_else(|| "none".into(), output::printable);
    output::note(&format!(
        "Payments that {} creates in {} mode without postbackUrl send their events to: {shown}.",
        output::printable(owner.application.as_str()),
        mode.as_str(),
    ));
    Ok(())
}

/// Reads a URL according to the rules of `postbackUrl`.
fn read_url(url: String, policy: PostbackPolicy) -> Result<String, Failure> {
    if !policy.allows(&url) {
        return Err(Failure::usage(BAD_WEBHOOK_URL));
    }
    if holds_card_number(&url) {
        return Err(Failure::usage(
            "the URL contains what looks like a card number, which must not be stored",
        ));
    }
    Ok(url)
}

async fn origins(SetOrigins { application, set, store }: SetOrigins) -> Result<(), Failure> {
    let opened = CommandStore::open(store).await?;
    let access = opened.access();
    let (merchant, application) = application.names();
    opened.names().require_application(&merchant, &application).await?;
    let Some(set) = set else {
        let origins = access.application(&merchant, &application).await?.origins;
        if origins.is_empty() {
            output::note("No page may request card tokens yet; use --set to allow origins.");
        }
        return origins.iter().try_for_each(output::result);
    };
    let texts = set.split(',').map(str::trim).filter(|text| !text.is_empty());
    let origins = Origins::parse(texts, opened.postback == PostbackPolicy::AllowAnything);
    let origins = origins.map_err(Failure::usage)?;
    let audit = opened.audit().await?;
    let before = access.set_origins(&merchant, &application, &origins).await?;
    if before != origins {
        let [was, is] = [&before, &origins].map(origins_in_words);
        let draft = AuditDraft::of(&merchant, AuditAction::OriginsChanged, &application);
        audited::note(&audit, draft.before(was).after(is)).await;
        until_read_everywhere().await;
    }
    origins.iter().try_for_each(output::result)
}

/// Returns the columns of one application.
fn row(application: &Application) -> [String; 6] {
    let endpoint = |mode| application.endpoints.of(mode).map_or_else(|| "none".into(), output::printable);
    [
        output::printable(application.name.as_str()),
        output::printable(application.title()),
        application.created_at.to_string(),
        endpoint(Mode::Test),
        endpoint(Mode::Live),
        origins_in_words(&application.origins),
    ]
}

/// Application as JSON for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedApplication<'a> {
    merchant: &'a str,
    application: &'a str,
    title: &'a str,
    created_at: String,
    webhooks: ListedEndpoints<'a>,
    origins: Vec<&'a str>,
}

/// Endpoint of each mode; null if it has none.
#[derive(Serialize)]
struct ListedEndpoints<'a> {
    test: Option<&'a str>,
    live: Option<&'a str>,
}

impl<'a> ListedApplication<'a> {
    fn of(application: &'a Application) -> Self {
        let endpoint = |mode| application.endpoints.of(mode);
        Self {
            merchant: application.merchant.as_str(),
            application: application.name.as_str(),
            title: application.title(),
            created_at: application.created_at.to_string(),
            webhooks: ListedEndpoints { test: endpoint(Mode::Test), live: endpoint(Mode::Live) },
            origins: application.origins.iter().collect(),
        }
    }
}
