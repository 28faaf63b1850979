//! Schedules requests with a precision of some 50 µs: tokio's own timer only has milliseconds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::tally;

/// The times at which requests are due, which wait for free connections.
#[derive(Clone)]
pub(crate) struct Due {
    times: Arc<Mutex<VecDeque<Instant>>>,
    waiting: Arc<Semaphore>,
    late: Arc<Mutex<Histogram<u64>>>,
}

impl Due {
    /// Makes this many requests a second due, at equal intervals, on a separate thread.
    ///
    /// # Errors
    /// Fails if no thread can be started.
    pub(crate) fn at_rate(rate: u32, lasting: Duration) -> anyhow::Result<Self> {
        let late = Arc::new(Mutex::new(tally::histogram()?));
        let due = Self { times: Arc::default(), waiting: Arc::new(Semaphore::new(0)), late };
        let beating = due.clone();
        thread::Builder::new().name("metronome".into()).spawn(move || beating.beat(rate, lasting))?;
        Ok(due)
    }

    /// Waits for the next due time. Returns `None` at the end.
    pub(crate) async fn next(&self) -> Option<Instant> {
        if let Ok(permit) = self.waiting.acquire().await {
            permit.forget();
        }
        // Requests that were due before the end are still sent.
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
                tally::record(&mut self.late(), now - due);
                number += 1;
                fallen_due += 1;
            }
            self.waiting.add_permits(fallen_due);
        }
        self.waiting.close();
    }

    /// Returns quantiles of the lateness of requests when they were handed out.
    pub(crate) fn lateness(&self) -> Value {
        tally::quantiles(&self.late())
    }

    fn late(&self) -> MutexGuard<'_, Histogram<u64>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn times(&self) -> MutexGuard<'_, VecDeque<Instant>> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
