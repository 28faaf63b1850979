//! A bank's statement about a charge, in answer to an inquiry.

use serde_json::{Value, json};

use super::{Entry, State};

impl Entry {
    /// Returns the bank's answer about the charge: its state, its sums, and the events so far.
    pub(crate) fn statement(&self, id: &str, news_at_ms: i64) -> Value {
        json!({
            "state": self.state.label(),
            "newsAt": news_at_ms,
            "number": self.number,
            "captured": self.captured(),
            "refunded": self.refunded(),
            "facts": self.facts(id),
        })
    }

    /// Returns the events in order, in the form of the service's facts. A refund whose id the bank does not know only
    /// shows in the sums.
    fn facts(&self, id: &str) -> Vec<Value> {
        let first = match self.state {
            State::Registering | State::Pending => return Vec::new(),
            State::Authorized => json!({"fact": "authorized", "authorizationCode": "123456"}),
            State::Declined => json!({"fact": "declined", "code": "generic_decline"}),
            State::Cancelled => json!({"fact": "cancelled"}),
            State::Captured => self.settled(id),
        };
        let known = self.refunds.iter().filter_map(|(refund, amount)| Some((refund.as_ref()?, *amount)));
        let refunds = known.map(|(refund, amount)| refunded(refund, amount));
        let dispute = self.charged_back.then(|| charged_back(id));
        [first].into_iter().chain(refunds).chain(dispute).collect()
    }

    /// Returns the only settlement of a charge, which has the same id in every report.
    pub(crate) fn settled(&self, id: &str) -> Value {
        let mut fact = json!({"fact": "settled", "id": format!("s-{id}"), "amount": self.captured()});
        match self.method.as_str() {
            // A Pix pays only one payment, and the banks' numbers differ.
            "pix" => fact["endToEndId"] = format!("E99999999202611211200{:0>11}", self.number).into(),
            "credit_card" => fact["approval"] = json!({"authorizationCode": "123456"}),
            _ => {}
        }
        fact
    }
}

/// Returns the fact for a refund that we requested and that was done.
pub(crate) fn refunded(id: &str, amount: u64) -> Value {
    json!({"fact": "refunded", "refundId": id, "amount": amount})
}

/// Returns the only chargeback of a charge.
pub(crate) fn charged_back(id: &str) -> Value {
    json!({"fact": "chargedBack", "id": id})
}
