//! Percentiles and distribution of one latency.

use hdrhistogram::Histogram;
use serde::Serialize;

use super::measures::{Measures, quantile};
use super::plan::Method;

/// Upper edges of the bins within a power of ten, in hundredths: ten equal steps on a logarithmic scale.
const EDGES: [u64; 10] = [126, 158, 200, 251, 316, 398, 501, 631, 794, 1_000];

/// Powers of ten of the distribution, from 10 µs to 1000 s.
const DECADES: u32 = 8;

/// Subject of a latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LatencyKind {
    /// Creation, from its intended start.
    Create,
    /// Creation of a PIX payment.
    CreatePix,
    /// Creation of a boleto.
    CreateBoleto,
    /// Creation of a card payment.
    CreateCard,
    /// Read of a payment.
    Read,
    /// Time from an event to its first arrival.
    Delivery,
    /// Delay from the intended start of a creation to its start.
    OwnDelay,
    /// Wait for one of the load tester's connections.
    Connection,
}

/// Percentiles, in microseconds.
#[derive(Debug, Serialize)]
pub(super) struct Latency {
    /// Measurement, as named in thresholds.
    #[serde(rename = "id", serialize_with = "as_id")]
    pub(super) kind: LatencyKind,
    /// Measurement, as named for people.
    pub(super) name: &'static str,
    /// Number of values.
    pub(super) count: u64,
    /// Median; the following fields hold other percentiles.
    pub(super) p50: u64,
    pub(super) p90: u64,
    pub(super) p99: u64,
    pub(super) p999: u64,
    pub(super) max: u64,
    /// Number of values between each upper edge and the previous one.
    pub(super) distribution: Vec<Bin>,
}

/// Bin of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Bin {
    /// Upper edge of the bin, exclusive, in microseconds.
    pub(super) below_us: u64,
    /// Number of values in the bin.
    pub(super) count: u64,
}

impl LatencyKind {
    /// Every kind, in the order of the report.
    pub(super) const ALL: [Self; 8] = [
        Self::Create,
        Self::CreatePix,
        Self::CreateBoleto,
        Self::CreateCard,
        Self::Read,
        Self::Delivery,
        Self::OwnDelay,
        Self::Connection,
    ];

    /// Returns the name in thresholds.
    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::CreatePix => "create.pix",
            Self::CreateBoleto => "create.boleto",
            Self::CreateCard => "create.card",
            Self::Read => "read",
            Self::Delivery => "delivery",
            Self::OwnDelay => "delay",
            Self::Connection => "connection",
        }
    }

    /// Returns the name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::CreatePix => "create pix",
            Self::CreateBoleto => "create boleto",
            Self::CreateCard => "create card",
            Self::Read => "read",
            Self::Delivery => "event to delivery",
            Self::OwnDelay => "own delay",
            Self::Connection => "connection wait",
        }
    }

    const fn of_method(method: Method) -> Self {
        match method {
            Method::Pix => Self::CreatePix,
            Method::Boleto => Self::CreateBoleto,
            Method::Card => Self::CreateCard,
        }
    }
}

impl Latency {
    /// Summarises one histogram.
    pub(super) fn new(kind: LatencyKind, histogram: &Histogram<u64>) -> Self {
        let at = |share| quantile(histogram, share);
        let [p50, p90, p99, p999] = [0.5, 0.9, 0.99, 0.999].map(at);
        let max = histogram.max();
        let distribution = distribution(histogram);
        Self { kind, name: kind.name(), count: histogram.len(), p50, p90, p99, p999, max, distribution }
    }

    /// Summarises every histogram of a run, in the order of the report.
    pub(super) fn all(measures: &Measures) -> Vec<Self> {
        let by_method = Method::ALL.into_iter().zip(&measures.create_by_method);
        let by_method = by_method.map(|(method, histogram)| (LatencyKind::of_method(method), histogram));
        let others = [
            (LatencyKind::Read, &measures.read),
            (LatencyKind::Delivery, &measures.event),
            (LatencyKind::OwnDelay, &measures.late),
            (LatencyKind::Connection, &measures.connection),
        ];
        let all = [(LatencyKind::Create, &measures.create)].into_iter().chain(by_method).chain(others);
        all.map(|(kind, histogram)| Self::new(kind, histogram)).collect()
    }
}

fn as_id<S: serde::Serializer>(kind: &LatencyKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.id())
}

/// Counts the values in each logarithmic step, from the first step with values to the last.
fn distribution(histogram: &Histogram<u64>) -> Vec<Bin> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let edges = (0..DECADES).flat_map(|decade| EDGES.map(|edge| edge * 10_u64.pow(decade) / 10));
    let mut bins: Vec<_> = edges.map(|below_us| Bin { below_us, count: 0 }).collect();
    for value in histogram.iter_recorded() {
        let place = bins.partition_point(|bin| bin.below_us <= value.value_iterated_to());
        if let Some(bin) = bins.get_mut(place) {
            bin.count += value.count_at_value();
        }
    }
    let holds = |bin: &Bin| bin.count > 0;
    let first = bins.iter().position(holds).unwrap_or(0);
    let last = bins.iter().rposition(holds).unwrap_or(0);
    bins.into_iter().take(last + 1).skip(first).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_distribution_holds_every_value_once() {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 600_000_000, 3).unwrap();
        for value in [1, 12, 126, 1_000, 1_300, 999_999, 600_000_000] {
            histogram.saturating_record(value);
        }
        let bins = distribution(&histogram);
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), histogram.len());
        assert!(bins.is_sorted_by_key(|bin| bin.below_us), "{bins:?}");
        histogram.reset();
        assert_eq!(distribution(&histogram), []);
    }

    #[test]
    fn every_kind_is_in_the_report_once_and_in_order() {
        let measures = Measures::new(Instant::now(), 1).unwrap();
        let kinds = Latency::all(&measures).into_iter().map(|latency| latency.kind);
        assert_eq!(kinds.collect::<Vec<_>>(), LatencyKind::ALL);
    }
}
