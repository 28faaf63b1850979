//! Payments of a link, for its page and its merchant: their creation, the limits of a network, and the answers.

use std::sync::Arc;

use actix_web::web::Data;
use quita_actors::{Created, CreationFailure, Denied, NotClosed};
use quita_domain::link::{Link, NoUse, PayerInput};
use quita_domain::method::Method;
use quita_domain::operation::OperationKind;
use quita_domain::payment::Payment;
use quita_domain::request::{Rejection, parse_of_link};
use quita_domain::time::Timestamp;
use quita_ports::{EventLimit, trace};
use zeroize::Zeroizing;

use super::card_tries::{self, CountedTry};
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::payments::create_keyed;
use super::request_id;

/// Number of payments that one network may begin within an hour: at one link, and at all links.
const BEGUN_BY_NETWORK: [u32; 2] = [10, 30];

/// Length of that period.
pub(super) const HOUR_MS: u64 = 3_600_000;

/// A submitted form.
#[derive(Debug)]
pub(super) struct Submitted {
    pub(super) method: Method,
    pub(super) typed: PayerInput,
    /// Number of the form.
    pub(super) number: String,
    /// Network of the payer.
    pub(super) network: String,
}

/// Reason why a submitted form began no payment.
#[derive(Debug)]
pub(super) enum NotBegun {
    /// The form has mistakes.
    Mistakes(Rejection),
    /// The link allows no payment now.
    NoUse(NoUse),
    /// The payer's network began too many, or too many cards were tried. Another one is allowed at this time.
    TooMany(Timestamp),
    /// Anything else.
    Failed(ApiError),
}

impl From<ApiError> for NotBegun {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

/// Begins a payment in the same way as any other creation. A form that was sent before returns its payment.
pub(super) async fn begin(edge: &Data<Edge>, link: &Link, form: Submitted) -> Result<Arc<Payment>, NotBegun> {
    let edge = edge.clone();
    let link = link.clone();
    let begun = async move { begin_to_its_end(&edge, &link, &form).await };
    // A client that resets its connection ends the handler. The use and the try must be counted nevertheless.
    let begun = actix_web::rt::spawn(trace::carry(request_id::carry(begun)));
    begun.await.unwrap_or_else(|error| Err(ApiError::defect(&error.to_string()).into()))
}

async fn begin_to_its_end(
    edge: &Data<Edge>,
    link: &Link,
    form: &Submitted,
) -> Result<Arc<Payment>, NotBegun> {
    // No `Idempotency-Key` of a merchant has a line break.
    let key = format!("link\n{}\n{}", link.id, form.number);
    let id = edge.keyring.transaction_id(&link.owner, &key);
    // A form that is sent twice is answered like the first one: once its acquirer has answered.
    if let Some(known) = edge.payments.read_answered(id).await.map_err(ApiError::from)? {
        return Ok(known);
    }
    let now = edge.clock.now();
    let body = Zeroizing::new(link.creation_body(form.method, &form.typed, now));
    let parsed = parse_of_link(&body, now, &edge.limits).map_err(NotBegun::Mistakes)?;
    if !parsed.clock_violations.is_empty() {
        return Err(NotBegun::Mistakes(Rejection::unprocessable(parsed.clock_violations)));
    }
    let limits = limits_of(edge, link, form, now).await?;
    // A network over its limit must not take a use: other payers would find the link crowded.
    refuse_over(edge, &limits, now).await?;
    let (counted, name) = (&limits, key.as_str());
    let creation = |taken| async move {
        // Counted after the use is taken and before the card leaves, so a try that is under way already counts.
        count(edge, counted, now).await.map_err(NotCreated::NotCounted)?;
        let created = create_keyed(edge, link.owner.clone(), Some(taken), parsed, None, name).await;
        created.map_err(NotCreated::Refused)
    };
    let not_begun = match edge.link_payments.begin(link.id, id, form.method, creation).await {
        Ok(created) => {
            note_created(edge, link, form.method, limits, now, &created).await;
            return Ok(created.payment);
        }
        Err(quita_actors::LinkPaymentError::NotCreated(NotCreated::Refused(error))) => {
            // After any other failure the payment may be stored, and a card that was tried must stay counted.
            if error.changed_nothing() {
                uncount(edge, &limits, now).await;
            }
            // The form was sent before with other contents: its payment is what counts.
            if error.error_code() != ErrorCode::IdempotencyKeyReused {
                return Err(error.into());
            }
            NotBegun::Failed(error)
        }
        Err(quita_actors::LinkPaymentError::NotCreated(NotCreated::NotCounted(not_counted))) => not_counted,
        Err(quita_actors::LinkPaymentError::NoUse(no_use)) => NotBegun::NoUse(no_use),
        Err(quita_actors::LinkPaymentError::NotTaken(denied)) => ApiError::from(denied).into(),
        Err(quita_actors::LinkPaymentError::NoLink) => ApiError::link_not_found().into(),
    };
    // The same form was sent at the same time, and its payment holds the use.
    let known = edge.payments.read_answered(id).await.map_err(ApiError::from)?;
    known.ok_or(not_begun)
}

/// Reason why no payment was created after a use was taken for it.
enum NotCreated {
    NotCounted(NotBegun),
    Refused(ApiError),
}

impl CreationFailure for NotCreated {
    fn changed_nothing(&self) -> bool {
        match self {
            Self::NotCounted(_) => true,
            Self::Refused(error) => error.changed_nothing(),
        }
    }
}

/// Counts a payment that was created, or takes back the count for one that already existed.
async fn note_created(
    edge: &Data<Edge>,
    link: &Link,
    method: Method,
    limits: [EventLimit; 2],
    at: Timestamp,
    created: &Created,
) {
    if created.is_replay {
        return uncount(edge, &limits, at).await;
    }
    edge.checkout_metrics.count(method);
    if method == Method::CreditCard {
        let counted = CountedTry { link: link.clone(), limits, at };
        card_tries::settle(edge, counted, &created.payment).await;
    }
}

/// Returns the limits of a network, at one link and at all links. For a card, the limits of tries.
async fn limits_of(
    edge: &Edge,
    link: &Link,
    form: &Submitted,
    now: Timestamp,
) -> Result<[EventLimit; 2], NotBegun> {
    if form.method == Method::CreditCard {
        let limits = card_tries::limits_of(edge, link, &form.network, now).await;
        return limits.map_err(|error| ApiError::from(Denied::from(error)).into());
    }
    let limit = |what: &str, most| EventLimit {
        name: edge.keyring.event_name(what, &form.network),
        most,
        within_ms: HOUR_MS,
    };
    let [at_link, at_all] = BEGUN_BY_NETWORK;
    Ok([limit(&format!("begun {}", link.id), at_link), limit("begun", at_all)])
}

/// Refuses a network that has reached a limit. Usually this only reads: an event is counted, and thereby refused, only
/// if the limit is reached. The decisive count comes later.
async fn refuse_over(edge: &Edge, limits: &[EventLimit], now: Timestamp) -> Result<(), NotBegun> {
    let failed = |error| NotBegun::from(ApiError::from(Denied::from(error)));
    for limit in limits {
        let since = now.minus_ms(limit.within_ms);
        let counted = edge.links.counted_events(&limit.name, since).await.map_err(failed)?;
        if counted < limit.most.into() {
            continue;
        }
        // Counting returns the time until which it is refused.
        if let Some(until) = edge.links.count_event(limit, now).await.map_err(failed)? {
            return Err(NotBegun::TooMany(until));
        }
        uncount(edge, std::slice::from_ref(limit), now).await;
    }
    Ok(())
}

/// Counts the beginning of a payment under every limit, or under none.
async fn count(edge: &Edge, limits: &[EventLimit], now: Timestamp) -> Result<(), NotBegun> {
    for (place, limit) in limits.iter().enumerate() {
        let refused = match edge.links.count_event(limit, now).await {
            Ok(None) => continue,
            Ok(Some(until)) => NotBegun::TooMany(until),
            Err(error) => ApiError::from(Denied::from(error)).into(),
        };
        // Only the limits before this one were counted; the one that refused did not count.
        uncount(edge, limits.get(..place).unwrap_or_default(), now).await;
        return Err(refused);
    }
    Ok(())
}

/// Takes back the counts for a payment that did not begin. If that fails, the network has to wait longer.
async fn uncount(edge: &Edge, limits: &[EventLimit], at: Timestamp) {
    for limit in limits {
        if let Err(error) = edge.links.uncount_event(&limit.name, at).await {
            tracing::debug!(%error, "a payment that did not begin stays counted");
        }
    }
}

/// Returns the newest payments of a link, newest first. Unreadable ones are left out.
pub(crate) async fn newest(edge: &Edge, link: &Link, limit: usize) -> Result<Vec<Payment>, ApiError> {
    let listed = edge.link_payments.newest(link, limit).await?;
    Ok(listed.into_iter().flatten().collect())
}

/// Returns the payments for the page of a link for one payment. Unreadable ones are left out.
pub(super) async fn of_page(edge: &Edge, link: &Link) -> Result<Vec<Payment>, ApiError> {
    let listed = edge.link_payments.of_page(link).await?;
    Ok(listed.into_iter().flatten().collect())
}

/// Cancels the waiting payments of a closed link.
///
/// # Errors
/// [`ErrorCode::OutcomeUnknown`] if a payment still waits at the end, or cancelling takes too long.
pub(crate) async fn cancel_all(edge: &Edge, link: &Link) -> Result<(), ApiError> {
    Ok(edge.link_payments.cancel_all(link).await?)
}

impl From<NotClosed> for ApiError {
    fn from(not_closed: NotClosed) -> Self {
        let message = match not_closed {
            NotClosed::NoLink => return Self::link_not_found(),
            NotClosed::Denied(denied) => return denied.into(),
            NotClosed::NotStoredYet => wordings::a_payment_is_not_stored_yet(),
            NotClosed::NotCancelledYet => wordings::payments_are_not_cancelled_yet(),
        };
        Self::unavailable(ErrorCode::OutcomeUnknown, message)
    }
}

/// Returns true if a cancellation of the payment is under way.
pub(super) fn is_being_cancelled(payment: &Payment) -> bool {
    payment
        .operations
        .iter()
        .any(|operation| operation.kind == OperationKind::Cancel && operation.is_processing())
}
