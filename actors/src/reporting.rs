//! Exceptions on their way to the store: what an operator has to see is not lost because the store was away.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::exception::Exception;
use quita_ports::StoreError;
use tokio::time::{sleep, timeout};

use crate::shared::Shared;

/// The first wait before an exception is stored again, and the longest; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Exceptions that wait to be stored, by their ids.
#[derive(Default)]
pub(crate) struct Reporting(Mutex<HashSet<String>>);

impl Reporting {
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stores an exception in a task of its own, again and again until it is stored. The same one is on its way once.
///
/// Lost with the process; the log has it.
pub(crate) fn report_until_stored(shared: &Arc<Shared>, exception: Exception) {
    let id = exception.id.clone();
    {
        let mut waiting = shared.reporting.lock();
        if waiting.contains(&id) {
            return;
        }
        if waiting.len() >= shared.limits.exceptions_waiting {
            tracing::error!(
                transaction.id = %exception.transaction_id, kind = exception.kind, detail = exception.detail,
                "an exception was given up: too many wait to be stored"
            );
            return;
        }
        waiting.insert(id.clone());
    }
    let on_its_way = OnItsWay { shared: Arc::clone(shared), id };
    actix::spawn(async move {
        on_its_way.shared.announce(&exception);
        let mut wait = FIRST_WAIT;
        while let Err(error) = store(&on_its_way.shared, &exception).await {
            tracing::warn!(%error, exception.id = exception.id, "an exception could not be stored; it is tried again");
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(LONGEST_WAIT);
        }
    });
}

async fn store(shared: &Shared, exception: &Exception) -> Result<(), StoreError> {
    let away = |_| Err(StoreError::Unavailable("the store takes too long".into()));
    timeout(shared.limits.write_time_out, shared.store.put_exception(exception)).await.unwrap_or_else(away)
}

/// Takes the id away again, however its task ends.
struct OnItsWay {
    shared: Arc<Shared>,
    id: String,
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.shared.reporting.lock().remove(&self.id);
    }
}
