//! Deviating spellings of answers that were seen at the real Cielo.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::answer::Answer;
use super::chance::Chance;
use super::config::{Config, Trap};

const NUMBERS: [&str; 9] = [
    "Amount",
    "CapturedAmount",
    "VoidedAmount",
    "ServiceTaxAmount",
    "Installments",
    "Status",
    "ReasonCode",
    "Expiration",
    "Code",
];

/// Draws the deviations of this answer.
pub(crate) fn drawn(config: &Config, chance: &mut Chance) -> BTreeSet<Trap> {
    config.traps.iter().filter(|_| chance.per_mille(config.traps_permille)).copied().collect()
}

/// Returns the answer with these deviations.
pub(crate) fn sprung(answer: Answer, traps: &BTreeSet<Trap>) -> Answer {
    if answer.status == 404 && traps.contains(&Trap::NotFoundWithoutBody) {
        return Answer { status: 404, body: None };
    }
    Answer { body: answer.body.map(|body| respelt(body, traps)), ..answer }
}

fn respelt(value: Value, traps: &BTreeSet<Trap>) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| respelt(item, traps)).collect(),
        Value::Object(fields) => {
            let mut respelt: Map<String, Value> =
                fields.into_iter().map(|(name, value)| field(name, value, traps)).collect();
            if traps.contains(&Trap::UnknownFields) {
                respelt.insert("ExtraDataCollection".to_owned(), Value::Array(Vec::new()));
                respelt.insert("VelocityAnalysis".to_owned(), Value::Null);
            }
            respelt.into()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

fn field(name: String, value: Value, traps: &BTreeSet<Trap>) -> (String, Value) {
    let has = |trap| traps.contains(&trap);
    let respelt_value = match value {
        Value::Number(_) if name == "Interest" && has(Trap::InterestAsText) => "ByMerchant".into(),
        Value::Number(number) if NUMBERS.contains(&name.as_str()) && has(Trap::NumbersAsText) => {
            number.to_string().into()
        }
        Value::Bool(truth) if has(Trap::BooleansAsText) => truth.to_string().into(),
        Value::String(date) if is_moment(&name, &date) && has(Trap::DatesWithT) => {
            format!("{}.42", date.replacen(' ', "T", 1)).into()
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => respelt(value, traps),
    };
    let respelt_name = match name.as_str() {
        "PaymentId" if has(Trap::PaymentIdSpelling) => "Paymentid".to_owned(),
        "QrCodeBase64Image" if has(Trap::ImageSpelling) => "QrcodeBase64Image".to_owned(),
        "ReceveidDate" if has(Trap::ReceivedDateSpelling) => "ReceivedDate".to_owned(),
        "Payments" if has(Trap::ListName) => "Payment".to_owned(),
        _ => name,
    };
    (respelt_name, respelt_value)
}

fn is_moment(name: &str, value: &str) -> bool {
    name.ends_with("Date") && value.len() == 19 && value.contains(' ')
}
