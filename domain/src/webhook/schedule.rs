//! Schedule of delivery attempts.

/// Waits before each attempt, in milliseconds: at once, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h.
pub const STEPS_MS: [u64; 8] = [0, 5_000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000, 36_000_000];

/// Time for which one attempt may hold a delivery before another node may try: the time-out plus a margin.
pub const LEASE_MS: u64 = TIME_OUT_MS + 5_000;

/// Time-out of a whole exchange with a receiver.
pub const TIME_OUT_MS: u64 = 15_000;

/// Returns the milliseconds until the next attempt after `made` attempts; `None` if there is none.
///
/// `dice` spreads the wait over ±20 %; a receiver's `Retry-After` is obeyed up to twice the step.
pub fn wait_ms(made: usize, retry_after_ms: Option<u64>, dice: u64) -> Option<u64> {
    let step = *STEPS_MS.get(made)?;
    let jittered = step * (80 + dice % 41) / 100;
    Some(jittered.max(retry_after_ms.unwrap_or(0).min(step * 2)))
}

/// Returns the longest wait of a delivery after `made` attempts: its lease, or the receiver's `Retry-After`.
pub fn longest_wait_ms(made: usize) -> u64 {
    STEPS_MS.get(made).map_or(LEASE_MS, |step| LEASE_MS.max(step * 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_stay_within_a_fifth_of_the_step() {
        for (made, step) in STEPS_MS.iter().enumerate().skip(1) {
            assert_eq!(wait_ms(made, None, 0), Some(step * 8 / 10));
            assert_eq!(wait_ms(made, None, 40), Some(step * 12 / 10));
        }
    }

    #[test]
    fn eight_attempts_and_no_more() {
        assert_eq!(wait_ms(8, None, 7), None);
    }

    #[test]
    fn retry_after_is_obeyed_up_to_twice_the_step() {
        assert_eq!(wait_ms(1, Some(7_000), 0), Some(7_000));
        assert_eq!(wait_ms(1, Some(1_000_000), 0), Some(10_000));
        assert_eq!(wait_ms(1, Some(u64::MAX), 0), Some(10_000));
    }
}
