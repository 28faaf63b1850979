//! The body of `POST /pay/payments`, as both peers read it.

use serde::{Deserialize, Serialize};

/// Payment that a merchant requests.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CreatePayment {
    pub(crate) payment_method: String,
    pub(crate) amount: i64,
    pub(crate) currency: String,
    pub(crate) payment_details: Payer,
    pub(crate) installments: Option<i32>,
    #[serde(default)]
    pub(crate) items: Vec<Item>,
    pub(crate) postback_url: Option<String>,
    pub(crate) external_reference: Option<String>,
}

/// Payer of the payment.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Payer {
    pub(crate) first_name: String,
    pub(crate) last_name: String,
    pub(crate) document: String,
    pub(crate) document_type: String,
    pub(crate) email: String,
    pub(crate) phone_number: String,
    pub(crate) address: Address,
}

/// Address of the payer.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Address {
    pub(crate) street: String,
    pub(crate) number: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) complement: Option<String>,
    pub(crate) neighborhood: String,
    pub(crate) city: String,
    pub(crate) state: String,
    pub(crate) zip_code: String,
}

/// One purchased item.
#[derive(Serialize, Deserialize)]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) quantity: i64,
    pub(crate) price: i64,
}
