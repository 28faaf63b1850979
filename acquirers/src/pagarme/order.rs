//! Orders and charges as Pagar.me represents them. Source: npm `@pagarme/pagarme-nodejs-sdk` 7.0.2, models.

use std::fmt;

use chrono::NaiveDate;
use quita_domain::money::Money;
use quita_domain::time::Timestamp;
use serde_json::Value;

use super::status::{ChargeStatus, Step};
use crate::field::{Object, Unreadable};

/// Maximum length of Pagar.me's own ids.
const MAX_ID: usize = 64;

macro_rules! ids {
    ($($(#[$meta:meta])* $name:ident),*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(super) struct $name(String);

        impl $name {
            /// Reads an id that is safe in an address.
            pub(super) fn parse(text: &str) -> Option<Self> {
                let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                ((1..=MAX_ID).contains(&text.len()) && is_plain).then(|| Self(text.to_owned()))
            }

            /// Returns the id as text.
            pub(super) fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

ids! {
    /// Id of an order (`or_…`).
    OrderId,
    /// Id of a charge (`ch_…`).
    ChargeId
}

/// An order with its charges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) id: OrderId,
    pub(super) code: Option<String>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) charges: Vec<Charge>,
}

/// A charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Charge {
    pub(super) id: ChargeId,
    pub(super) order_id: Option<OrderId>,
    /// Code of its order, as stated by the charge or the order.
    pub(super) code: Option<String>,
    pub(super) status: ChargeStatus,
    pub(super) amount: Money,
    pub(super) currency: Option<String>,
    pub(super) method: Option<String>,
    /// Amount that came in, if it is stated and not zero.
    pub(super) paid: Option<Money>,
    /// Amount that was refunded or released, if it is stated and not zero.
    pub(super) canceled: Option<Money>,
    pub(super) paid_on: Option<NaiveDate>,
    pub(super) due_on: Option<NaiveDate>,
    pub(super) updated_at: Option<Timestamp>,
    pub(super) last: Transaction,
}

/// The newest step of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transaction {
    pub(super) id: Option<String>,
    pub(super) step: Step,
    pub(super) at: Option<Timestamp>,
    pub(super) return_code: Option<String>,
    /// The brand's code of a refusal (`retry_info`).
    pub(super) brand_code: Option<String>,
    pub(super) message: Option<String>,
    pub(super) authorization_code: Option<String>,
    pub(super) tid: Option<String>,
    pub(super) nsu: Option<String>,
    pub(super) gateway_code: Option<String>,
    pub(super) gateway_message: Option<String>,
    /// True if the fraud check refused.
    pub(super) is_reproved: bool,
    pub(super) pix: PixPart,
    pub(super) boleto: BoletoPart,
}

/// Fields that only a PIX has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PixPart {
    pub(super) code: Option<String>,
    pub(super) provider_tid: Option<String>,
    pub(super) end_to_end_id: Option<String>,
}

/// Fields that only a boleto has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BoletoPart {
    pub(super) line: Option<String>,
    /// Digits, or the address of a picture.
    pub(super) barcode: Option<String>,
    pub(super) our_number: Option<String>,
}

impl Order {
    /// Reads the answer to a creation, or to an inquiry by id.
    ///
    /// # Errors
    /// The field that is missing or invalid.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        Self::of(&json(body)?)
    }

    /// Reads a list `{"data": […], "paging": {…}}`.
    ///
    /// # Errors
    /// The field that is missing or invalid.
    pub(super) fn read_list(body: &[u8]) -> Result<Vec<Self>, Unreadable> {
        let value = json(body)?;
        let data = Object::of(&value).and_then(|list| list.get("data")).and_then(Value::as_array);
        data.ok_or(Unreadable("data"))?.iter().map(Self::of).collect()
    }

    fn of(value: &Value) -> Result<Self, Unreadable> {
        let order = Object::of(value).ok_or(Unreadable("JSON"))?;
        let id = order.text("id").as_deref().and_then(OrderId::parse).ok_or(Unreadable("id"))?;
        let code = order.text("code");
        let charges = order.get("charges").and_then(Value::as_array).ok_or(Unreadable("charges"))?;
        let mut read = Vec::with_capacity(charges.len());
        for charge in charges {
            let mut charge = Charge::of(Object::of(charge).ok_or(Unreadable("charges"))?)?;
            charge.order_id = Some(id.clone());
            // The order's code is the one that was sent.
            charge.code = code.clone().or(charge.code);
            read.push(charge);
        }
        Ok(Self { id, code, created_at: moment(order, "created_at"), charges: read })
    }
}

impl Charge {
    /// Reads the answer to an inquiry about a charge, or to an operation.
    ///
    /// # Errors
    /// The field that is missing or invalid.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        Self::of(Object::of(&json(body)?).ok_or(Unreadable("JSON"))?)
    }

    fn of(charge: Object<'_>) -> Result<Self, Unreadable> {
        let order = charge.object("order");
        let last = charge.object("last_transaction");
        let some = |amount: &Money| !amount.is_zero();
        Ok(Self {
            id: charge.text("id").as_deref().and_then(ChargeId::parse).ok_or(Unreadable("charge.id"))?,
            order_id: order.and_then(|order| order.text("id")).as_deref().and_then(OrderId::parse),
            code: order.and_then(|order| order.text("code")).or_else(|| charge.text("code")),
            status: charge.text("status").map(|text| ChargeStatus::of(&text)).ok_or(Unreadable("status"))?,
            amount: charge.money("amount")?.ok_or(Unreadable("amount"))?,
            currency: charge.text("currency"),
            method: charge.text("payment_method"),
            paid: charge.money("paid_amount")?.filter(some),
            canceled: charge.money("canceled_amount")?.filter(some),
            paid_on: last.and_then(|last| day(last, "paid_at")).or_else(|| day(charge, "paid_at")),
            due_on: last.and_then(|last| day(last, "due_at")).or_else(|| day(charge, "due_at")),
            updated_at: moment(charge, "updated_at"),
            last: Transaction::of(last),
        })
    }

    /// Returns the amount that was taken from the payer, if any was: the whole amount unless the charge states another.
    pub(super) fn taken(&self) -> Money {
        self.paid.unwrap_or(self.amount)
    }

    /// Returns the refunded part of that amount.
    pub(super) fn given_back(&self) -> Money {
        self.canceled.unwrap_or_default().min(self.taken())
    }
}

impl Transaction {
    fn of(last: Option<Object<'_>>) -> Self {
        let text = |name: &str| last.and_then(|last| last.text(name));
        let label = |name: &str| last.and_then(|last| last.label(name));
        let gateway = last.and_then(|last| last.object("gateway_response"));
        let errors = gateway.and_then(|gateway| gateway.get("errors")).and_then(Value::as_array);
        let first = errors.and_then(|errors| errors.first()).and_then(Object::of);
        let antifraud = last.and_then(|last| last.object("antifraud_response"));
        let verdict = antifraud.and_then(|antifraud| antifraud.text("status"));
        let retry = last.and_then(|last| last.object("retry_info"));
        Self {
            id: label("id"),
            step: text("status").map_or(Step::Missing, |text| Step::of(&text)),
            at: last.and_then(|last| moment(last, "updated_at").or_else(|| moment(last, "created_at"))),
            return_code: text("acquirer_return_code"),
            brand_code: retry.and_then(|retry| retry.text("brand_failure_return_code")),
            message: text("acquirer_message"),
            authorization_code: label("acquirer_auth_code"),
            tid: label("acquirer_tid"),
            nsu: label("acquirer_nsu"),
            gateway_code: gateway.and_then(|gateway| gateway.text("code")),
            gateway_message: first.and_then(|first| first.text("message")),
            is_reproved: verdict.is_some_and(|verdict| verdict.eq_ignore_ascii_case("reproved")),
            pix: PixPart {
                code: text("qr_code"),
                provider_tid: label("pix_provider_tid"),
                end_to_end_id: text("end_to_end_id"),
            },
            boleto: BoletoPart {
                line: text("line"),
                barcode: text("barcode"),
                our_number: label("nosso_numero"),
            },
        }
    }
}

fn json(body: &[u8]) -> Result<Value, Unreadable> {
    crate::text::json(body).ok_or(Unreadable("JSON"))
}

fn moment(object: Object<'_>, name: &str) -> Option<Timestamp> {
    let text = object.text(name)?;
    // Some samples have no zone, which means UTC.
    Timestamp::parse(&text).or_else(|| Timestamp::parse(&format!("{text}Z")))
}

/// Returns the date of a timestamp in Brasília.
fn day(object: Object<'_>, name: &str) -> Option<NaiveDate> {
    moment(object, name).map(Timestamp::sao_paulo_date)
}
