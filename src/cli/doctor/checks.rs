//! Individual checks. Each returns its findings; none changes anything.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::UNIX_EPOCH;

use quita_domain::access::ApiKey;
use quita_domain::identity::Mode;
use quita_domain::secret_key::SecretPlace;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_domain::webhook::signature::WebhookSecret;
use quita_ports::{AcquirerSpec, Store, StoreError};
use quita_services::secret_keys::{SecretKeyError, Strongbox};

use super::finding::Finding;
use super::running::RunningService;
use crate::listener::open_files;
use quita_config::acquirer::{AcquirerConfig, AdapterConfig};
use quita_config::problem::ConfigError;
use quita_config::secret_file::SecretFile;
use quita_config::secret_key::SecretKeys;
use quita_config::store_url::StoreUrl;
use quita_config::{Config, Environment};

/// Option that names the file with the secret keys.
const SECRET_KEY_FILE: &str = "secret-key-file";

/// Tolerance by which the clock may lag behind the store's newest entry, since other nodes' clocks differ a little.
const CLOCK_TOLERANCE_MS: u64 = 5_000;

/// Returns every reason for which a configuration was refused.
pub(super) fn refusals(error: &ConfigError) -> Vec<Finding> {
    error.0.iter().map(|problem| Finding::refused("configuration", problem.to_string())).collect()
}

/// Returns the unsafe or notable points of a configuration that was parsed.
pub(super) fn configuration(config: &Config) -> Vec<Finding> {
    let mut findings = config.refuse_unsafe().err().map_or(Vec::new(), |error| refusals(&error));
    if findings.is_empty() {
        let environment = config.environment.as_str();
        findings.push(Finding::ok("configuration", format!("valid, for {environment}")));
    }
    findings.extend(
        config
            .warnings
            .iter()
            .map(|warning| Finding::warn("configuration", warning, "change this unless it is intended")),
    );
    findings
}

/// Lists each acquirer, and each method that no acquirer supports.
pub(super) fn acquirers(config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    for acquirer in &config.acquirers {
        findings.push(Finding::ok("acquirer", described(acquirer)));
    }
    let modes: &[Mode] = match config.environment {
        Environment::Development => &[Mode::Test],
        Environment::Production => &[Mode::Test, Mode::Live],
    };
    for mode in modes {
        let missing = config.methods_without_acquirer(*mode);
        if !missing.is_empty() {
            let text = format!("no acquirer accepts {} with {} keys", missing.join(", "), mode.as_str());
            findings.push(Finding::warn("acquirer", text, "add an [[acquirer]] to the configuration"));
        }
    }
    findings
}

fn described(acquirer: &AcquirerConfig) -> String {
    let AcquirerSpec { name, mode, methods, rate, .. } = &acquirer.spec;
    let methods: Vec<_> = methods.iter().map(|method| method.label()).collect();
    let kind = acquirer.adapter.kind().as_str();
    let mode = mode.as_str();
    let methods = methods.join(", ");
    let rate = rate.map(|rate| format!("; at most {rate} calls a second")).unwrap_or_default();
    let secret = match &acquirer.adapter {
        AdapterConfig::Sandbox(sandbox) if sandbox.notification_secret.is_some() => {
            "; notices signed with the configured secret"
        }
        AdapterConfig::Sandbox(_)
        | AdapterConfig::ApiPix(_)
        | AdapterConfig::Cielo(_)
        | AdapterConfig::Pagarme(_)
        | AdapterConfig::Sicoob(_) => "",
    };
    format!("{name}: {kind}, {mode} keys, {methods}{rate}{secret}")
}

/// Checks the secret key. Its safety has been checked with the configuration.
pub(super) fn secret_key(config: &Config) -> Finding {
    if config.secret_keys.has_default() {
        let mend = "set secret-key-file, or QUITA_SECRET_KEY, before production use: with this key, anyone can decrypt the store's secrets";
        return Finding::warn("secret key", "it is the development key, which is public", mend);
    }
    let files = config.secret_files.iter();
    let open =
        files.filter(|file| file.option == SECRET_KEY_FILE).find_map(|file| open_file("secret key", file));
    open.unwrap_or_else(|| Finding::ok("secret key", "set"))
}

/// Checks whether other users of this machine can access each other secret file.
pub(super) fn secret_files(config: &Config) -> Vec<Finding> {
    let files = config.secret_files.iter().filter(|file| file.option != SECRET_KEY_FILE);
    let finding = |file: &SecretFile| {
        let subject = match file.option.split(['-', '[']).next() {
            Some("acquirer") => "acquirer",
            Some("operator") => "operator",
            Some(_) | None => "store",
        };
        open_file(subject, file)
    };
    files.filter_map(finding).collect()
}

fn open_file(subject: &'static str, file: &SecretFile) -> Option<Finding> {
    let mode = file.open_permissions().ok().flatten()?;
    let option = &file.option;
    let path = file.path.display();
    let text = format!(
        "{option}: {path} holds a secret, and other users of this machine can access it ({mode:04o})"
    );
    let mend = format!("`chmod 600 {path}`; if others may have read it, replace the secret");
    Some(Finding::warn(subject, text, mend))
}

/// Reports which source is trusted for clients' addresses. Its safety has been checked with the configuration.
pub(super) fn proxy(config: &Config) -> Finding {
    let listen = config.listen;
    let text = if config.behind_proxy {
        format!(
            "the last entry of X-Forwarded-For is trusted from every client of {listen}: only the proxy may reach it"
        )
    } else {
        format!("none is expected: each peer that connects to {listen} counts as a client")
    };
    Finding::ok("proxy", text)
}

/// Checks that the limit on open files and sockets is high enough for clients and receivers.
pub(super) fn open_files(most: u64) -> Finding {
    if most >= open_files::ENOUGH {
        return Finding::ok("open files", format!("{most} may be open at once"));
    }
    let text = format!("only {most} may be open at once, and half of these are for clients");
    let mend = format!(
        "allow {} or more: `ulimit -Hn`, LimitNOFILE= of systemd, --ulimit nofile= of a container",
        open_files::ENOUGH
    );
    Finding::warn("open files", text, mend)
}

/// Reports that the store does not exist: not yet, or no longer if a service is running.
pub(super) fn store_is_missing(url: &StoreUrl, running: Option<&RunningService>) -> Finding {
    let url = url.clone().with_whole_path();
    if let Some(service) = running {
        return service.store_is_gone(&url.to_string());
    }
    if let StoreUrl::Embedded(path) = &url
        && let Err((folder, error)) = can_be_created(path)
    {
        let text = format!(
            "{url} does not exist, and can't be created: nothing can be written to {}: {error}",
            folder.display()
        );
        let mend = "correct the option store, or let the service's user write to this folder";
        return Finding::fail("store", text, mend);
    }
    Finding::warn("store", format!("{url} does not exist yet"), "`quita serve` creates it")
}

/// Tries a write into the folder of a file, or the nearest one above it that exists. Leaves nothing behind.
fn can_be_created(path: &Path) -> Result<(), (PathBuf, io::Error)> {
    let above = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    // A file among the ancestors exists too, and refuses the write.
    let Some(folder) = above.into_iter().find(|folder| folder.symlink_metadata().is_ok()) else {
        return Ok(());
    };
    let trial = folder.join(format!(".quita-doctor-{}", process::id()));
    let tried = File::create_new(&trial).and_then(|_| fs::remove_file(&trial));
    tried.map_err(|error| (folder.to_owned(), error))
}

/// Reports whether the store accepts writes, in the words of the service's health.
pub(super) fn store_takes_writes(url: &StoreUrl, written: Result<(), StoreError>) -> Finding {
    let url = url.clone().with_whole_path();
    let fail = |text: String, mend: &str| Finding::fail("store", format!("{url} answers, and {text}"), mend);
    match written {
        Ok(()) => Finding::ok("store", format!("{url} answers, and accepts writes")),
        Err(error @ StoreError::Full(_)) => fail(
            error.to_string(),
            "free disk space, but never delete the store's files: the service then accepts writes again by itself; see \
             Full disk in docs/ops/RUNBOOK.md",
        ),
        Err(error @ (StoreError::Unavailable(_) | StoreError::Broken(_) | StoreError::Unreadable(_))) => {
            fail(
                format!("the store accepts no writes: {error}"),
                "see QuitaStoreFailing in docs/ops/RUNBOOK.md",
            )
        }
    }
}

/// Warns of an operator's console that nobody can sign in to.
pub(super) fn console(config: &Config, has_operators: bool) -> Option<Finding> {
    let warning = config.closed_console().filter(|_| !has_operators)?;
    Some(Finding::warn("configuration", warning, "change this unless it is intended"))
}

/// Returns the modification time of the program file: the clock can't be earlier.
pub(super) fn program_made_at() -> Option<Timestamp> {
    let written_at = env::current_exe().ok()?.metadata().ok()?.modified().ok()?;
    let millis = written_at.duration_since(UNIX_EPOCH).ok()?.as_millis();
    i64::try_from(millis).ok().map(Timestamp::from_millis)
}

/// Compares the clock with the program file and the newest entry of the store.
pub(super) fn clock(now: Timestamp, made_at: Option<Timestamp>, newest: Option<Timestamp>) -> Finding {
    let mend = "correct the clock, and keep it in sync with NTP";
    // A file copied from elsewhere may be up to a day ahead.
    if let Some(made_at) = made_at.filter(|made_at| made_at.ms_since(now) > DAY_MS) {
        return Finding::fail("clock", format!("it is {now}, but this program was built at {made_at}"), mend);
    }
    if let Some(newest) = newest.filter(|newest| newest.ms_since(now) > CLOCK_TOLERANCE_MS) {
        return Finding::fail(
            "clock",
            format!("it is {now}, but the store has a key created at {newest}"),
            mend,
        );
    }
    Finding::ok("clock", now.to_string())
}

/// Checks that this node has the secret key that the store uses, and that it is the newest one.
pub(super) async fn key_of_store(strongbox: &Strongbox, secret_keys: &SecretKeys) -> Option<Finding> {
    match strongbox.current().await {
        Ok(current) if current == secret_keys.newest().id() => None,
        Ok(current) => {
            let mend = "once every node has the newest key, run `quita secrets rewrap`";
            Some(Finding::warn("secret key", format!("the store still uses the older key {current}"), mend))
        }
        Err(SecretKeyError::Store(_)) => None,
        Err(SecretKeyError::StillPublic { .. }) => {
            let mend = "the service moves the store to the configured key on its first start with it";
            Some(Finding::warn("secret key", "the store uses the public development key", mend))
        }
        Err(error) => Some(Finding::fail("secret key", error.to_string(), "no node starts without it")),
    }
}

/// Warns of a production store that began with the public development key, which still derives ids and fingerprints.
pub(super) async fn public_beginning(strongbox: &Strongbox, environment: Environment) -> Option<Finding> {
    match environment {
        Environment::Development => return None,
        Environment::Production => {}
    }
    // Keys that can't be opened have a finding of their own.
    if !strongbox.derives_ids_from(&SecretKeys::public_id_keys()).await.unwrap_or(false) {
        return None;
    }
    let text = "the store was created with the public development key, and derives ids and fingerprints of requests from it \
                for ever: whoever has a copy of the store can try card numbers against them";
    Some(Finding::warn("secret key", text, "use another, empty store in production"))
}

/// Reports each application that can't sign its webhooks in a mode for which it has keys.
pub(super) async fn webhook_secrets(
    store: &dyn Store,
    strongbox: &Strongbox,
    keys: &[ApiKey],
    now: Timestamp,
) -> Vec<Finding> {
    let of_key = |key: &ApiKey| (key.owner.merchant.clone(), key.owner.application.clone(), key.owner.mode);
    let applications: BTreeSet<_> = keys.iter().map(of_key).collect();
    let mut findings = Vec::new();
    for (merchant, name, mode) in &applications {
        let what = match store.application(merchant, name).await {
            Ok(Some(application)) => {
                let live = application.secrets.live(*mode, now);
                let place = SecretPlace::webhook(merchant, name, *mode);
                let opened: Result<Vec<_>, _> =
                    live.map(|secret| strongbox.open(&secret.secret, &place)).collect();
                match opened {
                    Ok(opened)
                        if opened.iter().any(|secret| WebhookSecret::parse(secret.expose()).is_some()) =>
                    {
                        continue;
                    }
                    Ok(_) => "secrets rotate",
                    Err(why) => {
                        let text = format!(
                            "those of application {name} of merchant {merchant} can't be read: {why}"
                        );
                        findings.push(Finding::fail(
                            "secrets",
                            text,
                            "webhooks are not signed with them until this is fixed",
                        ));
                        continue;
                    }
                }
            }
            Ok(None) => "keys create",
            Err(error) => {
                let mend = "fix the store first";
                findings.push(Finding::fail("secrets", format!("the secrets can't be read: {error}"), mend));
                return findings;
            }
        };
        let merchant = merchant.as_str();
        let name = name.as_str();
        let mode = mode.as_str();
        findings.push(Finding::fail(
            "secrets",
            format!("application {name:?} of merchant {merchant:?} has no signing secret for mode {mode}"),
            format!("`quita {what} --merchant {merchant:?} --application {name:?} --mode {mode}`"),
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::ok(
            "secrets",
            format!("applications with a signing secret: {}", applications.len()),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::super::finding::Level;
    use super::*;
    use quita_config::settings::Settings;

    fn config(flags: &[(&'static str, &str)]) -> Config {
        let flags = flags.iter().map(|(name, text)| (*name, (*text).to_owned()));
        Config::from_settings(Settings::gather(flags, [])).unwrap()
    }

    fn levels(findings: &[Finding]) -> Vec<Level> {
        findings.iter().map(|finding| finding.level).collect()
    }

    #[test]
    fn a_store_that_nobody_can_create_fails_and_names_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let of = |path: &Path| StoreUrl::Embedded(path.to_owned());
        let below_a_file = store_is_missing(&of(&file.join("quita.db")), None);
        assert_eq!(below_a_file.level, Level::Fail);
        let words = format!("nothing can be written to {}: ", file.display());
        assert!(below_a_file.text.contains(&words), "{below_a_file}");
        // Nobody writes there, whatever user runs this test.
        let read_only = store_is_missing(&of(Path::new("/proc/quita/quita.db")), None);
        assert_eq!(read_only.level, Level::Fail);
        assert!(read_only.text.contains("nothing can be written to /proc: "), "{read_only}");
        let possible = store_is_missing(&of(&folder.path().join("new/deeper/quita.db")), None);
        assert_eq!(possible.level, Level::Warn, "{possible}");
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["file"], "nothing is left behind");
    }

    #[test]
    fn development_is_healthy_as_it_comes() {
        let config = config(&[]);
        assert_eq!(levels(&configuration(&config)), [Level::Ok]);
        assert_eq!(levels(&acquirers(&config)), [Level::Ok, Level::Ok]);
        assert_eq!(secret_key(&config).level, Level::Warn);
    }

    #[test]
    fn bare_production_fails_for_each_thing_that_is_unsafe() {
        let config = config(&[("environment", "production")]);
        let found = configuration(&config);
        let expected = [Level::Fail, Level::Fail, Level::Warn, Level::Warn];
        assert_eq!(levels(&found), expected, "{found:?}");
        assert!(found.iter().any(|finding| finding.text.contains("behind-proxy is false")), "{found:?}");
        let found = acquirers(&config);
        assert_eq!(levels(&found), [Level::Warn, Level::Warn], "{found:?}");
        assert!(
            found[1].text.contains("no acquirer accepts pix, boleto, credit_card with live keys"),
            "{found:?}"
        );
    }

    #[test]
    fn an_acquirer_is_reported_with_what_its_table_says() {
        let table = "[{ name = 'a', adapter = 'sandbox', methods = ['pix'], rate = 5 }]";
        let variable = ("QUITA_ACQUIRER_A_NOTIFICATION_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let variables = [(variable.0.into(), variable.1.into())];
        let settings = Settings::gather([("acquirer", table.to_owned())], variables);
        let found = acquirers(&Config::from_settings(settings).unwrap());
        let expected = "a: sandbox, test keys, pix; at most 5 calls a second; notices signed with the \
                        configured secret";
        assert_eq!(found[0].text, expected);
    }

    #[test]
    fn each_file_with_a_secret_that_others_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str, mode| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path.display().to_string()
        };
        let key_file = |mode| write("key", "a-secret-key-that-is-long-enough-for-anybody", mode);
        let notices = |mode| write("notices", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", mode);
        let found = |mode| {
            let table = format!(
                "[{{ name = 'a', adapter = 'sandbox', notification-secret-file = '{}' }}]",
                notices(mode)
            );
            let config = config(&[("secret-key-file", &key_file(mode)), ("acquirer", &table)]);
            [vec![secret_key(&config)], secret_files(&config)].concat()
        };
        assert_eq!(found(0o600), [Finding::ok("secret key", "set")]);
        let found = found(0o644);
        assert_eq!(levels(&found), [Level::Warn; 2], "{found:?}");
        assert_eq!([found[0].subject, found[1].subject], ["secret key", "acquirer"]);
        let told = &found[0];
        assert!(told.text.contains("/key holds a secret") && told.text.contains("(0644)"), "{told}");
        assert!(told.mend.as_ref().unwrap().contains("chmod 600"), "{told}");
        // The configuration, if the store's password is in it.
        for (store, count) in [("mongodb://u:p@h/quita", 1), ("mongodb://h/quita", 0)] {
            let file = write("quita.toml", &format!("store = '{store}'"), 0o644);
            assert_eq!(secret_files(&config(&[("config", &file)])).len(), count, "{store}");
        }
    }

    #[test]
    fn a_store_without_tls_on_another_machine_is_told_in_production() {
        let is_told = |environment, store| {
            let config = config(&[("environment", environment), ("store", store)]);
            configuration(&config).iter().any(|finding| finding.text.contains("is unencrypted"))
        };
        assert!(is_told("production", "mongodb://db.example/quita"));
        assert!(!is_told("production", "mongodb://db.example/quita?tls=true"));
        assert!(!is_told("production", "mongodb://127.0.0.1/quita"));
        assert!(!is_told("development", "mongodb://db.example/quita"));
    }

    #[test]
    fn a_store_without_room_fails_in_the_words_of_health() {
        let url = StoreUrl::Embedded("/srv/quita.db".into());
        let told = |written| store_takes_writes(&url, written);
        assert_eq!(told(Ok(())).level, Level::Ok);
        let full = told(Err(StoreError::Full("no room".into())));
        assert_eq!(full.level, Level::Fail);
        assert!(
            full.text.contains("/srv/quita.db") && full.text.contains("the store's disk is full"),
            "{full}"
        );
        let read_only = told(Err(StoreError::Unavailable("read-only".into())));
        assert_eq!(read_only.level, Level::Fail);
        assert!(read_only.text.contains("the store accepts no writes"), "{read_only}");
    }

    #[test]
    fn a_closed_console_is_warned_of_while_there_is_no_operator() {
        let production = config(&[("environment", "production")]);
        assert!(
            console(&production, false).is_some_and(|found| found.text.contains("users operators create"))
        );
        assert_eq!(console(&production, true), None);
        assert_eq!(console(&config(&[]), false), None, "development has a password");
    }

    #[test]
    fn a_clock_behind_the_program_or_the_store_fails() {
        let at = Timestamp::from_millis;
        let day = i64::try_from(DAY_MS).unwrap();
        for (made_at, newest, level) in [
            (None, None, Level::Ok),
            (Some(day), Some(5_000), Level::Ok),
            (Some(-9), Some(-9), Level::Ok),
            (Some(day + 1), None, Level::Fail),
            (None, Some(5_001), Level::Fail),
        ] {
            let found = clock(at(0), made_at.map(at), newest.map(at));
            assert_eq!(found.level, level, "{found}");
        }
    }

    #[test]
    fn whose_word_is_taken_for_where_a_client_is_is_told_either_way() {
        for (behind_proxy, told) in [("true", "X-Forwarded-For is trusted"), ("false", "none is expected")] {
            let config = config(&[("environment", "production"), ("behind-proxy", behind_proxy)]);
            assert!(proxy(&config).text.contains(told), "{behind_proxy}");
            let is_warned = config.warnings.iter().any(|warning| warning.contains("behind-proxy"));
            assert_eq!(is_warned, behind_proxy == "false", "{:?}", config.warnings);
        }
    }

    #[test]
    fn few_open_files_are_worth_a_word_with_where_to_allow_more() {
        assert_eq!(open_files(8_192).level, Level::Ok);
        let few = open_files(1_024);
        assert_eq!(few.level, Level::Warn);
        assert!(few.text.contains("1024") && few.mend.is_some_and(|mend| mend.contains("LimitNOFILE")));
    }

    #[test]
    fn the_program_was_made_some_day() {
        assert!(program_made_at().is_some_and(|at| at.millis() > 0));
    }

    #[test]
    fn a_finding_is_one_line_with_what_mends_it() {
        let line = Finding::fail("store", "it\nburns", "pour\nwater").to_string();
        assert_eq!(line, "fail  store          it burns — pour water");
    }
}
