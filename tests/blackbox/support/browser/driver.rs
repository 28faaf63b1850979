//! The program that drives the browser, and the W3C WebDriver protocol over plain HTTP.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Answer, Client, PATIENCE, Running, eventually};

/// Longest time that a driver may take to start where many others do.
const STARTS_WITHIN: Duration = Duration::from_secs(60);

/// Number of drivers that may be started until one finds a port.
const DRAWS: u32 = 10;

/// The name under which WebDriver gives an element's id (W3C WebDriver, "web element identifier").
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Errors that mean: the page is being changed right now, so ask again (W3C WebDriver, "handling errors").
const PASSING: [&str; 5] = [
    "no such element",
    "stale element reference",
    "element click intercepted",
    "element not interactable",
    "invalid element state",
];

/// A session of the protocol: one browser of its own. It ends with the test.
pub(super) struct Driver {
    client: Client,
    session: String,
    _process: Running,
}

impl Driver {
    /// Starts one whose files lie below `directory`. `None` where no browser is named.
    pub(super) fn start(directory: &Path) -> Option<Self> {
        let Ok(program) = std::env::var("QUITA_TEST_CHROMEDRIVER") else {
            println!("skipped: QUITA_TEST_CHROMEDRIVER is not set; scripts/test sets it");
            return None;
        };
        let chromium = std::env::var("QUITA_TEST_CHROMIUM")
            .expect("QUITA_TEST_CHROMIUM goes with QUITA_TEST_CHROMEDRIVER");
        let name = format!("browser-{}", uuid::Uuid::now_v7().simple());
        let (process, port) = listening(&program, directory, &name);
        let client = Client::new(&format!("http://127.0.0.1:{port}"), None);
        let profile = format!("--user-data-dir={}", directory.join(name).display());
        let options = json!({
            "binary": chromium,
            "args": [
                // The shell has no language of its own, and pages are shown in the browser's.
                "--headless", "--accept-lang=en-US,en", "--window-size=1280,900", "--no-sandbox",
                // A process for graphics that nobody sees takes a sixth of a browser's processor time.
                "--disable-gpu", "--in-process-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
                "--no-first-run", profile,
            ],
        });
        let always = json!({"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}});
        let opened = value_of(&client.post("/session", &json!({"capabilities": {"alwaysMatch": always}})));
        let session = format!("/session/{}", opened["sessionId"].as_str().unwrap());
        Some(Self { client, session, _process: process })
    }

    pub(super) fn get(&self, path: &str) -> Value {
        value_of(&self.client.get(&format!("{}/{path}", self.session)))
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        value_of(&self.client.post(&format!("{}/{path}", self.session), body))
    }

    pub(super) fn delete(&self, path: &str) -> Value {
        value_of(&self.client.send("DELETE", &format!("{}/{path}", self.session), &[], b""))
    }

    /// A command of the browser's own protocol.
    pub(super) fn command(&self, name: &str, parameters: &Value) -> Value {
        self.post("goog/cdp/execute", &json!({"cmd": name, "params": parameters}))
    }

    /// Runs a function's body in the page and gives what it returns.
    pub(super) fn script(&self, body: &str, arguments: &Value) -> Value {
        self.post("execute/sync", &json!({"script": body, "args": arguments}))
    }

    /// Returns the entries of the browser's console since the last call. There are none if it does not answer any more.
    pub(super) fn log(&self) -> Vec<Value> {
        let asked = json!({"type": "browser"});
        let path = format!("{}/se/log", self.session);
        let answer = self.client.try_send(
            "POST",
            &path,
            &[("Content-Type", "application/json")],
            asked.to_string().as_bytes(),
        );
        let entries = answer.ok().map(|answer| answer.json()["value"].clone());
        entries.and_then(|entries| entries.as_array().cloned()).unwrap_or_default()
    }

    /// Asks the first element that matches, as soon as there is one: `act` says with which path and which body.
    #[track_caller]
    pub(super) fn element(&self, css: &str, what: &str, body: Option<&Value>) -> Value {
        eventually(PATIENCE, &format!("{css} can be asked for {what}"), || {
            let wanted = json!({"using": "css selector", "value": css});
            let found = self.passing(self.client.post(&format!("{}/element", self.session), &wanted))?;
            let path = format!("{}/element/{}/{what}", self.session, found[ELEMENT].as_str().unwrap());
            self.passing(match body {
                Some(body) => self.client.post(&path, body),
                None => self.client.get(&path),
            })
        })
    }

    /// Returns what was answered; `None` if it may be answered a moment later.
    fn passing(&self, answer: Answer) -> Option<Value> {
        let is_passing = answer.status != 200
            && PASSING.contains(&answer.json()["value"]["error"].as_str().unwrap_or_default());
        (!is_passing).then(|| value_of(&answer))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The driver ends its browser with the session; its own process ends after that.
        drop(self.client.try_send("DELETE", &self.session, &[], b""));
    }
}

/// Returns what the driver answered, if it did what it was asked.
#[track_caller]
fn value_of(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer}");
    answer.json()["value"].clone()
}

/// A driver that listens, and where. It takes a port that is free on IPv6 and ends if IPv4 has it taken, which happens
/// where many services run: then another one has more luck.
fn listening(program: &str, directory: &Path, name: &str) -> (Running, u16) {
    for luck in 0..DRAWS {
        let mut command = Command::new(program);
        command.arg("--port=0");
        let mut process = Running::start(command, directory, &format!("{name}-{luck}"));
        let port = eventually(STARTS_WITHIN, "the driver listens or ends", || {
            let has_ended = process.ended().is_some();
            port_of(&process).map(Some).or_else(|| has_ended.then_some(None))
        });
        if let Some(port) = port {
            return (process, port);
        }
        println!("the driver ended: {}{}", process.stdout(), process.stderr());
    }
    panic!("{DRAWS} drivers ended before they listened");
}

fn port_of(driver: &Running) -> Option<u16> {
    let said = driver.stdout();
    let (_, after) = said.split_once("started successfully on port ")?;
    after.trim().trim_end_matches('.').parse().ok()
}
