//! A real browser, driven by the W3C WebDriver protocol over plain HTTP.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{Answer, Client, PATIENCE, Running, TestApp, eventually};

/// The name under which WebDriver gives an element's id (W3C WebDriver, "web element identifier").
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// One window of a headless browser; it ends with the test.
pub(crate) struct Browser {
    driver: Client,
    session: String,
    _process: Running,
}

impl Browser {
    /// Opens one. `None` where no browser is named.
    pub(crate) fn open(app: &TestApp) -> Option<Self> {
        let Ok(driver) = std::env::var("QUITA_TEST_CHROMEDRIVER") else {
            println!("skipped: QUITA_TEST_CHROMEDRIVER is not set; scripts/test sets it");
            return None;
        };
        let process = start_driver(&driver, app.directory());
        let driver = Client::new(&format!("http://127.0.0.1:{}", port_of(&process)), None);
        let chromium = std::env::var("QUITA_TEST_CHROMIUM")
            .expect("QUITA_TEST_CHROMIUM goes with QUITA_TEST_CHROMEDRIVER");
        let profile = format!("--user-data-dir={}", app.directory().join("profile").display());
        let options = json!({
            "binary": chromium,
            "args": [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--disable-background-networking", "--no-first-run", profile,
            ],
        });
        let wanted = json!({"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}});
        let opened = value_of(&driver.post("/session", &wanted));
        let session = format!("/session/{}", opened["sessionId"].as_str().unwrap());
        Some(Self { driver, session, _process: process })
    }

    pub(crate) fn go_to(&self, url: &str) {
        value_of(&self.driver.post(&format!("{}/url", self.session), &json!({ "url": url })));
    }

    /// The text of the first element that matches.
    pub(crate) fn text(&self, css: &str) -> String {
        self.ask(css, "text").as_str().unwrap_or_default().to_owned()
    }

    /// The value of a form's field.
    pub(crate) fn value(&self, css: &str) -> String {
        self.ask(css, "property/value").as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn is_displayed(&self, css: &str) -> bool {
        self.ask(css, "displayed").as_bool().unwrap()
    }

    /// Waits until an element says this.
    pub(crate) fn wait_for_text(&self, css: &str, expected: &str) {
        eventually(PATIENCE, &format!("{css} says {expected}"), || {
            self.text(css).contains(expected).then_some(())
        });
    }

    fn ask(&self, css: &str, what: &str) -> Value {
        let wanted = json!({"using": "css selector", "value": css});
        let found = value_of(&self.driver.post(&format!("{}/element", self.session), &wanted));
        let element = found[ELEMENT].as_str().unwrap();
        value_of(&self.driver.get(&format!("{}/element/{element}/{what}", self.session)))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends its browser with the session; its own process ends after that.
        drop(self.driver.try_send("DELETE", &self.session, &[], b""));
    }
}

/// What the driver answered, if it did what it was asked.
#[track_caller]
fn value_of(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["value"].clone()
}

/// Starts the driver on a port that it chooses.
fn start_driver(driver: &str, directory: &Path) -> Running {
    let mut command = Command::new(driver);
    command.arg("--port=0");
    Running::start(command, directory, "chromedriver")
}

fn port_of(driver: &Running) -> u16 {
    eventually(PATIENCE, "the driver listens", || {
        let said = driver.stdout();
        let (_, after) = said.split_once("started successfully on port ")?;
        after.trim().trim_end_matches('.').parse().ok()
    })
}
