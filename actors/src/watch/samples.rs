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
    past: Mutex<SampleHistory>,
    per_kept: u32,
    kept: usize,
}

#[derive(Default)]
struct SampleHistory {
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

    fn past(&self) -> MutexGuard<'_, SampleHistory> {
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
        let mut past = self.past();
        let reading = Arc::new(reading.after(past.newest.as_deref()));
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

#[cfg(test)]
mod tests {
    use quita_domain::time::Timestamp;

    use super::*;
    use crate::store::slow_connection::meter;

    const MINUTE_MS: i64 = 60_000;

    #[test]
    fn webhooks_fail_once_no_attempt_was_confirmed_for_a_quarter_of_an_hour_however_few_there_are() {
        let meter = meter();
        let samples = Samples::new(&Limits::default());
        let count = |outcome| meter.webhook_deliveries.with_label_values(&[outcome]).inc();
        let failing_at = |minute: i64| {
            let at = Timestamp::from_millis(minute * MINUTE_MS);
            samples.add(Reading::take(&meter, None, at));
            let since = samples.follow().borrow().webhooks_failing_since();
            since.map(|since| since.millis() / MINUTE_MS)
        };
        meter.webhook_backlog.set(6);
        assert_eq!(failing_at(0), None);
        assert_eq!(failing_at(30), None, "nothing was tried");
        count("failed");
        assert_eq!(failing_at(31), None);
        assert_eq!(failing_at(45), None);
        assert_eq!(failing_at(46), Some(31), "one attempt is enough");
        count("refused");
        assert_eq!(failing_at(90), Some(31));
        meter.webhook_backlog.set(0);
        assert_eq!(failing_at(91), None, "nothing waits any more");
        meter.webhook_backlog.set(6);
        count("delivered");
        count("failed");
        assert_eq!(failing_at(92), None);
        assert_eq!(failing_at(120), None);
        count("failed");
        assert_eq!(failing_at(121), None);
        assert_eq!(failing_at(136), Some(121));
    }
}
