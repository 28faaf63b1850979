//! Recent samples of the meters, for the pages that show them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::actor::kind::ActorKind;
use crate::limits::{Limits, READINGS_KEPT};
use crate::watch::reading::{Reading, Scales};
use crate::watch::sample::{MessageSample, Sample};

/// Recent samples and the readings behind them.
pub(crate) struct Samples {
    scales: Scales,
    newest: watch::Sender<Arc<Sample>>,
    past: Mutex<Past>,
    per_kept: u32,
    kept: usize,
}

#[derive(Default)]
struct Past {
    samples: VecDeque<Arc<Sample>>,
    readings: VecDeque<Arc<Reading>>,
    newest: Option<Arc<Reading>>,
    /// Readings since the last one that was kept.
    since_kept: u32,
}

impl Samples {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            scales: Scales::default(),
            newest: watch::Sender::default(),
            past: Mutex::default(),
            per_kept: limits.samples_per_kept.max(1),
            kept: limits.samples_kept,
        }
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to samples, starting with the newest.
    pub(crate) fn follow(&self) -> watch::Receiver<Arc<Sample>> {
        self.newest.subscribe()
    }

    /// Returns the kept samples, oldest first.
    pub(crate) fn history(&self) -> Vec<Arc<Sample>> {
        self.past().samples.iter().cloned().collect()
    }

    /// Returns the figures of each message of one kind of actor during the last minute.
    pub(crate) fn messages(&self, kind: ActorKind) -> Vec<MessageSample> {
        let (newest, oldest) = {
            let past = self.past();
            (past.newest.clone(), past.readings.front().cloned())
        };
        let both = newest.zip(oldest);
        both.map(|(newest, oldest)| newest.messages(&oldest, kind, &self.scales)).unwrap_or_default()
    }

    /// Adds a reading and publishes the sample since the one before.
    pub(crate) fn add(&self, reading: Reading) {
        let reading = Arc::new(reading);
        let mut past = self.past();
        let before = past.newest.replace(Arc::clone(&reading));
        past.since_kept = past.since_kept.saturating_add(1);
        if past.since_kept >= self.per_kept || past.readings.is_empty() {
            past.since_kept = 0;
            let kept = past.readings.back().map(|before| reading.since(before, &self.scales));
            past.samples.extend(kept.map(Arc::new));
            past.readings.push_back(Arc::clone(&reading));
            let surplus = past.samples.len().saturating_sub(self.kept);
            past.samples.drain(..surplus);
            let surplus = past.readings.len().saturating_sub(READINGS_KEPT);
            past.readings.drain(..surplus);
        }
        drop(past);
        let before = before.unwrap_or_else(|| Arc::clone(&reading));
        self.newest.send_replace(Arc::new(reading.since(&before, &self.scales)));
    }
}
