//! `quita keys`: create, list, revoke.

use std::time::Duration;

use clap::{Args, Subcommand};
use quita_domain::access::{ApiKey, KeyKind, Scope};
use quita_domain::audit::AuditAction;
use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
use quita_domain::time::{DAY_MS, Timestamp, millis_in};
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde::Serialize;

use super::audited;
use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::values::key_id;
use super::{output, table};
use quita_config::duration::{DURATION_FORM, parse_duration};
use quita_services::access::{DEFAULT_APPLICATION, DEFAULT_KEY_LIFE, NewKey};
use quita_services::audit::AuditDraft;

/// Subcommands of `quita keys`.
#[derive(Debug, Subcommand)]
pub(super) enum KeysCommand {
    /// Create a key and print it: it is shown only once
    Create(CreateKey),
    /// List all keys, without their secrets
    List(ListKeys),
    /// Revoke a key: it stops working within 5 seconds
    Revoke(Revoke),
}

/// Arguments of `quita keys create`.
#[derive(Debug, Args)]
pub(super) struct CreateKey {
    #[command(flatten)]
    application: ApplicationArgs,
    /// test or live
    #[arg(long, default_value = "test", value_parser = mode)]
    mode: Mode,
    /// Create a key for pages: it may be public, and can only request card tokens
    #[arg(long, conflicts_with = "scopes")]
    publishable: bool,
    /// Scopes, comma-separated [default: payments:write,payments:read,webhooks]
    #[arg(long, value_delimiter = ',', value_parser = scope)]
    scopes: Vec<Scope>,
    /// Lifetime, such as 90d (units s, m, h, d), or never [default: 365d; never for a publishable key]
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    expires_in: Option<Lifetime>,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// Lifetime of a key; `None` if it never expires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lifetime(Option<Duration>);

/// Every key, or those of one merchant.
#[derive(Debug, Args)]
pub(super) struct ListKeys {
    /// Only keys of this merchant
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// One key.
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// Id of the key, as `keys list` prints it
    #[arg(value_parser = key_id)]
    key_id: String,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// One application of one merchant.
#[derive(Debug, Args)]
pub(super) struct ApplicationArgs {
    /// The merchant's name
    #[arg(long, value_name = "NAME", value_parser = name)]
    merchant: String,
    /// The application's name
    #[arg(long, value_name = "NAME", default_value = DEFAULT_APPLICATION, value_parser = name)]
    application: String,
}

impl ApplicationArgs {
    pub(super) fn names(self) -> (MerchantId, ApplicationName) {
        (MerchantId::new(self.merchant), ApplicationName::new(self.application))
    }
}

pub(super) async fn run(command: KeysCommand) -> Result<(), Failure> {
    match command {
        KeysCommand::Create(create) => {
            let opened = CommandStore::open(create.store).await?;
            let access = opened.access();
            let audit = opened.audit().await?;
            let (merchant, application) = create.application.names();
            let Terms { kind, scopes, lifetime } =
                Terms::of(create.publishable, create.scopes, create.expires_in);
            let owner = Owner { merchant, application, mode: create.mode };
            let powers = powers(kind, &scopes);
            let summary = format!("{} {} {powers}", owner.mode.as_str(), owner.application);
            let merchant = owner.merchant.clone();
            let news = opened.names().new_application(&merchant, &owner.application).await?;
            let ends = end_in_words(lifetime);
            let key = access.create_key(NewKey { owner, kind, scopes, expires_in: lifetime.0 }).await?;
            let draft = AuditDraft::of(&merchant, AuditAction::KeyCreated, &key.id).after(summary);
            audited::note(&audit, draft).await;
            // Only the key goes to standard output, so scripts can capture it; advice goes to standard error.
            output::result(&key.reveal())?;
            let advice = match kind {
                KeyKind::Secret => "Store it now: it is not shown again.",
                KeyKind::Publishable => "It may be public. It is not shown again.",
            };
            output::note(&format!("{advice} {ends}"));
            if let Some(news) = news {
                let undo = format!("revoke this key: quita keys revoke {}", key.id);
                output::note(&news.in_words("key", &undo));
            }
        }
        KeysCommand::List(list) => {
            let now = SystemClock.now();
            let opened = CommandStore::open(list.store).await?;
            let merchant = list.merchant.map(MerchantId::new);
            if let Some(merchant) = &merchant {
                opened.names().require_merchant(merchant).await?;
            }
            let mut keys = opened.access().keys().await?;
            keys.retain(|key| merchant.as_ref().is_none_or(|merchant| key.owner.merchant == *merchant));
            if keys.is_empty() {
                output::note("There are no keys yet; `quita keys create --merchant NAME` creates one.");
            }
            if list.json {
                return output::json(&keys.iter().map(|key| ListedKey::of(key, now)).collect::<Vec<_>>());
            }
            let headers =
                ["ID", "MODE", "MERCHANT", "APPLICATION", "SCOPES", "CREATED", "LAST USED", "STATE"];
            table::print(headers, &keys.iter().map(|key| row(key, now)).collect::<Vec<_>>())?;
        }
        KeysCommand::Revoke(revoke) => {
            let opened = CommandStore::open(revoke.store).await?;
            let access = opened.access();
            let audit = opened.audit().await?;
            let key = access.revoke_key(&revoke.key_id).await?;
            let draft = AuditDraft::of(&key.owner.merchant, AuditAction::KeyRevoked, &key.id);
            audited::note(&audit, draft).await;
            output::note(&format!("Key {} was revoked.", revoke.key_id));
        }
    }
    Ok(())
}

/// Kind, scopes and lifetime of a new key.
struct Terms {
    kind: KeyKind,
    scopes: Vec<Scope>,
    lifetime: Lifetime,
}

impl Terms {
    fn of(is_publishable: bool, scopes: Vec<Scope>, lifetime: Option<Lifetime>) -> Self {
        if is_publishable {
            let lifetime = lifetime.unwrap_or(Lifetime(None));
            return Self { kind: KeyKind::Publishable, scopes: Vec::new(), lifetime };
        }
        let scopes = if scopes.is_empty() { Scope::ALL.to_vec() } else { scopes };
        let lifetime = lifetime.unwrap_or(Lifetime(Some(DEFAULT_KEY_LIFE)));
        Self { kind: KeyKind::Secret, scopes, lifetime }
    }
}

/// Describes the permissions of a key in words.
fn powers(kind: KeyKind, scopes: &[Scope]) -> String {
    match kind {
        KeyKind::Secret => scope_names(scopes),
        KeyKind::Publishable => "publishable".into(),
    }
}

fn scope_names(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.as_str()).collect::<Vec<_>>().join(",")
}

/// Returns the columns of one key.
fn row(key: &ApiKey, now: Timestamp) -> [String; 8] {
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("in use until {at}{}", old(key, now)),
        (None, None) => format!("in use{}", old(key, now)),
    };
    let owner = &key.owner;
    [
        key.id.clone(),
        owner.mode.as_str().into(),
        output::printable(owner.merchant.as_str()),
        output::printable(owner.application.as_str()),
        powers(key.kind, &key.scopes),
        key.created_at.to_string(),
        key.last_used_at.map_or_else(|| "never".into(), |at| at.to_string()),
        state,
    ]
}

/// Returns the age of a key that should be replaced, in words that follow its state.
fn old(key: &ApiKey, now: Timestamp) -> String {
    let days = key.age_ms(now) / DAY_MS;
    if key.is_old(now) { format!(", {days} days old: replace it") } else { String::new() }
}

/// Key as JSON for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedKey<'a> {
    id: &'a str,
    mode: &'static str,
    merchant: &'a str,
    application: &'a str,
    kind: KeyKind,
    scopes: Vec<&'static str>,
    state: &'static str,
    created_at: String,
    /// Age in whole days.
    age_days: u64,
    /// True if the key is valid and more than a year old.
    is_old: bool,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    exposed_at: Option<String>,
    last_used_at: Option<String>,
}

impl<'a> ListedKey<'a> {
    fn of(key: &'a ApiKey, now: Timestamp) -> Self {
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let state = match (key.revoked_at, key.is_live(now)) {
            (Some(_), _) => "revoked",
            (None, true) => "in_use",
            (None, false) => "expired",
        };
        Self {
            id: &key.id,
            mode: key.owner.mode.as_str(),
            merchant: key.owner.merchant.as_str(),
            application: key.owner.application.as_str(),
            kind: key.kind,
            scopes: key.scopes.iter().map(|scope| scope.as_str()).collect(),
            state,
            created_at: key.created_at.to_string(),
            age_days: key.age_ms(now) / DAY_MS,
            is_old: key.is_old(now),
            expires_at: time(key.expires_at),
            revoked_at: time(key.revoked_at),
            exposed_at: time(key.exposed_at),
            last_used_at: time(key.last_used_at),
        }
    }
}

/// Maximum number of characters of a merchant's or an application's name.
const MAX_NAME_CHARACTERS: usize = 60;

pub(super) fn name(text: &str) -> Result<String, String> {
    let text = text.trim();
    let fits =
        (1..=MAX_NAME_CHARACTERS).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits { Ok(text.into()) } else { Err("must be 1 to 60 printable characters".into()) }
}

pub(super) fn mode(text: &str) -> Result<Mode, String> {
    Mode::parse(text).ok_or_else(|| "must be test or live".into())
}

fn scope(text: &str) -> Result<Scope, String> {
    let known = Scope::ALL.map(Scope::as_str).join(", ");
    Scope::parse(text).ok_or_else(|| format!("known scopes are {known}"))
}

fn lifetime(text: &str) -> Result<Lifetime, String> {
    if text == "never" {
        return Ok(Lifetime(None));
    }
    let lifetime = parse_duration(text).filter(|duration| !duration.is_zero());
    let lifetime = lifetime.ok_or_else(|| format!("must be {DURATION_FORM}, or never"))?;
    Ok(Lifetime(Some(lifetime)))
}

fn end_in_words(lifetime: Lifetime) -> String {
    let Some(life) = lifetime.0 else { return "It never expires.".into() };
    let ends = SystemClock.now().plus_ms(millis_in(life));
    format!("It expires {ends}.")
}

#[cfg(test)]
mod tests {
    use quita_domain::access::PresentedKey;

    use super::*;

    #[test]
    fn a_row_tells_everything_of_a_key_but_its_secret() {
        let presented = PresentedKey::from_random(KeyKind::Secret, Mode::Test, [1; 8], [2; 32]);
        let owner = Owner {
            merchant: MerchantId::new("acme"),
            application: ApplicationName::new("shop"),
            mode: Mode::Test,
        };
        let mut key = ApiKey {
            id: presented.id.clone(),
            kind: presented.kind,
            owner,
            secret_hash: presented.secret_hash(),
            scopes: vec![Scope::PaymentsRead, Scope::Webhooks],
            created_at: Timestamp::from_millis(0),
            made_by: None,
            expires_at: None,
            revoked_at: None,
            exposed_at: None,
            last_used_at: None,
        };
        let now = Timestamp::from_millis(10);
        let columns =
            "0101010101010101\ttest\tacme\tshop\tpayments:read,webhooks\t1970-01-01T00:00:00.000Z\tnever\t";
        assert_eq!(row(&key, now).join("\t"), format!("{columns}in use"));
        key.expires_at = Some(Timestamp::from_millis(11));
        assert_eq!(row(&key, now).join("\t"), format!("{columns}in use until 1970-01-01T00:00:00.011Z"));
        key.expires_at = Some(now);
        assert_eq!(row(&key, now).join("\t"), format!("{columns}expired 1970-01-01T00:00:00.010Z"));
        key.expires_at = None;
        let year = row(&key, Timestamp::from_millis(366 * 86_400_000)).join("\t");
        assert_eq!(year, format!("{columns}in use, 366 days old: replace it"));
        key.expires_at = Some(now);
        key.revoked_at = Some(Timestamp::from_millis(5));
        assert_eq!(row(&key, now).join("\t"), format!("{columns}revoked 1970-01-01T00:00:00.005Z"));
    }

    #[test]
    fn a_key_ends_after_a_time_or_never() {
        assert_eq!(lifetime("90d"), Ok(Lifetime(Some(Duration::from_secs(90 * 86_400)))));
        assert_eq!(lifetime("never"), Ok(Lifetime(None)));
        for text in ["", "0d", "Never", "90", "1y"] {
            assert!(lifetime(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_are_short_and_printable() {
        assert_eq!(name(" Loja do Zé ").as_deref(), Ok("Loja do Zé"));
        for text in ["", "  ", "a\tb", "a\u{1b}b", &"é".repeat(61)] {
            assert!(name(text).is_err(), "{text:?}");
        }
        assert!(name(&"é".repeat(60)).is_ok());
    }
}
