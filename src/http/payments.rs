//! Creating, reading and listing payments.

use std::sync::Arc;

use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::{CreatePayment, Created, Denied};
use quita_domain::identity::{LinkId, Owner, TransactionId};
use quita_domain::listing::query::PaymentQuery;
use quita_domain::payment::Payment;
use quita_domain::request::{self, ParsedRequest};
use quita_ports::StoreError;
use uuid::Uuid;

use super::answer;
use super::auth::{Reader, Writer};
use super::body::read_json;
use super::edge::Edge;
use super::errors::ApiError;
use super::idempotency::{REPLAYED, key_of};
use super::{ignored_names, query};

/// `POST /pay/payments`
pub(crate) async fn create(
    caller: Writer,
    edge: Data<Edge>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let key = key_of(&request)?;
    let body = read_json(&request, payload).await?;
    let parsed = request::parse(&body, edge.clock.now(), &edge.limits);
    let unknown = parsed.as_ref().map_or_else(|rejection| &rejection.unknown, |parsed| &parsed.unknown);
    ignored_names::note(&request, &caller.0, unknown);
    let parsed = parsed?;
    let owner = caller.0.owner;
    let created = match key {
        Some(key) => create_keyed(&edge, (owner, None), parsed, &key).await?,
        None => {
            let id = TransactionId::new(Uuid::now_v7());
            let endpoint = edge.endpoint(&parsed.purchase.order, &owner).await;
            create_new(&edge, (owner, None), parsed, NewName { id, fingerprint: None }, endpoint).await?
        }
    };
    tracing::debug!(
        transaction.id = %created.payment.id, status = %created.payment.status(), replayed = created.is_replay,
        "a payment was created"
    );
    Ok(answer_created(&edge, &created))
}

/// Creates a payment under an idempotency key, or answers with the one that has the key.
pub(crate) async fn create_keyed(
    edge: &Edge,
    (owner, link): (Owner, Option<LinkId>),
    parsed: ParsedRequest,
    key: &str,
) -> Result<Created, ApiError> {
    let id = edge.keyring.transaction_id(&owner, key);
    let fingerprint = parsed.fingerprint(edge.keyring.fingerprint());
    let is_new_refused = !parsed.clock_violations.is_empty() || !edge.keyring.has_key_of_now();
    let endpoint = edge.endpoint(&parsed.purchase.order, &owner).await;
    // Replays are answered before time-dependent rules, by a node that lacks the current secret key, and from memory
    // while the store is away.
    if (is_new_refused || endpoint.is_err())
        && let Some(known) = edge.payments.read(id).await?
    {
        return if known.fingerprint.as_ref() == Some(&fingerprint) {
            Ok(Created { payment: known, is_replay: true })
        } else {
            Err(Denied::KeyReused.into())
        };
    }
    let named = NewName { id, fingerprint: Some(fingerprint) };
    create_new(edge, (owner, link), parsed, named, endpoint).await
}

/// Id of a new payment, and the fingerprint of a request with an idempotency key.
struct NewName {
    id: TransactionId,
    fingerprint: Option<String>,
}

async fn create_new(
    edge: &Edge,
    (owner, link): (Owner, Option<LinkId>),
    parsed: ParsedRequest,
    NewName { id, fingerprint }: NewName,
    endpoint: Result<Option<String>, StoreError>,
) -> Result<Created, ApiError> {
    let mut purchase = parsed.into_purchase()?;
    purchase.order.postback_url = endpoint.map_err(Denied::StoreUnavailable)?;
    let page_token = edge.keyring.page_token(id).ok_or_else(ApiError::secret_key_missing)?;
    let card = purchase.card.as_ref();
    let (card_fingerprint, other_card_fingerprints) =
        card.map(|card| edge.keyring.card_fingerprints(card, owner.mode)).unwrap_or_default();
    let new = CreatePayment {
        id,
        owner,
        purchase,
        fingerprint,
        card_fingerprint,
        other_card_fingerprints,
        page_token,
        link,
    };
    Ok(edge.payments.create(new).await?)
}

fn answer_created(edge: &Edge, created: &Created) -> HttpResponse {
    let mut response = if created.is_replay { HttpResponse::Ok() } else { HttpResponse::Created() };
    if created.is_replay {
        response.insert_header(REPLAYED);
    }
    let location = format!("{}/pay/payments/{}", edge.public_url, created.payment.id);
    response.insert_header((LOCATION, location));
    answer::record(&mut response, edge, &created.payment)
}

/// `GET /pay/payments/{transactionId}`
pub(crate) async fn read(
    caller: Reader,
    edge: Data<Edge>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let payment = own(&edge, &id, &caller.0.owner).await?;
    Ok(answer::record(&mut HttpResponse::Ok(), &edge, &payment))
}

/// `GET /pay/payments`
pub(crate) async fn list(
    caller: Reader,
    edge: Data<Edge>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = PaymentQuery::parse(&caller.0.owner, &query::read(&request)?)?;
    let limit = query.limit.get();
    let payments = edge.payments.list(&query.filter, query.cursor, limit.saturating_add(1)).await?;
    Ok(answer::page_of_records(&edge, payments, limit))
}

/// `GET /pay/payments/{id}/events`
pub(crate) async fn events(
    caller: Reader,
    edge: Data<Edge>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let payment = own(&edge, &id, &caller.0.owner).await?;
    Ok(answer::events(&payment))
}

/// Returns the caller's payment with this id.
pub(crate) async fn own(edge: &Edge, id: &str, owner: &Owner) -> Result<Arc<Payment>, ApiError> {
    let id = TransactionId::parse(id).ok_or_else(ApiError::unreadable_id)?;
    Ok(edge.payments.read_own(id, owner).await?)
}
