//! The last messages of one actor, for the page that shows it. Small: there may be a million of these.

use std::time::Duration;

use crate::limits::MESSAGES_REMEMBERED;

/// Value for "still being handled".
const NOT_OVER: u32 = u32::MAX;

/// Remembers the last messages. One array per field: a quarter smaller than an array of structs.
#[derive(Default)]
pub(crate) struct Trail {
    /// Thin references to names.
    names: [Option<&'static &'static str>; MESSAGES_REMEMBERED],
    /// Milliseconds without the highest bits: messages old enough to need those are no longer in the trail.
    at_ms: [u32; MESSAGES_REMEMBERED],
    waited_us: [u32; MESSAGES_REMEMBERED],
    took_us: [u32; MESSAGES_REMEMBERED],
    /// Index of the next message.
    next: u8,
}

/// One message that an actor began to handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    /// Time since handling began.
    pub(crate) ago: Duration,
    pub(crate) waited: Duration,
    /// `None` while it is being handled.
    pub(crate) took: Option<Duration>,
}

impl Trail {
    /// Records that a message was opened, `at` after the common start of all times.
    pub(crate) fn begin(&mut self, name: &'static &'static str, at: Duration, waited: Duration) {
        let place = usize::from(self.next);
        put(&mut self.names, place, Some(name));
        put(&mut self.at_ms, place, wrapped_ms(at));
        put(&mut self.waited_us, place, micros(waited));
        put(&mut self.took_us, place, NOT_OVER);
        self.next =
            if place.saturating_add(1) < MESSAGES_REMEMBERED { self.next.saturating_add(1) } else { 0 };
    }

    /// Records that the message opened last was handled. An actor with a trail handles one at a time.
    pub(crate) fn end(&mut self, took: Duration) {
        let last = usize::from(self.next).checked_sub(1).unwrap_or(MESSAGES_REMEMBERED - 1);
        put(&mut self.took_us, last, micros(took));
    }

    /// Returns the remembered messages, newest first.
    pub(crate) fn steps(&self, now: Duration) -> Vec<Step> {
        let newer = 0..usize::from(self.next);
        let older = usize::from(self.next)..MESSAGES_REMEMBERED;
        let newest_first = newer.rev().chain(older.rev());
        newest_first.filter_map(|place| self.step(place, wrapped_ms(now))).collect()
    }

    fn step(&self, place: usize, now_ms: u32) -> Option<Step> {
        let name = **self.names.get(place)?.as_ref()?;
        let at_ms = self.at_ms.get(place)?;
        let took_us = self.took_us.get(place).copied().filter(|took| *took != NOT_OVER);
        Some(Step {
            name,
            ago: Duration::from_millis(now_ms.wrapping_sub(*at_ms).into()),
            waited: Duration::from_micros(self.waited_us.get(place).copied()?.into()),
            took: took_us.map(|micros| Duration::from_micros(micros.into())),
        })
    }
}

fn put<T>(places: &mut [T], place: usize, value: T) {
    if let Some(held) = places.get_mut(place) {
        *held = value;
    }
}

/// Returns the low 32 bits of the milliseconds.
fn wrapped_ms(time: Duration) -> u32 {
    let ms = time.as_secs().wrapping_mul(1_000).wrapping_add(time.subsec_millis().into());
    u32::try_from(ms & u64::from(u32::MAX)).unwrap_or_default()
}

/// Returns microseconds, saturating at about 71 minutes.
fn micros(time: Duration) -> u32 {
    let micros = time.as_secs().saturating_mul(1_000_000).saturating_add(time.subsec_micros().into());
    u32::try_from(micros).unwrap_or(u32::MAX).min(NOT_OVER - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn the_last_eight_are_remembered_the_newest_first() {
        let mut trail = Trail::default();
        assert_eq!(trail.steps(ms(0)), []);
        for number in 1..=20 {
            trail.begin(&"execute", ms(1_000 * number), ms(number));
            if number < 20 {
                trail.end(ms(10 * number));
            }
        }
        let steps = trail.steps(ms(21_000));
        let step = |number| Step {
            name: "execute",
            ago: ms(21_000 - 1_000 * number),
            waited: ms(number),
            took: (number < 20).then(|| ms(10 * number)),
        };
        assert_eq!(steps, (13..=20).rev().map(step).collect::<Vec<_>>());
    }

    #[test]
    fn times_are_right_when_the_milliseconds_overflow() {
        let mut trail = Trail::default();
        let at = ms(u64::from(u32::MAX) - 10);
        trail.begin(&"read", at, Duration::from_secs(100_000));
        let step = trail.steps(at + ms(5_000))[0];
        assert_eq!((step.ago, step.took), (ms(5_000), None));
        assert!(step.waited > Duration::from_secs(4_000), "as long as can be told");
    }

    #[test]
    fn a_trail_is_small() {
        assert!(size_of::<Trail>() <= 168, "{}", size_of::<Trail>());
    }
}
