//! A sale as Cielo represents it, in the answer to a creation and to a query.
//!
//! Source: E-commerce API 3.0, "Consulta por PaymentID". Fields that vary in spelling and type are read by
//! `crate::field`.

use std::fmt;

use chrono::NaiveDate;
use quita_domain::money::Money;
use serde_json::Value;

use crate::field::{Object, Unreadable};

/// Cielo's name of a sale, a GUID: letters, digits and hyphens, which are safe in an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PaymentId(String);

impl PaymentId {
    /// Reads a GUID of 36 or 32 characters.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_guid = matches!(text.len(), 32 | 36) && uuid::Uuid::try_parse(text).is_ok();
        is_guid.then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns the name in lower case.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Status, which decides a sale's facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    /// 0: failed, or not known yet.
    NotFinished,
    /// 1: a card's limit is held; a boleto is issued.
    Authorized,
    /// 2: captured, or paid.
    Paid,
    /// 3: refused.
    Denied,
    /// 10: voided before the settlement.
    Voided,
    /// 11: voided after the day of the authorisation, or a fully refunded PIX.
    Refunded,
    /// 12: waiting.
    Pending,
    /// 13: failed in processing.
    Aborted,
    /// 20, which only recurrences have, and all unknown ones.
    Other(u64),
}

impl Status {
    pub(super) const fn of(number: u64) -> Self {
        match number {
            0 => Self::NotFinished,
            1 => Self::Authorized,
            2 => Self::Paid,
            3 => Self::Denied,
            10 => Self::Voided,
            11 => Self::Refunded,
            12 => Self::Pending,
            13 => Self::Aborted,
            other => Self::Other(other),
        }
    }
}

/// A sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sale {
    pub(super) payment_id: PaymentId,
    pub(super) order_id: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) currency: Option<String>,
    pub(super) status: Status,
    pub(super) amount: Money,
    /// Captured amount, if it is stated and not zero.
    pub(super) captured: Option<Money>,
    /// Refunded amount, if it is stated and not zero.
    pub(super) voided: Option<Money>,
    pub(super) return_code: Option<String>,
    pub(super) return_message: Option<String>,
    pub(super) advice: Option<String>,
    pub(super) authorization_code: Option<String>,
    pub(super) tid: Option<String>,
    pub(super) proof_of_sale: Option<String>,
    /// Day of the capture; for a boleto, the day of its payment.
    pub(super) captured_on: Option<NaiveDate>,
    pub(super) pix: PixPart,
    pub(super) boleto: BoletoPart,
    pub(super) chargebacks: Vec<Chargeback>,
    /// True if a scheduled refund is not in the sums yet.
    pub(super) refund_is_scheduled: bool,
}

/// Fields that only a PIX has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PixPart {
    pub(super) code: Option<String>,
    pub(super) txid: Option<String>,
    pub(super) end_to_end_id: Option<String>,
}

/// Fields that only a boleto has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BoletoPart {
    pub(super) barcode: Option<String>,
    pub(super) line: Option<String>,
    pub(super) number: Option<String>,
    pub(super) due_date: Option<NaiveDate>,
    /// True if a due date is stated, even an unreadable one.
    pub(super) names_due_date: bool,
}

/// A dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chargeback {
    pub(super) case_number: Option<String>,
    pub(super) amount: Option<Money>,
    pub(super) status: Option<String>,
}

impl Sale {
    /// Reads `{"MerchantOrderId", "Customer", "Payment": {…}}`.
    ///
    /// # Errors
    /// The field that is missing or invalid.
    pub(super) fn read(body: &[u8]) -> Result<Self, Unreadable> {
        let value: Value = serde_json::from_slice(body).map_err(|_| Unreadable("JSON"))?;
        let sale = Object::of(&value).ok_or(Unreadable("JSON"))?;
        let payment = sale.object("Payment").ok_or(Unreadable("Payment"))?;
        let payment_id = payment.text("PaymentId").as_deref().and_then(PaymentId::parse);
        Ok(Self {
            payment_id: payment_id.ok_or(Unreadable("PaymentId"))?,
            order_id: sale.text("MerchantOrderId"),
            kind: payment.text("Type"),
            currency: payment.text("Currency"),
            status: payment.number("Status")?.map(Status::of).ok_or(Unreadable("Status"))?,
            // Status and amount decide about money: a sale that lacks one of them is unknown, and never counts as zero.
            amount: payment.money("Amount")?.ok_or(Unreadable("Amount"))?,
            captured: payment.money("CapturedAmount")?.filter(|amount| !amount.is_zero()),
            voided: payment.money("VoidedAmount")?.filter(|amount| !amount.is_zero()),
            return_code: payment.text("ReturnCode"),
            return_message: payment.text("ReturnMessage"),
            advice: payment.text("MerchantAdviceCode"),
            authorization_code: payment.label("AuthorizationCode"),
            tid: payment.label("Tid"),
            proof_of_sale: payment.label("ProofOfSale"),
            captured_on: payment.date("CapturedDate"),
            pix: PixPart::read(payment),
            boleto: BoletoPart::read(payment),
            chargebacks: chargebacks(payment)?,
            refund_is_scheduled: refund_is_scheduled(payment),
        })
    }

    /// Returns the amount that was taken from the payer, if any was: the whole amount unless the sale states another.
    pub(super) fn taken(&self) -> Money {
        self.captured.unwrap_or(self.amount)
    }

    /// Returns the amount that was returned to the payer.
    pub(super) fn given_back(&self) -> Money {
        let is_whole = matches!(self.status, Status::Voided | Status::Refunded);
        self.voided.unwrap_or_else(|| if is_whole { self.taken() } else { Money::ZERO })
    }
}

impl PixPart {
    fn read(payment: Object<'_>) -> Self {
        // `Cielo2` has the txid as the order's id; the old form has it as the transaction's.
        let names = ["SentOrderId", "AcquirerOrderId", "AcquirerTransactionId"];
        let is_txid =
            |text: &String| text.len() <= 35 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        Self {
            code: payment.text("QrCodeString"),
            txid: names.into_iter().find_map(|name| payment.text(name).filter(is_txid)),
            end_to_end_id: payment.text("EndToEndId"),
        }
    }
}

impl BoletoPart {
    fn read(payment: Object<'_>) -> Self {
        Self {
            barcode: payment.text("BarCodeNumber"),
            line: payment.text("DigitableLine"),
            number: payment.text("BoletoNumber").or_else(|| payment.text("Number")),
            due_date: payment.date("ExpirationDate"),
            names_due_date: payment.text("ExpirationDate").is_some(),
        }
    }
}

/// `Refunds[].Status` 1 (PIX) and 2 (card): scheduled. Source: docs.cielo.com.br, gateway, "Lista de status do estorno".
fn refund_is_scheduled(payment: Object<'_>) -> bool {
    let refunds = payment.get("Refunds").and_then(Value::as_array);
    let mut statuses =
        refunds.into_iter().flatten().filter_map(Object::of).map(|refund| refund.number("Status"));
    statuses.any(|status| matches!(status, Ok(Some(1 | 2))))
}

fn chargebacks(payment: Object<'_>) -> Result<Vec<Chargeback>, Unreadable> {
    let unreadable = Unreadable("Chargebacks");
    let list = match payment.get("Chargebacks") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(unreadable),
    };
    let read = |value: &Value| {
        let chargeback = Object::of(value).ok_or(unreadable)?;
        Ok(Chargeback {
            case_number: chargeback.text("CaseNumber"),
            amount: chargeback.money("Amount")?,
            status: chargeback.text("Status"),
        })
    };
    list.iter().map(read).collect()
}
