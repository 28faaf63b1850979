//! Limits against bots that test cards on the pages of payment links.
//!
//! A try is a card that was sent to an acquirer and was not approved. It is counted in the store before the card is
//! sent, under its link and under the payer's network. It is uncounted if the card is approved. An unknown outcome
//! counts until it is known.

use std::time::Duration;

use actix_web::web::Data;
use quita_domain::exception::{CARD_TESTING, Exception};
use quita_domain::identity::TransactionId;
use quita_domain::link::Link;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{EventLimit, StoreError};
use tokio::time::sleep;

use super::checkout_metrics::TryOutcome;
use super::edge::Edge;
use super::link_payments::HOUR_MS;

/// Declined cards of one link within a day that are reported to operators.
const REPORTED_DECLINES: u32 = 20;

/// Pause between two looks at a payment whose outcome is unknown.
const LOOK_AFTER: Duration = Duration::from_secs(5);

/// Maximum number of looks at such a payment: after an hour its try no longer counts.
const MOST_LOOKS: u32 = 720;

/// Returns the limits of a try: at its link, and of its network at all links. A link for several payments allows one
/// more for each card that was approved there within the hour.
pub(super) async fn limits_of(
    edge: &Edge,
    link: &Link,
    network: &str,
    now: Timestamp,
) -> Result<[EventLimit; 2], StoreError> {
    let approved = if link.is_for_one() {
        0
    } else {
        edge.links.counted_events(&name_of(edge, link, "approved"), now.minus_ms(HOUR_MS)).await?
    };
    let approved = u32::try_from(approved).unwrap_or(u32::MAX);
    let limit = |name, most| EventLimit { name, most, within_ms: HOUR_MS };
    Ok([
        limit(name_of(edge, link, "tried"), edge.checkout.tries_per_link.saturating_add(approved)),
        limit(edge.keyring.event_name("card tried", network), edge.checkout.tries_per_network),
    ])
}

fn name_of(edge: &Edge, link: &Link, what: &str) -> String {
    edge.keyring.event_name(&format!("card {what} {}", link.id), "")
}

/// A try that was counted.
#[derive(Debug, Clone)]
pub(super) struct CountedTry {
    /// Link of the payment.
    pub(super) link: Link,
    /// Limits under which it was counted.
    pub(super) limits: [EventLimit; 2],
    /// Time at which it was counted.
    pub(super) at: Timestamp,
}

/// Settles a try according to the outcome of its payment.
pub(super) async fn settle(edge: &Data<Edge>, counted: CountedTry, payment: &Payment) {
    match outcome_of(payment) {
        // No acquirer was asked, so nothing was tried.
        TryOutcome::Declined if payment.state.attempts.is_empty() => counted.take_back(edge).await,
        outcome @ (TryOutcome::Approved | TryOutcome::Declined) => {
            edge.checkout_metrics.count_try(outcome);
            counted.conclude(edge, outcome).await;
        }
        TryOutcome::Unknown | TryOutcome::Limited => {
            edge.checkout_metrics.count_try(TryOutcome::Unknown);
            actix_web::rt::spawn(follow(edge.clone(), counted, payment.id));
        }
    }
}

/// Polls a payment until its outcome is known, and then settles its try. If the process ends earlier, the try counts
/// for the rest of its hour.
async fn follow(edge: Data<Edge>, counted: CountedTry, id: TransactionId) {
    for _ in 0..MOST_LOOKS {
        sleep(LOOK_AFTER).await;
        // An outage of the store does not end the polling: the outcome is still unknown, and a bot must not gain from
        // it.
        let Ok(Some(payment)) = edge.payments.read(id).await else { continue };
        match outcome_of(&payment) {
            TryOutcome::Unknown | TryOutcome::Limited => {}
            outcome @ (TryOutcome::Approved | TryOutcome::Declined) => {
                counted.conclude(&edge, outcome).await;
                return;
            }
        }
    }
}

/// Returns the outcome of a card, from the status of its payment.
fn outcome_of(payment: &Payment) -> TryOutcome {
    match payment.status() {
        Status::Initial | Status::Pending => TryOutcome::Unknown,
        Status::Approved | Status::Paid | Status::Refund | Status::Chargeback => TryOutcome::Approved,
        // A card that ended without approval was still tried, whatever ended it.
        Status::Declined | Status::Expired | Status::Cancelled => TryOutcome::Declined,
    }
}

impl CountedTry {
    async fn conclude(&self, edge: &Edge, outcome: TryOutcome) {
        let noted = match outcome {
            TryOutcome::Approved => {
                self.take_back(edge).await;
                self.note_approval(edge).await
            }
            TryOutcome::Declined => self.note_decline(edge).await,
            TryOutcome::Unknown | TryOutcome::Limited => Ok(()),
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "the outcome of a card at a payment link could not be counted");
        }
    }

    /// Uncounts the try. If that fails, it counts for the rest of its hour.
    async fn take_back(&self, edge: &Edge) {
        for limit in &self.limits {
            if let Err(error) = edge.links.uncount_event(&limit.name, self.at).await {
                tracing::debug!(%error, "a card that was not tried stays counted");
            }
        }
    }

    async fn note_approval(&self, edge: &Edge) -> Result<(), StoreError> {
        // An approved card uses up such a link, so no further try could follow.
        if self.link.is_for_one() {
            return Ok(());
        }
        let name = name_of(edge, &self.link, "approved");
        // Approvals are counted for the limit of tries, and never refused themselves.
        let limit = EventLimit { name, most: u32::MAX, within_ms: HOUR_MS };
        edge.links.count_event(&limit, edge.clock.now()).await.map(drop)
    }

    /// Counts a declined card. The one that reaches the limit of a day is reported.
    async fn note_decline(&self, edge: &Edge) -> Result<(), StoreError> {
        let name = name_of(edge, &self.link, "declined");
        let limit = EventLimit { name, most: REPORTED_DECLINES, within_ms: DAY_MS };
        let now = edge.clock.now();
        if edge.links.count_event(&limit, now).await?.is_some() {
            // The limit was already exceeded.
            return Ok(());
        }
        let declined = edge.links.counted_events(&limit.name, now.minus_ms(DAY_MS)).await?;
        if declined >= REPORTED_DECLINES.into() {
            edge.payments.report(card_testing(&self.link, now));
        }
        Ok(())
    }
}

fn card_testing(link: &Link, now: Timestamp) -> Exception {
    Exception {
        id: format!("{CARD_TESTING}:{}", link.id),
        kind: CARD_TESTING.into(),
        transaction_id: None,
        acquirer: None,
        detail: format!(
            "{REPORTED_DECLINES} cards were declined within 24 hours at link {} of merchant {}",
            link.id, link.owner.merchant
        ),
        advice: "ask the merchant whether strangers have the link, and close it if they do; the cards were declined, and \
                 the limits go on"
            .into(),
        reported_at: now,
        resolution: None,
    }
}
