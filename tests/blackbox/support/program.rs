//! The program `quita`, run as a person would.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::running::Running;

/// Long: some commands write a thousand times, and a disk under many tests may be slow.
const ENDS_WITHIN: Duration = Duration::from_secs(120);

/// One call of the program, and then how it ended.
pub(crate) struct Program {
    command: Command,
    directory: PathBuf,
}

/// Result of a call that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// The exit code; `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Program {
    /// The program with these arguments, in a directory of its own, without any `QUITA_…` of the surroundings.
    pub(crate) fn new<A: AsRef<OsStr>>(directory: &Path, arguments: impl IntoIterator<Item = A>) -> Self {
        // A release build, say, instead of the one that cargo built for this test.
        let path = std::env::var_os("QUITA_TEST_PROGRAM");
        let mut command = Command::new(path.unwrap_or_else(|| env!("CARGO_BIN_EXE_quita").into()));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("QUITA_") {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(directory);
        Self { command, directory: directory.to_owned() }
    }

    /// Sets a variable of its environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Lets it have no more open files than this, nor raise that by itself.
    pub(crate) fn open_files(self, most: u32) -> Self {
        self.limited(&format!("-n {most}"))
    }

    /// Lets it dump cores, as far as that may be allowed.
    pub(crate) fn with_cores(self) -> Self {
        self.limited("-S -c $(ulimit -H -c)")
    }

    fn limited(mut self, limit: &str) -> Self {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit {limit} && exec \"$@\""), "sh"]);
        limited.arg(self.command.get_program()).args(self.command.get_args()).current_dir(&self.directory);
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        self.command = limited;
        self
    }

    /// Lets it run beside the test.
    pub(crate) fn start(self, name: &str) -> Running {
        Running::start(self.command, &self.directory, name)
    }

    /// Runs it to its end with nobody reading what it prints, as behind `| head` that has enough.
    pub(crate) fn run_unread(mut self) -> Finished {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let command = self.command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped());
        let ended = command.spawn().unwrap().wait_with_output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        Finished { code: ended.status.code(), stdout: String::new(), stderr }
    }

    /// Runs it to its end.
    pub(crate) fn run(self) -> Finished {
        let directory = tempfile::tempdir().unwrap();
        let mut running = Running::start(self.command, directory.path(), "program");
        let code = running.wait(ENDS_WITHIN).code();
        Finished { code, stdout: running.stdout(), stderr: running.stderr() }
    }
}

impl Finished {
    /// Returns what it printed, without the end of the line.
    ///
    /// # Panics
    /// If it failed.
    #[track_caller]
    pub(crate) fn output(self) -> String {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self.stdout.trim_end().to_owned()
    }

    /// Lines that it said beside its results, without the line that names the store.
    pub(crate) fn beside_the_store(&self) -> String {
        self.stderr
            .lines()
            .filter(|line| !line.starts_with("Store: "))
            .map(|line| format!("{line}\n"))
            .collect()
    }

    /// Returns its standard output, and then its standard error.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}
