//! Start of payments: at intended times, or when a client receives its answer.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::{Semaphore, mpsc};

use super::merchant::Merchant;
use super::plan::Pace;
use super::schedule::{Due, Schedule};

/// Maximum number of concurrent payments in the open model. Those beyond it are counted but not sent.
const MAX_UNDER_WAY: u32 = 50_000;

/// Maximum number of queued intended times.
const MAX_DUE: usize = 4_096;

/// Pause of a client that got no answer before its next call, so that a service that is down is not hammered.
const PAUSE: Duration = Duration::from_millis(100);

/// Creates payments, for `duration` in the closed model, and waits until the last one is answered.
pub(super) async fn run(pace: Pace, duration: Duration, merchant: Rc<Merchant>) {
    let start = Instant::now();
    match pace {
        Pace::Schedule(schedule) => open(start, schedule, merchant).await,
        Pace::Concurrency(clients) => {
            let next = Rc::new(Cell::new(0));
            let end = start + duration;
            join_all((0..clients.get()).map(|_| closed(end, Rc::clone(&next), Rc::clone(&merchant)))).await;
        }
    }
}

/// Runs one client of the closed model.
async fn closed(end: Instant, next: Rc<Cell<u64>>, merchant: Rc<Merchant>) {
    while Instant::now() < end {
        let number = next.replace(next.get() + 1);
        if !merchant.pay(number, 0, Instant::now()).await {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Runs the open model: no due payment waits for another one's answer.
async fn open(start: Instant, schedule: Schedule, merchant: Rc<Merchant>) {
    let (sender, mut due) = mpsc::channel(MAX_DUE);
    // A separate thread wakes up more precisely than a timer with millisecond resolution.
    let clock = std::thread::spawn(move || tick(start, &schedule, &sender));
    let under_way = Arc::new(Semaphore::new(usize::try_from(MAX_UNDER_WAY).unwrap_or(usize::MAX)));
    while let Some(Due { number, stage, at }) = due.recv().await {
        let Ok(place) = Arc::clone(&under_way).try_acquire_owned() else {
            merchant.board.measures().skipped += 1;
            continue;
        };
        let merchant = Rc::clone(&merchant);
        actix_web::rt::spawn(async move {
            merchant.pay(number, stage, start + at).await;
            drop(place);
        });
    }
    // Neither can fail: nobody closes the semaphore, and the thread does not panic.
    drop(under_way.acquire_many(MAX_UNDER_WAY).await);
    drop(clock.join());
}

/// Sends each payment when it is due.
fn tick(start: Instant, schedule: &Schedule, sender: &mpsc::Sender<Due>) {
    for due in schedule.due() {
        let at = start + due.at;
        while let Some(rest) = at.checked_duration_since(Instant::now()).filter(|rest| !rest.is_zero()) {
            std::thread::park_timeout(rest);
        }
        if sender.blocking_send(due).is_err() {
            return;
        }
    }
}
