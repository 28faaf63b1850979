//! Dialling: from a name to a connection. An address is checked right before it is dialled.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use rustls_pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::ClientSettings;
use super::connection::Connection;
use super::destination::Destination;
use super::failure::{Failure, Why};
use super::handshake::handshake_failed;
use super::wire::Socket;

/// Opens a connection. If this fails, no part of a request has left.
pub(crate) async fn dial(
    destination: &Destination,
    settings: &ClientSettings,
) -> Result<Connection, Failure> {
    let socket = connect(destination, settings).await.map_err(Failure::unsent)?;
    Connection::open(socket).await
}

async fn connect(destination: &Destination, settings: &ClientSettings) -> Result<Socket, Why> {
    let late = |_| Why::NoConnectionInTime;
    let tcp = timeout(settings.step, reach(destination, settings)).await.map_err(late)??;
    // Sends a small request at once. If this fails, the request is only slower.
    tcp.set_nodelay(true).ok();
    if !destination.is_secured {
        return Ok(Socket::Plain(tcp));
    }
    let name = ServerName::try_from(destination.host.clone()).map_err(|_| Why::Invalid)?;
    let handshake = TlsConnector::from(Arc::clone(&settings.tls)).connect(name, tcp);
    let secured = timeout(settings.step, handshake).await.map_err(late)?;
    secured.map(|tls| Socket::Secured(Box::new(tls))).map_err(|error| handshake_failed(&error))
}

async fn reach(destination: &Destination, settings: &ClientSettings) -> Result<TcpStream, Why> {
    let mut failed = None;
    let mut is_withheld = false;
    for address in addresses(destination).await? {
        // Checked between the lookup and the connection: a name that resolves differently the second time gains
        // nothing.
        if !(settings.may_dial)(address.ip()) {
            is_withheld = true;
            continue;
        }
        match TcpStream::connect(address).await {
            Ok(tcp) => return Ok(tcp),
            Err(error) => failed = Some(Why::NoConnection(error.kind())),
        }
    }
    // A failed attempt says more than a refused address, which is only the reason if nothing else was tried.
    Err(failed.unwrap_or(if is_withheld { Why::NotAllowed } else { Why::NoName }))
}

async fn addresses(destination: &Destination) -> Result<Vec<SocketAddr>, Why> {
    // A literal address is checked like one from a lookup.
    if let Ok(literal) = destination.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(literal, destination.port)]);
    }
    let found = lookup_host((destination.host.as_str(), destination.port)).await;
    found.map(Iterator::collect).map_err(|_| Why::NoName)
}
