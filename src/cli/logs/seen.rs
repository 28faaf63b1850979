//! Refusals that were printed already.

use std::collections::{HashSet, VecDeque};

use super::refusal::Refusal;

/// Maximum number of remembered refusals: those of a hundred nodes. Behind a load balancer another node may answer each
/// time.
const REMEMBERED: usize = 10_000;

/// Refusals that were in an earlier answer.
#[derive(Default)]
pub(super) struct Seen {
    known: HashSet<Refusal>,
    /// Refusals in the order in which they were seen.
    order: VecDeque<Refusal>,
}

impl Seen {
    /// Returns the refusals that were in no earlier answer, in their order.
    pub(super) fn new_of(&mut self, refusals: Vec<Refusal>) -> Vec<Refusal> {
        let new: Vec<_> = refusals.into_iter().filter(|refusal| self.known.insert(refusal.clone())).collect();
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
    use super::super::refusal::Page;
    use super::*;

    fn refusal(id: usize) -> Refusal {
        let answer = format!(
            r#"{{"data":[{{"requestId":"r{id}","at":"","method":"","route":"","statusCode":400,"code":"","message":"",
            "fields":[],"keyId":""}}]}}"#
        );
        Page::parse(&answer).ok().unwrap().refusals.remove(0)
    }

    #[test]
    fn what_an_earlier_answer_had_is_not_new() {
        let mut seen = Seen::default();
        assert_eq!(seen.new_of(vec![refusal(1), refusal(2)]), [refusal(1), refusal(2)]);
        assert_eq!(seen.new_of(vec![refusal(2), refusal(3)]), [refusal(3)]);
        assert_eq!(seen.new_of(vec![refusal(9)]), [refusal(9)], "another node answers");
        assert!(seen.new_of(vec![refusal(1), refusal(3)]).is_empty());
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_too_many() {
        let mut seen = Seen::default();
        seen.new_of((0..REMEMBERED + 1).map(refusal).collect());
        assert_eq!((seen.known.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
        assert_eq!(seen.new_of(vec![refusal(0), refusal(REMEMBERED)]), [refusal(0)]);
    }
}
