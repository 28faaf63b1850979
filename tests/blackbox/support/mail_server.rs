//! A foreign mail server: the Python package `aiosmtpd`.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::eventually::{PATIENCE, eventually};
use super::running::Running;

/// The user whose messages it takes, and the password.
pub(crate) const MAIL_USER: &str = "quita";
pub(crate) const MAIL_PASSWORD: &str = "a password of the mail server";

/// A mail server on a loopback port. Dropping it stops it.
pub(crate) struct MailServer {
    process: Running,
    _directory: TempDir,
}

impl MailServer {
    /// Starts it; `None` where no Python is named: `scripts/test` names one.
    pub(crate) fn start() -> Option<Self> {
        let Ok(python) = std::env::var("QUITA_TEST_PYTHON") else {
            println!("skipped: QUITA_TEST_PYTHON is not set; scripts/test sets it");
            return None;
        };
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(python);
        command.args(["-c", include_str!("mail_server.py"), MAIL_USER, MAIL_PASSWORD]);
        let process = Running::start(command, directory.path(), "mail-server");
        Some(Self { process, _directory: directory })
    }

    /// The URL that the service is told.
    pub(crate) fn url(&self) -> String {
        let port = eventually(PATIENCE, "the mail server listens", || {
            let said = self.process.stdout();
            let (port, _) = said.split_once('\n')?;
            Some(port.to_owned())
        });
        format!("smtp://127.0.0.1:{port}")
    }

    /// Every message so far: its headers, its text, and the recipients of the envelope.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let said = self.process.stdout();
        let whole = said.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Waits for so many messages, and gives all that came.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize, within: Duration) -> Vec<Value> {
        eventually(within, "messages by e-mail", || {
            Some(self.messages()).filter(|messages| messages.len() >= count)
        })
    }
}
