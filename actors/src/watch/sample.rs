//! State of the actors at one moment: plain figures for the operators' console.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quita_domain::time::Timestamp;
use serde::{Serialize, Serializer};

use crate::actor::crash_cause::CrashCause;
use crate::actor::kind::ActorKind;
use crate::store::state::StoreAway;

/// Time without a confirmed webhook attempt after which a person should look.
const WEBHOOKS_MAY_FAIL_MS: u64 = 15 * 60 * 1_000;

/// Time for which a count of the backlogs holds: several counts must fail, for each takes up to four seconds.
const BACKLOGS_ARE_KNOWN_FOR_MS: u64 = 20_000;

/// A number in thousandths: microseconds of a time displayed in milliseconds, or thousandths of a rate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thousandths(u64);

impl Thousandths {
    /// Creates a number from its thousandths.
    pub const fn new(thousandths: u64) -> Self {
        Self(thousandths)
    }

    /// Returns the thousandths.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Thousandths {
    /// Formats the number with three decimals.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1_000, self.0 % 1_000)
    }
}

impl Serialize for Thousandths {
    /// Serialises the number as a JSON number.
    #[allow(
        clippy::float_arithmetic,
        reason = "JSON has no other way to tell a fraction; nothing computes with it"
    )]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const LOW: u64 = 1_000_000_000;
        let part = |number: u64| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
        let number = part(self.0 / LOW) * 1_000_000.0 + part(self.0 % LOW) / 1_000.0;
        serializer.serialize_f64(number)
    }
}

/// State of the whole system at one moment. Rates and times cover the time since the previous sample.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    /// Time of the sample.
    pub at: Timestamp,
    /// Each kind of actor.
    pub kinds: BTreeMap<ActorKind, KindSample>,
    /// The store and its backlogs.
    pub store: StoreSample,
    /// Payments.
    pub payments: PaymentSample,
    /// Webhooks.
    pub webhooks: WebhookSample,
}

/// State of the actors of one kind. Times are `None` if nothing happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KindSample {
    /// Actors that are alive.
    pub live: i64,
    /// Messages waiting.
    pub depth: i64,
    /// Messages taken up per second.
    pub per_second: Thousandths,
    /// Median waiting time.
    pub wait_median_ms: Option<Thousandths>,
    /// 99th percentile of the waiting time.
    pub wait_p99_ms: Option<Thousandths>,
    /// Median handling time.
    pub handle_median_ms: Option<Thousandths>,
    /// 99th percentile of the handling time.
    pub handle_p99_ms: Option<Thousandths>,
    /// Actors that died and were recreated, since the start.
    pub restarts: u64,
    /// Messages refused because a mailbox or queue was full, since the start.
    pub refused: u64,
    /// Cause of the last crash of an actor of this kind.
    pub last_cause: Option<Arc<CrashCause>>,
}

impl Sample {
    /// Returns the time since which webhooks wait and attempts are made without any confirmation. `None` if that is
    /// less than fifteen minutes: some receiver is always briefly unavailable.
    pub fn webhooks_failing_since(&self) -> Option<Timestamp> {
        let since = self.webhooks.undelivered_since.filter(|_| self.store.webhook_backlog > 0)?;
        (self.at.ms_since(since) >= WEBHOOKS_MAY_FAIL_MS).then_some(since)
    }

    /// Returns true if the backlogs were counted lately. A store that answers all else may fail to count them.
    pub fn knows_backlogs(&self) -> bool {
        let counted_at = self.store.backlogs_counted_at;
        counted_at > Timestamp::default() && self.at.ms_since(counted_at) <= BACKLOGS_ARE_KNOWN_FOR_MS
    }
}

/// State of the store. Times are `None` if nothing was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoreSample {
    /// Absence of the store; `None` while it is up.
    pub away: Option<StoreAway>,
    /// Median number of writes in a batch.
    pub batch_median: Option<Thousandths>,
    /// Median time of a batch.
    pub commit_median_ms: Option<Thousandths>,
    /// 99th percentile of the time of a batch.
    pub commit_p99_ms: Option<Thousandths>,
    /// Writes that lost against another writer, since the start.
    pub conflicts: u64,
    /// Payments with an unconfirmed event. Counted every two seconds.
    pub webhook_backlog: i64,
    /// Payments that are due and waiting.
    pub timer_backlog: i64,
    /// Acquirers' notices waiting to be processed.
    pub inbox_backlog: i64,
    /// Time of the last count of the three backlogs, to the second; 1970 before the first one.
    pub backlogs_counted_at: Timestamp,
}

/// Rates of payments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentSample {
    /// Payments created per second. Creations answered from an existing idempotency key do not count.
    pub per_second: Thousandths,
    /// Status changes per second.
    pub events_per_second: Thousandths,
}

/// Rates and times of webhook deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSample {
    /// Confirmed attempts per second.
    pub delivered_per_second: Thousandths,
    /// Attempts per second that got another answer.
    pub refused_per_second: Thousandths,
    /// Attempts per second that got no answer.
    pub failed_per_second: Thousandths,
    /// Time of the first attempt since the last confirmed one, or since the start; `None` if none was made.
    pub undelivered_since: Option<Timestamp>,
    /// Median time from an event to its confirmed delivery.
    pub lag_median_ms: Option<Thousandths>,
    /// 99th percentile of that time.
    pub lag_p99_ms: Option<Thousandths>,
}

/// Handling of one message by one kind of actor during the last minute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSample {
    /// Name of the message.
    pub name: String,
    /// Messages per second.
    pub per_second: Thousandths,
    /// Median handling time.
    pub handle_median_ms: Option<Thousandths>,
    /// 99th percentile of the handling time.
    pub handle_p99_ms: Option<Thousandths>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_shown_as_the_number_itself() {
        for (thousandths, number) in
            [(0, 0.0), (1_500, 1.5), (12_345, 12.345), (86_400_000_000_000, 86_400_000_000.0)]
        {
            assert_eq!(serde_json::to_value(Thousandths::new(thousandths)).unwrap(), number);
        }
        assert_eq!(Thousandths::new(12_045).to_string(), "12.045");
    }

    #[test]
    fn a_sample_has_the_shape_that_the_console_reads() {
        let kind =
            KindSample { live: 3, wait_p99_ms: Some(Thousandths::new(1_250)), ..KindSample::default() };
        let kinds = BTreeMap::from([(ActorKind::WebhookPool, kind)]);
        let sample = Sample { at: Timestamp::from_millis(7), kinds, ..Sample::default() };
        let shown = serde_json::to_value(&sample).unwrap();
        let kind = &shown["kinds"]["webhook_pool"];
        assert_eq!((&shown["at"], &kind["live"], &kind["waitP99Ms"]), (&7.into(), &3.into(), &1.25.into()));
        for name in ["depth", "perSecond", "restarts", "refused"] {
            assert_eq!(kind[name].as_f64(), Some(0.0), "{name}");
        }
        for name in ["waitMedianMs", "handleMedianMs", "handleP99Ms", "lastCause"] {
            assert!(kind.get(name).unwrap().is_null(), "{name}");
        }
        for name in [
            "away",
            "batchMedian",
            "commitMedianMs",
            "commitP99Ms",
            "conflicts",
            "webhookBacklog",
            "timerBacklog",
            "inboxBacklog",
        ] {
            assert!(shown["store"].get(name).is_some(), "{name}");
        }
        assert_eq!(shown["payments"]["perSecond"], 0.0);
    }
}
