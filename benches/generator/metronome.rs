//! Gives out when requests are due, exact to some 50 µs: tokio's own timer knows only milliseconds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;

/// The times at which requests are due, waiting for connections that are free.
#[derive(Clone)]
pub(crate) struct Due {
    times: Arc<Mutex<VecDeque<Instant>>>,
    waiting: Arc<Semaphore>,
}

impl Due {
    /// Lets so many requests a second become due, at equal distances, on a thread of its own.
    ///
    /// # Errors
    /// When there can be no thread.
    pub(crate) fn at_rate(rate: u32, lasting: Duration) -> std::io::Result<Self> {
        let due = Self { times: Arc::default(), waiting: Arc::new(Semaphore::new(0)) };
        let beating = due.clone();
        thread::Builder::new().name("metronome".into()).spawn(move || beating.beat(rate, lasting))?;
        Ok(due)
    }

    /// The next time, once it has come. `None` when there will be no more.
    pub(crate) async fn next(&self) -> Option<Instant> {
        if let Ok(permit) = self.waiting.acquire().await {
            permit.forget();
        }
        // What had become due before the end is still worked.
        self.times().pop_front()
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "it waits on a thread of its own, and for less than a millisecond"
    )]
    fn beat(&self, rate: u32, lasting: Duration) {
        let start = Instant::now();
        let mut number = 0;
        loop {
            let after = Duration::from_secs(1) * number / rate.max(1);
            if after >= lasting {
                break;
            }
            thread::sleep((start + after).saturating_duration_since(Instant::now()));
            let mut fallen_due = 0;
            let now = Instant::now();
            while let due = start + Duration::from_secs(1) * number / rate.max(1)
                && due <= now
            {
                self.times().push_back(due);
                number += 1;
                fallen_due += 1;
            }
            self.waiting.add_permits(fallen_due);
        }
        self.waiting.close();
    }

    fn times(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
