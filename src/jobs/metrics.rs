//! Metrics of background jobs, collected at each scrape.

use std::sync::{Mutex, PoisonError};

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{IntCounterVec, IntGaugeVec, Opts, Registry};

use super::{JobBoard, JobState, Rhythm};

/// Label with the job's name. Prometheus reserves `job` for its scrape targets.
const LABEL: &str = "name";

/// Metrics of the jobs on a board.
pub(crate) struct JobMetrics {
    board: JobBoard,
    succeeded_at: IntGaugeVec,
    failures: IntCounterVec,
    failing: IntGaugeVec,
    /// Held during a scrape: two concurrent ones would count a failure twice.
    turn: Mutex<()>,
}

impl JobMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    /// Fails if another metric has one of their names.
    pub(crate) fn register(board: JobBoard, registry: &Registry) -> prometheus::Result<()> {
        let succeeded_at = IntGaugeVec::new(
            Opts::new(
                "quita_job_last_success_timestamp_seconds",
                "End of the last successful run of a background job",
            ),
            &[LABEL],
        )?;
        let failures = IntCounterVec::new(
            Opts::new("quita_job_failures_total", "Failed runs of background jobs"),
            &[LABEL],
        )?;
        let failing = IntGaugeVec::new(
            Opts::new(
                "quita_job_failing",
                "1 while the last run of a background job has failed, or the current one takes much longer than it should",
            ),
            &[LABEL],
        )?;
        registry.register(Box::new(Self { board, succeeded_at, failures, failing, turn: Mutex::default() }))
    }

    fn note(&self, rhythm: Rhythm, state: &JobState) {
        let name = [rhythm.name.as_str()];
        if let Some(at) = state.succeeded_at {
            self.succeeded_at.with_label_values(&name).set(at.millis().div_euclid(1_000));
        }
        let failures = self.failures.with_label_values(&name);
        // A Prometheus counter can't be set, so only the increase since the last scrape is added.
        failures.inc_by(state.failures.saturating_sub(failures.get()));
        let is_failing = state.failure.is_some() || state.overrun(rhythm).is_some();
        self.failing.with_label_values(&name).set(i64::from(is_failing));
    }
}

impl Collector for JobMetrics {
    fn desc(&self) -> Vec<&Desc> {
        [self.succeeded_at.desc(), self.failures.desc(), self.failing.desc()].concat()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        for (rhythm, state) in self.board.states() {
            self.note(rhythm, &state);
        }
        [self.succeeded_at.collect(), self.failures.collect(), self.failing.collect()].concat()
    }
}
