//! The driver's own threads, which read and write its connections.
//!
//! A reply arrives in pieces. Each piece would wake the thread that connected, which would then wake the waiting one.
//! So large or frequent work, which means payments, runs on these threads too. The thread that is woken reads on,
//! encodes and decodes, and wakes the caller once.

use std::future::Future;
use std::thread::available_parallelism;

use quita_ports::StoreError;
use tokio::runtime::{Builder, Runtime};

/// Number of cores for each thread.
const CORES_PER_THREAD: usize = 4;

/// Threads that run MongoDB operations on payments.
#[derive(Debug)]
pub(super) struct Threads(Option<Runtime>);

impl Threads {
    /// Starts the threads.
    pub(super) fn start() -> Result<Self, StoreError> {
        let cores = available_parallelism().map_or(1, usize::from);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.div_ceil(CORES_PER_THREAD))
            .thread_name("quita-store")
            .enable_all()
            .build();
        let no_thread = |error| StoreError::Unavailable(format!("no thread for the store: {error}"));
        Ok(Self(Some(runtime.map_err(no_thread)?)))
    }

    /// Runs this work on these threads. The work is finished even if nobody waits for it any longer, unless the store
    /// is dropped.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the work panicked: its outcome is unknown.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let lost = || StoreError::Unavailable("a task of the store was lost".into());
        let runtime = self.0.as_ref().ok_or_else(lost)?;
        runtime.spawn(work).await.map_err(|_| lost())
    }
}

impl Drop for Threads {
    /// Shuts down without waiting, because a runtime's own threads must not block.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
