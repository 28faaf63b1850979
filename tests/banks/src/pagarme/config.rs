//! Configuration of a Pagar.me: its clients, options, delays, faults and deviating spellings.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Configuration of a Pagar.me. The default follows its documentation, without faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Secret key, the user name of Basic authentication.
    pub secret_key: String,
    /// Seed of all random behaviour.
    pub seed: u64,
    /// Recipient of the account itself, which gets the amount that no split names.
    pub own_recipient: String,
    /// Other recipients that splits may name.
    pub recipients: Vec<String>,
    /// Time for which lists do not show a new order, in milliseconds.
    pub list_lag_ms: i64,
    /// Number of orders in a thousand whose list lags.
    pub list_lag_permille: u64,
    /// Time after which a payable appears, in milliseconds; 16 s were measured.
    pub payables_lag_ms: i64,
    /// Time for which a refund is pending, in milliseconds; 0 for none.
    pub refund_takes_ms: i64,
    /// Time after which a card in processing is decided (test cards 0036 and 0044), in milliseconds.
    pub processing_takes_ms: i64,
    /// Time after which an uncaptured authorisation lapses, in milliseconds.
    pub authorisation_lapses_ms: i64,
    /// Time for which an idempotency key is kept, in milliseconds.
    pub keys_last_ms: i64,
    /// Number of answers in a thousand whose statuses are in camel case (`notAuthorized`).
    pub camel_case_permille: u64,
    /// Number of codes of PIX and boletos in a thousand that are wrong, in a random way.
    pub wrong_codes_permille: u64,
    /// Fee of cards, in hundredths of a percent of the amount.
    pub card_fee_basis_points: u64,
    /// Fee of PIX, in hundredths of a percent of the amount.
    pub pix_fee_basis_points: u64,
    /// Fee of a paid boleto, in cents.
    pub boleto_fee_cents: u64,
    /// Maximum number of entries of a page of a list.
    pub page_size: usize,
    /// End of the pages of payables.
    pub payables_end: PagesEnd,
    /// Callbacks.
    pub notices: Notifications,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            secret_key: "sk_test_4Jb1Qm9Zx7Ky2Wv5".into(),
            seed: 1,
            own_recipient: "re_own00000000000000000000000".into(),
            recipients: vec!["re_a000000000000000000000000".into(), "re_b000000000000000000000000".into()],
            list_lag_ms: 0,
            list_lag_permille: 1_000,
            payables_lag_ms: 0,
            refund_takes_ms: 0,
            processing_takes_ms: 10_000,
            authorisation_lapses_ms: 5 * 24 * 60 * 60 * 1_000,
            keys_last_ms: 24 * 60 * 60 * 1_000,
            camel_case_permille: 0,
            wrong_codes_permille: 0,
            card_fee_basis_points: 399,
            pix_fee_basis_points: 119,
            boleto_fee_cents: 349,
            page_size: 100,
            payables_end: PagesEnd::Null,
            notices: Notifications::default(),
        }
    }
}

impl Config {
    /// Returns this configuration with the fields of `changes`; `notices` is also changed field by field.
    pub fn changed(&self, changes: &Value) -> Result<Self, serde_json::Error> {
        let mut all = serde_json::to_value(self)?;
        if let (Value::Object(all), Value::Object(changes)) = (&mut all, changes) {
            for (name, change) in changes {
                match (all.get_mut(name), change) {
                    (Some(Value::Object(inner)), Value::Object(change)) if name == "notices" => {
                        inner.extend(change.clone());
                    }
                    (Some(_) | None, _) => {
                        all.insert(name.clone(), change.clone());
                    }
                }
            }
        }
        serde_json::from_value(all)
    }
}

/// End of a list that is read page by page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PagesEnd {
    /// The last page has no cursor.
    Null,
    /// The last page has the cursor with which it was requested.
    Repeated,
    /// Every page has a new cursor, and the first page follows the last one.
    Circle,
}

/// Delivery of callbacks, and their faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Notifications {
    /// Address.
    pub url: Option<String>,
    /// User of Basic authentication.
    pub user: String,
    /// Password of Basic authentication.
    pub password: String,
    /// Shortest and longest delay, in milliseconds.
    pub delay_ms: (i64, i64),
    /// Number in a thousand that are never sent.
    pub lost_permille: u64,
    /// Number in a thousand that are sent twice.
    pub repeated_permille: u64,
    /// Number in a thousand that are accompanied by a forged one.
    pub forged_permille: u64,
    /// Number of orders in a thousand that are notified before they are answered.
    pub early_permille: u64,
}

impl Default for Notifications {
    fn default() -> Self {
        Self {
            url: None,
            user: "quita".into(),
            password: "callback-password".into(),
            delay_ms: (0, 0),
            lost_permille: 0,
            repeated_permille: 0,
            forged_permille: 0,
            early_permille: 0,
        }
    }
}
