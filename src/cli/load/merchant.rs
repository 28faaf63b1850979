//! Merchant's side of the test: creates payments, reads them back, and queries their final status.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use actix_web::web::Bytes;
use awc::Client;
use awc::error::{PayloadError, SendRequestError};
use quita_domain::status::Status;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use uuid::Uuid;

use super::super::output;
use super::board::Board;
use super::check_pace::CheckPace;
use super::measures::{CallKind, Creation, Measures, is_good, micros};
use super::purchases::{Purchase, Purchases};
use super::reply::{NoAnswer, Reply};
use super::under_way::PendingCall;
use super::verdict::{ReportedDeliveries, ReportedStatus};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Code of a refusal because the store is out of reach.
const STORE_UNAVAILABLE: &str = "store_unavailable";

/// Maximum size in bytes of an answer: the largest record is far smaller.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Maximum length of an error that the report shows.
const MAX_ERROR_CHARACTERS: usize = 300;

/// Time that a creation waits for one of the load tester's connections before it is skipped.
const CONNECTION_WITHIN: Duration = Duration::from_secs(30);

/// Time limit for the answer of a service that did not answer before.
const PROBE_WITHIN: Duration = Duration::from_secs(5);

/// Time limit for an answer while only events are awaited. It is longer than the service takes to report that its store
/// is away.
const WATCH_WITHIN: Duration = Duration::from_secs(15);

/// Time between two probes while only events are awaited.
const WATCH_EVERY: Duration = Duration::from_secs(1);

/// Maximum number of times that a request is repeated whose connection broke.
const REPEATS: u32 = 3;

/// Pause before each repeat. A proxy needs a moment to notice that one of its servers is gone.
const REPEAT_AFTER: Duration = Duration::from_millis(500);

/// Client of the API that records every reply.
pub(super) struct Merchant {
    /// HTTP client with a limit on connections.
    pub(super) client: Client,
    /// Permits for concurrent creations, one for each connection, so that the wait for one is measured.
    pub(super) connections: Semaphore,
    /// Address of the service, `https://…`, without a trailing slash.
    pub(super) base_url: String,
    /// Value of the `Authorization` header, `Bearer …`.
    pub(super) authorization: String,
    /// Generator of the requests.
    pub(super) purchases: Purchases,
    /// Board on which everything is recorded.
    pub(super) board: Arc<Board>,
    /// Reason for which no further request can succeed.
    pub(super) refusal: LastingRefusal,
    /// Pace of the queries after the load.
    pub(super) check_pace: CheckPace,
}

/// First refusal that every further request would receive as well: of the key, its scope, or the method.
#[derive(Debug, Default)]
pub(super) struct LastingRefusal {
    cause: RefCell<Option<String>>,
    noted: Notify,
}

impl LastingRefusal {
    /// Waits for a refusal, and returns its cause.
    pub(super) async fn wait(&self) -> String {
        loop {
            // Registered before the check: otherwise a refusal between the two would wake nobody.
            let noted = self.noted.notified();
            if let Some(cause) = self.cause.borrow().clone() {
                return cause;
            }
            noted.await;
        }
    }

    fn note(&self, cause: String) {
        self.cause.borrow_mut().get_or_insert(cause);
        self.noted.notify_waiters();
    }
}

/// Fields of a record that are parsed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordFields {
    transaction_id: Uuid,
    status: Status,
    status_reason: Option<String>,
}

/// Fields of an error that are parsed.
#[derive(Deserialize)]
struct RefusalFields {
    message: String,
    code: String,
    #[serde(default)]
    details: Vec<RefusedField>,
}

/// Fields of a violation that are parsed.
#[derive(Deserialize)]
struct RefusedField {
    field: String,
}

/// Fields of a page of deliveries that are parsed.
#[derive(Deserialize)]
struct DeliveryStates {
    data: Vec<DeliveryState>,
}

/// Fields of a delivery that are parsed.
#[derive(Deserialize)]
struct DeliveryState {
    state: String,
    #[serde(default)]
    attempts: Vec<DeliveryTry>,
}

/// Fields of a delivery attempt that are parsed.
#[derive(Deserialize)]
struct DeliveryTry {
    status: Option<u16>,
    error: Option<String>,
}

impl DeliveryState {
    /// Returns the reason why the last attempt failed.
    fn failure(&self) -> Option<String> {
        let last = self.attempts.last()?;
        let answered = last.status.map(|status| format!("answered {status}"));
        last.error.as_deref().map(output::printable).or(answered)
    }
}

/// Outcome of a call.
struct CallResult {
    reply: Reply,
    body: Bytes,
    /// Pause that a refusal requests.
    retry_after: Option<Duration>,
    /// True if the service refused because its store is out of reach.
    is_store_away: bool,
}

impl Merchant {
    /// Creates the payment with this number, due since `intended`, and reads it back. Returns false if there was no
    /// answer.
    pub(super) async fn pay(&self, number: u64, stage: usize, intended: Instant) -> bool {
        let purchase = self.purchases.purchase(number);
        let creation = Creation { method: purchase.method, stage };
        let ticket = {
            let mut measures = self.board.measures();
            measures.late.saturating_record(micros(intended.elapsed()));
            // Measured from the time when the payment was due: a tester that falls behind would otherwise hide the
            // service's delay.
            measures.begin(PendingCall::Create(creation), intended)
        };
        let waiting = Instant::now();
        let Ok(Ok(connection)) = timeout(CONNECTION_WITHIN, self.connections.acquire()).await else {
            self.board.measures().skip(ticket, creation, intended.elapsed());
            return true;
        };
        self.board.measures().connection.saturating_record(micros(waiting.elapsed()));
        let began = Instant::now();
        let answer = self.until_answered(async || self.create(&purchase).await).await;
        let (reply, record) = answer.as_success::<RecordFields>(CallKind::Create);
        self.note_error(CallKind::Create, &answer);
        {
            let mut measures = self.board.measures();
            if !measures.under_way.end(ticket) {
                // The run was stopped meanwhile, and this creation has been counted as unanswered.
                return true;
            }
            measures.created(creation, reply, intended.elapsed());
            answer.note_store(CallKind::Create, intended, &mut measures);
        }
        self.heed_refusal(&answer);
        let Some(record) = record else { return reply.status().is_some() };
        self.board.ledger().created(record.transaction_id, creation.method, began);
        let reply = self.read_back(record.transaction_id).await;
        drop(connection);
        reply.status().is_some()
    }

    async fn create(&self, purchase: &Purchase) -> CallResult {
        let request = self.client.post(self.payments_url()).insert_header((AUTHORIZATION, self.key()));
        let request = request.insert_header((CONTENT_TYPE, "application/json"));
        let request = request.insert_header((IDEMPOTENCY_KEY, purchase.key.clone()));
        read(request.send_body(purchase.body.clone())).await
    }

    /// Sends a request, and repeats it if its connection broke, as a merchant's program does. A creation has the same
    /// `Idempotency-Key` each time. Returns the first result if no repeat was answered.
    async fn until_answered(&self, send: impl AsyncFn() -> CallResult) -> CallResult {
        let first = send().await;
        if !first.reply.is_cut() {
            return first;
        }
        let cut_at = Instant::now();
        self.board.measures().contact.found_missing(first.reply, cut_at, cut_at);
        for _ in 0..REPEATS {
            tokio::time::sleep(REPEAT_AFTER).await;
            let began = Instant::now();
            let again = send().await;
            if again.reply.status().is_some() {
                self.board.measures().repeated += 1;
                return again;
            }
            self.board.measures().contact.found_missing(again.reply, began, Instant::now());
        }
        first
    }

    async fn read_back(&self, transaction: Uuid) -> Reply {
        let began = Instant::now();
        let ticket = self.board.measures().begin(PendingCall::Read, began);
        let url = self.url_of(transaction);
        let answer = self.until_answered(async || self.send(CallKind::Read, &url).await).await;
        let (reply, _) = answer.as_success::<RecordFields>(CallKind::Read);
        let mut measures = self.board.measures();
        if measures.under_way.end(ticket) {
            measures.replied(CallKind::Read, reply, began.elapsed());
            answer.note_store(CallKind::Read, began, &mut measures);
        }
        reply
    }

    /// Queries the status of a payment, unless the service is known to be away.
    pub(super) async fn check(&self, transaction: Uuid) -> ReportedStatus {
        if self.is_service_away() {
            return ReportedStatus::NotAsked;
        }
        match self.ask::<RecordFields>(CallKind::Check, &self.url_of(transaction)).await {
            (_, Some(record)) => {
                if let Some(reason) = record.status_reason {
                    let reason: String =
                        output::printable(&reason).chars().take(MAX_ERROR_CHARACTERS).collect();
                    self.board.ledger().explain(transaction, &reason);
                }
                ReportedStatus::Is(record.status)
            }
            (reply, None) => {
                self.look_again().await;
                ReportedStatus::without_record(reply)
            }
        }
    }

    /// Queries the deliveries of a payment that is missing an event, unless the service is known to be away.
    pub(super) async fn trace(&self, transaction: Uuid) -> ReportedDeliveries {
        if self.is_service_away() {
            return ReportedDeliveries::NotAsked;
        }
        let url = format!("{}/pay/webhooks/deliveries?transactionId={transaction}&limit=100", self.base_url);
        let (reply, page) = self.ask::<DeliveryStates>(CallKind::Deliveries, &url).await;
        if let Some(failure) = page.iter().flat_map(|page| &page.data).find_map(DeliveryState::failure) {
            self.board.measures().delivery_error.get_or_insert(failure);
        }
        match (reply, page) {
            (_, Some(page)) if page.data.iter().any(|delivery| delivery.state == "pending") => {
                ReportedDeliveries::Pending
            }
            (_, Some(_)) => ReportedDeliveries::Ended,
            (reply, None) => {
                self.look_again().await;
                ReportedDeliveries::without_page(reply)
            }
        }
    }

    /// Probes the service once more, briefly, if the last calls had no answer: it may be away, or one connection was
    /// broken.
    pub(super) async fn look_again(&self) {
        if self.board.measures().contact.is_lost() {
            self.probe(PROBE_WITHIN).await;
        }
    }

    /// Probes the service periodically until dropped, so that its silence is noticed while no other calls are made.
    pub(super) async fn watch(&self, end: &Notify) {
        loop {
            tokio::select! {
                () = tokio::time::sleep(WATCH_EVERY) => {}
                () = end.notified() => return,
            }
            self.probe(WATCH_WITHIN).await;
            self.look_again().await;
        }
    }

    /// Probes the service every second until dropped, while the last calls of the load have no answer: if probes are
    /// answered, those calls hang alone, and the service is not away.
    pub(super) async fn probe_beside_last_calls(&self) {
        loop {
            tokio::time::sleep(WATCH_EVERY).await;
            // As long as a call: a shorter wait would judge a slow service before its calls do.
            self.probe(CONNECTION_WITHIN).await;
        }
    }

    async fn probe(&self, within: Duration) {
        let began = Instant::now();
        self.board.measures().contact.began(began);
        let request = self.client.get(format!("{}/pay/payments?limit=1", self.base_url)).timeout(within);
        let request = request.insert_header((AUTHORIZATION, self.key()));
        let answer = read(request.insert_header((CONTENT_TYPE, "application/json")).send()).await;
        let mut measures = self.board.measures();
        measures.probed(answer.reply, began);
        answer.note_store(CallKind::Check, began, &mut measures);
    }

    fn is_service_away(&self) -> bool {
        self.board.measures().contact.is_away().is_some()
    }

    /// Sends a query after the load, and repeats it while the rate limit refuses it and time is left.
    async fn ask<T: DeserializeOwned>(&self, call: CallKind, url: &str) -> (Reply, Option<T>) {
        loop {
            let turn = self.check_pace.turn().await;
            let began = Instant::now();
            self.board.measures().contact.began(began);
            let answer = self.send(call, url).await;
            let (reply, found) = answer.as_success(call);
            {
                let mut measures = self.board.measures();
                measures.replied(call, reply, began.elapsed());
                answer.note_store(call, began, &mut measures);
            }
            let is_limited = reply == Reply::Status(429);
            if !is_limited || !self.check_pace.pause(answer.retry_after).await {
                return (reply, found);
            }
            drop(turn);
        }
    }

    async fn send(&self, call: CallKind, url: &str) -> CallResult {
        let request = self.client.get(url).insert_header((AUTHORIZATION, self.key()));
        let answer = read(request.insert_header((CONTENT_TYPE, "application/json")).send()).await;
        self.note_error(call, &answer);
        answer
    }

    /// Keeps the error of an unexpected answer for the report.
    fn note_error(&self, call: CallKind, answer: &CallResult) {
        let Reply::Status(status) = answer.reply else { return };
        if is_good(call, answer.reply) {
            return;
        }
        if let Ok(error) = serde_json::from_slice::<RefusalFields>(&answer.body) {
            self.board.measures().note_error(call, status, || {
                let text = output::printable(&format!("{}: {}", error.code, error.message));
                text.chars().take(MAX_ERROR_CHARACTERS).collect()
            });
        }
    }

    /// Records a refusal that is not the service's fault, and that every other creation would receive as well.
    fn heed_refusal(&self, answer: &CallResult) {
        let Reply::Status(status @ (400 | 401 | 403 | 422)) = answer.reply else { return };
        let Ok(error) = serde_json::from_slice::<RefusalFields>(&answer.body) else { return };
        let advice = match (status, error.code.as_str()) {
            (401, _) => "Pass a valid test key with --key or QUITA_KEY.",
            (403, _) => "Create a test key with the scopes payments:write, payments:read and webhooks.",
            (422, "method_unavailable") => {
                "Configure an acquirer for test keys, or remove the method from --mix."
            }
            _ if error.details.iter().any(|wrong| wrong.field == "postbackUrl") => {
                "The events of a load test go to a port of this machine, which only a service with environment = \
                 development allows."
            }
            (400 | 422, "validation_failed") => {
                "The service and this load tester probably have different versions."
            }
            _ => return,
        };
        let message = output::printable(&error.message);
        self.refusal.note(format!("A payment was refused with {status}: {message}\n{advice}"));
    }

    fn payments_url(&self) -> String {
        format!("{}/pay/payments", self.base_url)
    }

    fn url_of(&self, transaction: Uuid) -> String {
        format!("{}/pay/payments/{transaction}", self.base_url)
    }

    fn key(&self) -> &str {
        &self.authorization
    }
}

#[cfg(test)]
impl Merchant {
    /// Creates a client of a test server, all of whose payments are PIX.
    pub(super) fn of_test_server(board: &Arc<Board>, base_url: &str) -> Self {
        let mix = super::plan::Mix::parse("pix=1").unwrap();
        Self {
            client: super::super::http_client::client(),
            connections: Semaphore::new(1),
            base_url: base_url.trim_end_matches('/').into(),
            authorization: "Bearer qk_test_x".into(),
            purchases: Purchases { run: Uuid::nil(), mix, postback_url: String::new() },
            board: Arc::clone(board),
            refusal: LastingRefusal::default(),
            check_pace: CheckPace::default(),
        }
    }
}

impl CallResult {
    /// Records a refusal because the store is out of reach.
    fn note_store(&self, call: CallKind, began: Instant, measures: &mut Measures) {
        if self.is_store_away {
            measures.contact.store_refused(call == CallKind::Create, began, Instant::now());
        }
    }

    /// Parses a successful answer. An unreadable one counts as no answer.
    fn as_success<T: DeserializeOwned>(&self, call: CallKind) -> (Reply, Option<T>) {
        if !is_good(call, self.reply) {
            return (self.reply, None);
        }
        match serde_json::from_slice(&self.body) {
            Ok(found) => (self.reply, Some(found)),
            Err(_) => (Reply::Missing(NoAnswer::Unreadable), None),
        }
    }
}

/// Reads the whole answer so that its connection can be reused.
async fn read<P, E>(sent: impl Future<Output = Result<awc::ClientResponse<P>, E>>) -> CallResult
where
    P: futures_util::Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    E: Into<SendRequestError>,
{
    let missing = |reason| CallResult {
        reply: Reply::Missing(reason),
        body: Bytes::new(),
        retry_after: None,
        is_store_away: false,
    };
    let mut answer = match sent.await {
        Ok(answer) => answer,
        Err(error) => {
            let error: SendRequestError = error.into();
            return missing(NoAnswer::from(error));
        }
    };
    let status = answer.status().as_u16();
    let seconds = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    let retry_after = seconds.map(Duration::from_secs);
    match answer.body().limit(MAX_ANSWER_BYTES).await {
        Ok(body) => {
            let is_store_away = is_store_away(status, &body);
            CallResult { reply: reply_of(status, &body), body, retry_after, is_store_away }
        }
        Err(error) => missing(NoAnswer::from(error)),
    }
}

/// Returns the reply that an answer stands for: a proxy may have answered for a service that is away.
fn reply_of(status: u16, body: &[u8]) -> Reply {
    let Some(reason) = NoAnswer::of_proxy(status) else { return Reply::Status(status) };
    let is_of_quita = serde_json::from_slice::<RefusalFields>(body).is_ok();
    if is_of_quita { Reply::Status(status) } else { Reply::Missing(reason) }
}

fn is_store_away(status: u16, body: &[u8]) -> bool {
    status == 503
        && serde_json::from_slice::<RefusalFields>(body).is_ok_and(|error| error.code == STORE_UNAVAILABLE)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use actix_web::{HttpRequest, HttpResponse};

    use super::super::super::test_server::test_server;
    use super::super::ledger::Ledger;
    use super::*;

    /// Loses a call, whose connection broke.
    fn lose_a_call(board: &Board) {
        let now = Instant::now();
        let cut = Reply::Missing(NoAnswer::ConnectionClosed);
        board.measures().contact.began(now);
        board.measures().contact.replied(cut, now, now, true);
    }

    #[actix_web::test]
    async fn a_service_is_asked_again_after_a_lost_call_alone_and_is_away_if_it_is_silent_then_too() {
        let board = Arc::new(Board::new(Ledger::new(0), 1).unwrap());
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let server = test_server(move |request: HttpRequest| {
            if request.uri() == "/pay/payments?limit=1" {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            HttpResponse::Ok().body("{}")
        });
        let merchant = Merchant::of_test_server(&board, server.url.as_str());
        merchant.look_again().await;
        assert_eq!(asked.load(Ordering::SeqCst), 0, "nothing was lost");
        lose_a_call(&board);
        merchant.look_again().await;
        assert_eq!(
            (asked.load(Ordering::SeqCst), merchant.is_service_away()),
            (1, false),
            "one connection broke"
        );
        assert!(!board.measures().contact.is_lost(), "and was answered for");
        server.stop().await;
        let merchant = Merchant::of_test_server(&board, "http://127.0.0.1:1");
        lose_a_call(&board);
        assert!(!merchant.is_service_away(), "it may be one connection");
        merchant.look_again().await;
        assert!(merchant.is_service_away());
        assert_eq!(board.measures().count(|_, _| true), 0, "the question is no call of the run");
    }

    #[test]
    fn an_answer_of_a_proxy_is_told_from_one_of_quita() {
        const BUSY: &[u8] =
            br#"{"code":"store_unavailable","message":"The store is unavailable.","details":[]}"#;
        const UNKNOWN: &[u8] = br#"{"code":"not_found","message":"transaction not found"}"#;
        const PAGE: &[u8] = b"<html><center>502 Bad Gateway</center></html>";
        for (status, body, expected) in [
            (502, PAGE, Reply::Missing(NoAnswer::BadGateway)),
            (503, PAGE, Reply::Missing(NoAnswer::ProxyUnavailable)),
            (504, b"", Reply::Missing(NoAnswer::GatewayTimeOut)),
            (503, b"{}", Reply::Missing(NoAnswer::ProxyUnavailable)),
            (503, BUSY, Reply::Status(503)),
            (502, BUSY, Reply::Status(502)),
            (404, PAGE, Reply::Missing(NoAnswer::ProxyNotFound)),
            (404, b"", Reply::Missing(NoAnswer::ProxyNotFound)),
            (404, UNKNOWN, Reply::Status(404)),
            (500, PAGE, Reply::Status(500)),
            (200, PAGE, Reply::Status(200)),
        ] {
            assert_eq!(reply_of(status, body), expected, "{status}");
            assert_eq!(is_store_away(status, body), (status, body) == (503, BUSY), "{status}");
        }
    }

    #[actix_web::test]
    async fn the_first_refusal_is_the_cause_whoever_waits_first() {
        let refusal = LastingRefusal::default();
        let note = async {
            refusal.note("the key".into());
            refusal.note("the scope".into());
        };
        assert_eq!(tokio::join!(refusal.wait(), note).0, "the key");
        assert_eq!(refusal.wait().await, "the key");
    }
}
