//! Events that have arrived.

use std::collections::BTreeMap;
use std::collections::HashMap;

use chrono::DateTime;
use hdrhistogram::Histogram;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::tally;

/// The fields of an event that matter here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    transaction_id: Uuid,
    sequence: u32,
    status: &'a str,
    occurred_at: &'a str,
}

/// Arrivals of one event.
struct Arrivals {
    status: String,
    lag_us: i64,
    times: u32,
}

/// All events since the last reset.
pub(crate) struct Seen {
    events: HashMap<(Uuid, u32), Arrivals>,
    repeats: u64,
    unreadable: u64,
    lags: Histogram<u64>,
    first_us: Option<i64>,
    last_us: Option<i64>,
    by_second: BTreeMap<i64, u64>,
}

impl Seen {
    /// Creates an empty record.
    ///
    /// # Errors
    /// None that is known.
    pub(crate) fn new() -> anyhow::Result<Self> {
        Ok(Self {
            events: HashMap::new(),
            repeats: 0,
            unreadable: 0,
            lags: tally::histogram()?,
            first_us: None,
            last_us: None,
            by_second: BTreeMap::new(),
        })
    }

    /// Records an event whose first byte arrived at this time.
    pub(crate) fn arrived(&mut self, body: &[u8], at_us: i64) {
        let read = serde_json::from_slice::<Event<'_>>(body)
            .ok()
            .and_then(|event| Some((DateTime::parse_from_rfc3339(event.occurred_at).ok()?, event)));
        let Some((occurred_at, event)) = read else {
            self.unreadable += 1;
            return;
        };
        if let Some(arrivals) = self.events.get_mut(&(event.transaction_id, event.sequence)) {
            arrivals.times += 1;
            self.repeats += 1;
            return;
        }
        let lag_us = at_us - occurred_at.timestamp_micros();
        self.lags.saturating_record(u64::try_from(lag_us).unwrap_or_default());
        self.first_us.get_or_insert(at_us);
        self.last_us = Some(at_us);
        *self.by_second.entry(at_us / 1_000_000).or_default() += 1;
        let arrivals = Arrivals { status: event.status.to_owned(), lag_us, times: 1 };
        self.events.insert((event.transaction_id, event.sequence), arrivals);
    }

    /// Returns the number of distinct events that have arrived.
    pub(crate) fn count(&self) -> usize {
        self.events.len()
    }

    /// Returns counts, times, and the delay from `occurredAt` to the first byte of an event's first arrival.
    pub(crate) fn report(&self) -> Value {
        let mut by_status = BTreeMap::<&str, u64>::new();
        for arrivals in self.events.values() {
            *by_status.entry(&arrivals.status).or_default() += 1;
        }
        json!({
            "distinct": self.events.len(),
            "by_status": by_status,
            "repeats": self.repeats,
            "unreadable": self.unreadable,
            "first_us": self.first_us,
            "last_us": self.last_us,
            "lag_us": tally::quantiles(&self.lags),
            "by_second": self.by_second(),
        })
    }

    /// Returns the first arrivals in each second, from the first to the last.
    fn by_second(&self) -> Vec<u64> {
        let ends = self.by_second.keys().next().zip(self.by_second.keys().next_back());
        let seconds = ends.map_or(0..0, |(first, last)| *first..last + 1);
        seconds.map(|second| self.by_second.get(&second).copied().unwrap_or_default()).collect()
    }

    /// Returns a line for each event: id, sequence, status, lag in microseconds, number of arrivals.
    pub(crate) fn lines(&self) -> String {
        let line = |((id, sequence), arrivals): (&(Uuid, u32), &Arrivals)| {
            let Arrivals { status, lag_us, times } = arrivals;
            format!("{} {sequence} {status} {lag_us} {times}\n", id.simple())
        };
        self.events.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAID: &str = r#"{"transactionId":"01890a5d-ac96-774b-bcce-b302099a8057","status":"paid","sequence":2,
        "occurredAt":"2026-11-21T10:00:00.000Z","data":{"status":"pending"}}"#;

    #[test]
    fn a_repeated_event_counts_once_and_as_a_repetition() {
        let mut seen = Seen::new().unwrap();
        let occurred_us = DateTime::parse_from_rfc3339("2026-11-21T10:00:00Z").unwrap().timestamp_micros();
        seen.arrived(PAID.as_bytes(), occurred_us + 1_500);
        seen.arrived(PAID.as_bytes(), occurred_us + 9_000_000);
        seen.arrived(b"{}", occurred_us);
        let report = seen.report();
        assert_eq!((seen.count(), &report["repeats"], &report["unreadable"]), (1, &json!(1), &json!(1)));
        assert_eq!((&report["by_status"], &report["lag_us"]["max"]), (&json!({ "paid": 1 }), &json!(1_500)));
        assert_eq!(seen.lines(), "01890a5dac96774bbcceb302099a8057 2 paid 1500 2\n");
    }
}
