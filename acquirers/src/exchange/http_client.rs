//! Exchanges over HTTP/1.1, with TLS if the address says so.
//!
//! Time, connections and the size of an answer are limited; redirects are returned as answers, and no proxy is used.
//! Texts about failures contain neither a query nor a header.

use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use quita_http_client::header::{HeaderName, HeaderValue, USER_AGENT};
use quita_http_client::{
    self as http, Answer, Client, ClientSettings, End, HeaderMap, Method, Why, public_roots, tls,
};
use quita_ports::call_time;
use rustls::ClientConfig;
use rustls::client::ResolvesClientCert;
use rustls::sign::SingleCertAndKey;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::identity::{Authorities, ClientIdentity};
use super::{Exchange, ExchangeFactory, Failure, Request, Response, Verb};

const MIB: usize = 1024 * 1024;

/// Maximum size of an answer.
const MAX_ANSWER_BYTES: usize = MIB;

/// Maximum size of a file: Sicoob's movements of half a million boletos, zipped and in base64, take half of it.
const MAX_FILE_BYTES: usize = 64 * MIB;

/// Longest time for connecting, and again for the handshake.
const LONGEST_STEP: Duration = Duration::from_secs(5);

/// `User-Agent`, unless the request has its own.
const OUR_NAME: &str = concat!("quita/", env!("CARGO_PKG_VERSION"));

/// Settings of an exchange over HTTP.
#[derive(Debug, Clone)]
pub struct HttpClientSettings {
    /// Longest time of one exchange, from connecting to the end of the answer.
    pub time_out: Duration,
    /// Maximum number of connections of one opened exchange; further requests wait for their turn, for half of the
    /// time-out.
    pub connections: usize,
    /// Certificate that proves our identity, if the provider requires one.
    pub identity: Option<ClientIdentity>,
    /// Authorities that are trusted for the provider, instead of the built-in roots.
    pub authorities: Option<Authorities>,
}

/// Opens exchanges over HTTP. Those of one factory share the TLS configuration and its session cache.
pub struct HttpClientFactory {
    tls: Arc<ClientConfig>,
    time_out: Duration,
    connections: usize,
}

impl HttpClientFactory {
    /// Creates a factory with these settings.
    ///
    /// # Errors
    /// Fails if an authority can't be used.
    pub fn new(settings: HttpClientSettings) -> Result<Self, String> {
        let HttpClientSettings { time_out, connections, identity, authorities } = settings;
        let roots = match authorities {
            Some(authorities) => authorities.roots()?,
            None => public_roots(),
        };
        let ours = identity.map(|identity| -> Arc<dyn ResolvesClientCert> {
            Arc::new(SingleCertAndKey::from(identity.certified_key()))
        });
        let tls = tls(roots, ours).map_err(|error| error.to_string())?;
        Ok(Self { tls: Arc::new(tls), time_out, connections: connections.max(1) })
    }
}

impl ExchangeFactory for HttpClientFactory {
    fn open(&self) -> Rc<dyn Exchange> {
        self.open_for(MAX_ANSWER_BYTES)
    }

    fn open_for_files(&self) -> Rc<dyn Exchange> {
        self.open_for(MAX_FILE_BYTES)
    }
}

impl HttpClientFactory {
    fn open_for(&self, max_bytes: usize) -> Rc<dyn Exchange> {
        let client = Client::new(ClientSettings {
            tls: Arc::clone(&self.tls),
            // The address comes from the person who configures the acquirer.
            may_dial: Box::new(|_| true),
            at_once: self.connections,
            kept: self.connections,
            // Both steps together end before the whole time-out, so that it is certain that nothing was sent.
            step: (self.time_out / 3).min(LONGEST_STEP),
        });
        let places = Semaphore::new(self.connections.min(Semaphore::MAX_PERMITS));
        Rc::new(HttpClient { client, places, time_out: self.time_out, max_bytes })
    }
}

struct HttpClient {
    client: Client,
    places: Semaphore,
    time_out: Duration,
    max_bytes: usize,
}

#[async_trait(?Send)]
impl Exchange for HttpClient {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let patience = self.time_out / 2;
        let place = call_time::waiting(timeout(patience, self.places.acquire())).await;
        // A request that waits here has certainly not left, so its call may be made elsewhere.
        let Ok(Ok(_place)) = place else {
            return Err(Failure::NotSent(format!("no connection was free within {patience:?}")));
        };
        // The deadline starts once a connection is free: waiting takes nothing from the call's time.
        let deadline = Instant::now() + self.time_out;
        let request = prepare(request)?;
        let answer = self.client.send(&request, deadline, self.max_bytes).await;
        answer.map_err(|failure| self.failed(&failure)).and_then(|answer| self.read(answer))
    }
}

impl HttpClient {
    fn failed(&self, failure: &http::Failure) -> Failure {
        let why = if matches!(failure.why, Why::TimeOut) {
            format!("no answer within {:?}", self.time_out)
        } else {
            failure.why.to_string()
        };
        // Money depends on this line: a request that was "not sent" goes to another acquirer, an unknown one is
        // inquired about.
        if failure.may_have_left { Failure::Unknown(why) } else { Failure::NotSent(why) }
    }

    /// Returns an answer that is complete.
    fn read(&self, answer: Answer) -> Result<Response, Failure> {
        match answer.end {
            End::Whole => {}
            // The provider may have done what was requested. Only its answer was too long to be read.
            End::TooLong => {
                let why = format!("the answer is larger than {} MiB", self.max_bytes / MIB);
                return Err(Failure::Unknown(why));
            }
            End::Broken(why) => return Err(Failure::Unknown(why.to_string())),
        }
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        let headers = answer.headers.iter();
        let headers =
            headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?))).collect();
        Ok(Response { status: answer.status, headers, body: answer.body })
    }
}

fn prepare(mut request: Request) -> Result<http::Request, Failure> {
    let invalid = || Failure::NotSent(Why::Invalid.to_string());
    let uri = request.url.parse().map_err(|_| invalid())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
        let Some((name, value)) = header else {
            return Err(Failure::NotSent("one of the headers can't be sent".into()));
        };
        headers.append(name, value);
    }
    headers.entry(USER_AGENT).or_insert(HeaderValue::from_static(OUR_NAME));
    // Zeroed once the client drops it.
    let body = Bytes::from_owner(mem::take(&mut request.body));
    let method = method(request.verb);
    let is_repeatable = request.is_repeatable;
    Ok(http::Request { method, uri, headers, body, is_repeatable })
}

const fn method(verb: Verb) -> Method {
    match verb {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Put => Method::PUT,
        Verb::Patch => Method::PATCH,
        Verb::Delete => Method::DELETE,
    }
}
