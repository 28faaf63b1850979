//! Test server on a loopback port with configurable answers.

use actix_web::dev::ServerHandle;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use url::Url;

/// Running server.
pub(super) struct TestServer {
    pub(super) url: Url,
    handle: ServerHandle,
}

impl TestServer {
    /// Stops the server, and waits until it has stopped.
    pub(super) async fn stop(self) {
        self.handle.stop(false).await;
    }
}

/// Starts a server that responds to every request with the result of `answer`.
pub(super) fn test_server(
    answer: impl Fn(HttpRequest) -> HttpResponse + Clone + Send + 'static,
) -> TestServer {
    waiting_test_server(move |request| std::future::ready(answer(request)))
}

/// Starts a server whose answers may wait for something. Meanwhile it takes other requests.
pub(super) fn waiting_test_server<F: Future<Output = HttpResponse> + 'static>(
    answer: impl Fn(HttpRequest) -> F + Clone + Send + 'static,
) -> TestServer {
    let server = HttpServer::new(move || {
        let answer = answer.clone();
        App::new().default_service(web::to(move |request: HttpRequest| answer(request)))
    });
    let server = server.workers(1).disable_signals().bind("127.0.0.1:0").unwrap();
    let url = Url::parse(&format!("http://{}/", server.addrs()[0])).unwrap();
    let server = server.run();
    let handle = server.handle();
    actix_web::rt::spawn(server);
    TestServer { url, handle }
}
