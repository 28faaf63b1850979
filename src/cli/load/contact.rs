//! Contact with the service: the times in which it did not answer, and the calls that they cost.

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use quita_domain::time::Timestamp;
use quita_machine::SystemClock;
use quita_ports::Clock;
use serde::{Serialize, Serializer};

use super::measures::millis;
use super::reply::{NoAnswer, Reply};

/// Maximum number of absences that are kept.
const MAX_ABSENCES: usize = 20;

/// Record of when the service answered.
#[derive(Debug)]
pub(super) struct Contact {
    start: Instant,
    started_at: Timestamp,
    /// Start of the newest call that was answered.
    proof: Option<Instant>,
    loss: Option<Loss>,
    ended: Vec<Absence>,
    cut: u64,
}

/// Time since which no call was answered.
#[derive(Debug)]
struct Loss {
    at: Instant,
    cause: NoAnswer,
    /// True if nobody listened, or a last question had no answer either. Before that it may be one broken connection.
    is_certain: bool,
    /// Calls of the run that were under way and had no answer.
    cut: u64,
}

/// Time in which the service did not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Absence {
    /// Its beginning, from the start of the run.
    pub(super) from_ms: u64,
    /// Its end, likewise; absent if the service did not answer again.
    pub(super) until_ms: Option<u64>,
    /// Its beginning by the clock.
    #[serde(serialize_with = "as_text")]
    pub(super) since: Timestamp,
    /// Reason that a call had no answer.
    #[serde(serialize_with = "as_words")]
    pub(super) cause: NoAnswer,
}

impl Contact {
    /// Creates the record of a run that begins now.
    pub(super) fn new(start: Instant) -> Self {
        let started_at = SystemClock.now();
        Self { start, started_at, proof: None, loss: None, ended: Vec::new(), cut: 0 }
    }

    /// Records the reply to a call that began at that time. `is_of_the_run`: its loss is counted.
    pub(super) fn replied(&mut self, reply: Reply, began: Instant, now: Instant, is_of_the_run: bool) {
        let cause = match reply {
            Reply::Status(_) | Reply::Missing(NoAnswer::Unreadable) => return self.answered(began, now),
            // The load tester lacked something; the service was not asked.
            Reply::Missing(NoAnswer::NoSocket) => return,
            Reply::Missing(cause) => cause,
        };
        // A call that timed out had no answer since its start, any other until now.
        let at = if cause == NoAnswer::TimeOut { began } else { now };
        if self.proof.is_some_and(|proof| proof > at) {
            return;
        }
        let loss = self.loss.get_or_insert(Loss { at, cause, is_certain: false, cut: 0 });
        loss.at = loss.at.min(at);
        if cause == NoAnswer::ConnectionRefused {
            loss.cause = cause;
            loss.is_certain = true;
        } else if is_of_the_run {
            loss.cut += 1;
        }
    }

    /// Returns true if the last calls had no answer.
    pub(super) fn is_lost(&self) -> bool {
        self.loss.is_some()
    }

    /// Returns the reason why the service is known to be away. `None` while it answers, or may answer.
    pub(super) fn is_away(&self) -> Option<NoAnswer> {
        self.loss.as_ref().filter(|loss| loss.is_certain).map(|loss| loss.cause)
    }

    /// Records that a last question had no answer either.
    pub(super) fn confirm_loss(&mut self) {
        if let Some(loss) = &mut self.loss {
            loss.is_certain = true;
        }
    }

    /// Returns the time since which the service is known to be away.
    pub(super) fn away_for(&self, now: Instant) -> Option<Duration> {
        let loss = self.loss.as_ref().filter(|loss| loss.is_certain)?;
        Some(now.saturating_duration_since(loss.at))
    }

    /// Returns every absence, the one that lasts included.
    pub(super) fn absences(&self) -> Vec<Absence> {
        let lasting = self.loss.as_ref().filter(|loss| loss.is_certain).map(|loss| self.absence(loss, None));
        self.ended.iter().cloned().chain(lasting).collect()
    }

    /// Counts the calls of the run that were under way when the service went away.
    pub(super) fn cut(&self) -> u64 {
        self.cut + self.loss.as_ref().filter(|loss| loss.is_certain).map_or(0, |loss| loss.cut)
    }

    fn answered(&mut self, began: Instant, now: Instant) {
        self.proof = self.proof.max(Some(began));
        // An answer to a call from before the loss may have been on its way.
        let Some(loss) = self.loss.take_if(|loss| began > loss.at).filter(|loss| loss.is_certain) else {
            return;
        };
        self.cut += loss.cut;
        if self.ended.len() < MAX_ABSENCES {
            self.ended.push(self.absence(&loss, Some(now)));
        }
    }

    fn absence(&self, loss: &Loss, until: Option<Instant>) -> Absence {
        let since_start = |at: Instant| millis(at.saturating_duration_since(self.start));
        let from_ms = since_start(loss.at);
        Absence {
            from_ms,
            until_ms: until.map(since_start),
            since: self.started_at.plus_ms(from_ms),
            cause: loss.cause,
        }
    }
}

impl Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ms: u64| format!("{}.{} s", ms / 1_000, ms % 1_000 / 100);
        let (from, since, cause) = (seconds(self.from_ms), self.since, self.cause.as_str());
        match self.until_ms {
            None => {
                write!(
                    f,
                    "the service did not answer from {from} of the run on, until its end ({since}; {cause})"
                )
            }
            Some(until) => {
                let until = seconds(until);
                write!(f, "the service did not answer from {from} to {until} of the run ({since}; {cause})")
            }
        }
    }
}

fn as_text<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(time)
}

fn as_words<S: Serializer>(cause: &NoAnswer, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(cause.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: Reply = Reply::Status(200);
    const CLOSED: Reply = Reply::Missing(NoAnswer::ConnectionClosed);
    const REFUSED: Reply = Reply::Missing(NoAnswer::ConnectionRefused);
    const LATE: Reply = Reply::Missing(NoAnswer::TimeOut);

    /// Records calls of the run: reply, start and end in milliseconds.
    fn contact(calls: &[(Reply, u64, u64)]) -> Contact {
        let start = Instant::now();
        let mut contact = Contact::new(start);
        for &(reply, began, ended) in calls {
            let [began, ended] = [began, ended].map(|ms| start + Duration::from_millis(ms));
            contact.replied(reply, began, ended, true);
        }
        contact
    }

    fn times(contact: &Contact) -> Vec<(u64, Option<u64>)> {
        contact.absences().iter().map(|absence| (absence.from_ms, absence.until_ms)).collect()
    }

    #[test]
    fn a_service_that_is_killed_is_away_from_the_first_call_that_it_cut() {
        let calls = [(OK, 0, 5), (CLOSED, 90, 100), (OK, 95, 101), (REFUSED, 120, 121), (REFUSED, 130, 131)];
        let contact = contact(&calls);
        assert_eq!(times(&contact), [(100, None)], "an answer that was on its way proves nothing");
        assert_eq!((contact.cut(), contact.is_away()), (1, Some(NoAnswer::ConnectionRefused)));
        let said = contact.absences()[0].to_string();
        assert!(
            said.starts_with("the service did not answer from 0.1 s of the run on, until its end (20"),
            "{said}"
        );
        assert!(said.ends_with("connection refused)"), "{said}");
    }

    #[test]
    fn a_service_that_comes_back_was_away_until_then() {
        let calls = [(OK, 0, 5), (REFUSED, 1_000, 1_001), (OK, 3_000, 3_004), (REFUSED, 5_000, 5_001)];
        assert_eq!(times(&contact(&calls)), [(1_001, Some(3_004)), (5_001, None)]);
        let said = contact(&calls).absences()[0].to_string();
        assert!(said.starts_with("the service did not answer from 1.0 s to 3.0 s of the run (20"), "{said}");
    }

    #[test]
    fn one_broken_connection_is_no_absence() {
        for missing in [CLOSED, LATE] {
            let broken = contact(&[(OK, 0, 5), (missing, 10, 20), (OK, 30, 35)]);
            assert_eq!((times(&broken), broken.cut(), broken.is_lost()), (Vec::new(), 0, false));
        }
        let slow = contact(&[(OK, 500, 505), (LATE, 10, 30_010)]);
        assert!(!slow.is_lost(), "others were answered meanwhile");
        let own = contact(&[(OK, 0, 5), (Reply::Missing(NoAnswer::NoSocket), 10, 11)]);
        assert!(!own.is_lost());
    }

    #[test]
    fn a_service_that_hangs_is_away_once_a_last_question_has_no_answer() {
        let mut hung = contact(&[(OK, 0, 5), (LATE, 2_000, 32_000), (LATE, 1_000, 31_000)]);
        assert_eq!((times(&hung), hung.cut(), hung.is_lost()), (Vec::new(), 0, true));
        hung.confirm_loss();
        assert_eq!((times(&hung), hung.cut()), (vec![(1_000, None)], 2));
    }

    #[test]
    fn absences_without_number_take_no_memory_without_bound() {
        let calls: Vec<_> = (0..100)
            .flat_map(|time| [(REFUSED, time * 10, time * 10), (OK, time * 10 + 5, time * 10 + 6)])
            .collect();
        assert_eq!(contact(&calls).absences().len(), MAX_ABSENCES);
    }
}
