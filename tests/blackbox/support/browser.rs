//! A real browser, and what a person does with it.

mod driver;

use std::fs;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{PATIENCE, TestApp, eventually};
use driver::Driver;

/// One window of a headless browser; it ends with the test, and fails it if a page did what its policy forbids or a
/// script of it failed.
pub(crate) struct Browser {
    driver: Driver,
}

impl Browser {
    /// Opens one. `None` where no browser is named.
    pub(crate) fn open(app: &TestApp) -> Option<Self> {
        Driver::start(app.directory()).map(|driver| Self { driver })
    }

    /// Makes the window as wide as a phone.
    pub(crate) fn become_a_phone(&self) {
        let phone = json!({"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": true});
        self.driver.command("Emulation.setDeviceMetricsOverride", &phone);
    }

    /// Makes the window as narrow as a page must bear (WCAG 2.2, 1.4.10): 320 pixels.
    pub(crate) fn become_narrow(&self) {
        let narrow = json!({"width": 320, "height": 640, "deviceScaleFactor": 1, "mobile": true});
        self.driver.command("Emulation.setDeviceMetricsOverride", &narrow);
    }

    /// Runs no script of pages from now on, or runs them again.
    pub(crate) fn run_scripts(&self, runs: bool) {
        self.driver.command("Emulation.setScriptExecutionDisabled", &json!({ "value": !runs }));
    }

    /// Has axe-core look at the page: it finds nothing that WCAG 2.2 forbids at level AA. Says "skipped" where
    /// `QUITA_TEST_AXE` names no file.
    #[track_caller]
    pub(crate) fn check_accessible(&self, name: &str) {
        const RUN: &str = "const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'];
            const found = (result) => result.violations.flatMap((violation) =>
                violation.nodes.map((node) => `${violation.id} at ${node.target}: ${node.failureSummary}`));
            return axe.run(document, { runOnly: tags, resultTypes: ['violations'] }).then(found)";
        let Some(file) = std::env::var_os("QUITA_TEST_AXE") else {
            println!("skipped: QUITA_TEST_AXE is not set; scripts/test sets it");
            return;
        };
        self.look(name);
        self.script(&fs::read_to_string(file).expect("QUITA_TEST_AXE is a file"));
        assert_eq!(self.script(RUN), json!([]), "{name}");
    }

    /// Has the pages shown as to somebody who prefers the dark.
    pub(crate) fn in_the_dark(&self) {
        let dark = json!({"features": [{"name": "prefers-color-scheme", "value": "dark"}]});
        self.driver.command("Emulation.setEmulatedMedia", &dark);
    }

    pub(crate) fn go_to(&self, url: &str) {
        self.driver.post("url", &json!({ "url": url }));
    }

    /// Returns the address of the window.
    pub(crate) fn url(&self) -> String {
        self.driver.get("url").as_str().unwrap().to_owned()
    }

    /// Waits until the window is at an address that ends so, query left out.
    #[track_caller]
    pub(crate) fn wait_for_address(&self, end: &str) {
        eventually(PATIENCE, &format!("the window is at {end}"), || {
            self.url().split('?').next().unwrap().ends_with(end).then_some(())
        });
    }

    /// The text of the first element that matches, as it is shown.
    #[track_caller]
    pub(crate) fn text(&self, css: &str) -> String {
        self.driver.element(css, "text", None).as_str().unwrap_or_default().to_owned()
    }

    /// The text of every element that matches, as it is shown; with plain blanks.
    pub(crate) fn texts(&self, css: &str) -> Vec<String> {
        let script =
            "return [...document.querySelectorAll(arguments[0])].map((element) => element.innerText)";
        let texts = self.driver.script(script, &json!([css]));
        let plain = |text: &Value| text.as_str().unwrap_or_default().replace('\u{a0}', " ");
        texts.as_array().unwrap().iter().map(plain).collect()
    }

    /// Returns the number of elements that match.
    pub(crate) fn count(&self, css: &str) -> usize {
        self.texts(css).len()
    }

    /// The value of a form's field.
    #[track_caller]
    pub(crate) fn value(&self, css: &str) -> String {
        self.driver.element(css, "property/value", None).as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    pub(crate) fn is_displayed(&self, css: &str) -> bool {
        self.driver.element(css, "displayed", None).as_bool().unwrap()
    }

    /// Clicks on the first element that matches, as soon as it can be clicked on.
    #[track_caller]
    pub(crate) fn click(&self, css: &str) {
        self.driver.element(css, "click", Some(&json!({})));
    }

    /// Types into a field, instead of what it held.
    #[track_caller]
    pub(crate) fn enter(&self, css: &str, text: &str) {
        self.driver.element(css, "clear", Some(&json!({})));
        self.driver.element(css, "value", Some(&json!({ "text": text })));
    }

    /// Chooses an entry of a list by its value.
    #[track_caller]
    pub(crate) fn choose(&self, css: &str, value: &str) {
        self.click(&format!("{css} option[value=\"{value}\"]"));
    }

    /// Waits until an element matches.
    #[track_caller]
    pub(crate) fn wait_for(&self, css: &str) {
        eventually(PATIENCE, &format!("there is {css}"), || (self.count(css) > 0).then_some(()));
    }

    /// Waits until no element matches.
    #[track_caller]
    pub(crate) fn wait_until_gone(&self, css: &str) {
        eventually(PATIENCE, &format!("there is no {css}"), || (self.count(css) == 0).then_some(()));
    }

    /// Waits until an element says this.
    #[track_caller]
    pub(crate) fn wait_for_text(&self, css: &str, expected: &str) {
        eventually(PATIENCE, &format!("{css} says {expected}"), || {
            self.texts(css).iter().any(|text| text.contains(expected)).then_some(())
        });
    }

    /// Runs a function's body in the page and gives what it returns.
    pub(crate) fn script(&self, body: &str) -> Value {
        self.driver.script(body, &json!([]))
    }

    /// The value of a cookie of the page, also of one that scripts don't see.
    pub(crate) fn cookie(&self, name: &str) -> Option<String> {
        let cookies = self.driver.get("cookie");
        let mut cookies = cookies.as_array().unwrap().iter();
        cookies.find(|cookie| cookie["name"] == name).map(|cookie| cookie["value"].as_str().unwrap().into())
    }

    /// Gives the page's host a cookie.
    pub(crate) fn set_cookie(&self, name: &str, value: &str) {
        self.driver.post("cookie", &json!({"cookie": {"name": name, "value": value}}));
    }

    pub(crate) fn delete_cookies(&self) {
        self.driver.delete("cookie");
    }

    /// Sends the page's own form; the frame has others.
    #[track_caller]
    pub(crate) fn submit(&self) {
        self.click("main form .button-primary");
    }

    /// Nothing of the page lies beyond its right edge; tables and code may scroll within theirs. Keeps a picture.
    #[track_caller]
    pub(crate) fn check_fits(&self, name: &str) {
        let widths = "const page = document.documentElement; return [page.scrollWidth, page.clientWidth]";
        let widths = self.script(widths);
        self.look(name);
        assert_eq!(widths[0], widths[1], "{name} is wider than the window");
    }

    /// Keeps a picture of the whole page, if `QUITA_TEST_SCREENSHOTS` names a directory for them.
    pub(crate) fn look(&self, name: &str) {
        let Some(directory) = std::env::var_os("QUITA_TEST_SCREENSHOTS").map(PathBuf::from) else { return };
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{name}.png")), self.picture()).unwrap();
    }

    /// A picture of the whole page, as PNG.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let all = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.driver.command("Page.captureScreenshot", &all);
        STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// Has pages seen in the dark, or in the light.
    pub(crate) fn prefer_colours(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.driver.command("Emulation.setEmulatedMedia", &features);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let log = self.driver.log();
        if std::thread::panicking() {
            eprintln!("the browser's console: {log:#?}");
            return;
        }
        let bad: Vec<_> = log.iter().filter(|entry| is_bad(entry)).collect();
        assert!(bad.is_empty(), "a page did what it must not: {bad:#?}");
    }
}

/// Returns true if a page broke its policy, or a script of it failed. A page that answered 404, say, did neither.
fn is_bad(entry: &Value) -> bool {
    let said = entry["message"].as_str().unwrap_or_default();
    let is_policy = said.contains("Content Security Policy") || entry["source"] == "security";
    is_policy || (entry["source"] == "javascript" && entry["level"] == "SEVERE")
}
