//! Requests that have already been printed.

use std::collections::{HashSet, VecDeque};

use super::logged_request::LoggedRequest;

/// Maximum number of remembered entries: those of 25 nodes. Behind a load balancer, each poll may reach another node.
const REMEMBERED: usize = 10_000;

/// Requests that were in an earlier answer.
#[derive(Default)]
pub(super) struct KnownRequests {
    known: HashSet<LoggedRequest>,
    /// Requests in the order in which they were seen.
    order: VecDeque<LoggedRequest>,
}

impl KnownRequests {
    /// Returns the entries that were in no earlier answer, in order.
    pub(super) fn new_of(&mut self, entries: Vec<LoggedRequest>) -> Vec<LoggedRequest> {
        let new: Vec<_> = entries.into_iter().filter(|entry| self.known.insert(entry.clone())).collect();
        self.order.extend(new.iter().cloned());
        while self.order.len() > REMEMBERED {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::super::logged_request::RequestLog;
    use super::*;

    fn refusal(id: usize) -> LoggedRequest {
        let answer = format!(
            r#"{{"data":[{{"requestId":"r{id}","at":"","method":"","route":"","statusCode":400,"code":"","message":"",
            "fields":[],"details":[],"keyId":""}}],"ignored":[]}}"#
        );
        RequestLog::parse(&answer).ok().unwrap().entries.remove(0)
    }

    #[test]
    fn what_an_earlier_answer_had_is_not_new() {
        let mut seen = KnownRequests::default();
        assert_eq!(seen.new_of(vec![refusal(1), refusal(2)]), [refusal(1), refusal(2)]);
        assert_eq!(seen.new_of(vec![refusal(2), refusal(3)]), [refusal(3)]);
        assert_eq!(seen.new_of(vec![refusal(9)]), [refusal(9)], "another node answers");
        assert!(seen.new_of(vec![refusal(1), refusal(3)]).is_empty());
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_too_many() {
        let mut seen = KnownRequests::default();
        seen.new_of((0..REMEMBERED + 1).map(refusal).collect());
        assert_eq!((seen.known.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(seen.new_of(vec![refusal(0), refusal(REMEMBERED)]), [refusal(0)]);
    }
}
