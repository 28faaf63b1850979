//! What the load tester itself costs.

use std::fs;

use serde::Serialize;

/// Microseconds in a tick of `/proc`, which Linux shows as hundredths of a second on every machine of today.
const TICK_US: u64 = 10_000;

/// Of the fields after the program's name: time in the program, and in the kernel for it.
const TIMES_AT: usize = 11;

/// Time on the processor, and for how many requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OwnCost {
    /// Time of every thread of this process.
    pub(super) cpu_us: u64,
    /// Requests sent and webhooks received.
    pub(super) requests: u64,
    /// One by the other.
    pub(super) cpu_us_per_request: u64,
}

impl OwnCost {
    /// The cost between two looks. `None` where the system does not say.
    pub(super) fn between(before: Option<u64>, after: Option<u64>, requests: u64) -> Option<Self> {
        let cpu_us = after?.checked_sub(before?)?;
        Some(Self { cpu_us, requests, cpu_us_per_request: cpu_us.checked_div(requests)? })
    }
}

/// Processor time of this process so far, in microseconds. `None` where the system does not say.
pub(super) fn cpu_us() -> Option<u64> {
    parse(&fs::read_to_string("/proc/self/stat").ok()?)
}

fn parse(stat: &str) -> Option<u64> {
    // The name is in brackets and may hold anything.
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
