//! The timer: what is due.
//!
//! Owns nothing: the times stand in the store, and what failed lately is remembered for all. Wakes payments whose time has come (unknown outcomes, charges that
//! wait, deliveries whose lease ended or whose next attempt is due) and hands due notices to the inbox. Many nodes
//! may do so at once: waking is a versioned write. Made anew by the supervisor when it dies.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use futures_util::StreamExt;
use futures_util::stream;
use quita_domain::exception::{Exception, UNREADABLE};
use quita_domain::identity::TransactionId;
use quita_domain::payment::Command;
use quita_ports::StoreError;
use quita_ports::trace::{Span, within};
use tokio::time::timeout;

use crate::actor_meter::Alive;
use crate::inbox::Work;
use crate::payments::Denied;
use crate::reporting::report_until_stored;
use crate::shared::Shared;

/// Ticks between two looks at how much waits, which is for metrics only.
const TICKS_PER_COUNT: u32 = 8;

/// How long one round may take before the next one begins.
const ROUND_TIME_OUT: Duration = Duration::from_secs(30);

/// Wakes what is due.
pub(crate) struct TimerActor {
    shared: Arc<Shared>,
    is_busy: bool,
    ticks: u32,
    _alive: Alive,
}

impl TimerActor {
    pub(crate) const fn new(shared: Arc<Shared>, alive: Alive) -> Self {
        Self { shared, is_busy: false, ticks: 0, _alive: alive }
    }

    fn tick(&mut self, context: &mut Context<Self>) {
        if self.is_busy {
            return;
        }
        self.is_busy = true;
        self.ticks = self.ticks.wrapping_add(1);
        let counts = self.ticks.is_multiple_of(TICKS_PER_COUNT);
        let shared = Arc::clone(&self.shared);
        let work = async move {
            match timeout(ROUND_TIME_OUT, wake_all(&shared)).await {
                Ok(()) => {}
                Err(_) => tracing::warn!("what is due took too long to wake; the timer tries again"),
            }
            if counts && timeout(ROUND_TIME_OUT, count(&shared)).await.is_err() {
                tracing::warn!("what waits could not be counted in time");
            }
        };
        context.spawn(work.into_actor(self).map(|(), timer, _| timer.is_busy = false));
    }
}

impl Actor for TimerActor {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        context.run_interval(self.shared.limits.timer_interval, Self::tick);
    }
}

async fn wake_all(shared: &Arc<Shared>) {
    let now = shared.clock.now();
    // What fails is left alone for a while; so many more are asked for, so that the others are reached.
    let held_back = shared.failed_payments.held_back();
    let limit = shared.limits.timer_batch.saturating_add(held_back);
    let mut ids = due(shared.store.due(now, limit).await);
    ids.extend(due(shared.store.outbox_due(now, limit).await));
    ids.retain(|id| shared.failed_payments.may_try(id));
    ids.sort_unstable();
    ids.dedup();
    let limit = shared.limits.timer_batch.saturating_add(shared.failed_notices.held_back());
    let notices = due(shared.store.due_notices(now, limit).await);
    if !notices.is_empty()
        && let Some(inbox) = shared.inbox.get()
    {
        inbox.mailbox().offer(Work(notices));
    }
    stream::iter(ids).for_each_concurrent(shared.limits.timer_in_flight, |id| wake(shared, id)).await;
}

/// What is due; if one list can't be read, the others still are.
fn due<T>(found: Result<Vec<T>, StoreError>) -> Vec<T> {
    found.unwrap_or_else(|error| {
        tracing::warn!(%error, "the timer could not read what is due; it tries again");
        Vec::new()
    })
}

/// Nobody here knows any more what it is a consequence of, so it begins a trace.
async fn wake(shared: &Arc<Shared>, id: TransactionId) {
    let mut span = Span::begin(shared.tracer.as_ref(), || "wake".into());
    span.tell("transaction.id", id);
    match within(span.place().cloned(), shared.execute(id, Command::Wake)).await {
        Ok(executed) => {
            shared.failed_payments.succeeded(&id);
            if let Some(oddity) = executed.oddity {
                report_until_stored(shared, shared.exception(&executed.payment, &oddity, "timer"));
            }
        }
        Err(Denied::Overloaded) => {}
        Err(denied) => {
            tracing::warn!(transaction.id = %id, %denied, "a payment that is due could not be woken");
            if matches!(denied, Denied::StoreUnavailable(StoreError::Unreadable(_))) {
                report_until_stored(shared, unreadable(shared, id));
            }
            shared.failed_payments.failed(id, &denied);
        }
    }
}

fn unreadable(shared: &Shared, id: TransactionId) -> Exception {
    Exception {
        id: format!("{id}:unreadable"),
        kind: UNREADABLE.into(),
        transaction_id: id,
        acquirer: None,
        detail: "something is due of a payment that this version can't read".into(),
        advice: "run the version that wrote it, or restore it from the backup; it is tried every minute"
            .into(),
        reported_at: shared.clock.now(),
        resolution: None,
    }
}

async fn count(shared: &Shared) {
    let Ok(backlog) = shared.store.backlog(shared.clock.now()).await else { return };
    let count = |number| i64::try_from(number).unwrap_or(i64::MAX);
    shared.meter.webhook_backlog.set(count(backlog.webhooks));
    shared.meter.due_backlog.set(count(backlog.due));
    shared.meter.inbox_backlog.set(count(backlog.inbox));
}
