//! Heartbeats of other nodes, timed by this node's monotonic clock, and what they reveal about the other wall clocks.
//!
//! A heartbeat holds the time of its writer's wall clock. This node knows only between which two of its views the
//! heartbeat was written, so it knows the difference of the clocks to within the time between two views.

use std::collections::HashMap;
use std::time::Duration;

use quita_domain::control::Node;
use quita_domain::time::Timestamp;
use tokio::time::Instant;
use uuid::Uuid;

/// Difference of two clocks above which it is reported.
const DIFFERS_MS: i64 = 5_000;
/// Difference at which clocks agree again.
const AGREES_MS: i64 = 2_000;
/// Change of a difference that is reported again. It exceeds the variation of the measurement.
const DIFFERS_ANEW_MS: u64 = 15_000;

/// Time of a view of the nodes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ViewTime {
    /// Time before this node wrote its own heartbeat for the view.
    pub(crate) begun_at: Instant,
    /// Time at which the store had answered.
    pub(crate) read_at: Instant,
    /// The same by the wall clock.
    pub(crate) now: Timestamp,
    /// Time for which a live node may be silent.
    pub(crate) seen_within: Duration,
    /// Time between two views above which heartbeats could not be written.
    pub(crate) longest_gap: Duration,
    /// Milliseconds by which this node's clock is ahead of that of the store's server, if that is known.
    pub(crate) ahead_of_server_ms: Option<i64>,
}

/// Change of the difference between another node's clock and this one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockNews {
    /// It differs.
    Differs {
        /// Seconds by which the other one is ahead; negative if it is behind.
        ahead_s: i64,
    },
    /// It agrees again.
    Agrees,
}

#[derive(Debug)]
struct Heartbeat {
    /// Time of the writer's clock.
    written_at: Timestamp,
    /// Time at which this node saw it change.
    changed_at: Instant,
    /// The same by this node's wall clock.
    last_seen_at: Timestamp,
    /// True until it changes, if it was already old when this node first saw it.
    is_awaited: bool,
    clock: ClockDifference,
}

/// Difference of one clock from another.
#[derive(Debug, Default)]
struct ClockDifference {
    /// Milliseconds by which the clock is ahead, as far as that is known.
    ahead_ms: Option<i64>,
    /// Difference that was reported and has not ended.
    told_ms: Option<i64>,
}

/// Heartbeats of the other nodes.
#[derive(Debug, Default)]
pub(crate) struct Heartbeats {
    of: HashMap<Uuid, Heartbeat>,
    /// This node's clock, from that of the store's server.
    own_clock: ClockDifference,
    /// Beginning of the view before.
    last_begun_at: Option<Instant>,
}

impl Heartbeats {
    /// Records the heartbeats of a view. Returns the nodes whose clock began to differ, or agrees again.
    pub(crate) fn hear<'a>(
        &mut self,
        others: impl Iterator<Item = &'a Node>,
        time: &ViewTime,
    ) -> Vec<(Node, ClockNews)> {
        let last_begun_at = self.last_begun_at.replace(time.begun_at);
        // After a gap it is unknown when the heartbeat was written.
        let gap = last_begun_at.map(|begun_at| time.read_at.saturating_duration_since(begun_at));
        let gap = gap.filter(|gap| *gap <= time.longest_gap);
        let mut news = Vec::new();
        for node in others {
            let heartbeat = match self.of.get_mut(&node.id) {
                Some(heartbeat) => {
                    if heartbeat.written_at != node.seen_at {
                        heartbeat.change(node.seen_at, gap, time);
                    }
                    heartbeat
                }
                None => self.of.entry(node.id).or_insert(Heartbeat::first(node.seen_at, time)),
            };
            news.extend(heartbeat.clock.news().map(|news| (node.clone(), news)));
        }
        news
    }

    /// Records the comparison of this node's clock with that of the store's server. Returns a change to report.
    pub(crate) fn compare_with_server(&mut self, time: &ViewTime) -> Option<ClockNews> {
        self.own_clock.ahead_ms = time.ahead_of_server_ms.or(self.own_clock.ahead_ms);
        self.own_clock.news()
    }

    /// Returns the seconds by which this node's clock is ahead of the server's, if they differ by more than a few.
    pub(crate) fn own_clock_ahead_s(&self) -> Option<i64> {
        self.own_clock.shown_s()
    }

    /// Returns true if the heartbeat of this node has not changed for longer than a live node may be silent.
    pub(crate) fn is_silent(&self, id: Uuid, time: &ViewTime) -> bool {
        let changed_at = self.of.get(&id).map(|heartbeat| heartbeat.changed_at);
        changed_at.is_none_or(|at| time.read_at.saturating_duration_since(at) > time.seen_within)
    }

    /// Returns the time since this node saw the other one's heartbeat change.
    pub(crate) fn silent_for(&self, id: Uuid, now: Instant) -> Option<Duration> {
        self.of.get(&id).map(|heartbeat| now.saturating_duration_since(heartbeat.changed_at))
    }

    /// Returns true if the node's heartbeat looked old from the start, and has not changed since.
    pub(crate) fn is_awaited(&self, id: Uuid) -> bool {
        self.of.get(&id).is_some_and(|heartbeat| heartbeat.is_awaited)
    }

    /// Returns the time of the node's last heartbeat by this node's clock.
    pub(crate) fn last_seen_at(&self, id: Uuid) -> Option<Timestamp> {
        self.of.get(&id).map(|heartbeat| heartbeat.last_seen_at)
    }

    /// Returns the seconds by which the node's clock is ahead of this one's, if they differ by more than a few.
    pub(crate) fn clock_ahead_s(&self, id: Uuid) -> Option<i64> {
        self.of.get(&id)?.clock.shown_s()
    }

    /// Forgets all nodes except the wanted ones.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(&Uuid) -> bool) {
        self.of.retain(|id, _| is_wanted(id));
    }
}

impl Heartbeat {
    /// Creates the heartbeat of a node that is seen for the first time. Its age by the wall clocks may be wrong, so the
    /// node gets the time of some more heartbeats before it counts as silent.
    fn first(written_at: Timestamp, time: &ViewTime) -> Self {
        let age = Duration::from_millis(time.now.ms_since(written_at));
        // Its clock may be wrong, so a node that looks old gets the time of some heartbeats to be heard.
        let known_age = age.min(time.seen_within.saturating_sub(time.longest_gap));
        let ahead_ms = millis_between(time.now, written_at);
        Self {
            written_at,
            changed_at: time.read_at.checked_sub(known_age).unwrap_or(time.read_at),
            last_seen_at: written_at.min(time.now),
            is_awaited: age > time.seen_within,
            // It was written before it was read, so it can't be from a later time.
            clock: ClockDifference { ahead_ms: (ahead_ms > 0).then_some(ahead_ms), told_ms: None },
        }
    }

    /// Records a change since the view before, which was `gap` ago.
    fn change(&mut self, written_at: Timestamp, gap: Option<Duration>, time: &ViewTime) {
        self.written_at = written_at;
        self.changed_at = time.read_at;
        self.last_seen_at = time.now;
        self.is_awaited = false;
        let Some(gap) = gap else { return };
        let gap_ms = i64::try_from(gap.as_millis()).unwrap_or(i64::MAX);
        let least = millis_between(time.now, written_at);
        let most = least.saturating_add(gap_ms);
        // Within the uncertainty of the measurement the clocks count as equal.
        let may_agree = least <= 0 && most >= 0;
        self.clock.ahead_ms = Some(if may_agree { 0 } else { least.midpoint(most) });
    }
}

impl ClockDifference {
    /// Returns the seconds, if they are more than a few.
    fn shown_s(&self) -> Option<i64> {
        self.ahead_ms.filter(|ahead_ms| ahead_ms.abs() > DIFFERS_MS).map(seconds)
    }

    fn news(&mut self) -> Option<ClockNews> {
        let ahead_ms = self.ahead_ms?;
        let is_new = self.told_ms.is_none_or(|told_ms| told_ms.abs_diff(ahead_ms) > DIFFERS_ANEW_MS);
        if ahead_ms.abs() > DIFFERS_MS && is_new {
            self.told_ms = Some(ahead_ms);
            return Some(ClockNews::Differs { ahead_s: seconds(ahead_ms) });
        }
        // A lower limit than for the report, so that a difference near the limit is not reported repeatedly.
        let has_ended = ahead_ms.abs() <= AGREES_MS && self.told_ms.take().is_some();
        has_ended.then_some(ClockNews::Agrees)
    }
}

/// Returns the milliseconds from one time to another; negative if the other is earlier.
const fn millis_between(from: Timestamp, to: Timestamp) -> i64 {
    to.millis().saturating_sub(from.millis())
}

const fn seconds(millis: i64) -> i64 {
    millis / 1_000
}
