//! A store that does not answer for a while, although it is there.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// Takes the locks that readers of a database in WAL mode need (https://sqlite.org/walformat.html, section 2.3.1).
const HOLD: &str = "import fcntl, sys; shared = open(sys.argv[1], 'r+b'); \
    fcntl.lockf(shared, fcntl.LOCK_EX, 5, 123); print('held', flush=True); sys.stdin.read()";

/// An SQLite file that lets nobody read. Dropping it lets those who wait go on.
pub(crate) struct HeldStore(Child);

impl HeldStore {
    /// `None`, and a line that says so, if the store is no file, or no Python is named.
    pub(crate) fn hold(store_url: &str) -> Option<Self> {
        let (Some(path), Ok(python)) =
            (store_url.strip_prefix("sqlite:"), std::env::var("QUITA_TEST_PYTHON"))
        else {
            println!("skipped: only an SQLite file is held, by QUITA_TEST_PYTHON");
            return None;
        };
        let mut holder = Command::new(python);
        let holder = holder.args(["-c", HOLD, &format!("{path}-shm")]);
        let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "held");
        Some(Self(holder))
    }
}

impl Drop for HeldStore {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().ok();
    }
}
