//! The merchant's side: makes payments, reads them back, asks how they ended.

use std::sync::Arc;
use std::time::Instant;

use actix_web::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use awc::Client;
use awc::error::SendRequestError;
use quita_domain::status::Status;
use serde::Deserialize;
use uuid::Uuid;

use super::board::Board;
use super::measures::Call;
use super::purchases::Purchases;
use super::verdict::Found;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The most bytes of an answer that are read: the largest record is far smaller.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Calls the API, and notes what it answers.
pub(super) struct Merchant {
    /// With a limit of connections.
    pub(super) client: Client,
    /// `…/pay/payments`.
    pub(super) payments_url: String,
    /// `Bearer …`.
    pub(super) authorization: String,
    /// Makes the requests.
    pub(super) purchases: Purchases,
    /// Where everything is noted.
    pub(super) board: Arc<Board>,
}

/// What is read of a record.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    transaction_id: Uuid,
    status: Status,
}

/// How a call ended.
struct Answer {
    status: Option<u16>,
    record: Option<Record>,
}

impl Merchant {
    /// Makes the payment with this number, due since `intended`, and reads it back. False if there was no answer.
    pub(super) async fn pay(&self, number: u64, intended: Instant) -> bool {
        let purchase = self.purchases.purchase(number);
        let late = intended.elapsed();
        let request = self.client.post(self.payments_url.as_str()).insert_header((AUTHORIZATION, self.key()));
        let request = request.insert_header((CONTENT_TYPE, "application/json"));
        let answer =
            read(request.insert_header((IDEMPOTENCY_KEY, purchase.key)).send_body(purchase.body)).await;
        self.note(Call::Create, &answer, intended);
        self.board.measures().late.saturating_record(super::measures::micros(late));
        let is_made = super::measures::is_good(Call::Create, answer.status);
        let Some(record) = answer.record.filter(|_| is_made) else { return answer.status.is_some() };
        self.board.ledger().created(record.transaction_id);
        let began = Instant::now();
        let answer = self.get(record.transaction_id).await;
        self.note(Call::Read, &answer, began);
        answer.status.is_some()
    }

    /// Asks what became of a payment.
    pub(super) async fn check(&self, transaction: Uuid) -> Found {
        let began = Instant::now();
        let answer = self.get(transaction).await;
        self.note(Call::Check, &answer, began);
        match (answer.status, answer.record) {
            (Some(200), Some(record)) => Found::Is(record.status),
            (Some(404), _) => Found::Nothing,
            _ => Found::Unknown,
        }
    }

    async fn get(&self, transaction: Uuid) -> Answer {
        let url = format!("{}/{transaction}", self.payments_url);
        let request = self.client.get(url).insert_header((AUTHORIZATION, self.key()));
        read(request.insert_header((CONTENT_TYPE, "application/json")).send()).await
    }

    fn key(&self) -> &str {
        &self.authorization
    }

    fn note(&self, call: Call, answer: &Answer, since: Instant) {
        let is_whole = answer.record.is_some() || !super::measures::is_good(call, answer.status);
        // A success without a record is no answer that a merchant can use.
        let status = answer.status.filter(|_| is_whole);
        self.board.measures().answered(call, status, since.elapsed());
    }
}

/// Reads the whole answer, so that its connection can be used again.
async fn read<P, E>(sent: impl Future<Output = Result<awc::ClientResponse<P>, E>>) -> Answer
where
    P: futures_util::Stream<Item = Result<actix_web::web::Bytes, awc::error::PayloadError>> + Unpin,
    E: Into<SendRequestError>,
{
    let Ok(mut answer) = sent.await else { return Answer { status: None, record: None } };
    let status = answer.status();
    let Ok(body) = answer.body().limit(MAX_ANSWER_BYTES).await else {
        return Answer { status: None, record: None };
    };
    let record = if status.is_success() { serde_json::from_slice(&body).ok() } else { None };
    Answer { status: Some(status.as_u16()), record }
}
