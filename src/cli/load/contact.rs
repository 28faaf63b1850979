//! Contact with the service: the times in which it did not answer, and the calls lost in them.

use std::time::{Duration, Instant};

use quita_domain::time::Timestamp;
use quita_machine::SystemClock;
use quita_ports::Clock;

use super::measures::millis;
use super::reply::{NoAnswer, Reply};
use super::troubles::{Absence, Freezes, OwnPauses, StoreRefusals};

/// Time without any answer after which the service counts as frozen, if calls are in progress.
const SILENCE: Duration = Duration::from_secs(3);

/// Time within which mixed answers, of a proxy and of the service, prove that several servers are behind the proxy.
const MIXED_WITHIN: Duration = Duration::from_secs(5);

/// Time without a tick of its own after which the load tester itself counts as paused.
const OWN_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of absences that are kept.
const MAX_ABSENCES: usize = 20;

/// Record of when the service answered.
#[derive(Debug)]
pub(super) struct Contact {
    start: Instant,
    started_at: Timestamp,
    /// Start of the newest call that was answered.
    proof: Option<Instant>,
    /// Time of the last answer.
    answered_at: Option<Instant>,
    load_end: Option<Instant>,
    loss: Option<Loss>,
    ended: Vec<Absence>,
    /// Absences beyond those that are kept.
    left_out: u64,
    cut: u64,
    /// Calls in progress.
    calls: u64,
    /// Time since which calls have been in progress without any answer.
    silent_since: Option<Instant>,
    freezes: Option<Freezes>,
    store_refusals: Option<StoreRefusals>,
    /// Time of the last answer reporting that the store is out of reach.
    store_refused_at: Option<Instant>,
    /// Last time at which a process of the service was known to be away, or at which the service came back.
    away_until: Option<Instant>,
    /// Last tick of the load tester itself. Absent before the first.
    turned_at: Option<Instant>,
    own_pauses: Option<OwnPauses>,
    /// Time in which the service did not answer until it answered again, and the part of it after the load.
    lost: Duration,
    lost_after_load: Duration,
}

/// Time since which no call was answered.
#[derive(Debug)]
struct Loss {
    at: Instant,
    cause: NoAnswer,
    /// True if nobody listened, or if a final probe had no answer either. Until then, it may be a single broken
    /// connection.
    is_certain: bool,
    /// Calls of the run that were in progress and had no answer.
    cut: u64,
}

impl Loss {
    /// Marks the loss as certain, and moves its start to that of the silence: the first failed call had been waiting
    /// already.
    fn is_certain_since(&mut self, since: Instant) {
        self.is_certain = true;
        self.at = self.at.min(since);
    }
}

impl Contact {
    /// Creates the record of a run that starts now.
    pub(super) fn new(start: Instant) -> Self {
        let started_at = SystemClock.now();
        Self {
            start,
            started_at,
            proof: None,
            answered_at: None,
            load_end: None,
            loss: None,
            ended: Vec::new(),
            left_out: 0,
            cut: 0,
            calls: 0,
            silent_since: None,
            freezes: None,
            store_refusals: None,
            store_refused_at: None,
            away_until: None,
            turned_at: None,
            own_pauses: None,
            lost: Duration::ZERO,
            lost_after_load: Duration::ZERO,
        }
    }

    /// Records a tick of the load tester's own clock. After the first, a long time without ticks is a pause of its own.
    pub(super) fn tick(&mut self, now: Instant) {
        self.turn(now);
        self.turned_at = Some(now);
    }

    /// Returns the times in which the load tester itself stood still.
    pub(super) fn own_pauses(&self) -> Option<OwnPauses> {
        self.own_pauses
    }

    /// Records that a call starts.
    pub(super) fn began(&mut self, now: Instant) {
        self.turn(now);
        self.calls += 1;
        self.silent_since.get_or_insert(now);
    }

    /// Records that a call of the load ends without being sent.
    pub(super) fn gave_up(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }

    /// Records that the load has ended. From now on, calls are only occasional.
    pub(super) fn load_ended(&mut self, now: Instant) {
        self.load_end = Some(now);
        let silent_since = self.long_silence(now);
        // A single hanging call may be one broken connection; several without any answer are not.
        if let Some((since, loss)) = silent_since.zip(self.loss.as_mut().filter(|loss| loss.cut > 1)) {
            loss.is_certain_since(since);
        }
        self.silent_since = None;
    }

    /// Returns true if every payment that was due has been created or has failed.
    pub(super) fn has_load_ended(&self) -> bool {
        self.load_end.is_some()
    }

    /// Records that the run is being stopped. A service that has long been silent is away.
    pub(super) fn stopped(&mut self, now: Instant) {
        let Some(at) = self.long_silence(now) else { return };
        let loss = Loss { at, cause: NoAnswer::StillWaiting, is_certain: true, cut: 0 };
        self.loss.get_or_insert(loss).is_certain_since(at);
    }

    /// Returns the times in which the service was frozen.
    pub(super) fn freezes(&self) -> Option<Freezes> {
        self.freezes
    }

    /// Records an answer reporting that the service's store is out of reach.
    pub(super) fn store_refused(&mut self, is_creation: bool, began: Instant, now: Instant) {
        let [from_ms, until_ms] = [began, now].map(|at| millis(at.saturating_duration_since(self.start)));
        let new = StoreRefusals { count: 0, creations: 0, from_ms, until_ms };
        let refusals = self.store_refusals.get_or_insert(new);
        refusals.count += 1;
        refusals.creations += u64::from(is_creation);
        refusals.from_ms = refusals.from_ms.min(from_ms);
        refusals.until_ms = refusals.until_ms.max(until_ms);
        self.store_refused_at = self.store_refused_at.max(Some(now));
    }

    /// Returns the time of the last answer reporting that the store is out of reach.
    pub(super) fn store_refused_at(&self) -> Option<Instant> {
        self.store_refused_at
    }

    /// Returns the last time at which a process of the service was known to be away, or at which the service came back.
    pub(super) fn away_until(&self) -> Option<Instant> {
        self.away_until
    }

    /// Returns the answers reporting that the service's store is out of reach.
    pub(super) fn store_refusals(&self) -> Option<StoreRefusals> {
        self.store_refusals
    }

    /// Returns the time in which the service did not answer, if it answered again.
    pub(super) fn lost(&self) -> Duration {
        self.lost
    }

    /// Returns the part of that time after the load.
    pub(super) fn lost_after_load(&self) -> Duration {
        self.lost_after_load
    }

    /// Records the reply to a call that began at this time. If `is_of_the_run`, its loss is counted.
    pub(super) fn replied(&mut self, reply: Reply, began: Instant, now: Instant, is_of_the_run: bool) {
        self.turn(now);
        self.calls = self.calls.saturating_sub(1);
        let cause = match reply {
            Reply::Status(_) | Reply::Missing(NoAnswer::Unreadable) => return self.answered(began, now),
            // The load tester ran out of a resource; the service was not called.
            Reply::Missing(NoAnswer::NoSocket) => return,
            // A proxy answered, which reveals nothing about the service behind it.
            Reply::Missing(NoAnswer::ProxyNotFound | NoAnswer::ProxyLimit) => {
                self.silent_since = (self.calls > 0).then_some(now);
                return;
            }
            Reply::Missing(cause) => cause,
        };
        if !cause.is_time_out() {
            // One process of several may have died, which is no absence of the service.
            self.away_until = Some(now);
        }
        if self.calls == 0 && !cause.is_time_out() {
            // Nobody waits until the next call.
            self.silent_since = None;
        }
        // A call that timed out had no answer since its start; any other had none until now.
        let at = if cause.is_time_out() { began } else { now };
        let is_overtaken = self.proof.is_some_and(|proof| proof > at);
        if is_overtaken && !(cause.is_time_out() && self.is_mostly_silent(began, now)) {
            return;
        }
        // A proxy tries its servers for seconds. If any call was answered meanwhile, another server is there.
        if cause.is_of_proxy() && self.answered_at.is_some_and(|answered| answered > began) {
            return;
        }
        // The service was there until its last answer, so absences never overlap.
        let at = self.answered_at.map_or(at, |answered| at.max(answered));
        let loss = self.loss.get_or_insert(Loss { at, cause, is_certain: false, cut: 0 });
        loss.at = loss.at.min(at);
        if cause.is_certain() {
            loss.cause = cause;
            loss.is_certain = true;
        } else if is_of_the_run {
            loss.cut += 1;
        }
    }

    /// Records that a call had no answer and is repeated, so that it remains in progress.
    pub(super) fn found_missing(&mut self, reply: Reply, began: Instant, now: Instant) {
        self.calls += 1;
        self.replied(reply, began, now, false);
    }

    /// Returns true if the last calls had no answer.
    pub(super) fn is_lost(&self) -> bool {
        self.loss.is_some()
    }

    /// Returns the reason for which the service is known to be away. `None` while it answers, or may answer.
    pub(super) fn is_away(&self) -> Option<NoAnswer> {
        self.loss.as_ref().filter(|loss| loss.is_certain).map(|loss| loss.cause)
    }

    /// Records that a final probe had no answer either.
    pub(super) fn confirm_loss(&mut self) {
        if let Some(loss) = &mut self.loss {
            loss.is_certain = true;
        }
    }

    /// Returns how long the service has been away or silent.
    pub(super) fn away_for(&self, now: Instant) -> Option<Duration> {
        let lost_at = self.loss.as_ref().filter(|loss| loss.is_certain).map(|loss| loss.at);
        let since = lost_at.or_else(|| self.long_silence(now))?;
        Some(now.saturating_duration_since(since))
    }

    /// Returns every absence, including the current one.
    pub(super) fn absences(&self) -> Vec<Absence> {
        let lasting = self.loss.as_ref().filter(|loss| loss.is_certain).map(|loss| self.absence(loss, None));
        self.ended.iter().cloned().chain(lasting).collect()
    }

    /// Returns the number of absences that ended and are not listed.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Counts the calls of the run that were in progress when the service went away.
    pub(super) fn cut(&self) -> u64 {
        self.cut + self.loss.as_ref().filter(|loss| loss.is_certain).map_or(0, |loss| loss.cut)
    }

    fn answered(&mut self, began: Instant, now: Instant) {
        self.proof = self.proof.max(Some(began));
        self.answered_at = Some(now);
        let silent_since = self.long_silence(now);
        self.silent_since = (self.calls > 0).then_some(now);
        if let Some(since) = silent_since {
            match &mut self.loss {
                // This is more than one broken connection, because nothing at all was answered.
                Some(loss) => loss.is_certain_since(since),
                None => self.froze(since, now),
            }
        }
        // An answer to a call from before the loss may have been on its way already.
        let Some(loss) = self.loss.take_if(|loss| began > loss.at).filter(|loss| loss.is_certain) else {
            return;
        };
        self.cut += loss.cut;
        self.away_until = Some(now);
        if loss.cause.is_of_proxy() && now.saturating_duration_since(loss.at) < MIXED_WITHIN {
            // One server behind the proxy is away, while another one answers.
            return;
        }
        self.lose(loss.at, now);
        if self.ended.len() < MAX_ABSENCES {
            self.ended.push(self.absence(&loss, Some(now)));
        } else {
            self.left_out += 1;
        }
    }

    /// Returns true if nothing was answered for at least nine tenths of a call's wait. With several clients, a call of
    /// a freeze may have begun shortly before one that was still answered.
    fn is_mostly_silent(&self, began: Instant, now: Instant) -> bool {
        let answered_after = |answered: Instant| answered.saturating_duration_since(began);
        let wait = now.saturating_duration_since(began);
        self.answered_at.is_none_or(|answered| answered_after(answered) <= wait / 10)
    }

    /// Returns the time since which calls have been waiting without any answer, if that is long ago.
    fn long_silence(&self, now: Instant) -> Option<Instant> {
        self.silent_since.filter(|since| now.saturating_duration_since(*since) > SILENCE)
    }

    /// Records that the load tester is running. A long time since its last tick was its own pause.
    fn turn(&mut self, now: Instant) {
        let Some(turned_at) = self.turned_at else { return };
        self.turned_at = Some(now);
        let length = now.saturating_duration_since(turned_at);
        if length > OWN_PAUSE {
            let until_ms = millis(now.saturating_duration_since(self.start));
            let none = OwnPauses { count: 0, total_ms: 0, last_until_ms: until_ms };
            let pauses = self.own_pauses.unwrap_or(none);
            let count = pauses.count + 1;
            let total_ms = pauses.total_ms + millis(length);
            self.own_pauses = Some(OwnPauses { count, total_ms, last_until_ms: until_ms });
            // The service may have been answering all the time.
            self.silent_since = self.silent_since.map(|_| now);
        }
    }

    fn lose(&mut self, since: Instant, now: Instant) {
        self.lost += now.saturating_duration_since(since);
        let after_load = self.load_end.map(|end| now.saturating_duration_since(since.max(end)));
        self.lost_after_load += after_load.unwrap_or_default();
    }

    fn froze(&mut self, since: Instant, now: Instant) {
        self.lose(since, now);
        let from_ms = millis(since.saturating_duration_since(self.start));
        let length_ms = millis(now.saturating_duration_since(since));
        let freezes = self.freezes.get_or_insert(Freezes { count: 0, from_ms, length_ms });
        let count = freezes.count + 1;
        *freezes = if length_ms > freezes.length_ms {
            Freezes { count, from_ms, length_ms }
        } else {
            Freezes { count, ..*freezes }
        };
    }

    fn absence(&self, loss: &Loss, until: Option<Instant>) -> Absence {
        let since_start = |at: Instant| millis(at.saturating_duration_since(self.start));
        let from_ms = since_start(loss.at);
        Absence {
            from_ms,
            until_ms: until.map(since_start),
            since: self.started_at.plus_ms(from_ms),
            cause: loss.cause,
            is_after_load: self.load_end.is_some_and(|end| loss.at >= end),
            is_store_away: false,
        }
    }
}

#[cfg(test)]
mod tests;
