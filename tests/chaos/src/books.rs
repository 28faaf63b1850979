//! The bank's books: what really happened to money. Everything here is idempotent, as a good acquirer is.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

/// Card payments of amounts with these cents are refused.
pub(crate) const DECLINED_CENTS: u64 = 2;
/// Card payments of amounts with these cents are charged back after they were captured.
pub(crate) const DISPUTED_CENTS: u64 = 59;

/// What one bank holds of one charge.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) reference: String,
    pub(crate) amount: u64,
    pub(crate) method: String,
    /// How often a card's limit was held, or a code was issued.
    pub(crate) accepted: u32,
    pub(crate) state: State,
    /// Every movement of money in, by its cause.
    pub(crate) captures: Vec<(String, u64)>,
    /// Money back, by our id of the refund.
    pub(crate) refunds: BTreeMap<String, u64>,
    pub(crate) charged_back: bool,
    operations: HashMap<String, Result<(), &'static str>>,
}

/// How far a charge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Pending,
    Authorized,
    Captured,
    Declined,
    Cancelled,
}

/// The books of every bank: by the bank's name and our id.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) entries: BTreeMap<(String, String), Entry>,
    /// Requests that were read and are not done: nobody is told that they are unknown.
    pub(crate) under_way: HashSet<(String, String)>,
}

impl Books {
    /// A charge; the same one again changes nothing. Tells whether it is new.
    pub(crate) fn charge(&mut self, bank: &str, body: &Value) -> Option<bool> {
        let text = |name: &str| Some(body[name].as_str()?.to_owned());
        let (id, method, amount) = (text("id")?, text("method")?, body["amount"].as_u64()?);
        let key = (bank.to_owned(), id);
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
            amount,
            method,
            accepted: u32::from(!is_declined),
            state,
            captures: captures_now.then(|| ("sale".to_owned(), amount)).into_iter().collect(),
            refunds: BTreeMap::new(),
            charged_back: false,
            operations: HashMap::new(),
        };
        self.entries.insert(key, entry);
        Some(true)
    }

    pub(crate) fn entry(&mut self, bank: &str, id: &str) -> Option<&mut Entry> {
        self.entries.get_mut(&(bank.to_owned(), id.to_owned()))
    }
}

impl Entry {
    /// Money that came in.
    pub(crate) fn captured(&self) -> u64 {
        self.captures.iter().map(|(_, amount)| amount).sum()
    }

    /// Money that went back.
    pub(crate) fn refunded(&self) -> u64 {
        self.refunds.values().sum()
    }

    /// The payer pays. `false` if it is too late.
    pub(crate) fn pay(&mut self) -> bool {
        let pays = self.state == State::Pending;
        if pays {
            self.state = State::Captured;
            self.captures.push(("payer".into(), self.amount));
        }
        pays
    }

    /// An operation under its id; the same one again is answered as at first.
    pub(crate) fn operate(&mut self, body: &Value) -> Option<Result<(), &'static str>> {
        let (id, kind, amount) = (body["id"].as_str()?, body["kind"].as_str()?, body["amount"].as_u64()?);
        if let Some(known) = self.operations.get(id) {
            return Some(*known);
        }
        let outcome = self.perform(id, kind, amount)?;
        self.operations.insert(id.to_owned(), outcome);
        Some(outcome)
    }

    fn perform(&mut self, id: &str, kind: &str, amount: u64) -> Option<Result<(), &'static str>> {
        Some(match (kind, self.state) {
            ("cancel", State::Pending | State::Authorized) => {
                self.state = State::Cancelled;
                Ok(())
            }
            ("cancel", State::Cancelled) => Ok(()),
            ("cancel", State::Captured | State::Declined) => Err("already_paid"),
            ("capture", State::Authorized) if amount <= self.amount => {
                self.state = State::Captured;
                self.captures.push((id.to_owned(), amount));
                Ok(())
            }
            ("capture", _) => Err("not_authorized"),
            ("refund", State::Captured) if self.refunded() + amount <= self.captured() => {
                self.refunds.insert(id.to_owned(), amount);
                Ok(())
            }
            ("refund", _) => Err("not_refundable"),
            _ => return None,
        })
    }

    /// What the bank answers when it is asked, as the fact that it is to the service.
    pub(crate) fn statement(&self, id: &str, news_at_ms: i64) -> Value {
        match self.state {
            State::Pending => json!({"state": "pending", "newsAt": news_at_ms}),
            State::Authorized => json!({"fact": "authorized", "authorizationCode": "123456"}),
            State::Declined => json!({"fact": "declined", "code": "generic_decline"}),
            State::Cancelled => json!({"fact": "cancelled"}),
            State::Captured => self.settled(id),
        }
    }

    /// The one settlement of a charge: whoever tells it, it has the same id.
    pub(crate) fn settled(&self, id: &str) -> Value {
        let mut fact = json!({"fact": "settled", "id": format!("s-{id}"), "amount": self.captured()});
        match self.method.as_str() {
            "pix" => fact["endToEndId"] = "E9999999920261121120000000000001".into(),
            "credit_card" => fact["approval"] = json!({"authorizationCode": "123456"}),
            _ => {}
        }
        fact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn books_with(method: &str, capture: bool) -> Books {
        let mut books = Books::default();
        let body = json!({"id": "t", "amount": 1_010, "method": method, "capture": capture});
        assert_eq!(books.charge("bank-a", &body), Some(true));
        assert_eq!(books.charge("bank-a", &body), Some(false));
        books
    }

    fn operation(id: &str, kind: &str, amount: u64) -> Value {
        json!({"id": id, "kind": kind, "amount": amount})
    }

    #[test]
    fn a_repeated_charge_moves_money_once() {
        let mut books = books_with("credit_card", true);
        let entry = books.entry("bank-a", "t").unwrap();
        assert_eq!((entry.accepted, entry.captured()), (1, 1_010));
    }

    #[test]
    fn a_repeated_operation_is_answered_as_at_first() {
        let mut books = books_with("credit_card", false);
        let entry = books.entry("bank-a", "t").unwrap();
        let capture = operation("o", "capture", 500);
        assert_eq!(entry.operate(&capture), Some(Ok(())));
        assert_eq!(entry.operate(&capture), Some(Ok(())));
        assert_eq!(entry.operate(&operation("p", "capture", 500)), Some(Err("not_authorized")));
        assert_eq!(entry.captures, [("o".to_owned(), 500)]);
    }

    #[test]
    fn no_more_goes_back_than_came_in() {
        let mut books = books_with("pix", true);
        let entry = books.entry("bank-a", "t").unwrap();
        assert_eq!(entry.operate(&operation("early", "refund", 1)), Some(Err("not_refundable")));
        assert!(entry.pay() && !entry.pay());
        assert_eq!(entry.operate(&operation("a", "refund", 1_000)), Some(Ok(())));
        assert_eq!(entry.operate(&operation("b", "refund", 11)), Some(Err("not_refundable")));
        assert_eq!(entry.refunded(), 1_000);
    }

    #[test]
    fn what_was_cancelled_is_not_paid() {
        let mut books = books_with("boleto", true);
        let entry = books.entry("bank-a", "t").unwrap();
        assert_eq!(entry.operate(&operation("c", "cancel", 0)), Some(Ok(())));
        assert!(!entry.pay());
        assert_eq!(entry.captured(), 0);
    }
}
