//! Live parts of pages: server-sent events with the HTML of a part whenever it changes.
//!
//! Each stream polls once a second, so it also sees changes made by other nodes. Pages with the same content share a
//! poll.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, HeaderName};
use actix_web::web::Bytes;
use futures_util::{Stream, StreamExt, stream};
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, timeout};

use super::page_error::PageError;
use super::stream_permits::{STREAMS, StreamPermit, StreamPermits, Watcher};

/// Interval between ticks of a stream. Each tick polls unless the stream is busy.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// Number of consecutive polls with changes after which only every third tick polls: nobody reads faster.
const BUSY_AFTER: u32 = 5;
const TICKS_PER_BUSY_POLL: u32 = 3;
/// Keep-alive. It is an event rather than a comment, so that the page's script receives it and can detect a dead
/// connection.
const ALIVE: &str = "event: alive\ndata:\n\n";
/// Longest silence of a stream. After eight seconds of silence, the page's script reports that its node is away.
const ALIVE_EVERY: Duration = Duration::from_secs(3);
/// Ticks between two checks that the visitor is still signed in.
const TICKS_PER_CHECK: u32 = 10;
/// Time for which a poll's result is shared with other streams.
const SHARED_FOR: Duration = Duration::from_millis(800);
/// Maximum number of cached polls. Any beyond the number of streams belong to pages that were closed.
const KEPT: usize = STREAMS;

/// Header that makes proxies such as nginx forward a stream unbuffered.
const NO_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// All streams of this process.
pub(crate) struct Streams {
    permits: StreamPermits,
    is_closing: watch::Sender<bool>,
    polls: Mutex<HashMap<String, PollResult>>,
}

/// Result of a poll.
struct PollResult {
    /// Start of the poll: later changes may be missing.
    begun: Instant,
    seen_at: Instant,
    html: Arc<str>,
}

/// Content of a stream.
pub(crate) trait LivePart {
    /// Returns a key that is equal for equal content.
    fn key(&self) -> String;

    /// Returns the current HTML of the part.
    fn render(&self) -> impl Future<Output = Result<String, PageError>>;

    /// Returns the visitor who is watching.
    fn watcher(&self) -> Watcher;

    /// Returns true if that visitor may still watch.
    fn may_watch(&self) -> impl Future<Output = bool>;
}

impl Streams {
    pub(crate) fn new() -> Self {
        let is_closing = watch::Sender::new(false);
        Self { permits: StreamPermits::new(), is_closing, polls: Mutex::default() }
    }

    /// Ends every stream, so that the service can stop.
    pub(crate) fn close(&self) {
        self.is_closing.send_replace(true);
    }

    /// Streams the content of `part`, now and whenever it changes.
    ///
    /// # Errors
    /// [`PageError::Unavailable`] when too many streams are open.
    pub(crate) fn open<P: LivePart + 'static>(self: &Arc<Self>, part: P) -> Result<HttpResponse, PageError> {
        let permit = self.take_permit(&part.watcher())?;
        let open = OpenStream {
            part,
            opened_at: Instant::now(),
            streams: Arc::clone(self),
            closing: self.is_closing.subscribe(),
            ticks: ticks(),
            ticked: 0,
            changes: 0,
            shown: None,
            _permit: permit,
        };
        Ok(event_stream(stream::unfold(open, |open| open.next())))
    }

    /// Takes a permit for one stream.
    ///
    /// # Errors
    /// [`PageError::Unavailable`] when too many streams are open.
    pub(crate) fn take_permit(&self, watcher: &Watcher) -> Result<StreamPermit, PageError> {
        self.permits
            .take(watcher)
            .ok_or_else(|| PageError::Unavailable("too many live pages are open".into()))
    }

    /// Polls, or returns another stream's recent result, but never one from before `since`.
    async fn poll<P: LivePart>(&self, part: &P, since: Instant) -> Result<Arc<str>, PageError> {
        let key = part.key();
        if let Some(shown) = self.recall(&key, since) {
            return Ok(shown);
        }
        let begun = Instant::now();
        let html: Arc<str> = part.render().await?.into();
        self.keep(key, PollResult { begun, seen_at: Instant::now(), html: Arc::clone(&html) });
        Ok(html)
    }

    fn recall(&self, key: &str, since: Instant) -> Option<Arc<str>> {
        let polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = polls.get(key).filter(|seen| seen.begun >= since && seen.is_fresh())?;
        Some(Arc::clone(&seen.html))
    }

    fn keep(&self, key: String, seen: PollResult) {
        let mut polls = self.polls.lock().unwrap_or_else(PoisonError::into_inner);
        if polls.len() >= KEPT {
            polls.retain(|_, seen| seen.is_fresh());
        }
        // Of two concurrent polls, the one that started later has newer content.
        if polls.get(&key).is_none_or(|known| known.begun <= seen.begun) {
            polls.insert(key, seen);
        }
    }
}

impl PollResult {
    fn is_fresh(&self) -> bool {
        self.seen_at.elapsed() < SHARED_FOR
    }
}

/// Returns the ticks of a stream. Missed ticks are skipped.
fn ticks() -> Interval {
    let mut ticks = interval(POLL_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Open stream.
struct OpenStream<P> {
    part: P,
    /// Time at which the page was rendered, which an older result must not overwrite.
    opened_at: Instant,
    streams: Arc<Streams>,
    closing: watch::Receiver<bool>,
    ticks: Interval,
    ticked: u32,
    /// Number of consecutive polls that found a change.
    changes: u32,
    shown: Option<Arc<str>>,
    _permit: StreamPermit,
}

impl<P: LivePart> OpenStream<P> {
    /// Returns the next event; `None` ends the stream.
    async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            tokio::select! {
                // The end of the service takes precedence; otherwise a busy stream could keep it from stopping.
                biased;
                _ = self.closing.wait_for(|is_closing| *is_closing) => return None,
                _ = self.ticks.tick() => {}
            }
            let tick = self.ticked;
            self.ticked = tick.wrapping_add(1);
            let is_check = tick.is_multiple_of(TICKS_PER_CHECK);
            // A session may end while its page is open, and then the stream must stop showing payments.
            if is_check && !self.part.may_watch().await {
                return None;
            }
            if self.changes >= BUSY_AFTER && !tick.is_multiple_of(TICKS_PER_BUSY_POLL) {
                continue;
            }
            // Errors are ignored; the next tick tries again.
            let found = self.streams.poll(&self.part, self.opened_at).await.ok();
            // The interval restarts after the poll, so that a slow store gets its pause too.
            self.ticks.reset();
            match found.filter(|found| self.shown.as_ref() != Some(found)) {
                Some(found) => {
                    let event = event("fragment", &found);
                    self.shown = Some(found);
                    self.changes = self.changes.saturating_add(1);
                    return Some((event, self));
                }
                None => self.changes = 0,
            }
        }
    }
}

/// Returns the response that carries a stream of events (WHATWG HTML, section 9.2), with keep-alives.
pub(crate) fn event_stream(events: impl Stream<Item = Bytes> + 'static) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("text/event-stream")
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((NO_BUFFERING, "no"))
        .streaming(kept_alive(events).map(Ok::<_, std::convert::Infallible>))
}

/// Adds a keep-alive after each [`ALIVE_EVERY`] without an event, also during a poll that takes longer.
fn kept_alive(events: impl Stream<Item = Bytes> + 'static) -> impl Stream<Item = Bytes> + 'static {
    stream::unfold(Box::pin(events), |mut events| async move {
        let next = timeout(ALIVE_EVERY, events.next()).await;
        let event = next.unwrap_or(Some(Bytes::from_static(ALIVE.as_bytes())))?;
        Some((event, events))
    })
}

/// Returns one event, with a `data` line for each line of its data.
pub(crate) fn event(name: &str, data: &str) -> Bytes {
    let mut text = format!("event: {name}\n");
    // A carriage return also ends a line of a stream: if stored text contains one, it must not start a field.
    for line in data.lines().flat_map(|line| line.split('\r')) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use actix_web::body::MessageBody;

    use super::*;

    #[derive(Clone)]
    struct Counted {
        polls: Arc<AtomicU32>,
        shown: Arc<Mutex<String>>,
        is_out: Arc<AtomicU32>,
        /// Duration of a poll.
        takes: Duration,
    }

    impl Counted {
        fn new() -> Self {
            let takes = Duration::ZERO;
            Self { polls: Arc::default(), shown: Arc::default(), is_out: Arc::default(), takes }
        }

        fn show(&self, text: &str) {
            *self.shown.lock().unwrap() = text.into();
        }
    }

    impl LivePart for Counted {
        fn key(&self) -> String {
            "one".into()
        }

        async fn render(&self) -> Result<String, PageError> {
            self.polls.fetch_add(1, Ordering::SeqCst);
            if !self.takes.is_zero() {
                tokio::time::sleep(self.takes).await;
            }
            Ok(self.shown.lock().unwrap().clone())
        }

        fn watcher(&self) -> Watcher {
            Watcher { merchant: None, login: "ana@loja.com.br".into() }
        }

        async fn may_watch(&self) -> bool {
            self.is_out.load(Ordering::SeqCst) == 0
        }
    }

    fn events(response: HttpResponse) -> impl Stream<Item = String> + Unpin {
        let mut body = Box::pin(response.into_body());
        Box::pin(stream::poll_fn(move |context| body.as_mut().poll_next(context)))
            .map(|bytes| String::from_utf8(bytes.unwrap().to_vec()).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn what_changed_is_pushed_once_and_what_did_not_is_not() {
        let streams = Arc::new(Streams::new());
        let counted = Counted::new();
        counted.show("<b>1</b>\n<i>x</i>");
        let mut events = events(streams.open(counted.clone()).unwrap());
        assert_eq!(events.next().await.unwrap(), "event: fragment\ndata: <b>1</b>\ndata: <i>x</i>\n\n");
        counted.show("2");
        assert_eq!(events.next().await.unwrap(), "event: fragment\ndata: 2\n\n");
        let before = Instant::now();
        assert_eq!(events.next().await.unwrap(), ALIVE);
        assert_eq!(before.elapsed(), ALIVE_EVERY);
    }

    #[tokio::test(start_paused = true)]
    async fn pages_that_show_the_same_share_a_poll() {
        let streams = Arc::new(Streams::new());
        let counted = Counted::new();
        counted.show("1");
        for _ in 0..10 {
            let mut events = events(streams.open(counted.clone()).unwrap());
            assert_eq!(events.next().await.unwrap(), "event: fragment\ndata: 1\n\n");
        }
        assert_eq!(counted.polls.load(Ordering::SeqCst), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_poll_that_takes_long_is_shared_all_the_same_and_the_next_one_waits() {
        let takes = Duration::from_secs(2);
        let streams = Arc::new(Streams::new());
        let slow = Counted { takes, ..Counted::new() };
        let mut open = [(); 2].map(|()| events(streams.open(slow.clone()).unwrap()));
        for events in &mut open {
            assert!(events.next().await.unwrap().starts_with("event"));
        }
        assert_eq!(slow.polls.load(Ordering::SeqCst), 1);
        let begun = Instant::now();
        let cycles = 4;
        while begun.elapsed() < (POLL_EVERY + takes) * cycles {
            assert_eq!(open[0].next().await.unwrap(), ALIVE);
        }
        assert_eq!(slow.polls.load(Ordering::SeqCst), 1 + cycles);
        assert_eq!(begun.elapsed(), (POLL_EVERY + takes) * cycles);
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_poll_delays_no_keep_alive() {
        let streams = Arc::new(Streams::new());
        let takes = ALIVE_EVERY * 2 + POLL_EVERY;
        let mut events = events(streams.open(Counted { takes, ..Counted::new() }).unwrap());
        let begun = Instant::now();
        for number in 1..=2 {
            assert_eq!(events.next().await.unwrap(), ALIVE);
            assert_eq!(begun.elapsed(), ALIVE_EVERY * number);
        }
        assert!(events.next().await.unwrap().starts_with("event: fragment"));
        assert_eq!(begun.elapsed(), takes);
    }

    #[tokio::test(start_paused = true)]
    async fn a_poll_that_began_before_another_and_ended_after_it_is_not_shared() {
        let streams = Streams::new();
        let opened_at = Instant::now();
        let begun = [opened_at, opened_at + Duration::from_millis(1)];
        tokio::time::advance(SHARED_FOR * 2).await;
        for (begun, html) in [(begun[1], "newer"), (begun[0], "older")] {
            streams.keep("one".into(), PollResult { begun, seen_at: Instant::now(), html: html.into() });
        }
        assert_eq!(streams.recall("one", opened_at).as_deref(), Some("newer"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_is_never_set_back_to_what_another_saw_before_it_was_opened() {
        let streams = Arc::new(Streams::new());
        let counted = Counted::new();
        counted.show("not refunded");
        let mut before = events(streams.open(counted.clone()).unwrap());
        assert!(before.next().await.unwrap().contains("not refunded"));
        counted.show("refunded");
        tokio::time::advance(SHARED_FOR / 2).await;
        let mut after = events(streams.open(counted.clone()).unwrap());
        assert_eq!(after.next().await.unwrap(), "event: fragment\ndata: refunded\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn what_changes_all_the_time_is_looked_at_less_often_until_it_is_calm() {
        let streams = Arc::new(Streams::new());
        let counted = Counted::new();
        let mut events = events(streams.open(counted.clone()).unwrap());
        let mut between = Vec::new();
        for number in 0..12 {
            counted.show(&number.to_string());
            let begun = Instant::now();
            while !events.next().await.unwrap().starts_with("event: fragment") {}
            between.push(begun.elapsed().as_secs());
        }
        assert_eq!(between[1..5], [1; 4]);
        assert_eq!(between[8..], [3; 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_ends_with_the_session_and_with_the_service() {
        let streams = Arc::new(Streams::new());
        let counted = Counted::new();
        let mut open =
            [events(streams.open(counted.clone()).unwrap()), events(streams.open(counted.clone()).unwrap())];
        for events in &mut open {
            assert!(events.next().await.is_some());
        }
        counted.is_out.store(1, Ordering::SeqCst);
        let until_checked = POLL_EVERY * (TICKS_PER_CHECK + 1);
        timeout(until_checked, open[0].by_ref().for_each(|_| async {})).await.expect("it ends");
        streams.close();
        assert_eq!(open[1].next().await, None);
    }

    #[test]
    fn nothing_that_somebody_stored_begins_an_event_or_a_field() {
        let told = event("fragment", "a\r\rdata: b\r\nevent: c\n\nid: d");
        let expected =
            "event: fragment\ndata: a\ndata: \ndata: data: b\ndata: event: c\ndata: \ndata: id: d\n\n";
        assert_eq!(told, expected.as_bytes());
    }
}
