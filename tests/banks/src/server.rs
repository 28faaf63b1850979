//! A counterparty behind HTTP on loopback, plain or with (mutual) TLS, with a control path for commands. It runs on a
//! thread of its own and ends when it is dropped.

mod control;
mod exchange;
mod notices;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::server::WebPkiClientVerifier;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio_rustls::TlsAcceptor;

use crate::Counterparty;
use crate::certificates::Certificates;

/// Way in which the counterparty is reached.
#[derive(Debug, Clone, Default)]
pub enum Tls {
    /// Plain HTTP.
    #[default]
    Plain,
    /// HTTPS that accepts any client; certificates are created in this directory.
    Server(PathBuf),
    /// HTTPS that only accepts clients with a certificate of its authority; certificates are created in this directory.
    Mutual(PathBuf),
}

/// Options of a server at its start.
#[derive(Debug, Clone)]
pub struct Options {
    /// Way in which the counterparty is reached.
    pub tls: Tls,
    /// The port of the counterparty; 0 for any that is free.
    pub port: u16,
    /// Delay of every answer, in milliseconds.
    pub delay_ms: u64,
    /// Scheme, host and port to which notices go instead of their own, as if a proxy were in front of the receiver.
    pub forward: Option<String>,
    /// Complete address for notices of a counterparty that has none.
    pub notices_to: Option<String>,
    /// Number of notices that are sent concurrently, each on a kept connection.
    pub senders: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { tls: Tls::default(), port: 0, delay_ms: 0, forward: None, notices_to: None, senders: 8 }
    }
}

/// A counterparty that is being served.
pub struct Served<C> {
    address: SocketAddr,
    control: SocketAddr,
    certificates: Option<Certificates>,
    shared: Arc<Shared<C>>,
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// State that the tasks of one server share.
struct Shared<C> {
    counterparty: Mutex<C>,
    ahead_ms: AtomicI64,
    delay_ms: AtomicU64,
    forward: Mutex<Option<String>>,
    notices_to: Mutex<Option<String>>,
    /// Signals an action, after which there may be notices.
    done: Notify,
    delivered: AtomicU64,
    failed: AtomicU64,
}

struct Listeners {
    api: std::net::TcpListener,
    control: std::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    /// Client configuration for notices to https addresses.
    client: Option<Arc<rustls::ClientConfig>>,
    senders: usize,
}

impl<C: Counterparty + 'static> Served<C> {
    /// Serves the counterparty on a free port.
    pub fn start(counterparty: C, tls: Tls) -> io::Result<Self> {
        Self::start_with(counterparty, Options { tls, ..Options::default() })
    }

    /// Serves the counterparty with these options.
    pub fn start_with(counterparty: C, options: Options) -> io::Result<Self> {
        let (certificates, is_mutual) = match &options.tls {
            Tls::Plain => (None, false),
            Tls::Server(directory) => (Some(Certificates::make(directory)?), false),
            Tls::Mutual(directory) => (Some(Certificates::make(directory)?), true),
        };
        let listeners = Listeners {
            api: listen(options.port)?,
            control: listen(0)?,
            acceptor: certificates.as_ref().map(|made| acceptor(made, is_mutual)).transpose()?,
            client: certificates.as_ref().map(notices::client).transpose()?,
            senders: options.senders,
        };
        let address = listeners.api.local_addr()?;
        let control = listeners.control.local_addr()?;
        let shared = Arc::new(Shared {
            counterparty: Mutex::new(counterparty),
            ahead_ms: AtomicI64::new(0),
            delay_ms: AtomicU64::new(options.delay_ms),
            forward: Mutex::new(options.forward),
            notices_to: Mutex::new(options.notices_to),
            done: Notify::new(),
            delivered: AtomicU64::new(0),
            failed: AtomicU64::new(0),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("counterparty".to_owned()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    () = serve(for_thread, listeners) => {}
                    // Nothing is ever sent: the other end is dropped.
                    _ = stopped => {}
                }
            });
            // Exchanges under way are cut.
            runtime.shutdown_background();
        })?;
        Ok(Self { address, control, certificates, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns scheme, host and port.
    pub fn url(&self) -> String {
        let scheme = if self.certificates.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns scheme, host and port of the control path.
    pub fn control_url(&self) -> String {
        format!("http://{}", self.control)
    }

    /// Returns its certificates, if it has TLS.
    pub fn certificates(&self) -> Option<&Certificates> {
        self.certificates.as_ref()
    }

    /// Accesses the counterparty; resulting notices are sent.
    pub fn with<R>(&self, work: impl FnOnce(&mut C) -> R) -> R {
        let result = work(&mut self.shared.counterparty());
        self.shared.done.notify_one();
        result
    }

    /// Returns the counterparty's time.
    pub fn now_ms(&self) -> i64 {
        self.shared.now_ms()
    }

    /// Advances the counterparty's clock.
    pub fn advance(&self, ms: i64) {
        self.shared.ahead_ms.fetch_add(ms, Ordering::SeqCst);
        self.shared.done.notify_one();
    }

    /// Returns the number of notices that arrived and were answered with 2xx, and of those that were not.
    pub fn notices(&self) -> (u64, u64) {
        (self.shared.delivered.load(Ordering::SeqCst), self.shared.failed.load(Ordering::SeqCst))
    }
}

impl<C> Drop for Served<C> {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already reported it.
            thread.join().unwrap_or_default();
        }
    }
}

impl<C> Shared<C> {
    fn counterparty(&self) -> MutexGuard<'_, C> {
        self.counterparty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[allow(clippy::disallowed_methods, reason = "a counterparty has a clock of its own")]
    fn now_ms(&self) -> i64 {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now_ms = i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX);
        now_ms.saturating_add(self.ahead_ms.load(Ordering::SeqCst))
    }
}

fn listen(port: u16) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn acceptor(certificates: &Certificates, is_mutual: bool) -> io::Result<TlsAcceptor> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?;
    let builder = if is_mutual {
        let roots = Arc::new(certificates.roots()?);
        let verifier =
            WebPkiClientVerifier::builder_with_provider(roots, provider).build().map_err(io::Error::other)?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let (chain, key) = certificates.server().read()?;
    let mut config = builder.with_single_cert(chain, key).map_err(io::Error::other)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn serve<C: Counterparty + 'static>(shared: Arc<Shared<C>>, listeners: Listeners) {
    let Listeners { api, control, acceptor, client, senders } = listeners;
    let api = accept(api, |stream| {
        tokio::spawn(connection(Arc::clone(&shared), acceptor.clone(), stream));
    });
    let controlled = accept(control, |stream| {
        let shared = Arc::clone(&shared);
        let service = service_fn(move |request| control::answer(Arc::clone(&shared), request));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    });
    tokio::join!(api, controlled, notices::send(Arc::clone(&shared), client, senders));
}

/// Accepts connections until it is dropped.
async fn accept(listener: std::net::TcpListener, take: impl Fn(TcpStream)) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    loop {
        // A connection that was gone before it was accepted is ignored.
        if let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap_or_default();
            take(stream);
        }
    }
}

async fn connection<C: Counterparty + 'static>(
    shared: Arc<Shared<C>>,
    acceptor: Option<TlsAcceptor>,
    stream: TcpStream,
) {
    let Some(acceptor) = acceptor else { return requests(shared, None, stream).await };
    // TLS reports the refusal to a refused client.
    let Ok(stream) = acceptor.accept(stream).await else { return };
    let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
    let certificate = shown.map(|der| Sha256::digest(der).iter().map(|byte| format!("{byte:02x}")).collect());
    requests(shared, certificate, stream).await;
}

async fn requests<C: Counterparty + 'static>(
    shared: Arc<Shared<C>>,
    certificate: Option<String>,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        exchange::answer(Arc::clone(&shared), certificate.clone(), request)
    });
    // This ends with an error if the counterparty wants the connection cut.
    http1::Builder::new().serve_connection(TokioIo::new(stream), service).await.unwrap_or_default();
}
