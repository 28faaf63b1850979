//! The banks' books: the actual movements of money, whatever was answered.

mod statement;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::bank_kind::BankKind;

pub(crate) use statement::{charged_back, refunded};

/// Card payments of amounts with these cents are refused.
pub(crate) const DECLINED_CENTS: u64 = 2;
/// Card payments of amounts with these cents are charged back after their capture.
pub(crate) const DISPUTED_CENTS: u64 = 59;

/// Record of one charge at one bank.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) reference: String,
    /// The bank's own name of the charge.
    pub(crate) number: String,
    pub(crate) amount: u64,
    pub(crate) method: String,
    /// Number of times that a card's limit was held, or a code was issued.
    pub(crate) accepted: u32,
    pub(crate) state: State,
    /// All incoming money, by its cause.
    pub(crate) captures: Vec<(String, u64)>,
    /// All outgoing money, with our id of the refund if the bank knows it.
    pub(crate) refunds: Vec<(Option<String>, u64)>,
    /// Refunds that the bank accepted and has not ended, by our ids.
    under_way: BTreeMap<String, u64>,
    pub(crate) charged_back: bool,
    /// Outcomes of the operations whose ids the bank knows.
    operations: HashMap<String, Outcome>,
}

/// State of a charge at its bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Accepted, but still without a code to pay with.
    Registering,
    Pending,
    Authorized,
    Captured,
    Declined,
    Cancelled,
}

impl State {
    const fn label(self) -> &'static str {
        match self {
            Self::Registering => "registering",
            Self::Pending => "pending",
            Self::Authorized => "authorized",
            Self::Captured => "captured",
            Self::Declined => "declined",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Outcome of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    Accepted,
    Refused(&'static str),
}

/// A cancellation, capture or refund as it was requested.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation<'a> {
    /// Our id, which not every bank requires.
    pub(crate) id: Option<&'a str>,
    pub(crate) kind: &'a str,
    pub(crate) amount: u64,
}

/// The books of both banks, by bank and our id.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) entries: BTreeMap<(BankKind, String), Entry>,
}

impl Books {
    /// Records a charge; a repetition changes nothing. Returns true if it is new.
    pub(crate) fn charge(&mut self, bank: BankKind, body: &Value) -> Option<bool> {
        let text = |name: &str| Some(body[name].as_str()?.to_owned());
        let id = text("id")?;
        let method = text("method")?;
        let amount = body["amount"].as_u64()?;
        let number = self.entries.len().to_string();
        let key = (bank, id);
        if self.entries.contains_key(&key) {
            return Some(false);
        }
        let is_card = method == "credit_card";
        let is_declined = is_card && amount % 100 == DECLINED_CENTS;
        let captures_now = is_card && body["capture"].as_bool()? && !is_declined;
        let state = match (is_card, is_declined, captures_now) {
            (false, _, _) => State::Pending,
            (true, true, _) => State::Declined,
            (true, false, true) => State::Captured,
            (true, false, false) => State::Authorized,
        };
        let entry = Entry {
            reference: text("reference").unwrap_or_default(),
            number,
            amount,
            method,
            accepted: u32::from(!is_declined),
            state,
            captures: captures_now.then(|| ("sale".to_owned(), amount)).into_iter().collect(),
            refunds: Vec::new(),
            under_way: BTreeMap::new(),
            charged_back: false,
            operations: HashMap::new(),
        };
        self.entries.insert(key, entry);
        Some(true)
    }

    pub(crate) fn entry(&mut self, bank: BankKind, id: &str) -> Option<&mut Entry> {
        self.entries.get_mut(&(bank, id.to_owned()))
    }

    /// Returns our id of the charge with this bank number.
    pub(crate) fn id_of(&self, bank: BankKind, number: &str) -> Option<&str> {
        let mut entries = self.entries.iter();
        let found = entries.find(|((known, _), entry)| *known == bank && entry.number == number);
        found.map(|((_, id), _)| id.as_str())
    }
}

impl Entry {
    /// Returns the sum of incoming money.
    pub(crate) fn captured(&self) -> u64 {
        self.captures.iter().map(|(_, amount)| amount).sum()
    }

    /// Returns the sum of returned money.
    pub(crate) fn refunded(&self) -> u64 {
        self.refunds.iter().map(|(_, amount)| amount).sum()
    }

    /// Has the payer pay, with or without a notice to the service. Returns false if it is too late.
    pub(crate) fn pay(&mut self, is_told: bool) -> bool {
        let pays = self.state == State::Pending;
        if pays {
            self.state = State::Captured;
            let cause = if is_told { "payer" } else { "payer, never told" };
            self.captures.push((cause.into(), self.amount));
        }
        pays
    }

    /// Performs an operation. With an id, a repetition gets the first answer; without one, it is done again if
    /// possible. A refund may end later.
    pub(crate) fn operate(&mut self, operation: Operation<'_>, ends_later: bool) -> Option<Outcome> {
        if let Some(known) = operation.id.and_then(|id| self.operations.get(id)) {
            return Some(*known);
        }
        let outcome = self.perform(operation, ends_later)?;
        if let Some(id) = operation.id {
            self.operations.insert(id.to_owned(), outcome);
        }
        Some(outcome)
    }

    fn perform(&mut self, operation: Operation<'_>, ends_later: bool) -> Option<Outcome> {
        let Operation { id, kind, amount } = operation;
        let name = id.map(str::to_owned);
        Some(match (kind, self.state) {
            ("cancel", State::Pending | State::Authorized) => {
                self.state = State::Cancelled;
                Outcome::Done
            }
            ("cancel", State::Cancelled) => Outcome::Refused("already_cancelled"),
            ("cancel", State::Registering | State::Captured | State::Declined) => {
                Outcome::Refused("already_paid")
            }
            ("capture", State::Authorized) if amount <= self.amount => {
                self.state = State::Captured;
                self.captures.push((name.unwrap_or_default(), amount));
                Outcome::Done
            }
            ("capture", _) => Outcome::Refused("not_authorized"),
            ("refund", State::Captured) if amount <= self.refundable() => match name.filter(|_| ends_later) {
                Some(name) => {
                    self.under_way.insert(name, amount);
                    Outcome::Accepted
                }
                None => {
                    self.refunds.push((id.map(str::to_owned), amount));
                    Outcome::Done
                }
            },
            ("refund", _) => Outcome::Refused("not_refundable"),
            _ => return None,
        })
    }

    fn refundable(&self) -> u64 {
        self.captured() - self.refunded() - self.under_way.values().sum::<u64>()
    }

    /// Ends a refund that was accepted before: done, or refused.
    pub(crate) fn end_refund(&mut self, id: &str, is_done: bool) {
        let Some(amount) = self.under_way.remove(id) else { return };
        let outcome = if is_done { Outcome::Done } else { Outcome::Refused("no_funds") };
        if is_done {
            self.refunds.push((Some(id.to_owned()), amount));
        }
        self.operations.insert(id.to_owned(), outcome);
    }

    /// Returns the outcome of the operation with this id.
    pub(crate) fn outcome(&self, operation: &str) -> Option<Outcome> {
        self.operations.get(operation).copied()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BANK: BankKind = BankKind::WithIds;

    fn books_with(method: &str, capture: bool) -> Books {
        let mut books = Books::default();
        let body = json!({"id": "t", "amount": 1_010, "method": method, "capture": capture});
        assert_eq!(books.charge(BANK, &body), Some(true));
        assert_eq!(books.charge(BANK, &body), Some(false));
        books
    }

    fn operation<'a>(id: &'a str, kind: &'a str, amount: u64) -> Operation<'a> {
        Operation { id: Some(id), kind, amount }
    }

    #[test]
    fn a_repeated_charge_moves_money_once() {
        let mut books = books_with("credit_card", true);
        let entry = books.entry(BANK, "t").unwrap();
        assert_eq!((entry.accepted, entry.captured()), (1, 1_010));
    }

    #[test]
    fn a_charge_is_found_by_the_name_that_the_bank_gave_it() {
        let books = books_with("pix", true);
        assert_eq!(books.id_of(BANK, "0"), Some("t"));
        assert_eq!(books.id_of(BankKind::SumsOnly, "0"), None);
    }

    #[test]
    fn a_repeated_operation_with_an_id_is_answered_as_at_first() {
        let mut books = books_with("credit_card", false);
        let entry = books.entry(BANK, "t").unwrap();
        let capture = operation("o", "capture", 500);
        assert_eq!(entry.operate(capture, false), Some(Outcome::Done));
        assert_eq!(entry.operate(capture, false), Some(Outcome::Done));
        let other = entry.operate(operation("p", "capture", 500), false);
        assert_eq!(other, Some(Outcome::Refused("not_authorized")));
        assert_eq!(entry.captures, [("o".to_owned(), 500)]);
    }

    #[test]
    fn a_repeated_refund_without_an_id_gives_money_back_again() {
        let mut books = books_with("credit_card", true);
        let entry = books.entry(BANK, "t").unwrap();
        let refund = Operation { id: None, kind: "refund", amount: 500 };
        assert_eq!(entry.operate(refund, true), Some(Outcome::Done));
        assert_eq!(entry.operate(refund, true), Some(Outcome::Done));
        assert_eq!(entry.operate(refund, true), Some(Outcome::Refused("not_refundable")));
        assert_eq!(entry.refunded(), 1_000);
    }

    #[test]
    fn no_more_goes_back_than_came_in() {
        let mut books = books_with("pix", true);
        let entry = books.entry(BANK, "t").unwrap();
        let refused = Some(Outcome::Refused("not_refundable"));
        assert_eq!(entry.operate(operation("early", "refund", 1), false), refused);
        assert!(entry.pay(true) && !entry.pay(true));
        assert_eq!(entry.operate(operation("a", "refund", 1_000), false), Some(Outcome::Done));
        assert_eq!(entry.operate(operation("b", "refund", 11), false), refused);
        assert_eq!(entry.refunded(), 1_000);
    }

    #[test]
    fn a_refund_that_takes_its_time_moves_nothing_until_it_ends() {
        let mut books = books_with("credit_card", true);
        let entry = books.entry(BANK, "t").unwrap();
        assert_eq!(entry.operate(operation("a", "refund", 1_000), true), Some(Outcome::Accepted));
        assert_eq!(
            entry.operate(operation("b", "refund", 11), true),
            Some(Outcome::Refused("not_refundable"))
        );
        entry.end_refund("a", false);
        assert_eq!((entry.outcome("a"), entry.refunded()), (Some(Outcome::Refused("no_funds")), 0));
        assert_eq!(entry.operate(operation("c", "refund", 1_010), true), Some(Outcome::Accepted));
        entry.end_refund("c", true);
        assert_eq!((entry.outcome("c"), entry.refunded()), (Some(Outcome::Done), 1_010));
    }

    #[test]
    fn what_was_cancelled_is_not_paid() {
        let mut books = books_with("boleto", true);
        let entry = books.entry(BANK, "t").unwrap();
        assert_eq!(entry.operate(operation("c", "cancel", 0), false), Some(Outcome::Done));
        assert!(!entry.pay(true));
        assert_eq!(entry.captured(), 0);
    }
}
