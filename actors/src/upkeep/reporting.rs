//! Exceptions on their way to the store. An outage of the store must not lose anything that an operator has to see.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::exception::{Exception, UNREADABLE};
use quita_domain::identity::TransactionId;
use quita_domain::payment::{Discrepancy, Payment, Report, source_now};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, ExceptionStore, StoreError};
use tokio::time::{sleep, timeout};

use crate::denied::{Denied, warn_unless_away};
use crate::limits::Limits;
use crate::transaction::messages::Executed;
use crate::watch::meter::Meter;

/// First and longest wait before an exception is stored again; doubled each time.
const FIRST_WAIT: Duration = Duration::from_millis(200);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Reports exceptions to operators.
pub(crate) struct Exceptions {
    store: Arc<dyn ExceptionStore>,
    clock: Arc<dyn Clock>,
    meter: Arc<Meter>,
    time_out: Duration,
    capacity: usize,
    /// Ids of the exceptions waiting to be stored.
    waiting: Mutex<HashSet<String>>,
}

impl Exceptions {
    pub(crate) fn new(
        store: Arc<dyn ExceptionStore>,
        clock: Arc<dyn Clock>,
        meter: Arc<Meter>,
        limits: &Limits,
    ) -> Self {
        let time_out = limits.write_time_out;
        let capacity = limits.exceptions_waiting;
        Self { store, clock, meter, time_out, capacity, waiting: Mutex::default() }
    }

    fn waiting(&self) -> MutexGuard<'_, HashSet<String>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the exception for a discrepancy that is not stored with its payment.
    pub(crate) fn of(&self, payment: &Payment, discrepancy: &Discrepancy, source: &str) -> Exception {
        Report::of(payment, discrepancy, source, self.clock.now()).exception(payment.id)
    }

    /// Stores the discrepancies of a command that found no room in the payment, and retries until each is stored. A
    /// repetition after the payment has changed is another exception.
    pub(crate) fn report_all(self: &Arc<Self>, executed: &Executed) {
        let source = source_now(executed.source, &executed.payment);
        for discrepancy in &executed.unstored {
            self.report_until_stored(self.of(&executed.payment, discrepancy, &source));
        }
    }

    /// Returns those of a payment's reports that are not already on their way. The store reports one that finds no room
    /// as due again.
    pub(crate) fn take_up(self: &Arc<Self>, payment: &Payment) -> Vec<(String, OnItsWay)> {
        let take_up = |report: &Report| {
            let begun = self.begin(report.exception(payment.id)).ok()?;
            Some((report.key(), begun))
        };
        payment.reports.iter().filter_map(take_up).collect()
    }

    /// Stores an exception. If that fails, the caller reports it again.
    pub(crate) async fn report(&self, exception: Exception) -> Result<(), StoreError> {
        if self.store.put_exception(&exception).await? {
            self.announce(&exception);
        }
        Ok(())
    }

    /// Counts and logs an exception that is open.
    fn announce(&self, exception: &Exception) {
        self.meter.exceptions.with_label_values(&[&exception.kind]).inc();
        tracing::warn!(
            transaction.id = exception.transaction_id.map(display),
            kind = exception.kind,
            detail = exception.detail,
            "an exception needs an operator"
        );
    }

    /// Stores an exception in a separate task, which retries until it is stored. The same exception is on its way only
    /// once.
    ///
    /// If the process crashes, the exception is lost, but the log has it.
    pub(crate) fn report_until_stored(self: &Arc<Self>, exception: Exception) {
        match self.begin(exception) {
            Ok(on_its_way) => drop(actix::spawn(async move { on_its_way.store().await })),
            Err(NotStarted::OnItsWay) => {}
            Err(NotStarted::NoRoom(exception)) => tracing::error!(
                transaction.id = exception.transaction_id.map(display),
                kind = exception.kind,
                detail = exception.detail,
                "an exception was dropped: too many are waiting to be stored"
            ),
        }
    }

    /// Ensures that the same exception is on its way only once, and that not too many are.
    fn begin(self: &Arc<Self>, exception: Exception) -> Result<OnItsWay, NotStarted> {
        let mut waiting = self.waiting();
        if waiting.contains(&exception.id) {
            return Err(NotStarted::OnItsWay);
        }
        if waiting.len() >= self.capacity {
            return Err(NotStarted::NoRoom(Box::new(exception)));
        }
        waiting.insert(exception.id.clone());
        Ok(OnItsWay { exceptions: Arc::clone(self), exception })
    }

    async fn put(&self, exception: &Exception) -> Result<bool, StoreError> {
        let away = |_| Err(StoreError::Unavailable("the store takes too long".into()));
        timeout(self.time_out, self.store.put_exception(exception)).await.unwrap_or_else(away)
    }
}

/// Returns the exception for something due in a payment that can't be read.
pub(crate) fn unreadable(id: TransactionId, now: Timestamp) -> Exception {
    Exception {
        id: format!("{id}:unreadable"),
        kind: UNREADABLE.into(),
        transaction_id: Some(id),
        acquirer: None,
        detail: "something is due for a payment that this version can't read".into(),
        advice: "restore the payment from the backup; Quita retries every minute".into(),
        reported_at: now,
        resolution: None,
    }
}

/// Reason why this call did not start an exception on its way.
enum NotStarted {
    OnItsWay,
    NoRoom(Box<Exception>),
}

/// An exception on its way, until this is dropped.
pub(crate) struct OnItsWay {
    exceptions: Arc<Exceptions>,
    exception: Exception,
}

impl OnItsWay {
    /// Retries until the exception is stored. One that a person has resolved is not announced again.
    pub(crate) async fn store(&self) {
        let exception = &self.exception;
        let mut wait = FIRST_WAIT;
        let mut is_announced = false;
        loop {
            let error = match self.exceptions.put(exception).await {
                Ok(is_open) if is_open && !is_announced => return self.exceptions.announce(exception),
                Ok(_) => return,
                Err(error) => error,
            };
            // If the process ends before the store is back, the log and the metric have it.
            if !std::mem::replace(&mut is_announced, true) {
                self.exceptions.announce(exception);
            }
            let denied = Denied::StoreUnavailable(error);
            warn_unless_away!(denied, error = %denied, exception.id = exception.id, "an exception could not be stored; it will be retried");
            sleep(wait).await;
            wait = wait.saturating_mul(2).min(LONGEST_WAIT);
        }
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.exceptions.waiting().remove(&self.exception.id);
    }
}
