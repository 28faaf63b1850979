//! Lists of payments, deliveries, refunds and disputes: filters, cursors, and their names in a query.

pub mod query;

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::NaiveDate;

use crate::delivery::DeliveryState;
use crate::identity::{LinkId, MerchantId, Mode, TransactionId};
use crate::method::Method;
use crate::money::Money;
use crate::payment::DisputeStatus;
use crate::state::RefundStatus;
use crate::status::Status;
use crate::time::Timestamp;

/// Filter of payments. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentFilter {
    /// Their merchant.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Statuses; every status when empty.
    pub statuses: Vec<Status>,
    /// Payment method.
    pub method: Option<Method>,
    /// The payer's CPF or CNPJ.
    pub document: Option<String>,
    /// The payer's e-mail address.
    pub email: Option<String>,
    /// The merchant's own id.
    pub external_reference: Option<String>,
    /// Payment link through which they were created.
    pub link: Option<LinkId>,
    /// Id of one payment.
    pub id: Option<TransactionId>,
    /// Exact amount.
    pub amount: Option<Money>,
    /// Earliest time of creation, included.
    pub created_from: Option<Timestamp>,
    /// Latest time of creation, excluded.
    pub created_to: Option<Timestamp>,
    /// Earliest due date. A payment without one does not match.
    pub due_from: Option<NaiveDate>,
    /// Latest due date. A payment without one does not match.
    pub due_to: Option<NaiveDate>,
}

impl PaymentFilter {
    /// Matches every payment of a merchant in one mode.
    pub const fn all_of(merchant: MerchantId, mode: Mode) -> Self {
        Self {
            merchant,
            mode,
            statuses: Vec::new(),
            method: None,
            document: None,
            email: None,
            external_reference: None,
            link: None,
            id: None,
            amount: None,
            created_from: None,
            created_to: None,
            due_from: None,
            due_to: None,
        }
    }

    /// Returns true if only payments with a due date match.
    pub const fn has_due_date(&self) -> bool {
        self.due_from.is_some() || self.due_to.is_some()
    }
}

/// Filter of deliveries. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// Their merchant.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Id of their payment.
    pub transaction_id: Option<TransactionId>,
    /// Their state.
    pub state: Option<DeliveryState>,
}

/// Filter of refunds or disputes. Always one merchant's, in one mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementFilter {
    /// Their merchant.
    pub merchant: MerchantId,
    /// Test or live.
    pub mode: Mode,
    /// Their kind and statuses.
    pub movements: Movements,
    /// Earliest time at which their payment was created, included.
    pub created_from: Option<Timestamp>,
    /// Latest time at which their payment was created, excluded.
    pub created_to: Option<Timestamp>,
}

impl MovementFilter {
    /// Returns true if a payment that was created at this time is in the filter's period.
    pub fn is_in_period(&self, created_at: Timestamp) -> bool {
        self.created_from.is_none_or(|from| created_at >= from)
            && self.created_to.is_none_or(|to| created_at < to)
    }
}

/// Movements of money back to the payer: refunds, or disputes about chargebacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Movements {
    /// Refunds in these statuses; in every status when empty.
    Refunds(Vec<RefundStatus>),
    /// Disputes in these statuses; in every status when empty.
    Disputes(Vec<DisputeStatus>),
}

impl Movements {
    /// Returns true if refunds in this status match.
    pub fn have_refund(&self, status: RefundStatus) -> bool {
        match self {
            Self::Refunds(statuses) => statuses.is_empty() || statuses.contains(&status),
            Self::Disputes(_) => false,
        }
    }

    /// Returns true if disputes in this status match.
    pub fn have_dispute(&self, status: DisputeStatus) -> bool {
        match self {
            Self::Refunds(_) => false,
            Self::Disputes(statuses) => statuses.is_empty() || statuses.contains(&status),
        }
    }
}

/// Position in a list of payments, newest first: everything after this payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// Time of creation of the last payment shown.
    pub created_at: Timestamp,
    /// Its id.
    pub id: TransactionId,
}

impl Cursor {
    /// Reads the form that `Display` writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = decode(text)?;
        let (created_at, id) = plain.split_once('.')?;
        let created_at = Timestamp::from_millis(created_at.parse().ok()?);
        let cursor = Self { created_at, id: TransactionId::parse(id)? };
        // A sign before the time or an id in capitals would parse too, but no list ever returned that.
        (cursor.to_string() == text).then_some(cursor)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(format!("{}.{}", self.created_at.millis(), self.id)))
    }
}

/// Position in a list of entries that payments contain, such as deliveries or refunds. After it come the rest of this
/// payment's entries, then later payments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryCursor {
    /// The payment of the last entry shown.
    pub payment: Cursor,
    /// Index of that entry in the payment.
    pub index: u32,
}

impl EntryCursor {
    /// Reads the form that `Display` writes; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = decode(text)?;
        let (payment, index) = plain.split_once('.')?;
        let cursor = Self { payment: Cursor::parse(payment)?, index: index.parse().ok()? };
        (cursor.to_string() == text).then_some(cursor)
    }
}

impl fmt::Display for EntryCursor {
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
            let delivery = EntryCursor { payment, index: u32::MAX };
            assert_eq!(EntryCursor::parse(&delivery.to_string()), Some(delivery));
            let is_opaque = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
            assert!(delivery.to_string().chars().all(is_opaque));
        }
    }

    #[test]
    fn nothing_else_is_a_cursor() {
        let encode = |plain: &str| URL_SAFE_NO_PAD.encode(plain);
        let good = cursor(5).to_string();
        let id = cursor(5).id;
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
        assert_eq!(EntryCursor::parse(&good), None);
        assert_eq!(EntryCursor::parse(&encode(&format!("{good}.-1"))), None);
    }
}
