//! A service of its own for one test.

use std::fs;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::builder::TestAppBuilder;
use super::client::Client;
use super::eventually::eventually;
use super::program::{Finished, Program};
use super::running::Running;
use super::store::TestStore;

const READY_WITHIN: Duration = Duration::from_secs(30);
const MERCHANT: &str = "shop";
/// An error that tells of the surroundings and not of the service.
const STORE_AWAY: &str = "\"message\":\"the store is unavailable: ";
/// Another one: the test acquirers of a method are all out of reach.
const ACQUIRERS_AWAY: &str = "\"message\":\"no acquirer can take ";
/// Environment variables of the key on which everything secret in the store depends.
const SECRET_KEYS: [&str; 2] = ["QUITA_SECRET_KEY", "QUITA_SECRET_KEY_FILE"];

/// A service that runs. Dropping it kills it, deletes its store, and fails the test if the log has errors of its own.
pub(crate) struct TestApp {
    process: Running,
    settings: TestAppBuilder,
    addresses: Addresses,
    key: String,
    store: TestStore,
    directory: TempDir,
}

#[derive(Debug, Clone)]
struct Addresses {
    listen: String,
    ops_listen: String,
}

impl TestApp {
    /// A service with the defaults.
    pub(crate) fn new() -> Self {
        Self::builder().start()
    }

    pub(crate) fn builder() -> TestAppBuilder {
        TestAppBuilder::new()
    }

    pub(crate) fn start(settings: TestAppBuilder, directory: TempDir, store: TestStore) -> Self {
        let (process, addresses) = launch(&settings, directory.path(), &store);
        let mut app = Self { process, settings, addresses, key: String::new(), store, directory };
        app.key = app.create_key(&["--merchant", MERCHANT]);
        app
    }

    /// Starts the service again, after its end, on the same store.
    pub(crate) fn restart(&mut self) {
        self.process.kill();
        (self.process, self.addresses) = launch(&self.settings, self.directory.path(), &self.store);
    }

    /// The same, with another value of a variable.
    pub(crate) fn restart_with(&mut self, variable: &str, value: &str) {
        self.settings.environment.retain(|(name, _)| name != variable);
        self.settings.environment.push((variable.into(), value.into()));
        self.restart();
    }

    /// Ends the service with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.process.kill();
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) fn terminate(&mut self, within: Duration) -> ExitStatus {
        self.process.signal("TERM");
        self.process.wait(within)
    }

    /// Sends a signal by its name and waits for nothing.
    pub(crate) fn signal(&self, name: &str) {
        self.process.signal(name);
    }

    /// The process itself.
    pub(crate) fn process(&mut self) -> &mut Running {
        &mut self.process
    }

    /// The merchant `shop`, with a test key for everything.
    pub(crate) fn client(&self) -> Client {
        self.client_with(&self.key)
    }

    pub(crate) fn client_with(&self, key: &str) -> Client {
        Client::new(&self.url(), Some(key))
    }

    pub(crate) fn client_without_key(&self) -> Client {
        Client::new(&self.url(), None)
    }

    /// A client of the operators' listener.
    pub(crate) fn ops(&self) -> Client {
        Client::new(&self.ops_url(), None)
    }

    pub(crate) fn ops_url(&self) -> String {
        format!("http://{}", self.addresses.ops_listen)
    }

    /// Host and port of the public listener.
    pub(crate) fn address(&self) -> &str {
        &self.addresses.listen
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addresses.listen)
    }

    /// The key of [`TestApp::client`].
    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    pub(crate) fn store_url(&self) -> &str {
        &self.store.url
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Calls the program with this service's store.
    pub(crate) fn quita(&self, arguments: &[&str]) -> Finished {
        self.program(arguments).run()
    }

    /// The same, not yet run: with the secret keys of the service, which open what is stored.
    pub(crate) fn program(&self, arguments: &[&str]) -> Program {
        let program = Program::new(self.directory(), arguments).env("QUITA_STORE", &self.store.url);
        let keys = self.settings.environment.iter().rfind(|(name, _)| SECRET_KEYS.contains(&name.as_str()));
        match keys {
            Some((name, keys)) => program.env(name, keys),
            None => program,
        }
    }

    /// Makes a key with `quita keys create`.
    #[track_caller]
    pub(crate) fn create_key(&self, arguments: &[&str]) -> String {
        self.quita(&[&["keys", "create"], arguments].concat()).output()
    }

    /// The secret that signs the webhooks of `shop` in test mode.
    #[track_caller]
    pub(crate) fn secret(&self) -> String {
        self.quita(&["secrets", "show", "--merchant", MERCHANT]).output()
    }

    /// Returns what the service logged, of all its runs.
    pub(crate) fn log(&self) -> String {
        self.process.stderr()
    }

    /// Returns what the service printed, of all its runs.
    pub(crate) fn printed(&self) -> String {
        self.process.stdout()
    }

    /// Every byte of the store: its files, `-wal` too, or the documents in MongoDB.
    pub(crate) fn store_bytes(&self) -> Vec<(String, Vec<u8>)> {
        let Ok(files) = fs::read_dir(self.directory().join("data")) else { return self.store.documents() };
        let paths = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
        paths.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.process.kill();
        let log = self.log();
        if std::thread::panicking() {
            let lines: Vec<_> = log.lines().rev().take(40).collect();
            eprintln!("the last lines of the service's log:");
            lines.iter().rev().for_each(|line| eprintln!("{line}"));
            return;
        }
        let is_expected = |line: &str| {
            line.contains(ACQUIRERS_AWAY) || self.settings.expects_store_away && line.contains(STORE_AWAY)
        };
        let is_bad = |line: &&str| {
            let is_error = line.contains("\"level\":\"ERROR\"") && !is_expected(line);
            is_error || line.contains("panicked at")
        };
        let bad: Vec<_> = log.lines().filter(is_bad).collect();
        assert!(bad.is_empty() || self.settings.expects_errors, "the service logged errors: {bad:#?}");
    }
}

fn launch(settings: &TestAppBuilder, directory: &Path, store: &TestStore) -> (Running, Addresses) {
    let options = settings.options.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
    let mut program = Program::new(directory, std::iter::once("serve").chain(options));
    program = program.env("QUITA_STORE", &store.url);
    for (name, value) in &settings.environment {
        program = program.env(name, value);
    }
    if let Some(most) = settings.open_files {
        program = program.open_files(most);
    }
    let logged_before = fs::metadata(directory.join("serve.err")).map_or(0, |file| file.len() as usize);
    let mut running = program.start("serve");
    let addresses = eventually(READY_WITHIN, "the service is ready", || {
        let log = running.stderr();
        let found = log.get(logged_before..).and_then(ready);
        if let (None, Some(status)) = (&found, running.ended()) {
            panic!("the service ended with {status} before it was ready:\n{}", running.stderr());
        }
        found
    });
    (running, addresses)
}

/// The addresses in the line that says that the service runs, ready or not.
fn ready(log: &str) -> Option<Addresses> {
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut fields = lines.map(|line| line.get("fields").cloned().unwrap_or(line));
    let runs = |fields: &Value| {
        let message = fields["message"].as_str().unwrap_or_default();
        message == "the service is ready" || message.starts_with("the service runs, but is not ready")
    };
    let line = fields.find(runs)?;
    let address = |name: &str| Some(line[name].as_str()?.to_owned());
    Some(Addresses { listen: address("listen")?, ops_listen: address("ops_listen")? })
}
