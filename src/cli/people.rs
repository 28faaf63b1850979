//! Shared parts of the commands for users and operators.

use std::sync::Arc;

use clap::Args;
use quita_domain::audit::AuditAction;
use quita_domain::people::{Login, MailLanguage};
use quita_domain::request::PostbackPolicy;
use quita_domain::secret::Secret;
use quita_domain::time::Timestamp;
use quita_machine::SystemClock;
use serde::Serialize;

use super::audited;
use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::known_names::KnownNames;
use super::{output, table};
use quita_services::audit::{Audit, AuditDraft};
use quita_services::holdings::Keyholders;
use quita_services::people::{
    ChangedWebhook, MessageWebhooks, People, Someone, mailing_in_words, message_webhook_in_words,
};

/// About whom a command is.
#[derive(Debug, Args)]
pub(super) struct PersonArgs {
    /// E-mail address for signing in
    #[arg(value_parser = login)]
    pub(super) email: Login,
    #[command(flatten)]
    pub(super) store: StoreAccessFlags,
}

/// About whose messages a command is, and which there shall be.
#[derive(Debug, Args)]
pub(super) struct MailChange {
    #[command(flatten)]
    person: PersonArgs,
    /// on or off
    #[arg(value_parser = switch)]
    switch: Switch,
    /// Language of the messages: pt-BR or en [default: unchanged, and pt-BR at first]
    #[arg(long, value_name = "TAG", value_parser = language)]
    language: Option<MailLanguage>,
}

/// State of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

/// About whose messages by webhook a command is, and where they shall go.
#[derive(Debug, Args)]
pub(super) struct WebhookChange {
    #[command(flatten)]
    person: PersonArgs,
    /// Address to send messages to, or off
    #[arg(value_name = "URL|off")]
    url: String,
    /// Language of the messages: pt-BR or en [default: unchanged, and pt-BR at first]
    #[arg(long, value_name = "TAG", value_parser = language)]
    language: Option<MailLanguage>,
}

/// Message about a URL that can't receive webhooks.
pub(super) const BAD_WEBHOOK_URL: &str = "the webhook URL must be a complete http or https URL without user, password \
     and fragment; in production, https at a public address";

/// Sets the address of somebody's messages by webhook and prints only the new secret, or turns the messages off.
pub(super) async fn set_webhook<S: Someone>(change: WebhookChange) -> Result<(), Failure> {
    let WebhookChange { person: PersonArgs { email, store }, url, language } = change;
    let access = PeopleAccess::open(store).await?;
    let (before, after, secret) = if url == "off" {
        let (before, after) = access.people.remove_message_webhook::<S>(&email).await?;
        (before, after, None)
    } else {
        if !access.postback.allows(&url) {
            return Err(Failure::failed(BAD_WEBHOOK_URL));
        }
        let ChangedWebhook { before, after, secret } =
            access.webhooks.set::<S>(&email, &url, language).await?;
        (before, after, secret)
    };
    let [was, is] = [&before, &after].map(|person| message_webhook_in_words(person.message_webhook()));
    output::note(&format!("Messages by webhook to {email}: {is}."));
    if before.message_webhook() != after.message_webhook() {
        access.note(after.draft(AuditAction::MessageWebhookChanged).before(was).after(is)).await;
    }
    let Some(secret) = secret else { return Ok(()) };
    output::result(secret.expose())?;
    output::note("The receiver verifies messages with this secret. It is not shown again.");
    Ok(())
}

/// Turns somebody's messages by e-mail on or off.
pub(super) async fn set_mailing<S: Someone>(change: MailChange) -> Result<(), Failure> {
    let MailChange { person: PersonArgs { email, store }, switch, language } = change;
    let access = PeopleAccess::open(store).await?;
    let (before, after) = access.people.set_mailing::<S>(&email, switch == Switch::On, language).await?;
    let [was, is] = [&before, &after].map(|person| mailing_in_words(person.mailing()));
    output::note(&format!("Messages by e-mail to {email}: {is}."));
    access.note(after.draft(AuditAction::MailingChanged).before(was).after(is)).await;
    Ok(())
}

/// Access to people and the audit log, independent of the service.
pub(super) struct PeopleAccess {
    pub(super) people: People,
    pub(super) keyholders: Keyholders,
    pub(super) names: KnownNames,
    webhooks: MessageWebhooks,
    postback: PostbackPolicy,
    audit: Audit,
}

impl PeopleAccess {
    pub(super) async fn open(flags: StoreAccessFlags) -> Result<Self, Failure> {
        let opened = CommandStore::open(flags).await?;
        let keyholders = Keyholders::new(opened.store.clone(), Arc::new(SystemClock));
        let people = opened.people();
        let names = opened.names();
        let postback = opened.postback;
        let webhooks = MessageWebhooks::new(people.clone(), opened.strongbox());
        Ok(Self { people, keyholders, names, webhooks, postback, audit: opened.audit().await? })
    }

    pub(super) async fn note(&self, draft: AuditDraft) {
        audited::note(&self.audit, draft).await;
    }
}

/// Prints a password, and nothing else, to stdout.
pub(super) fn show_once(password: &Secret<String>) -> Result<(), Failure> {
    output::result(password.expose())?;
    output::note(
        "Store it now: it is not shown again. It must be changed at the first sign-in, unless the account is your own.",
    );
    Ok(())
}

/// Prints people in columns, or as JSON.
pub(super) fn print(people: &[impl Someone], json: bool) -> Result<(), Failure> {
    if json {
        return output::json(&people.iter().map(ListedPerson::of).collect::<Vec<_>>());
    }
    table::print(
        ["E-MAIL", "ROLE", "SIGNS IN WITH", "CREATED", "LAST USED"],
        &people.iter().map(row).collect::<Vec<_>>(),
    )
}

fn row(person: &impl Someone) -> [String; 5] {
    let login = output::printable(person.login().as_str());
    let factor = if has_second_factor(person) { "second factor" } else { "password only" };
    let credentials = person.credentials();
    let used = match (credentials.disabled_at, used_at(person)) {
        (Some(at), _) => format!("disabled {at}: unused for 90 days, reset-password enables it"),
        (None, Some(at)) => at.to_string(),
        (None, None) if person.is_never_used() => "never".into(),
        (None, None) => "unknown".into(),
    };
    [login, person.role().into(), factor.into(), person.created_at().to_string(), used]
}

/// Returns the time of the last sign-in, to the day. `None` if there was none, or none is known.
fn used_at(person: &impl Someone) -> Option<Timestamp> {
    person.credentials().active_at.filter(|_| !person.is_never_used())
}

fn has_second_factor(person: &impl Someone) -> bool {
    person.credentials().second_factor.is_some()
}

/// Person as JSON for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedPerson<'a> {
    email: &'a str,
    role: &'static str,
    has_second_factor: bool,
    /// Choice about messages by e-mail: `off`, or `on` with the language.
    mail: String,
    /// Host that receives messages by webhook, with their language, or `off`.
    webhook: String,
    created_at: String,
    /// Time of the last sign-in, to the day; `null` before the first one. A new password that somebody else gave counts
    /// as a sign-in.
    active_at: Option<String>,
    /// Time at which the account was disabled because it had not been used for 90 days.
    disabled_at: Option<String>,
}

impl<'a> ListedPerson<'a> {
    fn of(person: &'a impl Someone) -> Self {
        Self {
            email: person.login().as_str(),
            role: person.role(),
            has_second_factor: has_second_factor(person),
            mail: mailing_in_words(person.mailing()),
            webhook: message_webhook_in_words(person.message_webhook()),
            created_at: person.created_at().to_string(),
            active_at: used_at(person).map(|at| at.to_string()),
            disabled_at: person.credentials().disabled_at.map(|at| at.to_string()),
        }
    }
}

fn switch(text: &str) -> Result<Switch, String> {
    match text {
        "on" => Ok(Switch::On),
        "off" => Ok(Switch::Off),
        _ => Err("must be on or off".into()),
    }
}

fn language(text: &str) -> Result<MailLanguage, String> {
    let known = MailLanguage::ALL.map(MailLanguage::as_str).join(", ");
    MailLanguage::parse(text).ok_or_else(|| format!("known languages are {known}"))
}

pub(super) fn login(text: &str) -> Result<Login, String> {
    Login::parse(text).ok_or_else(|| "must be an e-mail address, such as ana@example.com".into())
}
