//! Payments of a link: beginning one, and cancelling those that wait.
//!
//! A use is taken in the link before its payment is stored, under the payment's id, which is fixed before. Whatever
//! happens in between, the use is free again when it was not stored in time; a stored payment counts by itself.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web::Data;
use quita_actors::Denied;
use quita_domain::identity::{LinkId, TransactionId};
use quita_domain::link::{Link, NoUse, PayerInput, UnstoredUses};
use quita_domain::listing::PaymentFilter;
use quita_domain::method::Method;
use quita_domain::operation::{OperationKind, OperationRequest, OperationState, RequestedOperation};
use quita_domain::payment::Payment;
use quita_domain::request::{Rejection, parse_of_link};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_ports::{EventLimit, place_of};
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;
use zeroize::Zeroizing;

use super::card_tries::{self, CountedTry};
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::payments::create_keyed;

/// Most times that a write to a link is tried again because another one was faster.
pub(super) const MOST_RACES: usize = 40;

/// Pause before the next try, by which others end theirs.
const RACE_PAUSE: Duration = Duration::from_millis(25);

/// Most times that a payment waits for another one that is about to be stored.
const MOST_WAITS: usize = 40;

/// Payments that one network may begin within an hour, at one link and at all.
const BEGUN_BY_NETWORK: [u32; 2] = [10, 30];

/// Length of that time.
pub(super) const HOUR_MS: u64 = 3_600_000;

/// Longest time for which closing waits for payments that are about to be stored.
const LONGEST_AWAITED: Duration = Duration::from_secs(8);

/// Longest time that cancelling the payments of a link takes.
const LONGEST_CANCELLING: Duration = Duration::from_secs(20);

/// Payments that are listed at once for their cancellation.
const CANCELLED_AT_ONCE: usize = 100;

/// A submitted form.
#[derive(Debug)]
pub(super) struct Submitted<'a> {
    pub(super) method: Method,
    pub(super) typed: &'a PayerInput,
    /// Number of the form.
    pub(super) number: &'a str,
    /// Network of the payer.
    pub(super) network: &'a str,
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

/// Begins a payment, by the path of every creation. A form that was sent before returns its payment.
pub(super) async fn begin(
    edge: &Data<Edge>,
    link: &Link,
    form: &Submitted<'_>,
) -> Result<Arc<Payment>, NotBegun> {
    // No `Idempotency-Key` of a merchant has a line break.
    let key = format!("link\n{}\n{}", link.id, form.number);
    let id = edge.keyring.transaction_id(&link.owner, &key);
    if let Some(known) = edge.payments.read(id).await.map_err(ApiError::from)? {
        return Ok(known);
    }
    let now = edge.clock.now();
    let body = Zeroizing::new(link.creation_body(form.method, form.typed, now));
    let parsed = parse_of_link(&body, now, &edge.limits).map_err(NotBegun::Mistakes)?;
    if !parsed.clock_violations.is_empty() {
        return Err(NotBegun::Mistakes(Rejection::unprocessable(parsed.clock_violations)));
    }
    let limits = limits_of(edge, link, form, now).await?;
    if let Err(not_taken) = take_use(edge, link.id, (id, form.method)).await {
        // The same form was sent at the same time, and its payment holds the use.
        let known = edge.payments.read(id).await.map_err(ApiError::from)?;
        return known.ok_or(not_taken);
    }
    if let Err(not_counted) = count(edge, &limits, now).await {
        release(edge, link.id, (id, form.method)).await;
        let known = edge.payments.read(id).await.map_err(ApiError::from)?;
        return known.ok_or(not_counted);
    }
    let created = create_keyed(edge, (link.owner.clone(), Some(link.id)), (parsed, None), &key).await;
    match &created {
        Ok(created) => {
            settle(edge, link.id, id).await;
            if created.is_replay {
                uncount(edge, &limits, now).await;
            } else {
                edge.checkout_metrics.count(form.method);
                if form.method == Method::CreditCard {
                    let counted = CountedTry { link: link.clone(), limits, at: now };
                    card_tries::settle(edge, counted, &created.payment).await;
                }
            }
        }
        Err(error) if error.changed_nothing() => {
            release(edge, link.id, (id, form.method)).await;
            uncount(edge, &limits, now).await;
        }
        Err(_) => {}
    }
    match created {
        Ok(created) => Ok(created.payment),
        // The form was sent before with other contents: its payment is what counts.
        Err(error) if error.error_code() == ErrorCode::IdempotencyKeyReused => {
            let known = edge.payments.read(id).await.map_err(ApiError::from)?;
            known.ok_or(NotBegun::Failed(error))
        }
        Err(error) => Err(error.into()),
    }
}

/// Returns the limits of a network, at one link and at all; of a card those of tries.
async fn limits_of(
    edge: &Edge,
    link: &Link,
    form: &Submitted<'_>,
    now: Timestamp,
) -> Result<[EventLimit; 2], NotBegun> {
    if form.method == Method::CreditCard {
        let limits = card_tries::limits_of(edge, link, form.network, now).await;
        return limits.map_err(|error| ApiError::from(Denied::from(error)).into());
    }
    let limit = |what: &str, most| EventLimit {
        name: edge.keyring.event_name(what, form.network),
        most,
        within_ms: HOUR_MS,
    };
    let [at_link, at_all] = BEGUN_BY_NETWORK;
    Ok([limit(&format!("begun {}", link.id), at_link), limit("begun", at_all)])
}

/// Counts the beginning of a payment under every limit, or under none.
async fn count(edge: &Edge, limits: &[EventLimit], now: Timestamp) -> Result<(), NotBegun> {
    for (place, limit) in limits.iter().enumerate() {
        let refused = match edge.links.count_event(limit, now).await {
            Ok(None) => continue,
            Ok(Some(until)) => NotBegun::TooMany(until),
            Err(error) => ApiError::from(Denied::from(error)).into(),
        };
        uncount(edge, limits.get(..place).unwrap_or_default(), now).await;
        return Err(refused);
    }
    Ok(())
}

/// Takes back what was counted for a payment that did not begin. If that fails, the network waits for longer.
async fn uncount(edge: &Edge, limits: &[EventLimit], at: Timestamp) {
    for limit in limits {
        if let Err(error) = edge.links.uncount_event(&limit.name, at).await {
            tracing::debug!(%error, "a payment that did not begin stays counted");
        }
    }
}

/// Takes a use for a payment. Of several who do so at once, on any nodes, no more succeed than there are uses.
async fn take_use(
    edge: &Edge,
    link: LinkId,
    (payment, method): (TransactionId, Method),
) -> Result<(), NotBegun> {
    let (mut races, mut waits) = (0, 0);
    loop {
        // The link is read before its payments: a use that was settled in between is a payment that is counted.
        let link = again(edge, link).await?;
        let now = edge.clock.now();
        let mut unstored = UnstoredUses::default();
        for (taken, may_be_boleto) in link.taken_at(now) {
            if taken != payment && edge.payments.read(taken).await.map_err(ApiError::from)?.is_none() {
                unstored.all = unstored.all.saturating_add(1);
                unstored.boletos = unstored.boletos.saturating_add(may_be_boleto.into());
            }
        }
        let uses = edge.links.link_uses(&link).await.map_err(Denied::from).map_err(ApiError::from)?;
        match link.take(payment, method, (&uses, unstored), now) {
            Ok(taken) => {
                if edge.links.replace_link(&taken).await.map_err(Denied::from).map_err(ApiError::from)? {
                    return Ok(());
                }
                races += 1;
                if races >= MOST_RACES {
                    return Err(ApiError::from(Denied::Overloaded).into());
                }
            }
            // Whoever is faster is about to be stored, and then shown; or never will be.
            Err(NoUse::AllHeld | NoUse::Crowded) if unstored.all > 0 && waits < MOST_WAITS => waits += 1,
            // A payment that is not stored yet could not be shown.
            Err(NoUse::AllHeld) if unstored.all > 0 => return Err(NotBegun::NoUse(NoUse::Crowded)),
            Err(no_use) => return Err(NotBegun::NoUse(no_use)),
        }
        sleep(RACE_PAUSE).await;
    }
}

/// Removes the notes about a use whose payment is stored.
async fn settle(edge: &Edge, link: LinkId, payment: TransactionId) {
    change(edge, link, |link| link.settle(payment)).await;
}

/// Removes the own note about a use whose payment did not begin.
async fn release(edge: &Edge, link: LinkId, (payment, method): (TransactionId, Method)) {
    change(edge, link, |link| link.release(payment, method)).await;
}

/// Changes the notes of a link. It is no harm if that fails: they end by themselves.
async fn change(edge: &Edge, link: LinkId, change: impl Fn(&Link) -> Option<Link>) {
    for _ in 0..MOST_RACES {
        let Ok(link) = again(edge, link).await else { return };
        let Some(changed) = change(&link) else { return };
        match edge.links.replace_link(&changed).await {
            Ok(true) | Err(_) => return,
            Ok(false) => sleep(RACE_PAUSE).await,
        }
    }
}

/// Reads a link that is there.
pub(super) async fn again(edge: &Edge, id: LinkId) -> Result<Link, ApiError> {
    let link = edge.links.link(id).await.map_err(Denied::from)?;
    link.ok_or_else(ApiError::link_not_found)
}

/// Returns the newest payments of a link, newest first. What can't be read is left out.
pub(crate) async fn newest(edge: &Edge, link: &Link, limit: usize) -> Result<Vec<Payment>, ApiError> {
    let listed = edge.payments.list(&of_link(link, Vec::new()), None, limit).await?;
    Ok(listed.into_iter().flatten().collect())
}

fn of_link(link: &Link, statuses: Vec<Status>) -> PaymentFilter {
    PaymentFilter {
        merchant: link.owner.merchant.clone(),
        mode: link.owner.mode,
        statuses,
        method: None,
        document: None,
        email: None,
        external_reference: None,
        link: Some(link.id),
        id: None,
        amount: None,
        created_from: None,
        created_to: None,
        due_from: None,
        due_to: None,
    }
}

/// Waits until each use that was taken before the link was closed is that of a stored payment, or free again.
///
/// # Errors
/// [`ErrorCode::OutcomeUnknown`] if that takes too long.
pub(super) async fn await_taken(edge: &Edge, id: LinkId) -> Result<Link, ApiError> {
    let deadline = Instant::now() + LONGEST_AWAITED;
    loop {
        let link = again(edge, id).await?;
        if !has_unstored(edge, &link).await? {
            return Ok(link);
        }
        if Instant::now() >= deadline {
            let message = wordings::a_payment_is_not_stored_yet();
            return Err(ApiError::unavailable(ErrorCode::OutcomeUnknown, message));
        }
        sleep(RACE_PAUSE).await;
    }
}

async fn has_unstored(edge: &Edge, link: &Link) -> Result<bool, ApiError> {
    for (taken, _) in link.taken_at(edge.clock.now()) {
        if edge.payments.read(taken).await?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Cancels everything of a closed link that waits.
///
/// # Errors
/// [`ErrorCode::OutcomeUnknown`] if something still waits at the end, or that takes too long.
pub(crate) async fn cancel_all(edge: &Edge, link: &Link) -> Result<(), ApiError> {
    match timeout(LONGEST_CANCELLING, cancel_each(edge, link)).await {
        Ok(Ok(true)) => Ok(()),
        Ok(Err(error)) => Err(error),
        Ok(Ok(false)) | Err(_) => {
            let message = wordings::payments_are_not_cancelled_yet();
            Err(ApiError::unavailable(ErrorCode::OutcomeUnknown, message))
        }
    }
}

/// Cancels each waiting payment once. Returns true if none waits any more.
async fn cancel_each(edge: &Edge, link: &Link) -> Result<bool, ApiError> {
    let waiting = of_link(link, vec![Status::Initial, Status::Pending]);
    let (mut after, mut are_over) = (None, true);
    loop {
        let listed = edge.payments.list(&waiting, after, CANCELLED_AT_ONCE).await?;
        let Some(last) = listed.last() else { return Ok(are_over) };
        after = Some(place_of(last));
        for payment in &listed {
            are_over &= match payment {
                Ok(payment) => give_up(edge, payment).await?,
                Err(_) => false,
            };
        }
    }
}

/// Cancels a waiting payment of a link. Returns true if it waits no more.
pub(super) async fn give_up(edge: &Edge, payment: &Payment) -> Result<bool, ApiError> {
    let requested = RequestedOperation::Cancel;
    let wanted = OperationRequest { id: Uuid::now_v7(), requested, key: None };
    match edge.payments.operate(payment.id, payment.owner.clone(), wanted).await {
        Ok(operated) => Ok(!is_waiting(operated.payment.status())),
        // It was paid or ended in between, or its cancellation is under way.
        Err(Denied::Refused(_)) => {
            let payment = edge.payments.read(payment.id).await?;
            Ok(payment.is_none_or(|payment| !is_waiting(payment.status())))
        }
        Err(denied) => Err(denied.into()),
    }
}

/// Returns true if a payment in this status waits for its payer.
pub(super) const fn is_waiting(status: Status) -> bool {
    match status {
        Status::Initial | Status::Pending => true,
        Status::Approved
        | Status::Declined
        | Status::Refund
        | Status::Chargeback
        | Status::Expired
        | Status::Paid
        | Status::Cancelled => false,
    }
}

/// Returns true if a cancellation of the payment is under way.
pub(super) fn is_being_cancelled(payment: &Payment) -> bool {
    payment.operations.iter().any(|operation| {
        operation.kind == OperationKind::Cancel && operation.state == OperationState::Processing
    })
}
