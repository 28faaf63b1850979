//! The machine's own clock and randomness, and the sealing of secrets.

pub mod sealed_box;
pub mod vault;

use std::cell::Cell;
use std::time::{SystemTime, UNIX_EPOCH};

use quita_domain::time::Timestamp;
use quita_ports::{Clock, Dice, Ids};
use thiserror::Error;
use uuid::Uuid;

/// The machine's wall clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the port's one real implementation")]
    fn now(&self) -> Timestamp {
        // A clock before 1970 is wrong anyway; the doctor reports it.
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Fresh UUIDs of version 7, ascending within this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemIds;

impl Ids for SystemIds {
    fn fresh(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// Fast random numbers, from a generator per thread. Not for secrets: use [`random_bytes`] for those.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDice;

thread_local! {
    // Without a seed, every thread would produce the same numbers. Nothing worse happens, so this is no error.
    static STATE: Cell<u64> = Cell::new(getrandom::u64().unwrap_or_default());
}

impl Dice for SystemDice {
    /// SplitMix64 (Steele, Lea and Flood, 2014).
    fn roll(&self) -> u64 {
        STATE.with(|state| {
            let next = state.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
            state.set(next);
            let mixed = (next ^ (next >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        })
    }
}

/// Error of an operating system that returned no random bytes.
#[derive(Debug, Clone, Copy, Error)]
#[error("the operating system gave no random bytes: {0}")]
pub struct NoRandomness(getrandom::Error);

/// Returns unpredictable bytes, for keys, secrets and tokens.
///
/// # Errors
/// [`NoRandomness`] if the operating system has none; no secret may be created then.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(NoRandomness)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_clock_is_in_this_century() {
        let now = SystemClock.now();
        let bounds = ["2026-01-01T00:00:00Z", "2100-01-01T00:00:00Z"].map(|at| Timestamp::parse(at).unwrap());
        assert!(bounds[0] < now && now < bounds[1], "{now}");
    }

    #[test]
    fn ids_ascend_and_are_of_version_seven() {
        let ids: Vec<Uuid> = (0..1000).map(|_| SystemIds.fresh()).collect();
        assert!(ids.is_sorted_by(|earlier, later| earlier < later));
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }

    #[test]
    fn dice_of_every_thread_fall_differently_and_evenly() {
        let rolls = |count: usize| (0..count).map(|_| SystemDice.roll()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(move || rolls(1000))).collect();
        let thrown: BTreeSet<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(thrown.len(), 4000);
        let upper_half = thrown.iter().filter(|roll| **roll > u64::MAX / 2).count();
        assert!((1700..2300).contains(&upper_half), "{upper_half}");
    }

    #[test]
    fn random_bytes_differ() {
        assert_ne!(random_bytes::<32>().unwrap(), random_bytes::<32>().unwrap());
    }
}
