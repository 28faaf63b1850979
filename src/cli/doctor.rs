//! `quita doctor`: checks everything the service needs, and prints how to fix problems.

mod checks;
mod finding;
mod keys;
mod mail;
mod nodes;
mod open_payments;
mod other_store;
mod providers;
mod running;
mod store_clock;

use std::time::Duration;

use actix_web::rt::time::timeout;
use clap::Args;
use quita_domain::access::ApiKey;
use quita_domain::people::OperatorRole;
use quita_machine::SystemClock;
use quita_ports::{Clock, StoreError};
use serde::Serialize;

use super::failure::Failure;
use super::flags::ServiceFlags;
use super::output;
use crate::listener::open_files;
use crate::store::{self, OpenError, OpenedStore};
use finding::{Finding, Level};
use quita_config::Config;
use quita_config::settings::Settings;
use quita_config::store_url::StoreUrl;
use running::RunningService;

/// Time limit for the store to answer.
const STORE_TIME_OUT: Duration = Duration::from_secs(10);

/// Check, and the words in which it is told.
#[derive(Debug, Args)]
pub(super) struct DoctorCommand {
    /// Print JSON: each finding with its level (ok, warn, fail), subject, text and advice
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    service: ServiceFlags,
}

/// Findings as JSON for programs.
#[derive(Serialize)]
struct DoctorReport<'a> {
    failed: usize,
    findings: &'a [Finding],
}

pub(super) async fn run(DoctorCommand { json, service }: DoctorCommand) -> Result<(), Failure> {
    let findings = examine(service.settings()).await;
    let failed = findings.iter().filter(|finding| finding.level == Level::Fail).count();
    if json {
        output::json(&DoctorReport { failed, findings: &findings })?;
    } else {
        findings.iter().try_for_each(|finding| output::result(&finding.to_string()))?;
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::failed("1 check failed.")),
        _ => Err(Failure::failed(format!("{failed} checks failed."))),
    }
}

async fn examine(settings: Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    match Config::from_settings(settings) {
        Err(error) => findings.extend(checks::refusals(&error)),
        Ok(config) => {
            findings.extend(checks::configuration(&config));
            findings.extend(checks::acquirers(&config));
            findings.extend(providers::reach(&config).await);
            findings.extend(mail::reach(&config).await);
            findings.push(checks::secret_key(&config));
            findings.extend(checks::secret_files(&config));
            findings.push(checks::proxy(&config));
            findings.push(checks::open_files(open_files::most()));
            let running = running::ask(config.ops_listen).await;
            let (running, finding) = match running {
                Ok(running) => (Some(running), None),
                Err(finding) => (None, finding),
            };
            findings.extend(running.as_ref().map(RunningService::finding).or(finding));
            findings.extend(stored(&config, running.as_ref()).await);
            findings.extend(store_clock::compare(&config.store).await);
        }
    }
    findings
}

/// Checks everything that requires the store, including the clock, which is compared with the store.
async fn stored(config: &Config, running: Option<&RunningService>) -> Vec<Finding> {
    let now = SystemClock.now();
    let made_at = checks::program_made_at();
    if let Some(mistake) = store::mistake(&config.store) {
        let text = format!("{} can't be used: its URI is invalid: {mistake}", config.store);
        let misnamed = Finding::fail("store", text, "correct the option store or QUITA_STORE");
        return vec![misnamed, checks::clock(now, made_at, None)];
    }
    let result = timeout(STORE_TIME_OUT, reach(&config.store)).await;
    let result = result.unwrap_or_else(|_| {
        Err(StoreError::Unavailable(format!("no answer within {} s", STORE_TIME_OUT.as_secs())))
    });
    let ReachedStore { opened, keys, written, has_operators } = match result {
        Ok(Some(reached)) => reached,
        Ok(None) => {
            let mut findings =
                vec![checks::store_is_missing(&config.store, running), checks::clock(now, made_at, None)];
            // A service that runs has another store, whose operators are not known here.
            if running.is_none() {
                findings.extend(checks::console(config, false));
            }
            return findings;
        }
        Err(why) => {
            let advice = store::advice(&config.store, &why);
            let unreachable =
                Finding::fail("store", format!("{} can't be used: {why}", config.store), advice);
            return vec![unreachable, checks::clock(now, made_at, None)];
        }
    };
    let newest = keys.iter().map(|key| key.created_at).max();
    let mut findings =
        vec![checks::store_takes_writes(&config.store, written), checks::clock(now, made_at, newest)];
    findings.extend(keys::check(&keys, config.environment, now));
    findings.extend(checks::console(config, has_operators));
    let store = opened.whole();
    if let StoreUrl::Mongo(_) = config.store {
        findings.extend(nodes::check(&*store).await.unwrap_or_else(|error| {
            vec![Finding::fail("nodes", format!("the nodes can't be read: {error}"), "fix the store first")]
        }));
    }
    findings.extend(open_payments::missing_acquirers(&*store, config).await);
    let strongbox = config.secret_keys.strongbox(store.clone());
    if let Some(running) = running {
        let url = config.store.clone().with_whole_path().to_string();
        findings.extend(other_store::check(running, &*store, &strongbox, &url).await);
    }
    findings.extend(checks::key_of_store(&strongbox, &config.secret_keys).await);
    findings.extend(checks::public_beginning(&strongbox, config.environment).await);
    findings.extend(checks::webhook_secrets(&*store, &strongbox, &keys, now).await);
    findings
}

/// Store that answered, and its answers.
struct ReachedStore {
    opened: OpenedStore,
    keys: Vec<ApiKey>,
    /// Outcome of a trial write.
    written: Result<(), StoreError>,
    has_operators: bool,
}

/// Opens the store, reads from it, and tries a write. `None` if there is no store.
async fn reach(url: &StoreUrl) -> Result<Option<ReachedStore>, StoreError> {
    let opened = match store::open_existing(url).await {
        Ok(opened) => opened,
        Err(OpenError::Missing { .. }) => return Ok(None),
        Err(OpenError::Unusable { cause, .. }) => return Err(cause),
        // Only serving processes are refused because another one already serves the store.
        Err(error @ (OpenError::Served { .. } | OpenError::Misnamed { .. })) => {
            return Err(StoreError::Unavailable(error.to_string()));
        }
    };
    let store = opened.whole();
    store.ping().await?;
    let keys = store.keys().await?;
    let has_operators =
        store.operators().await?.iter().any(|operator| operator.role == OperatorRole::Operator);
    let written = opened.try_write().await;
    Ok(Some(ReachedStore { opened, keys, written, has_operators }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quita_domain::access::{KeyKind, Scope};
    use quita_domain::identity::{ApplicationName, MerchantId, Mode, Owner};
    use quita_embedded::EmbeddedStore;
    use quita_ports::AccessStore;

    use super::*;
    use quita_services::access::{Access, NewKey};

    const HEALTHY: [(Level, &str); 2] = [(Level::Ok, "store"), (Level::Ok, "clock")];

    fn config(path: &std::path::Path) -> Config {
        let store = format!("sqlite:{}", path.display());
        Config::from_settings(Settings::gather([("store", store)], [])).unwrap()
    }

    async fn check(config: &Config, expected: &[(Level, &str)]) -> String {
        let found = stored(config, None).await;
        let told: Vec<_> = found.iter().map(|finding| (finding.level, finding.subject)).collect();
        assert_eq!(told, expected, "{found:?}");
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[actix_web::test]
    async fn a_store_that_was_not_made_yet_is_reported_and_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        check(&config(&path), &[(Level::Warn, "store"), (Level::Ok, "clock")]).await;
        assert!(!path.exists());
    }

    #[actix_web::test]
    async fn a_store_in_use_is_looked_through_to_the_last_application() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        let config = config(&path);
        let store = Arc::new(EmbeddedStore::open_sole_writer(&path).unwrap());
        check(&config, &[&HEALTHY[..], &[(Level::Warn, "keys"), (Level::Ok, "secrets")]].concat()).await;
        let strongbox = config.secret_keys.strongbox(store.clone());
        let access = Access::new(store.clone(), strongbox, Arc::new(SystemClock));
        let owner = Owner {
            merchant: MerchantId::new("acme"),
            application: ApplicationName::new("shop"),
            mode: Mode::Test,
        };
        access
            .create_key(NewKey {
                owner,
                kind: KeyKind::Secret,
                scopes: Scope::ALL.to_vec(),
                expires_in: None,
            })
            .await
            .unwrap();
        check(&config, &[&HEALTHY[..], &[(Level::Ok, "keys"), (Level::Ok, "secrets")]].concat()).await;
        let mut orphan = access.keys().await.unwrap().remove(0);
        (orphan.id, orphan.owner.application) = ("orphan".into(), ApplicationName::new("gone"));
        store.insert_key(&orphan).await.unwrap();
        let expected = [&HEALTHY[..], &[(Level::Ok, "keys"), (Level::Fail, "secrets")]].concat();
        let text = check(&config, &expected).await;
        assert!(
            text.contains("`quita keys create --merchant \"acme\" --application \"gone\" --mode test`"),
            "{text}"
        );
    }

    #[actix_web::test]
    async fn a_store_that_cannot_be_used_fails_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("quita.db");
        std::fs::write(&path, "no database, though long enough to be read as one".repeat(100)).unwrap();
        let text = check(&config(&path), &[(Level::Fail, "store"), (Level::Ok, "clock")]).await;
        assert!(text.contains("--store sqlite:PATH"), "{text}");
    }
}
