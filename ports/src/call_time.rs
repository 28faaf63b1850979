//! Time of a call to a provider. Waiting before a request leaves does not count towards its time-out.
//!
//! The caller bounds both: the time of the call itself, and the moment at which all waiting must be over. An adapter
//! marks its waits: for an access token, its turn, a free connection. The clock of the call is paused meanwhile.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use pin_project_lite::pin_project;
use thiserror::Error;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

thread_local! {
    static HERE: RefCell<Option<Rc<CallTime>>> = const { RefCell::new(None) };
}

/// The call's own time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the call's time is over")]
pub struct TimeOut;

/// The wait took too long, so no part of the call left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("it waited for too long")]
pub struct WaitedTooLong;

/// Clock of one call.
struct CallTime {
    /// Clock of the call that this one is a part of.
    outer: Option<Rc<Self>>,
    ends: Cell<Instant>,
    waits_until: Instant,
    waits: Cell<usize>,
    waiting_since: Cell<Instant>,
}

impl CallTime {
    fn begin_wait(&self) {
        if let Some(outer) = &self.outer {
            outer.begin_wait();
        }
        // Waits may overlap: the first one stops the clock, and the last one restarts it.
        if self.waits.get() == 0 {
            self.waiting_since.set(Instant::now());
        }
        self.waits.set(self.waits.get().saturating_add(1));
    }

    fn end_wait(&self) {
        if let Some(outer) = &self.outer {
            outer.end_wait();
        }
        self.waits.set(self.waits.get().saturating_sub(1));
        if self.waits.get() == 0 {
            self.ends.set(self.ends.get() + self.waiting_since.get().elapsed());
        }
    }
}

/// Makes a call with its own time-out, and a deadline for its waiting. Waiting in a nested call also pauses the clocks
/// of the enclosing calls.
pub fn within<F: Future>(time_out: Duration, waits_until: Instant, call: F) -> TimedCall<F> {
    let now = Instant::now();
    let outer = here();
    // A nested call may wait no longer than the enclosing call.
    let waits_until = outer.as_ref().map_or(waits_until, |outer| waits_until.min(outer.waits_until));
    let time = CallTime {
        outer,
        ends: Cell::new(now + time_out),
        waits_until,
        waits: Cell::new(0),
        waiting_since: Cell::new(now),
    };
    TimedCall { time: Rc::new(time), over: sleep_until(now + time_out), call }
}

/// Waits for a prerequisite of a call. Outside a call the wait has no bound here.
///
/// # Errors
/// If the call may not wait any longer.
pub async fn waiting<F: Future>(what: F) -> Result<F::Output, WaitedTooLong> {
    let Some(time) = here() else { return Ok(what.await) };
    let _waiting = Waiting::begin(&time);
    timeout_at(time.waits_until, what).await.map_err(|_| WaitedTooLong)
}

/// Returns the moment by which the waiting of the current call must be over; none outside a call.
pub fn waits_until() -> Option<Instant> {
    here().map(|time| time.waits_until)
}

fn here() -> Option<Rc<CallTime>> {
    HERE.with_borrow(Clone::clone)
}

/// A wait in progress, which ends when this is dropped.
struct Waiting(Rc<CallTime>);

impl Waiting {
    fn begin(time: &Rc<CallTime>) -> Self {
        time.begin_wait();
        Self(Rc::clone(time))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.end_wait();
    }
}

/// The call that was current on this thread before; restored when this is dropped.
struct Outer(Option<Rc<CallTime>>);

impl Outer {
    fn replaced_by(time: &Rc<CallTime>) -> Self {
        Self(HERE.replace(Some(Rc::clone(time))))
    }
}

impl Drop for Outer {
    fn drop(&mut self) {
        HERE.set(self.0.take());
    }
}

pin_project! {
    /// A call with its time.
    pub struct TimedCall<F> {
        time: Rc<CallTime>,
        #[pin]
        over: Sleep,
        #[pin]
        call: F,
    }
}

impl<F: Future> Future for TimedCall<F> {
    type Output = Result<F::Output, TimeOut>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let outer = Outer::replaced_by(this.time);
        let polled = this.call.poll(context);
        drop(outer);
        if let Poll::Ready(answer) = polled {
            return Poll::Ready(Ok(answer));
        }
        // `waiting` bounds a wait, and the end of the wait polls this again.
        if this.time.waits.get() > 0 {
            return Poll::Pending;
        }
        let ends = this.time.ends.get();
        if this.over.deadline() != ends {
            this.over.as_mut().reset(ends);
        }
        this.over.poll(context).map(|()| Err(TimeOut))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn in_s(seconds: u64) -> Instant {
        Instant::now() + SECOND * u32::try_from(seconds).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_waited_for_does_not_use_up_the_time_of_the_call() {
        let begun = Instant::now();
        let call = async {
            sleep(SECOND).await;
            waiting(sleep(6 * SECOND)).await.unwrap();
            sleep(SECOND / 2).await;
            waiting(sleep(SECOND)).await.unwrap();
            sleep(SECOND / 4).await;
            "answer"
        };
        assert_eq!(within(2 * SECOND, in_s(20), call).await, Ok("answer"));
        assert_eq!(begun.elapsed(), Duration::from_millis(8_750));
    }

    #[tokio::test(start_paused = true)]
    async fn the_call_itself_ends_with_its_time() {
        let begun = Instant::now();
        let call = async {
            waiting(sleep(3 * SECOND)).await.unwrap();
            sleep(3 * SECOND).await;
        };
        assert_eq!(within(2 * SECOND, in_s(20), call).await, Err(TimeOut));
        assert_eq!(begun.elapsed(), 5 * SECOND);
        assert_eq!(within(2 * SECOND, in_s(20), std::future::pending::<()>()).await, Err(TimeOut));
        assert_eq!(begun.elapsed(), 7 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_when_the_caller_says_so_and_the_call_goes_on() {
        let begun = Instant::now();
        let call = async {
            let waited = waiting(std::future::pending::<()>()).await;
            sleep(SECOND).await;
            waited
        };
        assert_eq!(within(2 * SECOND, in_s(8), call).await, Ok(Err(WaitedTooLong)));
        assert_eq!(begun.elapsed(), 9 * SECOND);
        let late = within(SECOND, Instant::now(), async { waiting(std::future::ready(7)).await });
        assert_eq!(late.await, Ok(Ok(7)), "what is there needs no waiting");
    }

    #[tokio::test(start_paused = true)]
    async fn waits_of_one_call_at_the_same_time_count_once() {
        let begun = Instant::now();
        let call = async {
            let (one, other) = tokio::join!(waiting(sleep(2 * SECOND)), waiting(sleep(4 * SECOND)));
            assert_eq!((one, other), (Ok(()), Ok(())));
            sleep(3 * SECOND).await;
        };
        assert_eq!(within(2 * SECOND, in_s(20), call).await, Err(TimeOut));
        assert_eq!(begun.elapsed(), 6 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_what_a_part_of_it_waits_for() {
        let begun = Instant::now();
        let near = in_s(5);
        let far = in_s(20);
        let part = async {
            waiting(sleep(4 * SECOND)).await.unwrap();
            waiting(std::future::pending::<()>()).await.unwrap_err();
            sleep(SECOND / 2).await;
        };
        let whole = async { within(SECOND, far, part).await };
        assert_eq!(within(SECOND, near, whole).await, Ok(Ok(())));
        assert_eq!(begun.elapsed(), Duration::from_millis(5_500));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_side_by_side_have_times_of_their_own_and_outside_there_is_none() {
        assert_eq!(waits_until(), None);
        let near = in_s(3);
        let far = in_s(9);
        let one = within(SECOND, near, async { (waits_until(), waiting(sleep(2 * SECOND)).await) });
        let other = within(SECOND, far, async { (waits_until(), sleep(SECOND / 2).await) });
        let (one, other) = tokio::join!(one, other);
        assert_eq!((one, other), (Ok((Some(near), Ok(()))), Ok((Some(far), ()))));
        assert_eq!(waiting(sleep(60 * SECOND)).await, Ok(()));
    }
}
