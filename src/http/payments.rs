//! Creating, reading and listing payments.

use std::sync::Arc;

use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::{CreatePayment, Created, Denied, LinkUse};
use quita_domain::card::token::{AnyToken, UsedToken};
use quita_domain::identity::{Owner, TransactionId};
use quita_domain::listing::query::PaymentQuery;
use quita_domain::order::Order;
use quita_domain::payment::Payment;
use quita_domain::request::{self, ParsedRequest, Rejection, code};
use quita_ports::StoreError;
use uuid::Uuid;

use super::answer;
use super::auth::{Reader, Writer};
use super::body::read_json;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, NotTaken};
use super::idempotency::{REPLAYED, key_of};
use super::tokens::TokenOutcome;
use super::{ignored_names, query};
use crate::keyring::OwnTokens;

/// `POST /pay/payments`
pub(crate) async fn create(
    caller: Writer,
    edge: Data<Edge>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let key = key_of(&request)?;
    let body = read_json(&request, payload).await?;
    let tokens = OwnTokens::new(&edge.keyring, &caller.0.owner);
    let parsed = request::parse_with(&tokens, &body, edge.clock.now(), &edge.limits);
    let used_token = tokens.into_seen();
    let unknown = parsed.as_ref().map_or_else(|rejection| &rejection.unknown, |parsed| &parsed.unknown);
    ignored_names::note(&request, &caller.0, unknown);
    let owner = caller.0.owner;
    let created = match parsed {
        Err(rejection) => sealed_by_a_lost_key(&edge, &owner, &body, rejection, key, &used_token).await,
        Ok(parsed) => match key {
            Some(key) => create_keyed(&edge, owner.clone(), None, parsed, used_token.clone(), &key).await,
            None => {
                // Without a key a repetition can't be told from a second purchase, so the id is always new.
                let id = TransactionId::new(Uuid::now_v7());
                let endpoint = edge.endpoint(&parsed.purchase.order, &owner).await;
                let name = PaymentIdentity { id, fingerprint: None, used_token: used_token.clone() };
                create_new(&edge, owner.clone(), None, parsed, name, endpoint).await
            }
        },
    };
    if used_token.is_some() {
        count_token(&edge, &created);
    }
    let created = created?;
    tracing::debug!(
        transaction.id = %created.payment.id, status = %created.payment.status(), replayed = created.is_replay,
        "a payment was created"
    );
    Ok(answer_created(&edge, &created))
}

/// Counts the outcome of the token of a creation.
fn count_token(edge: &Edge, created: &Result<Created, ApiError>) {
    let codes = [ErrorCode::TokenUnknown, ErrorCode::TokenExpired, ErrorCode::TokenUsed];
    match created {
        Ok(created) if !created.is_replay => edge.tokens.count(TokenOutcome::Used),
        Err(error) if codes.into_iter().any(|code| error.error_code() == code) => {
            edge.tokens.count(TokenOutcome::Unusable);
        }
        Ok(_) | Err(_) => {}
    }
}

/// Answers a refused request whose only fault is a token that can no longer be opened. Returns the payment with its
/// idempotency key, if that payment has used this token.
///
/// # Errors
/// [`ErrorCode::IdempotencyKeyReused`] if that payment is another purchase. Otherwise the rejection itself.
async fn sealed_by_a_lost_key(
    edge: &Edge,
    owner: &Owner,
    body: &[u8],
    rejection: Rejection,
    key: Option<String>,
    used_token: &Option<UsedToken>,
) -> Result<Created, ApiError> {
    let is_lost = rejection.violations.iter().all(|wrong| wrong.code == code::TOKEN_UNKNOWN);
    if let Some(key) = key.filter(|_| is_lost)
        && let Some(known) = edge.payments.read(edge.keyring.transaction_id(owner, &key)).await?
        && used_token.is_some()
        && known.used_token == *used_token
    {
        // The fingerprint covers the card, which is lost, so the rest of the request is compared.
        let sent = request::parse_with(&AnyToken, body, edge.clock.now(), &edge.limits);
        if !sent.is_ok_and(|sent| is_same_purchase(&sent.purchase.order, &known.order)) {
            return Err(Denied::KeyReused.into());
        }
        return Ok(Created { payment: known, is_replay: true });
    }
    Err(rejection.into())
}

fn is_same_purchase(sent: &Order, known: &Order) -> bool {
    let of = |order: &Order| (order.amount, order.method, order.installments());
    of(sent) == of(known) && sent.payer.document == known.payer.document
}

/// Creates a payment under an idempotency key, or answers with the one that has the key.
pub(crate) async fn create_keyed(
    edge: &Edge,
    owner: Owner,
    link: Option<LinkUse>,
    parsed: ParsedRequest,
    used_token: Option<UsedToken>,
    key: &str,
) -> Result<Created, ApiError> {
    // The id is derived from the key, so if two nodes get the same request at once, both insert the same payment and
    // one wins.
    let id = edge.keyring.transaction_id(&owner, key);
    let fingerprint = parsed.fingerprint(edge.keyring.fingerprint());
    let is_new_refused = !parsed.clock_violations.is_empty()
        || !edge.keyring.has_key_of_now()
        || edge.check_form(&parsed.purchase.order).is_err();
    let endpoint = edge.endpoint(&parsed.purchase.order, &owner).await;
    // Replays are answered before time-dependent rules apply, even by a node that lacks the current secret key, and
    // from memory while the store is away.
    if (is_new_refused || endpoint.is_err())
        && let Some(known) = edge.payments.read(id).await?
    {
        return if known.fingerprint.as_ref() == Some(&fingerprint) {
            Ok(Created { payment: known, is_replay: true })
        } else {
            Err(Denied::KeyReused.into())
        };
    }
    let named = PaymentIdentity { id, fingerprint: Some(fingerprint), used_token };
    create_new(edge, owner, link, parsed, named, endpoint).await
}

/// Id of a new payment, the fingerprint of a request with an idempotency key, and the mark of its token.
struct PaymentIdentity {
    id: TransactionId,
    fingerprint: Option<String>,
    used_token: Option<UsedToken>,
}

async fn create_new(
    edge: &Edge,
    owner: Owner,
    link: Option<LinkUse>,
    parsed: ParsedRequest,
    PaymentIdentity { id, fingerprint, used_token }: PaymentIdentity,
    endpoint: Result<Option<String>, StoreError>,
) -> Result<Created, ApiError> {
    let mut purchase = parsed.into_purchase()?;
    edge.check_form(&purchase.order)?;
    Arc::make_mut(&mut purchase.order).postback_url = endpoint.map_err(Denied::StoreUnavailable)?;
    // Refused before anything is stored: a payment without a page token could never be shown to its payer.
    let page_token = edge.keyring.page_token(id).ok_or_else(ApiError::secret_key_missing)?;
    let method = purchase.order.method;
    let amount = purchase.order.amount;
    let mode = owner.mode;
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
        used_token,
    };
    edge.payments.create(new).await.map_err(|denied| {
        ApiError::of_creation(denied, &NotTaken::new(&edge.payments, &[method], mode, amount))
    })
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
    // Another merchant's payment looks like one that does not exist, so that ids can't be probed.
    Ok(edge.payments.read_own(id, owner).await?)
}
