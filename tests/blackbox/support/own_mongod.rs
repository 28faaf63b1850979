//! A MongoDB server of its own for a test that stops it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use super::{PATIENCE, eventually};

/// A replica set of one on a free port. Dropping it ends it.
pub(crate) struct OwnMongod {
    directory: TempDir,
    uri: String,
}

impl OwnMongod {
    /// `None`, and a line that says so, if `scripts/mongod` may not start one.
    pub(crate) fn start() -> Option<Self> {
        if std::env::var_os("MONGODB_URI").is_some_and(|uri| !uri.is_empty()) {
            println!("skipped: MONGODB_URI names somebody else's server, which can't be stopped");
            return None;
        }
        let directory = tempfile::Builder::new().prefix("quita-test-mongod-").tempdir().unwrap();
        // Between the choice of a port and its use somebody else may take it.
        let mut tries = 5;
        let started = loop {
            let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
            let port = listener.local_addr().unwrap().port().to_string();
            drop(listener);
            let started = call(directory.path(), &["start", "--port", &port]);
            tries -= 1;
            if started.status.success() || tries == 0 {
                break started;
            }
            drop(std::fs::remove_dir_all(directory.path().join("set")));
        };
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let uri = String::from_utf8_lossy(&started.stdout).trim().to_owned();
        Some(Self { directory, uri })
    }

    pub(crate) fn uri(&self) -> &str {
        &self.uri
    }

    /// Stops it in the middle of whatever it does: from then on it answers nothing.
    pub(crate) fn stop(&self) {
        self.signal("STOP");
        // A signal that was sent need not have been taken: on a busy machine threads go on until one of them has.
        let tasks = format!("/proc/{}/task", self.id());
        eventually(PATIENCE, "the server stands still", || {
            std::fs::read_dir(&tasks).unwrap().flatten().all(|task| is_stopped(&task.path())).then_some(())
        });
    }

    /// Lets it go on.
    pub(crate) fn go_on(&self) {
        self.signal("CONT");
    }

    fn id(&self) -> String {
        let id = std::fs::read_to_string(self.directory.path().join("set/node0/pid")).unwrap();
        id.trim().to_owned()
    }

    fn signal(&self, name: &str) {
        let script = "kill -s \"$1\" \"$2\"";
        let status = Command::new("sh").args(["-c", script, "sh", name, &self.id()]).status().unwrap();
        assert!(status.success(), "SIG{name} could not be sent");
    }
}

/// Returns true if a thread stands still or is gone. Its state in `stat` follows its name in parentheses.
fn is_stopped(task: &Path) -> bool {
    std::fs::read_to_string(task.join("stat"))
        .map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('T')))
}

impl Drop for OwnMongod {
    fn drop(&mut self) {
        // A stopped one can't end.
        self.go_on();
        let stopped = call(self.directory.path(), &["stop"]);
        if !stopped.status.success() {
            eprintln!("mongod stays behind: {}", String::from_utf8_lossy(&stopped.stderr));
        }
    }
}

fn call(directory: &Path, arguments: &[&str]) -> Output {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("scripts").join("mongod");
    Command::new(script).args(arguments).arg("--dir").arg(directory).output().unwrap()
}
