//! Cost of the load tester itself.

use std::fs;

use serde::Serialize;

/// Microseconds per tick of `/proc`. Linux reports ticks of a hundredth of a second on all current machines.
pub(super) const TICK_US: u64 = 10_000;

/// Index, after the program's name, of the two fields with user and kernel time.
const TIMES_AT: usize = 11;

/// Processor time, and the number of requests that it served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnCost {
    /// Processor time of all threads of this process.
    pub(super) cpu_us: u64,
    /// Requests sent and webhooks received.
    pub(super) requests: u64,
    /// Processor time per request.
    pub(super) cpu_us_per_request: u64,
}

impl OwnCost {
    /// Returns the cost between two readings. `None` if the system does not provide them.
    pub(super) fn between(before: Option<u64>, after: Option<u64>, requests: u64) -> Option<Self> {
        let cpu_us = after?.checked_sub(before?)?;
        Some(Self { cpu_us, requests, cpu_us_per_request: cpu_us.checked_div(requests)? })
    }
}

/// Returns the processor time of this process so far, in microseconds. `None` if the system does not provide it.
pub(super) fn cpu_us() -> Option<u64> {
    parse(&fs::read_to_string("/proc/self/stat").ok()?)
}

fn parse(stat: &str) -> Option<u64> {
    // The name is in parentheses and may contain anything.
    let (_, fields) = stat.rsplit_once(") ")?;
    let times: Option<Vec<u64>> =
        fields.split(' ').skip(TIMES_AT).take(2).map(|time| time.parse().ok()).collect();
    let times = times.filter(|times| times.len() == 2)?;
    Some(times.iter().sum::<u64>().saturating_mul(TICK_US))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_times_are_found_behind_any_name() {
        let stat = "77 (a) b) S 1 77 77 0 -1 4194560 100 0 0 0 25 17 0 0 20 0 5 0 1000 1 2";
        assert_eq!(parse(stat), Some(420_000));
        for stat in ["", "77 (a) S 1", "77 (a) S 1 77 77 0 -1 4194560 100 0 0 0 x y 0"] {
            assert_eq!(parse(stat), None, "{stat}");
        }
    }

    #[test]
    fn the_cost_is_given_for_each_request_and_not_for_none() {
        let cost = OwnCost::between(Some(100), Some(1_100), 50).unwrap();
        assert_eq!((cost.cpu_us, cost.cpu_us_per_request), (1_000, 20));
        assert_eq!(OwnCost::between(Some(100), Some(1_100), 0), None);
        assert_eq!(OwnCost::between(None, Some(1), 1), None);
    }
}
