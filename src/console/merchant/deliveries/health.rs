//! Health of webhook receivers, judged by their recent responses.

use std::collections::BTreeMap;

use quita_domain::delivery::{DeliveryAttempt, DeliveryState};
use quita_domain::listing::DeliveryFilter;
use quita_domain::payment::Payment;
use quita_domain::time::Timestamp;
use quita_domain::webhook::address::receiver_of;

use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::delivery_attempts::outcome_of;

/// Number of payments examined.
const LOOK_AT: usize = 250;

/// Health of one receiver: the host and port of its address.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReceiverHealth {
    pub(super) receiver: String,
    pub(super) attempts: usize,
    pub(super) confirmed: usize,
    /// Number of deliveries that were given up.
    pub(super) exhausted: usize,
    /// Median duration of an exchange, in milliseconds.
    pub(super) median_ms: u64,
    /// Time and outcome of the last failed attempt.
    pub(super) last_failure: Option<(Timestamp, String)>,
}

impl ReceiverHealth {
    /// Returns the share of confirmed attempts, in percent.
    pub(super) fn percent(&self) -> usize {
        self.confirmed.saturating_mul(100).checked_div(self.attempts).unwrap_or(100)
    }
}

/// Returns the receivers of the newest payments, worst first, and the number of deliveries examined.
pub(super) async fn read(
    filter: &DeliveryFilter,
    console: &MerchantConsole,
) -> Result<(Vec<ReceiverHealth>, usize), PageError> {
    let listed = console.edge.payments.list_with_deliveries(filter, None, LOOK_AT).await?;
    let payments: Vec<_> = listed.into_iter().flatten().collect();
    let looked_at = payments.iter().map(|payment| payment.outbox.len()).sum();
    Ok((of(&payments), looked_at))
}

fn of(payments: &[Payment]) -> Vec<ReceiverHealth> {
    let mut receivers: BTreeMap<String, (ReceiverHealth, Vec<u64>)> = BTreeMap::new();
    for payment in payments {
        let Some(url) = payment.order.postback_url.as_deref() else { continue };
        let (health, durations) = receivers.entry(receiver_of(url)).or_default();
        for delivery in &payment.outbox {
            health.exhausted =
                health.exhausted.saturating_add(usize::from(delivery.state == DeliveryState::Exhausted));
            for attempt in &delivery.attempts {
                count(health, attempt);
                durations.push(attempt.duration_ms);
            }
        }
    }
    let mut healths: Vec<_> = receivers
        .into_iter()
        .map(|(receiver, (health, durations))| ReceiverHealth {
            receiver,
            median_ms: median(durations),
            ..health
        })
        .collect();
    healths.sort_by_key(ReceiverHealth::percent);
    healths
}

fn count(health: &mut ReceiverHealth, attempt: &DeliveryAttempt) {
    health.attempts = health.attempts.saturating_add(1);
    if attempt.is_confirmed() {
        health.confirmed = health.confirmed.saturating_add(1);
        return;
    }
    let is_newer = health.last_failure.as_ref().is_none_or(|(at, _)| attempt.at > *at);
    if is_newer {
        health.last_failure = Some((attempt.at, outcome_of(attempt, Language::current())));
    }
}

fn median(mut durations: Vec<u64>) -> u64 {
    durations.sort_unstable();
    durations.get(durations.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_counted_in_attempts_and_the_last_failure_is_the_newest() {
        let mut health = ReceiverHealth::default();
        let attempt = |at: i64, status: Option<u16>| DeliveryAttempt {
            at: Timestamp::from_millis(at),
            duration_ms: 5,
            status,
            error: status.is_none().then(|| "timeout".into()),
            answer: None,
            retry_after_ms: None,
        };
        for attempt in [attempt(3, Some(500)), attempt(1, None), attempt(4, Some(200)), attempt(5, Some(204))]
        {
            count(&mut health, &attempt);
        }
        assert_eq!((health.attempts, health.percent()), (4, 50));
        assert_eq!(health.last_failure, Some((Timestamp::from_millis(3), "500".into())));
        assert_eq!((median(vec![9, 1, 5]), median(Vec::new())), (5, 0));
    }
}
