//! A program that runs beside the test, and never outlives it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::eventually::eventually;

/// A program that runs. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Running {
    /// Starts a command; what it prints goes to `NAME.out` and `NAME.err` in `directory`, after what is there.
    pub(crate) fn start(mut command: Command, directory: &Path, name: &str) -> Self {
        let out = directory.join(format!("{name}.out"));
        let err = directory.join(format!("{name}.err"));
        let open = |path: &Path| File::options().create(true).append(true).open(path).unwrap();
        command.stdin(Stdio::null()).stdout(open(&out)).stderr(open(&err));
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        Self { child, out, err }
    }

    /// Its process id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns what it printed so far.
    pub(crate) fn stdout(&self) -> String {
        read(&self.out)
    }

    /// Returns what it logged so far.
    pub(crate) fn stderr(&self) -> String {
        read(&self.err)
    }

    /// Returns its exit status, if it has ended.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits for its end.
    pub(crate) fn wait(&mut self, within: Duration) -> ExitStatus {
        let what = format!("the end of process {}", self.id());
        eventually(within, &what, || self.ended())
    }

    /// Sends SIGKILL, which nothing can catch, and waits until the process is gone.
    pub(crate) fn kill(&mut self) {
        // It fails if the process has ended by itself, which is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Sends a signal by its name, `TERM` or `INT`.
    pub(crate) fn signal(&self, name: &str) {
        let script = "kill -s \"$1\" \"$2\"";
        let id = self.id().to_string();
        let status = Command::new("sh").args(["-c", script, "sh", name, &id]).status().unwrap();
        assert!(status.success(), "SIG{name} could not be sent");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}
