//! The probe: checks whether the store answers, because nothing else may be calling it.

use std::time::Duration;

use quita_ports::WholeStore;
use tokio::time::timeout;

use crate::jobs::{JobName, JobOutcome, Rhythm};

/// Schedule of the probe.
pub(crate) const PROBE: Rhythm =
    Rhythm { name: JobName::StoreProbe, every: Duration::from_secs(1), first_after: Duration::ZERO };
/// Time limit for a probe.
const TIME_OUT: Duration = Duration::from_secs(2);

/// Probes once. The store must be a monitored one: its state records every answer and every missed time limit, and logs
/// it.
pub(crate) async fn probe(store: &dyn WholeStore) -> JobOutcome {
    match timeout(TIME_OUT, store.ping()).await {
        Ok(answered) => answered.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", TIME_OUT.as_secs())),
    }
}
