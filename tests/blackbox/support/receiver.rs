//! A merchant's receiver of webhooks: a real server with answers that the test chooses.

use std::collections::BTreeSet;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::wire::{Message, read_message};

/// A server on a loopback port. Dropping it stops it.
pub(crate) struct TestReceiver {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A request that was received.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) at: Instant,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Answer to a request, and its delay.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) delay: Duration,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

type Decide = Arc<dyn Fn(&Received) -> Reply + Send + Sync>;

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    received: Vec<Received>,
    decide: Decide,
    is_stopping: bool,
}

impl TestReceiver {
    /// One that answers 200.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let decide: Decide = Arc::new(|_| Reply::status(200));
        let state = State { received: Vec::new(), decide, is_stopping: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let served = Arc::clone(&shared);
        thread::spawn(move || serve(&listener, &served));
        Self { address, shared }
    }

    /// Returns the address at which it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/webhooks", self.address)
    }

    /// Answers with this status from now on.
    pub(crate) fn answer(&self, status: u16) {
        self.answer_with(move |_| Reply::status(status));
    }

    /// Answers what is decided for each request from now on.
    pub(crate) fn answer_with(&self, decide: impl Fn(&Received) -> Reply + Send + Sync + 'static) {
        self.shared.lock().decide = Arc::new(decide);
    }

    /// Everything received so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.lock().received.clone()
    }

    /// Waits for `count` requests, and gives all that came.
    #[track_caller]
    pub(crate) fn wait_for(&self, count: usize, within: Duration) -> Vec<Received> {
        self.wait_until(within, &format!("{count} requests"), |received| received.len() >= count)
    }

    /// Waits until what was received is as wanted, and gives all of it.
    #[track_caller]
    pub(crate) fn wait_until(
        &self,
        within: Duration,
        what: &str,
        mut is_good: impl FnMut(&[Received]) -> bool,
    ) -> Vec<Received> {
        let waiting = self.shared.lock();
        let wait = self.shared.changed.wait_timeout_while(waiting, within, |state| !is_good(&state.received));
        let received = wait.unwrap_or_else(PoisonError::into_inner).0.received.clone();
        assert!(
            is_good(&received),
            "waited {within:?} in vain for {what}; received {:?}",
            summary(&received)
        );
        received
    }

    /// The events of one payment in the order they came.
    pub(crate) fn events_of(&self, id: &str) -> Vec<Received> {
        of_payment(&self.received(), id)
    }

    /// Waits for `count` requests about one payment.
    #[track_caller]
    pub(crate) fn wait_for_events(&self, id: &str, count: usize, within: Duration) -> Vec<Received> {
        let what = format!("{count} requests about {id}");
        let received = self.wait_until(within, &what, |received| of_payment(received, id).len() >= count);
        of_payment(&received, id)
    }

    /// Waits until one payment was reported to have this status, and gives the statuses that were reported, in order.
    /// An event that was sent again under its id, which is allowed, stands once; so do events of one status in a row, as
    /// after a refund of a part.
    #[track_caller]
    pub(crate) fn wait_for_told(&self, id: &str, status: &str, within: Duration) -> Vec<String> {
        let what = format!("{id} told to be {status}");
        let received = self.wait_until(within, &what, |received| {
            of_payment(received, id).iter().any(|request| request.text("status") == status)
        });
        let mut known = BTreeSet::new();
        let first = |request: &&Received| known.insert(request.webhook_id());
        let of_payment = of_payment(&received, id);
        let mut told: Vec<_> =
            of_payment.iter().filter(first).map(|request| request.text("status")).collect();
        told.dedup();
        told
    }
}

impl Drop for TestReceiver {
    fn drop(&mut self) {
        self.shared.lock().is_stopping = true;
        self.shared.changed.notify_all();
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The member of the body with this name.
    #[track_caller]
    pub(crate) fn text(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_else(|| panic!("no {name}: {}", self.json())).to_owned()
    }

    /// The event's id, the same in every attempt.
    #[track_caller]
    pub(crate) fn webhook_id(&self) -> String {
        self.header("webhook-id").expect("a webhook has an id").to_owned()
    }
}

impl Reply {
    pub(crate) fn status(status: u16) -> Self {
        Self { status, delay: Duration::ZERO, headers: Vec::new(), body: String::new() }
    }

    pub(crate) fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = body.into();
        self
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn serve(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.lock().is_stopping {
            return;
        }
        let (Ok(stream), shared) = (stream, Arc::clone(shared)) else { continue };
        thread::spawn(move || answer(stream, &shared));
    }
}

fn answer(mut stream: TcpStream, shared: &Shared) {
    drop(stream.set_read_timeout(Some(Duration::from_secs(20))));
    let Some(message) = read_message(&mut stream) else { return };
    let received = Received::from(message);
    let mut state = shared.lock();
    state.received.push(received.clone());
    let decide = Arc::clone(&state.decide);
    drop(state);
    shared.changed.notify_all();
    let reply = decide(&received);
    let state = shared.lock();
    drop(shared.changed.wait_timeout_while(state, reply.delay, |state| !state.is_stopping));
    let headers: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let Reply { status, body, .. } = reply;
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    );
    // Who asked may have hung up.
    drop(stream.write_all(answer.as_bytes()));
}

impl From<Message> for Received {
    fn from(message: Message) -> Self {
        let mut words = message.first_line.split(' ').map(str::to_owned);
        let method = words.next().unwrap_or_default();
        let path = words.next().unwrap_or_default();
        Self { at: Instant::now(), method, path, headers: message.headers, body: message.body }
    }
}

fn of_payment(received: &[Received], id: &str) -> Vec<Received> {
    received.iter().filter(|request| request.json()["transactionId"] == id).cloned().collect()
}

fn summary(received: &[Received]) -> Vec<String> {
    received
        .iter()
        .map(|request| String::from_utf8_lossy(&request.body).chars().take(160).collect())
        .collect()
}
