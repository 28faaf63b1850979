//! The probe: asks a store that nobody else may be asking whether it answers.

use std::sync::Arc;
use std::time::Duration;

use quita_ports::WholeStore;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// Time between two probes.
const EVERY: Duration = Duration::from_secs(1);
/// Time that one may take.
const TIME_OUT: Duration = Duration::from_secs(2);

/// Asks again and again. The store is one that is watched: its state learns of every answer, and of each that did not
/// come in time.
pub(crate) async fn keep_probing(store: Arc<dyn WholeStore>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let answered = timeout(TIME_OUT, store.ping()).await;
        // The state logs it, once.
        drop(answered);
    }
}
