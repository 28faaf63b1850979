//! Webhook receiver of the load tester.

use std::io;
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer};
use quita_domain::identity::Mode;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_domain::webhook::signature::WebhookSecret;
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde::Deserialize;
use uuid::Uuid;

use super::super::listen::signature_check::{SignatureCheck, SignatureHeaders, judge};
use super::board::Board;
use super::ledger::Notice;

/// Maximum size of a webhook in bytes.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Receiver that runs on a free port of the loopback interface.
pub(super) struct LocalReceiver {
    /// Address to which events must be sent.
    pub(super) url: String,
    handle: ServerHandle,
}

/// State that the receiver needs to verify a webhook.
struct ReceiverState {
    board: Arc<Board>,
    secrets: Vec<WebhookSecret>,
    path: String,
}

/// Fields of an event that are parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    transaction_id: Uuid,
    sequence: u32,
    status: Status,
    mode: Option<Mode>,
    #[serde(borrow)]
    occurred_at: &'a str,
}

impl LocalReceiver {
    /// Starts the receiver. It accepts only webhooks to the path of this run.
    pub(super) fn start(board: Arc<Board>, secrets: Vec<WebhookSecret>, run: Uuid) -> io::Result<Self> {
        let path = format!("/{run}");
        let state = Data::new(ReceiverState { board, secrets, path: path.clone() });
        let server = HttpServer::new(move || {
            App::new()
                .app_data(state.clone())
                .app_data(web::PayloadConfig::new(MAX_BODY_BYTES))
                .default_service(web::to(receive))
        });
        let server = server.workers(1).disable_signals().bind("127.0.0.1:0")?;
        let address = server.addrs().first().copied().ok_or_else(|| io::Error::other("no address"))?;
        let server = server.run();
        let handle = server.handle();
        actix_web::rt::spawn(server);
        Ok(Self { url: format!("http://{address}{path}"), handle })
    }

    /// Stops the receiver.
    pub(super) async fn stop(self) {
        self.handle.stop(false).await;
    }
}

async fn receive(state: Data<ReceiverState>, request: HttpRequest, body: Bytes) -> HttpResponse {
    if request.path() != state.path {
        // Left over from an earlier run on the same port; nothing waits for it.
        return HttpResponse::Gone().finish();
    }
    let now = SystemClock.now();
    state.board.measures().received();
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let headers = SignatureHeaders::new(header);
    // A run uses a test key, so a live event does not belong to it.
    let event = serde_json::from_slice::<Event<'_>>(&body).ok();
    let event = event.filter(|event| event.mode != Some(Mode::Live));
    let parts = event.and_then(|event| Some((Timestamp::parse(event.occurred_at)?, headers.id?, event)));
    let Some((occurred_at, webhook_id, event)) = parts else {
        state.board.measures().webhooks.unreadable += 1;
        return HttpResponse::Ok().finish();
    };
    let check = judge(&state.secrets, &headers, &body, now);
    if let SignatureCheck::Stale { off_s } = check {
        let webhooks = &mut state.board.measures().webhooks;
        webhooks.stale += 1;
        webhooks.stale_by_s = webhooks.stale_by_s.max(off_s);
    }
    let is_signed_well = state.secrets.is_empty() || check == SignatureCheck::Good;
    let Event { transaction_id: transaction, sequence, status, .. } = event;
    let notice = Notice { transaction, sequence, status, webhook_id, is_signed_well };
    let reception = state.board.ledger().hear(&notice);
    let mut measures = state.board.measures();
    if reception.is_prompt {
        measures.delivered(now.ms_since(occurred_at));
    }
    if reception.is_confirmed {
        return HttpResponse::Ok().finish();
    }
    measures.webhooks.refused += 1;
    HttpResponse::InternalServerError().finish()
}
