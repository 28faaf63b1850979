//! Recording of traces, if the configuration names a collector.

use std::sync::Arc;

use prometheus::{IntCounterVec, Opts, Registry};
use quita_otlp::{Fate, OtlpTracer};
use quita_ports::trace::Tracer;

use quita_config::Config;

/// Recorder of traces, or none.
pub(crate) struct Traces(Option<Arc<OtlpTracer>>);

impl Traces {
    /// Starts recording if there is a collector. Counts the spans.
    pub(crate) fn start(config: &Config, registry: &Registry) -> anyhow::Result<Self> {
        let Some(otlp) = &config.otlp else { return Ok(Self(None)) };
        let help = "Trace spans, by whether they were exported or lost";
        let spans = IntCounterVec::new(Opts::new("quita_trace_spans_total", help), &["outcome"])?;
        registry.register(Box::new(spans.clone()))?;
        let [exported, lost] = ["exported", "lost"].map(|outcome| spans.with_label_values(&[outcome]));
        let count = move |fate, spans| {
            let counter = match fate {
                Fate::Exported => &exported,
                Fate::Lost => &lost,
            };
            counter.inc_by(u64::try_from(spans).unwrap_or(u64::MAX));
        };
        let tracer = OtlpTracer::start(&otlp.endpoint, otlp.share, env!("CARGO_PKG_VERSION"), count)?;
        tracing::info!(endpoint = %otlp.endpoint, "traces are recorded");
        Ok(Self(Some(Arc::new(tracer))))
    }

    /// Returns the tracer, if there is one.
    pub(crate) fn tracer(&self) -> Option<Arc<dyn Tracer>> {
        self.0.clone().map(|tracer| -> Arc<dyn Tracer> { tracer })
    }

    /// Sends the remaining spans, for at most two seconds.
    pub(crate) async fn stop(self) {
        let Some(tracer) = self.0 else { return };
        // `stop` blocks its thread, but the tasks on this one must continue until they end.
        if let Err(error) = tokio::task::spawn_blocking(move || tracer.stop()).await {
            tracing::error!(%error, "the last traces could not be sent");
        }
    }
}
