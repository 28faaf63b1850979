//! Somebody who may sign in to the merchants' console.

use super::{Browser, TestApp};

/// A user of a merchant.
#[derive(Debug, Clone)]
pub(crate) struct Account {
    pub(crate) email: String,
    pub(crate) password: String,
}

impl Account {
    /// Makes a user with `quita users create`, who may keep the password.
    #[track_caller]
    pub(crate) fn create(app: &TestApp, merchant: &str, email: &str, role: &str) -> Self {
        let arguments =
            ["users", "create", "--merchant", merchant, "--email", email, "--role", role, "--own"];
        let password = app.quita(&arguments).output();
        Self { email: email.into(), password }
    }

    /// Signs in with a browser.
    #[track_caller]
    pub(crate) fn sign_in(&self, app: &TestApp, browser: &Browser) {
        browser.go_to(&format!("{}/console/", app.url()));
        self.fill_in(browser);
    }

    /// Signs in where the form for it is shown.
    #[track_caller]
    pub(crate) fn fill_in(&self, browser: &Browser) {
        browser.enter("#email", &self.email);
        browser.enter("#password", &self.password);
        browser.click("form button.button-primary");
        browser.wait_for("header.bar");
    }
}
