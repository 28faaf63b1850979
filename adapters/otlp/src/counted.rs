//! Counts of sent and lost spans.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// Shortest time between two log lines about lost spans.
const LOGGED_EVERY: Duration = Duration::from_secs(60);

/// Outcome of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The collector answered that it accepted the batch; only its own log may tell if it kept every span.
    Exported,
    /// The span was lost: there was no room, or the collector did not accept it.
    Lost,
}

/// Counts of the spans between their end and the collector.
pub(super) struct Queue {
    room: usize,
    /// Spans that wait, and spans that are being sent.
    waiting: AtomicUsize,
    /// Spans lost since the last log line about losses.
    lost: AtomicUsize,
    logged_at: Mutex<Option<Instant>>,
    tell: Box<dyn Fn(Fate, usize) + Send + Sync>,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("waiting", &self.waiting).field("lost", &self.lost).finish()
    }
}

impl Queue {
    pub(super) fn new(room: usize, tell: impl Fn(Fate, usize) + Send + Sync + 'static) -> Self {
        let waiting = AtomicUsize::new(0);
        let lost = AtomicUsize::new(0);
        Self { room, waiting, lost, logged_at: Mutex::default(), tell: Box::new(tell) }
    }

    /// Counts one more waiting span. If the queue is full, the span counts as lost.
    pub(super) fn has_room(&self) -> bool {
        // Counted before it is compared: two threads that compared first could both take the last place.
        let has_room = self.waiting.fetch_add(1, Ordering::Relaxed) < self.room;
        if !has_room {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            self.lose(1);
        }
        has_room
    }

    /// Counts this many spans as sent, or as failed.
    fn ended(&self, count: usize, result: &OTelSdkResult) {
        self.waiting.fetch_sub(count, Ordering::Relaxed);
        match result {
            Ok(()) => (self.tell)(Fate::Exported, count),
            Err(_) => self.lose(count),
        }
    }

    fn lose(&self, count: usize) {
        self.lost.fetch_add(count, Ordering::Relaxed);
        (self.tell)(Fate::Lost, count);
    }

    /// Logs the losses, unless a log line about them is recent.
    fn log_losses(&self, why: Option<&OTelSdkError>) {
        let mut logged_at = self.logged_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = logged_at.is_none_or(|at| at.elapsed() >= LOGGED_EVERY);
        if !is_due || self.lost.load(Ordering::Relaxed) == 0 {
            return;
        }
        *logged_at = Some(Instant::now());
        let spans = self.lost.swap(0, Ordering::Relaxed);
        let why = why.map_or_else(|| "they came faster than they could be sent".into(), ToString::to_string);
        tracing::warn!(spans, why, "trace spans were lost; payments are not affected");
    }

    /// Logs the losses since the last log line: no later call will do it.
    pub(super) fn close(&self, is_flushed: bool) {
        let left = if is_flushed { 0 } else { self.waiting.load(Ordering::Relaxed) };
        let spans = self.lost.swap(0, Ordering::Relaxed).saturating_add(left);
        if spans > 0 {
            tracing::warn!(spans, "the last trace spans were lost; payments are not affected");
        }
    }
}

/// An exporter whose successes and failures are counted.
#[derive(Debug)]
pub(super) struct Counted<E> {
    exporter: E,
    queue: Arc<Queue>,
}

impl<E> Counted<E> {
    pub(super) const fn new(exporter: E, queue: Arc<Queue>) -> Self {
        Self { exporter, queue }
    }
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let count = batch.len();
        let result = self.exporter.export(batch).await;
        self.queue.ended(count, &result);
        self.queue.log_losses(result.as_ref().err());
        result
    }

    fn shutdown_with_timeout(&self, within: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(within)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.exporter.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}
