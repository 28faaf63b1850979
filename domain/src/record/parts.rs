//! The objects inside a payment record.

use chrono::NaiveDate;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::wire::{DecimalNumber, Percentage, Printed};
use crate::acquiring::{Decline, DeclineKind, Issued};
use crate::card::Brand;
use crate::due_terms::{Discount, DueTerms, Interest, Portion};
use crate::identity::{AcquirerName, TransactionId};
use crate::link::LinkTerms;
use crate::money::Money;
use crate::order::{Item, Payer, Share, Split, Terms};
use crate::payment::Payment;
use crate::routing::{Attempt, Considered, Version};
use crate::state::{Refund, RefundStatus, State};
use crate::time::Timestamp;

/// The payer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Customer<'a> {
    name: String,
    email: &'a str,
    document: &'a str,
    phone: &'a str,
}

impl<'a> Customer<'a> {
    pub(super) fn of(payer: &'a Payer) -> Self {
        let document = payer.document.as_str();
        let phone = payer.phone.as_str();
        Self { name: payer.full_name(), email: &payer.email, document, phone }
    }
}

/// Payment data of a PIX.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pix<'a> {
    qr_code: String,
    code: &'a str,
    txid: Option<&'a str>,
    expires_at: Printed<Timestamp>,
    due_date: Option<Printed<NaiveDate>>,
    paid_amount: Option<Printed<Money>>,
    paid_on: Option<Printed<NaiveDate>>,
    end_to_end_id: Option<&'a str>,
}

impl<'a> Pix<'a> {
    pub(super) fn of(payment: &Payment, state: &'a State, public_url: &str) -> Option<Self> {
        let Some(Issued::Pix { txid, code, expires_at }) = state.issued.as_deref() else { return None };
        Some(Self {
            qr_code: qr_code_url(payment, public_url),
            code,
            txid: Some(txid.as_str()).filter(|txid| !txid.is_empty()),
            expires_at: Printed(*expires_at),
            due_date: payment.order.terms.due().map(|due| Printed(due.due_date)),
            paid_amount: state.captured_amount.map(Printed),
            paid_on: state.paid_on.map(Printed),
            end_to_end_id: state.end_to_end_id.as_deref(),
        })
    }
}

/// Returns the address of the picture of a QR code.
fn qr_code_url(payment: &Payment, public_url: &str) -> String {
    format!("{}/pix/{}.png", public_url.trim_end_matches('/'), payment.page_token)
}

/// Payment data of a boleto.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Boleto<'a> {
    code: &'a str,
    url: String,
    digitable_line: &'a str,
    due_date: Printed<NaiveDate>,
    payable_until: Printed<NaiveDate>,
    pix_code: Option<&'a str>,
    pix_qr_code: Option<String>,
    paid_amount: Option<Printed<Money>>,
    paid_on: Option<Printed<NaiveDate>>,
    end_to_end_id: Option<&'a str>,
}

impl<'a> Boleto<'a> {
    pub(super) fn of(payment: &Payment, state: &'a State, public_url: &str) -> Option<Self> {
        let Some(Issued::Boleto(slip)) = state.issued.as_deref() else { return None };
        Some(Self {
            code: &slip.barcode,
            url: format!("{}/boletos/{}", public_url.trim_end_matches('/'), payment.page_token),
            digitable_line: &slip.digitable_line,
            due_date: Printed(slip.due_date),
            payable_until: Printed(payment.order.terms.due().map_or(slip.due_date, DueTerms::payable_until)),
            pix_code: slip.pix_code.as_deref(),
            pix_qr_code: slip.pix_code.as_ref().map(|_| qr_code_url(payment, public_url)),
            paid_amount: state.paid_amount.map(Printed),
            paid_on: state.paid_on.map(Printed),
            end_to_end_id: state.end_to_end_id.as_deref(),
        })
    }
}

/// Terms of a charge with a due date, in the units of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TermsRecord<'a> {
    payable_until: Printed<NaiveDate>,
    payable_after_due_days: u16,
    fine: Option<PortionRecord>,
    interest: Option<InterestRecord>,
    discounts: Vec<DiscountRecord>,
    instructions: &'a [String],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum InterestRecord {
    AmountPerDay(Printed<Money>),
    PercentagePerMonth(Percentage),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct DiscountRecord {
    until: Printed<NaiveDate>,
    #[serde(flatten)]
    portion: PortionRecord,
}

/// Terms of a link's due date, in the units of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskedTerms<'a> {
    payable_after_due_days: Option<u16>,
    fine: Option<PortionRecord>,
    interest: Option<InterestRecord>,
    discounts: Vec<DiscountRecord>,
    instructions: &'a [String],
}

impl<'a> AskedTerms<'a> {
    pub(super) fn of(terms: &'a LinkTerms) -> Self {
        Self {
            payable_after_due_days: terms.payable_after_due_days,
            fine: terms.fine.map(PortionRecord::of),
            interest: terms.interest.map(InterestRecord::of),
            discounts: terms.discounts.iter().map(DiscountRecord::of).collect(),
            instructions: &terms.instructions,
        }
    }
}

impl InterestRecord {
    const fn of(interest: Interest) -> Self {
        match interest {
            Interest::AmountPerDay(amount) => Self::AmountPerDay(Printed(amount)),
            Interest::BasisPointsPerMonth(points) => Self::PercentagePerMonth(Percentage(points)),
        }
    }
}

impl DiscountRecord {
    const fn of(discount: &Discount) -> Self {
        Self { until: Printed(discount.until), portion: PortionRecord::of(discount.portion) }
    }
}

impl<'a> TermsRecord<'a> {
    pub(super) fn of(due: &'a DueTerms) -> Self {
        Self {
            payable_until: Printed(due.payable_until()),
            payable_after_due_days: due.payable_after_due_days,
            fine: due.fine.map(PortionRecord::of),
            interest: due.interest.map(InterestRecord::of),
            discounts: due.discounts.iter().map(DiscountRecord::of).collect(),
            instructions: &due.instructions,
        }
    }
}

/// Card data that may be shown, and the issuer's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CreditCard<'a> {
    brand: Brand,
    first_digits: &'a str,
    last_digits: &'a str,
    holder_name: &'a str,
    installments: u8,
    authorization_code: Option<&'a str>,
    decline_code: Option<&'a str>,
    decline_kind: Option<DeclineKind>,
    network_decline_code: Option<&'a str>,
}

impl<'a> CreditCard<'a> {
    pub(super) fn of(terms: &'a Terms, state: &'a State) -> Option<Self> {
        let Terms::CreditCard { card, installments, capture: _ } = terms else { return None };
        let decline = state.decline.as_ref();
        Some(Self {
            brand: card.brand,
            first_digits: &card.first_digits,
            last_digits: &card.last_digits,
            holder_name: &card.holder_name,
            installments: *installments,
            authorization_code: state.authorization_code.as_deref(),
            decline_code: decline.map(Decline::shown_code),
            decline_kind: decline.and_then(|decline| decline.kind),
            network_decline_code: decline.and_then(|decline| decline.network_code.as_deref()),
        })
    }
}

/// One item of the purchase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Product<'a> {
    id: Printed<Uuid>,
    name: &'a str,
    quantity: u64,
    price: Printed<Money>,
    total: DecimalNumber,
}

impl<'a> Product<'a> {
    pub(super) fn all_of(payment: &'a Payment) -> Vec<Self> {
        let items = payment.order.items.iter().enumerate();
        items.map(|(place, item)| Self::of(payment.id, place, item)).collect()
    }

    fn of(transaction: TransactionId, place: usize, item: &'a Item) -> Self {
        Self {
            id: Printed(item.id.unwrap_or_else(|| product_id(transaction, place))),
            name: &item.name,
            quantity: item.quantity,
            price: Printed(item.price),
            total: DecimalNumber(item.total()),
        }
    }
}

/// Returns the id of a product to which the merchant gave none. It is derived from the transaction and the item's
/// index, so that it is always the same (UUIDv8: RFC 9562, section 5.8).
fn product_id(transaction: TransactionId, place: usize) -> Uuid {
    let mut hash = Sha256::new_with_prefix("quita product 1");
    hash.update(transaction.uuid().as_bytes());
    hash.update(u64::try_from(place).unwrap_or(u64::MAX).to_be_bytes());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
    Uuid::new_v8(bytes)
}

/// Campaign parameters, `null` if not supplied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct UtmRecord<'a> {
    pub(super) source: &'a Option<String>,
    pub(super) medium: &'a Option<String>,
    pub(super) campaign: &'a Option<String>,
    pub(super) term: &'a Option<String>,
    pub(super) content: &'a Option<String>,
}

/// Shipping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Shipping {
    pub(super) fee: Printed<Money>,
}

/// The share of a recipient, in the unit of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SplitRecord<'a> {
    recipient_id: &'a str,
    #[serde(flatten)]
    share: PortionRecord,
    /// The acquirer's name of the recipient, if the acquirer executes the split.
    acquirer_reference: Option<&'a str>,
}

/// An amount or a percentage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum PortionRecord {
    Amount(Printed<Money>),
    Percentage(Percentage),
}

impl PortionRecord {
    const fn of(portion: Portion) -> Self {
        match portion {
            Portion::Amount(amount) => Self::Amount(Printed(amount)),
            Portion::BasisPoints(points) => Self::Percentage(Percentage(points)),
        }
    }
}

impl<'a> SplitRecord<'a> {
    pub(super) fn all_of(splits: &'a [Split], attempt: Option<&'a Attempt>) -> Vec<Self> {
        let recipient = |index| attempt.and_then(|attempt| attempt.reference.recipient(index));
        splits.iter().enumerate().map(|(index, split)| Self::of(split, recipient(index))).collect()
    }

    fn of(split: &'a Split, acquirer_reference: Option<&'a str>) -> Self {
        let share = match split.share {
            Share::Amount(amount) => PortionRecord::Amount(Printed(amount)),
            Share::BasisPoints(points) => PortionRecord::Percentage(Percentage(points)),
        };
        Self { recipient_id: &split.recipient_id, share, acquirer_reference }
    }
}

/// A refund as the API shows it, in the record and in the answer to its request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundRecord<'a> {
    refund_id: &'a str,
    amount: Printed<Money>,
    status: RefundStatus,
    created_at: Printed<Timestamp>,
    failure_reason: Option<&'a str>,
}

impl<'a> RefundRecord<'a> {
    /// Creates the record of a refund.
    pub fn of(refund: &'a Refund) -> Self {
        Self {
            refund_id: &refund.id,
            amount: Printed(refund.amount),
            status: refund.status,
            created_at: Printed(refund.created_at),
            failure_reason: refund.failure_reason.as_deref(),
        }
    }
}

/// Routing of the payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Routing<'a> {
    rule: Option<&'a str>,
    version: Option<&'a Version>,
    considered: &'a [Considered],
    attempts: Vec<AttemptRecord<'a>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct AttemptRecord<'a> {
    acquirer: &'a AcquirerName,
    outcome: &'static str,
    at: Printed<Timestamp>,
}

impl<'a> Routing<'a> {
    pub(super) fn of(payment: &'a Payment, attempts: &'a [Attempt]) -> Self {
        let shown = |attempt: &'a Attempt| AttemptRecord {
            acquirer: &attempt.acquirer,
            outcome: attempt.call.progress.as_str(),
            at: Printed(attempt.at),
        };
        Self {
            rule: payment.routed.rule.as_deref(),
            version: payment.routed.version.as_ref(),
            considered: &payment.considered,
            attempts: attempts.iter().map(shown).collect(),
        }
    }
}
