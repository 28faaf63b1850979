//! Histogram counts, and the rates and quantiles computed from them without floats.

use std::time::Duration;

use prometheus::proto;

use crate::watch::sample::Thousandths;

/// Upper bounds of a histogram's buckets, in thousandths of the displayed unit.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    upper: Vec<u64>,
    /// Distance between two possible values: a bucket begins that far above the previous bound.
    step: u64,
}

impl Bounds {
    /// Bounds of times observed in seconds and displayed in milliseconds.
    pub(crate) fn of_seconds(seconds: &[f64]) -> Self {
        Self { upper: seconds.iter().map(|bound| micros(*bound)).collect(), step: 0 }
    }

    /// Bounds of whole numbers.
    pub(crate) fn of_counts(counts: &[f64]) -> Self {
        let upper = counts.iter().map(|bound| micros(*bound) / 1_000).collect();
        Self { upper, step: 1_000 }
    }

    /// Returns the number of buckets, without the one that has no upper bound.
    pub(crate) const fn len(&self) -> usize {
        self.upper.len()
    }

    /// Returns the index of the bucket for this value.
    pub(crate) fn bucket(&self, value: u64) -> usize {
        self.upper.partition_point(|bound| *bound < value)
    }
}

/// Converts a number into millionths; smaller fractions do not occur.
fn micros(number: f64) -> u64 {
    let number = Duration::try_from_secs_f64(number).unwrap_or(Duration::MAX);
    u64::try_from(number.as_micros()).unwrap_or(u64::MAX)
}

/// Number of observations in a histogram, with cumulative counts for each bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) count: u64,
    cumulative: Vec<u64>,
}

impl Tally {
    /// Reads the counts of a histogram since its start.
    pub(crate) fn of(histogram: &proto::Histogram) -> Self {
        let cumulative = histogram.get_bucket().iter().map(proto::Bucket::cumulative_count).collect();
        Self { count: histogram.get_sample_count(), cumulative }
    }

    /// Creates a tally from the count of each bucket. The last bucket has no upper bound.
    pub(crate) fn of_buckets(buckets: impl IntoIterator<Item = u64>) -> Self {
        let mut count = 0_u64;
        let mut cumulative: Vec<_> = buckets
            .into_iter()
            .map(|bucket| {
                count = count.saturating_add(bucket);
                count
            })
            .collect();
        cumulative.pop();
        Self { count, cumulative }
    }

    /// Returns the counts since an earlier tally of the same histogram.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        let before = earlier.cumulative.iter().copied().chain(std::iter::repeat(0));
        let cumulative = self.cumulative.iter().zip(before).map(|(now, before)| now.saturating_sub(before));
        Self { count: self.count.saturating_sub(earlier.count), cumulative: cumulative.collect() }
    }

    /// Adds the counts of another tally with the same buckets.
    pub(crate) fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.cumulative.resize(self.cumulative.len().max(other.cumulative.len()), 0);
        for (mine, theirs) in self.cumulative.iter_mut().zip(&other.cumulative) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// Returns the value that `per_mille` thousandths of the observations do not exceed, interpolated within its
    /// bucket. Observations above the highest bound count as that bound. `None` if nothing was observed.
    pub(crate) fn quantile(&self, bounds: &Bounds, per_mille: u64) -> Option<Thousandths> {
        if self.count == 0 {
            return None;
        }
        let rank = self.rank(per_mille);
        let mut below = 0_u64;
        let mut before = 0_u64;
        for (upper, counted) in bounds.upper.iter().zip(&self.cumulative) {
            if *counted >= rank {
                let lowest = below.saturating_add(bounds.step).min(*upper);
                let inside = counted.saturating_sub(before).max(1);
                let part = upper.saturating_sub(lowest).saturating_mul(rank.saturating_sub(before)) / inside;
                return Some(Thousandths::new(lowest.saturating_add(part)));
            }
            (below, before) = (*upper, *counted);
        }
        Some(Thousandths::new(below))
    }

    /// Returns the quantile of observations that are known not to exceed `longest`. Those above the highest bound count
    /// as that.
    pub(crate) fn quantile_up_to(
        &self,
        bounds: &Bounds,
        per_mille: u64,
        longest: Thousandths,
    ) -> Option<Thousandths> {
        let rank = self.rank(per_mille);
        let is_above_all = self.cumulative.last().is_some_and(|counted| *counted < rank);
        let quantile = self.quantile(bounds, per_mille)?;
        Some(if is_above_all { longest } else { quantile.min(longest) })
    }

    /// Returns the position, from 1, of the value that so many thousandths of the observations do not exceed.
    fn rank(&self, per_mille: u64) -> u64 {
        self.count.saturating_mul(per_mille).div_ceil(1_000).max(1)
    }

    /// Returns the median.
    pub(crate) fn median(&self, bounds: &Bounds) -> Option<Thousandths> {
        self.quantile(bounds, 500)
    }

    /// Returns the 99th percentile.
    pub(crate) fn p99(&self, bounds: &Bounds) -> Option<Thousandths> {
        self.quantile(bounds, 990)
    }

    /// Returns the number of observations per second, given the time in which they were made.
    pub(crate) fn per_second(&self, within: Duration) -> Thousandths {
        per_second(self.count, within)
    }
}

/// Returns the rate per second of `count` events within this time.
pub(crate) fn per_second(count: u64, within: Duration) -> Thousandths {
    let micros = u64::try_from(within.as_micros()).unwrap_or(u64::MAX);
    Thousandths::new(count.saturating_mul(1_000_000_000).checked_div(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use prometheus::core::Metric;
    use prometheus::{Histogram, HistogramOpts};

    use super::*;

    const SECONDS: [f64; 4] = [0.000_01, 0.001, 0.01, 10.0];
    const COUNTS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

    fn tally(bounds: &[f64], observed: &[f64]) -> Tally {
        let histogram = Histogram::with_opts(HistogramOpts::new("h", "h").buckets(bounds.to_vec())).unwrap();
        observed.iter().for_each(|value| histogram.observe(*value));
        Tally::of(histogram.metric().get_histogram())
    }

    #[test]
    fn quantiles_lie_in_their_bucket_and_nothing_has_none() {
        let bounds = Bounds::of_seconds(&SECONDS);
        let shown = |observed: &[f64]| {
            let tally = tally(&SECONDS, observed);
            (tally.median(&bounds).map(Thousandths::get), tally.p99(&bounds).map(Thousandths::get))
        };
        assert_eq!(shown(&[]), (None, None));
        assert_eq!(shown(&[0.005]), (Some(10_000), Some(10_000)), "microseconds");
        assert_eq!(shown(&[0.005, 0.005, 0.005, 0.005]), (Some(5_500), Some(10_000)));
        assert_eq!(shown(&[60.0]), (Some(10_000_000), Some(10_000_000)), "above all bounds");
        let mut many = vec![0.000_005; 99];
        many.push(5.0);
        assert_eq!(shown(&many), (Some(5), Some(10)), "one in a hundred is slow");
        many.push(5.0);
        assert!(shown(&many).1.unwrap() > 1_000_000);
    }

    #[test]
    fn whole_numbers_are_not_halved() {
        let bounds = Bounds::of_counts(&COUNTS);
        let median = |observed: &[f64]| tally(&COUNTS, observed).median(&bounds).map(Thousandths::get);
        assert_eq!(median(&[1.0, 1.0, 1.0]), Some(1_000));
        assert_eq!(median(&[2.0]), Some(2_000));
        assert_eq!(median(&[3.0, 4.0]), Some(3_500));
    }

    #[test]
    fn what_was_counted_before_is_not_counted_again() {
        let earlier = tally(&SECONDS, &[5.0]);
        let later = tally(&SECONDS, &[5.0, 0.005, 0.005]);
        let since = later.since(&earlier);
        assert_eq!((since.count, since.p99(&Bounds::of_seconds(&SECONDS)).unwrap().get()), (2, 10_000));
        assert_eq!(later.since(&Tally::default()), later);
        assert_eq!(since.per_second(Duration::from_secs(4)).get(), 500);
        assert_eq!(since.per_second(Duration::ZERO).get(), 0);
    }

    #[test]
    fn buckets_of_several_tallies_add_up() {
        let bounds = Bounds::of_seconds(&SECONDS);
        let observed = [5_u64, 5_000, 5_000, 20_000_000];
        let mut buckets = vec![0; bounds.len() + 1];
        observed.iter().for_each(|micros| buckets[bounds.bucket(*micros)] += 1);
        let mut both = Tally::of_buckets(buckets);
        assert_eq!(both, tally(&SECONDS, &[0.000_005, 0.005, 0.005, 20.0]));
        both.add(&tally(&SECONDS, &[0.005]));
        assert_eq!((both.count, both.median(&bounds).unwrap().get()), (5, 1_000 + 9_000 * 2 / 3));
        let mut empty = Tally::default();
        empty.add(&both);
        assert_eq!(empty, both);
    }
}
