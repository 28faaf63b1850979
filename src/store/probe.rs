//! The probe: asks a store that nobody else may be asking whether it answers.

use std::time::Duration;

use quita_ports::WholeStore;
use tokio::time::timeout;

use crate::jobs::{JobName, JobOutcome, Rhythm};

/// Rhythm of the probe.
pub(crate) const PROBE: Rhythm =
    Rhythm { name: JobName::StoreProbe, every: Duration::from_secs(1), first_after: Duration::ZERO };
/// Time that one may take.
const TIME_OUT: Duration = Duration::from_secs(2);

/// Asks once. The store is one that is watched: its state learns of every answer, and of each that did not come in
/// time, and logs it.
pub(crate) async fn probe(store: &dyn WholeStore) -> JobOutcome {
    match timeout(TIME_OUT, store.ping()).await {
        Ok(answered) => answered.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer within {} s", TIME_OUT.as_secs())),
    }
}
