//! Limits on every connection of a listener, for any protocol: the number of connections, from one address and in
//! total, and the client's deadlines.

mod connection;
pub(crate) mod open_files;
mod places;
mod refusal;

use std::fmt;
use std::future::{Ready, ready};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol, Request, Response};
use actix_server::ServerBuilder;
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, Server};
use tokio::net::TcpStream;

use connection::Connection;
pub(crate) use places::{ConnectionLimits, ConnectionMetrics, Places};

/// Time within which a client must send the head of its first request.
const HEAD_TIME_OUT: Duration = Duration::from_secs(10);
/// Time for which a connection may stay idle.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Time within which a client must disconnect when asked to.
const DISCONNECT_TIME_OUT: Duration = Duration::from_secs(1);
/// Listening socket, and the settings with which it is served.
pub(crate) struct Listener {
    /// Socket, already bound.
    pub(crate) socket: TcpListener,
    /// Connection slots.
    pub(crate) places: Places,
    /// Number of threads that read and write.
    pub(crate) workers: usize,
    /// Time for accepted requests to finish at shutdown.
    pub(crate) shutdown_time: Duration,
    /// True if each refusal of malformed requests is logged at `info`.
    pub(crate) tells_refusals: bool,
}

impl Listener {
    /// Serves an application. The caller handles signals.
    ///
    /// # Errors
    /// Fails if the socket can't be used.
    pub(crate) fn serve<F, I, S, B>(self, app: F) -> io::Result<Server>
    where
        F: Fn() -> I + Send + Clone + 'static,
        I: IntoServiceFactory<S, Request>,
        S: ServiceFactory<Request, Config = AppConfig> + 'static,
        S::Error: Into<actix_web::Error> + 'static,
        S::InitError: fmt::Debug,
        S::Response: Into<Response<B>> + 'static,
        <S::Service as Service<Request>>::Future: 'static,
        S::Service: 'static,
        B: MessageBody + 'static,
    {
        let Self { socket, places, workers, shutdown_time, tells_refusals } = self;
        let server = ServerBuilder::new()
            .workers(workers)
            .max_concurrent_connections(places.share_of(workers))
            .shutdown_timeout(shutdown_time.as_secs())
            // Signals are handled in `serve/until_stopped.rs`, which stops both listeners in order.
            .disable_signals();
        let stopping = server.graceful_shutdown_signal();
        let name = places.listener();
        let server = server.listen(name, socket, move || {
            let places = places.clone();
            let stopping = stopping.clone();
            let app = app().into_factory().map_err(|error: S::Error| error.into().error_response());
            let http = HttpService::build()
                .graceful_shutdown_signal(move || {
                    let stopping = stopping.clone();
                    async move { stopping.notified().await }
                })
                .keep_alive(KEEP_ALIVE)
                .client_request_timeout(HEAD_TIME_OUT)
                .client_disconnect_timeout(DISCONNECT_TIME_OUT)
                .finish(map_config(app, |()| AppConfig::default()));
            fn_service(move |stream| admit(stream, &places, tells_refusals)).and_then(http)
        })?;
        Ok(server.run())
    }
}

type Admitted = (Connection<TcpStream>, Protocol, Option<SocketAddr>);

/// Accepts a connection, or resets it if there is no slot for it.
fn admit(stream: TcpStream, places: &Places, tells_refusals: bool) -> Ready<Result<Admitted, DispatchError>> {
    let admitted = stream.peer_addr().and_then(|peer| {
        let Some(place) = places.take(peer.ip()) else {
            // A reset leaves no trace of the connection in the kernel; otherwise a flood of refused ones would fill it.
            connection::cut(&stream);
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        Ok((Connection::new(stream, place, tells_refusals), Protocol::Http1, Some(peer)))
    });
    ready(admitted.map_err(DispatchError::Io))
}

/// Returns the error of an unusable address, with the option that names it.
pub(crate) fn cannot_listen(option: &str, address: SocketAddr, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot listen on {address}: {error}; choose another address with {option}")
}
