//! Lists of payments and deliveries: filters, places in a list, and how a query names them.

pub mod query;

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::delivery::DeliveryState;
use crate::identity::{MerchantId, Mode, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::status::Status;
use crate::time::Timestamp;

/// Which payments a list shows. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Whose.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Any of these; every status when empty.
    pub statuses: Vec<Status>,
    /// This method.
    pub method: Option<Method>,
    /// The payer's CPF or CNPJ.
    pub document: Option<String>,
    /// The payer's e-mail address.
    pub email: Option<String>,
    /// The merchant's own id.
    pub external_reference: Option<String>,
    /// This payment.
    pub id: Option<TransactionId>,
    /// Exactly this amount.
    pub amount: Option<Money>,
    /// Created at this time or later.
    pub created_from: Option<Timestamp>,
    /// Created before this time.
    pub created_to: Option<Timestamp>,
}

/// Which deliveries a list shows. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Whose.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Of this payment.
    pub transaction_id: Option<TransactionId>,
    /// In this state.
    pub state: Option<DeliveryState>,
}

/// A place in a list of payments, newest first: everything after this payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// When the last payment shown was created.
    pub created_at: Timestamp,
    /// Its id.
    pub id: TransactionId,
}

impl Cursor {
    /// Reads what `Display` printed; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = decode(text)?;
        let (created_at, id) = plain.split_once('.')?;
        let created_at = Timestamp::from_millis(created_at.parse().ok()?);
        let cursor = Self { created_at, id: TransactionId::parse(id)? };
        (cursor.to_string() == text).then_some(cursor)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(format!("{}.{}", self.created_at.millis(), self.id)))
    }
}

/// A place in a list of deliveries: after this delivery of this payment, then everything after the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryCursor {
    /// The payment of the last delivery shown.
    pub payment: Cursor,
    /// Place of that delivery in the payment's outbox.
    pub index: u32,
}

impl DeliveryCursor {
    /// Reads what `Display` printed; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = decode(text)?;
        let (payment, index) = plain.split_once('.')?;
        let cursor = Self { payment: Cursor::parse(payment)?, index: index.parse().ok()? };
        (cursor.to_string() == text).then_some(cursor)
    }
}

impl fmt::Display for DeliveryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(format!("{}.{}", self.payment, self.index)))
    }
}

fn decode(text: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(millis: i64) -> Cursor {
        let id = TransactionId::new(uuid::Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0007));
        Cursor { created_at: Timestamp::from_millis(millis), id }
    }

    #[test]
    fn cursors_read_back_and_are_opaque() {
        for millis in [0, -1, 1_795_262_400_005, i64::MAX, i64::MIN] {
            let payment = cursor(millis);
            assert_eq!(Cursor::parse(&payment.to_string()), Some(payment));
            let delivery = DeliveryCursor { payment, index: u32::MAX };
            assert_eq!(DeliveryCursor::parse(&delivery.to_string()), Some(delivery));
            let is_opaque = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
            assert!(delivery.to_string().chars().all(is_opaque));
        }
    }

    #[test]
    fn nothing_else_is_a_cursor() {
        let encode = |plain: &str| URL_SAFE_NO_PAD.encode(plain);
        let (good, id) = (cursor(5).to_string(), cursor(5).id);
        for text in [
            "",
            "x",
            "*",
            "null",
            &encode(""),
            &encode("5"),
            &encode("5."),
            &encode(&format!("+5.{id}")),
            &encode(&format!("05.{id}")),
            &encode(&format!("9223372036854775808.{id}")),
            &encode(&format!("5.{}", id.uuid().simple())),
            &encode(&format!("5.{id}.1")),
            &format!("{good}="),
            &format!("{good}A"),
            &good.to_lowercase(),
        ] {
            assert_eq!(Cursor::parse(text), None, "{text}");
        }
        assert_eq!(DeliveryCursor::parse(&good), None);
        assert_eq!(DeliveryCursor::parse(&encode(&format!("{good}.-1"))), None);
    }
}
