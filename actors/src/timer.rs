//! The timer: what is due.
//!
//! Owns nothing: the times stand in the store. Wakes payments whose time has come (unknown outcomes, charges that
//! wait, deliveries whose lease ended or whose next attempt is due) and hands due notices to the inbox. Many nodes
//! may do so at once: waking is a versioned write. Made anew by the supervisor when it dies.

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use futures_util::StreamExt;
use futures_util::stream;
use quita_domain::identity::TransactionId;
use quita_domain::payment::Command;
use quita_ports::StoreError;
use tokio::time::timeout;

use crate::inbox::Work;
use crate::meter::Alive;
use crate::payments::Denied;
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
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!(%error, "the timer could not read what is due; it tries again")
                }
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

async fn wake_all(shared: &Shared) -> Result<(), StoreError> {
    let (now, limit) = (shared.clock.now(), shared.limits.timer_batch);
    let mut ids = shared.store.due(now, limit).await?;
    ids.extend(shared.store.outbox_due(now, limit).await?);
    ids.sort_unstable();
    ids.dedup();
    let notices = shared.store.due_notices(now, limit).await?;
    if !notices.is_empty()
        && let Some(inbox) = shared.inbox.get()
    {
        inbox.mailbox().offer(Work(notices));
    }
    stream::iter(ids).for_each_concurrent(shared.limits.timer_in_flight, |id| wake(shared, id)).await;
    Ok(())
}

async fn wake(shared: &Shared, id: TransactionId) {
    match shared.execute(id, Command::Wake).await {
        Ok(executed) => {
            if let Some(oddity) = executed.oddity {
                let exception = shared.exception(&executed.payment, &oddity, "timer");
                if let Err(error) = shared.report(exception).await {
                    tracing::warn!(%error, "an exception could not be stored; it is reported again");
                }
            }
        }
        Err(Denied::Overloaded) => {}
        Err(denied) => {
            tracing::warn!(transaction.id = %id, %denied, "a payment that is due could not be woken")
        }
    }
}

async fn count(shared: &Shared) {
    let Ok(backlog) = shared.store.backlog(shared.clock.now()).await else { return };
    let count = |number| i64::try_from(number).unwrap_or(i64::MAX);
    shared.meter.webhook_backlog.set(count(backlog.webhooks));
    shared.meter.due_backlog.set(count(backlog.due));
    shared.meter.inbox_backlog.set(count(backlog.inbox));
}
