//! Merchants' servers: answer as they are told, and keep what they were sent.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use quita_domain::delivery::DeliveryAttempt;
use quita_domain::webhook::schedule::TIME_OUT_MS;
use quita_domain::webhook::signature::verify;
use quita_ports::{Clock, SentWebhook, WebhookRequest, WebhookSender, WebhookSenderFactory};
use tokio::time::sleep;

use crate::access::webhook_secret;
use crate::chance::TestClock;

/// Reply of a receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reply {
    /// At once.
    Status(u16),
    /// After a while.
    Slow(Duration, u16),
    /// Not within the time-out.
    TimesOut,
    /// With a time at which to be asked again.
    RetryAfter(u64),
    /// The sender panics.
    Panic,
}

/// One request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// Milliseconds since the world began.
    pub(crate) at_ms: u64,
    pub(crate) url: String,
    pub(crate) id: String,
    pub(crate) body: String,
    pub(crate) status: Option<u16>,
}

#[derive(Default)]
struct Content {
    planned: HashMap<String, VecDeque<Reply>>,
    usual: HashMap<String, Reply>,
    received: Vec<Received>,
    under_way: BTreeMap<String, usize>,
    most_under_way: BTreeMap<String, usize>,
}

/// All receivers, by the address that payments name.
pub(crate) struct Receivers {
    content: Mutex<Content>,
    clock: Arc<TestClock>,
}

impl Receivers {
    pub(crate) fn new(clock: Arc<TestClock>) -> Self {
        Self { content: Mutex::default(), clock }
    }

    fn lock(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap()
    }

    /// The next requests to this address are answered so, then as usual.
    pub(crate) fn next(&self, url: &str, replies: impl IntoIterator<Item = Reply>) {
        self.lock().planned.entry(url.to_owned()).or_default().extend(replies);
    }

    /// Every request to this address that nothing else was planned for is answered so; 200 without this.
    pub(crate) fn usually(&self, url: &str, reply: Reply) {
        self.lock().usual.insert(url.to_owned(), reply);
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.lock().received.clone()
    }

    pub(crate) fn received_at(&self, url: &str) -> Vec<Received> {
        self.received().into_iter().filter(|received| received.url == url).collect()
    }

    /// The most requests that were under way to one address at once.
    pub(crate) fn most_under_way(&self, url: &str) -> usize {
        self.lock().most_under_way.get(url).copied().unwrap_or(0)
    }

    fn arrive(&self, request: &WebhookRequest) -> (usize, Reply) {
        let mut content = self.lock();
        let planned = content.planned.get_mut(&request.url).and_then(VecDeque::pop_front);
        let usual = content.usual.get(&request.url).copied().unwrap_or(Reply::Status(200));
        let under_way = content.under_way.entry(request.url.clone()).or_default();
        *under_way += 1;
        let now = *under_way;
        let most = content.most_under_way.entry(request.url.clone()).or_default();
        *most = now.max(*most);
        let url = request.url.clone();
        let id = request.id.clone();
        let body = request.body.clone();
        content.received.push(Received { at_ms: self.clock.elapsed_ms(), url, id, body, status: None });
        (content.received.len() - 1, planned.unwrap_or(usual))
    }

    fn leave(&self, place: usize, request: &WebhookRequest, status: Option<u16>) {
        let mut content = self.lock();
        content.received[place].status = status;
        *content.under_way.get_mut(&request.url).unwrap() -= 1;
    }
}

/// Makes senders that reach the receivers.
pub(crate) struct SenderFactory(pub(crate) Arc<Receivers>);

impl WebhookSenderFactory for SenderFactory {
    fn build(&self) -> Rc<dyn WebhookSender> {
        Rc::new(Sender(Arc::clone(&self.0)))
    }
}

struct Sender(Arc<Receivers>);

#[async_trait(?Send)]
impl WebhookSender for Sender {
    async fn send(&self, request: WebhookRequest) -> SentWebhook {
        let receivers = &self.0;
        let WebhookRequest { id, timestamp_s, signature, body, .. } = &request;
        assert!(verify(&webhook_secret(), id, *timestamp_s, body.as_bytes(), signature), "a bad signature");
        let at = receivers.clock.now();
        let began_ms = receivers.clock.elapsed_ms();
        let (place, reply) = receivers.arrive(&request);
        let (wait, status) = match reply {
            Reply::Status(status) => (Duration::from_millis(20), Some(status)),
            Reply::Slow(wait, status) => (wait, Some(status)),
            Reply::TimesOut => (Duration::from_millis(TIME_OUT_MS), None),
            Reply::RetryAfter(_) => (Duration::from_millis(20), Some(503)),
            Reply::Panic => panic!("the sender panics"),
        };
        sleep(wait).await;
        receivers.leave(place, &request, status);
        let attempt = DeliveryAttempt {
            at,
            duration_ms: receivers.clock.elapsed_ms() - began_ms,
            status,
            error: status.is_none().then(|| "timeout".into()),
            answer: None,
            retry_after_ms: match reply {
                Reply::RetryAfter(ms) => Some(ms),
                Reply::Status(_) | Reply::Slow(..) | Reply::TimesOut | Reply::Panic => None,
            },
        };
        attempt.into()
    }
}
