//! Network between a node's adapter and its counterparty. It loses requests and answers, and delays them.

use std::future::pending;
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use quita_acquirers::exchange::{Exchange, ExchangeFactory, Failure, Request, Response, Verb};
use quita_banks::Reply;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::Provider;
use crate::chance::Fault;
use crate::node::Fuse;
use crate::planted;
use crate::world::World;

/// Longest delay of a request after its sender stopped waiting, in milliseconds.
const LATE_MS: u64 = 8_000;
/// Least delay of a card's authorisation after all parties gave it up, in milliseconds.
const VERY_LATE_MS: u64 = 120_000;
/// Statuses of answers that fail before anything was done.
const ERRORS_BEFORE: [u16; 4] = [500, 502, 503, 408];
/// Statuses of answers that fail although the request was done.
const ERRORS_AFTER: [u16; 3] = [500, 502, 504];

/// Connection from one node to one counterparty.
#[derive(Clone)]
pub(super) struct Wire {
    pub(super) world: Arc<World>,
    pub(super) fuse: Arc<Fuse>,
    pub(super) provider: Arc<Provider>,
    /// Moment until which the counterparty accepts no calls from this node, as reported to the node.
    throttled: Throttled,
}

/// Moment that a node and its wire share.
type Throttled = Arc<Mutex<Option<Instant>>>;

impl Wire {
    pub(super) fn new(world: &Arc<World>, fuse: &Arc<Fuse>, provider: &Arc<Provider>) -> Self {
        let world = Arc::clone(world);
        let fuse = Arc::clone(fuse);
        let provider = Arc::clone(provider);
        Self { world, fuse, provider, throttled: Arc::default() }
    }
}

impl ExchangeFactory for Wire {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(self.clone())
    }
}

#[async_trait(?Send)]
impl Exchange for Wire {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        // A request that only reads changes nothing outside: a death before it equals a death at the previous gate.
        let changes = request.verb != Verb::Get && !self.provider.is_for_a_token(&request);
        self.gate(changes, "request").await;
        self.check_wanted(&request);
        self.world.note(|| format!("{} {} {}", self.provider.name(), request.verb.as_str(), path(&request)));
        let mut answer = self.exchange(&request, changes).await;
        if planted::repeats(&self.world, &request, &answer) {
            answer = self.exchange(&request, changes).await;
        }
        self.world.note(|| format!("{} answers {}", self.provider.name(), told(&answer)));
        answer.map(|response| planted::response_heard(&self.world, response))
    }
}

impl Wire {
    async fn gate(&self, changes: bool, what: &'static str) {
        if changes {
            self.fuse.gate(what).await;
        } else {
            self.fuse.pass().await;
        }
    }

    async fn exchange(&self, request: &Request, changes: bool) -> Result<Response, Failure> {
        if let Some(early) = self.reach(request).await {
            return early;
        }
        if changes {
            self.come_late(request).await;
        }
        let reply = self.provider.handle(&self.world, request);
        if self.world.strikes(Fault::BankSilentAfter) {
            pending::<()>().await;
        }
        let Reply::Answer { response, after_ms } = reply else { return pending().await };
        if after_ms > 0 {
            sleep(Duration::from_millis(after_ms)).await;
        }
        self.gate(changes, "answer").await;
        if self.world.strikes(Fault::BankErrorAfter) {
            return self.spoil();
        }
        let quita_banks::Response { status, headers, body } = response;
        Ok(Response { status, headers, body })
    }

    /// Simulates the way to the counterparty. Returns the failure that occurred before anything was done, if any.
    async fn reach(&self, request: &Request) -> Option<Result<Response, Failure>> {
        let world = &self.world;
        assert!(!world.strikes(Fault::BankPanic), "the adapter panics");
        if world.strikes(Fault::BankRefuses) {
            return Some(Err(Failure::NotSent("no connection".into())));
        }
        world.pass(2, 100).await;
        let is_for_a_token = self.provider.is_for_a_token(request);
        if !is_for_a_token && world.strikes(Fault::BankThrottles) {
            let seconds = world.chance.between(1, 20);
            let until = Instant::now() + Duration::from_secs(seconds);
            let mut throttled = self.throttled.lock().unwrap();
            *throttled = (*throttled).max(Some(until));
            let headers = vec![("retry-after".to_owned(), seconds.to_string())];
            return Some(Ok(Response { status: 429, headers, body: Vec::new() }));
        }
        if world.strikes(Fault::BankSlow) {
            world.pass(500, self.provider.spec().time_out_ms + 2_000).await;
        }
        if world.strikes(Fault::BankSilentBefore) {
            pending::<()>().await;
        }
        if world.strikes(Fault::BankErrorBefore) {
            let status = world.chance.pick(&ERRORS_BEFORE);
            return Some(Ok(Response { status, headers: Vec::new(), body: Vec::new() }));
        }
        if world.strikes(Fault::TokenRefused) {
            return Some(Ok(Response { status: 401, headers: Vec::new(), body: Vec::new() }));
        }
        None
    }

    /// Checks that no request leaves while the counterparty accepts none, however long it had waited.
    fn check_wanted(&self, request: &Request) {
        let is_held = self.throttled.lock().unwrap().is_some_and(|until| Instant::now() < until);
        // A mistake may swallow the answer that asks for fewer calls.
        let is_ours = self.world.mistake.is_none() && !self.fuse.is_dead();
        if is_held && is_ours && !self.provider.is_for_a_token(request) {
            let name = self.provider.name();
            let place = self.fuse.place();
            self.world.violation(format!("{name} is called by node {place} although it wants fewer calls"));
        }
    }

    fn time_out(&self) -> Duration {
        Duration::from_millis(self.provider.spec().time_out_ms)
    }

    /// Delays some requests until after their sender stopped waiting. They arrive a moment later, or after all parties
    /// gave them up.
    async fn come_late(&self, request: &Request) {
        let world = &self.world;
        if let Some(id) = self.provider.only_authorises(request)
            && world.strikes(Fault::CardIsVeryLate)
        {
            let wire = self.clone();
            let request = request.clone();
            let wait_ms = world.chance.between(VERY_LATE_MS, 2 * VERY_LATE_MS);
            world.errand(async move {
                sleep(Duration::from_millis(wait_ms)).await;
                wire.provider.take_very_late(&wire.world, id, &request);
            });
            pending().await
        }
        if world.strikes(Fault::BankLateArrival) {
            let wire = self.clone();
            let request = request.clone();
            let (given_up, gives_up) = oneshot::channel::<()>();
            let within_ms = self.provider.arrives_within_ms(&request);
            let wait_ms = world.chance.between(1, within_ms.unwrap_or(LATE_MS));
            let time_out = self.time_out();
            let arrival = async move {
                // The sender gives up by dropping this call.
                drop(timeout(time_out, gives_up).await);
                sleep(Duration::from_millis(wait_ms)).await;
                drop(wire.provider.handle(&wire.world, &request));
            };
            if within_ms.is_some() {
                // This takes minutes, not the hours that are skipped when nothing is due.
                world.errand_of_notice(arrival);
            } else {
                world.errand(arrival);
            }
            let _given_up = given_up;
            pending().await
        }
    }

    /// Returns an answer that does not show that the request was done.
    fn spoil(&self) -> Result<Response, Failure> {
        let chance = &self.world.chance;
        match chance.between(0, 2) {
            0 => Err(Failure::Unknown("the connection broke".into())),
            1 => Ok(Response { status: 200, headers: Vec::new(), body: b"{\"half\": \"an ans".to_vec() }),
            _ => Ok(Response { status: chance.pick(&ERRORS_AFTER), headers: Vec::new(), body: Vec::new() }),
        }
    }
}

/// Returns the address without its host.
pub(super) fn path(request: &Request) -> &str {
    let whole = request.url.as_str();
    let from_host = whole.split_once("://").map_or(whole, |(_, rest)| rest);
    from_host.find('/').and_then(|place| from_host.get(place..)).unwrap_or("/")
}

fn told(answer: &Result<Response, Failure>) -> String {
    match answer {
        Ok(response) => format!("{} {}", response.status, String::from_utf8_lossy(&response.body)),
        Err(failure) => failure.to_string(),
    }
}
