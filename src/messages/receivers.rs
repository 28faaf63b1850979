//! Webhook receivers that have been failing for an hour.

use std::collections::BTreeMap;

use quita_domain::delivery::DeliveryState;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::Cursor;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_domain::webhook::address::receiver_of;
use quita_ports::{StoreError, WholeStore};
use uuid::Uuid;

use super::merchant_news::{LOOK_AT, filter};

/// Time without any confirmation after which a receiver counts as failing.
const HOUR_MS: u64 = 3_600_000;

/// Receiver that was sent events, but confirmed none for an hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FailingReceiver {
    pub(super) receiver: String,
    /// First failed attempt since the last confirmation.
    pub(super) since: Timestamp,
    /// Last confirmation, as far as it is known.
    pub(super) confirmed_at: Option<Timestamp>,
}

/// Finds the failing receivers of a merchant.
pub(super) async fn read(
    store: &dyn WholeStore,
    merchant: &MerchantId,
    mode: Mode,
    now: Timestamp,
) -> Result<Vec<FailingReceiver>, StoreError> {
    let list = async |state: DeliveryState, after: Option<Cursor>| {
        let listed = store.list_with_deliveries(&filter(merchant, mode, state), after, LOOK_AT).await?;
        Ok::<Vec<ReceiverAttempt>, StoreError>(listed.iter().flatten().flat_map(attempts).collect())
    };
    // Newer payments can't have failed for an hour, and might fill the whole list.
    let hour_ago = Cursor { created_at: now.minus_ms(HOUR_MS), id: TransactionId::new(Uuid::nil()) };
    let waiting = list(DeliveryState::Pending, Some(hour_ago)).await?;
    // Confirmations can only clear a receiver. If none is failing without them, they need not be read.
    if failing(&waiting, &[], now).is_empty() {
        return Ok(Vec::new());
    }
    let confirmed = list(DeliveryState::Delivered, None).await?;
    Ok(failing(&waiting, &confirmed, now))
}

/// Attempt to deliver an event to a receiver.
struct ReceiverAttempt {
    receiver: String,
    at: Timestamp,
    is_confirmed: bool,
}

fn attempts(payment: &Payment) -> Vec<ReceiverAttempt> {
    let Some(url) = payment.order.postback_url.as_deref() else { return Vec::new() };
    let receiver = receiver_of(url);
    let attempts = payment.outbox.iter().flat_map(|delivery| &delivery.attempts);
    attempts
        .map(|attempt| ReceiverAttempt {
            receiver: receiver.clone(),
            at: attempt.at,
            is_confirmed: attempt.is_confirmed(),
        })
        .collect()
}

/// Finds the receivers of waiting events that confirmed nothing for an hour, considering everything sent to them.
fn failing(waiting: &[ReceiverAttempt], others: &[ReceiverAttempt], now: Timestamp) -> Vec<FailingReceiver> {
    let mut last_confirmed: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for attempt in waiting.iter().chain(others).filter(|attempt| attempt.is_confirmed) {
        let last = last_confirmed.entry(&attempt.receiver).or_insert(attempt.at);
        *last = attempt.at.max(*last);
    }
    let mut first_failed: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for attempt in waiting.iter().filter(|attempt| !attempt.is_confirmed) {
        let receiver = attempt.receiver.as_str();
        if last_confirmed.get(receiver).is_none_or(|last| attempt.at > *last) {
            let first = first_failed.entry(receiver).or_insert(attempt.at);
            *first = attempt.at.min(*first);
        }
    }
    let failing = first_failed.into_iter().filter(|(_, since)| since.plus_ms(HOUR_MS) <= now);
    let found = failing.map(|(receiver, since)| {
        let confirmed_at = last_confirmed.get(receiver).copied();
        FailingReceiver { receiver: receiver.into(), since, confirmed_at }
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(100_000_000);

    /// An attempt of so many minutes ago.
    fn attempt(receiver: &str, minutes: u64, is_confirmed: bool) -> ReceiverAttempt {
        ReceiverAttempt { receiver: receiver.into(), at: NOW.minus_ms(minutes * 60_000), is_confirmed }
    }

    /// Receivers that fail, and for how many minutes.
    fn failing_for(waiting: &[ReceiverAttempt], others: &[ReceiverAttempt]) -> Vec<(String, u64)> {
        let found = failing(waiting, others, NOW);
        found.into_iter().map(|found| (found.receiver, NOW.ms_since(found.since) / 60_000)).collect()
    }

    #[test]
    fn a_receiver_fails_once_it_confirmed_nothing_for_an_hour() {
        let failed = [attempt("a", 60, false), attempt("a", 90, false), attempt("b", 59, false)];
        assert_eq!(failing_for(&failed, &[]), [("a".into(), 90)]);
    }

    #[test]
    fn a_failing_receiver_is_known_with_its_last_confirmation() {
        let failed = [attempt("a", 90, false), attempt("a", 65, false), attempt("b", 90, false)];
        let found = failing(&failed, &[attempt("a", 70, true), attempt("a", 200, true)], NOW);
        let confirmed_at: Vec<_> = found.into_iter().map(|found| found.confirmed_at).collect();
        assert_eq!(confirmed_at, [Some(NOW.minus_ms(70 * 60_000)), None]);
    }

    #[test]
    fn what_it_confirmed_meanwhile_counts_and_another_receivers_does_not() {
        let failed = [attempt("a", 90, false), attempt("a", 65, false), attempt("b", 90, false)];
        assert_eq!(failing_for(&failed, &[attempt("a", 70, true)]), [("a".into(), 65), ("b".into(), 90)]);
        assert_eq!(failing_for(&failed, &[attempt("a", 5, true)]), [("b".into(), 90)]);
    }
}
