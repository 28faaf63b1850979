//! Configuration of a Cielo: its client, delays, faults and deviating spellings.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Behaviour of a Cielo. The default follows its manual, without faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Id of the merchant: a GUID.
    pub merchant_id: String,
    /// Key of that merchant, 40 characters.
    pub merchant_key: String,
    /// Seed of all random behaviour.
    pub seed: u64,
    /// True if transactions and queries have separate hosts. The query host has paths under `/query/`, or a `Host` that
    /// begins with `apiquery`. Otherwise either handles both.
    pub hosts_apart: bool,
    /// Time for which the query host does not know a new sale, in milliseconds.
    pub query_lag_ms: i64,
    /// Number of sales in a thousand with this delay.
    pub query_lag_permille: u64,
    /// Shortest pause between two captures or voids of the same sale, in milliseconds; 0 for any pace.
    pub pause_ms: i64,
    /// True if a second sale under the same `MerchantOrderId` is refused (code 302). Cielo's default is that it is not.
    pub refuses_same_order: bool,
    /// Maximum length of the `MerchantOrderId` of a PIX: 50 according to the manual, 25 according to a page of the
    /// newer portal.
    pub longest_pix_order: usize,
    /// True if cards can be checked without charging (code 322 if not).
    pub has_zero_auth: bool,
    /// Minimum amount of an instalment, in cents.
    pub least_instalment_cents: u64,
    /// Time after which an uncaptured authorisation lapses, in milliseconds.
    pub authorisation_lapses_ms: i64,
    /// Time that the refund of a PIX takes, in milliseconds; 0 for at once.
    pub pix_refund_takes_ms: i64,
    /// True if the code of a PIX states its amount.
    pub pix_code_states_amount: bool,
    /// Number of codes of PIX and boletos in a thousand that are wrong, in a random way.
    pub wrong_codes_permille: u64,
    /// Deviations of answers from the manual.
    pub traps: BTreeSet<Trap>,
    /// Number of answers in a thousand that have each of these deviations.
    pub traps_permille: u64,
    /// The notifications.
    pub notices: Notifications,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            merchant_id: "dbe5e423-ed15-4c27-843a-fedf325ea67c".into(),
            merchant_key: "NPGKHFARFASEZEPYEYLTXJMWACSWDEMJWBAKWPQD".into(),
            seed: 1,
            hosts_apart: false,
            query_lag_ms: 0,
            query_lag_permille: 1_000,
            pause_ms: 0,
            refuses_same_order: false,
            longest_pix_order: 50,
            has_zero_auth: true,
            least_instalment_cents: 500,
            authorisation_lapses_ms: 15 * 24 * 60 * 60 * 1_000,
            pix_refund_takes_ms: 0,
            pix_code_states_amount: true,
            wrong_codes_permille: 0,
            traps: BTreeSet::new(),
            traps_permille: 500,
            notices: Notifications::default(),
        }
    }
}

impl Config {
    /// Returns this configuration with the fields of `changes`; `notices` is also changed field by field.
    pub fn changed(&self, changes: &Value) -> Result<Self, serde_json::Error> {
        let mut all = serde_json::to_value(self)?;
        merge(&mut all, changes);
        serde_json::from_value(all)
    }
}

/// Merges objects; headers and lists are replaced as a whole.
fn merge(into: &mut Value, changes: &Value) {
    match (into, changes) {
        (Value::Object(into), Value::Object(changes)) => {
            for (name, change) in changes {
                match into.get_mut(name).filter(|_| name == "notices") {
                    Some(inner) => merge(inner, change),
                    None => {
                        into.insert(name.clone(), change.clone());
                    }
                }
            }
        }
        (into, change) => *into = change.clone(),
    }
}

/// Delivery of notifications, and their faults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Notifications {
    /// Address to which they go.
    pub url: Option<String>,
    /// The fixed headers that were registered, at most three.
    pub headers: BTreeMap<String, String>,
    /// Shortest and longest delay of one, in milliseconds.
    pub delay_ms: (i64, i64),
    /// Number in a thousand that are never sent.
    pub lost_permille: u64,
    /// Number in a thousand that are sent twice.
    pub repeated_permille: u64,
    /// Number in a thousand that are accompanied by a forged one.
    pub forged_permille: u64,
    /// Number of sales in a thousand that are notified before they are answered.
    pub early_permille: u64,
}

/// One deviation of Cielo's answers from its manual, or of the manual from itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trap {
    /// `Paymentid`.
    PaymentIdSpelling,
    /// `"157"` for `157`: amounts, codes and statuses.
    NumbersAsText,
    /// `"ByMerchant"` for `0`.
    InterestAsText,
    /// `"true"` for `true`.
    BooleansAsText,
    /// `QrcodeBase64Image`.
    ImageSpelling,
    /// `2026-12-01T10:13:39.42` for `2026-12-01 10:13:39`.
    DatesWithT,
    /// `ReceivedDate` for `ReceveidDate` in the list of an order's sales.
    ReceivedDateSpelling,
    /// The list of an order's sales is named `Payment` instead of `Payments`.
    ListName,
    /// An order without sales gives an empty list instead of a 404.
    EmptyListForUnknown,
    /// A 404 has no body.
    NotFoundWithoutBody,
    /// Unknown fields.
    UnknownFields,
}

impl Trap {
    /// All of them, for [`Config::traps`].
    pub fn all() -> BTreeSet<Self> {
        [
            Self::PaymentIdSpelling,
            Self::NumbersAsText,
            Self::InterestAsText,
            Self::BooleansAsText,
            Self::ImageSpelling,
            Self::DatesWithT,
            Self::ReceivedDateSpelling,
            Self::ListName,
            Self::EmptyListForUnknown,
            Self::NotFoundWithoutBody,
            Self::UnknownFields,
        ]
        .into()
    }
}
