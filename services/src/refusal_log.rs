//! Last refused requests of each merchant, as this node saw them: the first place where an integrator looks.
//!
//! They are kept in memory only: a refused request changes nothing, so it must not cost a write.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use quita_domain::identity::{MerchantId, Mode, Owner};
use quita_domain::time::Timestamp;

/// Maximum number of refusals kept for each merchant in each mode.
const KEPT: usize = 100;

/// Refused request. It holds the names of fields, and none of the values that were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Time of the response.
    pub at: Timestamp,
    /// Id of the request, as the response has it.
    pub request_id: String,
    /// Name of the method.
    pub method: &'static str,
    /// Address without its ids: `/pay/payments/{id}`. Of an unknown one, the words of the path.
    pub route: String,
    /// Status of the response.
    pub status: u16,
    /// Code of the response.
    pub code: &'static str,
    /// Wrong fields, in the order of the response.
    pub fields: Vec<String>,
    /// Message of the response.
    pub message: String,
    /// Id of the key that it came with.
    pub key_id: String,
}

type Of = (MerchantId, Mode);

/// Log of the last refusals.
#[derive(Default)]
pub struct RefusalLog {
    kept: Mutex<HashMap<Of, VecDeque<Refusal>>>,
}

impl RefusalLog {
    /// Keeps a refusal, in place of the oldest one if the log is full.
    pub fn keep(&self, owner: &Owner, refusal: Refusal) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let own = kept.entry((owner.merchant.clone(), owner.mode)).or_default();
        if own.len() >= KEPT {
            own.pop_front();
        }
        own.push_back(refusal);
    }

    /// Returns the last refusals of a merchant, newest first.
    pub fn newest(&self, merchant: &MerchantId, mode: Mode, count: usize) -> Vec<Refusal> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let own = kept.get(&(merchant.clone(), mode));
        own.into_iter().flat_map(|own| own.iter().rev()).take(count).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::ApplicationName;

    use super::*;

    fn refusal(number: usize) -> Refusal {
        Refusal {
            at: Timestamp::from_millis(0),
            request_id: number.to_string(),
            method: "POST",
            route: "/pay/payments".into(),
            status: 422,
            code: "validation_failed",
            fields: vec!["amount".into()],
            message: "amount: must be an integer".into(),
            key_id: "k".into(),
        }
    }

    fn owner(merchant: &str, mode: Mode) -> Owner {
        let merchant = MerchantId::new(merchant);
        Owner { merchant, application: ApplicationName::new("main"), mode }
    }

    #[test]
    fn the_newest_come_first_and_the_oldest_make_room() {
        let log = RefusalLog::default();
        for number in 0..KEPT + 3 {
            log.keep(&owner("shop", Mode::Test), refusal(number));
        }
        let shown = log.newest(&owner("shop", Mode::Test).merchant, Mode::Test, KEPT + 3);
        assert_eq!(shown.len(), KEPT);
        assert_eq!(shown.first().unwrap().request_id, (KEPT + 2).to_string());
        assert_eq!(shown.last().unwrap().request_id, "3");
    }

    #[test]
    fn a_merchant_sees_its_own_refusals_of_one_mode() {
        let log = RefusalLog::default();
        log.keep(&owner("shop", Mode::Test), refusal(1));
        log.keep(&owner("other", Mode::Test), refusal(2));
        log.keep(&owner("shop", Mode::Live), refusal(3));
        let shown = log.newest(&owner("shop", Mode::Test).merchant, Mode::Test, KEPT);
        assert_eq!(shown, vec![refusal(1)]);
    }
}
