//! Delivery of the counterparty's notices.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::Uri;
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, mpsc};
use tokio_rustls::TlsConnector;

use super::Shared;
use crate::certificates::Certificates;
use crate::{Counterparty, Notice};

/// Interval of the search for notices that become due without an action.
const EVERY: Duration = Duration::from_millis(20);
const TIME_OUT: Duration = Duration::from_secs(10);

/// A kept connection and its target.
struct Kept {
    origin: String,
    connection: SendRequest<Full<Bytes>>,
}

/// Returns the TLS configuration of the bank as a client: it presents its own certificate and trusts its own authority.
pub(super) fn client(certificates: &Certificates) -> io::Result<Arc<ClientConfig>> {
    let (chain, key) = certificates.server().read()?;
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(certificates.roots()?)
        .with_client_auth_cert(chain, key)
        .map_err(io::Error::other)?;
    Ok(Arc::new(config))
}

pub(super) async fn send<C: Counterparty + 'static>(
    shared: Arc<Shared<C>>,
    client: Option<Arc<ClientConfig>>,
    senders: usize,
) {
    let (queue, due) = mpsc::unbounded_channel();
    let due = Arc::new(Mutex::new(due));
    for _ in 0..senders {
        tokio::spawn(sender(Arc::clone(&shared), Arc::clone(&due), client.clone()));
    }
    loop {
        let now_ms = shared.now_ms();
        let notices = shared.counterparty().notices(now_ms);
        for notice in notices {
            // The senders end with the server.
            queue.send(notice).unwrap_or_default();
        }
        tokio::select! {
            () = shared.done.notified() => {}
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

async fn sender<C: Counterparty>(
    shared: Arc<Shared<C>>,
    due: Arc<Mutex<mpsc::UnboundedReceiver<Notice>>>,
    client: Option<Arc<ClientConfig>>,
) {
    let mut kept = None;
    loop {
        let next = due.lock().await.recv().await;
        let Some(notice) = next else { return };
        let Some(url) = shared.address_of(&notice) else { continue };
        let sending = post(&mut kept, client.as_ref(), &url, &notice);
        let status = tokio::time::timeout(TIME_OUT, sending).await.ok().and_then(Result::ok);
        if status.is_some_and(|status| (200..300).contains(&status)) {
            shared.delivered.fetch_add(1, Ordering::SeqCst);
        } else {
            kept = None;
            shared.failed.fetch_add(1, Ordering::SeqCst);
        }
        let now_ms = shared.now_ms();
        shared.counterparty().notified(&notice, status, now_ms);
    }
}

impl<C> Shared<C> {
    /// Returns the address to which this notice goes, if any.
    fn address_of(&self, notice: &Notice) -> Option<String> {
        let Some(url) = &notice.url else {
            return self.notices_to.lock().unwrap_or_else(PoisonError::into_inner).clone();
        };
        let forward = self.forward.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(origin) = forward else { return Some(url.clone()) };
        let path =
            url.split_once("://").and_then(|(_, rest)| rest.split_once('/')).map_or("", |(_, path)| path);
        Some(format!("{}/{path}", origin.trim_end_matches('/')))
    }
}

/// Posts a notice, and returns the status of the answer.
async fn post(
    kept: &mut Option<Kept>,
    client: Option<&Arc<ClientConfig>>,
    url: &str,
    notice: &Notice,
) -> io::Result<u16> {
    let uri: Uri = url.parse().map_err(io::Error::other)?;
    let origin = format!(
        "{}://{}",
        uri.scheme_str().unwrap_or("http"),
        uri.authority().map_or("", |all| all.as_str())
    );
    let is_open = match kept {
        Some(known) => known.origin == origin && known.connection.ready().await.is_ok(),
        None => false,
    };
    if !is_open {
        *kept = None;
    }
    let known = match kept {
        Some(known) => known,
        None => {
            let connection = connect(&uri, client).await?;
            kept.insert(Kept { origin, connection })
        }
    };
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let mut request =
        hyper::Request::post(path).header("host", uri.authority().map_or("", |all| all.as_str()));
    for (name, value) in &notice.headers {
        request = request.header(name, value);
    }
    let request = request.body(Full::from(notice.body.clone())).map_err(io::Error::other)?;
    let response = known.connection.send_request(request).await.map_err(io::Error::other)?;
    let status = response.status().as_u16();
    // Read to its end, so that the connection can be used again.
    response.into_body().collect().await.map_err(io::Error::other)?;
    Ok(status)
}

async fn connect(uri: &Uri, client: Option<&Arc<ClientConfig>>) -> io::Result<SendRequest<Full<Bytes>>> {
    let host = uri.host().ok_or_else(|| io::Error::other("no host"))?.to_owned();
    let is_tls = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
    let stream = TcpStream::connect((host.as_str(), port)).await?;
    stream.set_nodelay(true)?;
    if !is_tls {
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(connection);
        return Ok(sender);
    }
    let client = client.ok_or_else(|| io::Error::other("no certificates"))?;
    let name = ServerName::try_from(host).map_err(io::Error::other)?;
    let stream = TlsConnector::from(Arc::clone(client)).connect(name, stream).await?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    Ok(sender)
}
