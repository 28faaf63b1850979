//! Ledger of the clients: their requests and the answers.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A creation, by the reference that the client chose: one reference for each intended payment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Intent {
    pub(crate) cents: u64,
    pub(crate) has_key: bool,
    pub(crate) tries: u32,
    /// Ids in 2xx answers.
    pub(crate) ids: BTreeSet<String>,
}

/// A promise about an operation: the client received a 2xx.
#[derive(Debug, Clone)]
pub(crate) enum Promise {
    Cancelled,
    Captured,
    Refunded { refund_id: String, amount: String, status: String },
}

/// The ledger of the clients.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) intents: RefCell<BTreeMap<String, Intent>>,
    pub(crate) promises: RefCell<Vec<(String, Promise)>>,
    /// Status, amount and refunded sum that were seen, by payment and version.
    seen: RefCell<BTreeMap<(String, u64), [String; 3]>>,
    pub(crate) violations: RefCell<Vec<String>>,
    pub(crate) answers: RefCell<BTreeMap<u16, u64>>,
    pub(crate) no_answer: RefCell<u64>,
    /// Current requests of clients, each with the number of times it was sent.
    asking: RefCell<BTreeMap<String, u32>>,
    pub(crate) reads: Cell<u64>,
    /// Reads that returned an older version than an earlier answer to any client.
    pub(crate) stale_reads: Cell<u64>,
}

impl Told {
    pub(crate) fn violation(&self, text: String) {
        self.violations.borrow_mut().push(text);
    }

    pub(crate) fn answered(&self, status: Option<u16>) {
        match status {
            Some(status) => *self.answers.borrow_mut().entry(status).or_default() += 1,
            None => *self.no_answer.borrow_mut() += 1,
        }
    }

    /// Records that a client sends this request once more.
    pub(crate) fn asks(&self, what: &str) {
        *self.asking.borrow_mut().entry(what.to_owned()).or_default() += 1;
    }

    /// Records that the client got its answer, or gave up.
    pub(crate) fn ends(&self, what: &str) {
        self.asking.borrow_mut().remove(what);
    }

    /// Returns some of the requests that clients wait for, with the number of times they were sent.
    pub(crate) fn waiting(&self) -> Vec<(String, u32)> {
        self.asking.borrow().iter().take(10).map(|(what, times)| (what.clone(), *times)).collect()
    }

    /// Records that a payment was read on any node.
    pub(crate) fn read(&self, is_stale: bool) {
        self.reads.set(self.reads.get() + 1);
        self.stale_reads.set(self.stale_reads.get() + u64::from(is_stale));
    }

    /// Records a 2xx to a creation.
    pub(crate) fn created(&self, reference: &str, record: &Value) {
        let id = record["transactionId"].as_str().unwrap_or_default().to_owned();
        let mut intents = self.intents.borrow_mut();
        let intent = intents.entry(reference.to_owned()).or_default();
        let expected = decimal(intent.cents);
        if record["amount"] != expected.as_str() || record["externalReference"] != reference {
            self.violation(format!("{reference}: {expected} was asked for, and told was {record}"));
        }
        intent.ids.insert(id);
        if intent.ids.len() > 1 {
            self.violation(format!("{reference}: replays name several payments: {:?}", intent.ids));
        }
        self.saw(record);
    }

    /// Records a payment that was read anywhere.
    pub(crate) fn saw(&self, record: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let key = (text(&record["transactionId"]), record["version"].as_u64().unwrap_or(0));
        let now = ["status", "amount", "refundedAmount"].map(|name| text(&record[name]));
        let mut seen = self.seen.borrow_mut();
        let before = seen.entry(key.clone()).or_insert_with(|| now.clone());
        if *before != now {
            self.violation(format!("{key:?} was seen as {before:?} and as {now:?}"));
        }
    }

    /// Returns the highest version of a payment in any answer.
    pub(crate) fn highest_version(&self, id: &str) -> Option<u64> {
        let from = (id.to_owned(), 0);
        let to = (id.to_owned(), u64::MAX);
        self.seen.borrow().range(from..=to).next_back().map(|((_, version), _)| *version)
    }
}

/// Writes cents in the notation of the records.
pub(crate) fn decimal(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// Reads the cents of an amount in the notation of the records.
pub(crate) fn cents(amount: &Value) -> u64 {
    let digits: String = amount.as_str().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}
