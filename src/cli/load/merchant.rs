//! Merchant's side of the test: creates payments, reads them back, asks for their final status.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
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
use super::measures::{Call, Creation, is_good, micros};
use super::purchases::Purchases;
use super::reply::{NoAnswer, Reply};
use super::verdict::{Deliveries, Found};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Maximum size in bytes of an answer: the largest record is far smaller.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Time that a creation waits for one of the load tester's connections before it is skipped.
const CONNECTION_WITHIN: Duration = Duration::from_secs(30);

/// Time limit for the answer of a service that did not answer before.
const PROBE_WITHIN: Duration = Duration::from_secs(5);

/// Client of the API that records every reply.
pub(super) struct Merchant {
    /// HTTP client with a limit on connections.
    pub(super) client: Client,
    /// Permits for concurrent creations, as many as there are connections, so that the wait for one is measured.
    pub(super) connections: Semaphore,
    /// Address of the service, `https://…`, without a trailing slash.
    pub(super) base_url: String,
    /// Value of the `Authorization` header, `Bearer …`.
    pub(super) authorization: String,
    /// Generator of the requests.
    pub(super) purchases: Purchases,
    /// Board on which everything is recorded.
    pub(super) board: Arc<Board>,
    /// Reason why no further request can succeed.
    pub(super) refusal: Refusal,
}

/// First refusal that every further request would get too: of the key, of its scope, of the method.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    cause: RefCell<Option<String>>,
    noted: Notify,
}

impl Refusal {
    /// Waits until there is one, and returns its cause.
    pub(super) async fn wait(&self) -> String {
        loop {
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

/// Fields of a record that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    transaction_id: Uuid,
    status: Status,
}

/// Fields of an error that are read.
#[derive(Deserialize)]
struct ErrorBody {
    message: String,
    code: String,
}

/// Fields of a page of deliveries that are read.
#[derive(Deserialize)]
struct DeliveriesPage {
    data: Vec<DeliveryState>,
}

/// Fields of a delivery that are read.
#[derive(Deserialize)]
struct DeliveryState {
    state: String,
}

/// Outcome of a call.
struct Answer {
    reply: Reply,
    body: Bytes,
}

impl Merchant {
    /// Creates the payment with this number, due since `intended`, and reads it back. Returns false if there was no
    /// answer.
    pub(super) async fn pay(&self, number: u64, stage: usize, intended: Instant) -> bool {
        let purchase = self.purchases.purchase(number);
        self.board.measures().late.saturating_record(micros(intended.elapsed()));
        let waiting = Instant::now();
        let Ok(Ok(connection)) = timeout(CONNECTION_WITHIN, self.connections.acquire()).await else {
            self.board.measures().skipped += 1;
            return true;
        };
        self.board.measures().connection.saturating_record(micros(waiting.elapsed()));
        let request = self.client.post(self.payments_url()).insert_header((AUTHORIZATION, self.key()));
        let request = request.insert_header((CONTENT_TYPE, "application/json"));
        let answer =
            read(request.insert_header((IDEMPOTENCY_KEY, purchase.key)).send_body(purchase.body)).await;
        self.heed_refusal(&answer);
        let (reply, record) = answer.as_success::<Record>(Call::Create);
        let creation = Creation { method: purchase.method, stage };
        self.board.measures().created(creation, reply, intended.elapsed());
        let Some(record) = record else { return reply.status().is_some() };
        self.board.ledger().created(record.transaction_id);
        let (reply, _) = self.ask::<Record>(Call::Read, &self.url_of(record.transaction_id)).await;
        drop(connection);
        reply.status().is_some()
    }

    /// Asks for the status of a payment, unless the service is known to be away.
    pub(super) async fn check(&self, transaction: Uuid) -> Found {
        if let Some(absence) = self.absence() {
            return Found::Unanswered(absence);
        }
        match self.ask::<Record>(Call::Check, &self.url_of(transaction)).await {
            (_, Some(record)) => Found::Is(record.status),
            (reply, None) => {
                self.look_again().await;
                Found::without_record(reply)
            }
        }
    }

    /// Asks for the deliveries of a payment of which an event is missing, unless the service is known to be away.
    pub(super) async fn trace(&self, transaction: Uuid) -> Deliveries {
        if let Some(absence) = self.absence() {
            return Deliveries::Unanswered(absence);
        }
        let url = format!("{}/pay/webhooks/deliveries?transactionId={transaction}&limit=100", self.base_url);
        match self.ask::<DeliveriesPage>(Call::Deliveries, &url).await {
            (_, Some(page)) if page.data.iter().any(|delivery| delivery.state == "pending") => {
                Deliveries::Pending
            }
            (_, Some(_)) => Deliveries::Ended,
            (reply, None) => {
                self.look_again().await;
                Deliveries::without_page(reply)
            }
        }
    }

    /// Asks the service once more, briefly, if the last calls had no answer: it is away, or it was one connection.
    pub(super) async fn look_again(&self) {
        if !self.board.measures().contact.is_lost() {
            return;
        }
        let began = Instant::now();
        let request =
            self.client.get(format!("{}/pay/payments?limit=1", self.base_url)).timeout(PROBE_WITHIN);
        let request = request.insert_header((AUTHORIZATION, self.key()));
        let answer = read(request.insert_header((CONTENT_TYPE, "application/json")).send()).await;
        self.board.measures().probed(answer.reply, began);
    }

    fn absence(&self) -> Option<Reply> {
        self.board.measures().contact.is_away().map(Reply::Missing)
    }

    async fn ask<T: DeserializeOwned>(&self, call: Call, url: &str) -> (Reply, Option<T>) {
        let began = Instant::now();
        let request = self.client.get(url).insert_header((AUTHORIZATION, self.key()));
        let answer = read(request.insert_header((CONTENT_TYPE, "application/json")).send()).await;
        let (reply, found) = answer.as_success(call);
        self.board.measures().replied(call, reply, began.elapsed());
        (reply, found)
    }

    /// Records a refusal that is not the service's fault, and that every other creation would get too.
    fn heed_refusal(&self, answer: &Answer) {
        let Reply::Status(status @ (401 | 403 | 422)) = answer.reply else { return };
        let Ok(error) = serde_json::from_slice::<ErrorBody>(&answer.body) else { return };
        let advice = match (status, error.code.as_str()) {
            (401, _) => "Name a test key that works with --key or QUITA_KEY.",
            (403, _) => "Make a test key with the scopes payments:write, payments:read and webhooks.",
            (422, "method_unavailable") => {
                "Configure an acquirer for test keys, or leave the method out of --mix."
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

impl Answer {
    /// Parses a successful answer. An unreadable one counts as no answer.
    fn as_success<T: DeserializeOwned>(&self, call: Call) -> (Reply, Option<T>) {
        if !is_good(call, self.reply) {
            return (self.reply, None);
        }
        match serde_json::from_slice(&self.body) {
            Ok(found) => (self.reply, Some(found)),
            Err(_) => (Reply::Missing(NoAnswer::Unreadable), None),
        }
    }
}

/// Reads the whole answer, so that its connection can be used again.
async fn read<P, E>(sent: impl Future<Output = Result<awc::ClientResponse<P>, E>>) -> Answer
where
    P: futures_util::Stream<Item = Result<Bytes, PayloadError>> + Unpin,
    E: Into<SendRequestError>,
{
    let missing = |reason| Answer { reply: Reply::Missing(reason), body: Bytes::new() };
    let mut answer = match sent.await {
        Ok(answer) => answer,
        Err(error) => {
            let error: SendRequestError = error.into();
            return missing(NoAnswer::from(error));
        }
    };
    let status = answer.status().as_u16();
    match answer.body().limit(MAX_ANSWER_BYTES).await {
        Ok(body) => Answer { reply: Reply::Status(status), body },
        Err(error) => missing(NoAnswer::from(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[actix_web::test]
    async fn the_first_refusal_is_the_cause_whoever_waits_first() {
        let refusal = Refusal::default();
        let note = async {
            refusal.note("the key".into());
            refusal.note("the scope".into());
        };
        assert_eq!(tokio::join!(refusal.wait(), note).0, "the key");
        assert_eq!(refusal.wait().await, "the key");
    }
}
