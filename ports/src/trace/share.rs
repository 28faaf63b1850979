//! The share of traces that is recorded.

use super::TraceId;

/// Accepted spelling of a share, for messages.
pub const TRACE_SHARE_FORM: &str = "a percentage above 0 with up to four decimals: 100%, 5%, 0.1%";

/// Millionths in one percent; [`WHOLE`] is all of them.
const PER_CENT: u32 = 10_000;
const WHOLE: u32 = 1_000_000;

/// Decimals that a percentage may have.
const DECIMALS: usize = 4;

/// Share of all traces, above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceShare {
    millionths: u32,
}

impl TraceShare {
    /// All traces.
    pub const ALL: Self = Self { millionths: WHOLE };

    /// Reads a percentage; none unless it is above 0, at most 100 and has at most four decimals.
    pub fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = match text.strip_suffix('%')?.split_once('.') {
            Some((whole, decimals)) if !decimals.is_empty() => (whole, decimals),
            Some(_) => return None,
            None => (text.strip_suffix('%')?, ""),
        };
        let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if decimals.len() > DECIMALS || !is_digits(whole) || !is_digits(decimals) {
            return None;
        }
        let whole: u32 = whole.parse().ok()?;
        let parts: u32 = format!("{decimals:0<DECIMALS$}").parse().ok()?;
        let millionths = whole.checked_mul(PER_CENT)?.checked_add(parts)?;
        (1..=WHOLE).contains(&millionths).then_some(Self { millionths })
    }

    /// Returns true if a trace belongs to the share; the answer is the same in every process.
    ///
    /// Trace ids are random, at least in their last eight bytes (W3C Trace Context, level 1, sections 3.2.2.3 and 5).
    pub fn takes(self, trace: TraceId) -> bool {
        let [.., a, b, c, d, e, f, g, h] = trace.0.get().to_be_bytes();
        let random = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
        u128::from(random) * u128::from(WHOLE) < u128::from(self.millionths) << u64::BITS
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU128;

    use super::*;

    fn share(text: &str) -> TraceShare {
        TraceShare::parse(text).unwrap()
    }

    /// Ids whose last eight bytes are spread as evenly as random ones.
    fn evenly_spread(count: u128) -> impl Iterator<Item = TraceId> {
        const STEP: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
        (1..=count).filter_map(|n| NonZeroU128::new(n.wrapping_mul(STEP))).map(TraceId)
    }

    #[test]
    fn percentages_are_read_exactly() {
        for (text, millionths) in [
            ("100%", WHOLE),
            ("5%", 50_000),
            ("0.1%", 1_000),
            ("12.5%", 125_000),
            ("0.0001%", 1),
            ("01%", 10_000),
        ] {
            assert_eq!(TraceShare::parse(text), Some(TraceShare { millionths }), "{text}");
        }
        assert_eq!(share("100%"), TraceShare::ALL);
    }

    #[test]
    fn what_is_no_percentage_or_nothing_or_more_than_all_is_refused() {
        for text in [
            "",
            "%",
            "1",
            "0.01",
            "0%",
            "0.0%",
            "101%",
            "100.0001%",
            "-1%",
            "+1%",
            "1,5%",
            ".5%",
            "5.%",
            "1.00001%",
            "1 %",
            "1%%",
            "99999999999%",
        ] {
            assert_eq!(TraceShare::parse(text), None, "{text}");
        }
    }

    #[test]
    fn all_traces_are_all_and_a_share_is_about_that_share() {
        let mut ids: Vec<_> = evenly_spread(20_000).collect();
        ids.extend([NonZeroU128::MIN, NonZeroU128::MAX].map(TraceId));
        let taken = |share: TraceShare| ids.iter().filter(|id| share.takes(**id)).count();
        assert_eq!(taken(TraceShare::ALL), ids.len());
        assert!((1_700..2_300).contains(&taken(share("10%"))), "{}", taken(share("10%")));
        assert!(taken(share("0.0001%")) < 10);
    }

    #[test]
    fn a_larger_share_holds_what_a_smaller_one_does() {
        assert!(evenly_spread(5_000).filter(|id| share("1%").takes(*id)).all(|id| share("2%").takes(id)));
    }
}
