//! The timer: wakes payments and notices that are due.
//!
//! Owns nothing: the times are in the store, and the records of recent failures outlive it. Wakes due payments (unknown
//! outcomes, waiting charges, operations) and hands due notices to the inbox. Due deliveries belong to the webhook
//! pool. Many nodes may do so at once, because waking is a versioned write. Recreated by the supervisor when it dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use actix::prelude::*;
use futures_util::StreamExt;
use futures_util::stream;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Command;
use quita_ports::trace::{Span, Tracer, within};
use quita_ports::{Clock, Store, StoreError};
use tokio::time::timeout;

use crate::acquirers::inbox::{InboxActor, Work};
use crate::actor::meter::Alive;
use crate::actor::slot::Slot;
use crate::denied::{Denied, warn_unless_away};
use crate::limits::Limits;
use crate::store::state::StoreState;
use crate::transaction::commands::Commands;
use crate::upkeep::backoff::Backoff;
use crate::upkeep::reporting::{Exceptions, unreadable};
use crate::watch::meter::Meter;

/// Time-out of one round, or of one count.
const ROUND_TIME_OUT: Duration = Duration::from_secs(30);

/// Number of counts in a row whose failure is logged: an outage that begins is found within fewer.
const COUNTS_MAY_FAIL: u32 = 5;

/// Dependencies of the timer.
pub(crate) struct TimerParts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) store_state: Arc<StoreState>,
    pub(crate) commands: Arc<Commands>,
    pub(crate) inbox: Arc<Slot<InboxActor>>,
    pub(crate) exceptions: Arc<Exceptions>,
    /// Payments that could not be woken.
    pub(crate) failed_payments: Backoff<TransactionId>,
    /// Notices that could not be processed.
    pub(crate) failed_notices: Arc<Backoff<String>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// True if the last query for due payments failed.
    pub(crate) payments_fail: AtomicBool,
    /// True if the last query for due notices failed.
    pub(crate) notices_fail: AtomicBool,
    /// Counts of the backlogs that failed in a row while the store answered otherwise.
    pub(crate) failed_counts: AtomicU32,
    /// Recorder of the traces that begin here, if traces are wanted.
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) limits: Limits,
}

/// Wakes due payments and notices.
pub(crate) struct TimerActor {
    parts: Arc<TimerParts>,
    is_busy: bool,
    is_counting: bool,
    _alive: Alive,
}

impl TimerActor {
    pub(crate) const fn new(parts: Arc<TimerParts>, alive: Alive) -> Self {
        Self { parts, is_busy: false, is_counting: false, _alive: alive }
    }

    fn tick(&mut self, context: &mut Context<Self>) {
        if self.is_busy {
            return;
        }
        self.is_busy = true;
        let parts = Arc::clone(&self.parts);
        let work = async move {
            if timeout(ROUND_TIME_OUT, wake_all(&parts)).await.is_err() {
                warn_of_late_round(&parts, "waking due payments took too long; the timer will retry");
            }
        };
        context.spawn(work.into_actor(self).map(|(), timer, _| timer.is_busy = false));
    }

    /// Counts the backlogs in a separate task, so that no due work waits for it.
    fn count(&mut self, context: &mut Context<Self>) {
        if self.is_counting {
            return;
        }
        self.is_counting = true;
        let parts = Arc::clone(&self.parts);
        let work = async move {
            if timeout(ROUND_TIME_OUT, count(&parts)).await.is_err() {
                warn_of_late_round(&parts, "the backlogs could not be counted in time");
            }
        };
        context.spawn(work.into_actor(self).map(|(), timer, _| timer.is_counting = false));
    }
}

impl Actor for TimerActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.run_interval(self.parts.limits.timer_interval, Self::tick);
        // At once too: until then the backlogs are unknown.
        self.count(context);
        context.run_interval(self.parts.limits.backlog_interval, Self::count);
    }
}

/// Logs a round that took too long: at debug while the store is away, which is logged once by `store/state.rs`.
fn warn_of_late_round(parts: &TimerParts, what: &'static str) {
    if parts.store_state.away().is_some() {
        tracing::debug!("{what}");
    } else {
        tracing::warn!("{what}");
    }
}

async fn wake_all(parts: &TimerParts) {
    let now = parts.clock.now();
    // Failing payments are held back for a while. Ask for as many more, so that the others are reached.
    let held_back = parts.failed_payments.held_back();
    let limit = parts.limits.timer_batch.saturating_add(held_back);
    let mut ids = due(parts.store.due(now, limit).await, &parts.payments_fail);
    ids.retain(|id| parts.failed_payments.may_try(id));
    let limit = parts.limits.timer_batch.saturating_add(parts.failed_notices.held_back());
    let notices = due(parts.store.due_notices(now, limit).await, &parts.notices_fail);
    if !notices.is_empty() {
        parts.inbox.mailbox().offer(Work(notices));
    }
    stream::iter(ids).for_each_concurrent(parts.limits.timer_in_flight, |id| wake(parts, id)).await;
}

/// Returns the items found, or none if the list can't be read: the other lists are still read. Only the first of
/// consecutive failures is a warning, because the timer queries several times a second.
fn due<T>(found: Result<Vec<T>, StoreError>, fails: &AtomicBool) -> Vec<T> {
    let had_failed = fails.swap(found.is_err(), Ordering::Relaxed);
    found.unwrap_or_else(|error| {
        let denied = Denied::StoreUnavailable(error);
        if had_failed {
            tracing::debug!(error = %denied, "the timer still can't read due work");
        } else {
            warn_unless_away!(denied, error = %denied, "the timer could not read due work; it will retry");
        }
        Vec::new()
    })
}

/// Wakes a payment. Its cause is no longer known here, so this begins a trace.
async fn wake(parts: &TimerParts, id: TransactionId) {
    let mut span = Span::begin(parts.tracer.as_ref(), || "wake".into());
    span.record("transaction.id", id);
    match within(span.context().cloned(), parts.commands.execute(id, Command::Wake)).await {
        Ok(executed) => {
            parts.failed_payments.succeeded(&id);
            parts.exceptions.report_all(&executed);
        }
        // It stays due and is found again: a full mailbox is not a failure of the payment.
        Err(Denied::Overloaded) => {}
        Err(denied) => {
            warn_unless_away!(denied, transaction.id = %id, error = %denied, "a due payment could not be woken");
            if matches!(denied, Denied::StoreUnavailable(StoreError::Unreadable(_))) {
                parts.exceptions.report_until_stored(unreadable(id, parts.clock.now()));
            }
            parts.failed_payments.failed(id, &denied);
        }
    }
}

/// Logs counts that keep failing, once. An outage of the store is logged by `store/state.rs`.
fn tell_uncounted(parts: &TimerParts, error: &StoreError) {
    if parts.store_state.away().is_some() {
        return;
    }
    let failed = parts.failed_counts.fetch_add(1, Ordering::Relaxed).saturating_add(1);
    if failed == COUNTS_MAY_FAIL {
        tracing::warn!(
            %error,
            "the backlogs of webhooks, due payments and notices could not be counted; they are unknown until a count \
             succeeds"
        );
    } else {
        tracing::debug!(%error, failed, "the backlogs could not be counted");
    }
}

async fn count(parts: &TimerParts) {
    let counted = parts.store.backlog(parts.clock.now(), parts.limits.backlog_counted).await;
    let backlog = match counted {
        Ok(backlog) => backlog,
        Err(error) => return tell_uncounted(parts, &error),
    };
    if parts.failed_counts.swap(0, Ordering::Relaxed) >= COUNTS_MAY_FAIL {
        tracing::info!("the backlogs are counted again");
    }
    parts.meter.backlogs_counted_at.set(parts.clock.now().millis().div_euclid(1_000));
    let count = |number| i64::try_from(number).unwrap_or(i64::MAX);
    parts.meter.webhook_backlog.set(count(backlog.webhooks));
    parts.meter.due_backlog.set(count(backlog.due));
    parts.meter.inbox_backlog.set(count(backlog.inbox));
}
