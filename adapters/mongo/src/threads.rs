//! Threads of the driver's own, where it reads and writes its connections.
//!
//! A reply arrives in pieces. Each would wake the thread that connected, which would wake the one that waits. So what
//! is large or frequent, which is payments, is run there too: the thread that is woken reads on, encodes and decodes,
//! and wakes the caller once.

use std::future::Future;
use std::thread::available_parallelism;

use quita_ports::StoreError;
use tokio::runtime::{Builder, Runtime};

/// One thread for this many cores.
const CORES_PER_THREAD: usize = 4;

/// Runs what talks to MongoDB about payments.
#[derive(Debug)]
pub(super) struct Threads(Option<Runtime>);

impl Threads {
    /// Starts them.
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

    /// Runs this work on these threads. It is finished even if nobody waits for it any longer, unless the store is
    /// dropped.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it panicked: what became of it is unknown.
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
    /// Does not wait: a runtime's own threads may not.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
