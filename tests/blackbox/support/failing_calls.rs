//! A process whose calls of the system fail, by way of `strace`.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::eventually::{PATIENCE, eventually};
use super::running::Running;

/// Lets calls of a process fail until it is dropped.
pub(crate) struct FailingCalls {
    tracer: Child,
}

impl FailingCalls {
    /// Lets these calls of all threads fail with this error from now on: every one, or those that `when` names
    /// (`3`, `3+`, `1+2`, as `strace` has it). `None`, and a line that says so, if that is not possible here.
    pub(crate) fn begin(process: &Running, calls: &str, error: &str, when: &str) -> Option<Self> {
        let inject = format!("inject={calls}:error={error}:when={when}");
        let id = process.id().to_string();
        let tracer = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={calls}"), "-e", &inject, "-p", &id])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut tracer) = tracer else {
            println!("skipped: strace is not there");
            return None;
        };
        let is_attached = eventually(PATIENCE, "strace is attached", || {
            if tracer.try_wait().unwrap().is_some() {
                return Some(false);
            }
            all_threads_are_traced(&id).then_some(true)
        });
        if !is_attached {
            println!("skipped: strace may not trace a process here (root may)");
            return None;
        }
        Some(Self { tracer })
    }
}

impl Drop for FailingCalls {
    fn drop(&mut self) {
        // It lets go of the process when it is told to end; if it is killed instead the process may stay stopped.
        let id = self.tracer.id().to_string();
        drop(Command::new("sh").args(["-c", "kill -s TERM \"$1\"", "sh", &id]).status());
        let mut waited = Duration::ZERO;
        while self.tracer.try_wait().unwrap().is_none() {
            super::pause(Duration::from_millis(10));
            waited += Duration::from_millis(10);
            if waited > PATIENCE {
                drop(self.tracer.kill());
            }
        }
    }
}

fn all_threads_are_traced(process: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let statuses = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
    let mut tracers = statuses.map(|status| {
        status.lines().find_map(|line| line.strip_prefix("TracerPid:").map(|id| id.trim().to_owned()))
    });
    tracers.all(|tracer| tracer.is_some_and(|id| id != "0"))
}
