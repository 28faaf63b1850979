//! Builder of a service for a test.

use std::collections::BTreeMap;

use super::app::TestApp;
use super::fail_point::FailPoint;
use super::proxy::Proxy;
use super::store::{TestStore, is_mongodb};

/// Settings with which a service is started. Each that is not given has a default that is quick to test.
pub(crate) struct TestAppBuilder {
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) store: Option<TestStore>,
    pub(crate) expects_errors: bool,
    pub(crate) expects_store_away: bool,
    pub(crate) open_files: Option<u32>,
}

impl TestAppBuilder {
    pub(crate) fn new() -> Self {
        let options = [
            ("--listen", "127.0.0.1:0"),
            ("--ops-listen", "127.0.0.1:0"),
            ("--log-format", "json"),
            ("--sandbox-settle-after", "100ms"),
            ("--sandbox-time-out", "500ms"),
        ];
        let options = options.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        Self {
            options,
            environment: Vec::new(),
            store: None,
            expects_errors: false,
            expects_store_away: false,
            open_files: None,
        }
    }

    /// Sets an option of `quita serve`, or another value for one of the defaults above.
    pub(crate) fn arg(mut self, name: &str, value: &str) -> Self {
        self.options.insert(name.into(), value.into());
        self
    }

    /// Leaves an option out, so that the service's own default holds.
    pub(crate) fn without(mut self, name: &str) -> Self {
        self.options.remove(name);
        self
    }

    /// Sets a variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Uses a store that another service has made, instead of one of its own.
    pub(crate) fn store(mut self, url: &str) -> Self {
        self.store = Some(TestStore::existing(url));
        self
    }

    /// Uses a store that it makes itself, where another would be an empty one that may be there already.
    pub(crate) fn makes_store(mut self) -> Self {
        self.store = is_mongodb().then(TestStore::alone);
        self
    }

    /// Uses a MongoDB database of its own by way of a wire that the test can cut.
    pub(crate) fn store_by_way_of(mut self, proxy: &Proxy) -> Self {
        self.store = Some(TestStore::by_way_of(&proxy.address()));
        self
    }

    /// Uses a MongoDB database of its own, whose commands this fail point concerns.
    pub(crate) fn store_failing_at(mut self, point: &FailPoint) -> Self {
        self.store = Some(TestStore::failing_at(point));
        self
    }

    /// Lets the log hold errors, which otherwise fail the test when it is over.
    pub(crate) fn expects_errors(mut self) -> Self {
        self.expects_errors = true;
        self
    }

    /// Lets the log say that the store is away, and hold no other error: for a test that takes the store away.
    pub(crate) fn expects_store_away(mut self) -> Self {
        self.expects_store_away = true;
        self
    }

    /// Lets it have no more open files than this.
    pub(crate) fn open_files(mut self, most: u32) -> Self {
        self.open_files = Some(most);
        self
    }

    /// Starts the service and waits until it is ready.
    pub(crate) fn start(mut self) -> TestApp {
        let directory = tempfile::Builder::new().prefix("quita-test-").tempdir().unwrap();
        let store = self.store.take().unwrap_or_else(|| TestStore::new(directory.path()));
        TestApp::start(self, directory, store)
    }
}
