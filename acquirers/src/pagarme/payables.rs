//! Payables: the share of each recipient in each instalment, and amounts that are taken back. Source: npm
//! `@pagarme/pagarme-nodejs-sdk` 7.0.2; docs.pagar.me, "Financeiro" (2026-08-28).

use chrono::NaiveDate;
use quita_domain::money::{Money, SignedMoney};
use quita_domain::reconciliation::Movement;
use quita_domain::time::Timestamp;
use serde_json::Value;

use super::order::ChargeId;
use crate::field::{Object, Unreadable};

/// A page of payables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) payables: Vec<Payable>,
    /// Cursor of the next page; `None` at the end.
    pub(super) cursor: Option<String>,
}

/// A payable: the share of one recipient in one instalment, or an amount that is taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Payable {
    pub(super) id: String,
    /// Absent if it is a movement of the account.
    pub(super) charge_id: Option<ChargeId>,
    pub(super) movement: Movement,
    pub(super) recipient: Option<String>,
    /// Negative for returned money.
    pub(super) amount: SignedMoney,
    /// Fee, including those for anticipation and for fraud cover.
    pub(super) fees: SignedMoney,
    pub(super) instalment: Option<u32>,
    pub(super) created_at: Timestamp,
    pub(super) payment_on: Option<NaiveDate>,
    pub(super) is_paid: bool,
}

impl Page {
    /// Reads `{"data": […], "paging": {"forward_cursor"}}`.
    ///
    /// # Errors
    /// The field that is missing or invalid.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        let value = crate::text::json(body).ok_or(Unreadable("JSON"))?;
        let page = Object::of(&value).ok_or(Unreadable("JSON"))?;
        let data = page.get("data").and_then(Value::as_array).ok_or(Unreadable("data"))?;
        let payables = data.iter().map(Payable::of).collect::<Result<_, _>>()?;
        let cursor = page.object("paging").and_then(|paging| paging.text("forward_cursor"));
        Ok(Self { payables, cursor })
    }
}

impl Payable {
    fn of(value: &Value) -> Result<Self, Unreadable> {
        let line = Object::of(value).ok_or(Unreadable("data"))?;
        let charge_id = match line.text("charge_id") {
            Some(text) => Some(ChargeId::parse(&text).ok_or(Unreadable("payable.charge_id"))?),
            None => None,
        };
        // Without a charge it is a movement of the account, which `originator_model` names.
        let is_of_charge = charge_id.is_some();
        let movement =
            match line.text("type").ok_or(Unreadable("payable.type"))?.to_ascii_lowercase().as_str() {
                "credit" if is_of_charge => Movement::Credit,
                "refund" if is_of_charge => Movement::Refund,
                "refund_reversal" if is_of_charge => Movement::RefundReversal,
                "chargeback" if is_of_charge => Movement::Chargeback,
                "chargeback_refund" if is_of_charge => Movement::DisputeWon,
                _ => Movement::Account,
            };
        let sum = |name: &'static str| cents(line, name).map(Option::unwrap_or_default);
        Ok(Self {
            id: line.text("id").ok_or(Unreadable("payable.id"))?,
            charge_id: charge_id.filter(|_| movement != Movement::Account),
            movement,
            recipient: line.text("recipient_id"),
            amount: cents(line, "amount")?.ok_or(Unreadable("payable.amount"))?,
            fees: sum("fee")?.plus(sum("anticipation_fee")?).plus(sum("fraud_coverage_fee")?),
            instalment: line.number("installment")?.and_then(|number| u32::try_from(number).ok()),
            created_at: line
                .text("created_at")
                .as_deref()
                .and_then(Timestamp::parse)
                .ok_or(Unreadable("payable.created_at"))?,
            payment_on: line.text("payment_date").as_deref().and_then(day),
            is_paid: line.text("status").is_some_and(|status| status.eq_ignore_ascii_case("paid")),
        })
    }

    /// Returns true if the amount is taken from the recipient.
    pub(super) fn is_taken(&self) -> bool {
        match self.movement {
            Movement::Refund | Movement::Chargeback => true,
            Movement::RefundReversal | Movement::DisputeWon => false,
            Movement::Credit | Movement::Account => self.amount < SignedMoney::default(),
        }
    }

    /// Returns true if the account's own recipient gets it. Without splits there is no other recipient.
    pub(super) fn is_own(&self, own: Option<&str>) -> bool {
        own.zip(self.recipient.as_deref()).is_none_or(|(own, recipient)| own == recipient)
    }
}

/// Returns the sum of the payables of a charge with this movement, without a sign; `None` if there is no such payable.
pub(super) fn sum(payables: &[Payable], movement: Movement) -> Option<Money> {
    let own = payables.iter().filter(|payable| payable.movement == movement);
    let sum: Money = own.map(|payable| payable.amount.magnitude()).sum();
    (!sum.is_zero()).then_some(sum)
}

/// Returns the fees of the account's own payables of a charge; `None` if there is no such payable. If more was returned
/// than taken, the cost is zero.
pub(super) fn cost(payables: &[Payable], own: Option<&str>) -> Option<Money> {
    let mut fees =
        payables.iter().filter(|payable| payable.is_own(own)).map(|payable| payable.fees).peekable();
    fees.peek()?;
    let sum: SignedMoney = fees.sum();
    Some(Money::from_cents(u64::try_from(sum.cents()).unwrap_or_default()))
}

fn cents(line: Object<'_>, name: &'static str) -> Result<Option<SignedMoney>, Unreadable> {
    let Some(value) = line.get(name) else { return Ok(None) };
    let cents = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
    cents.map(|cents| Some(SignedMoney::from_cents(cents))).ok_or(Unreadable(name))
}

/// Returns the date of an instant in Brasília. Midnight in UTC denotes a calendar day.
fn day(text: &str) -> Option<NaiveDate> {
    let (date, time) = text.split_at_checked(10)?;
    // Midnight in UTC would be the evening before in Brasília.
    let is_whole_day = time.is_empty() || time.starts_with("T00:00:00");
    let at = Timestamp::parse(text).filter(|_| !is_whole_day).map(Timestamp::sao_paulo_date);
    at.or_else(|| NaiveDate::parse_from_str(date, "%Y-%m-%d").ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn payable() -> Value {
        json!({
            "id": "1", "status": "waiting_funds", "amount": 5_000, "fee": 200, "anticipation_fee": 30,
            "fraud_coverage_fee": null, "installment": 2, "charge_id": "ch_1", "recipient_id": "re_own",
            "originator_model": null, "payment_date": "2026-12-23T15:00:00Z", "type": "credit",
            "created_at": "2026-11-23T02:30:00Z",
        })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut changed = payable();
        changed[name] = value;
        changed
    }

    #[test]
    fn fees_are_added_up_and_days_are_those_of_brasilia() {
        let read = Payable::of(&payable()).unwrap();
        assert_eq!((read.fees.cents(), read.instalment, read.movement), (230, Some(2), Movement::Credit));
        assert_eq!(read.created_at.sao_paulo_date().to_string(), "2026-11-22");
        let on = |text: &str| Payable::of(&with("payment_date", json!(text))).unwrap().payment_on;
        for (text, expected) in [
            ("2026-12-23T15:00:00Z", "2026-12-23"),
            ("2026-12-23T02:00:00Z", "2026-12-22"),
            ("2026-12-23T00:00:00Z", "2026-12-23"),
            ("2026-12-23", "2026-12-23"),
        ] {
            assert_eq!(on(text).map(|day| day.to_string()).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_movement_of_the_account_belongs_to_no_charge() {
        for changed in [with("charge_id", Value::Null), with("type", json!("something new"))] {
            let read = Payable::of(&changed).unwrap();
            assert_eq!((read.movement, read.charge_id), (Movement::Account, None), "{changed}");
        }
    }

    #[test]
    fn the_cost_is_of_the_accounts_own_recipient() {
        let read = |value: &Value| Payable::of(value).unwrap();
        let both = [read(&payable()), read(&with("recipient_id", json!("re_other")))];
        assert_eq!(cost(&both, Some("re_own")).map(Money::cents), Some(230));
        assert_eq!(cost(&both[1..], Some("re_own")), None);
        assert_eq!(cost(&both[1..], None).map(Money::cents), Some(230));
    }

    #[test]
    fn what_is_missing_or_no_number_of_cents_is_refused() {
        for (name, value) in [
            ("id", Value::Null),
            ("type", Value::Null),
            ("amount", Value::Null),
            ("amount", json!(1.5)),
            ("fee", json!("x")),
            ("created_at", json!("yesterday")),
            ("charge_id", json!("ch/1")),
        ] {
            assert!(Payable::of(&with(name, value.clone())).is_err(), "{name}: {value}");
        }
    }
}
