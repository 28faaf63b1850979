//! Threads that each own a connection, so that no async thread ever waits for a disk.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use quita_ports::StoreError;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

/// Jobs that may wait for a thread; a caller with another job waits until there is room.
const MAX_WAITING_JOBS: usize = 256;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// Threads that take jobs from one queue, oldest first.
#[derive(Debug)]
pub(super) struct Workers {
    queue: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts a thread for each connection.
    pub(super) fn start(name: &str, connections: Vec<Connection>) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(MAX_WAITING_JOBS);
        let jobs = Arc::new(Mutex::new(jobs));
        let mut workers = Self { queue: Some(queue), threads: Vec::new() };
        for connection in connections {
            let jobs = Arc::clone(&jobs);
            let thread = Builder::new().name(name.to_owned()).spawn(move || work(connection, &jobs));
            let no_thread = |error| StoreError::Unavailable(format!("no thread for {name}: {error}"));
            workers.threads.push(thread.map_err(no_thread)?);
        }
        Ok(workers)
    }

    /// Runs a job on one of the threads. Once queued it is run, even if nobody waits for the result.
    ///
    /// # Errors
    /// [`StoreError::Broken`] if the job panicked: its outcome is unknown.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        let ended = || StoreError::Broken("a job of the store was lost. Restart the service".into());
        let queue = self.queue.as_ref().ok_or_else(ended)?;
        let (reply, answer) = oneshot::channel();
        // If the answer can't be sent, nobody waits for it any longer.
        let job: Job = Box::new(move |connection| drop(reply.send(job(connection))));
        queue.send(job).await.map_err(|_| ended())?;
        answer.await.map_err(|_| ended())
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // Closing the queue lets the threads finish the queued jobs: these writes were accepted and may have been
        // acknowledged.
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A job's panic was caught, so the thread has nothing to report.
            drop(thread.join());
        }
    }
}

fn work(mut connection: Connection, jobs: &Mutex<mpsc::Receiver<Job>>) {
    while let Some(job) = next(jobs) {
        // The job's transaction is rolled back during unwinding, so the connection stays usable.
        if catch_unwind(AssertUnwindSafe(|| job(&mut connection))).is_err() {
            tracing::error!("a job of the embedded store panicked");
        }
    }
}

fn next(jobs: &Mutex<mpsc::Receiver<Job>>) -> Option<Job> {
    // The lock is held while waiting, so idle threads queue behind it, and each job goes to one of them.
    jobs.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv()
}
