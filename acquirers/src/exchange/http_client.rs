//! Exchanges over HTTP/1.1, with TLS where the address says so.
//!
//! Time, connections and the size of an answer are bounded; redirects are answers, and no proxy is used. What is said
//! about a failure names neither an address with its query nor a header.

use std::io;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::ParseError;
use async_trait::async_trait;
use awc::error::{ConnectError, SendRequestError};
use awc::http::Method;
use awc::http::header::{CONTENT_LENGTH, HeaderName, HeaderValue, USER_AGENT};
use awc::{Client, ClientRequest, ClientResponse, Connector};
use bytes::Bytes;
use futures_util::StreamExt;
use rustls::client::ResolvesClientCert;
use rustls::crypto::{CryptoProvider, ring};
use rustls::sign::SingleCertAndKey;
use rustls::{AlertDescription, ClientConfig, RootCertStore};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::identity::{Authorities, ClientIdentity};
use super::{Exchange, ExchangeFactory, Failure, Request, Response, Verb};

/// The most that is read of an answer.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Shorter than the five seconds after which many servers close, so that few requests meet a closing door: of those
/// it would not be known whether they arrived.
const KEEP_ALIVE: Duration = Duration::from_secs(4);

/// The longest that connecting may take, and the handshake again.
const LONGEST_STEP: Duration = Duration::from_secs(5);

const CUT_SHORT: &str = "the answer was cut short";

/// Sent unless the request brings its own.
const OUR_NAME: &str = concat!("quita/", env!("CARGO_PKG_VERSION"));

/// What an exchange over HTTP needs to know.
#[derive(Debug, Clone)]
pub struct HttpClientSettings {
    /// How long one exchange may take, from waiting for a connection to the end of the answer.
    pub time_out: Duration,
    /// Connections that one opened exchange has at once; more requests wait for their turn within their time-out.
    pub connections: usize,
    /// What proves that it is us, where the provider wants that.
    pub identity: Option<ClientIdentity>,
    /// Whom we believe about the provider, in place of the built-in roots.
    pub authorities: Option<Authorities>,
}

/// Opens exchanges over HTTP. Those of one factory share what the handshakes need, and remember of them.
pub struct HttpClientFactory {
    tls: Arc<ClientConfig>,
    time_out: Duration,
    connections: usize,
}

impl HttpClientFactory {
    /// With these settings.
    ///
    /// # Errors
    /// When an authority can't be used.
    pub fn new(settings: HttpClientSettings) -> Result<Self, String> {
        let HttpClientSettings { time_out, connections, identity, authorities } = settings;
        let tls = Arc::new(tls(identity.as_ref(), authorities.as_ref())?);
        Ok(Self { tls, time_out, connections: connections.max(1) })
    }
}

impl ExchangeFactory for HttpClientFactory {
    fn open(&self) -> Rc<dyn Exchange> {
        Rc::new(HttpClient {
            client: client(&self.tls, self.time_out, self.connections),
            places: Semaphore::new(self.connections.min(Semaphore::MAX_PERMITS)),
            time_out: self.time_out,
        })
    }
}

fn tls(identity: Option<&ClientIdentity>, authorities: Option<&Authorities>) -> Result<ClientConfig, String> {
    let roots = match authorities {
        Some(authorities) => authorities.roots()?,
        None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots);
    let mut tls = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let ours: Arc<dyn ResolvesClientCert> =
                Arc::new(SingleCertAndKey::from(identity.certified_key()));
            builder.with_client_cert_resolver(ours)
        }
    };
    tls.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(tls)
}

fn client(tls: &Arc<ClientConfig>, time_out: Duration, connections: usize) -> Client {
    if CryptoProvider::get_default().is_none() {
        // The client panics without one. If this fails another thread was faster, and there is one.
        ring::default_provider().install_default().ok();
    }
    // Both together end before the whole does, and so tell that nothing was sent.
    let step = (time_out / 3).min(LONGEST_STEP);
    let connector = Connector::new()
        .rustls_0_23(Arc::clone(tls))
        .timeout(step)
        .handshake_timeout(step)
        .conn_keep_alive(KEEP_ALIVE)
        .limit(connections);
    // No `max_http_version`: it would replace the TLS above by one without our certificate.
    Client::builder().connector(connector).no_default_headers().disable_redirects().disable_timeout().finish()
}

struct HttpClient {
    client: Client,
    places: Semaphore,
    time_out: Duration,
}

#[async_trait(?Send)]
impl Exchange for HttpClient {
    async fn send(&self, request: Request) -> Result<Response, Failure> {
        let (begun, time_out) = (Instant::now(), self.time_out);
        // Whoever waits for longer would have little time left, and might not even see that nothing was sent.
        let Ok(_place) = timeout_at(begun + time_out / 2, self.places.acquire()).await else {
            return Err(Failure::NotSent(format!("no connection was free within {:?}", time_out / 2)));
        };
        let exchanged = timeout_at(begun + time_out, self.exchange(request)).await;
        exchanged.unwrap_or_else(|_| Err(Failure::Unknown(format!("no answer within {time_out:?}"))))
    }
}

impl HttpClient {
    async fn exchange(&self, mut request: Request) -> Result<Response, Failure> {
        let has_body = !request.body.is_empty() || takes_body(request.verb);
        let prepared = self.prepare(&request)?;
        // Zeroed once the client lets go of it.
        let body = Bytes::from_owner(mem::take(&mut request.body));
        let sending = if has_body { prepared.send_body(body) } else { prepared.send() };
        let answer = sending.await.map_err(|error| failure_of(&error))?;
        read(answer).await
    }

    fn prepare(&self, request: &Request) -> Result<ClientRequest, Failure> {
        let mut prepared = self.client.request(method(request.verb), request.url.as_str());
        for (name, value) in &request.headers {
            let header =
                HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            let Some(header) = header else {
                return Err(Failure::NotSent("one of the headers can't be sent".into()));
            };
            prepared = prepared.append_header(header);
        }
        Ok(prepared.insert_header_if_none((USER_AGENT, OUR_NAME)))
    }
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

/// Whether a request without a body says so: servers refuse a `PUT` without a length.
const fn takes_body(verb: Verb) -> bool {
    match verb {
        Verb::Post | Verb::Put | Verb::Patch => true,
        Verb::Get | Verb::Delete => false,
    }
}

/// Reads an answer to its end.
async fn read(mut answer: ClientResponse) -> Result<Response, Failure> {
    let promised = answer.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    let promised: Option<usize> = promised.and_then(|length| length.parse().ok());
    let mut body = Vec::new();
    while let Some(chunk) = answer.next().await {
        let chunk = chunk.map_err(|_| Failure::Unknown(CUT_SHORT.into()))?;
        if body.len().saturating_add(chunk.len()) > MAX_ANSWER_BYTES {
            return Err(Failure::Unknown("the answer is larger than 1 MiB".into()));
        }
        body.extend_from_slice(&chunk);
    }
    // A connection that ends in mid-answer ends the stream of its pieces without an error. Of an answer that states no
    // length this can't be seen here: nobody can read what is there of its JSON.
    if promised.is_some_and(|promised| promised != body.len()) {
        return Err(Failure::Unknown(CUT_SHORT.into()));
    }
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
    let headers = answer.headers().iter();
    let headers =
        headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), text(value)?))).collect();
    Ok(Response { status: answer.status().as_u16(), headers, body })
}

/// Whether anything may have arrived, and why not.
fn failure_of(error: &SendRequestError) -> Failure {
    if let SendRequestError::Connect(error) = error {
        return of_connecting(error);
    }
    if matches!(error, SendRequestError::Url(_) | SendRequestError::Http(_)) {
        return Failure::NotSent("the request can't be sent: its address or a header is not valid".into());
    }
    let Some(broken) = io_error(error) else {
        return Failure::Unknown("what was answered is no HTTP/1.1".into());
    };
    match tls_error(broken) {
        Some(rustls::Error::AlertReceived(alert)) if refuses_our_certificate(*alert) => {
            Failure::NotSent(format!("our certificate was refused: {alert:?}"))
        }
        Some(error) => Failure::Unknown(format!("the connection broke: {error}")),
        None => Failure::Unknown(format!("the connection broke: {}", broken.kind())),
    }
}

fn of_connecting(error: &ConnectError) -> Failure {
    // A connection that was closed before the head of an answer.
    if matches!(error, ConnectError::Disconnected) {
        return Failure::Unknown("the connection was closed without an answer".into());
    }
    if let ConnectError::Io(error) = error {
        return Failure::NotSent(match tls_error(error) {
            Some(error) => format!("the handshake failed: {error}"),
            None => format!("no connection: {}", error.kind()),
        });
    }
    let leads_nowhere =
        matches!(error, ConnectError::Resolver(_) | ConnectError::NoRecords | ConnectError::Unresolved);
    if leads_nowhere {
        return Failure::NotSent("its name leads nowhere".into());
    }
    let is_late = matches!(error, ConnectError::Timeout);
    Failure::NotSent(if is_late { "no connection in time".into() } else { format!("no connection: {error}") })
}

/// Whether this says that a server does not take our certificate.
///
/// In TLS 1.3 it says so only after the client has ended its handshake, and so after the request may have been written
/// (RFC 8446, sections 4.4.2.4 and 6.2; `decrypt_error` is about the handshake's signatures alone). It is certain all the same that nothing was read of it: a server judges the
/// certificate before it takes what is encrypted with the keys of the finished handshake, and we offer neither early
/// data (section 4.2.10) nor a certificate afterwards (4.2.6). Any other end, a reset too, may come from a server that
/// read the request.
const fn refuses_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateRequired
            | AlertDescription::DecryptError
    )
}

fn io_error(error: &SendRequestError) -> Option<&io::Error> {
    if let SendRequestError::Send(error) | SendRequestError::Response(ParseError::Io(error)) = error {
        return Some(error);
    }
    None
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}
